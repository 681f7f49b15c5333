// Loops: while_loop and the op While.
#include "rill/base/check.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/function/branching.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

// ---- the op

void while_shape(ShapeContext& c) {
  const GraphFunction& body = function_of(c.attr("body").as_function());
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, common_shape(body.graph->args[static_cast<std::size_t>(i)]->outputs[0].shape,
                                 c.input(i).has_rank() ? c.input(i) : TensorShape()));
}

void while_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                   std::span<Tensor> out) {
  GraphFunction &cond = function_of(a.attr("cond").as_function()),
                &body = function_of(a.attr("body").as_function());
  std::vector<Tensor> values;
  for (const In& t : in) values.push_back(*t);
  while (true) {
    const Tensor more = cond.run(values)[0];
    if (!static_cast<bool>(more)) break;
    std::vector<Tensor> next = body.run(values);
    values = std::move(next);
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::move(values[i]);
}

std::vector<Tensor> call_while(std::span<const Tensor> inputs, AttrList attrs);

OpBuilder while_schema(const char* name) {
  OpBuilder b(name, "while_loop");
  b.attr("T: list(type)")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .input("input: T")
      .output("output: T")
      .doc("Calls a function on its own results while another says so.")
      .shape(while_shape)
      .calls(Calls::loop)
      .taped_call(call_while)
      .forward(while_forward);
  return b;
}
const Op& while_op = while_schema("While").stateful().define();
const Op& stateless_while_op = while_schema("StatelessWhile").define();

struct Loop {
  Ref<GraphFunction> cond, body;
};

std::vector<Tensor> emit(const Loop& loop, std::span<const Tensor> inputs) {
  const bool stateful = loop.cond->stateful() || loop.body->stateful();
  const std::vector<DType> types = dtypes_of(inputs);
  const FunctionRef cond = as_attr(loop.cond), body = as_attr(loop.body);
  const Attr attrs[] = {{"cond", cond}, {"body", body}, {"T", std::span<const DType>(types)}};
  const std::vector<In> in(inputs.begin(), inputs.end());
  return execute_all(stateful ? while_op : stateless_while_op, in, attrs,
                     static_cast<int>(types.size()));
}

// Result i of the body is its argument i: the value never changes.
bool invariant(const GraphFunction& body, std::size_t i) {
  return body.graph->results[i].node == body.graph->args[i];
}

// Which results of the body depend on arguments that are set, floating-point all the
// way; added to `set` until nothing changes.
void close_under_body(const GraphFunction& body, std::vector<char>& set) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<char> reached(body.graph->nodes().size(), 0);
    for (std::size_t i = 0; i < set.size(); ++i)
      if (set[i]) reached[static_cast<std::size_t>(body.graph->args[i]->id)] = 1;
    for (const auto& n : body.graph->nodes())
      for (Endpoint e : n->inputs)
        if (reached[static_cast<std::size_t>(e.node->id)] &&
            (is_differentiable(info(e).dtype) || info(e).dtype == resource_dtype()))
          reached[static_cast<std::size_t>(n->id)] = 1;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const Endpoint r = body.graph->results[i];
      if (!set[i] && reached[static_cast<std::size_t>(r.node->id)] &&
          is_differentiable(info(r).dtype))
        set[i] = changed = true;
    }
  }
}

// Arguments of a new graph like those of a body.
std::vector<Tensor> add_arguments_like(Graph& g, const GraphFunction& f) {
  std::vector<Tensor> out;
  for (const Node* a : f.graph->args) {
    Node& arg = g.add_argument(a->name, a->outputs[0].dtype, a->outputs[0].shape);
    arg.handle = a->handle;
    out.push_back(g.tensor({&arg, 0}));
  }
  return out;
}
Tensor add_list_argument(Graph& g) {
  return g.tensor({&g.add_argument("accumulator", variant_dtype(), TensorShape::scalar()), 0});
}
Tensor add_count_argument(Graph& g) {
  return g.tensor({&g.add_argument("counter", int32, TensorShape::scalar()), 0});
}

