// Ops of TensorFlow's files that read or write several elements of a list at once.
#include "rill/ops/array_ops.h"
#include "rill/ops/list/list_impl.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

std::vector<std::int64_t> numbers_of(const Tensor& list, std::string_view tag,
                                     std::string_view what) {
  RILL_CHECK(list.ndim() == 1, invalid_argument, "[{}] {} must be a list, got shape {}", tag, what,
             list.shape());
  return list.to_vector<std::int64_t>();
}
// A list with the rows of `rows` at the indices; of an index that comes twice the last stays.
Tensor with_rows(std::shared_ptr<TensorListValue::Items> items, DType dtype, TensorShape element,
                 const Tensor& rows, const std::vector<std::int64_t>& at, std::string_view tag) {
  RILL_CHECK(rows.ndim() > 0 && rows.shape().dim(0) == static_cast<std::int64_t>(at.size()),
             invalid_argument, "[{}] {} indices for a tensor of shape {}; expected one a row", tag,
             at.size(), rows.shape());
  const std::vector<Tensor> values = unstack(rows, 0);
  for (std::size_t k = 0; k < at.size(); ++k) {
    RILL_CHECK(at[k] >= 0 && static_cast<std::size_t>(at[k]) < items->v.size(), out_of_range,
               "[{}] index {} is out of range for a list of {} elements", tag, at[k],
               items->v.size());
    items->v[static_cast<std::size_t>(at[k])] = values[k];
  }
  const std::size_t n = items->v.size();
  return make_list(dtype, std::move(element), std::move(items), n);
}
TensorShape without_first(const TensorShape& s) {
  if (s.rank() < 1) return {};
  Dims rows;
  for (int i = 1; i < s.rank(); ++i) rows.push_back(s.dim(i));
  return TensorShape(rows);
}
// The shape of the rows of an input, as a tensor.
Tensor row_shape(GradContext& g, int input) { return g.input_shape_tensor(input)(slice(1, None)); }

Tensor gather_rows(const Tensor& list, const Tensor& indices, const Tensor& element_shape,
                   DType dtype);
Tensor scatter_into(const Tensor& list, const Tensor& rows, const Tensor& indices);
Tensor concat_rows(const Tensor& list, const Tensor& element_shape, const Tensor& lengths,
                   DType dtype);
Tensor split_rows(const Tensor& rows, const Tensor& element_shape, const Tensor& lengths);

// ---- picking
void gather_shape(ShapeContext& c) {
  const Tensor* v = c.input_value(2);
  const TensorShape e = v && v->ndim() == 0 ? TensorShape() : c.input_as_shape(2);
  c.set_output(0, with_count(e, c.input(1).rank() == 1 ? c.input(1).dim(0) : -1));
}
// An element may have been read more than once.
void gather_grad(GradContext& g) {
  if (!g.needs(0)) return;
  const Tensor sums =
      math::unsorted_segment_sum(g.dy(), g.input(1), tensor_list_length(g.input(0)));
  g.set(0, tensor_list_from_tensor(sums, g.input(2)));
}
const Op& gather_op =
    OpBuilder("TensorListGather", "TensorArray.gather")
        .input("input_handle: variant")
        .input("indices: int32")
        .input("element_shape: int32")
        .output("values: element_dtype")
        .type("element_dtype", {})
        .doc("The tensors at several indices as one, along a new first axis.")
        .shape(gather_shape)
        .gradient(gather_grad, "input_handle indices element_shape")
        .host("indices element_shape")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const TensorListValue& l = tensor_list_value(*in[0]);
          TensorShape hint = hint_of(*in[2]);
          std::vector<std::size_t> at;
          for (std::int64_t i : numbers_of(*in[1], "TensorArray.gather", "indices"))
            at.push_back(checked_index(l, i, "TensorArray.gather"));
          for (std::size_t i : at)  // one that is written tells of the others
            if (l.at(i).defined() && hint.is_compatible_with(l.at(i).shape()))
              hint = merge_shapes(hint, l.at(i).shape());
          if (at.empty()) {
            const TensorShape s = merge_shapes(hint, l.element_shape);
            RILL_CHECK(s.is_fully_defined(), invalid_argument,
                       "[TensorArray.gather] no index is given and the shape of the elements, {}, "
                       "is not known",
                       s);
            out[0] = zeros(with_count(s, 0), l.dtype);
            return;
          }
          std::vector<Tensor> items;
          for (std::size_t i : at) items.push_back(element(l, i, hint, "TensorArray.gather"));
          out[0] = stack(items, 0);
        })
        .define();

