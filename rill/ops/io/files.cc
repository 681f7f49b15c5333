// Whole files, and bytes as numbers.
#include "rill/ops/array_ops.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

const Op& read_file_op = OpBuilder("ReadFile", "io.read_file")
                             .input("filename: string")
                             .output("contents: string")
                             .doc("The bytes of a file.")
                             .shape([](ShapeContext& c) {
                               require_rank(c, 0, 0, "filename");
                               scalar_shape(c);
                             })
                             .no_gradient()
                             .stateful()
                             .define();
const Op& write_file_op = OpBuilder("WriteFile", "io.write_file")
                              .input("filename: string")
                              .input("contents: string")
                              .doc("Writes a file, and makes the folders that it is to be in.")
                              .shape([](ShapeContext& c) {
                                require_rank(c, 0, 0, "filename");
                                require_rank(c, 1, 0, "contents");
                              })
                              .no_gradient()
                              .stateful()
                              .define();
const Op& matching_files_op =
    OpBuilder("MatchingFiles", "io.matching_files")
        .input("pattern: string")
        .output("filenames: string")
        .doc("The files whose names match a pattern, or one of several, sorted.")
        .shape([](ShapeContext& c) {
          RILL_CHECK(!c.input(0).has_rank() || c.input(0).rank() <= 1, invalid_argument,
                     "[{}] pattern has shape {}; expected a scalar or a vector", c.tag(),
                     c.input(0));
          c.set_output(0, TensorShape(Dims{-1}));
        })
        .no_gradient()
        .stateful()
        .define();

void decode_raw_shape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return unknown_shape(c);
  Dims out = c.input(0).dims();
  out.push_back(-1);  // the strings tell
  c.set_output(0, TensorShape(out));
}
const Op& decode_raw_op = OpBuilder("DecodeRaw", "io.decode_raw")
                              .input("bytes: string")
                              .output("output: out_type")
                              .type("out_type", kPlainTypes)
                              .attr("little_endian: bool = true")
                              .doc("The bytes of strings as numbers along a new last axis.")
                              .shape(decode_raw_shape)
                              .no_gradient()
                              .define();

constexpr TypeSet kSerializedTypes = kPlainTypes | TypeSet{string};
const Op& serialize_tensor_op = OpBuilder("SerializeTensor", "io.serialize_tensor")
                                    .input("tensor: T")
                                    .output("serialized: string")
                                    .type("T", kSerializedTypes)
                                    .doc("A tensor as the bytes of a TensorProto.")
                                    .shape(scalar_shape)
                                    .no_gradient()
                                    .define();
const Op& parse_tensor_op = OpBuilder("ParseTensor", "io.parse_tensor")
                                .input("serialized: string")
                                .output("output: out_type")
                                .type("out_type", kSerializedTypes)
                                .doc("The tensor that the bytes of a TensorProto hold.")
                                .shape([](ShapeContext& c) {
                                  require_rank(c, 0, 0, "serialized");
                                  unknown_shape(c);
                                })
                                .no_gradient()
                                .define();

}  // namespace

namespace io {

Tensor read_file(const Operand& filename) { return execute(read_file_op, {Arg(filename)}); }
void write_file(const Operand& filename, const Operand& contents) {
  const Arg name(filename), bytes(contents);
  execute_all(write_file_op, {name, bytes});
}
Tensor matching_files(const Operand& pattern) { return execute(matching_files_op, {Arg(pattern)}); }
Tensor decode_raw(const Operand& input_bytes, DType out_type, DecodeRawOptions o) {
  return execute(decode_raw_op, {Arg(input_bytes)},
                 {{"out_type", out_type}, {"little_endian", o.little_endian}});
}

Tensor serialize_tensor(const Operand& tensor) {
  return execute(serialize_tensor_op, {Arg(tensor)});
}
Tensor parse_tensor(const Operand& serialized, DType out_type) {
  return execute(parse_tensor_op, {Arg(serialized)}, {{"out_type", out_type}});
}

}  // namespace io
}  // namespace rill
