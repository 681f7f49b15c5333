#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/tensor.h"

// Tensors as the bytes of TensorProtos, which TensorFlow's files hold.
namespace rill::io {

// All elements as one field, strings too unless each is to be a field of its own.
std::string tensor_bytes(const Tensor& t, bool strings_apart = false);
// InvalidArgument, in the name of `what`, for bytes that are none.
Tensor tensor_of_bytes(std::string_view bytes, std::string_view what);

// An element of a TensorProto of variants: tensors under the name of a type.
struct VariantValue {
  std::string type;
  std::vector<Tensor> tensors;
};
// Of a scalar, for one; of a vector, for several.
std::string variant_bytes(const VariantValue& value);
std::string variant_bytes(const std::vector<VariantValue>& values);
std::vector<VariantValue> variants_of_bytes(std::string_view bytes, std::string_view what);

}  // namespace rill::io
