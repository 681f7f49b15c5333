#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/layers/attention.h"
#include "rill/keras/layers/attention/attention_masks_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::keras {

namespace {

struct GroupQueryAttentionFields {
  using Options = layers::GroupQueryAttentionOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("head_dim", o.head_dim);
    f.required("num_query_heads", o.num_query_heads);
    f.required("num_key_value_heads", o.num_key_value_heads);
    f("use_bias", o.use_bias);
    f("use_gate", o.use_gate);
    f("sliding_window", o.sliding_window, NullBelow<1>());
    f("dropout", o.dropout);
    visit_kernel_and_bias(f, o);
    f("seed", o.seed, NullBelow<0>());
  }
};

class GroupQueryAttentionLayer : public LayerImpl {
 public:
  explicit GroupQueryAttentionLayer(layers::GroupQueryAttentionOptions o)
      : LayerImpl("GroupedQueryAttention", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.head_dim > 0 && o_.num_query_heads > 0 && o_.num_key_value_heads > 0 &&
                   o_.num_query_heads % o_.num_key_value_heads == 0,
               invalid_argument,
               "[GroupQueryAttention] head_dim is {}, num_query_heads {}, num_key_value_heads {}; "
               "expected positive numbers, the second a multiple of the third",
               o_.head_dim, o_.num_query_heads, o_.num_key_value_heads);
    RILL_CHECK(o_.dropout >= 0 && o_.dropout < 1 && o_.sliding_window >= 0, invalid_argument,
               "[GroupQueryAttention] dropout is {} and sliding_window {}; expected a share from 0 "
               "to below 1, and a number of steps, or 0 for all",
               o_.dropout, o_.sliding_window);
    activity_regularizer = o_.activity_regularizer;
    supports_masking = true;
    input_spec.ndim = 3;
    input_spec.first_only = true;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    require_inputs(shapes.size());
    const TensorShape &query = shapes[0], &value = shapes[1],
                      &key = shapes.size() > 2 ? shapes[2] : value;
    query_ = projection("query", "_query_dense", query, o_.num_query_heads);
    key_ = projection("key", "_key_dense", key, o_.num_key_value_heads);
    if (o_.use_gate)
      gate_ = projection("gate", "_gate_dense", query, o_.num_query_heads, "sigmoid");
    value_ = projection("value", "_value_dense", value, o_.num_key_value_heads);
    layers::EinsumDenseOptions o = dense_options("attention_output");
    o.equation = "bquh,uhm->bqm";
    o.output_shape = {None, query.dim(-1)};
    if (o_.use_bias) o.bias_axes = "m";
    TensorShape heads = query;
    heads.set_dim(2, o_.num_query_heads);
    heads.push_back(o_.head_dim);
    output_ = made(layers::EinsumDense(std::move(o)), "_output_dense", heads);
    input_spec.axes = {{-1, query.dim(-1)}};
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    const std::vector<Tensor> in = inputs.flatten();
    require_inputs(in.size());
    Tensor mask = attention_mask(in, context);
    if (o_.sliding_window > 0) {
      const Tensor q = expand_dims(range(shape(in[0])[1]), 1), v = range(shape(in[1])[1]);
      mask = both(mask, expand_dims(abs(q - v) < static_cast<int>(o_.sliding_window), 0));
    }
    const auto for_each_query = [&](const Tensor& x) {
      const int group = static_cast<int>(o_.num_query_heads / o_.num_key_value_heads);
      return group == 1 ? x : repeat(x, group, 2);
    };
    const Tensor q = (*query_)(in[0]) * (1.0 / std::sqrt(static_cast<double>(o_.head_dim))),
                 k = for_each_query((*key_)(in.size() > 2 ? in[2] : in[1])),
                 v = for_each_query((*value_)(in[1]));
    const bool with_scores =
        context.arguments.is_dict() && context.arguments.get("return_attention_scores", false);
    Tensor scores = einsum("bquh,bkuh->buqk", {q, k});
    if (mask.defined()) {
      mask = expand_dims(mask, 1);  // heads share it
      scores = where(mask, scores, scores.dtype() == float16 ? -3e4 : -1e9);
    }
    scores = nn::softmax(scores);
    // Where a query may look nowhere, it does so only here in Keras.
    if (mask.defined() && (with_scores || o_.dropout > 0)) scores = where(mask, scores, 0.0);
    const Tensor kept = context.training && o_.dropout > 0
                            ? nn::dropout(scores, o_.dropout, {.seed = o_.seed})
                            : scores;
    Tensor found = einsum("buqk,bkuh->bquh", {kept, v});
    if (o_.use_gate) found = found * (*gate_)(in[0]);
    const Tensor out = (*output_)(found);
    if (with_scores) return Nest(std::vector<Tensor>{out, scores});
    return out;
  }

  void add_config(Config& c) const override { write_fields<GroupQueryAttentionFields>(o_, c); }

 private:
  void require_inputs(std::size_t n) const {
    RILL_CHECK(n >= 2 && n <= 4, invalid_argument,
               "[{}] a GroupQueryAttention takes query, value, and where wanted key and "
               "attention_mask; got {} tensor(s)",
               name(), n);
  }
  layers::EinsumDenseOptions dense_options(const char* layer_name) const {
    return {.kernel_initializer = o_.kernel_initializer,
            .bias_initializer = o_.bias_initializer,
            .kernel_regularizer = o_.kernel_regularizer,
            .bias_regularizer = o_.bias_regularizer,
            .activity_regularizer = o_.activity_regularizer,
            .kernel_constraint = o_.kernel_constraint,
            .bias_constraint = o_.bias_constraint,
            .name = layer_name,
            .dtype = policy,
            .trainable = trainable};
  }
  // [batch, T, features] -> [batch, T, heads, head_dim].
  LayerRef projection(const char* layer_name, const char* edge, const TensorShape& in,
                      std::int64_t heads, Activation activation = {}) {
    RILL_CHECK(in.has_rank() && in.rank() == 3, invalid_argument,
               "[{}] the {} has shape {}; expected [batch, time, features]", name(), layer_name,
               in);
    layers::EinsumDenseOptions o = dense_options(layer_name);
    o.equation = "bqm,muh->bquh";
    o.output_shape = {None, heads, o_.head_dim};
    o.activation = std::move(activation);
    if (o_.use_bias) o.bias_axes = "uh";
    return made(layers::EinsumDense(std::move(o)), edge, in);
  }
  LayerRef made(LayerRef layer, const char* edge, const TensorShape& in) {
    track_layer(edge, LayerObjects::impl_of(*layer));
    const NameStack names(layer->name());
    LayerCalls::build(*layer, {in});
    return layer;
  }

  layers::GroupQueryAttentionOptions o_;
  LayerRef query_, key_, gate_, value_, output_;
};

