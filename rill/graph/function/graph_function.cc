#include "rill/graph/function/graph_function.h"

#include <atomic>
#include <optional>
#include <set>

#include "rill/base/check.h"
#include "rill/base/parallel.h"
#include "rill/core/default_device.h"
#include "rill/core/observer.h"
#include "rill/graph/function/branching.h"
#include "rill/graph/ir/interpreter.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/graph/passes/pass.h"
#include "rill/graph/plan/plan.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"

namespace rill {
namespace {

void call_shape(ShapeContext& c) {
  const GraphFunction& f = function_of(c.attr("f").as_function());
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Endpoint e = f.graph->results[static_cast<std::size_t>(i)];
    c.set_output(i, info(e).shape);
  }
}
void call_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                  std::span<Tensor> out) {
  std::vector<Tensor> inputs;
  for (const In& t : in) inputs.push_back(*t);
  std::vector<Tensor> results = function_of(a.attr("f").as_function()).run(inputs);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::move(results[i]);
}
std::vector<Tensor> call_by_attrs(std::span<const Tensor> inputs, AttrList attrs) {
  for (const Attr& a : attrs)
    if (a.name == "f") return call_function(function_of(a.value.as_function()), inputs);
  RILL_FAIL(invalid_argument, "[call] the attribute f is missing: no function to call");
}

OpBuilder call_schema(const char* name) {
  OpBuilder b(name, name);
  b.attr("Tin: list(type)")
      .attr("Tout: list(type)")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''")
      .input("args: Tin")
      .output("output: Tout")
      .doc("Calls a function.")
      .shape(call_shape)
      .calls(Calls::function)
      .taped_call(call_by_attrs)
      .forward(call_forward);
  return b;
}
const Op& call_op_ = call_schema("PartitionedCall").define();
const Op& stateful_call_op = call_schema("StatefulPartitionedCall").stateful().define();

}  // namespace

static std::atomic<bool> planning{true};
bool planning_enabled() { return planning.load(std::memory_order_relaxed); }
void enable_planning(bool on) { planning = on; }

bool is_differentiable(DType d) {
  return d.is_floating() || d.is_complex() || d == variant_dtype();
}

std::vector<Tensor> call_op(const Op& op, std::span<const Tensor> inputs, AttrList attrs,
                            int num_outputs) {
  if (op.taped_call && call_context().recorder) return op.taped_call(inputs, attrs);
  const std::vector<In> in(inputs.begin(), inputs.end());
  return execute_all(op, in, attrs, num_outputs);
}

// How a function runs: by a plan for the shapes that came, or node by node.
struct GraphFunction::Runner {
  explicit Runner(const Graph& g) : interpreter(g, g.results) {}
  Interpreter interpreter;
  std::mutex mutex;      // guards all below; free while a plan is made
  MakingTurn turn;       // whose holder alone sets the next two
  Ref<Graph> optimized;  // what is planned
  std::vector<PassReport> reports;
  std::vector<std::shared_ptr<Plan>> plans;  // most recently used first
  int made = 0, hits = 0;
};

namespace {

constexpr std::size_t kPlans = 8;
// A function whose shapes are new at nearly every call is not worth planning.
constexpr int kPatience = 64;

}  // namespace

GraphFunction::GraphFunction(std::string function_name, Ref<Graph> g)
    : FunctionBody(std::move(function_name)), graph(std::move(g)) {
  for (const auto& n : graph->nodes()) stateful_ = stateful_ || n->op->has_effects();
  runner_ = std::make_unique<Runner>(*graph);
}
GraphFunction::~GraphFunction() = default;

