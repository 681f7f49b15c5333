#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

class IdentityLayer : public LayerImpl {
 public:
  explicit IdentityLayer(const layers::IdentityOptions& o) : LayerImpl("Identity", common(o)) {
    supports_masking = true;
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    std::vector<Tensor> same;
    for (const Tensor& x : inputs.flatten()) same.push_back(identity(x));
    return inputs.is_tensor() ? Nest(same[0]) : inputs.with_leaves(same);
  }
};

const RegisterFields<NoFields<layers::IdentityOptions>, layers::Identity> registered_identity(
    "Identity");

}  // namespace

layers::Identity::Identity() : Identity(IdentityOptions{}) {}
layers::Identity::Identity(IdentityOptions o) : Layer(this, new IdentityLayer(o)) {}

}  // namespace rill::keras
