#include "rill/ops/list/list_impl.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {

Tensor make_list(DType dtype, TensorShape element, std::shared_ptr<TensorListValue::Items> items,
                 std::size_t size) {
  auto* v = new TensorListValue;
  v->dtype = dtype;
  v->element_shape = std::move(element);
  v->size = size;
  v->items = std::move(items);
  return make_resource(Ref<Resource>(v), variant_dtype());
}
std::shared_ptr<TensorListValue::Items> copy_items(const TensorListValue& l) {
  auto items = std::make_shared<TensorListValue::Items>();
  std::lock_guard lock(l.items->mutex);
  items->v.assign(l.items->v.begin(), l.items->v.begin() + static_cast<std::ptrdiff_t>(l.size));
  return items;
}

// An element as a tensor: what was not written reads as zeros.
Tensor element(const TensorListValue& l, std::size_t i, const TensorShape& hint,
               std::string_view tag) {
  Tensor t;
  {
    std::lock_guard lock(l.items->mutex);
    t = l.items->v[i];
  }
  if (t.defined()) return t;
  const TensorShape s = merge_shapes(
      l.element_shape.is_compatible_with(hint) ? l.element_shape : TensorShape(), hint);
  RILL_CHECK(s.is_fully_defined(), invalid_argument,
             "[{}] element {} was never written, and its shape {} is not known, so it cannot be "
             "read as zeros",
             tag, i, s);
  return zeros(s, l.dtype);
}

std::size_t checked_index(const TensorListValue& l, std::int64_t i, std::string_view tag) {
  RILL_CHECK(i >= 0 && static_cast<std::size_t>(i) < l.size, out_of_range,
             "[{}] index {} is out of range for a list of {} elements", tag, i, l.size);
  return static_cast<std::size_t>(i);
}
TensorShape hint_of(const Tensor& t) {
  // -1 alone: nothing is known.
  if (t.ndim() == 0) return TensorShape();
  return TensorShape(as_dims(t, "tensor_list"));
}

void list_shape(ShapeContext& c) { c.set_output(0, TensorShape::scalar()); }
void element_from(ShapeContext& c, int output, int input) {
  if (const Tensor* v = c.input_value(input); v && v->ndim() == 0)
    return c.set_output(output, TensorShape());
  c.set_output(output, c.input_as_shape(input));
}
TensorShape with_count(const TensorShape& element, std::int64_t n) {
  if (!element.has_rank()) return {};
  Dims d{n};
  for (std::int64_t x : element.dims()) d.push_back(x);
  return TensorShape(d);
}

Tensor as_int32(const Operand& x) {
  const Arg a(x, x.is_literal() ? int32 : DType());
  return a->dtype() == int32 ? *a : cast(*a, int32);
}
Tensor shape_argument(const Operand& s) {
  if (s.kind() == Operand::Kind::shape) {
    // Unknown rank is written as -1, unknown sizes too.
    const TensorShape& t = s.shape();
    if (!t.has_rank()) return to_tensor(-1, int32);
    Tensor out = make_tensor(int32, TensorShape(Dims{t.rank()}));
    for (int i = 0; i < t.rank(); ++i)
      mutable_data<std::int32_t>(out)[i] = static_cast<std::int32_t>(t.dim(i));
    return out;
  }
  return as_int32(s);
}

void check_item(const TensorListValue& l, const Tensor& item, std::string_view tag) {
  RILL_CHECK(item.dtype() == l.dtype, invalid_argument,
             "[{}] the list holds {}, the value is {}; write tf::cast(value, tf::{})", tag, l.dtype,
             item.dtype(), l.dtype);
  RILL_CHECK(l.element_shape.is_compatible_with(item.shape()), invalid_argument,
             "[{}] elements have shape {}, the value has shape {}", tag, l.element_shape,
             item.shape());
}

