#include "rill/core/execute.h"

#include "rill/base/check.h"
#include "rill/core/check_numerics.h"
#include "rill/core/observer.h"
#include "rill/core/shape_inference.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/wider_dtype.h"

namespace rill {

constinit thread_local CallContext call_context_storage;

namespace {

// Threads may be inside either while one takes the place of the other.
constinit std::atomic<Executor*> eager_executor{nullptr};
Executor *silent_executor = nullptr, *observed_executor = nullptr;

// What the i-th of `total` inputs is called: "axis", or "values[1]" in a list.
std::string input_name(const Op& op, std::size_t i, std::size_t total) {
  std::size_t lists = 0;
  for (const ArgDef& a : op.inputs) lists += a.is_list();
  const std::size_t each = lists ? (total - (op.inputs.size() - lists)) / lists : 0;
  for (const ArgDef& a : op.inputs) {
    const std::size_t n = a.is_list() ? each : 1;
    if (i < n) return a.is_list() ? format("{}[{}]", a.name, i) : std::string(a.name);
    i -= n;
  }
  return op.inputs.back().name;
}

[[noreturn, gnu::noinline]] void undefined_input(const Op& op, std::size_t i, std::size_t total) {
  RILL_FAIL(invalid_argument,
            "[{}] {} is undefined (an empty Tensor, or a gradient that does not exist)", op.tag,
            input_name(op, i, total));
}

[[noreturn, gnu::noinline]] void wrong_count(const Op& op, std::size_t got) {
  RILL_FAIL(invalid_argument, "[{}] got {} inputs, expected {}", op.tag, got, op.inputs.size());
}

[[noreturn, gnu::noinline]] void mixed_types(const Op& op, std::string_view first, DType a,
                                             std::string_view second, DType b) {
  const DType to = wider_dtype(a, b);
  RILL_FAIL(invalid_argument,
            "[{}] {} is {} and {} is {}: dtypes are not promoted. Write tf::cast({}, tf::{})",
            op.tag, first, a, second, b, to == a ? second : first, to);
}

[[noreturn, gnu::noinline]] void type_not_allowed(const Op& op, std::string_view name, DType got,
                                                  TypeSet allowed) {
  RILL_FAIL(invalid_argument, "[{}] {} has dtype {}; expected one of {}", op.tag, name, got,
            allowed.to_string());
}

[[noreturn, gnu::noinline]] void wrong_outputs(const Op& op, std::size_t named, std::size_t asked) {
  RILL_FAIL(invalid_argument, "[{}] its attributes name {} outputs; {} are asked for", op.tag,
            named, asked);
}
// How many tensors an output of the schema is: of the only list what the others leave over.
std::size_t length_of(const Op& op, const ArgDef& out, const AttrReader& reader,
                      std::size_t input_list, std::size_t outputs) {
  if (!out.is_list()) return 1;
  std::size_t lists = 0;
  for (const ArgDef& a : op.outputs) lists += a.is_list();
  const std::size_t singles = op.outputs.size() - lists;
  if (lists == 1) return outputs > singles ? outputs - singles : 0;
  const int attr = out.number_attr >= 0 ? out.number_attr : out.type_list_attr;
  if (op.attrs[static_cast<std::size_t>(attr)].inferred) return input_list;
  const AttrValue& value = reader.attr(op.attrs[static_cast<std::size_t>(attr)].name);
  return out.number_attr >= 0 ? static_cast<std::size_t>(std::max<std::int64_t>(value.as_int(), 0))
                              : value.as_types().size();
}
// Binds the type attributes to the inputs' dtypes and finds the outputs'.
void bind_types(const Op& op, std::span<const In> inputs, AttrList attrs,
                std::span<DType> outputs) {
  SmallVector<DType, 8> bound(op.attrs.size());
  SmallVector<int, 8> first(op.attrs.size(), -1);
  std::size_t lists = 0;
  for (const ArgDef& a : op.inputs) lists += a.is_list();
  const std::size_t singles = op.inputs.size() - lists;
  if (inputs.size() < singles || (lists == 0 && inputs.size() != singles) ||
      (lists > 0 && (inputs.size() - singles) % lists != 0))
    wrong_count(op, inputs.size());
  const std::size_t list_size = lists ? (inputs.size() - singles) / lists : 0;
  std::size_t next = 0, list_begin = 0;
  for (const ArgDef& arg : op.inputs) {
    if (arg.type_list_attr >= 0) {  // any dtypes
      list_begin = next;
      for (std::size_t k = list_size; k > 0; --k, ++next)
        if (!inputs[next]->defined()) undefined_input(op, next, inputs.size());
      continue;
    }
    for (std::size_t k = arg.number_attr >= 0 ? list_size : 1; k > 0; --k, ++next) {
      if (!inputs[next]->defined()) undefined_input(op, next, inputs.size());
      const DType got = inputs[next]->impl()->dtype;
      if (arg.type_attr < 0) {
        if (got != arg.dtype) {
          refuse_several(*inputs[next], op.tag);
          type_not_allowed(op, arg.name, got, TypeSet{arg.dtype});
        }
        continue;
      }
      const auto slot = static_cast<std::size_t>(arg.type_attr);
      const AttrDef& def = op.attrs[slot];
      if (got == DType(DType::Code::variant)) refuse_several(*inputs[next], op.tag);
      if (bound[slot].defined() && bound[slot] != got)
        mixed_types(op, input_name(op, static_cast<std::size_t>(first[slot]), inputs.size()),
                    bound[slot], input_name(op, next, inputs.size()), got);
      if (!def.allowed.empty() && !def.allowed.contains(got))
        type_not_allowed(op, arg.name, got, def.allowed);
      if (!bound[slot].defined()) first[slot] = static_cast<int>(next);
      bound[slot] = got;
    }
  }
  const AttrReader reader(op, attrs);
  std::size_t at = 0;
  for (const ArgDef& out : op.outputs) {
    std::size_t n =
        std::min(length_of(op, out, reader, list_size, outputs.size()), outputs.size() - at);
    if (out.type_list_attr >= 0) {
      const AttrDef& def = op.attrs[static_cast<std::size_t>(out.type_list_attr)];
      const std::span<const DType> named =
          def.inferred ? std::span<const DType>() : reader.attr(def.name).as_types();
      n = std::min(n, def.inferred ? list_size : named.size());
      for (std::size_t k = 0; k < n; ++k)
        outputs[at++] = def.inferred ? inputs[list_begin + k]->impl()->dtype : named[k];
      continue;
    }
    DType dtype = out.dtype;
    if (out.type_attr >= 0) {
      const auto slot = static_cast<std::size_t>(out.type_attr);
      const AttrDef& def = op.attrs[slot];
      if (!bound[slot].defined()) {
        bound[slot] = reader.type_attr(def.name);
        if (!def.allowed.empty() && !def.allowed.contains(bound[slot]))
          type_not_allowed(op, def.name, bound[slot], def.allowed);
      }
      dtype = bound[slot];
    }
    for (std::size_t k = 0; k < n; ++k) outputs[at++] = dtype;
  }
  if (at != outputs.size()) wrong_outputs(op, at, outputs.size());
}

void infer_types(const Op& op, std::span<const In> inputs, AttrList attrs,
                 std::span<DType> outputs) {
  if (!op.one_type) return bind_types(op, inputs, attrs, outputs);
  if (inputs.size() != op.inputs.size()) wrong_count(op, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]->defined()) undefined_input(op, i, inputs.size());
  const DType t = inputs[0]->impl()->dtype;
  if (t == DType(DType::Code::variant)) refuse_several(*inputs[0], op.tag);
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i]->impl()->dtype != t) {
      refuse_several(*inputs[i], op.tag);
      mixed_types(op, op.inputs[0].name, t, op.inputs[i].name, inputs[i]->dtype());
    }
  if (!op.one_type_allowed.empty() && !op.one_type_allowed.contains(t))
    type_not_allowed(op, op.inputs[0].name, t, op.one_type_allowed);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ArgDef& out = op.outputs[i < op.outputs.size() ? i : op.outputs.size() - 1];
    if (out.type_attr == op.inputs[0].type_attr)
      outputs[i] = t;
    else if (out.type_attr < 0)
      outputs[i] = out.dtype;
    else {
      outputs[i] =
          AttrReader(op, attrs).type_attr(op.attrs[static_cast<std::size_t>(out.type_attr)].name);
      const TypeSet allowed = op.attrs[static_cast<std::size_t>(out.type_attr)].allowed;
      if (!allowed.empty() && !allowed.contains(outputs[i]))
        type_not_allowed(op, op.attrs[static_cast<std::size_t>(out.type_attr)].name, outputs[i],
                         allowed);
    }
  }
}

