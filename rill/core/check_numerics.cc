#include "rill/core/check_numerics.h"

#include <algorithm>
#include <iterator>

#include "rill/base/check.h"
#include "rill/core/contents.h"
#include "rill/core/tensor_impl.h"

namespace rill {
namespace {

// Ops that make no number: TensorFlow's debugger passes over these, too.
constexpr std::string_view kMoves[] = {
    "ConcatV2", "Fill",  "GatherV2",     "Maximum",          "Minimum",   "Pack",  "ResourceGather",
    "Slice",    "Stack", "StridedSlice", "StridedSliceGrad", "Transpose", "Unpack"};

// The moments of an empty batch are NaN by right.
bool may_be_nan(const Op& op, std::size_t output) {
  return output > 0 && op.name.find("FusedBatchNorm") != std::string::npos;
}

[[noreturn]] void fail(const Op& op, std::span<const In> inputs, std::size_t output,
                       const Contents& made) {
  std::string text = format("[check_numerics] {} made numbers that are not finite", op.name);
  if (const CallContext& at = call_context(); at.file)
    text += format(", at {}:{}", at.file, at.line);
  text += format("\n  result {}: {}", output, contents_text(made));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]->impl()->resource)
      text += format("\n  input {}: {}", i, contents_text(contents_of(*inputs[i])));
  RILL_FAIL(invalid_argument, "{}", text);
}

}  // namespace

void check_numerics_of(const Op& op, std::span<const In> inputs, std::span<const Tensor> outputs) {
  // What runs functions, or hands its input on, was looked at where the numbers were made.
  if (op.forward || std::ranges::find(kMoves, op.name) != std::end(kMoves)) return;
  const ScopedContext<&CallContext::checks_numerics> once(false);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    if (!t.defined() || t.is_symbolic() || !t.dtype().is_floating() || may_be_nan(op, i)) continue;
    if (const Contents c = contents_of(t); !c.finite()) fail(op, inputs, i, c);
  }
}

}  // namespace rill