GraphFunction& function_of(const FunctionRef& f) {
  RILL_CHECK(f, invalid_argument, "the function to call is missing from the graph's library");
  GraphFunction* g = graph_function(f);
  RILL_CHECK(g, invalid_argument, "\"{}\" is not a graph", f->name);
  return *g;
}
GraphFunction* graph_function(const FunctionRef& f) {
  return dynamic_cast<GraphFunction*>(f.get());
}
std::vector<GraphFunction*> called_functions(const Node& n) {
  std::vector<GraphFunction*> out;
  auto add = [&](const FunctionRef& f) {
    if (GraphFunction* g = graph_function(f)) out.push_back(g);
  };
  for (const Attr& a : n.attrs.list()) {
    if (a.value.kind() == AttrValue::Kind::function) add(a.value.as_function());
    if (a.value.kind() == AttrValue::Kind::functions)
      for (const FunctionRef& f : a.value.as_functions()) add(f);
  }
  return out;
}
FunctionRef as_attr(const Ref<GraphFunction>& f) {
  retain(static_cast<FunctionBody*>(f.get()));
  return FunctionRef(f.get());
}

std::string unique_function_name(std::string_view name) {
  static std::atomic<int> next{0};
  return format("__inference_{}_{}", name, next.fetch_add(1));
}

Ref<GraphFunction> finish_function(Ref<Graph> graph) {
  std::vector<char> keep = needed_nodes(*graph, graph->results, true);
  for (const Node* a : graph->args) keep[static_cast<std::size_t>(a->id)] = 1;
  graph->retain_nodes(keep);
  std::string name = unique_function_name(graph->name);
  return Ref<GraphFunction>(new GraphFunction(std::move(name), std::move(graph)));
}

// REQUIRES: the runner's turn, and not its mutex.
std::shared_ptr<Plan> GraphFunction::make_plan(std::span<const Tensor> inputs, Device* scope,
                                               int width) {
  OpCall call;
  call.op = "(plan)";
  call.node = name;
  call.how = Ran::plan;
  std::optional<CallWatch> watch;
  std::vector<TensorShape> shapes;
  std::vector<Device*> devices;
  for (const Tensor& t : inputs) {
    shapes.push_back(t.shape()), devices.push_back(t.impl()->device);
    call.inputs.push_back({t.dtype(), t.shape()});
  }
  if (OpObserver* observer = op_observer()) watch.emplace(*observer, call);
  if (!runner_->optimized) {
    Ref<Graph> copy = clone(*graph);
    std::vector<PassReport> reports = optimize(*copy);
    std::lock_guard lock(runner_->mutex);
    runner_->optimized = std::move(copy);
    runner_->reports = std::move(reports);
  }
  auto plan = std::make_shared<Plan>(
      *runner_->optimized, shapes, devices, scope, width,
      PlanOptions{.in_place = graph_passes::enabled("in_place"),
                  .fold = graph_passes::enabled("fold_shapes"),
                  .fuse_elementwise = graph_passes::enabled("fuse_elementwise"),
                  .keep_filters = graph_passes::enabled("keep_filters")});
  if (watch) watch->done();
  return plan;
}

