// Branches: cond, case_ and switch_case, and the ops If and Case.
#include "rill/base/check.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/function/branching.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/state_ops.h"

namespace rill {

std::vector<DType> dtypes_of(std::span<const Tensor> tensors) {
  std::vector<DType> out;
  for (const Tensor& t : tensors) out.push_back(t.dtype());
  return out;
}
std::vector<DType> result_dtypes(const GraphFunction& f) {
  std::vector<DType> out;
  for (Endpoint e : f.graph->results) out.push_back(info(e).dtype);
  return out;
}

TracedBranches close_over(std::vector<Ref<Graph>> graphs, std::size_t own_args) {
  TracedBranches out;
  std::map<std::uint64_t, std::size_t> place;  // tensor id -> index into inputs
  for (const Ref<Graph>& g : graphs)
    for (const Capture& c : g->captures)
      if (place.emplace(c.outer.id(), out.inputs.size()).second) out.inputs.push_back(c.outer);
  for (Ref<Graph>& g : graphs) {
    std::vector<Node*> args(g->args.begin(),
                            g->args.begin() + static_cast<std::ptrdiff_t>(own_args));
    args.resize(own_args + out.inputs.size());
    for (const Capture& c : g->captures) args[own_args + place[c.outer.id()]] = c.arg;
    g->captures.clear();
    for (std::size_t i = 0; i < out.inputs.size(); ++i) {
      if (args[own_args + i]) continue;
      Node& unused = g->add_argument("unused", out.inputs[i].dtype(), out.inputs[i].shape());
      unused.handle = out.inputs[i].impl()->resource;
      args[own_args + i] = &unused;
    }
    g->args = std::move(args);
    out.bodies.push_back(finish_function(std::move(g)));
  }
  return out;
}

Tensor zeros_of(const Tensor& t) {
  if (t.dtype() == variant_dtype()) return tensor_list_zeros_like(t);
  if (t.dtype() == resource_dtype()) {
    const TensorShape s = value_shape(t);
    return s.is_fully_defined() ? zeros(s, variable_cell(t).dtype) : zeros_like(read_variable(t));
  }
  return zeros_like(t);
}
Tensor dense_or_zeros(const Gradient& g, const Tensor& of) {
  return g.defined() ? g.tensor() : zeros_of(of);
}

std::vector<Ref<TapeImpl>> recording_tapes_of_thread() {
  std::vector<Ref<TapeImpl>> out;
  if (!call_context().recorder) return out;
  for (const Ref<TapeImpl>& t : TapeStack::of_thread().tapes())
    if (t->paused == 0 && !t->used && !t->abandoned.load(std::memory_order_acquire))
      out.push_back(t);
  return out;
}

bool must_close() {
  return call_context().closes_gradients || recording_tapes_of_thread().size() > 1;
}
void record_on_tapes(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomGradFn& back) {
  for (const Ref<TapeImpl>& t : recording_tapes_of_thread())
    t->record_custom(inputs, outputs, back, true);
}

namespace {

// ---- the ops

std::vector<Ref<GraphFunction>> bodies_of(const AttrReader& a) {
  std::vector<Ref<GraphFunction>> out;
  auto take = [&](const FunctionRef& f) {
    GraphFunction& body = function_of(f);
    retain(&body);
    out.emplace_back(&body);
  };
  if (const AttrValue* list = a.find_attr("branches")) {
    for (const FunctionRef& f : list->as_functions()) take(f);
  } else {  // in the order of a branch index: 0 is false
    take(a.attr("else_branch").as_function());
    take(a.attr("then_branch").as_function());
  }
  return out;
}

void branches_shape(ShapeContext& c) {
  const auto bodies = bodies_of(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    TensorShape s = info(bodies[0]->graph->results[static_cast<std::size_t>(i)]).shape;
    for (const auto& b : bodies)
      s = common_shape(s, info(b->graph->results[static_cast<std::size_t>(i)]).shape);
    c.set_output(i, s);
  }
}

// Which branch: for If as Python sees the truth of a tensor.
std::size_t chosen(const Tensor& which, std::size_t n, bool is_if) {
  if (is_if) {
    if (which.size() == 1) return static_cast<bool>(which);
    return which.size() > 0;
  }
  const std::int64_t i = which.item<std::int64_t>();
  return i < 0 || static_cast<std::size_t>(i) >= n ? n - 1 : static_cast<std::size_t>(i);
}
void branches_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                      std::span<Tensor> out) {
  const auto bodies = bodies_of(a);
  std::vector<Tensor> inputs;
  for (std::size_t i = 1; i < in.size(); ++i) inputs.push_back(*in[i]);
  const std::size_t k = chosen(*in[0], bodies.size(), a.op().inputs[0].name == "cond");
  std::vector<Tensor> results = bodies[k]->run(inputs);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::move(results[i]);
}

std::vector<Tensor> call_if(std::span<const Tensor> inputs, AttrList attrs);
std::vector<Tensor> call_case(std::span<const Tensor> inputs, AttrList attrs);

OpBuilder if_schema(const char* name) {
  OpBuilder b(name, "cond");
  b.attr("Tin: list(type)")
      .attr("Tout: list(type)")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []")
      .input("cond: Tcond")
      .input("input: Tin")
      .output("output: Tout")
      .doc("Calls one of two functions.")
      .shape(branches_shape)
      .calls(Calls::branch)
      .taped_call(call_if)
      .forward(branches_forward);
  return b;
}
OpBuilder case_schema(const char* name) {
  OpBuilder b(name, "switch_case");
  b.attr("Tin: list(type)")
      .attr("Tout: list(type)")
      .attr("branches: list(func)")
      .attr("output_shapes: list(shape) = []")
      .input("branch_index: int32")
      .input("input: Tin")
      .output("output: Tout")
      .doc("Calls one of several functions.")
      .shape(branches_shape)
      .calls(Calls::branch)
      .taped_call(call_case)
      .forward(branches_forward);
  return b;
}
const Op& if_op = if_schema("If").stateful().define();
const Op& stateless_if_op = if_schema("StatelessIf").define();
const Op& case_op = case_schema("Case").stateful().define();
const Op& stateless_case_op = case_schema("StatelessCase").define();

// ---- making the nodes

struct Branches {
  bool is_if;
  std::vector<Ref<GraphFunction>> bodies;  // by branch index
};

std::vector<Tensor> emit(const Branches& b, std::span<const Tensor> inputs) {
  bool stateful = false;
  for (const auto& f : b.bodies) stateful = stateful || f->stateful();
  const Op& op =
      b.is_if ? (stateful ? if_op : stateless_if_op) : (stateful ? case_op : stateless_case_op);
  const std::vector<DType> in_types = dtypes_of(inputs.subspan(1)),
                           out_types = result_dtypes(*b.bodies[0]);
  std::vector<FunctionRef> refs;
  for (const auto& f : b.bodies) refs.push_back(as_attr(f));
  AttrStorage attrs;
  if (b.is_if) {
    attrs.add("then_branch", refs[1]);
    attrs.add("else_branch", refs[0]);
  } else {
    attrs.add("branches", std::span<const FunctionRef>(refs));
  }
  attrs.add("Tin", std::span<const DType>(in_types));
  attrs.add("Tout", std::span<const DType>(out_types));
  const std::vector<In> in(inputs.begin(), inputs.end());
  return execute_all(op, in, attrs.list(), static_cast<int>(out_types.size()));
}

// A stand-in for a value that only another branch has.
Tensor stand_in(const ValueInfo& v) {
  if (v.dtype == variant_dtype()) return empty_tensor_list(TensorShape(), float32);
  if (v.dtype == string) return fill({0}, to_tensor("", string));
  return zeros({0}, v.dtype);
}

// Calls the branches so that tapes can go back: each also gives what its way back
// needs, and stand-ins for what the others' do.
std::vector<Tensor> differentiable_branches(const Branches& b, std::span<const Tensor> inputs) {
  const std::vector<char> wanted = watched_inputs(inputs.subspan(1));
  if (wanted.empty()) return emit(b, inputs);
  const bool closed = must_close();
  struct Side {
    const GradientPair* pair;
    std::size_t extra;  // results of forward beyond those of the branch
    std::size_t first;  // where they are among the outputs of the new branches
  };
  std::vector<Side> sides;
  const std::size_t n = b.bodies[0]->num_results();
  std::size_t total = n;
  for (const auto& f : b.bodies) {
    const GradientPair& p = f->gradient_pair(wanted, closed);
    sides.push_back({&p, p.forward->num_results() - n, total});
    total += sides.back().extra;
  }
  Branches forward{b.is_if, {}};
  for (std::size_t k = 0; k < b.bodies.size(); ++k) {
    GraphFunction& body = *sides[k].pair->forward;
    Ref<Graph> g(new Graph(b.bodies[k]->graph->name + "_branch"));
    {
      TracingScope tracing(*g);
      std::vector<Tensor> args;
      for (const Node* a : body.graph->args) {
        Node& arg = g->add_argument(a->name, a->outputs[0].dtype, a->outputs[0].shape);
        arg.handle = a->handle;
        args.push_back(g->tensor({&arg, 0}));
      }
      const std::vector<Tensor> out = call_function(body, args);
      for (std::size_t i = 0; i < n; ++i) g->results.push_back(g->endpoint(out[i]));
      for (std::size_t j = 0; j < sides.size(); ++j) {
        const Graph& other = *sides[j].pair->forward->graph;
        for (std::size_t i = 0; i < sides[j].extra; ++i)
          g->results.push_back(
              g->endpoint(j == k ? out[n + i] : stand_in(info(other.results[n + i]))));
      }
    }
    forward.bodies.push_back(finish_function(std::move(g)));
  }
  const std::vector<Tensor> all = emit(forward, inputs);
  std::vector<Tensor> outputs = all;
  if (!closed) outputs.resize(n);
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  auto back = [b, sides, all, given, wanted, n](const std::vector<Gradient>& dy) {
    // Inputs of the way back: gradients of the outputs, all that was saved, the inputs.
    std::vector<Tensor> in{given[0]};
    std::vector<int> dy_at(all.size(), -1);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      if (!dy[i].defined() && i >= n) continue;
      if (!is_differentiable(all[i].dtype())) continue;
      dy_at[i] = static_cast<int>(in.size()) - 1;
      in.push_back(dense_or_zeros(dy[i], all[i]));
    }
    const std::size_t outputs_at = in.size() - 1;
    for (const Tensor& t : all) in.push_back(t);
    const std::size_t inputs_at = in.size() - 1;
    for (std::size_t i = 1; i < given.size(); ++i) in.push_back(given[i]);

    std::vector<char> reached(wanted.size(), 0);
    for (const Side& s : sides)
      for (std::size_t i = 0; i < wanted.size(); ++i)
        reached[i] |= s.pair->inputs[i].kind != GradientPair::InputGradient::Kind::none;
    Branches backward{b.is_if, {}};
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const GradientPair& pair = *sides[k].pair;
      Ref<Graph> g(new Graph(b.bodies[k]->graph->name + "_branch_back"));
      {
        TracingScope tracing(*g);
        std::vector<Tensor> args;
        for (std::size_t i = 1; i < in.size(); ++i) {
          TensorShape s = in[i].shape();
          // This branch knows what its own values look like.
          const std::size_t mine = outputs_at + sides[k].first;
          if (i - 1 >= mine && i - 1 < mine + sides[k].extra)
            s = info(pair.forward->graph->results[n + (i - 1 - mine)]).shape;
          Node& arg = g->add_argument("arg", in[i].dtype(), s);
          arg.handle = in[i].dtype() == resource_dtype() ? in[i].impl()->resource : Ref<Resource>();
          args.push_back(g->tensor({&arg, 0}));
        }
        auto output_of_forward = [&](int r) {  // as an argument of this branch
          const auto i = static_cast<std::size_t>(r);
          return args[outputs_at + (i < n ? i : sides[k].first + (i - n))];
        };
        std::vector<Tensor> call;
        for (int r : pair.differentiable_results) {
          const auto i = static_cast<std::size_t>(r);
          const std::size_t at = i < n ? i : sides[k].first + (i - n);
          if (dy_at[at] >= 0)
            call.push_back(args[static_cast<std::size_t>(dy_at[at])]);
          else
            call.push_back(zeros_of(output_of_forward(r)));
        }
        for (const GradientPair::Source& s : pair.saved) {
          const auto i = static_cast<std::size_t>(s.index);
          if (s.is_input)
            call.push_back(args[inputs_at + i]);
          else
            call.push_back(output_of_forward(s.index));
        }
        for (Tensor& t : pair.backward->captured_values()) call.push_back(std::move(t));
        const std::vector<Tensor> flat = call_function(*pair.backward, call);
        std::size_t next = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          using Kind = GradientPair::InputGradient::Kind;
          const auto& ig = pair.inputs[i];
          Gradient got;
          if (ig.kind == Kind::dense) got = flat[next++];
          if (ig.kind == Kind::sparse) {
            got = IndexedSlices{flat[next], flat[next + 1], ig.dense_shape};
            next += 2;
          }
          if (reached[i])
            g->results.push_back(g->endpoint(dense_or_zeros(got, args[inputs_at + i])));
        }
      }
      TracedBranches t = close_over({std::move(g)}, in.size() - 1);
      RILL_INTERNAL_CHECK(t.inputs.empty());
      backward.bodies.push_back(std::move(t.bodies[0]));
    }
    bool any = false;
    for (char r : reached) any = any || r;
    std::vector<Gradient> out(given.size());
    if (!any) return out;
    const std::vector<Tensor> flat = differentiable_branches(backward, in);
    std::size_t next = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (reached[i]) out[i + 1] = flat[next++];
    return out;
  };
  record_on_tapes(inputs, outputs, back);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)};
}

