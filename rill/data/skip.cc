#include <algorithm>

#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class SkipCursor final : public UnaryCursor {
 public:
  SkipCursor(std::unique_ptr<Cursor> input, std::int64_t count)
      : UnaryCursor(std::move(input)), count_(count) {}
  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override { return pass_over() && input_->next(element); }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    return pass_over() ? input_->next_rows(rows, n) : 0;
  }
  void save(StateWriter& out) override {
    out.stage("SkipDataset", settings());
    out.put(static_cast<std::int64_t>(begun_));
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("SkipDataset", settings());
    begun_ = in.boolean();
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"count", count_}}; }
  bool pass_over() {
    if (count_ < 0) return false;
    if (!begun_) input_->skip(count_);
    return begun_ = true;
  }
  std::int64_t count_;  // -1: all
  bool begun_ = false;
};

class SkipDataset final : public UnaryDataset {
 public:
  SkipDataset(const Dataset& input, std::int64_t count) : UnaryDataset(input), count_(count) {}
  const char* name() const override { return "SkipDataset"; }
  Facts facts() const override { return {{"count", count_}}; }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (count_ < 0) return 0;
    return n < 0 ? n : std::max<std::int64_t>(0, n - count_);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<SkipCursor>(input().start(place), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

Dataset Dataset::skip(const Size& count) const {
  if (count.is_symbolic())
    return sized_recipe(*this, count, like_of(*this),
                        [](const Dataset& d, std::int64_t n) { return d.skip(n); });
  return make_dataset<SkipDataset>(*this, std::max<std::int64_t>(count, -1));
}

}  // namespace rill::data
