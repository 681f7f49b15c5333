#pragma once
#include "rill/keras/layers/attention.h"

namespace rill::keras {

// [1, Tq, Tv]: true where the value does not come after the query; the lengths are scalars.
Tensor causal_mask(const Tensor& query_length, const Tensor& value_length);
// Where both hold; either may be undefined.
Tensor both(const Tensor& a, const Tensor& b);
// What is added to scores so that softmax gives nothing to places where the mask is false.
Tensor mask_penalty(const Tensor& mask, DType dtype);

// [batch, Tq, Tv] of all that says where query, value, key (may lack) and attention_mask (may lack)
// are not to be looked at; undefined when nothing does.
Tensor attention_mask(const std::vector<Tensor>& in, const CallContext& context);
// The call of an attention of several heads.
Nest call_attention(const Layer& layer, const Operand& query, const Operand& value,
                    const layers::MultiHeadAttentionCall& call, bool scores);

}  // namespace rill::keras