std::vector<Tensor> call_by_attrs(bool is_if, std::span<const Tensor> inputs, AttrList attrs) {
  return differentiable_branches({is_if, bodies_of(AttrReader(is_if ? if_op : case_op, attrs))},
                                 inputs);
}
std::vector<Tensor> call_if(std::span<const Tensor> inputs, AttrList attrs) {
  return call_by_attrs(true, inputs, attrs);
}
std::vector<Tensor> call_case(std::span<const Tensor> inputs, AttrList attrs) {
  return call_by_attrs(false, inputs, attrs);
}

// ---- tracing branches

Nest trace_branches(const Tensor& which, const std::vector<detail::Fn>& fns, bool is_if,
                    const char* tag) {
  Graph* outer = TracingScope::current();
  std::vector<Ref<Graph>> graphs;
  std::vector<Nest> results;
  for (std::size_t k = 0; k < fns.size(); ++k) {
    const std::string name =
        is_if ? format("{}_{}", tag, k ? "true" : "false") : format("{}_branch{}", tag, k);
    Ref<Graph> g(new Graph(name, outer));
    g->no_variables = outer->no_variables;
    TracingScope tracing(*g);
    results.push_back(fns[k](Nest()));
    for (const Tensor& t : results.back().flatten()) {
      RILL_CHECK(t.defined(), invalid_argument,
                 "[{}] branch {} returns an undefined Tensor; every branch must return the same "
                 "tensors",
                 tag, k);
      g->results.push_back(g->endpoint(t));
    }
    graphs.push_back(std::move(g));
  }
  for (std::size_t k = 1; k < fns.size(); ++k) {
    RILL_CHECK(results[0].same_structure(results[k]), invalid_argument,
               "[{}] branches return different structures: {} and {}", tag, results[0].to_string(),
               results[k].to_string());
    for (std::size_t i = 0; i < graphs[0]->results.size(); ++i) {
      const ValueInfo &a = info(graphs[0]->results[i]), &b = info(graphs[k]->results[i]);
      RILL_CHECK(a.dtype == b.dtype, invalid_argument,
                 "[{}] result {} is {} in one branch and {} in another; cast one of them", tag, i,
                 a.dtype, b.dtype);
    }
  }
  TracedBranches t = close_over(std::move(graphs), 0);
  std::vector<Tensor> inputs{which};
  inputs.insert(inputs.end(), t.inputs.begin(), t.inputs.end());
  const std::vector<Tensor> out = differentiable_branches({is_if, std::move(t.bodies)}, inputs);
  return results[0].with_leaves(out);
}

}  // namespace

