#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "rill/base/making_turn.h"
#include "rill/eager/tape_impl.h"
#include "rill/graph/ir/graph.h"

namespace rill {

class GraphFunction;
class OpObserver;
class Plan;

// A function and what goes back through it. `forward` gives the results of the
// function and then whatever `backward` needs of the way there.
struct GradientPair {
  Ref<GraphFunction> forward, backward;
  // Which results of `forward` (those of the function, and of what is saved where
  // a tape outside may go back again) have a gradient: arguments of `backward`.
  std::vector<int> differentiable_results;
  // Where the further arguments of `backward` come from: input i of the
  // function, or result i of `forward`.
  struct Source {
    bool is_input;
    int index;
  };
  std::vector<Source> saved;
  // What `backward` returns for each input of the function.
  struct InputGradient {
    enum class Kind { none, dense, sparse } kind = Kind::none;
    TensorShape dense_shape;  // of a sparse one
  };
  std::vector<InputGradient> inputs;
};

// A graph with arguments and results that can be called: the body of a traced
// function, of a branch, of a loop. Immutable once it is made.
class GraphFunction : public FunctionBody {
 public:
  GraphFunction(std::string function_name, Ref<Graph> g);
  ~GraphFunction() override;

  const Ref<Graph> graph;
  // Runs a node that is more than a function of its inputs.
  bool stateful() const { return stateful_; }
  std::size_t num_inputs() const { return graph->args.size(); }
  std::size_t num_results() const { return graph->results.size(); }

  // Runs it on values, at once. Any number of threads may.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  // What goes back to those inputs for which `wanted` is true. Made once. `closed`:
  // also back from what `forward` saves, so that the way back has a way back, to
  // any order.
  const GradientPair& gradient_pair(const std::vector<char>& wanted, bool closed = false);

  // What the passes did, and the plans there are.
  std::string explain() const;
  // How it has run so far, for why_slow.
  struct History {
    int plans_made = 0, plans_found = 0;
    std::shared_ptr<const Plan> plan;  // the last that was used; null: none
  };
  History history() const;

  // The values bound to the last arguments: those of graph->captures.
  std::vector<Tensor> captured_values() const;

 private:
  struct Runner;
  std::vector<Tensor> run_now(std::span<const Tensor> inputs);
  std::vector<Tensor> run_observed(OpObserver& observer, std::span<const Tensor> inputs);
  std::shared_ptr<Plan> find_or_make_plan(std::span<const Tensor> inputs);
  std::shared_ptr<Plan> make_plan(std::span<const Tensor> inputs, Device* scope, int width);
  std::unique_ptr<GradientPair> make_gradient_pair(const std::vector<char>& wanted, bool closed);
  bool stateful_ = false;
  std::unique_ptr<Runner> runner_;
  std::mutex pairs_mutex_;  // guards pairs_
  MakingTurn pairs_turn_;
  std::map<std::vector<char>, std::unique_ptr<GradientPair>> pairs_;
};
inline void retain(GraphFunction* f) noexcept { f->refs.retain(); }
inline void release(GraphFunction* f) noexcept { release(static_cast<FunctionBody*>(f)); }

// The body that an attribute names. InvalidArgument when it is not a graph.
GraphFunction& function_of(const FunctionRef& f);
// Null when it is none (host code).
GraphFunction* graph_function(const FunctionRef& f);
// The functions that a node calls, by its attributes.
std::vector<GraphFunction*> called_functions(const Node& n);
FunctionRef as_attr(const Ref<GraphFunction>& f);

// Makes a function of a finished trace: prunes it and freezes it.
Ref<GraphFunction> finish_function(Ref<Graph> graph);
// "__inference_step_12": unlike any other name of this process.
std::string unique_function_name(std::string_view name);

// Calls it where the thread stands: at once, or as a node of the graph that is
// being traced; tapes that watch an input record how to go back.
std::vector<Tensor> call_function(GraphFunction& f, std::span<const Tensor> inputs);

// Which inputs a tape of this thread wants to go back to; empty: no tape does.
std::vector<char> watched_inputs(std::span<const Tensor> inputs);

// Calls an op of control flow (a call, If, While, Case) so that tapes can go back
// through it. Ops of other kinds go through the seam.
std::vector<Tensor> call_op(const Op& op, std::span<const Tensor> inputs, AttrList attrs,
                            int num_outputs);

bool is_differentiable(DType d);

// Off: functions run node by node, as eager execution would.
bool planning_enabled();
void enable_planning(bool on);

// Copies the nodes of `from` into the graph that is being traced, with `inputs`
// in the place of its arguments, and returns what its results have become.
std::vector<Tensor> replay(const Graph& from, std::span<const Tensor> inputs);

}  // namespace rill
