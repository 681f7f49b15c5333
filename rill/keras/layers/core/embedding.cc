#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"

namespace rill::keras {

namespace {

struct EmbeddingFields {
  using Options = layers::EmbeddingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("input_dim", o.input_dim);
    f.required("output_dim", o.output_dim);
    f("embeddings_initializer", o.embeddings_initializer);
    f("embeddings_regularizer", o.embeddings_regularizer);
    f("activity_regularizer", o.activity_regularizer);
    f("embeddings_constraint", o.embeddings_constraint);
    f("mask_zero", o.mask_zero);
    visit_lora(f, o);
    f.detail_of_keras2("input_length", o.input_length, NullBelow<1>());  // as the input's shape
  }
};

class EmbeddingLayer : public LayerImpl {
 public:
  explicit EmbeddingLayer(layers::EmbeddingOptions o)
      : LayerImpl("Embedding", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.input_dim > 0 && o_.output_dim > 0, invalid_argument,
               "[Embedding] input_dim is {} and output_dim is {}; expected positive numbers: of "
               "rows, and of numbers in a row",
               o_.input_dim, o_.output_dim);
    activity_regularizer = o_.activity_regularizer;
    lora = make_lora(*this, "embeddings", o_.embeddings_constraint, o_.lora_rank, o_.lora_alpha);
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
    begin_lora();
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    if (o_.input_length > 0 && x.shape().has_rank() && x.ndim() > 1) {
      const std::int64_t length = x.shape().dim(1);
      RILL_CHECK(length < 0 || length == o_.input_length, invalid_argument,
                 "[{}] input_length is {}, but received an input of shape {}", name(),
                 o_.input_length, x.shape());
    }
    const bool is_index = x.dtype() == int32 || x.dtype() == int64;
    const Tensor rows = rows_of(is_index ? x : cast(x, int32));
    return rows.dtype() == policy.compute_dtype() ? rows : cast(rows, policy.compute_dtype());
  }
  // Of a ragged tensor the rows of its numbers.
  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    if (inputs.composite_kind() != "ragged") return LayerImpl::call_nest(inputs, context);
    const RaggedTensor ids = inputs.as_ragged();
    return ids.with_flat_values(call(ids.flat_values(), context));
  }
  Tensor compute_mask(const Nest& inputs, const Tensor&) override {
    if (inputs.is_composite()) return {};
    return o_.mask_zero ? not_equal(inputs.as_tensor(), 0) : Tensor();
  }

  void add_config(Config& c) const override { write_fields<EmbeddingFields>(o_, c); }

 private:
  Tensor rows_of(const Tensor& indices) const {
    const Tensor rows = embeddings_.gather(indices);
    if (!lora->enabled()) return rows;
    // Of the rows that are used alone, so that the gradient of A stays sparse, too.
    const Tensor factors = reshape(lora->a.gather(indices), {-1, lora->rank});
    Tensor more = reshape_to(matmul(factors, lora->b), rows.shape(), rows);
    if (more.dtype() != rows.dtype()) more = cast(more, rows.dtype());
    return rows + more * lora->scale();
  }

  layers::EmbeddingOptions o_;
  Variable embeddings_;
};

const RegisterFields<EmbeddingFields, layers::Embedding> registered_embedding("Embedding");

}  // namespace

layers::Embedding::Embedding(EmbeddingOptions o) : Layer(this, new EmbeddingLayer(std::move(o))) {}
layers::Embedding::Embedding(std::int64_t input_dim, std::int64_t output_dim, EmbeddingOptions o)
    : Embedding((o.input_dim = input_dim, o.output_dim = output_dim, std::move(o))) {}

}  // namespace rill::keras