// The loop so that tapes can go back: each turn pushes what its way back needs onto
// lists, and a second loop takes it off again, last turn first.
//
// Each tape has its own loop to go back through: the innermost this one, the
// next the loop with the lists, whose way back is then known too, and so on.
std::vector<Tensor> differentiable_loop(const Loop& loop, std::span<const Tensor> inputs,
                                        std::vector<Ref<TapeImpl>> tapes) {
  std::vector<char> wanted = watched_inputs(inputs);
  if (wanted.empty() || tapes.empty()) return emit(loop, inputs);
  const Ref<TapeImpl> tape = tapes.back();
  tapes.pop_back();
  const std::size_t n = inputs.size();
  close_under_body(*loop.body, wanted);
  const GradientPair& pair = loop.body->gradient_pair(wanted, false);
  GraphFunction& step = *pair.forward;
  // What must be kept of every turn; what never changes is taken from the inputs.
  struct Kept {
    GradientPair::Source source;
    ValueInfo info;
  };
  std::vector<Kept> kept;
  for (const GradientPair::Source& s : pair.saved) {
    const auto i = static_cast<std::size_t>(s.index);
    if (s.is_input && invariant(*loop.body, i)) continue;
    kept.push_back(
        {s, s.is_input ? step.graph->args[i]->outputs[0] : info(step.graph->results[i])});
  }
  // Forward: values, then the lists, then the count of turns.
  Loop forward;
  {
    Ref<Graph> g(new Graph(loop.body->graph->name + "_forward_turn"));
    {
      TracingScope tracing(*g);
      const std::vector<Tensor> args = add_arguments_like(*g, step);
      std::vector<Tensor> lists;
      for (std::size_t k = 0; k < kept.size(); ++k) lists.push_back(add_list_argument(*g));
      const Tensor count = add_count_argument(*g);
      const std::vector<Tensor> out = call_function(step, args);
      for (std::size_t i = 0; i < n; ++i)
        g->results.push_back(g->endpoint(invariant(*loop.body, i) ? args[i] : out[i]));
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const auto i = static_cast<std::size_t>(kept[k].source.index);
        g->results.push_back(g->endpoint(
            tensor_list_push_back(lists[k], kept[k].source.is_input ? args[i] : out[i])));
      }
      g->results.push_back(g->endpoint(count + 1));
    }
    RILL_INTERNAL_CHECK(g->captures.empty());
    forward.body = finish_function(std::move(g));
    Ref<Graph> c(new Graph(loop.cond->graph->name + "_forward"));
    {
      TracingScope tracing(*c);
      std::vector<Tensor> args = add_arguments_like(*c, *loop.cond);
      for (std::size_t k = 0; k < kept.size(); ++k) add_list_argument(*c);
      add_count_argument(*c);
      c->results.push_back(c->endpoint(call_function(*loop.cond, args)[0]));
    }
    forward.cond = finish_function(std::move(c));
  }
  std::vector<Tensor> in(inputs.begin(), inputs.end());
  for (const Kept& k : kept) in.push_back(empty_tensor_list(TensorShape(), k.info.dtype));
  in.push_back(to_tensor(0, int32));
  const std::vector<Tensor> all = differentiable_loop(forward, in, tapes);
  const std::vector<Tensor> given(inputs.begin(), inputs.end());

  auto back = [loop, &pair, kept, all, given, wanted, n](const std::vector<Gradient>& dy) {
    // State: the count, a gradient for each wanted value, the lists, then what stays:
    // inputs that never change, and what backward has from outside.
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < n; ++i)
      if (wanted[i]) active.push_back(i);
    std::vector<Tensor> state{all.back()};
    for (std::size_t i : active) {
      const bool changes = !invariant(*loop.body, i);
      // Of what never changes the gradients of the turns add up on top of that of the result.
      state.push_back(changes || dy[i].defined() ? dense_or_zeros(dy[i], all[i])
                                                 : zeros_of(given[i]));
    }
    const std::size_t lists_at = state.size();
    for (std::size_t k = 0; k < kept.size(); ++k) state.push_back(all[n + k]);
    const std::size_t stays_at = state.size();
    std::vector<std::size_t> stays;
    for (std::size_t i = 0; i < n; ++i)
      if (invariant(*loop.body, i)) stays.push_back(i), state.push_back(given[i]);
    const std::size_t bound_at = state.size();
    for (Tensor& t : pair.backward->captured_values()) state.push_back(std::move(t));

    auto add_state = [&](Graph& g) {
      std::vector<Tensor> args;
      for (std::size_t k = 0; k < state.size(); ++k) {
        // Sizes of gradients may differ from turn to turn.
        TensorShape s = state[k].shape();
        if (k > 0 && k < lists_at) s = info(loop.body->graph->results[active[k - 1]]).shape;
        if (k > 0 && k < lists_at && invariant(*loop.body, active[k - 1])) s = state[k].shape();
        Node& a = g.add_argument("state", state[k].dtype(), s);
        a.handle =
            state[k].dtype() == resource_dtype() ? state[k].impl()->resource : Ref<Resource>();
        args.push_back(g.tensor({&a, 0}));
      }
      return args;
    };
    Loop backward;
    Ref<Graph> c(new Graph(loop.cond->graph->name + "_backward"));
    {
      TracingScope tracing(*c);
      c->results.push_back(c->endpoint(add_state(*c)[0] > 0));
    }
    backward.cond = finish_function(std::move(c));
    Ref<Graph> g(new Graph(loop.body->graph->name + "_backward_turn"));
    {
      TracingScope tracing(*g);
      const std::vector<Tensor> args = add_state(*g);
      std::vector<Tensor> lists, taken;
      for (std::size_t k = 0; k < kept.size(); ++k) {
        auto popped =
            tensor_list_pop_back(args[lists_at + k], kept[k].info.shape, kept[k].info.dtype);
        lists.push_back(popped[0]);
        taken.push_back(popped[1]);
      }
      std::vector<Tensor> call;
      for (int r : pair.differentiable_results) {
        const auto i = static_cast<std::size_t>(r);
        std::size_t at = 0;
        for (std::size_t a = 0; a < active.size(); ++a)
          if (active[a] == i) at = a + 1;
        const bool changes = !invariant(*loop.body, i);
        if (at > 0 && changes) {
          call.push_back(args[at]);
        } else {
          // Nothing comes back through it in a turn.
          const ValueInfo& v = info(loop.body->graph->results[i]);
          Tensor like;
          for (std::size_t s = 0; s < stays.size(); ++s)
            if (stays[s] == i) like = args[stays_at + s];
          if (like.defined()) {
            call.push_back(zeros_of(like));
          } else if (v.dtype == variant_dtype()) {
            // No wanted value reaches this list, so its gradient is not read.
            call.push_back(empty_tensor_list(TensorShape(), float32));
          } else {
            RILL_CHECK(v.shape.is_fully_defined(), unimplemented,
                       "[while_loop] the gradient needs the shape of loop value {}, which is {}", i,
                       v.shape);
            call.push_back(zeros(v.shape, v.dtype));
          }
        }
      }
      std::size_t next_taken = 0;
      for (const GradientPair::Source& s : pair.saved) {
        const auto i = static_cast<std::size_t>(s.index);
        if (s.is_input && invariant(*loop.body, i)) {
          for (std::size_t k = 0; k < stays.size(); ++k)
            if (stays[k] == i) call.push_back(args[stays_at + k]);
        } else {
          call.push_back(taken[next_taken++]);
        }
      }
      for (std::size_t k = bound_at; k < args.size(); ++k) call.push_back(args[k]);
      const std::vector<Tensor> flat = call_function(*pair.backward, call);
      std::vector<Gradient> got(n);
      std::size_t next = 0;
      for (std::size_t i = 0; i < n; ++i) {
        using Kind = GradientPair::InputGradient::Kind;
        const auto& ig = pair.inputs[i];
        if (ig.kind == Kind::dense) got[i] = flat[next++];
        if (ig.kind == Kind::sparse) {
          got[i] = IndexedSlices{flat[next], flat[next + 1], ig.dense_shape};
          next += 2;
        }
      }
      g->results.push_back(g->endpoint(args[0] - 1));
      for (std::size_t a = 0; a < active.size(); ++a) {
        const std::size_t i = active[a];
        const Tensor& so_far = args[a + 1];
        Tensor now;
        if (!invariant(*loop.body, i))
          now = dense_or_zeros(got[i], so_far);
        else if (!got[i].defined())
          now = so_far;
        else if (so_far.dtype() == variant_dtype())
          now = tensor_list_add(so_far, got[i].tensor());
        else
          now = so_far + got[i].tensor();
        g->results.push_back(g->endpoint(now));
      }
      for (const Tensor& l : lists) g->results.push_back(g->endpoint(l));
      for (std::size_t k = stays_at; k < args.size(); ++k)
        g->results.push_back(g->endpoint(args[k]));
    }
    RILL_INTERNAL_CHECK(g->captures.empty());
    backward.body = finish_function(std::move(g));
    const std::vector<Tensor> end =
        differentiable_loop(backward, state, recording_tapes_of_thread());
    std::vector<Gradient> out(n);
    for (std::size_t a = 0; a < active.size(); ++a) out[active[a]] = end[a + 1];
    return out;
  };
  tape->record_custom(inputs, {all.data(), n}, back, true);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)};
}