[[noreturn, gnu::noinline]] void leaked(const Op& op, const Symbol& symbol) {
  RILL_FAIL(failed_precondition,
            "[{}] {} was used outside it, where it has no value; return it from the function "
            "instead",
            op.tag, symbol.describe());
}

// Which executor runs a call: that of an input that has its own, the trace, or eager execution,
// which has no use for symbols.
Executor& executor_of(const Op& op, std::span<const In> inputs, const CallContext& context) {
  for (const In& t : inputs) {
    const Symbol* symbol = t->impl()->symbol.get();
    if (!symbol) [[likely]]
      continue;
    if (Executor* own = symbol->own_executor()) return *own;
    if (!context.executor) leaked(op, *symbol);
  }
  return context.executor ? *context.executor : *eager_executor.load(std::memory_order_relaxed);
}

void run(const Op& op, std::span<const In> inputs, AttrList attrs, std::span<Tensor> outputs,
         std::span<TensorShape> shapes, std::span<DType> dtypes) {
  infer_types(op, inputs, attrs, dtypes);
  ShapeContext shape_context(op, inputs, attrs, shapes);
  op.shape(shape_context);
  CallContext& context = call_context();
  executor_of(op, inputs, context).run(op, inputs, attrs, shapes, dtypes, outputs);
  if (context.checks_numerics) [[unlikely]]
    check_numerics_of(op, inputs, outputs);
  if (context.recorder) context.recorder->record(op, inputs, attrs, outputs);
}

}  // namespace

void install_eager_executor(Executor* executor) { eager_executor = silent_executor = executor; }
void install_observed_executor(Executor* executor) { observed_executor = executor; }
void observe_ops(OpObserver* o) {
  op_observer_storage = o;
  eager_executor = o ? observed_executor : silent_executor;
}

Tensor execute(const Op& op, std::span<const In> inputs, AttrList attrs) {
  Tensor output;
  TensorShape shape;
  DType dtype;
  run(op, inputs, attrs, {&output, 1}, {&shape, 1}, {&dtype, 1});
  return output;
}

Tensor execute(const Op& op, std::initializer_list<In> inputs, std::initializer_list<Attr> attrs) {
  return execute(op, std::span<const In>(inputs.begin(), inputs.size()),
                 AttrList(attrs.begin(), attrs.size()));
}

std::vector<Tensor> execute_all(const Op& op, std::span<const In> inputs, AttrList attrs,
                                int num_outputs) {
  const auto n = static_cast<std::size_t>(num_outputs);
  std::vector<Tensor> outputs(n);
  std::vector<TensorShape> shapes(n);
  std::vector<DType> dtypes(n);
  run(op, inputs, attrs, outputs, shapes, dtypes);
  return outputs;
}

std::vector<In> as_inputs(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace rill
