#pragma once
#include <cstdint>
#include <string_view>

#include "rill/core/tensor.h"
#include "rill_proto/tensor.pb.h"

namespace rill {

proto::DataType to_proto(DType dtype);
// Unimplemented for types that Rill does not have, in the name of `what`.
DType from_proto(proto::DataType type, std::string_view what);

void to_proto(const TensorShape& shape, proto::TensorShapeProto* out);
// InvalidArgument for sizes below -1, more dimensions than 254, or more elements
// than can be counted.
TensorShape from_proto(const proto::TensorShapeProto& shape, std::string_view what);

// Strings and single elements in the list of their type, others as they lie in memory.
void to_proto(const Tensor& value, proto::TensorProto* out);
// `fill_bytes` is what may still be taken for elements that are not in the message
// but repeat its last one; it is reduced.
Tensor from_proto(const proto::TensorProto& value, std::int64_t& fill_bytes, std::string_view what);

}  // namespace rill