namespace {

std::int64_t int_of(const Tensor& t) { return t.item<std::int64_t>(); }

Tensor element_shape_of_list(GradContext& g, int input) {
  // As it was given to this op: "element_shape".
  return g.input(input);
}

const Op& empty_op = OpBuilder("EmptyTensorList", "tensor_list")
                         .input("element_shape: shape_type")
                         .input("max_num_elements: int32")
                         .output("handle: variant")
                         .type("shape_type", kIndexTypes)
                         .attr("element_dtype: type")
                         .doc("A list of no tensors.")
                         .shape(list_shape)
                         .no_gradient()
                         .host("element_shape max_num_elements")
                         .forward([](const AttrReader& a, std::span<const In> in,
                                     std::span<const TensorShape>, std::span<Tensor> out) {
                           out[0] = make_list(a.type_attr("element_dtype"), hint_of(*in[0]),
                                              std::make_shared<TensorListValue::Items>(), 0);
                         })
                         .define();

const Op& reserve_op = OpBuilder("TensorListReserve", "tensor_list")
                           .input("element_shape: shape_type")
                           .input("num_elements: int32")
                           .output("handle: variant")
                           .type("shape_type", kIndexTypes)
                           .attr("element_dtype: type")
                           .doc("A list of so many tensors, none written yet.")
                           .shape(list_shape)
                           .no_gradient()
                           .host("element_shape num_elements")
                           .forward([](const AttrReader& a, std::span<const In> in,
                                       std::span<const TensorShape>, std::span<Tensor> out) {
                             const std::int64_t n = int_of(*in[1]);
                             RILL_CHECK(n >= 0, invalid_argument,
                                        "[tensor_list] the size is {}; expected 0 or more", n);
                             auto items = std::make_shared<TensorListValue::Items>();
                             items->v.resize(static_cast<std::size_t>(n));
                             out[0] = make_list(a.type_attr("element_dtype"), hint_of(*in[0]),
                                                std::move(items), static_cast<std::size_t>(n));
                           })
                           .define();

void push_grad(GradContext& g) {
  if (!g.raw_dy().defined()) return;
  const std::vector<Tensor> popped =
      tensor_list_pop_back(g.raw_dy().tensor(), g.input_shape_tensor(1), g.input_dtype(1));
  g.set(0, popped[0]);
  g.set(1, popped[1]);
}
const Op& push_op = OpBuilder("TensorListPushBack", "tensor_list.push_back")
                        .input("input_handle: variant")
                        .input("tensor: element_dtype")
                        .output("output_handle: variant")
                        .type("element_dtype", {})
                        .doc("The list with a tensor more.")
                        .shape(list_shape)
                        .gradient(push_grad)
                        .forward([](const AttrReader&, std::span<const In> in,
                                    std::span<const TensorShape>, std::span<Tensor> out) {
                          TensorListValue& l = tensor_list_value(*in[0]);
                          check_item(l, *in[1], "tensor_list.push_back");
                          // The newest of those that share the elements may add to them.
                          std::shared_ptr<TensorListValue::Items> items = l.items;
                          bool added = false;
                          {
                            std::lock_guard lock(items->mutex);
                            if (items->v.size() == l.size) items->v.push_back(*in[1]), added = true;
                          }
                          if (!added) {
                            items = copy_items(l);
                            items->v.push_back(*in[1]);
                          }
                          out[0] =
                              make_list(l.dtype, l.element_shape, std::move(items), l.size + 1);
                        })
                        .define();

void pop_shape(ShapeContext& c) {
  c.set_output(0, TensorShape::scalar());
  element_from(c, 1, 1);
}
void pop_grad(GradContext& g) {
  Tensor list = g.raw_dy(0).defined() ? g.raw_dy(0).tensor() : tensor_list_zeros_like(g.output(0));
  Tensor item = g.raw_dy(1).defined() ? g.raw_dy(1).tensor() : zeros_like(g.output(1));
  g.set(0, tensor_list_push_back(list, item));
}
const Op& pop_op =
    OpBuilder("TensorListPopBack", "tensor_list.pop_back")
        .input("input_handle: variant")
        .input("element_shape: int32")
        .output("output_handle: variant")
        .output("tensor: element_dtype")
        .type("element_dtype", {})
        .doc("The list without its last tensor, and that tensor.")
        .shape(pop_shape)
        .gradient(pop_grad, "output_handle tensor")
        .host("element_shape")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          TensorListValue& l = tensor_list_value(*in[0]);
          RILL_CHECK(l.size > 0, out_of_range, "[tensor_list.pop_back] the list is empty");
          out[1] = element(l, l.size - 1, hint_of(*in[1]), "tensor_list.pop_back");
          out[0] = make_list(l.dtype, l.element_shape, l.items, l.size - 1);
        })
        .define();

