// Immediate execution: finds the kernel, makes the outputs, runs it.
#include <mutex>

#include "rill/base/check.h"
#include "rill/base/denormals.h"
#include "rill/core/default_device.h"
#include "rill/core/dispatch.h"
#include "rill/core/host_inputs.h"
#include "rill/core/kernel.h"
#include "rill/core/observer.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/started.h"

namespace rill {
namespace {

bool is_array(DType dtype, const TensorShape& shape) {
  return (dtype.is_floating() || dtype.is_complex()) && shape.rank() != 0;
}

// Where the variable is that the op updates; else the device of the scope; else
// that of the first input that is not on the host; else the default device, for arrays of
// floats: single numbers, sizes and indices are wanted on the host, and quickest there.
// REQUIRES: the locks of those variables.
Device& place(const Op& op, std::span<const In> inputs, std::span<const TensorShape> shapes,
              std::span<const DType> dtypes) {
  for (std::size_t i = 0; op.updates() && i < inputs.size(); ++i)
    if (inputs[i]->impl()->resource)
      if (const Tensor& value = variable_cell(*inputs[i]).slot().value; value.defined())
        return value.device();
  Device* device = call_context().device;
  for (std::size_t i = 0; i < inputs.size() && !device; ++i) {
    const TensorImpl& t = *inputs[i]->impl();
    if (!t.device->is_host()) device = t.device;
  }
  if (!device && default_device()) {
    bool arrays = false;
    for (const In& t : inputs) arrays = arrays || is_array(t->dtype(), t->impl()->shape);
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      arrays = arrays || is_array(dtypes[i], shapes[i]);
    if (arrays) device = default_device();
  }
  if (!device) return cpu_device();
  if (device->is_host()) return *device;
  // Strings live in host memory only.
  for (const In& t : inputs)
    if (t->dtype() == string) return cpu_device();
  for (DType d : dtypes)
    if (d == string) return cpu_device();
  return *device;
}

class EagerContext : public KernelContext {
 public:
  EagerContext(const Op& op, AttrList attrs, std::span<const TensorView> inputs,
               std::span<TensorView> outputs, std::span<Tensor> tensors,
               std::span<const DType> dtypes, Device& device)
      : KernelContext(op, attrs, inputs, outputs, device), tensors_(tensors), dtypes_(dtypes) {}

  void* allocate_output(int i, const TensorShape& shape) override {
    const auto k = static_cast<std::size_t>(i);
    try {
      tensors_[k] = make_tensor(dtypes_[k], shape, device());
    } catch (const errors::Error& e) {
      fail(e.code(), e.message());
      return nullptr;
    }
    TensorImpl& t = *tensors_[k].impl();
    outputs_[k] = {device().kernel_address(t.data), t.dtype, &t.shape, t.num_elements};
    return outputs_[k].data;
  }

 private:
  std::span<Tensor> tensors_;
  std::span<const DType> dtypes_;
};

TensorView view_of(const Tensor& t, Device& device) {
  TensorImpl& i = *t.impl();
  void* data = i.device->is_host() ? i.data : device.kernel_address(i.data);
  return {data, i.dtype, &i.shape, i.num_elements};
}

// One input as the kernel sees it: the variable behind a resource of an
// updating op, else the tensor, moved to the device unless the op reads it on
// the host.
Tensor resolve_input(const Op& op, const Tensor& t, bool on_host, Device& device) {
  if (op.updates() && t.impl()->resource) return variable_cell(t).writable();
  return on_host ? to_host(t) : copy_to_device(t, device);
}

class EagerExecutor : public Executor {
 public:
  void run(const Op& op, std::span<const In> inputs, AttrList attrs,
           std::span<const TensorShape> shapes, std::span<const DType> dtypes,
           std::span<Tensor> outputs) override {
    if (!runtime_started.load(std::memory_order_relaxed)) [[unlikely]]
      runtime_started = true;
    bool plain = !scope_device();  // host tensors, no other device is asked for
    for (const In& t : inputs) plain = plain && t->impl()->device->is_host();
    if (op.forward) return op.forward(AttrReader(op, attrs), inputs, shapes, outputs);
    VariableLocks locks;
    if (op.updates()) {
      for (const In& t : inputs)
        if (t->impl()->resource) locks.add(variable_cell(*t));
      locks.lock();
      for (const In& t : inputs) {
        if (!t->impl()->resource) continue;
        const Tensor& value = variable_cell(*t).slot().value;
        plain = plain && value.defined() && value.impl()->device->is_host();
      }
    }
    Device* device = plain ? &cpu_device() : &place(op, inputs, shapes, dtypes);
    const DType dtype =
        dispatch_dtype(op, attrs, [&](std::size_t i) { return inputs[i]->impl()->dtype; });
    KernelFn kernel = op.kernel(device->kernels(), dtype);
    if (!kernel) [[unlikely]] {
      if (!op.updates() && soft_placement) kernel = op.kernel(DeviceType::cpu, dtype);
      if (!kernel) fail_without_kernel(op, *device, dtype);
      device = &cpu_device();
    }
    if (!device->defers_kernels()) [[likely]]
      run_now(op, inputs, attrs, shapes, dtypes, outputs, *device, kernel);
    else
      run_queued(op, inputs, attrs, shapes, dtypes, outputs, *device, kernel);
  }

