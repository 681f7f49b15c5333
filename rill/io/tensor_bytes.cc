#include "rill/io/tensor_bytes_impl.h"

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/io/wire_impl.h"

namespace rill::io {
namespace {

// What elements that a message does not hold, but repeats, may take.
constexpr std::int64_t kMostRepeated = std::int64_t{1} << 30;

// Field numbers of tensorflow/core/framework/tensor.proto.
constexpr std::uint32_t kDtype = 1, kShape = 2, kContent = 4, kStringValue = 8;  // TensorProto
constexpr std::uint32_t kTypeName = 1, kTensors = 3;                             // of a variant
constexpr std::uint32_t kDim = 2, kSize = 1;                                     // its shape

std::string message_of(proto::DataType type, const TensorShape& shape, std::string_view content) {
  std::string out, dims;
  put_key(out, kDtype, WireType::varint);
  put_varint(out, static_cast<std::uint64_t>(type));
  for (std::int64_t d : shape.dims()) {
    std::string dim;
    if (d != 0) {
      put_key(dim, kSize, WireType::varint);
      put_varint(dim, static_cast<std::uint64_t>(d));
    }
    put_bytes(dims, kDim, dim);
  }
  put_bytes(out, kShape, dims);
  if (!content.empty()) put_bytes(out, kContent, content);
  return out;
}

// A list of strings as one: their lengths, then their bytes.
template <class Get>
std::string joined_strings(std::int64_t n, Get get) {
  std::string out;
  for (std::int64_t i = 0; i < n; ++i) put_varint(out, get(i).size());
  for (std::int64_t i = 0; i < n; ++i) out += get(i);
  return out;
}
// f(i, string) for `n` of them. InvalidArgument unless they fill the bytes.
template <class F>
void split_strings(std::string_view content, std::int64_t n, std::string_view what, F f) {
  // Each length takes a byte or more, so no count can ask for more memory than there are bytes.
  bool good = static_cast<std::uint64_t>(n) <= content.size();
  WireReader lengths(content);
  std::vector<std::uint64_t> sizes;
  for (std::int64_t i = 0; good && i < n; ++i) {
    sizes.push_back(lengths.varint());
    good = lengths.good();
  }
  std::string_view rest = good ? content.substr(content.size() - lengths.left()) : content;
  for (std::size_t i = 0; good && i < sizes.size(); ++i) {
    good = sizes[i] <= rest.size();
    if (!good) break;
    f(static_cast<std::int64_t>(i), rest.substr(0, sizes[i]));
    rest.remove_prefix(sizes[i]);
  }
  RILL_CHECK(good && rest.empty(), invalid_argument,
             "{}: a list of {} strings does not fill its {} bytes", what, n, content.size());
}

proto::TensorProto message_from(std::string_view bytes, std::string_view what) {
  proto::TensorProto message;
  const QuietProtobuf quiet;
  RILL_CHECK(bytes.size() <= INT32_MAX &&
                 message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
             invalid_argument, "{}: {} bytes are not a TensorProto", what, bytes.size());
  return message;
}

std::string bytes_of_variant(const VariantValue& value) {
  std::string out;
  put_bytes(out, kTypeName, value.type);
  for (const Tensor& t : value.tensors) put_bytes(out, kTensors, tensor_bytes(t));
  return out;
}

}  // namespace

std::string tensor_bytes(const Tensor& given, bool strings_apart) {
  const Tensor t = to_host(given);
  if (t.dtype() == string && strings_apart) {
    std::string out = message_of(proto::DT_STRING, t.shape(), {});
    for (std::int64_t i = 0; i < t.size(); ++i)
      put_bytes(out, kStringValue, host_data<std::string>(t)[i]);
    return out;
  }
  if (t.dtype() == string) {
    const auto* text = host_data<std::string>(t);
    return message_of(
        proto::DT_STRING, t.shape(),
        joined_strings(t.size(), [&](std::int64_t i) -> const std::string& { return text[i]; }));
  }
  RILL_CHECK(t.dtype() != resource && t.dtype() != variant, unimplemented,
             "[tensor] a {} tensor has no bytes to write", t.dtype());
  const auto size = static_cast<std::size_t>(t.size()) * t.dtype().itemsize();
  return message_of(
      to_proto(t.dtype()), t.shape(),
      size ? std::string_view(static_cast<const char*>(t.impl()->data), size) : std::string_view());
}

Tensor tensor_of_bytes(std::string_view bytes, std::string_view what) {
  const proto::TensorProto message = message_from(bytes, what);
  if (message.dtype() == proto::DT_STRING && !message.tensor_content().empty()) {
    const TensorShape shape = from_proto(message.tensor_shape(), what);
    RILL_CHECK(shape.is_fully_defined(), invalid_argument,
               "{}: a tensor has shape {}; expected known sizes", what, shape);
    const std::int64_t n = shape.num_elements();
    RILL_CHECK(static_cast<std::uint64_t>(n) <= message.tensor_content().size(), invalid_argument,
               "{}: {} strings cannot be in {} bytes", what, n, message.tensor_content().size());
    const Tensor out = make_tensor(string, shape);
    split_strings(message.tensor_content(), n, what, [&](std::int64_t i, std::string_view s) {
      mutable_data<std::string>(out)[i] = s;
    });
    return out;
  }
  std::int64_t fill_bytes = kMostRepeated;
  return from_proto(message, fill_bytes, what);
}

std::string variant_bytes(const VariantValue& value) {
  const std::string bytes = bytes_of_variant(value);
  return message_of(proto::DT_VARIANT, TensorShape::scalar(),
                    joined_strings(1, [&](std::int64_t) -> const std::string& { return bytes; }));
}
std::string variant_bytes(const std::vector<VariantValue>& values) {
  std::vector<std::string> bytes;
  for (const VariantValue& v : values) bytes.push_back(bytes_of_variant(v));
  const auto n = static_cast<std::int64_t>(values.size());
  return message_of(proto::DT_VARIANT, TensorShape(Dims{n}),
                    joined_strings(n, [&](std::int64_t i) -> const std::string& {
                      return bytes[static_cast<std::size_t>(i)];
                    }));
}

std::vector<VariantValue> variants_of_bytes(std::string_view bytes, std::string_view what) {
  const proto::TensorProto message = message_from(bytes, what);
  const TensorShape shape = from_proto(message.tensor_shape(), what);
  RILL_CHECK(message.dtype() == proto::DT_VARIANT && shape.is_fully_defined() && shape.rank() <= 1,
             invalid_argument, "{}: expected a scalar or a vector of variants", what);
  std::vector<VariantValue> out;
  split_strings(message.tensor_content(), shape.num_elements(), what,
                [&](std::int64_t, std::string_view s) {
                  VariantValue& value = out.emplace_back();
                  WireReader in(s);
                  while (in.next()) {
                    if (in.is(kTypeName, WireType::bytes))
                      value.type = in.bytes();
                    else if (in.is(kTensors, WireType::bytes))
                      value.tensors.push_back(tensor_of_bytes(in.bytes(), what));
                    else
                      in.skip();
                  }
                  RILL_CHECK(in.good(), invalid_argument, "{}: a variant is damaged", what);
                });
  return out;
}

}  // namespace rill::io
