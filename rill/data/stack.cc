// Elements into batches.
#include <cstring>

#include "rill/data/composite_rows_impl.h"
#include "rill/data/dataset_impl.h"

namespace rill::data {

TensorShape row_shape(const TensorShape& shape) {
  if (!shape.has_rank() || shape.rank() == 0) return {};
  Dims dims;
  for (int i = 1; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  return TensorShape(dims);
}
TensorShape with_rows(const TensorShape& row, std::int64_t n) {
  if (!row.has_rank()) return {};
  Dims dims{n};
  for (std::int64_t d : row.dims()) dims.push_back(d);
  return TensorShape(dims);
}

void copy_elements(const Tensor& to, std::int64_t j, const Tensor& from, std::int64_t i,
                   std::int64_t count) {
  if (count == 0) return;
  if (to.dtype() == string) {
    std::copy_n(host_data<std::string>(from) + i, count, mutable_data<std::string>(to) + j);
    return;
  }
  const std::size_t item = to.dtype().itemsize();
  std::memcpy(mutable_data<char>(to) + static_cast<std::size_t>(j) * item,
              host_data<char>(from) + static_cast<std::size_t>(i) * item,
              static_cast<std::size_t>(count) * item);
}

void refuse_composites(const Nest& element, const char* stage) {
  RILL_CHECK(!spec_of(element).holds_composite(), unimplemented,
             "[{}] the element is {}: composite tensors are not padded. "
             "Make dense tensors of them first, as tf::sparse::to_dense does",
             stage, element.to_string());
}

namespace {

// Leaves in host memory, [element][component], after a check that all have the
// structure and dtypes of the first.
std::vector<std::vector<Tensor>> leaves_of(const std::vector<Nest>& elements, const char* stage) {
  std::vector<std::vector<Tensor>> all;
  all.reserve(elements.size());
  if (!elements.empty()) refuse_composites(elements[0], stage);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    RILL_CHECK(elements[e].same_structure(elements[0]), invalid_argument,
               "[{}] element 0 of the batch is {}, element {} is {}; expected one structure", stage,
               elements[0].to_string(), e, elements[e].to_string());
    all.push_back(elements[e].flatten());
    for (std::size_t c = 0; c < all[e].size(); ++c) {
      Tensor& t = all[e][c];
      RILL_CHECK(
          t.dtype() != resource && t.dtype() != variant, unimplemented,
          "[{}] component {} is a {} tensor (a dataset, a variable), which cannot be stacked",
          stage, c, t.dtype());
      t = to_host(t);
      RILL_CHECK(t.dtype() == all[0][c].dtype(), invalid_argument,
                 "[{}] component {}: element 0 of the batch is {}, element {} is {}; expected one "
                 "dtype. Cast them in map()",
                 stage, c, all[0][c].dtype(), e, t.dtype());
    }
  }
  return all;
}

}  // namespace

namespace {

// Component by component, each by its kind.
Nest stack_parts(const std::vector<Nest>& elements, const char* stage) {
  const Nest& first = elements[0];
  for (const Nest& element : elements)
    RILL_CHECK(element.same_structure(first), invalid_argument,
               "[{}] element 0 of the batch is {}, another is {}; expected one structure", stage,
               first.to_string(), element.to_string());
  if (first.is_composite()) return stack_composites(elements, stage);
  if (first.is_tensor()) return stack(elements, stage);
  std::vector<Nest> items;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<Nest> column;
    for (const Nest& element : elements) column.push_back(element.part(i));
    items.push_back(stack_parts(column, stage));
  }
  return first.with_items(std::move(items));
}

}  // namespace

Nest stack(const std::vector<Nest>& elements, const char* stage) {
  if (!elements.empty() && holds_composite(elements[0])) return stack_parts(elements, stage);
  const auto leaves = leaves_of(elements, stage);
  std::vector<Tensor> out;
  for (std::size_t c = 0; c < leaves[0].size(); ++c) {
    const Tensor& first = leaves[0][c];
    const std::int64_t size = first.size();
    Tensor t = make_tensor(first.dtype(),
                           with_rows(first.shape(), static_cast<std::int64_t>(elements.size())));
    for (std::size_t e = 0; e < leaves.size(); ++e) {
      RILL_CHECK(leaves[e][c].shape() == first.shape(), invalid_argument,
                 "[{}] component {}: element 0 of the batch has shape {}, element {} has shape {}; "
                 "expected one shape. Use padded_batch(), or bring them to one shape in map()",
                 stage, c, first.shape(), e, leaves[e][c].shape());
      copy_elements(t, static_cast<std::int64_t>(e) * size, leaves[e][c], 0, size);
    }
    out.push_back(std::move(t));
  }
  return elements[0].with_leaves(out);
}