// The class has another name in Keras than the one under which it is exported; files have both.
const RegisterFields<GroupQueryAttentionFields, layers::GroupQueryAttention> group_query(
    "GroupedQueryAttention", "GroupQueryAttention");

}  // namespace

namespace layers {

GroupQueryAttention::GroupQueryAttention(GroupQueryAttentionOptions o)
    : Layer(this, new GroupQueryAttentionLayer(std::move(o))) {}
GroupQueryAttention::GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads,
                                         std::int64_t num_key_value_heads,
                                         GroupQueryAttentionOptions o)
    : GroupQueryAttention((o.head_dim = head_dim, o.num_query_heads = num_query_heads,
                           o.num_key_value_heads = num_key_value_heads, std::move(o))) {}
Tensor GroupQueryAttention::operator()(const Operand& query, const Operand& value,
                                       MultiHeadAttentionCall call) const {
  return result_of(*this, call_attention(*this, query, value, call, call.return_attention_scores));
}
std::pair<Tensor, Tensor> GroupQueryAttention::with_scores(const Operand& query,
                                                           const Operand& value,
                                                           MultiHeadAttentionCall call) const {
  const Nest out = call_attention(*this, query, value, call, true);
  return {out[0].as_tensor(), out[1].as_tensor()};
}

}  // namespace layers
}  // namespace rill::keras
