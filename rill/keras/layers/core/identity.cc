#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
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

const RegisterLayer registered_identity("Identity", [](const Config& c) -> LayerRef {
  return layers::Identity(from_common<layers::IdentityOptions>(c));
});

}  // namespace

layers::Identity::Identity() : Identity(IdentityOptions{}) {}
layers::Identity::Identity(IdentityOptions o) : Layer(this, new IdentityLayer(o)) {}

}  // namespace rill::keras
