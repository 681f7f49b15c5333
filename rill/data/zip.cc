#include <algorithm>

#include "rill/data/all_rows_cursor_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

using Keys = std::vector<std::string>;  // none: a tuple

Nest joined(std::vector<Nest> items, const Keys& keys) {
  if (keys.empty()) return Nest::make(std::move(items));
  std::vector<std::pair<std::string, Nest>> named;
  for (std::size_t i = 0; i < items.size(); ++i) named.emplace_back(keys[i], std::move(items[i]));
  return Nest(std::move(named));
}

class ZipCursor final : public Cursor {
 public:
  ZipCursor(std::vector<std::unique_ptr<Cursor>> inputs, const Keys& keys)
      : inputs_(std::move(inputs)), keys_(keys) {}
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
    *element = joined(std::move(items), keys_);
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
  const Keys& keys_;
};

// Sources side by side are one source with more columns.
class ZipRows final : public Rows {
 public:
  ZipRows(std::vector<const Rows*> parts, const Keys& keys)
      : parts_(std::move(parts)), keys_(keys) {
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
    return of_parts([&](const Rows& part) { return part.element(row); });
  }
  Nest gather(const std::int64_t* rows, std::int64_t n) const override {
    return of_parts([&](const Rows& part) { return part.gather(rows, n); });
  }

 private:
  template <class F>
  Nest of_parts(F item) const {
    std::vector<Nest> items;
    items.reserve(parts_.size());
    for (const Rows* part : parts_) items.push_back(item(*part));
    return joined(std::move(items), keys_);
  }
  std::vector<const Rows*> parts_;
  const Keys& keys_;
  std::int64_t size_;
};

class ZipDataset final : public DatasetImpl {
 public:
  ZipDataset(std::vector<Dataset> inputs, Keys keys)
      : inputs_(std::move(inputs)), keys_(std::move(keys)) {
    std::vector<const Rows*> parts;
    for (const Dataset& d : inputs_)
      if (const Rows* rows = d.impl().source_rows()) parts.push_back(rows);
    if (parts.size() == inputs_.size()) rows_ = std::make_unique<ZipRows>(std::move(parts), keys_);
  }
  const char* name() const override { return "ZipDataset"; }
  std::vector<const DatasetImpl*> inputs() const override {
    std::vector<const DatasetImpl*> list;
    for (const Dataset& d : inputs_) list.push_back(&d.impl());
    return list;
  }
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
  // Each its own branch, so that a shuffled dataset beside itself has two orders.
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    if (rows_) return std::make_unique<AllRowsCursor>(*rows_, name());
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      cursors.push_back(inputs_[i].impl().start(place.branch(i)));
    return std::make_unique<ZipCursor>(std::move(cursors), keys_);
  }

 protected:
  ElementSpec make_spec() const override {
    std::vector<ElementSpec> items;
    std::vector<std::pair<std::string, ElementSpec>> named;
    for (const Dataset& d : inputs_) items.push_back(d.element_spec());
    for (std::size_t i = 0; i < keys_.size(); ++i) named.emplace_back(keys_[i], items[i]);
    return keys_.empty() ? ElementSpec::tuple(std::move(items))
                         : ElementSpec::dict(std::move(named));
  }

 private:
  std::vector<Dataset> inputs_;
  Keys keys_;
  std::unique_ptr<ZipRows> rows_;  // null: they are not all sources
};

}  // namespace

Dataset Dataset::zip(std::initializer_list<Dataset> datasets) {
  return zip(std::vector<Dataset>(datasets));
}
Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  RILL_CHECK(!datasets.empty(), invalid_argument, "[zip] got no dataset; expected at least one");
  return make_dataset<ZipDataset>(datasets, Keys());
}
Dataset Dataset::zip(const std::vector<std::pair<std::string, Dataset>>& datasets) {
  RILL_CHECK(!datasets.empty(), invalid_argument, "[zip] got no dataset; expected at least one");
  std::vector<Dataset> inputs;
  Keys keys;
  for (const auto& [key, dataset] : datasets) {
    RILL_CHECK(std::find(keys.begin(), keys.end(), key) == keys.end(), invalid_argument,
               "[zip] two datasets are called \"{}\"; expected names that differ", key);
    keys.push_back(key);
    inputs.push_back(dataset);
  }
  return make_dataset<ZipDataset>(std::move(inputs), std::move(keys));
}

}  // namespace rill::data
