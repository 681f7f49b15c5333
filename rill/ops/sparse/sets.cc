// Sets: the rows of the last axis, of dense and of sparse tensors.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/sparse_ops.h"

namespace rill {
namespace {

constexpr TypeSet kSetTypes{int8, int16, int32, int64, uint8, uint16, string};

// The rank, as far as an input tells it: the number of axes of a dense one, the length of a shape.
void sets_shape(ShapeContext& c) {
  int rank = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const std::string& name = c.op().inputs[static_cast<std::size_t>(i)].name;
    const TensorShape& s = c.input(i);
    if (!s.has_rank()) continue;
    if (name == "set1" || name == "set2") {
      RILL_CHECK(s.rank() >= 2, invalid_argument,
                 "[{}] {} has shape {}; expected two axes or more, the last of them the sets",
                 c.tag(), name, s);
      rank = s.rank();
    } else if (name.ends_with("_shape")) {
      require_rank(c, i, 1, name);
      if (s.dim(0) >= 0) rank = static_cast<int>(s.dim(0));
      RILL_CHECK(s.dim(0) < 0 || s.dim(0) >= 2, invalid_argument,
                 "[{}] {} has {} sizes; expected two or more", c.tag(), name, s.dim(0));
    } else if (name.ends_with("_indices")) {
      require_rank(c, i, 2, name);
    } else {
      require_rank(c, i, 1, name);
    }
  }
  c.set_output(0, TensorShape(Dims{-1, rank}));
  c.set_output(1, TensorShape::unknown_dims(1));
  c.set_output(2, TensorShape(Dims{rank}));
}
OpBuilder set_op(const char* name) {
  OpBuilder b(name, "sets");
  b.output("result_indices: int64")
      .output("result_values: T")
      .output("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .type("T", kSetTypes)
      .shape(sets_shape)
      .no_gradient();
  return b;
}
const Op& dense_op = set_op("DenseToDenseSetOperation")
                         .input("set1: T")
                         .input("set2: T")
                         .doc("A set operation on the rows of two tensors.")
                         .define();
const Op& dense_sparse_op = set_op("DenseToSparseSetOperation")
                                .input("set1: T")
                                .input("set2_indices: int64")
                                .input("set2_values: T")
                                .input("set2_shape: int64")
                                .doc("A set operation on the rows of a dense and a sparse tensor.")
                                .define();
const Op& sparse_op = set_op("SparseToSparseSetOperation")
                          .input("set1_indices: int64")
                          .input("set1_values: T")
                          .input("set1_shape: int64")
                          .input("set2_indices: int64")
                          .input("set2_values: T")
                          .input("set2_shape: int64")
                          .doc("A set operation on the rows of two sparse tensors.")
                          .define();
void set_size_shape(ShapeContext& c) {
  require_rank(c, 0, 2, "set_indices");
  require_rank(c, 1, 1, "set_values");
  require_rank(c, 2, 1, "set_shape");
  const TensorShape s = c.input_as_shape(2);
  RILL_CHECK(!s.has_rank() || s.rank() >= 1, invalid_argument,
             "[{}] set_shape is empty; expected one size or more", c.tag());
  Dims groups;
  for (int i = 0; i + 1 < s.rank(); ++i) groups.push_back(s.dim(i));
  c.set_output(0, s.has_rank() ? TensorShape(groups) : TensorShape());
}
const Op& set_size_op = OpBuilder("SetSize", "sets.size")
                            .input("set_indices: int64")
                            .input("set_values: T")
                            .input("set_shape: int64")
                            .output("size: int32")
                            .attr("validate_indices: bool = true")
                            .type("T", kSetTypes)
                            .doc("How many different values each row has.")
                            .shape(set_size_shape)
                            .no_gradient()
                            .host("set_shape")
                            .define();

SparseTensor operate(const sets::Set& a, const sets::Set& b, std::string_view operation,
                     bool validate) {
  const std::initializer_list<Attr> attrs{{"set_operation", operation},
                                          {"validate_indices", validate}};
  // There is no op of a sparse and a dense set, but one of a dense and a sparse.
  if (a.sparse && !b.sparse) {
    if (operation == "a-b")
      operation = "b-a";
    else if (operation == "b-a")
      operation = "a-b";
    return operate(b, a, operation, validate);
  }
  const std::vector<Tensor> out =
      !a.sparse && !b.sparse ? execute_all(dense_op, {a.dense, b.dense}, attrs)
      : !a.sparse
          ? execute_all(dense_sparse_op,
                        {a.dense, b.sparse->indices, b.sparse->values, b.sparse->dense_shape},
                        attrs)
          : execute_all(sparse_op,
                        {a.sparse->indices, a.sparse->values, a.sparse->dense_shape,
                         b.sparse->indices, b.sparse->values, b.sparse->dense_shape},
                        attrs);
  return {out[0], out[1], out[2]};
}

}  // namespace

namespace sets {

SparseTensor intersection(const Set& a, const Set& b, bool validate_indices) {
  return operate(a, b, "intersection", validate_indices);
}
SparseTensor union_(const Set& a, const Set& b, bool validate_indices) {
  return operate(a, b, "union", validate_indices);
}
SparseTensor difference(const Set& a, const Set& b, bool aminusb, bool validate_indices) {
  return operate(a, b, aminusb ? "a-b" : "b-a", validate_indices);
}
Tensor size(const SparseTensor& a, bool validate_indices) {
  return execute(set_size_op, {a.indices, a.values, a.dense_shape},
                 {{"validate_indices", validate_indices}});
}

}  // namespace sets
}  // namespace rill