namespace detail {

Nest cond(const Operand& pred, const Fn& true_fn, const Fn& false_fn) {
  const Arg p(pred, pred.is_literal() ? bool_ : DType());
  RILL_CHECK(p->dtype() == bool_, invalid_argument,
             "[cond] pred is {}; expected bool: write a comparison, or tf::cast(pred, tf::bool_)",
             p->dtype());
  RILL_CHECK(
      !p->shape().has_rank() || p->shape().num_elements() == 1 || p->shape().num_elements() < 0,
      invalid_argument, "[cond] pred has shape {}; expected one bool", p->shape());
  if (!p->is_symbolic()) return static_cast<bool>(*p) ? true_fn(Nest()) : false_fn(Nest());
  return trace_branches(*p, {false_fn, true_fn}, true, "cond");
}

Nest branches(const Operand& index, const std::vector<Fn>& fns, const char* tag) {
  RILL_CHECK(!fns.empty(), invalid_argument, "[{}] needs at least one branch", tag);
  const Arg i(index, index.is_literal() ? int32 : DType());
  RILL_CHECK(i->dtype().is_integer(), invalid_argument, "[{}] branch_index is {}; expected int32",
             tag, i->dtype());
  if (!i->is_symbolic()) return fns[chosen(*i, fns.size(), false)](Nest());
  return trace_branches(i->dtype() == int32 ? *i : cast(*i, int32), fns, false, tag);
}

Nest first_true(const std::vector<Tensor>& preds, const std::vector<Fn>& fns, bool exclusive) {
  std::vector<Tensor> bools;
  for (const Tensor& p : preds) {
    RILL_CHECK(p.dtype() == bool_, invalid_argument, "[case_] a predicate is {}; expected bool",
               p.dtype());
    bools.push_back(reshape(p, {}));
  }
  const Tensor all = stack(bools);
  if (exclusive && !all.is_symbolic())
    RILL_CHECK(reduce_sum(rill::cast(all, int32)).item<int>() <= 1, invalid_argument,
               "[case_] exclusive is set and more than one predicate is true: {}", all.to_string());
  // The first true one; where there is none, the last branch.
  const Tensor any = reduce_any(all);
  const Tensor index = where(any, rill::cast(argmax(rill::cast(all, int32)), int32),
                             static_cast<int>(fns.size()) - 1);
  return branches(index, fns, "case_");
}

}  // namespace detail