void set_grad(GradContext& g) {
  if (!g.raw_dy().defined()) return;
  const Tensor dy = g.raw_dy().tensor();
  g.set(2, tensor_list_get_item(dy, g.input(1), g.input_shape_tensor(2), g.input_dtype(2)));
  if (g.needs(0)) {
    const Tensor zero = g.input_shape(2).is_fully_defined()
                            ? zeros(g.input_shape(2), g.input_dtype(2))
                            : fill(g.input_shape_tensor(2), to_tensor(0, g.input_dtype(2)));
    g.set(0, tensor_list_set_item(dy, g.input(1), zero));
  }
}
const Op& set_op =
    OpBuilder("TensorListSetItem", "TensorArray.write")
        .input("input_handle: variant")
        .input("index: int32")
        .input("item: element_dtype")
        .output("output_handle: variant")
        .attr("resize_if_index_out_of_bounds: bool = false")
        .type("element_dtype", {})
        .doc("The list with another tensor at an index.")
        .shape(list_shape)
        .gradient(set_grad, "index")
        .host("index")
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          TensorListValue& l = tensor_list_value(*in[0]);
          check_item(l, *in[2], "TensorArray.write");
          const std::int64_t i = int_of(*in[1]);
          std::size_t size = l.size;
          if (a.bool_attr("resize_if_index_out_of_bounds") && i >= 0)
            size = std::max(size, static_cast<std::size_t>(i) + 1);
          RILL_CHECK(i >= 0 && static_cast<std::size_t>(i) < size, out_of_range,
                     "[TensorArray.write] index {} is out of range for {} elements; an array made "
                     "with dynamic_size grows by itself",
                     i, l.size);
          auto items = copy_items(l);
          items->v.resize(size);
          items->v[static_cast<std::size_t>(i)] = *in[2];
          out[0] = make_list(l.dtype, l.element_shape, std::move(items), size);
        })
        .define();

void get_shape(ShapeContext& c) { element_from(c, 0, 2); }
void get_grad(GradContext& g) {
  if (!g.needs(0)) return;
  g.set(0, tensor_list_set_item(tensor_list_zeros_like(g.input(0)), g.input(1), g.dy()));
}
const Op& get_op = OpBuilder("TensorListGetItem", "TensorArray.read")
                       .input("input_handle: variant")
                       .input("index: int32")
                       .input("element_shape: int32")
                       .output("item: element_dtype")
                       .type("element_dtype", {})
                       .doc("The tensor at an index.")
                       .shape(get_shape)
                       .gradient(get_grad, "input_handle index")
                       .host("index element_shape")
                       .forward([](const AttrReader& a, std::span<const In> in,
                                   std::span<const TensorShape>, std::span<Tensor> out) {
                         TensorListValue& l = tensor_list_value(*in[0]);
                         RILL_CHECK(l.dtype == a.type_attr("element_dtype"), invalid_argument,
                                    "[TensorArray.read] the list holds {}, asked for {}", l.dtype,
                                    a.type_attr("element_dtype"));
                         const std::size_t i = checked_index(l, int_of(*in[1]), "TensorArray.read");
                         const Tensor t = element(l, i, hint_of(*in[2]), "TensorArray.read");
                         out[0] = make_view(t, t.shape());
                       })
                       .define();

