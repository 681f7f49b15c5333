// Where a layer is in a drawn model: its inputs and outputs there.
#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/symbolic_impl.h"

namespace rill::keras {

namespace {

// Its calls on symbolic tensors. Those of a stack are drawn when somebody asks.
const std::vector<KerasNode*>& calls_of(LayerImpl& l) {
  if (l.inbound.empty())
    for (LayerImpl* s : std::vector<LayerImpl*>(l.stacks)) s->inputs();
  return l.inbound;
}
std::vector<Tensor> outputs_of(const KerasNode& n) {
  retain(const_cast<KerasNode*>(&n));
  return symbolic_outputs(Ref<KerasNode>(const_cast<KerasNode*>(&n))).flatten();
}
std::vector<Tensor> inputs_of(const KerasNode& n) {
  return n.is_input() ? outputs_of(n) : n.inputs.flatten();
}
Tensor only(const Layer& layer, const char* what, const std::vector<Tensor>& ends) {
  RILL_CHECK(!ends.empty(), failed_precondition,
             "[{}] {}: the layer has not been called on a tensor of keras::Input, or what the call "
             "gave is gone, and it is in no Sequential model that knows its input",
             layer.name(), what);
  RILL_CHECK(ends.size() == 1, failed_precondition,
             "[{}] {}: there are {} of them. Use {}s(), which gives them all", layer.name(), what,
             ends.size(), what);
  return ends[0];
}
// The shape at every call, where that is one.
TensorShape same_shape(const Layer& layer, const char* what,
                       std::vector<Tensor> (*of)(const KerasNode&), const Tensor& first) {
  for (const KerasNode* n : layer.impl().inbound)
    RILL_CHECK(
        of(*n)[0].shape() == first.shape(), failed_precondition,
        "[{}] {}_shape: the layer has been called on symbolic tensors {} times, with shapes {} "
        "and {}, so it has no one {}_shape",
        layer.name(), what, layer.impl().inbound.size(), first.shape(), of(*n)[0].shape(), what);
  return first.shape();
}

}  // namespace

std::vector<Tensor> Layer::inputs() const {
  if (std::vector<Tensor> own = impl_->inputs(); !own.empty()) return own;
  const std::vector<KerasNode*>& calls = calls_of(*impl_);
  return calls.empty() ? std::vector<Tensor>() : inputs_of(*calls[0]);
}
std::vector<Tensor> Layer::outputs() const {
  if (std::vector<Tensor> own = impl_->outputs(); !own.empty()) return own;
  const std::vector<KerasNode*>& calls = calls_of(*impl_);
  return calls.empty() ? std::vector<Tensor>() : outputs_of(*calls[0]);
}
namespace {

Nest one_or_all(std::vector<Tensor> all) {
  return all.size() == 1 ? Nest(all[0]) : Nest(std::move(all));
}
// What the call of that number took or gave. `own`: of a model, what it was made of.
std::vector<Tensor> at_call(const Layer& layer, int index, const char* what,
                            std::vector<Tensor> own, std::vector<Tensor> (*of)(const KerasNode&)) {
  const std::vector<KerasNode*>& calls = calls_of(layer.impl());
  const int count = static_cast<int>(calls.size()) + (own.empty() ? 0 : 1);
  RILL_CHECK(index >= 0 && index < count, failed_precondition,
             "[{}] {}: asked for call {}, but the layer has {} on tensors of keras::Input",
             layer.name(), what, index, count);
  if (!own.empty() && index == 0) return own;
  return of(*calls[static_cast<std::size_t>(own.empty() ? index : index - 1)]);
}

}  // namespace

Nest Layer::get_input_at(int node_index) const {
  return one_or_all(at_call(*this, node_index, "get_input_at", impl_->inputs(), inputs_of));
}
Nest Layer::get_output_at(int node_index) const {
  return one_or_all(at_call(*this, node_index, "get_output_at", impl_->outputs(), outputs_of));
}
TensorShape Layer::get_input_shape_at(int node_index) const {
  return at_call(*this, node_index, "get_input_shape_at", impl_->inputs(), inputs_of).at(0).shape();
}
TensorShape Layer::get_output_shape_at(int node_index) const {
  return at_call(*this, node_index, "get_output_shape_at", impl_->outputs(), outputs_of)
      .at(0)
      .shape();
}
Tensor Layer::input() const { return only(*this, "input", inputs()); }
Tensor Layer::output() const { return only(*this, "output", outputs()); }
TensorShape Layer::input_shape() const {
  if (!impl_->inputs().empty()) return input().shape();
  if (calls_of(*impl_).empty() && impl_->built_for.size() == 1) return impl_->built_for[0];
  return same_shape(*this, "input", inputs_of, input());
}
TensorShape Layer::output_shape() const {
  if (!impl_->outputs().empty()) return output().shape();
  if (calls_of(*impl_).empty() && impl_->last_output_shape.has_rank())
    return impl_->last_output_shape;
  return same_shape(*this, "output", outputs_of, output());
}

}  // namespace rill::keras
