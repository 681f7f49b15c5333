#include "rill/base/parallel.h"
#include "rill/data/all_rows_cursor_impl.h"
#include "rill/data/composite_rows_impl.h"

namespace rill::data {
namespace {

// A longer row the processor itself follows, once it has begun.
constexpr std::int64_t kCallBytes = 8192, kCacheLine = 64;
constexpr int kRead = 0, kSecondCache = 2;  // the first is too small for a row and its copy

class TensorRows final : public Rows {
 public:
  explicit TensorRows(const Nest& tensors) : structure_(tensors) {
    for (const Tensor& given : tensors.flatten()) {
      const Tensor t = to_host(given);
      size_ = t.shape().dim(0);
      const TensorShape row = row_shape(t.shape());
      columns_.push_back({t, row, row.num_elements()});
    }
  }
  std::int64_t size() const override { return size_; }
  const Nest& structure() const { return structure_; }

  Nest element(std::int64_t row) const override {
    if (structure_.is_tensor()) return Nest(view(columns_[0], row));
    std::vector<Tensor> leaves;
    leaves.reserve(columns_.size());
    for (const Column& c : columns_) leaves.push_back(view(c, row));
    return structure_.with_leaves(leaves);
  }
  Nest gather(const std::int64_t* rows, std::int64_t n) const override {
    if (structure_.is_tensor()) return Nest(gather(columns_[0], rows, n));
    std::vector<Tensor> leaves;
    leaves.reserve(columns_.size());
    for (const Column& c : columns_) leaves.push_back(gather(c, rows, n));
    return structure_.with_leaves(leaves);
  }

 private:
  struct Column {
    Tensor tensor;
    TensorShape row;
    std::int64_t row_size;
  };
  static Tensor view(const Column& c, std::int64_t row) {
    return make_view(c.tensor, c.row, row * c.row_size);
  }
  // (A compiler that does not inline this takes it for a function without effects, and drops it.)
  [[gnu::always_inline]] static void call_for(const Column& c, std::int64_t row,
                                              std::int64_t bytes) {
    const char* p = static_cast<const char*>(c.tensor.impl()->data) + row * bytes;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(bytes, kCallBytes); i += kCacheLine)
      __builtin_prefetch(p + i, kRead, kSecondCache);
  }
  static Tensor gather(const Column& c, const std::int64_t* rows, std::int64_t n) {
    // Rows that lie side by side are there already.
    if (n > 0 && std::adjacent_find(rows, rows + n, [](std::int64_t a, std::int64_t b) {
                   return b != a + 1;
                 }) == rows + n)
      return make_view(c.tensor, with_rows(c.row, n), rows[0] * c.row_size);
    const Tensor out = make_tensor(c.tensor.dtype(), with_rows(c.row, n));
    const auto bytes = static_cast<std::int64_t>(c.tensor.dtype().itemsize()) * c.row_size;
    // Rows drawn by chance wait for memory: two cores wait at once. (Only the thread that trains
    // has more than one, and its cores are awake.)
    const std::int64_t grain =
        std::max<std::int64_t>(1, (32 << 10) / std::max<std::int64_t>(bytes, 1));
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end;) {
        std::int64_t run = 1;  // rows that also lie side by side in the source
        while (i + run < end && rows[i + run] == rows[i] + run) ++run;
        // Rows drawn by chance come from afar: the next is called while this is copied.
        if (i + run < end) call_for(c, rows[i + run], bytes);
        copy_elements(out, i * c.row_size, c.tensor, rows[i] * c.row_size, run * c.row_size);
        i += run;
      }
    });
    return out;
  }

  Nest structure_;
  std::vector<Column> columns_;
  std::int64_t size_ = 0;
};

// The same of ragged and sparse tensors, perhaps beside others.
class CompositeRows final : public Rows {
 public:
  explicit CompositeRows(const Nest& table)
      : table_(table), size_(count_rows(table, "from_tensor_slices")) {}
  std::int64_t size() const override { return size_; }
  const Nest& structure() const { return table_; }
  Nest element(std::int64_t row) const override { return cut_row(table_, row); }
  Nest gather(const std::int64_t* rows, std::int64_t n) const override {
    std::vector<Nest> elements;
    for (std::int64_t i = 0; i < n; ++i) elements.push_back(element(rows[i]));
    return stack(elements, "batch");
  }

 private:
  Nest table_;
  std::int64_t size_;
};

template <class Table>
class SliceDataset final : public DatasetImpl {
 public:
  explicit SliceDataset(const Nest& tensors) : rows_(tensors) {}
  const char* name() const override { return "TensorSliceDataset"; }
  Facts facts() const override { return {{"elements", rows_.size()}}; }
  std::int64_t cardinality() const override { return rows_.size(); }
  const Rows* source_rows() const override { return &rows_; }
  std::unique_ptr<Cursor> make_cursor(Place) const override {
    return std::make_unique<AllRowsCursor>(rows_, name());
  }

 protected:
  ElementSpec make_spec() const override { return row_spec(spec_of(rows_.structure())); }

 private:
  Table rows_;
};

}  // namespace

Dataset Dataset::from_tensor_slices(const Nest& tensors) {
  const std::vector<Tensor> leaves = tensors.flatten();
  RILL_CHECK(!leaves.empty(), invalid_argument,
             "[from_tensor_slices] got an empty structure; expected at least one tensor");
  if (is_symbolic(tensors)) {
    const Nest kept = without_graph(tensors);
    return make_recipe(dataset_of_spec(row_spec(spec_of(tensors))), {}, kept.flatten(),
                       [kept](const Bindings& b) { return from_tensor_slices(b.of(kept)); });
  }
  if (holds_composite(tensors)) return make_dataset<SliceDataset<CompositeRows>>(tensors);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Tensor& t = leaves[i];
    RILL_CHECK(
        t.defined() && t.dtype() != resource && t.dtype() != variant, invalid_argument,
        "[from_tensor_slices] component {} of {} has no elements in memory; expected tensors "
        "with values",
        i, tensors.to_string());
    RILL_CHECK(t.ndim() >= 1, invalid_argument,
               "[from_tensor_slices] component {} is a scalar; expected at least one dimension to "
               "slice. from_tensors() makes one element of it",
               i);
    RILL_CHECK(
        t.shape().dim(0) == leaves[0].shape().dim(0), invalid_argument,
        "[from_tensor_slices] component 0 has {} rows (shape {}), component {} has {} (shape "
        "{}); expected the same first size",
        leaves[0].shape().dim(0), leaves[0].shape(), i, t.shape().dim(0), t.shape());
  }
  return make_dataset<SliceDataset<TensorRows>>(tensors);
}

}  // namespace rill::data
