#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "rill/graph/function.h"
#include "rill/graph/graph_function.h"

namespace rill {

// The key of a trace: what the arguments are, but for the values of tensors.
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

class FunctionImpl {
 public:
  FunctionImpl(detail::Traceable* callable, FunctionOptions o);
  Ref<ConcreteFunctionImpl> find_or_trace(const detail::Argument* args, std::size_t n);
  // `why`: what made a further trace necessary, for observers.
  Ref<ConcreteFunctionImpl> trace(CallSignature signature, std::string_view why = {});

  const std::string name;
  const FunctionOptions options;
  RefCount refs;

  mutable std::recursive_mutex mutex;
  std::vector<Ref<ConcreteFunctionImpl>> traces;  // most recently used first
  int trace_count = 0;
  std::string why_retraced;

 private:
  Ref<ConcreteFunctionImpl> trace_now(CallSignature signature);
  std::unique_ptr<detail::Traceable> callable_;
  bool variables_made_ = false;
};

}  // namespace rill
