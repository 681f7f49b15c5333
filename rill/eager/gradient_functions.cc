#include "rill/eager/gradient_functions.h"

#include <memory>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/eager/tape_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::detail {

std::vector<Tensor> any_arguments(std::initializer_list<Operand> args) {
  std::vector<Tensor> out;
  for (const Operand& a : args) {
    if (a.file()) call_context().file = a.file(), call_context().line = a.line();
    out.push_back(to_tensor(a));
  }
  return out;
}

std::vector<Tensor> float_arguments(std::initializer_list<Operand> args) {
  std::vector<Tensor> out = any_arguments(args);
  for (std::size_t i = 0; i < out.size(); ++i)
    RILL_CHECK(out[i].dtype().is_floating() || out[i].dtype().is_complex(), invalid_argument,
               "[gradients_function] argument {} has dtype {}; arguments must be floating-point: "
               "write 3. instead of 3, or tf::cast(x, tf::float32)",
               i, out[i].dtype());
  return out;
}

namespace {

// The gradients of f at sources which nothing else uses.
std::pair<Nest, Gradients> value_and_gradients_at(const Fn& f, const std::vector<Tensor>& sources) {
  GradientTape tape;
  for (const Tensor& s : sources) tape.watch(s);
  const Nest value = f(Nest(sources));
  return {value, tape.gradient(value.flatten(), sources)};
}

// An identity of its own for each argument: one tensor may come twice.
std::vector<Tensor> distinct(const std::vector<Tensor>& args) {
  std::vector<Tensor> sources;
  for (const Tensor& a : args) sources.push_back(identity(a));
  return sources;
}

}  // namespace

std::pair<Nest, Gradients> value_and_gradients_of(const Fn& f, const std::vector<Tensor>& args) {
  return value_and_gradients_at(f, distinct(args));
}

Gradients hessians_of(const Fn& f, const std::vector<Tensor>& args) {
  const std::vector<Tensor> sources = distinct(args);
  GradientTape tape({.persistent = true, .watch_accessed_variables = false});
  for (const Tensor& s : sources) tape.watch(s);
  const Gradients first = value_and_gradients_at(f, sources).second;
  Gradients all;
  for (std::size_t i = 0; i < sources.size(); ++i)
    all.push_back(first[i].defined() ? Gradient(tape.jacobian(first[i].tensor(), sources[i],
                                                              {.unconnected_gradients = "zero"}))
                                     : Gradient());
  return all;
}

ImplicitResult implicit_gradients_of(const Fn& f, const std::vector<Tensor>& args) {
  GradientTape tape;
  const Nest value = f(Nest(args));
  const std::vector<Variable> variables = tape.watched_variables();
  RILL_CHECK(!variables.empty(), invalid_argument,
             "[implicit_gradients] the function reads no trainable variable");
  const Gradients gradients = tape.gradient(value.flatten(), variables);
  ImplicitResult result{value, {}};
  for (std::size_t i = 0; i < variables.size(); ++i)
    result.gradients.emplace_back(gradients[i], variables[i]);
  return result;
}

class CustomImpl {
 public:
  RefCount refs;
  std::unique_ptr<Custom> custom;
};
void retain(CustomImpl* c) noexcept { c->refs.retain(); }
void release(CustomImpl* c) noexcept {
  if (c->refs.release()) delete c;
}

CustomHandle::CustomHandle(Custom* custom) : impl_(new CustomImpl) { impl_->custom.reset(custom); }

Nest CustomHandle::run(const std::vector<Tensor>& args) const {
  // What happens inside is the function's own affair: only the whole is taped.
  std::unique_ptr<std::pair<Nest, Fn>> result;
  {
    StopRecordingScope scope;
    result = std::make_unique<std::pair<Nest, Fn>>(impl_->custom->call(Nest(args)));
  }
  // A value that is an argument needs its own identity to be differentiated.
  std::vector<Tensor> outputs;
  {
    StopRecordingScope scope;
    for (const Tensor& t : result->first.flatten()) outputs.push_back(identity(t));
  }
  const Fn gradient = result->second;
  if (!call_context().recorder) return outputs.size() == 1 ? Nest(outputs[0]) : Nest(outputs);
  for (const Ref<TapeImpl>& tape : TapeStack::of_thread().tapes()) {
    if (tape->paused > 0 || tape->used || tape->abandoned) continue;
    tape->record_custom(args, outputs,
                        [gradient, n = args.size()](const std::vector<Gradient>& dy) {
                          std::vector<Tensor> in;
                          for (const Gradient& g : dy) in.push_back(g.tensor());
                          const std::vector<Tensor> out = gradient(Nest(in)).flatten();
                          return std::vector<Gradient>(out.begin(), out.end());
                        });
  }
  if (outputs.size() == 1) return Nest(outputs[0]);
  return Nest(outputs);
}

namespace {

// All tapes of the thread pause.
class PausedTapes {
 public:
  PausedTapes()
      : tapes_(TapeStack::of_thread().tapes().begin(), TapeStack::of_thread().tapes().end()) {
    for (const Ref<TapeImpl>& t : tapes_) ++t->paused;
  }
  ~PausedTapes() {
    for (const Ref<TapeImpl>& t : tapes_) --t->paused;
  }
  PausedTapes(const PausedTapes&) = delete;

 private:
  std::vector<Ref<TapeImpl>> tapes_;
};

}  // namespace

Nest recomputed(const Fn& f, const std::vector<Tensor>& args) {
  if (!call_context().recorder) return f(Nest(args));
  Nest value;
  std::vector<Variable> variables;
  {
    const PausedTapes paused;
    GradientTape reads;
    value = f(Nest(args));
    variables = reads.watched_variables();
  }
  std::vector<Tensor> outputs, inputs = args;
  {
    const StopRecordingScope scope;  // a value that is an argument needs its own identity
    for (const Tensor& t : value.flatten()) outputs.push_back(identity(t));
  }
  for (const Variable& v : variables) inputs.push_back(v.handle());
  const auto back = [f, args, variables](const std::vector<Gradient>& dy) {
    const std::vector<Tensor> sources = distinct(args);
    std::vector<Tensor> seeds;
    for (const Gradient& g : dy) seeds.push_back(g.tensor());
    GradientTape tape({.persistent = true});
    for (const Tensor& s : sources) tape.watch(s);
    const std::vector<Tensor> again = f(Nest(sources)).flatten();
    Gradients all = tape.gradient(again, sources, {.output_gradients = seeds});
    const Gradients more = tape.gradient(again, variables, {.output_gradients = seeds});
    all.insert(all.end(), more.begin(), more.end());
    return std::vector<Gradient>(all.begin(), all.end());
  };
  for (const Ref<TapeImpl>& tape : TapeStack::of_thread().tapes()) {
    if (tape->paused > 0 || tape->used || tape->abandoned) continue;
    for (const Variable& v : variables) tape->access(v.handle());
    tape->record_custom(inputs, outputs, back);
  }
  return value.is_tensor() ? Nest(outputs[0]) : value.with_leaves(outputs);
}

}  // namespace rill::detail
