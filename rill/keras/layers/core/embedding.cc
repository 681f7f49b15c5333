#include "rill/base/check.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

class EmbeddingLayer : public LayerImpl {
 public:
  explicit EmbeddingLayer(layers::EmbeddingOptions o)
      : LayerImpl("Embedding", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.input_dim > 0 && o_.output_dim > 0, invalid_argument,
               "[Embedding] input_dim is {} and output_dim is {}; expected positive numbers: of "
               "rows, and of numbers in a row",
               o_.input_dim, o_.output_dim);
    activity_regularizer = o_.activity_regularizer;
    autocast = false;
    if (!batch_input_shape.has_rank())
      batch_input_shape =
          TensorShape(std::vector<std::int64_t>{-1, o_.input_length > 0 ? o_.input_length : -1});
  }

  void build(const std::vector<TensorShape>&) override {
    embeddings_ = add_weight("embeddings", {o_.input_dim, o_.output_dim},
                             {.initializer = o_.embeddings_initializer,
                              .regularizer = o_.embeddings_regularizer,
                              .constraint = o_.embeddings_constraint});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    if (o_.input_length > 0 && x.shape().has_rank() && x.ndim() > 1) {
      const std::int64_t length = x.shape().dim(1);
      RILL_CHECK(length < 0 || length == o_.input_length, invalid_argument,
                 "[{}] input_length is {}, but received an input of shape {}", name(),
                 o_.input_length, x.shape());
    }
    const bool is_index = x.dtype() == int32 || x.dtype() == int64;
    const Tensor rows = embeddings_.gather(is_index ? x : cast(x, int32));
    return rows.dtype() == policy.compute_dtype() ? rows : cast(rows, policy.compute_dtype());
  }
  Tensor compute_mask(const Nest& inputs, const Tensor&) override {
    return o_.mask_zero ? not_equal(inputs.as_tensor(), 0) : Tensor();
  }

  void add_config(Config& c) const override {
    c.set("input_dim", o_.input_dim);
    c.set("output_dim", o_.output_dim);
    c.set("embeddings_initializer", serialize(o_.embeddings_initializer));
    c.set("embeddings_regularizer", o_.embeddings_regularizer.serialize());
    c.set("activity_regularizer", o_.activity_regularizer.serialize());
    c.set("embeddings_constraint", o_.embeddings_constraint.serialize());
    c.set("mask_zero", o_.mask_zero);
    c.set("input_length", o_.input_length > 0 ? Config(o_.input_length) : Config());
  }

 private:
  layers::EmbeddingOptions o_;
  Variable embeddings_;
};

const RegisterLayer registered_embedding("Embedding", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::EmbeddingOptions>(c);
  o.input_dim = c["input_dim"].as_int();
  o.output_dim = c["output_dim"].as_int();
  o.embeddings_initializer =
      deserialize_initializer(c.get("embeddings_initializer"), o.embeddings_initializer);
  o.embeddings_regularizer = Regularizer::deserialize(c.get("embeddings_regularizer"));
  o.activity_regularizer = Regularizer::deserialize(c.get("activity_regularizer"));
  o.embeddings_constraint = Constraint::deserialize(c.get("embeddings_constraint"));
  o.mask_zero = c.get("mask_zero", false);
  o.input_length = c.get("input_length", std::int64_t{0});
  return layers::Embedding(std::move(o));
});

}  // namespace

layers::Embedding::Embedding(EmbeddingOptions o) : Layer(this, new EmbeddingLayer(std::move(o))) {}
layers::Embedding::Embedding(std::int64_t input_dim, std::int64_t output_dim, EmbeddingOptions o)
    : Embedding((o.input_dim = input_dim, o.output_dim = output_dim, std::move(o))) {}

}  // namespace rill::keras