CaseBranch::CaseBranch(const Operand& p, Branch f)
    : pred(to_tensor(p, p.is_literal() ? bool_ : DType())), fn(std::move(f)) {}

namespace {
Nest run_case(const std::vector<CaseBranch>& pairs, const Branch* last, bool exclusive) {
  std::vector<Tensor> preds;
  std::vector<detail::Fn> fns;
  for (const CaseBranch& c : pairs) preds.push_back(c.pred), fns.push_back(c.fn.fn);
  RILL_CHECK(!pairs.empty(), invalid_argument, "[case_] needs at least one branch");
  if (last) fns.push_back(last->fn);
  return detail::first_true(preds, fns, exclusive);
}
}  // namespace
Nest case_(const std::vector<CaseBranch>& pairs, const Branch& default_fn, bool exclusive) {
  return run_case(pairs, &default_fn, exclusive);
}
Nest case_(const std::vector<CaseBranch>& pairs, bool exclusive) {
  return run_case(pairs, nullptr, exclusive);
}
Nest switch_case(const Operand& branch_index, const std::vector<Branch>& fns,
                 const Branch& default_fn) {
  std::vector<detail::Fn> all;
  for (const Branch& b : fns) all.push_back(b.fn);
  all.push_back(default_fn.fn);
  return detail::branches(branch_index, all, "switch_case");
}
Nest switch_case(const Operand& branch_index, const std::vector<Branch>& fns) {
  std::vector<detail::Fn> all;
  for (const Branch& b : fns) all.push_back(b.fn);
  return detail::branches(branch_index, all, "switch_case");
}

}  // namespace rill
