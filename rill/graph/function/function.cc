#include "rill/graph/function/function.h"

#include "rill/base/check.h"
#include "rill/core/observer.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/function/function_impl.h"
#include "rill/ops/array_ops.h"

namespace rill {

void retain(ConcreteFunctionImpl* f) noexcept { f->refs.retain(); }
void release(ConcreteFunctionImpl* f) noexcept {
  if (f->refs.release()) delete f;
}
void retain(FunctionImpl* f) noexcept { f->refs.retain(); }
void release(FunctionImpl* f) noexcept {
  if (f->refs.release()) delete f;
}

namespace {

using detail::Argument;

TensorSpec spec_of(const Tensor& t) {
  RILL_CHECK(t.defined(), invalid_argument, "[function] an argument is an undefined Tensor");
  return TensorSpec(t.shape(), t.dtype());
}

CallSignature signature_of(const Argument* args, std::size_t n) {
  CallSignature s;
  for (std::size_t i = 0; i < n; ++i) {
    const Argument& a = args[i];
    CallSignature::Item item;
    item.kind = a.kind;
    item.integer = a.integer;
    item.number = a.number;
    item.text = a.text;
    if (a.kind == Argument::Kind::tensor) item.specs.push_back(spec_of(a.tensor));
    if (a.kind == Argument::Kind::nest) {
      item.structure = a.nest;
      std::vector<Tensor> leaves = a.nest.flatten();
      for (Tensor& t : leaves) {
        item.specs.push_back(spec_of(t));
        t = {};  // the structure alone: values are not kept alive
      }
      item.structure = a.nest.with_leaves(leaves);
    }
    s.items.push_back(std::move(item));
  }
  return s;
}

bool fits(const TensorSpec& want, const Tensor& got) {
  if (want.dtype() != got.impl()->dtype) return false;
  const TensorShape &a = want.shape(), &b = got.impl()->shape;
  return a == b || (!a.is_fully_defined() && a.is_compatible_with(b));
}

// Whether a call may use a trace.
bool matches(const CallSignature& s, const Argument* args, std::size_t n) {
  if (s.items.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const CallSignature::Item& want = s.items[i];
    const Argument& a = args[i];
    if (want.kind != a.kind) return false;
    switch (a.kind) {
      case Argument::Kind::tensor:
        if (!a.tensor.defined() || !fits(want.specs[0], a.tensor)) return false;
        break;
      case Argument::Kind::nest: {
        if (!want.structure.same_structure(a.nest)) return false;
        const std::vector<Tensor> leaves = a.nest.flatten();
        for (std::size_t k = 0; k < leaves.size(); ++k)
          if (!leaves[k].defined() || !fits(want.specs[k], leaves[k])) return false;
        break;
      }
      case Argument::Kind::number:
        if (want.number != a.number) return false;
        break;
      case Argument::Kind::text:
        if (want.text != a.text) return false;
        break;
      default:
        if (want.integer != a.integer) return false;
    }
  }
  return true;
}

std::string plain_value(const CallSignature::Item& i) {
  switch (i.kind) {
    case Argument::Kind::number:
      return format("{}", i.number);
    case Argument::Kind::text:
      return format("\"{}\"", i.text);
    case Argument::Kind::boolean:
      return i.integer ? "true" : "false";
    default:
      return format("{}", i.integer);
  }
}

std::string describe(const TensorSpec& s) { return format("{} {}", s.dtype(), s.shape()); }

// What differs, for why_retraced; empty when nothing does.
std::string difference(const CallSignature& before, const CallSignature& now) {
  if (before.items.size() != now.items.size())
    return format("{} arguments became {}", before.items.size(), now.items.size());
  for (std::size_t i = 0; i < now.items.size(); ++i) {
    const CallSignature::Item &a = before.items[i], &b = now.items[i];
    if (a.kind != b.kind) return format("argument {} changed its kind", i);
    if (a.kind == Argument::Kind::nest && !a.structure.same_structure(b.structure))
      return format("argument {} changed its structure from {} to {}", i, a.structure.to_string(),
                    b.structure.to_string());
    for (std::size_t k = 0; k < b.specs.size(); ++k) {
      const std::string which = b.kind == Argument::Kind::nest
                                    ? format("tensor {} of argument {}", k, i)
                                    : format("argument {}", i);
      if (a.specs[k].dtype() != b.specs[k].dtype() ||
          !a.specs[k].shape().is_compatible_with(b.specs[k].shape()))
        return format("{} changed from {} to {}", which, describe(a.specs[k]),
                      describe(b.specs[k]));
    }
    if (a.kind != Argument::Kind::tensor && a.kind != Argument::Kind::nest &&
        plain_value(a) != plain_value(b))
      return format(
          "argument {} changed from {} to {}; pass a Tensor if its value should not "
          "decide the trace",
          i, plain_value(a), plain_value(b));
  }
  return "";
}

// Whether two signatures differ in nothing but sizes; if so, `out` has those unknown.
bool differ_in_sizes(const CallSignature& a, const CallSignature& b, CallSignature* out) {
  if (a.items.size() != b.items.size()) return false;
  *out = b;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const CallSignature::Item &x = a.items[i], &y = b.items[i];
    if (x.kind != y.kind || x.specs.size() != y.specs.size()) return false;
    const bool plain = x.kind != Argument::Kind::tensor && x.kind != Argument::Kind::nest;
    if (plain && plain_value(x) != plain_value(y)) return false;
    if (x.kind == Argument::Kind::nest && !x.structure.same_structure(y.structure)) return false;
    for (std::size_t k = 0; k < x.specs.size(); ++k) {
      const TensorSpec &s = x.specs[k], &t = y.specs[k];
      if (s.dtype() != t.dtype() || s.shape().rank() != t.shape().rank()) return false;
      out->items[i].specs[k] = TensorSpec(common_shape(s.shape(), t.shape()), t.dtype(), t.name());
    }
  }
  return true;
}

std::string file_part(const char* path) {
  std::string_view p(path);
  const auto slash = p.rfind('/');
  return std::string(slash == std::string_view::npos ? p : p.substr(slash + 1));
}

}  // namespace

