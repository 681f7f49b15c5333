#include "rill/graph/control_flow/tensor_array.h"

#include <sstream>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/graph/ir/graph.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"

namespace rill {

TensorArray::TensorArray(DType dtype, const Operand& size, TensorArrayOptions o)
    : dtype_(dtype),
      dynamic_(o.dynamic_size),
      element_shape_(std::move(o.element_shape)),
      list_(tensor_list_reserve(element_shape_, size, dtype)) {}

TensorArray TensorArray::with_flow(const Tensor& flow) const {
  RILL_CHECK(flow.defined() && flow.dtype() == variant_dtype(), invalid_argument,
             "[TensorArray.with_flow] expected the flow of an array, got {}",
             flow.defined() ? std::string(flow.dtype().name()) : std::string("nothing"));
  TensorArray out = *this;
  out.list_ = flow;
  return out;
}

// What is not a tensor of it is in the name of the composite: "TensorArray float32 fixed 2,?".
Nest TensorArray::to_nest() const {
  std::string sizes = element_shape_.has_rank() ? "" : "unknown";
  for (int i = 0; i < element_shape_.rank(); ++i) {
    const std::int64_t n = element_shape_.dim(i);
    sizes += format("{}{}", i ? "," : "", n < 0 ? std::string("?") : std::to_string(n));
  }
  return Nest::composite(
      format("TensorArray {} {} {}", dtype_.name(), dynamic_ ? "dynamic" : "fixed", sizes),
      {list_});
}
TensorArray TensorArray::from_nest(const Nest& nest) {
  std::istringstream words{std::string(nest.composite_kind())};
  std::string kind, dtype, dynamic, sizes;
  words >> kind >> dtype >> dynamic >> sizes;
  RILL_CHECK(kind == "TensorArray", invalid_argument, "[TensorArray] expected an array, got {}",
             nest.to_string());
  TensorArray a;
  a.dtype_ = DType::from_name(dtype);
  a.dynamic_ = dynamic == "dynamic";
  if (sizes != "unknown") {
    Dims dims;
    std::istringstream list(sizes);
    for (std::string n; std::getline(list, n, ',');) dims.push_back(n == "?" ? -1 : std::stoll(n));
    a.element_shape_ = TensorShape(dims);
  }
  a.list_ = nest.flatten().at(0);
  return a;
}

TensorArray TensorArray::write(const Operand& index, const Operand& value) const {
  const Arg v(value, value.is_literal() ? dtype_ : DType());
  RILL_CHECK(v->dtype() == dtype_, invalid_argument,
             "[TensorArray.write] the array holds {}, the value is {}; write tf::cast(value, "
             "tf::{})",
             dtype_, v->dtype(), dtype_);
  RILL_CHECK(element_shape_.is_compatible_with(v->shape()), invalid_argument,
             "[TensorArray.write] elements have shape {}, the value has shape {}", element_shape_,
             v->shape());
  return with_flow(tensor_list_set_item(list_, index, *v, dynamic_));
}
Tensor TensorArray::read(const Operand& index) const {
  return tensor_list_get_item(list_, index, element_shape_, dtype_);
}
Tensor TensorArray::stack() const { return tensor_list_stack(list_, element_shape_, dtype_); }
Tensor TensorArray::gather(const Operand& indices) const {
  return tensor_list_gather(list_, indices, element_shape_, dtype_);
}
Tensor TensorArray::concat() const {
  if (TracingScope::current()) {
    const Tensor all = stack();
    RILL_CHECK(all.shape().has_rank(), unimplemented,
               "[TensorArray.concat] in a function the elements' rank must be known; give the "
               "array an element_shape");
    return reshape(
        all, rill::concat({Operand(constant({-1})), Operand(rill::shape(all)(slice(2, None)))}, 0));
  }
  const TensorListValue& l = tensor_list_value(list_);
  std::vector<Tensor> items;
  for (std::size_t i = 0; i < l.size; ++i) items.push_back(read(static_cast<std::int64_t>(i)));
  RILL_CHECK(!items.empty(), invalid_argument, "[TensorArray.concat] the array is empty");
  return rill::concat(items, 0);
}
TensorArray TensorArray::unstack(const Operand& value) const {
  const Arg v(value, value.is_literal() ? dtype_ : DType());
  RILL_CHECK(v->dtype() == dtype_, invalid_argument,
             "[TensorArray.unstack] the array holds {}, the value is {}", dtype_, v->dtype());
  return with_flow(tensor_list_from_tensor(*v, element_shape_));
}
TensorArray TensorArray::scatter(const Operand& indices, const Operand& value) const {
  const Arg i(indices, int32), v(value, value.is_literal() ? dtype_ : DType());
  RILL_CHECK(i->shape().is_fully_defined() && i->ndim() == 1, invalid_argument,
             "[TensorArray.scatter] indices must be a list of known length, got shape {}",
             i->shape());
  TensorArray out = *this;
  for (std::int64_t k = 0; k < i->shape().dim(0); ++k) out = out.write((*i)[k], (*v)[k]);
  return out;
}
Tensor TensorArray::size() const { return tensor_list_length(list_); }

}  // namespace rill
