#include "rill/data/all_rows_cursor_impl.h"

namespace rill::data {
namespace {

class RangeRows final : public Rows {
 public:
  RangeRows(std::int64_t start, std::int64_t stop, std::int64_t step) : start_(start), step_(step) {
    // Unsigned, because the distance of two int64 need not be one.
    const auto distance =
        step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
    const auto stride =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    if (step > 0 ? start < stop : start > stop) {
      const std::uint64_t n = (distance - 1) / stride + 1;
      RILL_CHECK(n <= INT64_MAX, invalid_argument,
                 "[range] from {} to {} there are more elements than an int64 counts", start, stop);
      size_ = static_cast<std::int64_t>(n);
    }
  }
  std::int64_t size() const override { return size_; }
  Settings settings() const override {
    return {{"number of elements", size_}, {"start", start_}, {"step", step_}};
  }
  Nest element(std::int64_t row) const override {
    const Tensor t = make_tensor(int64, TensorShape::scalar());
    *mutable_data<std::int64_t>(t) = start_ + row * step_;
    return Nest(t);
  }
  Nest gather(const std::int64_t* rows, std::int64_t n) const override {
    const Tensor t = make_tensor(int64, TensorShape(Dims{n}));
    for (std::int64_t i = 0; i < n; ++i)
      mutable_data<std::int64_t>(t)[i] = start_ + rows[i] * step_;
    return Nest(t);
  }

 private:
  std::int64_t start_, step_, size_ = 0;
};

class RangeDataset final : public DatasetImpl {
 public:
  RangeDataset(std::int64_t start, std::int64_t stop, std::int64_t step)
      : rows_(start, stop, step) {}
  const char* name() const override { return "RangeDataset"; }
  Facts facts() const override {
    const Settings s = rows_.settings();
    return {{"elements", s[0].value}, {"start", s[1].value}, {"step", s[2].value}};
  }
  std::int64_t cardinality() const override { return rows_.size(); }
  const Rows* source_rows() const override { return &rows_; }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    return std::make_unique<AllRowsCursor>(rows_, name());
  }

 protected:
  ElementSpec make_spec() const override {
    return ElementSpec(TensorSpec(TensorShape::scalar(), int64));
  }

 private:
  RangeRows rows_;
};

}  // namespace

Dataset Dataset::range(const Size& stop) { return range(0, stop); }
Dataset Dataset::range(const Size& first, const Size& last, const Size& by) {
  if (first.is_symbolic() || last.is_symbolic() || by.is_symbolic())
    return make_recipe(range(1), {}, {first.tensor(), last.tensor(), by.tensor()},
                       [=](const Bindings& b) { return range(b.of(first), b.of(last), b.of(by)); });
  const std::int64_t start = first, stop = last, step = by;
  RILL_CHECK(step != 0, invalid_argument, "[range] step is 0; expected another number");
  return make_dataset<RangeDataset>(start, stop, step);
}

}  // namespace rill::data