namespace {
std::atomic<bool> run_eagerly = false;
}
void config::run_functions_eagerly(bool yes) { run_eagerly.store(yes, std::memory_order_relaxed); }
bool config::functions_run_eagerly() { return run_eagerly.load(std::memory_order_relaxed); }

namespace detail {

Argument::Argument(const Operand& x) : kind(Kind::tensor) {
  if (x.file()) call_context().file = x.file(), call_context().line = x.line();
  tensor = to_tensor(x);
}
const Nest& Argument::empty_nest() {
  static const Nest n;
  return n;
}

}  // namespace detail

FunctionImpl::FunctionImpl(detail::Traceable* callable, FunctionOptions o)
    : name(o.name.empty() ? "function" : o.name), options(std::move(o)), callable_(callable) {}

Ref<ConcreteFunctionImpl> FunctionImpl::find_or_trace(const Argument* args, std::size_t n) {
  std::unique_lock lock(mutex);
  auto find = [&]() -> Ref<ConcreteFunctionImpl> {
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (traces[i]->inside && traces[i]->inside != TracingScope::current()) continue;
      if (!matches(traces[i]->signature, args, n)) continue;
      if (i > 0)
        std::rotate(traces.begin(), traces.begin() + static_cast<std::ptrdiff_t>(i),
                    traces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return traces.front();
    }
    return {};
  };
  if (Ref<ConcreteFunctionImpl> found = turn_.find_or_take(lock, find)) return found;
  const MakingTurn::Holder holder(turn_, lock);
  const bool again = !traces.empty();
  CallSignature signature = signature_to_trace(args, n);
  return add_trace(lock, std::move(signature), again ? why_retraced : std::string());
}

