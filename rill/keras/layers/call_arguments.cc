#include "rill/keras/layers/call_arguments_impl.h"

namespace rill::keras {

const CallArguments& call_arguments(std::string_view class_name) {
  static const std::vector<std::string_view> flags{"use_causal_mask", "return_attention_scores"};
  static const CallArguments none, attention{.flags = flags}, cell{.inputs = {"states"}},
      heads{.inputs = {"value", "key", "attention_mask"}, .flags = flags};
  if (class_name == "MultiHeadAttention" || class_name == "GroupedQueryAttention") return heads;
  if (class_name == "Attention" || class_name == "AdditiveAttention") return attention;
  for (const char* name : {"SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"})
    if (class_name == name) return cell;
  return none;
}

}  // namespace rill::keras