void stack_shape(ShapeContext& c) {
  const Tensor* v = c.input_value(1);
  const TensorShape e = v && v->ndim() == 0 ? TensorShape() : c.input_as_shape(1);
  c.set_output(0, with_count(e, c.int_attr("num_elements")));
}
void stack_grad(GradContext& g) {
  g.set(0, tensor_list_from_tensor(g.dy(), element_shape_of_list(g, 1)));
}
const Op& stack_op =
    OpBuilder("TensorListStack", "TensorArray.stack")
        .input("input_handle: variant")
        .input("element_shape: int32")
        .output("tensor: element_dtype")
        .attr("num_elements: int = -1")
        .type("element_dtype", {})
        .doc("The tensors of a list as one, along a new first axis.")
        .shape(stack_shape)
        .gradient(stack_grad, "element_shape")
        .host("element_shape")
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          TensorListValue& l = tensor_list_value(*in[0]);
          const std::int64_t want = a.int_attr("num_elements");
          RILL_CHECK(want < 0 || static_cast<std::size_t>(want) == l.size, invalid_argument,
                     "[TensorArray.stack] the list has {} elements, expected {}", l.size, want);
          TensorShape hint = hint_of(*in[1]);
          for (std::size_t i = 0; i < l.size; ++i)  // one that is written tells of the others
            if (l.at(i).defined() && hint.is_compatible_with(l.at(i).shape()))
              hint = merge_shapes(hint, l.at(i).shape());
          if (l.size == 0) {
            const TensorShape s = merge_shapes(hint, l.element_shape);
            RILL_CHECK(s.is_fully_defined(), invalid_argument,
                       "[TensorArray.stack] the list is empty and the shape of its elements, {}, "
                       "is not known",
                       s);
            out[0] = zeros(with_count(s, 0), l.dtype);
            return;
          }
          std::vector<Tensor> items;
          for (std::size_t i = 0; i < l.size; ++i)
            items.push_back(element(l, i, hint, "TensorArray.stack"));
          out[0] = stack(items, 0);
        })
        .define();

void from_tensor_grad(GradContext& g) {
  if (!g.raw_dy().defined()) return;
  g.set(0, tensor_list_stack(g.raw_dy().tensor(), g.input(1), g.input_dtype(0),
                             g.input_shape(0).has_rank() ? g.input_shape(0).dim(0) : -1));
}
const Op& from_tensor_op = OpBuilder("TensorListFromTensor", "TensorArray.unstack")
                               .input("tensor: element_dtype")
                               .input("element_shape: shape_type")
                               .output("output_handle: variant")
                               .type("element_dtype", {})
                               .type("shape_type", kIndexTypes)
                               .doc("The rows of a tensor as a list.")
                               .shape(list_shape)
                               .gradient(from_tensor_grad, "element_shape")
                               .host("element_shape")
                               .forward([](const AttrReader&, std::span<const In> in,
                                           std::span<const TensorShape>, std::span<Tensor> out) {
                                 RILL_CHECK(in[0]->ndim() > 0, invalid_argument,
                                            "[TensorArray.unstack] a scalar has no rows");
                                 auto items = std::make_shared<TensorListValue::Items>();
                                 items->v = unstack(*in[0], 0);
                                 const std::size_t n = items->v.size();
                                 Dims d;
                                 for (int i = 1; i < in[0]->ndim(); ++i)
                                   d.push_back(in[0]->shape().dim(i));
                                 out[0] =
                                     make_list(in[0]->dtype(), TensorShape(d), std::move(items), n);
                               })
                               .define();

const Op& length_op =
    OpBuilder("TensorListLength", "TensorArray.size")
        .input("input_handle: variant")
        .output("length: int32")
        .doc("How many tensors a list has.")
        .shape(scalar_shape)
        .no_gradient()
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          out[0] = to_tensor(static_cast<std::int64_t>(tensor_list_value(*in[0]).size), int32);
        })
        .define();

void resize_grad(GradContext& g) {
  if (g.raw_dy().defined())
    g.set(0, tensor_list_resize(g.raw_dy().tensor(), tensor_list_length(g.input(0))));
}
const Op& resize_op =
    OpBuilder("TensorListResize", "tensor_list.resize")
        .input("input_handle: variant")
        .input("size: int32")
        .output("output_handle: variant")
        .doc("The list cut or filled up to a size.")
        .shape(list_shape)
        .gradient(resize_grad, "input_handle")
        .host("size")
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          TensorListValue& l = tensor_list_value(*in[0]);
          const std::int64_t n = int_of(*in[1]);
          RILL_CHECK(n >= 0, invalid_argument,
                     "[tensor_list.resize] the size is {}; expected 0 or more", n);
          auto items = copy_items(l);
          items->v.resize(static_cast<std::size_t>(n));
          out[0] =
              make_list(l.dtype, l.element_shape, std::move(items), static_cast<std::size_t>(n));
        })
        .define();