Ref<ConcreteFunctionImpl> FunctionImpl::find_or_trace(const std::vector<TensorSpec>& specs) {
  std::unique_lock lock(mutex);
  auto find = [&]() -> Ref<ConcreteFunctionImpl> {
    for (const auto& t : traces) {
      bool same = t->signature.items.size() == specs.size();
      for (std::size_t i = 0; same && i < specs.size(); ++i) {
        const CallSignature::Item& item = t->signature.items[i];
        same = item.kind == Argument::Kind::tensor && item.specs[0].dtype() == specs[i].dtype() &&
               item.specs[0].shape() == specs[i].shape();
      }
      if (same) return t;
    }
    return {};
  };
  if (Ref<ConcreteFunctionImpl> found = turn_.find_or_take(lock, find)) return found;
  const MakingTurn::Holder holder(turn_, lock);
  CallSignature s;
  for (const TensorSpec& spec : specs) {
    CallSignature::Item item;
    item.kind = Argument::Kind::tensor;
    item.specs = {spec};
    s.items.push_back(std::move(item));
  }
  return add_trace(lock, std::move(s), {});
}

// What a call that no trace serves is traced with: sizes that differ from those of another
// trace become unknown. REQUIRES: the lock held.
CallSignature FunctionImpl::signature_to_trace(const Argument* args, std::size_t n) {
  CallSignature now = signature_of(args, n);
  for (CallSignature::Item& item : now.items)
    for (TensorSpec& s : item.specs)
      if (policy.any_batch_size && s.shape().has_rank() && s.shape().rank() > 0) {
        TensorShape shape = s.shape();
        shape.set_dim(0, -1);
        s = TensorSpec(shape, s.dtype(), s.name());
      }
  if (!options.input_signature.empty()) {
    std::size_t next = 0;
    for (CallSignature::Item& item : now.items)
      for (TensorSpec& s : item.specs) {
        RILL_CHECK(next < options.input_signature.size(), invalid_argument,
                   "[function \"{}\"] got more tensors than the {} of its input_signature", name,
                   options.input_signature.size());
        const TensorSpec& want = options.input_signature[next++];
        RILL_CHECK(want.dtype() == s.dtype() && want.shape().is_compatible_with(s.shape()),
                   invalid_argument,
                   "[function \"{}\"] argument {} is {}; its input_signature says {}", name,
                   next - 1, describe(s), describe(want));
        s = want;
      }
    RILL_CHECK(next == options.input_signature.size(), invalid_argument,
               "[function \"{}\"] got {} tensors; its input_signature has {}", name, next,
               options.input_signature.size());
  } else if (!traces.empty()) {
    const CallContext& at = call_context();
    why_retraced = difference(traces.front()->signature, now);
    CallSignature relaxed = now;
    const ConcreteFunctionImpl* alike = nullptr;
    std::size_t apart = 0;
    for (const auto& t : traces)
      if (CallSignature common; differ_in_sizes(t->signature, relaxed, &common)) {
        relaxed = std::move(common);
        if (apart++ == 0) alike = t.get();
      }
    if (options.reduce_retracing && apart > 0 && apart >= policy.shapes_apart) {
      why_retraced = difference(alike->signature, now) +
                     "; sizes that differ are unknown in the new trace, which serves all";
      now = std::move(relaxed);
    }
    if (at.file) why_retraced += format(" (call at {}:{})", file_part(at.file), at.line);
  }
  return now;
}

// REQUIRES: the lock and the turn held. The lock is free for the time of the trace.
Ref<ConcreteFunctionImpl> FunctionImpl::add_trace(std::unique_lock<std::mutex>& lock,
                                                  CallSignature signature, const std::string& why) {
  lock.unlock();
  Ref<ConcreteFunctionImpl> made = trace(std::move(signature), why);
  lock.lock();
  ++trace_count;
  traces.insert(traces.begin(), made);
  if (traces.size() > policy.most_traces) traces.pop_back();
  return made;
}

Ref<ConcreteFunctionImpl> FunctionImpl::trace(CallSignature signature, std::string_view why) {
  OpObserver* observer = op_observer();
  if (!observer) return trace_now(std::move(signature));
  OpCall call;
  call.op = "(trace)";
  call.node = name;
  call.how = Ran::trace;
  call.detail = why;
  for (const CallSignature::Item& item : signature.items)
    for (const TensorSpec& s : item.specs) call.inputs.push_back({s.dtype(), s.shape()});
  CallWatch watch(*observer, call);
  Ref<ConcreteFunctionImpl> made = trace_now(std::move(signature));
  watch.done();
  return made;
}

// Functions that are traced inside one another; Python's own limit comes at about as many.
constexpr int kMostNested = 100;

