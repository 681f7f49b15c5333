#include "rill/core/resource.h"

#include "rill/base/check.h"
#include "rill/core/observer.h"
#include "rill/core/tensor_impl.h"

namespace rill {

Resource::~Resource() = default;

Tensor VariableCell::read() {
  Tensor value = storage_->read();
  RILL_CHECK(
      value.defined(), failed_precondition,
      "[variable] \"{}\" is read before it has a value; assign to it or run its initializer first",
      name);
  return value;
}

void VariableCell::assign(const Tensor& t) {
  RILL_CHECK(t.dtype() == dtype, invalid_argument,
             "[assign] variable \"{}\" is {}, the value is {}; write tf::cast(value, tf::{})", name,
             dtype, t.dtype(), dtype);
  RILL_CHECK(shape.is_compatible_with(t.shape()), invalid_argument,
             "[assign] variable \"{}\" has shape {}, the value has shape {}", name, shape,
             t.shape());
  storage_->assign(t);
}

const Tensor& VariableCell::writable() {
  Tensor& value = slot().value;
  RILL_CHECK(value.defined(), failed_precondition,
             "[variable] \"{}\" is updated before it has a value; assign to it first", name);
  TensorImpl& v = *value.impl();
  if (!v.buffer->unique()) {
    Device& device = *v.device;
    Tensor copy = make_tensor(v.dtype, v.shape, device);
    const std::size_t bytes = static_cast<std::size_t>(v.num_elements) * v.dtype.itemsize();
    note_copied(static_cast<std::int64_t>(bytes));
    if (v.dtype == string) {
      for (std::int64_t i = 0; i < v.num_elements; ++i)
        mutable_data<std::string>(copy)[i] = host_data<std::string>(value)[i];
    } else {
      device.copy(copy.impl()->data, v.data, bytes);
    }
    value = copy;
  }
  return value;
}

Device* VariableCell::device() {
  VariableSlot& s = slot();
  std::lock_guard lock(s.mutex);
  return s.value.defined() ? s.value.impl()->device : nullptr;
}

TensorShape VariableCell::value_shape() {
  if (shape.is_fully_defined()) return shape;
  VariableSlot& s = slot();
  std::lock_guard lock(s.mutex);
  return s.value.defined() ? s.value.shape() : shape;
}

constexpr std::string_view kValueKey = "VARIABLE_VALUE";
std::vector<TrackableNode::SavedValue> VariableCell::saved_values() {
  return {{std::string(kValueKey), read()}};
}
std::vector<std::string> VariableCell::saved_keys() { return {std::string(kValueKey)}; }
void VariableCell::restore_value(std::string_view key, const Tensor& t) {
  if (key != kValueKey) return TrackableNode::restore_value(key, t);
  assign(t);
}

VariableCell& variable_cell(const Tensor& handle) {
  RILL_CHECK(
      handle.defined(), failed_precondition,
      "[variable] this Variable was moved from; assign another variable to it before using it");
  Resource* r = handle.impl()->resource.get();
  RILL_CHECK(r && r->resource_kind == Resource::Kind::variable, invalid_argument,
             "expected a variable, got a tensor of dtype {}", handle.dtype());
  return *static_cast<VariableCell*>(r);
}

}  // namespace rill
