#include "rill/data/composite_rows_impl.h"

#include <numeric>

namespace rill::data {
namespace {

using Numbers = std::vector<std::int64_t>;

Tensor row_numbers(const Numbers& numbers, DType dtype) {
  const Tensor t = make_tensor(dtype, TensorShape(Dims{static_cast<std::int64_t>(numbers.size())}));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (dtype == int32)
      mutable_data<std::int32_t>(t)[i] = static_cast<std::int32_t>(numbers[i]);
    else
      mutable_data<std::int64_t>(t)[i] = numbers[i];
  }
  return t;
}
Tensor some_rows(const Tensor& t, std::int64_t begin, std::int64_t end) {
  const TensorShape row = row_shape(t.shape());
  return make_view(t, with_rows(row, end - begin), begin * row.num_elements());
}
Tensor host_part(const Nest& composite, std::size_t i) {
  return to_host(composite.part(i).as_tensor());
}
bool is_ragged(const Nest& n) { return n.composite_kind() == "ragged"; }
bool is_sparse(const Nest& n) { return n.composite_kind() == "sparse"; }
[[noreturn]] void refuse(const Nest& n, const char* stage) {
  RILL_FAIL(unimplemented,
            "[{}] {} is neither stacked nor cut into rows; tensors, ragged and "
            "sparse ones are",
            stage, n.to_string());
}

// ---- ragged: flat values, then splits from the outermost rows on
Nest cut_ragged(const Nest& table, std::int64_t row) {
  const Tensor flat = host_part(table, 0);
  if (table.size() == 1)
    return Nest::composite("ragged", {make_view(flat, row_shape(flat.shape()),
                                                row * row_shape(flat.shape()).num_elements())});
  std::int64_t begin = row, end = row + 1;
  std::vector<Nest> parts{Nest()};
  for (std::size_t i = 1; i < table.size(); ++i) {
    const Tensor given = host_part(table, i);
    const Numbers splits = given.to_vector<std::int64_t>();
    const auto first = static_cast<std::size_t>(begin), last = static_cast<std::size_t>(end);
    if (i > 1) {
      Numbers own(splits.begin() + begin, splits.begin() + end + 1);
      for (std::int64_t& n : own) n -= splits[first];
      parts.emplace_back(row_numbers(own, given.dtype()));
    }
    begin = splits[first], end = splits[last];
  }
  parts[0] = Nest(some_rows(flat, begin, end));
  return Nest::composite("ragged", std::move(parts));
}
Tensor joined(const std::vector<Tensor>& parts, const char* stage) {
  std::int64_t n = 0;
  const TensorShape row = row_shape(parts[0].shape());
  for (const Tensor& t : parts) {
    RILL_CHECK(t.dtype() == parts[0].dtype() && row_shape(t.shape()) == row, invalid_argument,
               "[{}] rows of a ragged tensor are {} of shape {} and {} of shape {}; expected one "
               "dtype, and sizes that differ in ragged axes alone",
               stage, parts[0].dtype(), parts[0].shape(), t.dtype(), t.shape());
    n += t.shape().dim(0);
  }
  const Tensor out = make_tensor(parts[0].dtype(), with_rows(row, n));
  std::int64_t at = 0;
  for (const Tensor& t : parts) copy_elements(out, at, t, 0, t.size()), at += t.size();
  return out;
}
Nest stack_ragged(const std::vector<Nest>& rows, const char* stage) {
  std::vector<Tensor> flat;
  for (const Nest& row : rows) flat.push_back(host_part(row, 0));
  if (flat[0].ndim() == 0) {  // elements of rows
    for (Tensor& t : flat) t = make_view(t, TensorShape(Dims{1}));
    return Nest::composite("ragged", {joined(flat, stage)});
  }
  std::vector<Nest> parts{Nest(joined(flat, stage))};
  Numbers outer{0};
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const std::int64_t n = rows[e].size() == 1 ? flat[e].shape().dim(0)
                                               : rows[e].part(1).as_tensor().shape().dim(0) - 1;
    outer.push_back(outer.back() + n);
  }
  DType dtype = int64;
  if (rows[0].size() > 1) dtype = rows[0].part(1).as_tensor().dtype();
  parts.emplace_back(row_numbers(outer, dtype));
  for (std::size_t i = 1; i < rows[0].size(); ++i) {
    Numbers all{0};
    for (const Nest& row : rows) {
      const Numbers own = host_part(row, i).to_vector<std::int64_t>();
      const std::int64_t before = all.back();
      for (std::size_t k = 1; k < own.size(); ++k) all.push_back(before + own[k]);
    }
    parts.emplace_back(row_numbers(all, dtype));
  }
  return Nest::composite("ragged", std::move(parts));
}