 private:
  // Nothing is copied and nothing is counted: the inputs outlive the call, and
  // what a GPU's kernel queued comes before the return of their memory.
  static void run_now(const Op& op, std::span<const In> inputs, AttrList attrs,
                      std::span<const TensorShape> shapes, std::span<const DType> dtypes,
                      std::span<Tensor> outputs, Device& device, KernelFn kernel) {
    constexpr std::size_t kFew = 6;
    TensorView few_in[kFew], few_out[kFew];
    std::vector<TensorView> many;
    std::span<TensorView> in(few_in, inputs.size()), out(few_out, outputs.size());
    if (inputs.size() > kFew || outputs.size() > kFew) {
      many.resize(inputs.size() + outputs.size());
      in = std::span(many).first(inputs.size());
      out = std::span(many).subspan(inputs.size());
    }
    std::vector<Tensor> moved;  // inputs that were on another device
    const HostInputs on_host(op, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (op.updates() && inputs[i]->impl()->resource) {
        in[i] = view_of(variable_cell(*inputs[i]).writable(), device);
        continue;
      }
      const Device* at = inputs[i]->impl()->device;
      const bool host = device.is_host() || on_host.contains(i);
      if (host ? at->is_host() : at == &device) [[likely]] {
        in[i] = view_of(*inputs[i], device);
      } else {
        if (moved.empty()) moved.reserve(inputs.size());
        moved.push_back(host ? to_host(*inputs[i]) : copy_to_device(*inputs[i], device));
        in[i] = view_of(moved.back(), device);
      }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!shapes[i].is_fully_defined()) continue;
      outputs[i] = make_tensor(dtypes[i], shapes[i], device);
      out[i] = view_of(outputs[i], device);
    }
    EagerContext context(op, attrs, in, out, outputs, dtypes, device);
    {
      const FlushDenormals flush;
      kernel(context);
    }
    if (context.failed()) throw_error(context.code(), context.message());
  }

  // For a device that calls kernels late: the call owns what it uses and waits its turn in the
  // device's queue. Outputs whose shape the data decide need the queue drained.
  static void run_queued(const Op& op, std::span<const In> inputs, AttrList attrs,
                         std::span<const TensorShape> shapes, std::span<const DType> dtypes,
                         std::span<Tensor> outputs, Device& device, KernelFn kernel) {
    struct Call {
      std::vector<Tensor> inputs, outputs;
      std::vector<TensorView> in, out;
      std::vector<DType> dtypes;
      AttrStorage attrs;
    };
    auto call = std::make_shared<Call>();
    bool dynamic = false;
    const HostInputs on_host(op, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      call->inputs.push_back(resolve_input(op, *inputs[i], on_host.contains(i), device));
      call->in.push_back(view_of(call->inputs.back(), device));
    }
    call->outputs.resize(outputs.size());
    call->out.resize(outputs.size());
    call->dtypes.assign(dtypes.begin(), dtypes.end());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      dynamic = dynamic || !shapes[i].is_fully_defined();
      if (!shapes[i].is_fully_defined()) continue;
      call->outputs[i] = make_tensor(dtypes[i], shapes[i], device);
      call->out[i] = view_of(call->outputs[i], device);
    }
    call->attrs = AttrStorage(attrs);
    device.enqueue([call, &op, &device, kernel] {
      EagerContext context(op, call->attrs.list(), call->in, call->out, call->outputs, call->dtypes,
                           device);
      const FlushDenormals flush;
      kernel(context);
      if (context.failed()) device.report(context.code(), context.message());
    });
    if (dynamic) device.synchronize();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = call->outputs[i];
  }
};

// Takes the place of the other while somebody watches.
class ObservedExecutor final : public EagerExecutor {
 public:
  void run(const Op& op, std::span<const In> inputs, AttrList attrs,
           std::span<const TensorShape> shapes, std::span<const DType> dtypes,
           std::span<Tensor> outputs) override {
    OpObserver* observer = op_observer();
    if (!observer) return EagerExecutor::run(op, inputs, attrs, shapes, dtypes, outputs);
    OpCall call;
    call.op = op.name;
    call.flops = op.flops;
    call.how = op.forward ? Ran::handles : Ran::eager;
    call.elementwise = op.elementwise;
    NodeOfNextCall::take(call);
    for (const In& t : inputs) call.inputs.push_back(observed_value(*t));
    CallWatch watch(*observer, call);
    EagerExecutor::run(op, inputs, attrs, shapes, dtypes, outputs);
    for (const Tensor& t : outputs) {
      if (!t.defined()) continue;
      call.outputs.push_back({t.dtype(), t.impl()->shape});
      if (!t.impl()->device->is_host()) call.device = t.impl()->device;
    }
    // An update reads the variable and writes it.
    if (!op.forward)
      call.bytes = (op.updates() ? 2 : 1) * bytes_of(call.inputs) + bytes_of(call.outputs);
    observer->record_values(op, call, inputs, outputs);
    watch.done();
  }

 private:
  // Of a variable: what it holds.
  static ObservedValue observed_value(const Tensor& t) {
    const TensorImpl& i = *t.impl();
    if (i.resource && i.resource->resource_kind == Resource::Kind::variable) {
      const auto& cell = static_cast<const VariableCell&>(*i.resource);
      return {cell.dtype, cell.shape};
    }
    return {i.dtype, i.shape};
  }
};

EagerExecutor executor;
ObservedExecutor observed_executor;
[[maybe_unused]] const bool installed =
    (install_eager_executor(&executor), install_observed_executor(&observed_executor), true);

}  // namespace
}  // namespace rill
