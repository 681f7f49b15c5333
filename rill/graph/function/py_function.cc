#include "rill/graph/function/py_function.h"

#include "rill/base/check.h"
#include "rill/graph/function/branching.h"
#include "rill/graph/function/graph_function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"

namespace rill {
namespace {

class HostBody : public FunctionBody {
 public:
  explicit HostBody(detail::Fn f) : FunctionBody("host_function"), fn(std::move(f)) {}
  const detail::Fn fn;
};

// What a run leaves for the way back: the tape of the ops that it called.
class HostRecord : public Resource {
 public:
  const char* kind() const override { return "record of a host function"; }
  Ref<TapeImpl> tape;
  std::vector<Tensor> inputs, outputs;
};

void unknown_results(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape());
}

std::vector<Tensor> call_host(const detail::Fn& fn, const std::vector<Tensor>& inputs,
                              std::span<const DType> types, const char* tag) {
  const std::vector<Tensor> out = fn(Nest(inputs)).flatten();
  RILL_CHECK(out.size() == types.size(), invalid_argument,
             "[{}] the function returned {} tensors; Tout has {} dtypes", tag, out.size(),
             types.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    RILL_CHECK(out[i].defined() && out[i].dtype() == types[i], invalid_argument,
               "[{}] result {} is {}; Tout says {}", tag, i,
               out[i].defined() ? std::string(out[i].dtype().name()) : std::string("undefined"),
               types[i]);
  return out;
}

void run_host(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
              std::span<Tensor> out) {
  const AttrValue* body = a.find_attr("_body");
  RILL_CHECK(
      body, unimplemented,
      "[{}] the host function \"{}\" belongs to the program that wrote this graph and cannot "
      "be called here",
      a.op().tag, a.string_attr("token"));
  const auto& host = static_cast<const HostBody&>(*body->as_function());
  std::vector<Tensor> inputs;
  for (const In& t : in) inputs.push_back(*t);
  const bool record = a.find_attr("_record") && a.bool_attr("_record");
  std::span<const DType> types = a.attr("Tout").as_types();
  if (!record) {
    const auto results = call_host(host.fn, inputs, types, a.op().tag.c_str());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = results[i];
    return;
  }
  auto* r = new HostRecord;
  const Tensor holder = make_resource(Ref<Resource>(r), variant_dtype());
  r->tape = Ref<TapeImpl>(new TapeImpl(true, true));
  // An identity of its own for each argument: one tensor may come twice.
  for (const Tensor& t : inputs) r->inputs.push_back(identity(t));
  for (const Tensor& t : r->inputs) r->tape->watch(t);
  TapeStack::of_thread().push(r->tape.get());
  try {
    r->outputs = call_host(host.fn, r->inputs, types.first(types.size() - 1), a.op().tag.c_str());
  } catch (...) {
    TapeStack::of_thread().remove(r->tape.get());
    throw;
  }
  TapeStack::of_thread().remove(r->tape.get());
  for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i] = r->outputs[i];
  out.back() = holder;
}

OpBuilder host_schema(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.attr("Tin: list(type)")
      .attr("Tout: list(type)")
      .attr("token: string")
      .attr("is_async: bool = false")
      .input("input: Tin")
      .output("output: Tout")
      .doc("Calls a function of the program.")
      .shape(unknown_results)
      .no_gradient()
      .stateful()
      .forward(run_host);
  return b;
}
std::vector<Tensor> call_py_function(std::span<const Tensor> inputs, AttrList attrs);
const Op& eager_py_func_op =
    host_schema("EagerPyFunc", "py_function").taped_call(call_py_function).define();
const Op& py_func_op = host_schema("PyFunc", "numpy_function").define();

// From the record of a run and the gradients of its results to those of its inputs;
// zeros where there is none.
const Op& back_op = OpBuilder("_PyFuncGrad", "py_function")
                        .attr("Tin: list(type)")
                        .attr("Tout: list(type)")
                        .input("record: variant")
                        .input("dy: Tin")
                        .output("dx: Tout")
                        .doc("Goes back through a function of the program.")
                        .shape(unknown_results)
                        .no_gradient()
                        .stateful()
                        .forward([](const AttrReader&, std::span<const In> in,
                                    std::span<const TensorShape>, std::span<Tensor> out) {
                          auto& r = dynamic_cast<HostRecord&>(*in[0]->impl()->resource);
                          std::vector<Tensor> targets;
                          std::vector<Gradient> seeds;
                          std::size_t next = 1;
                          for (const Tensor& t : r.outputs) {
                            if (!t.dtype().is_floating() && !t.dtype().is_complex()) continue;
                            targets.push_back(t);
                            seeds.emplace_back(*in[next++]);
                          }
                          std::vector<Tensor> sources;
                          for (const Tensor& t : r.inputs)
                            if (t.dtype().is_floating() || t.dtype().is_complex())
                              sources.push_back(t);
                          const std::vector<Gradient> g =
                              r.tape->backward(targets, seeds, sources, true);
                          for (std::size_t i = 0; i < out.size(); ++i)
                            out[i] = dense_or_zeros(g[i], sources[i]);
                        })
                        .define();

std::vector<Tensor> emit(const Op& op, std::span<const Tensor> inputs, const FunctionRef& body,
                         std::span<const DType> types, bool record) {
  std::vector<DType> out_types(types.begin(), types.end());
  if (record) out_types.push_back(variant_dtype());
  const std::vector<DType> in_types = dtypes_of(inputs);
  const Attr attrs[] = {{"token", "host_function"},
                        {"_body", body},
                        {"_record", record},
                        {"Tin", std::span<const DType>(in_types)},
                        {"Tout", std::span<const DType>(out_types)}};
  const std::vector<In> in(inputs.begin(), inputs.end());
  return execute_all(op, in, attrs, static_cast<int>(out_types.size()));
}

bool real_or_complex(DType d) { return d.is_floating() || d.is_complex(); }

std::vector<Tensor> differentiable(std::span<const Tensor> inputs, const FunctionRef& body,
                                   std::span<const DType> types) {
  if (watched_inputs(inputs).empty()) return emit(eager_py_func_op, inputs, body, types, false);
  const std::vector<Tensor> all = emit(eager_py_func_op, inputs, body, types, true);
  const std::vector<Tensor> outputs(all.begin(), all.end() - 1),
      given(inputs.begin(), inputs.end());
  auto back = [record = all.back(), outputs, given](const std::vector<Gradient>& dy) {
    std::vector<Tensor> in{record};
    std::vector<DType> in_types, out_types;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (real_or_complex(outputs[i].dtype())) {
        in.push_back(dense_or_zeros(dy[i], outputs[i]));
        in_types.push_back(outputs[i].dtype());
      }
    for (const Tensor& t : given)
      if (real_or_complex(t.dtype())) out_types.push_back(t.dtype());
    const Attr attrs[] = {{"Tin", std::span<const DType>(in_types)},
                          {"Tout", std::span<const DType>(out_types)}};
    const std::vector<In> list(in.begin(), in.end());
    const std::vector<Tensor> flat =
        execute_all(back_op, list, attrs, static_cast<int>(out_types.size()));
    std::vector<Gradient> out(given.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (real_or_complex(given[i].dtype())) {
        if (flat[next].is_symbolic()) flat[next].set_shape(given[i].shape());
        out[i] = flat[next++];
      }
    return out;
  };
  record_on_tapes(inputs, outputs, back);
  return outputs;
}

std::vector<Tensor> call_py_function(std::span<const Tensor> inputs, AttrList attrs) {
  const AttrReader a(eager_py_func_op, attrs);
  if (!a.find_attr("_body")) {
    const std::vector<In> in(inputs.begin(), inputs.end());
    return execute_all(eager_py_func_op, in, attrs,
                       static_cast<int>(a.attr("Tout").as_types().size()));
  }
  return differentiable(inputs, a.attr("_body").as_function(), a.attr("Tout").as_types());
}

}  // namespace

namespace detail {

std::vector<Tensor> host_function(const Fn& fn, const TensorList& inputs,
                                  const std::vector<DType>& output_types, bool with_gradient) {
  if (!TracingScope::current())
    return call_host(fn, inputs.tensors(), output_types,
                     with_gradient ? "py_function" : "numpy_function");
  const FunctionRef body(new HostBody(fn));
  if (with_gradient) return differentiable(inputs.tensors(), body, output_types);
  return emit(py_func_op, inputs.tensors(), body, output_types, false);
}

}  // namespace detail
}  // namespace rill
