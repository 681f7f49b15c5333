#pragma once
#include "rill/core/execute.h"
#include "rill/graph/function.h"
#include "rill/keras/layer_impl.h"

// Tensors of keras::Input and what layers and ops make of them: the drawing of a
// functional model. Each tensor keeps the call that made it, and that its inputs; nobody keeps
// them all, so a drawing lives as long as somebody uses it.
namespace rill::keras {

// One call of a layer, or of an op, on symbolic tensors.
class KerasNode {
 public:
  ~KerasNode();
  Ref<LayerImpl> layer;
  Nest inputs;          // leaves: symbolic tensors, or constants. Empty for an Input
  bool masked = false;  // inputs are those of the call and, second, the mask of the first of them
  CallOptions options;
  Nest outputs;  // the structure of the result; its leaves are not used
  std::vector<ValueSpec> specs;
  // Of a user's class, whose object may be gone: its call as graphs, for inference and training.
  std::vector<ConcreteFunction> traced;
  Config config;  // what the object's get_config said at the call
  int index = 0;  // among the calls of its layer
  const std::uint64_t id = next_id();
  RefCount refs;

  bool is_input() const { return inputs.size() == 0; }
  Nest run(const Nest& concrete_inputs, int training) const;

 private:
  static std::uint64_t next_id();
};
inline void retain(KerasNode* n) noexcept { n->refs.retain(); }
inline void release(KerasNode* n) noexcept {
  if (n->refs.release()) delete n;
}

class KerasSymbol : public Symbol {
 public:
  KerasSymbol(Ref<KerasNode> n, int i) : node(std::move(n)), index(i) {}
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

// The result of a node as tensors in the node's structure.
Nest symbolic_outputs(const Ref<KerasNode>& node);
// Adds a call of a layer to the drawing.
Nest call_symbolically(const Layer& layer, const Nest& inputs, CallOptions options);

// The nodes that lead from inputs to outputs, each after those that it uses.
// InvalidArgument when an output needs an Input that is not among the inputs.
std::vector<Ref<KerasNode>> nodes_between(const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outputs);

}  // namespace rill::keras
