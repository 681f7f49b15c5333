#include "rill/eager/variable.h"

#include <atomic>
#include <ostream>

#include "rill/base/check.h"
#include "rill/core/array_format.h"
#include "rill/core/default_device.h"
#include "rill/core/execute.h"
#include "rill/core/late_reads.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/state_ops.h"

namespace rill {
namespace {

VariableCell& cell(const Variable& v) { return variable_cell(v.handle()); }

std::atomic<bool> late_reads = false;

}  // namespace

Variable::Variable() : handle_(make_resource(Ref<Resource>(new VariableCell))) {}

Variable::Variable(const Operand& initial_value, VariableOptions o) : Variable() {
  Tensor t = convert_to_tensor(initial_value, o.dtype);
  if (Executor* tracing = call_context().executor) t = tracing->initial_value(t);
  VariableCell& c = cell(*this);
  c.name = (o.name.empty() ? "Variable" : o.name) + ":0";
  c.dtype = t.dtype();
  c.shape = o.shape.has_rank() ? o.shape : t.shape();
  c.trainable = o.trainable;
  c.projection = o.constraint.projection();
  // Inside a device scope a variable lives on that device, else on the default one.
  Device* device = scope_device();
  c.assign(device ? copy_to_device(t, *device) : t);
}
Variable::Variable(std::initializer_list<Operand> initial_value, VariableOptions o)
    : Variable(Operand(initial_value), std::move(o)) {}

Variable Variable::uninitialized(DType dtype, const TensorShape& shape, VariableOptions o) {
  Variable v;
  VariableCell& c = cell(v);
  c.name = (o.name.empty() ? "Variable" : o.name) + ":0";
  c.dtype = dtype;
  c.shape = shape;
  c.trainable = o.trainable;
  c.projection = o.constraint.projection();
  return v;
}

Variable Variable::of_handle(const Tensor& handle) {
  variable_cell(handle);  // checks
  Variable v;
  v.handle_ = handle;
  return v;
}

bool Variable::defined() const { return cell(*this).dtype.defined(); }
bool Variable::initialized() const { return cell(*this).device() != nullptr; }

Tensor Variable::value() const {
  RILL_CHECK(defined(), failed_precondition,
             "[variable] this Variable was default-constructed and has no value yet");
  return read_variable(handle_);
}
Tensor::Tensor(const Variable& v) : Tensor(v.value()) {}

void note_late_reads() { late_reads.store(true, std::memory_order_relaxed); }
Tensor read_operand(const Variable& v) {
  Tensor t = v.value();
  if (late_reads.load(std::memory_order_relaxed) && !t.is_symbolic()) {
    TensorImpl* handle = v.handle().impl();
    retain(handle);
    t.impl()->read_from = Ref<TensorImpl>(handle);
  }
  return t;
}

TensorShape Variable::shape() const { return cell(*this).shape; }
DType Variable::dtype() const { return cell(*this).dtype; }
std::string Variable::name() const { return cell(*this).name; }
bool Variable::trainable() const { return cell(*this).trainable; }
Device& Variable::device() const { return value().device(); }

const Variable& Variable::assign(const Operand& value) const {
  if (!defined()) {  // the first value decides
    const Tensor t = to_tensor(value);
    VariableCell& c = cell(*this);
    c.name = "Variable:0";
    c.dtype = t.dtype();
    c.shape = t.shape();
  }
  assign_variable(handle_, value);
  return *this;
}
const Variable& Variable::assign_add(const Operand& delta) const {
  assign_add_variable(handle_, delta);
  return *this;
}
const Variable& Variable::assign_sub(const Operand& delta) const {
  assign_sub_variable(handle_, delta);
  return *this;
}

const Variable& Variable::scatter_update(const Operand& indices, const Operand& updates) const {
  scatter_update_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_add(const Operand& indices, const Operand& updates) const {
  scatter_add_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_sub(const Operand& indices, const Operand& updates) const {
  scatter_sub_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_mul(const Operand& indices, const Operand& updates) const {
  scatter_mul_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_div(const Operand& indices, const Operand& updates) const {
  scatter_div_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_max(const Operand& indices, const Operand& updates) const {
  scatter_max_variable(handle_, indices, updates);
  return *this;
}
const Variable& Variable::scatter_min(const Operand& indices, const Operand& updates) const {
  scatter_min_variable(handle_, indices, updates);
  return *this;
}
Tensor Variable::gather(const Operand& indices) const { return gather_variable(handle_, indices); }

TensorList::TensorList(const std::vector<Variable>& v) {
  for (const Variable& x : v) v_.emplace_back(x);
}

std::ostream& operator<<(std::ostream& os, const Variable& v) {
  os << "<tf.Variable '" << v.name() << "' shape=" << v.shape() << " dtype=" << v.dtype().name();
  if (v.initialized()) {
    const Tensor t = to_host(cell(v).read());
    const std::string value =
        t.ndim() == 0 ? t.to_string() : array_repr({t.dtype(), t.shape().dims(), t.impl()->data});
    os << ", numpy=" << (value.find('\n') == std::string::npos ? "" : "\n") << value;
  }
  return os << ">";
}
std::ostream& operator<<(std::ostream& os, const std::vector<Variable>& list) {
  os << "[";
  for (std::size_t i = 0; i < list.size(); ++i) os << (i ? ", " : "") << list[i];
  return os << "]";
}
void append_formatted(std::string& out, const Variable& v, std::string_view spec) {
  append_formatted(out, v.value(), spec);
}

}  // namespace rill