namespace {

// Copies `from` into the corner of a block of shape `dims` that begins at `at`.
void copy_corner(const Tensor& to, std::int64_t at, const Dims& dims, const Tensor& from,
                 std::int64_t from_at, std::size_t axis) {
  if (axis + 1 >= dims.size()) {
    copy_elements(to, at, from, from_at, dims.empty() ? 1 : from.shape().dims()[axis]);
    return;
  }
  std::int64_t to_step = 1, from_step = 1;
  for (std::size_t i = axis + 1; i < dims.size(); ++i) {
    to_step *= dims[i];
    from_step *= from.shape().dims()[i];
  }
  for (std::int64_t i = 0; i < from.shape().dims()[axis]; ++i)
    copy_corner(to, at + i * to_step, dims, from, from_at + i * from_step, axis + 1);
}

}  // namespace

Nest stack_padded(const std::vector<Nest>& elements, const std::vector<TensorShape>& shapes,
                  const std::vector<Tensor>& padding, const char* stage) {
  const auto leaves = leaves_of(elements, stage);
  const auto n = static_cast<std::int64_t>(elements.size());
  RILL_CHECK(shapes.empty() || shapes.size() == leaves[0].size(), invalid_argument,
             "[{}] {} padded shapes for elements of {} components: {}", stage, shapes.size(),
             leaves[0].size(), elements[0].to_string());
  RILL_CHECK(padding.size() <= 1 || padding.size() == leaves[0].size(), invalid_argument,
             "[{}] {} padding values for elements of {} components: {}", stage, padding.size(),
             leaves[0].size(), elements[0].to_string());
  std::vector<Tensor> out;
  for (std::size_t c = 0; c < leaves[0].size(); ++c) {
    const Tensor& first = leaves[0][c];
    const TensorShape want = shapes.empty() || !shapes[c].has_rank()
                                 ? TensorShape::unknown_dims(first.ndim())
                                 : shapes[c];
    Dims dims(want.dims());
    for (std::size_t e = 0; e < leaves.size(); ++e) {
      const Dims& have = leaves[e][c].shape().dims();
      RILL_CHECK(have.size() == dims.size(), invalid_argument,
                 "[{}] component {}: element {} of the batch has shape {}, which does not have the "
                 "rank of the padded shape {}",
                 stage, c, e, leaves[e][c].shape(), want);
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t fixed = want.dim(static_cast<int>(i));
        RILL_CHECK(
            fixed < 0 || have[i] <= fixed, invalid_argument,
            "[{}] component {}: element {} of the batch has shape {}, larger than the padded "
            "shape {}. Padding only adds: give a larger size, or None for the largest",
            stage, c, e, leaves[e][c].shape(), want);
        if (fixed < 0) dims[i] = std::max(dims[i], have[i]);
      }
    }
    const TensorShape row{dims};
    const std::int64_t size = checked_num_elements(dims, stage);
    Tensor t = make_tensor(first.dtype(), with_rows(row, n));
    const Tensor value = padding.empty() ? Tensor() : padding[padding.size() == 1 ? 0 : c];
    if (value.defined()) {
      for (std::int64_t i = 0; i < t.size(); ++i) copy_elements(t, i, value, 0, 1);
    } else if (t.dtype() != string && t.size()) {
      std::memset(t.impl()->data, 0, static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
    }
    for (std::size_t e = 0; e < leaves.size(); ++e)
      if (leaves[e][c].size())
        copy_corner(t, static_cast<std::int64_t>(e) * size, dims, leaves[e][c], 0, 0);
    out.push_back(std::move(t));
  }
  return elements[0].with_leaves(out);
}

}  // namespace rill::data
