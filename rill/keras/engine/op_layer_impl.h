#pragma once
#include "rill/core/op.h"
#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

// The name under which Keras 2 knows an op: "math.multiply" of Mul, "__operators__.add" of AddV2.
// saving/op_forms.cc has the table.
std::string function_name(const Op& op);

// An op that was called on a symbolic tensor, as a layer: "tf.math.multiply".
class OpLayer : public LayerImpl {
 public:
  OpLayer(const Op& op, AttrList attrs, int num_outputs);
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  void add_config(Config& config) const override;
  const Op& op() const { return op_; }
  const AttrStorage& attrs() const { return attrs_; }

 private:
  const Op& op_;
  AttrStorage attrs_;
  int num_outputs_;
};

}  // namespace rill::keras