// ---- placing
void scatter_grad(GradContext& g) {
  if (!g.raw_dy().defined()) return;
  g.set(0, gather_rows(g.raw_dy().tensor(), g.input(1), row_shape(g, 0), g.input_dtype(0)));
}
[[maybe_unused]] const Op& scatter_op =
    OpBuilder("TensorListScatterV2", "TensorArray.scatter")
        .input("tensor: element_dtype")
        .input("indices: int32")
        .input("element_shape: shape_type")
        .input("num_elements: int32")
        .output("output_handle: variant")
        .type("element_dtype", {})
        .type("shape_type", kIndexTypes)
        .doc("A list with the rows of a tensor at several indices.")
        .shape(list_shape)
        .gradient(scatter_grad, "indices")
        .host("indices element_shape num_elements")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const auto at = numbers_of(*in[1], "TensorArray.scatter", "indices");
          std::int64_t n = in[3]->item<std::int64_t>();
          for (std::int64_t i : at)  // -1: as long as it must be
            if (in[3]->item<std::int64_t>() < 0) n = std::max(n, i + 1);
          auto items = std::make_shared<TensorListValue::Items>();
          items->v.resize(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
          out[0] = with_rows(std::move(items), in[0]->dtype(), hint_of(*in[2]), *in[0], at,
                             "TensorArray.scatter");
        })
        .define();

void scatter_into_grad(GradContext& g) {
  if (!g.raw_dy().defined()) return;
  const Tensor dy = g.raw_dy().tensor();
  g.set(1, gather_rows(dy, g.input(2), row_shape(g, 1), g.input_dtype(1)));
  if (g.needs(0))
    g.set(0, scatter_into(dy, fill(g.input_shape_tensor(1), to_tensor(0, g.input_dtype(1))),
                          g.input(2)));
}
const Op& scatter_into_op =
    OpBuilder("TensorListScatterIntoExistingList", "TensorArray.scatter")
        .input("input_handle: variant")
        .input("tensor: element_dtype")
        .input("indices: int32")
        .output("output_handle: variant")
        .type("element_dtype", {})
        .doc("The list with the rows of a tensor at several indices.")
        .shape(list_shape)
        .gradient(scatter_into_grad, "indices")
        .host("indices")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const TensorListValue& l = tensor_list_value(*in[0]);
          RILL_CHECK(l.dtype == in[1]->dtype(), invalid_argument,
                     "[TensorArray.scatter] the list holds {}, the value is {}", l.dtype,
                     in[1]->dtype());
          const auto at = numbers_of(*in[2], "TensorArray.scatter", "indices");
          auto items = copy_items(l);
          for (std::int64_t i : at)
            if (i >= 0 && static_cast<std::size_t>(i) >= items->v.size())
              items->v.resize(static_cast<std::size_t>(i) + 1);
          out[0] = with_rows(std::move(items), l.dtype, l.element_shape, *in[1], at,
                             "TensorArray.scatter");
        })
        .define();

// ---- end to end
void concat_shape(ShapeContext& c) {
  const Tensor* v = c.input_value(1);
  TensorShape e = v && v->ndim() == 0 ? TensorShape() : c.input_as_shape(1);
  if (e.rank() > 0) e.set_dim(0, -1);
  c.set_output(0, e);
  c.set_output(1, TensorShape::unknown_dims(1));
}
void concat_grad(GradContext& g) {
  if (g.needs(0)) g.set(0, split_rows(g.dy(), g.input(1), g.output(1)));
}
const Op& concat_op =
    OpBuilder("TensorListConcatV2", "TensorArray.concat")
        .input("input_handle: variant")
        .input("element_shape: shape_type")
        .input("leading_dims: int64")
        .output("tensor: element_dtype")
        .output("lengths: int64")
        .type("element_dtype", {})
        .type("shape_type", kIndexTypes)
        .doc(
            "The tensors of a list one after the other along their first axis, and how long each "
            "is.")
        .shape(concat_shape)
        .gradient(concat_grad, "element_shape lengths")
        .host("element_shape leading_dims")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const TensorListValue& l = tensor_list_value(*in[0]);
          TensorShape rows = without_first(merge_shapes(hint_of(*in[1]), l.element_shape));
          for (std::size_t i = 0; i < l.size; ++i)
            if (l.at(i).defined()) rows = merge_shapes(rows, without_first(l.at(i).shape()));
          const auto leading = in[2]->to_vector<std::int64_t>();
          std::vector<Tensor> items;
          std::vector<std::int64_t> lengths;
          for (std::size_t i = 0; i < l.size; ++i) {
            const std::int64_t n = i < leading.size() ? leading[i] : -1;
            const Tensor t = l.at(i).defined()
                                 ? l.at(i)
                                 : element(l, i, with_count(rows, n), "TensorArray.concat");
            RILL_CHECK(t.ndim() > 0, invalid_argument,
                       "[TensorArray.concat] element {} is a scalar, which has no first axis", i);
            items.push_back(t);
            lengths.push_back(t.shape().dim(0));
          }
          RILL_CHECK(!items.empty() || rows.is_fully_defined(), invalid_argument,
                     "[TensorArray.concat] the list is empty and the shape of its rows, {}, is not "
                     "known",
                     rows);
          out[0] = items.empty() ? zeros(with_count(rows, 0), l.dtype) : concat(items, 0);
          out[1] = constant(lengths, int64);
        })
        .define();