void add_grad(GradContext& g) {
  g.set(0, g.raw_dy());
  g.set(1, g.raw_dy());
}
const Op& add_op =
    OpBuilder("_TensorListAdd", "tensor_list.add")
        .input("a: variant")
        .input("b: variant")
        .output("sum: variant")
        .doc("Two lists added element by element; what is missing in one counts as zeros.")
        .shape(list_shape)
        .gradient(add_grad)
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          const TensorListValue &a = tensor_list_value(*in[0]), &b = tensor_list_value(*in[1]);
          RILL_CHECK(a.dtype == b.dtype, invalid_argument, "[tensor_list.add] {} and {}", a.dtype,
                     b.dtype);
          auto items = std::make_shared<TensorListValue::Items>();
          const std::size_t n = std::max(a.size, b.size);
          for (std::size_t i = 0; i < n; ++i) {
            const Tensor x = i < a.size ? a.at(i) : Tensor(), y = i < b.size ? b.at(i) : Tensor();
            items->v.push_back(!x.defined() ? y : !y.defined() ? x : add(x, y));
          }
          out[0] = make_list(a.dtype, common_shape(a.element_shape, b.element_shape),
                             std::move(items), n);
        })
        .define();

const Op& zeros_op = OpBuilder("_TensorListZerosLike", "tensor_list.zeros_like")
                         .input("list: variant")
                         .output("zeros: variant")
                         .doc("A list as long, with nothing written.")
                         .shape(list_shape)
                         .no_gradient()
                         .forward([](const AttrReader&, std::span<const In> in,
                                     std::span<const TensorShape>, std::span<Tensor> out) {
                           const TensorListValue& l = tensor_list_value(*in[0]);
                           auto items = std::make_shared<TensorListValue::Items>();
                           items->v.resize(l.size);
                           out[0] = make_list(l.dtype, l.element_shape, std::move(items), l.size);
                         })
                         .define();

}  // namespace

TensorListValue& tensor_list_value(const Tensor& list) {
  auto* v = dynamic_cast<TensorListValue*>(list.impl()->resource.get());
  RILL_CHECK(v, invalid_argument, "expected a tensor list, got a tensor of dtype {}", list.dtype());
  return *v;
}

Tensor empty_tensor_list(const Operand& element_shape, DType dtype) {
  return execute(empty_op, {shape_argument(element_shape), to_tensor(-1, int32)},
                 {{"element_dtype", dtype}});
}
Tensor tensor_list_reserve(const Operand& element_shape, const Operand& count, DType dtype) {
  return execute(reserve_op, {shape_argument(element_shape), as_int32(count)},
                 {{"element_dtype", dtype}});
}
Tensor tensor_list_push_back(const Tensor& list, const Operand& item) {
  return execute(push_op, {list, Arg(item)});
}
std::vector<Tensor> tensor_list_pop_back(const Tensor& list, const Operand& element_shape,
                                         DType dtype) {
  return execute_all(pop_op, {list, shape_argument(element_shape)}, {{"element_dtype", dtype}});
}
Tensor tensor_list_set_item(const Tensor& list, const Operand& index, const Operand& item,
                            bool grow) {
  return execute(set_op, {list, as_int32(index), Arg(item)},
                 {{"resize_if_index_out_of_bounds", grow}});
}
Tensor tensor_list_get_item(const Tensor& list, const Operand& index, const Operand& element_shape,
                            DType dtype) {
  return execute(get_op, {list, as_int32(index), shape_argument(element_shape)},
                 {{"element_dtype", dtype}});
}
Tensor tensor_list_stack(const Tensor& list, const Operand& element_shape, DType dtype,
                         std::int64_t count) {
  return execute(stack_op, {list, shape_argument(element_shape)},
                 {{"element_dtype", dtype}, {"num_elements", count}});
}
Tensor tensor_list_from_tensor(const Operand& x, const Operand& element_shape) {
  return execute(from_tensor_op, {Arg(x), shape_argument(element_shape)});
}
Tensor tensor_list_length(const Tensor& list) { return execute(length_op, {list}); }
Tensor tensor_list_resize(const Tensor& list, const Operand& size) {
  return execute(resize_op, {list, as_int32(size)});
}
Tensor tensor_list_gather(const Tensor& list, const Operand& indices, const Operand& element_shape,
                          DType dtype) {
  return gather(tensor_list_stack(list, element_shape, dtype), indices);
}
Tensor tensor_list_add(const Tensor& a, const Tensor& b) { return execute(add_op, {a, b}); }
Tensor tensor_list_zeros_like(const Tensor& list) { return execute(zeros_op, {list}); }

}  // namespace rill
