// Attention and AdditiveAttention: they differ in how a query and a key give a score.
#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/attention.h"
#include "rill/keras/layers/attention/attention_masks_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

class DenseAttentionLayer : public LayerImpl {
 public:
  DenseAttentionLayer(std::string_view class_name, LayerOptions o, double dropout)
      : LayerImpl(class_name, std::move(o)), dropout_(dropout) {
    RILL_CHECK(dropout >= 0 && dropout < 1, invalid_argument,
               "[{}] dropout is {}; expected the share of the scores to drop, from 0 to below 1",
               class_name, dropout);
    supports_masking = true;
    input_spec.min_ndim = 3;
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    const std::vector<Tensor> in = inputs.flatten();
    require_inputs(in.size());
    const Tensor &query = in[0], &value = in[1], &key = in.size() > 2 ? in[2] : in[1];
    Tensor scores = score(query, key);
    Tensor mask;
    if (context.masks[1].defined()) mask = expand_dims(cast(context.masks[1], bool_), -2);
    if (context.arguments.is_dict() && context.arguments.get("use_causal_mask", false)) {
      const Tensor sizes = shape(scores);
      mask = both(mask, causal_mask(sizes[-2], sizes[-1]));
    }
    if (mask.defined()) scores = scores + mask_penalty(mask, scores.dtype());
    Tensor weights = nn::softmax(scores);
    if (context.training && dropout_ > 0) weights = nn::dropout(weights, dropout_);
    Tensor result = matmul(weights, value);
    if (context.masks[0].defined())
      result = result * cast(expand_dims(context.masks[0], -1), result.dtype());
    if (context.arguments.is_dict() && context.arguments.get("return_attention_scores", false))
      return Nest(std::vector<Tensor>{result, weights});
    return result;
  }

 protected:
  virtual Tensor score(const Tensor& query, const Tensor& key) const = 0;
  void require_inputs(std::size_t n) const {
    RILL_CHECK(n == 2 || n == 3, invalid_argument,
               "[{}] a {} takes [query, value] or [query, value, key]; got {} tensor(s)", name(),
               class_name(), n);
  }

 private:
  double dropout_;
};

// Each query with each key: [batch, Tq, Tv, dim].
Tensor pairs(const Tensor& query, const Tensor& key) {
  return expand_dims(query, -2) + expand_dims(key, -3);
}

struct AttentionFields {
  using Options = layers::AttentionOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("dropout", o.dropout);
    f("use_scale", o.use_scale);
    f("score_mode", o.score_mode);
  }
};

class AttentionLayer : public DenseAttentionLayer {
 public:
  explicit AttentionLayer(layers::AttentionOptions o)
      : DenseAttentionLayer("Attention", common(o), o.dropout), o_(std::move(o)) {
    RILL_CHECK(o_.score_mode == "dot" || o_.score_mode == "concat", invalid_argument,
               "[Attention] score_mode is \"{}\"; expected \"dot\" or \"concat\"", o_.score_mode);
  }
  void build(const std::vector<TensorShape>& shapes) override {
    require_inputs(shapes.size());
    if (o_.use_scale) scale_ = add_weight("scale", TensorShape::scalar(), {.initializer = "ones"});
    if (o_.score_mode == "concat")
      concat_score_weight_ =
          add_weight("concat_score_weight", TensorShape::scalar(), {.initializer = "ones"});
  }
  void add_config(Config& c) const override { write_fields<AttentionFields>(o_, c); }

 private:
  Tensor score(const Tensor& query, const Tensor& key) const override {
    if (o_.score_mode == "dot") {
      const Tensor s = matmul(query, key, {.transpose_b = true});
      return o_.use_scale ? s * in_compute_dtype(scale_) : s;
    }
    const Tensor sum = pairs(query, key);
    return in_compute_dtype(concat_score_weight_) *
           reduce_sum(tanh(o_.use_scale ? sum * in_compute_dtype(scale_) : sum), -1);
  }
  layers::AttentionOptions o_;
  Variable scale_, concat_score_weight_;
};

struct AdditiveAttentionFields {
  using Options = layers::AdditiveAttentionOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("dropout", o.dropout);
    f("use_scale", o.use_scale);
  }
};

class AdditiveAttentionLayer : public DenseAttentionLayer {
 public:
  explicit AdditiveAttentionLayer(layers::AdditiveAttentionOptions o)
      : DenseAttentionLayer("AdditiveAttention", common(o), o.dropout), o_(std::move(o)) {}
  void build(const std::vector<TensorShape>& shapes) override {
    require_inputs(shapes.size());
    if (o_.use_scale)
      scale_ = add_weight("scale", {shapes[1].dim(-1)}, {.initializer = "glorot_uniform"});
  }
  void add_config(Config& c) const override { write_fields<AdditiveAttentionFields>(o_, c); }

 private:
  Tensor score(const Tensor& query, const Tensor& key) const override {
    const Tensor t = tanh(pairs(query, key));
    return reduce_sum(o_.use_scale ? t * in_compute_dtype(scale_) : t, -1);
  }
  layers::AdditiveAttentionOptions o_;
  Variable scale_;
};

const RegisterFields<AttentionFields, layers::Attention> attention("Attention");
const RegisterFields<AdditiveAttentionFields, layers::AdditiveAttention> additive(
    "AdditiveAttention");

Nest called(const Layer& layer, const Operand& query, const Operand& value,
            const layers::AttentionCall& call, bool scores) {
  std::vector<Tensor> in{to_tensor(query), to_tensor(value)};
  if (call.key.defined()) in.push_back(call.key);
  CallOptions o{.training = call.training, .masks = {call.query_mask, call.value_mask}};
  o.arguments = Config::dict();
  if (call.use_causal_mask) o.arguments.set("use_causal_mask", true);
  if (scores) o.arguments.set("return_attention_scores", true);
  return layer.apply(Nest(std::move(in)), std::move(o));
}

}  // namespace

namespace layers {

Tensor DenseAttention::operator()(const Operand& query, const Operand& value,
                                  AttentionCall call) const {
  return result_of(*this, called(*this, query, value, call, call.return_attention_scores));
}
std::pair<Tensor, Tensor> DenseAttention::with_scores(const Operand& query, const Operand& value,
                                                      AttentionCall call) const {
  const Nest out = called(*this, query, value, call, true);
  return {out[0].as_tensor(), out[1].as_tensor()};
}

Attention::Attention() : Attention(AttentionOptions{}) {}
Attention::Attention(AttentionOptions o) : DenseAttention(this, new AttentionLayer(std::move(o))) {}
Attention::Attention(bool use_scale, AttentionOptions o)
    : Attention((o.use_scale = use_scale, std::move(o))) {}
AdditiveAttention::AdditiveAttention() : AdditiveAttention(AdditiveAttentionOptions{}) {}
AdditiveAttention::AdditiveAttention(AdditiveAttentionOptions o)
    : DenseAttention(this, new AdditiveAttentionLayer(std::move(o))) {}
AdditiveAttention::AdditiveAttention(bool use_scale, AdditiveAttentionOptions o)
    : AdditiveAttention((o.use_scale = use_scale, std::move(o))) {}

}  // namespace layers
}  // namespace rill::keras
