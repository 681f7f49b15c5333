#pragma once
#include <functional>

#include "rill/core/execute.h"
#include "rill/graph/function/function.h"
#include "rill/keras/engine/layer_impl.h"

// Tensors of keras::Input and what layers and ops make of them: the drawing of a
// functional model. Each tensor keeps the call that made it, and that its inputs; nobody keeps
// them all, so a drawing lives as long as somebody uses it.
namespace rill::keras {

// A call of a layer as a graph, for one mode, one choice of masks and one of what trains. Its
// arguments are the symbolic tensors of the call, then their masks; its results those of the call,
// then their masks, then the losses and metrics that were added.
struct TracedCall {
  bool training = false;
  std::vector<bool> with_mask;                          // of each argument
  std::vector<std::pair<Ref<LayerImpl>, bool>> trains;  // what the call asked, and the answer
  std::vector<bool> masked;                             // of each result
  struct Added {
    Ref<LayerImpl> to;
    bool is_metric = false;
    std::string metric_name;
  };
  std::vector<Added> added;
  ConcreteFunction function;
};

// One call of a layer, or of an op, on symbolic tensors.
class KerasNode {
 public:
  ~KerasNode();
  Ref<LayerImpl> layer;
  Nest inputs;  // leaves: symbolic tensors, or constants. Empty for an Input
  CallOptions options;
  Nest outputs;  // the structure of the result; its leaves are not used
  std::vector<ValueSpec> specs;
  LayerRef object;  // of a user-defined class, kept for the call
  // Where the object cannot be kept: its call as graphs, for when it is gone.
  std::vector<TracedCall> traced;
  Config config;  // and what its get_config said
  int index = 0;  // among the calls of its layer
  const std::uint64_t id = next_id();
  RefCount refs;

  bool is_input() const { return inputs.size() == 0; }
  // All that the call takes: the inputs, then the masks and states among the options.
  std::vector<Tensor> leaves() const;
  // The call on other values for these.
  Nest run(const std::vector<Tensor>& values, int training) const;
  // The same call once more, on other symbolic tensors: `replace` puts them in their places.
  Ref<KerasNode> called_again(const std::function<void(Tensor&)>& replace) const;
  Tensor output(int index);  // one result, as a symbolic tensor
  // Among its values, composites counted as one, that which has this result.
  int value_of(int index) const;

 private:
  bool object_is_gone() const;
  const TracedCall& traced_for(bool training, const std::vector<bool>& with_mask) const;
  Nest run_traced(const std::vector<Tensor>& values, int training) const;
  static std::uint64_t next_id();
};
inline void retain(KerasNode* n) noexcept { n->refs.retain(); }
inline void release(KerasNode* n) noexcept {
  if (n->refs.release()) delete n;
}

class KerasSymbol : public Symbol {
 public:
  KerasSymbol(Ref<KerasNode> n, int i);
  TensorShape known_sizes() const override;
  Executor* own_executor() const override;
  std::string name() const override;
  std::string describe() const override;
  const Ref<KerasNode> node;
  const int index;
};
// The symbol of a tensor of a drawing; null for any other tensor.
const KerasSymbol* keras_symbol(const Tensor& t);
bool any_symbolic(const std::vector<Tensor>& leaves);

// The tensors of a nest, and its composites, each as one.
std::vector<Nest> values_of(const Nest& nest);
TensorShape shape_of(const Nest& value);  // of a composite, that of the whole
// What is known of the tensors of a graph; `structure` becomes that of the nest over placeholders.
std::vector<ValueSpec> specs_of(const Nest& values, Nest* structure);
// A list of sizes, of which these are known.
Tensor with_sizes(const Tensor& sizes, const TensorShape& known);

// Whether the second tensor follows the first (which may be null) in one composite.
bool is_more_of(const KerasSymbol* first, const KerasSymbol& second);

// The result of a node as tensors in the node's structure.
Nest symbolic_outputs(const Ref<KerasNode>& node);
// Adds a call of a layer to the drawing.
Nest call_symbolically(const Layer& layer, const Nest& inputs, CallOptions options);

// The nodes that lead from inputs to outputs, each after those that it uses.
// InvalidArgument when an output needs an Input that is not among the inputs.
std::vector<Ref<KerasNode>> nodes_between(const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outputs);

}  // namespace rill::keras