// Null: not worth planning.
inline std::shared_ptr<Plan> GraphFunction::find_or_make_plan(std::span<const Tensor> inputs) {
  const int width = compute_width();
  Device* scope = scope_device();
  if (scope && scope->is_host()) scope = nullptr;  // one memory, one set of kernels
  Runner& r = *runner_;
  auto find = [&]() -> std::shared_ptr<Plan> {
    for (std::size_t i = 0; i < r.plans.size(); ++i) {
      if (!r.plans[i]->fits(inputs, scope, width)) continue;
      if (i > 0)
        std::rotate(r.plans.begin(), r.plans.begin() + static_cast<std::ptrdiff_t>(i),
                    r.plans.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ++r.hits;
      return r.plans.front();
    }
    return nullptr;
  };
  std::unique_lock lock(r.mutex);
  if (std::shared_ptr<Plan> found = find()) return found;
  if (r.made >= kPatience && r.hits <= r.made) return nullptr;
  if (std::shared_ptr<Plan> found = r.turn.find_or_take(lock, find)) return found;
  const MakingTurn::Holder holder(r.turn, lock);
  lock.unlock();
  std::shared_ptr<Plan> plan = make_plan(inputs, scope, width);
  lock.lock();
  r.plans.insert(r.plans.begin(), plan);
  if (r.plans.size() > kPlans) r.plans.pop_back();
  ++r.made;
  return plan;
}

// Inlined into both: a call that nobody watches pays for no second one.
[[gnu::always_inline]] inline std::vector<Tensor> GraphFunction::run_now(
    std::span<const Tensor> inputs) {
  if (!planning_enabled() || call_context().checks_numerics || !Plan::possible(inputs))
    return runner_->interpreter.run(inputs);
  const std::shared_ptr<Plan> plan = find_or_make_plan(inputs);
  return plan ? plan->run(inputs) : runner_->interpreter.run(inputs);
}

std::vector<Tensor> GraphFunction::run(std::span<const Tensor> inputs) {
  RILL_CHECK(inputs.size() == graph->args.size(), invalid_argument,
             "[{}] got {} inputs, expected {}", name, inputs.size(), graph->args.size());
  const EagerScope eager;
  if (OpObserver* observer = op_observer()) [[unlikely]]
    return run_observed(*observer, inputs);
  return run_now(inputs);
}

[[gnu::noinline]] std::vector<Tensor> GraphFunction::run_observed(OpObserver& observer,
                                                                  std::span<const Tensor> inputs) {
  OpCall call;
  call.op = "(call)";
  call.node = name;
  call.how = Ran::function;
  for (const Tensor& t : inputs) call.inputs.push_back({t.dtype(), t.shape()});
  CallWatch watch(observer, call);
  std::vector<Tensor> results = run_now(inputs);
  for (const Tensor& t : results) call.outputs.push_back({t.dtype(), t.shape()});
  watch.done();
  return results;
}

std::string GraphFunction::explain() const {
  std::lock_guard lock(runner_->mutex);
  std::string out = format("function \"{}\": {} nodes traced\n", name, graph->nodes().size());
  if (!runner_->optimized) return out + "it has not run yet: nothing is optimised or planned\n";
  for (const PassReport& r : runner_->reports)
    out += format("  {}: {} ({} -> {} nodes)\n", r.pass, r.what.empty() ? "nothing to do" : r.what,
                  r.nodes_before, r.nodes_after);
  for (const auto& p : runner_->plans) out += p->explain();
  return out;
}

GraphFunction::History GraphFunction::history() const {
  std::lock_guard lock(runner_->mutex);
  History h{runner_->made, runner_->hits, nullptr};
  if (!runner_->plans.empty()) h.plan = runner_->plans.front();
  return h;
}

std::vector<Tensor> GraphFunction::captured_values() const {
  std::vector<Tensor> out;
  for (const Capture& c : graph->captures) out.push_back(c.outer);
  return out;
}

std::vector<Tensor> replay(const Graph& from, std::span<const Tensor> inputs) {
  Graph& to = *TracingScope::current();
  std::vector<std::vector<Tensor>> values(from.nodes().size());
  for (std::size_t i = 0; i < from.args.size(); ++i)
    values[static_cast<std::size_t>(from.args[i]->id)] = {inputs[i]};
  auto value = [&](Endpoint e) -> const Tensor& {
    return values[static_cast<std::size_t>(e.node->id)][static_cast<std::size_t>(e.index)];
  };
  CallContext& state = call_context();
  for (const auto& n : from.nodes()) {
    auto& out = values[static_cast<std::size_t>(n->id)];
    if (!out.empty()) continue;
    state.file = n->file, state.line = n->line;
    if (const Tensor* c = n->constant()) {
      // Small ones stay values, so that what is worked out from them is known too.
      const bool small = !c->impl()->resource && c->size() <= 128;
      out = {small ? *c : to.tensor(to.add_constant(*c, n->name))};
      continue;
    }
    std::vector<Tensor> in;
    for (Endpoint e : n->inputs) in.push_back(value(e));
    out = call_op(*n->op, in, n->attrs.list(), static_cast<int>(n->outputs.size()));
    for (std::size_t i = 0; i < out.size(); ++i)  // what only the user knew
      if (out[i].is_symbolic() && !out[i].impl()->resource &&
          out[i].shape().is_compatible_with(n->outputs[i].shape))
        out[i].set_shape(n->outputs[i].shape);
    if (n->outputs.empty()) out.resize(1);  // seen
  }
  std::vector<Tensor> results;
  for (Endpoint e : from.results) results.push_back(value(e));
  return results;
}

std::vector<char> watched_inputs(std::span<const Tensor> inputs) {
  if (!call_context().recorder) return {};
  std::vector<char> wanted(inputs.size(), 0);
  bool any = false;
  for (const Ref<TapeImpl>& tape : TapeStack::of_thread().tapes()) {
    if (tape->paused > 0 || tape->used || tape->abandoned.load(std::memory_order_acquire)) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].impl()->resource && inputs[i].dtype() == resource_dtype())
        tape->access(inputs[i]);
      if (tape->watches(inputs[i])) wanted[i] = any = 1;
    }
  }
  return any ? wanted : std::vector<char>();
}