// ---- sparse: indices, values, dense_shape
Nest cut_sparse(const Nest& table, std::int64_t row) {
  const Tensor indices = host_part(table, 0), values = host_part(table, 1);
  const std::int64_t rank = indices.shape().dim(1), n = indices.shape().dim(0);
  const auto* at = host_data<std::int64_t>(indices);
  // Values stand in the order of rows, or not: those of this row keep their order.
  Numbers mine;
  for (std::int64_t i = 0; i < n; ++i)
    if (at[i * rank] == row) mine.push_back(i);
  const auto count = static_cast<std::int64_t>(mine.size());
  const Tensor own = make_tensor(int64, TensorShape(Dims{count, rank - 1}));
  const Tensor kept = make_tensor(values.dtype(), TensorShape(Dims{count}));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = mine[static_cast<std::size_t>(i)];
    copy_elements(own, i * (rank - 1), indices, from * rank + 1, rank - 1);
    copy_elements(kept, i, values, from, 1);
  }
  const Tensor shape = host_part(table, 2);
  return Nest::composite("sparse", {own, kept, some_rows(shape, 1, rank)});
}
Nest stack_sparse(const std::vector<Nest>& rows, const char* stage) {
  Numbers shape = host_part(rows[0], 2).to_vector<std::int64_t>();
  std::int64_t n = 0;
  for (const Nest& row : rows) {
    const Numbers own = host_part(row, 2).to_vector<std::int64_t>();
    RILL_CHECK(own.size() == shape.size() &&
                   row.part(1).as_tensor().dtype() == rows[0].part(1).as_tensor().dtype(),
               invalid_argument,
               "[{}] sparse tensors of a batch are {} and {}; expected one dtype and rank", stage,
               rows[0].to_string(), row.to_string());
    for (std::size_t i = 0; i < own.size(); ++i) shape[i] = std::max(shape[i], own[i]);
    n += row.part(1).as_tensor().shape().dim(0);
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const Tensor indices = make_tensor(int64, TensorShape(Dims{n, rank + 1}));
  const Tensor values = make_tensor(rows[0].part(1).as_tensor().dtype(), TensorShape(Dims{n}));
  std::int64_t at = 0;
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const Tensor own = host_part(rows[e], 0), kept = host_part(rows[e], 1);
    const std::int64_t count = kept.shape().dim(0);
    for (std::int64_t i = 0; i < count; ++i) {
      mutable_data<std::int64_t>(indices)[(at + i) * (rank + 1)] = static_cast<std::int64_t>(e);
      copy_elements(indices, (at + i) * (rank + 1) + 1, own, i * rank, rank);
    }
    copy_elements(values, at, kept, 0, count);
    at += count;
  }
  shape.insert(shape.begin(), static_cast<std::int64_t>(rows.size()));
  return Nest::composite("sparse", {indices, values, row_numbers(shape, int64)});
}

TensorSpec list_spec(std::int64_t n, DType dtype) {
  return TensorSpec(TensorShape(Dims{n}), dtype);
}

}  // namespace

bool holds_composite(const Nest& nest) {
  if (nest.is_tensor()) return false;
  if (nest.is_composite()) return true;
  for (std::size_t i = 0; i < nest.size(); ++i)
    if (holds_composite(nest.part(i))) return true;
  return false;
}

