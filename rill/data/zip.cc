#include "rill/data/rows_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<std::unique_ptr<Cursor>> inputs) : inputs_(std::move(inputs)) {}
  bool next(Nest* element) override {
    // All go on, even past an error of one, so that they stay side by side.
    std::vector<Nest> items(inputs_.size());
    Produced failed;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Produced p = Produced::of([&](Nest* e) { return inputs_[i]->next(e); });
      if (p.at_end()) return failed.take(element);
      if (p.failed() && !failed.failed()) failed = p;
      if (!p.failed()) p.take(&items[i]);
    }
    if (failed.failed()) return failed.take(element);
    *element = Nest::make(std::move(items));
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("ZipDataset", settings());
    for (auto& input : inputs_) input->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("ZipDataset", settings());
    for (auto& input : inputs_) input->restore(in);
  }

 private:
  Settings settings() const {
    return {{"number of datasets", static_cast<std::int64_t>(inputs_.size())}};
  }
  std::vector<std::unique_ptr<Cursor>> inputs_;
};

// Sources side by side are one source with more columns.
class ZipRows final : public Rows {
 public:
  explicit ZipRows(std::vector<const Rows*> parts) : parts_(std::move(parts)) {
    size_ = parts_[0]->size();
    for (const Rows* part : parts_) size_ = std::min(size_, part->size());
  }
  std::int64_t size() const override { return size_; }
  Settings settings() const override {
    Settings all;
    for (const Rows* part : parts_)
      for (const Setting& s : part->settings()) all.push_back(s);
    return all;
  }
  Nest element(std::int64_t row) const override {
    return joined([&](const Rows& part) { return part.element(row); });
  }
  Nest gather(const std::int64_t* rows, std::int64_t n) const override {
    return joined([&](const Rows& part) { return part.gather(rows, n); });
  }

 private:
  template <class F>
  Nest joined(F item) const {
    std::vector<Nest> items;
    items.reserve(parts_.size());
    for (const Rows* part : parts_) items.push_back(item(*part));
    return Nest::make(std::move(items));
  }
  std::vector<const Rows*> parts_;
  std::int64_t size_;
};

class ZipDataset final : public DatasetImpl {
 public:
  explicit ZipDataset(std::vector<Dataset> inputs) : inputs_(std::move(inputs)) {
    std::vector<const Rows*> parts;
    for (const Dataset& d : inputs_)
      if (const Rows* rows = d.impl().source_rows()) parts.push_back(rows);
    if (parts.size() == inputs_.size()) rows_ = std::make_unique<ZipRows>(std::move(parts));
  }
  const char* name() const override { return "ZipDataset"; }
  const Rows* source_rows() const override { return rows_.get(); }
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
    if (rows_) return std::make_unique<AllRowsCursor>(*rows_, name());
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
  std::unique_ptr<ZipRows> rows_;  // null: they are not all sources
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
