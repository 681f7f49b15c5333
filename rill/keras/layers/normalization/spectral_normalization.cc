#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

class SpectralNormalizationLayer : public LayerImpl {
 public:
  SpectralNormalizationLayer(LayerRef layer, const layers::SpectralNormalizationOptions& o)
      : LayerImpl("SpectralNormalization", common(o)),
        layer_(std::move(layer)),
        iterations_(o.power_iterations) {
    RILL_CHECK(layer_.defined(), invalid_argument, "[SpectralNormalization] got no layer");
    RILL_CHECK(iterations_ > 0, invalid_argument,
               "[SpectralNormalization] power_iterations is {}; expected a positive number",
               iterations_);
    LayerObjects::introduce(*layer_);
    track_layer("layer", LayerObjects::impl_of(*layer_));
    if (!o.trainable) set_trainable(false);
  }

  void build(const std::vector<TensorShape>& shapes) override {
    if (!layer_->built()) {
      // As in Keras the weights carry the name of this layer alone.
      const RenamedScope for_now(layer_->impl(), name());
      LayerCalls::build(*layer_, shapes);
    }
    for (const char* wanted : {"kernel", "embeddings"})
      for (const Weight& w : layer_->impl().own)
        if (!kernel_.defined() && w.name == wanted) kernel_ = w.variable;
    RILL_CHECK(kernel_.defined(), invalid_argument,
               "[{}] a {} has no weight named kernel or embeddings; expected a layer that has one, "
               "such as Dense, Conv2D or Embedding",
               name(), layer_->class_name());
    vector_u_ = add_weight(
        "vector_u", {1, kernel_.shape().dim(-1)},
        {.initializer = initializers::TruncatedNormal({.stddev = 0.02}), .trainable = false});
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    if (context.training) normalise();
    return layer_->apply(inputs, {.training = context.training});
  }
  void add_config(Config& c) const override {
    c.set("layer", layers::serialize(*layer_));
    c.set("power_iterations", iterations_);
  }

 private:
  static Tensor unit(const Tensor& x) { return nn::l2_normalize(x); }

  // The power method, from where the last call left it; a kernel of zeros stays as it is.
  void normalise() {
    const Tensor kernel = stop_gradient(kernel_.value());
    const Tensor matrix = reshape(kernel, {-1, kernel.shape().dim(-1)});
    Tensor u = vector_u_.value(), v;
    for (int i = 0; i < iterations_; ++i) {
      v = unit(matmul(u, matrix, {.transpose_b = true}));
      u = unit(matmul(v, matrix));
    }
    const Tensor sigma = reshape(matmul(matmul(v, matrix), u, {.transpose_b = true}), {});
    const Tensor any = reduce_any(not_equal(matrix, zeros_like(matrix)));
    vector_u_.assign(where(any, u, vector_u_.value()));
    kernel_.assign(where(any, kernel / sigma, kernel));
  }

  LayerRef layer_;
  int iterations_;
  Variable kernel_, vector_u_;
};

const RegisterLayer registered_spectral_normalization(
    "SpectralNormalization", [](const Config& c) -> LayerRef {
      auto o = from_common<layers::SpectralNormalizationOptions>(c);
      o.power_iterations = static_cast<int>(c["power_iterations"].as_int());
      return layers::SpectralNormalization(layers::deserialize(c["layer"]), std::move(o));
    });

}  // namespace

layers::SpectralNormalization::SpectralNormalization(LayerRef layer, SpectralNormalizationOptions o)
    : Layer(this, new SpectralNormalizationLayer(std::move(layer), o)) {}

}  // namespace rill::keras