std::int64_t count_rows(const Nest& element, const char* stage) {
  if (element.is_tensor() || is_ragged(element)) {
    const std::size_t outer = is_ragged(element) && element.size() > 1 ? 1 : 0;
    const Tensor& t = element.part(outer).as_tensor();
    RILL_CHECK(t.defined() && !t.is_symbolic() && t.dtype() != resource && t.dtype() != variant,
               invalid_argument, "[{}] a component of {} has no elements in memory", stage,
               element.to_string());
    RILL_CHECK(t.ndim() >= 1, invalid_argument,
               "[{}] component {} is a scalar; expected at least one dimension to slice", stage,
               element.to_string());
    return t.shape().dim(0) - static_cast<std::int64_t>(outer);
  }
  if (is_sparse(element)) {
    const Tensor shape = host_part(element, 2);
    RILL_CHECK(shape.size() > 0, invalid_argument, "[{}] a sparse tensor of rank 0 has no rows",
               stage);
    return host_data<std::int64_t>(shape)[0];
  }
  if (element.is_composite()) refuse(element, stage);
  std::int64_t n = -1;
  for (std::size_t i = 0; i < element.size(); ++i) {
    const std::int64_t own = count_rows(element.part(i), stage);
    RILL_CHECK(n < 0 || own == n, invalid_argument,
               "[{}] components have {} and {} rows; expected the same first size", stage, n, own);
    n = own;
  }
  RILL_CHECK(n >= 0, invalid_argument, "[{}] the element has no component", stage);
  return n;
}

Nest cut_row(const Nest& element, std::int64_t row) {
  if (element.is_tensor()) {
    const Tensor t = to_host(element.as_tensor());
    const TensorShape shape = row_shape(t.shape());
    return make_view(t, shape, row * shape.num_elements());
  }
  if (is_ragged(element)) return cut_ragged(element, row);
  if (is_sparse(element)) return cut_sparse(element, row);
  std::vector<Nest> items;
  for (std::size_t i = 0; i < element.size(); ++i) items.push_back(cut_row(element.part(i), row));
  return element.with_items(std::move(items));
}

Nest stack_composites(const std::vector<Nest>& rows, const char* stage) {
  if (is_ragged(rows[0])) return stack_ragged(rows, stage);
  if (is_sparse(rows[0])) return stack_sparse(rows, stage);
  refuse(rows[0], stage);
}

ElementSpec row_spec(const ElementSpec& table) {
  return map_components(table, [](const ElementSpec& s) -> ElementSpec {
    if (s.is_leaf()) return TensorSpec(row_shape(s.leaf().shape()), s.leaf().dtype());
    std::vector<ElementSpec> parts;
    const TensorSpec& first = s[0].leaf();
    if (s.composite_kind() == "ragged") {
      const TensorShape element = row_shape(first.shape());
      parts.emplace_back(
          TensorSpec(s.size() > 1 ? with_rows(element, -1) : element, first.dtype()));
      for (std::size_t i = 2; i < s.size(); ++i)
        parts.emplace_back(list_spec(-1, s[static_cast<int>(i)].leaf().dtype()));
    } else if (s.composite_kind() == "sparse") {
      const std::int64_t rank = first.shape().has_rank() ? first.shape().dim(1) : -1;
      const std::int64_t less = rank < 0 ? -1 : rank - 1;
      parts = {TensorSpec(TensorShape(Dims{-1, less}), int64), list_spec(-1, s[1].leaf().dtype()),
               list_spec(less, int64)};
    } else {
      return s;
    }
    return ElementSpec::composite(s.composite_kind(), std::move(parts));
  });
}

ElementSpec table_spec(const ElementSpec& row, std::int64_t n) {
  return map_components(row, [&](const ElementSpec& s) -> ElementSpec {
    if (s.is_leaf()) return TensorSpec(with_rows(s.leaf().shape(), n), s.leaf().dtype());
    std::vector<ElementSpec> parts;
    const TensorSpec& first = s[0].leaf();
    if (s.composite_kind() == "ragged") {
      const bool of_elements = first.shape().has_rank() && first.shape().rank() == 0;
      parts.emplace_back(
          TensorSpec(of_elements ? TensorShape(Dims{n}) : with_rows(row_shape(first.shape()), -1),
                     first.dtype()));
      const DType splits = s.size() > 1 ? s[1].leaf().dtype() : DType(int64);
      if (!of_elements) parts.emplace_back(list_spec(n < 0 ? -1 : n + 1, splits));
      for (std::size_t i = 1; i < s.size(); ++i) parts.emplace_back(list_spec(-1, splits));
    } else if (s.composite_kind() == "sparse") {
      const std::int64_t rank = first.shape().has_rank() ? first.shape().dim(1) : -1;
      const std::int64_t more = rank < 0 ? -1 : rank + 1;
      parts = {TensorSpec(TensorShape(Dims{-1, more}), int64), list_spec(-1, s[1].leaf().dtype()),
               list_spec(more, int64)};
    } else {
      return s;
    }
    return ElementSpec::composite(s.composite_kind(), std::move(parts));
  });
}

}  // namespace rill::data
