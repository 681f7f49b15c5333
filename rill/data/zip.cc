#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<std::unique_ptr<Cursor>> inputs) : inputs_(std::move(inputs)) {}
  bool next(Nest* element) override {
    std::vector<Nest> items(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i]->next(&items[i])) return false;
    *element = Nest::make(std::move(items));
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("ZipDataset");
    for (auto& input : inputs_) input->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("ZipDataset");
    for (auto& input : inputs_) input->restore(in);
  }

 private:
  std::vector<std::unique_ptr<Cursor>> inputs_;
};

class ZipDataset final : public DatasetImpl {
 public:
  explicit ZipDataset(std::vector<Dataset> inputs) : inputs_(std::move(inputs)) {}
  const char* name() const override { return "ZipDataset"; }
  std::int64_t cardinality() const override {
    std::int64_t least = INFINITE_CARDINALITY;
    for (const Dataset& d : inputs_) {
      const std::int64_t n = d.cardinality();
      if (n == UNKNOWN_CARDINALITY) return n;
      if (n != INFINITE_CARDINALITY) least = least == INFINITE_CARDINALITY ? n : std::min(least, n);
    }
    return least;
  }
  // Each a branch of its own, so that a shuffled dataset beside itself has two orders.
  std::unique_ptr<Cursor> start(Place place) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      cursors.push_back(inputs_[i].impl().start(place.branch(i)));
    return std::make_unique<ZipCursor>(std::move(cursors));
  }

 protected:
  ElementSpec make_spec() const override {
    std::vector<ElementSpec> items;
    for (const Dataset& d : inputs_) items.push_back(d.element_spec());
    return ElementSpec::tuple(std::move(items));
  }

 private:
  std::vector<Dataset> inputs_;
};

}  // namespace

Dataset Dataset::zip(std::initializer_list<Dataset> datasets) {
  return zip(std::vector<Dataset>(datasets));
}
Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  RILL_CHECK(!datasets.empty(), invalid_argument, "[zip] got no dataset; expected at least one");
  return make_dataset<ZipDataset>(datasets);
}

}  // namespace rill::data