namespace {

std::vector<Tensor> call_plain(GraphFunction& f, std::span<const Tensor> inputs) {
  if (!TracingScope::current()) return f.run(inputs);
  std::vector<DType> in_types, out_types;
  for (const Tensor& t : inputs) in_types.push_back(t.dtype());
  for (Endpoint e : f.graph->results) out_types.push_back(info(e).dtype);
  retain(static_cast<FunctionBody*>(&f));
  const FunctionRef body(&f);
  const Attr attrs[] = {{"f", body},
                        {"Tin", std::span<const DType>(in_types)},
                        {"Tout", std::span<const DType>(out_types)}};
  const std::vector<In> in(inputs.begin(), inputs.end());
  return execute_all(f.stateful() ? stateful_call_op : call_op_, in, attrs,
                     static_cast<int>(out_types.size()));
}

}  // namespace

namespace {

// A result that is an input or another result becomes its own tensor: tapes know
// tensors by their ids, and would count its gradient twice.
void make_distinct(std::span<const Tensor> inputs, std::vector<Tensor>& results) {
  std::set<std::uint64_t> seen;
  for (const Tensor& t : inputs) seen.insert(t.id());
  for (Tensor& t : results)
    if (!seen.insert(t.id()).second && !t.is_symbolic() && !t.impl()->resource)
      t = make_view(t, t.shape());
}

// From the gradients of the outputs of pair.forward to those of its inputs.
std::vector<Gradient> go_back(const GradientPair& pair, const std::vector<Tensor>& saved,
                              const std::vector<Tensor>& outputs, const std::vector<Gradient>& dy) {
  std::vector<Tensor> in;
  for (int r : pair.differentiable_results) {
    const auto i = static_cast<std::size_t>(r);
    in.push_back(dy[i].defined() ? dy[i].tensor() : zeros_of(outputs[i]));
  }
  in.insert(in.end(), saved.begin(), saved.end());
  for (Tensor& t : pair.backward->captured_values()) in.push_back(std::move(t));
  const std::vector<Tensor> flat = call_function(*pair.backward, in);
  std::vector<Gradient> out;
  std::size_t next = 0;
  for (const auto& g : pair.inputs) {
    using Kind = GradientPair::InputGradient::Kind;
    if (g.kind == Kind::none) {
      out.emplace_back();
    } else if (g.kind == Kind::dense) {
      out.emplace_back(flat[next++]);
    } else {
      out.emplace_back(IndexedSlices{flat[next], flat[next + 1], g.dense_shape});
      next += 2;
    }
  }
  return out;
}

}  // namespace

std::vector<Tensor> call_function(GraphFunction& f, std::span<const Tensor> inputs) {
  const std::vector<char> wanted = watched_inputs(inputs);
  if (wanted.empty()) return call_plain(f, inputs);
  const bool closed = must_close();
  const GradientPair& pair = f.gradient_pair(wanted, closed);
  std::vector<Tensor> all = call_plain(*pair.forward, inputs);
  make_distinct(inputs, all);
  std::vector<Tensor> saved;
  for (const GradientPair::Source& s : pair.saved)
    saved.push_back(s.is_input ? inputs[static_cast<std::size_t>(s.index)]
                               : all[static_cast<std::size_t>(s.index)]);
  // What nothing differentiates is kept for its shape alone.
  std::vector<Tensor> outputs = all;
  if (!closed) outputs.resize(f.num_results());
  retain(&f);
  auto back = [keep = Ref<GraphFunction>(&f), &pair, saved = std::move(saved), outputs](
                  const std::vector<Gradient>& dy) { return go_back(pair, saved, outputs, dy); };
  record_on_tapes(inputs, outputs, back);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(f.num_results())};
}

