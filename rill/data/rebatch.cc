// Batches of other sizes, and the only element of a dataset.
#include "rill/data/dataset_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

class RebatchCursor final : public UnaryCursor {
 public:
  RebatchCursor(std::unique_ptr<Cursor> rows, const std::vector<std::int64_t>& sizes, bool drop)
      : UnaryCursor(std::move(rows)), sizes_(sizes), drop_(drop) {}
  bool next(Nest* element) override {
    const std::int64_t size = sizes_[static_cast<std::size_t>(at_)];
    std::vector<Nest> rows;
    Nest row;
    while (static_cast<std::int64_t>(rows.size()) < size && input_->next(&row)) rows.push_back(row);
    const auto n = static_cast<std::int64_t>(rows.size());
    if (n < size && (drop_ || n == 0)) return false;
    at_ = (at_ + 1) % static_cast<std::int64_t>(sizes_.size());
    *element = stack(rows, "rebatch");
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("RebatchDataset", settings());
    out.put(at_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("RebatchDataset", settings());
    at_ = in.integer(0, static_cast<std::int64_t>(sizes_.size()) - 1);
    input_->restore(in);
  }

 private:
  Settings settings() const {
    Settings s{{"drop_remainder", drop_}};
    for (std::int64_t size : sizes_) s.push_back({"batch_size", size});
    return s;
  }
  const std::vector<std::int64_t>& sizes_;
  bool drop_;
  std::int64_t at_ = 0;  // whose turn it is
};

// Over rows.
class RebatchDataset final : public UnaryDataset {
 public:
  RebatchDataset(const Dataset& rows, std::vector<std::int64_t> sizes, bool drop)
      : UnaryDataset(rows), sizes_(std::move(sizes)), drop_(drop) {}
  const char* name() const override { return "RebatchDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<RebatchCursor>(input().start(place), sizes_, drop_);
  }

 protected:
  ElementSpec make_spec() const override {
    const std::int64_t n = drop_ && sizes_.size() == 1 ? sizes_[0] : -1;
    return input().spec().map(
        [&](const TensorSpec& s) { return TensorSpec(with_rows(s.shape(), n), s.dtype()); });
  }

 private:
  std::vector<std::int64_t> sizes_;
  bool drop_;
};

}  // namespace

Dataset Dataset::rebatch(std::int64_t batch_size, bool drop_remainder) const {
  return rebatch(std::vector<std::int64_t>{batch_size}, drop_remainder);
}
Dataset Dataset::rebatch(const std::vector<std::int64_t>& batch_sizes, bool drop_remainder) const {
  RILL_CHECK(!batch_sizes.empty(), invalid_argument,
             "[rebatch] batch_sizes is empty; expected at least one");
  for (std::int64_t n : batch_sizes)
    RILL_CHECK(n > 0, invalid_argument, "[rebatch] a batch size is {}; expected 1 or more", n);
  return make_dataset<RebatchDataset>(unbatch(), batch_sizes, drop_remainder);
}

Dataset Dataset::counter(std::int64_t start, std::int64_t step) {
  return range(1).repeat().scan(constant(start, int64), [step](const Tensor& count, const Tensor&) {
    const Tensor next = constant(count.item<std::int64_t>() + step, int64);
    return Nest::make({Nest(next), Nest(count)});
  });
}

Nest Dataset::get_single_element() const {
  if (as_recipe(*this)) {
    return run_recipe(*this, {}, element_spec(),
                      [](const Dataset& d, const Bindings&) { return d.get_single_element(); });
  }
  Nest element, second;
  Iterator it = iter();
  RILL_CHECK(it.next(&element), invalid_argument, "[get_single_element] Dataset was empty.");
  RILL_CHECK(!it.next(&second), invalid_argument,
             "[get_single_element] Dataset had more than one element.");
  return element;
}

}  // namespace rill::data
