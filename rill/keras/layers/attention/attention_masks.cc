#include "rill/keras/layers/attention/attention_masks_impl.h"

#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Tensor causal_mask(const Tensor& query_length, const Tensor& value_length) {
  const Tensor q = expand_dims(range(query_length), 1), v = expand_dims(range(value_length), 0);
  return expand_dims(q >= v, 0);
}
Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return logical_and(a, b);
}
Tensor mask_penalty(const Tensor& mask, DType dtype) {
  const double large = dtype == float16 ? 65504 : 1e9;
  return (1 - cast(mask, dtype)) * cast(constant(-large), dtype);
}

Tensor attention_mask(const std::vector<Tensor>& in, const CallContext& context) {
  Tensor mask;
  if (context.masks[0].defined()) mask = expand_dims(cast(context.masks[0], bool_), -1);
  for (std::size_t i = 1; i < std::min<std::size_t>(in.size(), 3); ++i)
    if (context.masks[i].defined())
      mask = both(mask, expand_dims(cast(context.masks[i], bool_), -2));
  if (context.arguments.is_dict() && context.arguments.get("use_causal_mask", false))
    mask = both(mask, causal_mask(shape(in[0])[1], shape(in[1])[1]));
  return in.size() > 3 ? both(cast(in[3], bool_), mask) : mask;
}

Nest call_attention(const Layer& layer, const Operand& query, const Operand& value,
                    const layers::MultiHeadAttentionCall& call, bool scores) {
  std::vector<Tensor> in{to_tensor(query), to_tensor(value)};
  if (call.key.defined() || call.attention_mask.defined())
    in.push_back(call.key.defined() ? call.key : in[1]);
  if (call.attention_mask.defined()) in.push_back(call.attention_mask);
  CallOptions o{.training = call.training};
  o.arguments = Config::dict();
  if (call.use_causal_mask) o.arguments.set("use_causal_mask", true);
  if (scores) o.arguments.set("return_attention_scores", true);
  return layer.apply(Nest(std::move(in)), std::move(o));
}

}  // namespace rill::keras