Ref<ConcreteFunctionImpl> FunctionImpl::trace_now(CallSignature signature) {
  Graph* outer = TracingScope::current();
  int nested = 0;
  for (const Graph* g = outer; g; g = g->outer) ++nested;
  RILL_CHECK(
      nested < kMostNested, failed_precondition,
      "[function \"{}\"] RecursionError: {} functions are traced inside one another, the "
      "innermost called by \"{}\". A function that calls itself, or that others call back, "
      "never ends, since each trace needs another. Use tf::while_loop, or arguments that are "
      "C++ numbers and come to an end",
      name, nested, outer->name);
  Ref<Graph> graph(new Graph(name, outer));
  if (variables_made_ && !policy.later_variables)
    graph->no_variables =
        "a function made a variable at a later call, or whenever it is traced: variables may only "
        "be made at the first call, since a graph cannot make one each time it runs. Make it "
        "outside, or keep it and make it only if it is not there";
  Ref<ConcreteFunctionImpl> c(new ConcreteFunctionImpl);
  {
    TracingScope tracing(*graph);
    const ScopedContext<&CallContext::device> no_device(nullptr);
    std::vector<Argument> args;
    std::size_t count = 0;
    for (const CallSignature::Item& item : signature.items) {
      Argument a = Argument::plain(0);
      a.kind = item.kind;
      a.integer = item.integer;
      a.number = item.number;
      a.text = item.text;
      std::vector<Tensor> leaves;
      for (const TensorSpec& s : item.specs) {
        const std::string wanted = s.name().empty() ? format("arg_{}", count) : s.name();
        leaves.push_back(graph->tensor({&graph->add_argument(wanted, s.dtype(), s.shape()), 0}));
        ++count;
      }
      if (a.kind == Argument::Kind::tensor) a.tensor = leaves[0];
      if (a.kind == Argument::Kind::nest) a.nest = item.structure.with_leaves(leaves);
      args.push_back(std::move(a));
    }
    c->tensor_args = count;
    try {
      c->structure = callable_->call(args.data());
      for (const Tensor& t : c->structure.flatten()) {
        c->result_index.push_back(t.defined() ? static_cast<int>(graph->results.size()) : -1);
        if (t.defined()) graph->results.push_back(graph->endpoint(t));
      }
    } catch (errors::Error& e) {
      const CallContext& at = call_context();
      if (nested < 8)  // more lines than that say nothing new
        e.add_context(format("while tracing function \"{}\"{}", name,
                             at.file ? format(" ({}:{})", file_part(at.file), at.line) : ""));
      throw;
    }
  }
  // The nest keeps its structure, not the symbols.
  c->structure = c->structure.with_leaves(std::vector<Tensor>(c->result_index.size()));
  c->signature = std::move(signature);
  // Variables are made once: what the first trace made, a second finds, and that one is kept. As in
  // TensorFlow, a function that makes them again is an error.
  if (!std::exchange(variables_made_, true) && graph->made_variables && !policy.later_variables)
    return trace_now(std::move(c->signature));
  c->body = finish_function(std::move(graph));
  c->captured = c->body->captured_values();
  // Symbols of the graph around are held by the trace, not by its graph: that one may be
  // part of theirs.
  for (Capture& x : c->body->graph->captures)
    if (x.outer.is_symbolic()) {
      c->inside = outer;
      x.outer = {};
    }
  return c;
}

std::vector<Tensor> ConcreteFunctionImpl::call(std::span<const Tensor> tensors) const {
  std::vector<Tensor> inputs(tensors.begin(), tensors.end());
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return call_function(*body, inputs);
}

Nest ConcreteFunctionImpl::pack(const std::vector<Tensor>& results) const {
  std::vector<Tensor> leaves;
  for (int i : result_index)
    leaves.push_back(i < 0 ? Tensor() : results[static_cast<std::size_t>(i)]);
  return structure.with_leaves(leaves);
}

namespace detail {
namespace {

std::vector<Tensor> tensors_of(const Argument* args, std::size_t n) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (args[i].kind == Argument::Kind::tensor) out.push_back(args[i].tensor);
    if (args[i].kind == Argument::Kind::nest)
      for (Tensor& t : args[i].nest.flatten()) out.push_back(std::move(t));
  }
  return out;
}

}  // namespace