namespace {

// Whether a graph, or a function that it calls, has a node for which `test` holds.
template <class F>
bool any_node(const Graph& g, F test) {
  for (const auto& n : g.nodes()) {
    if (test(*n)) return true;
    for (const GraphFunction* f : called_functions(*n))
      if (any_node(*f->graph, test)) return true;
  }
  return false;
}

// The results of the trace that is under way, one tensor or two for each gradient.
void add_gradient_results(Graph& backward, const std::vector<Gradient>& gradients,
                          const std::vector<char>& wanted, GradientPair& pair) {
  using Kind = GradientPair::InputGradient::Kind;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    GradientPair::InputGradient g;
    if (wanted[i] && gradients[i].defined()) {
      g.kind = gradients[i].is_sparse() ? Kind::sparse : Kind::dense;
      if (g.kind == Kind::sparse) {
        const IndexedSlices& s = gradients[i].slices();
        g.dense_shape = s.dense_shape;
        backward.results.push_back(backward.endpoint(s.values));
        backward.results.push_back(backward.endpoint(s.indices));
      } else {
        backward.results.push_back(backward.endpoint(gradients[i].tensor()));
      }
    }
    pair.inputs.push_back(g);
  }
}

std::vector<Tensor> add_arguments(Graph& g, const Graph& like) {
  std::vector<Tensor> out;
  for (const Node* a : like.args) {
    Node& arg = g.add_argument(a->name, a->outputs[0].dtype, a->outputs[0].shape);
    arg.handle = a->handle;
    out.push_back(g.tensor({&arg, 0}));
  }
  return out;
}

// The results of `graph` on `inputs`, recorded by `tape`.
std::vector<Tensor> replay_on(TapeImpl& tape, const Graph& graph, std::span<const Tensor> inputs,
                              const std::vector<char>& wanted) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (wanted[i]) tape.watch(inputs[i]);
  TapeStack::of_thread().push(&tape);
  try {
    std::vector<Tensor> results = replay(graph, inputs);
    TapeStack::of_thread().remove(&tape);
    return results;
  } catch (...) {
    TapeStack::of_thread().remove(&tape);
    throw;
  }
}

// The way back that works everything out again from the inputs, so that it is a
// function of them alone and has a way back itself: for loops, of which no finite
// number of saved values would do.
std::unique_ptr<GradientPair> recomputing_pair(GraphFunction& f, const std::vector<char>& wanted) {
  RILL_CHECK(!f.stateful(), unimplemented,
             "[gradient] second derivatives through function \"{}\", which has a loop and side "
             "effects or random numbers: its loop cannot be run again. Take them inside the "
             "function, or without tf::function",
             f.graph->name);
  auto pair = std::make_unique<GradientPair>();
  // Over the same graph, but another function: f keeps this pair.
  pair->forward =
      Ref<GraphFunction>(new GraphFunction(unique_function_name(f.graph->name), f.graph));
  Ref<Graph> backward(new Graph(f.graph->name + "_backward"));
  {
    TracingScope tracing(*backward);
    std::vector<Gradient> seeds;
    for (std::size_t i = 0; i < f.graph->results.size(); ++i) {
      const ValueInfo& v = info(f.graph->results[i]);
      if (!is_differentiable(v.dtype)) continue;
      pair->differentiable_results.push_back(static_cast<int>(i));
      Node& dy = backward->add_argument(format("grad_ys_{}", i), v.dtype, v.shape);
      seeds.emplace_back(backward->tensor({&dy, 0}));
    }
    const std::vector<Tensor> inputs = add_arguments(*backward, *f.graph);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      pair->saved.push_back({true, static_cast<int>(i)});
    Ref<TapeImpl> tape(new TapeImpl(false, false));
    const std::vector<Tensor> results = replay_on(*tape, *f.graph, inputs, wanted);
    std::vector<Tensor> targets;
    for (int r : pair->differentiable_results)
      targets.push_back(results[static_cast<std::size_t>(r)]);
    add_gradient_results(*backward, tape->backward(targets, seeds, inputs, false), wanted, *pair);
  }
  pair->backward = finish_function(std::move(backward));
  return pair;
}

}  // namespace