void split_grad(GradContext& g) {
  if (g.raw_dy().defined())
    g.set(0, concat_rows(g.raw_dy().tensor(), g.input(1), g.input(2), g.input_dtype(0)));
}
const Op& split_op =
    OpBuilder("TensorListSplit", "TensorArray.split")
        .input("tensor: element_dtype")
        .input("element_shape: shape_type")
        .input("lengths: int64")
        .output("output_handle: variant")
        .type("element_dtype", {})
        .type("shape_type", kIndexTypes)
        .doc("A list of parts of a tensor, cut along its first axis.")
        .shape(list_shape)
        .gradient(split_grad, "element_shape lengths")
        .host("element_shape lengths")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const auto lengths = numbers_of(*in[2], "TensorArray.split", "lengths");
          RILL_CHECK(in[0]->ndim() > 0, invalid_argument,
                     "[TensorArray.split] a scalar has no rows");
          std::int64_t rest = in[0]->shape().dim(0);
          for (std::int64_t n : lengths) rest = n < 0 || n > rest ? -1 : rest - n;
          RILL_CHECK(rest == 0, invalid_argument,
                     "[TensorArray.split] the lengths {} do not add up to the rows of shape {}",
                     in[2]->to_string(), in[0]->shape());
          auto items = std::make_shared<TensorListValue::Items>();
          std::int64_t begin = 0;
          for (std::int64_t n : lengths) {
            items->v.push_back((*in[0])(slice(begin, begin + n)));
            begin += n;
          }
          const std::size_t count = items->v.size();
          out[0] = make_list(in[0]->dtype(), hint_of(*in[1]), std::move(items), count);
        })
        .define();

// ---- the shape that a list was made with
void known_shape_shape(ShapeContext& c) { c.set_output(0, TensorShape::unknown_rank()); }
[[maybe_unused]] const Op& shape_op =
    OpBuilder("TensorListElementShape", "tensor_list.element_shape")
        .input("input_handle: variant")
        .output("element_shape: shape_type")
        .type("shape_type", kIndexTypes)
        .doc("The shape of the elements as far as it is known; -1 where nothing is.")
        .shape(known_shape_shape)
        .no_gradient()
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const UnrecordedScope alone;
          const Tensor s = shape_argument(tensor_list_value(*in[0]).element_shape);
          out[0] = cast(s, a.type_attr("shape_type"));
        })
        .define();

Tensor gather_rows(const Tensor& list, const Tensor& indices, const Tensor& element_shape,
                   DType dtype) {
  return execute(gather_op, {list, indices, as_int32(element_shape)}, {{"element_dtype", dtype}});
}
Tensor scatter_into(const Tensor& list, const Tensor& rows, const Tensor& indices) {
  return execute(scatter_into_op, {list, rows, indices});
}
Tensor concat_rows(const Tensor& list, const Tensor& element_shape, const Tensor& lengths,
                   DType dtype) {
  return execute_all(concat_op, {list, element_shape, lengths}, {{"element_dtype", dtype}})[0];
}
Tensor split_rows(const Tensor& rows, const Tensor& element_shape, const Tensor& lengths) {
  return execute(split_op, {rows, element_shape, lengths});
}

}  // namespace
}  // namespace rill