AnyFunction::AnyFunction(Traceable* callable, FunctionOptions options)
    : impl_(new FunctionImpl(callable, std::move(options))) {}

Nest AnyFunction::call(const Argument* args, std::size_t n) const {
  if (config::functions_run_eagerly()) return impl_->call_eagerly(args);
  const Ref<ConcreteFunctionImpl> c = impl_->find_or_trace(args, n);
  return c->pack(c->call(tensors_of(args, n)));
}
Tensor AnyFunction::call_single(const Argument* args, std::size_t n) const {
  if (config::functions_run_eagerly()) {
    const Nest all = impl_->call_eagerly(args);
    const std::vector<Tensor> out = all.flatten();
    if (out.size() > 1) return make_several(all, format("the function \"{}\"", name()));
    return out.empty() ? Tensor() : out[0];
  }
  const Ref<ConcreteFunctionImpl> c = impl_->find_or_trace(args, n);
  const std::vector<Tensor> out = c->call(tensors_of(args, n));
  // It returned what a layer of several results gave.
  if (c->result_index.size() > 1)
    return make_several(c->pack(out), format("the function \"{}\"", name()));
  return c->result_index.empty() || c->result_index[0] < 0 ? Tensor() : out[0];
}
ConcreteFunction AnyFunction::concrete(const Argument* args, std::size_t n) const {
  return ConcreteFunction(impl_->find_or_trace(args, n));
}
ConcreteFunction AnyFunction::concrete(const std::vector<TensorSpec>& given) const {
  return ConcreteFunction(
      impl_->find_or_trace(given.empty() ? impl_->options.input_signature : given));
}

const std::string& AnyFunction::name() const { return impl_->name; }
int AnyFunction::trace_count() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->trace_count;
}
std::string AnyFunction::why_retraced() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->why_retraced;
}
std::string AnyFunction::explain() const {
  std::lock_guard lock(impl_->mutex);
  if (impl_->traces.empty()) return format("function \"{}\" has not been called\n", impl_->name);
  return impl_->traces.front()->body->explain();
}

}  // namespace detail

const std::string& ConcreteFunction::name() const { return impl_->body->name; }
std::vector<TensorSpec> ConcreteFunction::inputs() const {
  std::vector<TensorSpec> out;
  for (std::size_t i = 0; i < impl_->tensor_args; ++i) {
    const Node& a = *impl_->body->graph->args[i];
    out.emplace_back(a.outputs[0].shape, a.outputs[0].dtype, a.name);
  }
  return out;
}
std::vector<TensorSpec> ConcreteFunction::outputs() const {
  std::vector<TensorSpec> out;
  for (Endpoint e : impl_->body->graph->results) {
    const ValueInfo& v = info(e);
    out.emplace_back(v.shape, v.dtype, e.node->name);
  }
  return out;
}
std::vector<Variable> ConcreteFunction::variables() const {
  std::vector<Variable> out;
  for (const Tensor& t : impl_->captured)
    if (t.impl()->resource && t.impl()->resource->resource_kind == Resource::Kind::variable)
      out.push_back(Variable::of_handle(t));
  return out;
}
std::vector<std::string> ConcreteFunction::node_names() const {
  std::vector<std::string> out;
  for (const auto& n : impl_->body->graph->nodes()) out.push_back(n->name);
  return out;
}
Nest ConcreteFunction::operator()(const std::vector<Tensor>& args) const {
  RILL_CHECK(args.size() == impl_->tensor_args, invalid_argument,
             "[{}] got {} tensors, expected {}", name(), args.size(), impl_->tensor_args);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueInfo& want = impl_->body->graph->args[i]->outputs[0];
    RILL_CHECK(args[i].defined() && args[i].dtype() == want.dtype &&
                   want.shape.is_compatible_with(args[i].shape()),
               invalid_argument, "[{}] argument {} is {}, expected {} {}", name(), i,
               args[i].defined() ? describe(spec_of(args[i])) : std::string("undefined"),
               want.dtype, want.shape);
  }
  return impl_->pack(impl_->call(args));
}

}  // namespace rill
