#include <algorithm>
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

// The next labels of an equation.
std::string labels(int from, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += static_cast<char>('a' + from + i);
  return s;
}

// A number stands for a shape of one axis.
struct ShapeOrSize : PlainField {
  static void read(const Config& c, TensorShape& v) {
    v = c.is_number() ? TensorShape({c.as_int()}) : c.as_shape();
  }
};
struct MultiHeadAttentionFields {
  using Options = layers::MultiHeadAttentionOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("num_heads", o.num_heads);
    f.required("key_dim", o.key_dim);
    f("value_dim", o.value_dim);
    f("dropout", o.dropout);
    f("use_bias", o.use_bias);
    f("output_shape", o.output_shape, ShapeOrSize());
    f("attention_axes", o.attention_axes);
    visit_kernel_and_bias(f, o);
    for (const char* key : {"use_gate", "sliding_window"}) f.only_in_keras3(key);
    f.for_keras3([](Config& c) {
      for (const char* key : {"query_shape", "key_shape", "value_shape"}) c.erase(key);
    });
  }
};

class MultiHeadAttentionLayer : public LayerImpl {
 public:
  // What a saved layer knew of its inputs.
  struct BuiltShapes {
    TensorShape query, key, value;
  };

  explicit MultiHeadAttentionLayer(layers::MultiHeadAttentionOptions o)
      : LayerImpl("MultiHeadAttention", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.num_heads > 0 && o_.key_dim > 0 && o_.value_dim >= 0, invalid_argument,
               "[MultiHeadAttention] num_heads is {}, key_dim {}, value_dim {}; expected positive "
               "numbers",
               o_.num_heads, o_.key_dim, o_.value_dim);
    RILL_CHECK(o_.dropout >= 0 && o_.dropout < 1, invalid_argument,
               "[MultiHeadAttention] dropout is {}; expected the share of the scores to drop, "
               "from 0 to below 1",
               o_.dropout);
    if (o_.value_dim == 0) o_.value_dim = o_.key_dim;
    activity_regularizer = o_.activity_regularizer;
    supports_masking = true;
    input_spec.min_ndim = 3;
    input_spec.first_only = true;
  }

  void was_built_for(BuiltShapes shapes) { shapes_ = std::move(shapes); }
  void build(const std::vector<TensorShape>& shapes) override {
    require_inputs(shapes.size());
    shapes_ = {shapes[0], shapes.size() > 2 ? shapes[2] : shapes[1], shapes[1]};
    const int rank = shapes[0].rank();
    for (const TensorShape* s : {&shapes_.query, &shapes_.key, &shapes_.value})
      RILL_CHECK(s->has_rank() && s->rank() == rank, invalid_argument,
                 "[{}] the query has shape {}, the value {} and the key {}; expected as many axes",
                 name(), shapes_.query, shapes_.value, shapes_.key);
    if (o_.attention_axes.empty())
      for (int i = 1; i < rank - 1; ++i) o_.attention_axes.push_back(i);
    for (int& axis : o_.attention_axes) {
      if (axis < 0) axis += rank;
      RILL_CHECK(axis > 0 && axis < rank - 1, invalid_argument,
                 "[{}] attention_axes has {}; expected axes between the batch and the features of "
                 "{}",
                 name(), axis, shapes_.query);
    }
    query_ = projection("query", shapes_.query, o_.key_dim);
    key_ = projection("key", shapes_.key, o_.key_dim);
    value_ = projection("value", shapes_.value, o_.value_dim);
    output_ = output_projection(shapes_.query);
    name_equations(rank + 1);
    TensorShape heads = shapes_.query;
    heads.set_dim(rank - 1, o_.num_heads);
    heads.push_back(o_.value_dim);
    make(query_, "_query_dense", shapes_.query);
    make(key_, "_key_dense", shapes_.key);
    make(value_, "_value_dense", shapes_.value);
    make(output_, "_output_dense", heads);
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    const std::vector<Tensor> in = inputs.flatten();
    require_inputs(in.size());
    const Tensor &query = in[0], &value = in[1], &key = in.size() > 2 ? in[2] : in[1];
    for (const Tensor* t : {&value, &key}) {
      const bool known = query.shape().has_rank() && t->shape().has_rank();
      const std::int64_t a = known ? query.shape().dim(0) : -1, b = known ? t->shape().dim(0) : -1;
      RILL_CHECK(a < 0 || b < 0 || a == b, invalid_argument,
                 "[{}] the query has a batch of {}, the {} of {}; expected as many samples in each",
                 name(), a, t == &key && &key != &value ? "key" : "value", b);
    }
    const Tensor mask = attention_mask(in, context);
    // Keras 3 takes the masks away from its inputs: who reads them later finds none.
    if (behaves_as == 3)
      for (const Tensor& t : in) t.impl()->mask = {};

    const Tensor q = (*query_)(query), k = (*key_)(key), v = (*value_)(value);
    Tensor scores =
        einsum(dot_equation_, {k, q * (1.0 / std::sqrt(static_cast<double>(o_.key_dim)))});
    const bool with_scores =
        context.arguments.is_dict() && context.arguments.get("return_attention_scores", false);
    scores = masked_softmax(scores, mask, with_scores);
    const Tensor kept =
        context.training && o_.dropout > 0 ? nn::dropout(scores, o_.dropout) : scores;
    const Tensor out = (*output_)(einsum(combine_equation_, {kept, v}));
    if (with_scores) return Nest(std::vector<Tensor>{out, scores});
    return out;
  }

  void add_config(Config& c) const override {
    write_fields<MultiHeadAttentionFields>(o_, c);
    c.set("query_shape", shapes_.query);
    c.set("key_shape", shapes_.key);
    c.set("value_shape", shapes_.value);
  }

 private:
  void require_inputs(std::size_t n) const {
    RILL_CHECK(n >= 2 && n <= 4, invalid_argument,
               "[{}] a MultiHeadAttention takes query, value, and where wanted key and "
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
  // [batch, .., features] -> [batch, .., heads, size].
  LayerRef projection(const char* layer_name, const TensorShape& in, std::int64_t size) const {
    const int rank = in.rank();
    layers::EinsumDenseOptions o = dense_options(layer_name);
    const std::string free = labels(0, rank - 1), bound = labels(rank - 1, 1),
                      made = labels(rank, 2);
    o.equation = free + bound + "," + bound + made + "->" + free + made;
    o.output_shape = TensorShape::unknown_dims(rank - 2);
    o.output_shape.push_back(o_.num_heads), o.output_shape.push_back(size);
    if (o_.use_bias) o.bias_axes = made;
    return layers::EinsumDense(std::move(o));
  }
  // [batch, .., heads, value_dim] -> [batch, .., output_shape].
  LayerRef output_projection(const TensorShape& query) const {
    const int rank = query.rank();
    const TensorShape out =
        o_.output_shape.has_rank() ? o_.output_shape : TensorShape({query.dim(-1)});
    layers::EinsumDenseOptions o = dense_options("attention_output");
    const std::string free = labels(0, rank - 1), bound = labels(rank - 1, 2),
                      made = labels(rank + 1, out.rank());
    o.equation = free + bound + "," + bound + made + "->" + free + made;
    o.output_shape = TensorShape::unknown_dims(rank - 2);
    for (const std::int64_t n : out.as_list()) o.output_shape.push_back(n);
    if (o_.use_bias) o.bias_axes = made;
    return layers::EinsumDense(std::move(o));
  }
  void make(const LayerRef& layer, const char* edge, const TensorShape& shape) {
    track_layer(edge, LayerObjects::impl_of(*layer));
    const NameStack names(layer->name());
    LayerCalls::build(*layer, {shape});
  }

  // The products over projected tensors of this rank: all axes that are not attended to (heads
  // among them) are a batch.
  void name_equations(int rank) {
    const auto attended = [&](int i) {
      return std::find(o_.attention_axes.begin(), o_.attention_axes.end(), i) !=
             o_.attention_axes.end();
    };
    const std::string target = labels(0, rank);
    std::string source, product;
    int next = rank;
    for (int i = 0; i < rank; ++i) source += attended(i) ? labels(next++, 1) : labels(i, 1);
    for (int i = 0; i < rank - 1; ++i)
      if (!attended(i)) product += labels(i, 1);
    for (const std::string* s : {&target, static_cast<const std::string*>(&source)})
      for (const int axis : o_.attention_axes) product += (*s)[static_cast<std::size_t>(axis)];
    dot_equation_ = source + "," + target + "->" + product;
    combine_equation_ = product + "," + source + "->" + target;
  }

  // A query that may look nowhere looks everywhere: in Keras 2 by its scores, in Keras 3 evenly.
  // There, where the layer gives scores or drops some, it looks nowhere.
  Tensor masked_softmax(const Tensor& raw, Tensor mask, bool with_scores) const {
    const int attended = static_cast<int>(o_.attention_axes.size());
    Tensor scores = raw;
    if (mask.defined()) {
      // Heads, and axes that are not attended to, share the mask.
      for (int i = mask.ndim(); i < scores.ndim(); ++i) mask = expand_dims(mask, -2 * attended - 1);
      if (behaves_as == 3)
        scores = where(mask, scores, scores.dtype() == float16 ? -3e4 : -1e9);
      else
        scores = scores + mask_penalty(mask, scores.dtype());
    }
    const Tensor shares = softmax_over(scores, attended);
    const bool nowhere = with_scores || o_.dropout > 0 || scores.ndim() != 4;
    return behaves_as == 3 && nowhere && mask.defined() ? where(mask, shares, 0.0) : shares;
  }
  static Tensor softmax_over(const Tensor& scores, int last) {
    if (last == 1) return nn::softmax(scores);
    std::vector<int> axes;
    for (int i = 0; i < last; ++i) axes.push_back(scores.ndim() - last + i);
    return exp(scores - reduce_logsumexp(scores, axes, {.keepdims = true}));
  }

  layers::MultiHeadAttentionOptions o_;
  BuiltShapes shapes_;
  LayerRef query_, key_, value_, output_;
  std::string dot_equation_, combine_equation_;
};

const RegisterWithFields<MultiHeadAttentionFields> registered_multi_head_attention(
    "MultiHeadAttention", [](const Config& c) -> LayerRef {
      const layers::MultiHeadAttention layer(read_fields<MultiHeadAttentionFields>(c));
      static_cast<MultiHeadAttentionLayer&>(layer.impl())
          .was_built_for({c.get("query_shape").as_shape(), c.get("key_shape").as_shape(),
                          c.get("value_shape").as_shape()});
      return layer;
    });

}  // namespace

namespace layers {

MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions o)
    : Layer(this, new MultiHeadAttentionLayer(std::move(o))) {}
MultiHeadAttention::MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim,
                                       MultiHeadAttentionOptions o)
    : MultiHeadAttention((o.num_heads = num_heads, o.key_dim = key_dim, std::move(o))) {}
Tensor MultiHeadAttention::operator()(const Operand& query, const Operand& value,
                                      MultiHeadAttentionCall call) const {
  return result_of(*this, call_attention(*this, query, value, call, call.return_attention_scores));
}
std::pair<Tensor, Tensor> MultiHeadAttention::with_scores(const Operand& query,
                                                          const Operand& value,
                                                          MultiHeadAttentionCall call) const {
  const Nest out = call_attention(*this, query, value, call, true);
  return {out[0].as_tensor(), out[1].as_tensor()};
}

}  // namespace layers
}  // namespace rill::keras
