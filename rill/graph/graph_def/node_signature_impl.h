#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rill/core/op.h"

namespace rill {

// How the tensors of one call of an op fall to the arguments of its schema, and
// what that says of the attributes that follow from inputs: T, N, Tin. Files write
// those down; graphs leave them out.
class NodeSignature {
 public:
  // InvalidArgument when that many inputs fit no call of the op.
  NodeSignature(const Op& op, std::vector<DType> inputs);

  const Op& op() const { return *op_; }
  // Whether attribute `attr` (an index into op.attrs) follows from these inputs.
  bool infers(std::size_t attr) const;
  DType type(std::size_t attr) const { return types_[attr]; }             // of a "type"
  std::int64_t number(std::size_t attr) const { return numbers_[attr]; }  // of an "int"
  std::span<const DType> types(std::size_t attr) const;                   // of a "list(type)"

  // How many tensors each output argument has; `attrs` are those written at the call.
  // InvalidArgument for an attribute that is missing, negative or too large.
  std::vector<std::size_t> output_counts(AttrList attrs) const;

 private:
  const Op* op_;
  std::vector<DType> inputs_;
  std::vector<DType> types_;           // by attribute
  std::vector<std::int64_t> numbers_;  // by attribute; -1: not inferred
  struct Range {
    std::size_t begin = 0, size = 0;
    bool bound = false;
  };
  std::vector<Range> lists_;
};

// Whether files may name the op: the schemas of those are TensorFlow's own.
bool in_tensorflow(const Op& op);

}  // namespace rill