std::vector<Tensor> call_while(std::span<const Tensor> inputs, AttrList attrs) {
  const AttrReader a(while_op, attrs);
  Loop loop;
  GraphFunction &cond = function_of(a.attr("cond").as_function()),
                &body = function_of(a.attr("body").as_function());
  retain(&cond), retain(&body);
  loop.cond = Ref<GraphFunction>(&cond);
  loop.body = Ref<GraphFunction>(&body);
  return differentiable_loop(loop, inputs, recording_tapes_of_thread());
}

Nest run_eagerly(const detail::Fn& cond, const detail::Fn& body, Nest vars, std::int64_t most) {
  for (std::int64_t turn = 0; most < 0 || turn < most; ++turn) {
    if (!static_cast<bool>(cond(vars).as_tensor())) break;
    Nest next = body(vars);
    const std::size_t want = vars.flatten().size(), got = next.flatten().size();
    RILL_CHECK(want == got, invalid_argument,
               "[while_loop] the body returns {} tensors for {} loop variables", got, want);
    vars = vars.with_leaves(next.flatten());
  }
  return vars;
}

}  // namespace

namespace detail {

Nest loop_values(std::initializer_list<Operand> vars) {
  std::vector<Tensor> out;
  for (const Operand& v : vars) {
    if (v.file()) call_context().file = v.file(), call_context().line = v.line();
    out.push_back(to_tensor(v));
  }
  return Nest(std::move(out));
}

Nest while_loop(const Fn& cond, const Fn& body, const Nest& vars, const WhileLoopOptions& o) {
  Graph* outer = TracingScope::current();
  if (!outer) return run_eagerly(cond, body, vars, o.maximum_iterations);
  const std::vector<Tensor> start = vars.flatten();
  const bool counted = o.maximum_iterations >= 0;
  const std::string name = o.name.empty() ? "while" : o.name;
  RILL_CHECK(o.shape_invariants.empty() || o.shape_invariants.size() == start.size(),
             invalid_argument, "[while_loop] {} shape_invariants for {} loop variables",
             o.shape_invariants.size(), start.size());
  // Own arguments of both bodies: the values, and the count of turns if there is a limit.
  auto begin = [&](const char* part, std::vector<Tensor>* args) {
    Ref<Graph> g(new Graph(name + part, outer));
    g->no_variables = outer->no_variables;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const TensorShape& s = o.shape_invariants.empty() ? start[i].shape() : o.shape_invariants[i];
      RILL_CHECK(s.is_compatible_with(start[i].shape()), invalid_argument,
                 "[while_loop] loop variable {} has shape {}, its invariant says {}", i,
                 start[i].shape(), s);
      args->push_back(
          g->tensor({&g->add_argument(format("loop_var_{}", i), start[i].dtype(), s), 0}));
    }
    if (counted)
      args->push_back(g->tensor({&g->add_argument("counter", int32, TensorShape::scalar()), 0}));
    return g;
  };
  std::vector<Tensor> args;
  Ref<Graph> c = begin("_cond", &args);
  {
    TracingScope tracing(*c);
    const Nest values = vars.with_leaves(args);
    Tensor more = cond(values).as_tensor();
    RILL_CHECK(more.dtype() == bool_, invalid_argument,
               "[while_loop] cond returns {}; expected one bool", more.dtype());
    if (counted)
      more = logical_and(reshape(more, {}), args.back() < static_cast<int>(o.maximum_iterations));
    c->results.push_back(c->endpoint(more));
  }
  args.clear();
  Ref<Graph> b = begin("_body", &args);
  {
    TracingScope tracing(*b);
    const Nest next = body(vars.with_leaves(args));
    const std::vector<Tensor> values = next.flatten();
    RILL_CHECK(values.size() == start.size(), invalid_argument,
               "[while_loop] the body returns {} tensors for {} loop variables", values.size(),
               start.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      RILL_CHECK(values[i].defined(), invalid_argument,
                 "[while_loop] the body returns an undefined Tensor for loop variable {}", i);
      RILL_CHECK(values[i].dtype() == start[i].dtype(), invalid_argument,
                 "[while_loop] loop variable {} starts as {} and is {} after a turn; cast one", i,
                 start[i].dtype(), values[i].dtype());
      const TensorShape &was = args[i].shape(), &is = values[i].shape();
      RILL_CHECK(common_shape(was, is) == was, invalid_argument,
                 "[while_loop] loop variable {} has shape {} before a turn and {} after it; give "
                 "the sizes that change as None: {{.shape_invariants = {{...}}}}",
                 i, was, is);
      b->results.push_back(b->endpoint(values[i]));
    }
    if (counted) b->results.push_back(b->endpoint(args.back() + 1));
  }
  const std::size_t own = start.size() + (counted ? 1 : 0);
  std::vector<Ref<Graph>> graphs{std::move(c), std::move(b)};
  // What the body uses from outside stays the same from turn to turn.
  Graph* body_graph = graphs[1].get();
  retain(body_graph);
  Ref<Graph> keep(body_graph);
  std::map<std::uint64_t, char> seen;
  TracedBranches t;
  {
    std::vector<Tensor> outside;
    for (const Ref<Graph>& g : graphs)
      for (const Capture& x : g->captures)
        if (seen.emplace(x.outer.id(), 1).second) outside.push_back(x.outer);
    for (const Tensor& x : outside) {
      // The argument exists before close_over, so that it can be a result.
      const Endpoint e = body_graph->endpoint_of_capture(x);
      body_graph->results.push_back(e);
    }
    t = close_over(std::move(graphs), own);
  }
  std::vector<Tensor> inputs = start;
  if (counted) inputs.push_back(to_tensor(0, int32));
  inputs.insert(inputs.end(), t.inputs.begin(), t.inputs.end());
  const std::vector<Tensor> out =
      differentiable_loop({t.bodies[0], t.bodies[1]}, inputs, recording_tapes_of_thread());
  return vars.with_leaves({out.begin(), out.begin() + static_cast<std::ptrdiff_t>(start.size())});
}

}  // namespace detail
}  // namespace rill
