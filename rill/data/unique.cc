#include <set>
#include <unordered_set>

#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

// A scalar as bytes.
std::string bytes_of_scalar(const Tensor& t) {
  if (t.dtype() == string) return t.item<std::string>();
  return std::to_string(t.item<std::int64_t>());
}

class UniqueCursor final : public UnaryCursor {
 public:
  using UnaryCursor::UnaryCursor;
  bool next(Nest* element) override {
    while (input_->next(element)) {
      const Tensor& t = element->as_tensor();
      RILL_CHECK(t.size() == 1 && (t.dtype() == int32 || t.dtype() == int64 || t.dtype() == string),
                 invalid_argument,
                 "[unique] an element is {} of shape {}; expected a scalar of int32, int64 or "
                 "string",
                 t.dtype(), t.shape());
      if (seen_.insert(bytes_of_scalar(t)).second) return true;
    }
    return false;
  }
  void save(StateWriter& out) override {
    out.stage("UniqueDataset");
    out.put(static_cast<std::int64_t>(seen_.size()));
    for (const std::string& s : std::set<std::string>(seen_.begin(), seen_.end())) out.put(s);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("UniqueDataset");
    seen_.clear();
    for (std::int64_t n = in.integer(0, INT64_MAX); n > 0; --n) seen_.emplace(in.text());
    input_->restore(in);
  }

 private:
  std::unordered_set<std::string> seen_;
};

class UniqueDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  const char* name() const override { return "UniqueDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<UniqueCursor>(input().start(place));
  }
};

}  // namespace

Dataset Dataset::unique() const { return make_dataset<UniqueDataset>(*this); }

}  // namespace rill::data