const GradientPair& GraphFunction::gradient_pair(const std::vector<char>& wanted, bool closed) {
  std::vector<char> key = wanted;
  key.push_back(closed);
  std::unique_lock lock(pairs_mutex_);
  auto find = [&]() -> const GradientPair* {
    const auto it = pairs_.find(key);
    return it == pairs_.end() ? nullptr : it->second.get();
  };
  if (const GradientPair* found = pairs_turn_.find_or_take(lock, find)) return *found;
  const MakingTurn::Holder holder(pairs_turn_, lock);
  lock.unlock();
  std::unique_ptr<GradientPair> made = make_gradient_pair(wanted, closed);
  lock.lock();
  return *(pairs_[key] = std::move(made));
}

std::unique_ptr<GradientPair> GraphFunction::make_gradient_pair(const std::vector<char>& wanted,
                                                                bool closed) {
  if (closed && any_node(*graph, [](const Node& n) { return n.op->tag == "while_loop"; }))
    return recomputing_pair(*this, wanted);
  Ref<Graph> forward(new Graph(graph->name + "_forward"));
  Ref<TapeImpl> tape(new TapeImpl(true, false));
  std::vector<Tensor> inputs, targets;
  Ref<Graph> backward;
  std::unique_ptr<GradientPair> pair;
  {
    TracingScope tracing(*forward);
    inputs = add_arguments(*forward, *graph);
    const ScopedContext<&CallContext::closes_gradients> closing(closed);
    targets = replay_on(*tape, *graph, inputs, wanted);
    for (const Tensor& t : targets) forward->results.push_back(forward->endpoint(t));
  }
  // Going back from what is saved may need more to be saved: until nothing is new.
  for (bool settled = false; !settled;) {
    pair = std::make_unique<GradientPair>();
    backward = Ref<Graph>(new Graph(graph->name + "_backward", forward.get()));
    {
      TracingScope tracing(*backward);
      std::vector<Tensor> from;
      std::vector<Gradient> seeds;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        if (!is_differentiable(targets[i].dtype())) continue;
        pair->differentiable_results.push_back(static_cast<int>(i));
        Node& dy =
            backward->add_argument(format("grad_ys_{}", i), targets[i].dtype(), targets[i].shape());
        from.push_back(targets[i]);
        seeds.emplace_back(backward->tensor({&dy, 0}));
      }
      add_gradient_results(*backward, tape->backward(from, seeds, inputs, true), wanted, *pair);
    }
    settled = true;
    for (const Capture& c : backward->captures) {
      if (!c.outer.is_symbolic()) continue;
      const Endpoint e = symbol_of(c.outer).at;
      int as_input = -1, as_result = -1;
      for (std::size_t i = 0; i < forward->args.size(); ++i)
        if (forward->args[i] == e.node) as_input = static_cast<int>(i);
      for (std::size_t i = 0; i < forward->results.size(); ++i)
        if (forward->results[i] == e) as_result = static_cast<int>(i);
      if (as_input < 0 && as_result < 0) {
        as_result = static_cast<int>(forward->results.size());
        forward->results.push_back(e);
        if (closed) {
          targets.push_back(c.outer);
          settled = false;
        }
      }
      pair->saved.push_back({as_input >= 0, as_input >= 0 ? as_input : as_result});
    }
  }
  // Arguments in the order: gradients, saved values, and what comes from outside both.
  std::vector<Node*> args(
      backward->args.begin(),
      backward->args.begin() + static_cast<std::ptrdiff_t>(pair->differentiable_results.size()));
  std::vector<Capture> bound;
  for (const Capture& c : backward->captures)
    if (c.outer.is_symbolic())
      args.push_back(c.arg);
    else
      bound.push_back(c);
  for (const Capture& c : bound) args.push_back(c.arg);
  backward->args = std::move(args);
  backward->captures = std::move(bound);
  RILL_INTERNAL_CHECK(forward->captures.empty());
  pair->forward = finish_function(std::move(forward));
  pair->backward = finish_function(std::move(backward));
  return pair;
}

}  // namespace rill
