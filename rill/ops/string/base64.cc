// Bytes as text of 64 letters, those that are safe in addresses.
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

const Op& encode_base64_op = OpBuilder("EncodeBase64", "io.encode_base64")
                                 .input("input: string")
                                 .output("output: string")
                                 .attr("pad: bool = false")
                                 .doc("Strings in base64, with - and _ for + and /.")
                                 .shape(unchanged_shape)
                                 .no_gradient()
                                 .define();
const Op& decode_base64_op = OpBuilder("DecodeBase64", "io.decode_base64")
                                 .input("input: string")
                                 .output("output: string")
                                 .doc("The bytes that base64 stands for, padded or not.")
                                 .shape(unchanged_shape)
                                 .no_gradient()
                                 .define();

}  // namespace

namespace io {
Tensor encode_base64(const Operand& input, bool pad) {
  return execute(encode_base64_op, {Arg(input)}, {{"pad", pad}});
}
Tensor decode_base64(const Operand& input) { return execute(decode_base64_op, {Arg(input)}); }
}  // namespace io

}  // namespace rill
