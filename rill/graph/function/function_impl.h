#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "rill/base/making_turn.h"
#include "rill/graph/function/function.h"
#include "rill/graph/function/graph_function.h"

namespace rill {

// The key of a trace: what the arguments are, except for the values of tensors.
struct CallSignature {
  struct Item {
    detail::Argument::Kind kind;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;
    Nest structure;                 // of a nest
    std::vector<TensorSpec> specs;  // of its tensors
  };
  std::vector<Item> items;
};

class ConcreteFunctionImpl {
 public:
  CallSignature signature;
  Ref<GraphFunction> body;
  Nest structure;                 // of the results
  std::vector<int> result_index;  // per leaf: index into the body's results; -1: none
  std::vector<Tensor> captured;   // values of the last arguments
  std::size_t tensor_args = 0;
  // The graph whose symbolic tensors it uses: it serves calls from there alone. Null: none.
  const Graph* inside = nullptr;
  RefCount refs;

  // Runs it on the tensors of a call.
  std::vector<Tensor> call(std::span<const Tensor> tensors) const;
  Nest pack(const std::vector<Tensor>& results) const;
};

// When a function is traced again, and with which sizes.
struct TracePolicy {
  bool any_batch_size = false;   // the size of the first axis is unknown in every trace
  std::size_t shapes_apart = 1;  // traces that differ in sizes alone, until those become unknown
  // Many functions are made with the same lambda; traces that only a plain value tells apart
  // would pile up without end.
  std::size_t most_traces = 64;
  bool later_variables = false;  // traces after the first may make variables, too
};

class FunctionImpl {
 public:
  FunctionImpl(detail::Traceable* callable, FunctionOptions o);
  // The trace that serves these arguments. One is made where there is none: by one thread at
  // a time, for user code need not be safe to run in two, while others go on with the traces
  // that there are. Threads that miss the same trace get the one that the first makes; where
  // it throws, the next tries.
  Ref<ConcreteFunctionImpl> find_or_trace(const detail::Argument* args, std::size_t n);
  // The same for exactly these specs of tensor arguments.
  Ref<ConcreteFunctionImpl> find_or_trace(const std::vector<TensorSpec>& specs);

  Nest call_eagerly(const detail::Argument* args) { return callable_->call(args); }

  const std::string name;
  const FunctionOptions options;
  TracePolicy policy;  // set before the first call
  RefCount refs;

  mutable std::mutex mutex;                       // guards the next three
  std::vector<Ref<ConcreteFunctionImpl>> traces;  // most recently used first
  int trace_count = 0;
  std::string why_retraced;

 private:
  CallSignature signature_to_trace(const detail::Argument* args, std::size_t n);
  Ref<ConcreteFunctionImpl> add_trace(std::unique_lock<std::mutex>& lock, CallSignature signature,
                                      const std::string& why);
  Ref<ConcreteFunctionImpl> trace(CallSignature signature, std::string_view why);
  Ref<ConcreteFunctionImpl> trace_now(CallSignature signature);
  std::unique_ptr<detail::Traceable> callable_;
  MakingTurn turn_;
  bool variables_made_ = false;  // belongs to the thread that has the turn
};

}  // namespace rill
