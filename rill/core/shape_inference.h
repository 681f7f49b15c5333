#pragma once
#include "rill/core/execute.h"
#include "rill/core/op.h"
#include "rill/core/tensor_impl.h"

namespace rill {

// Reads attributes of a call: what was written, else the schema's default.
class AttrReader {
 public:
  AttrReader(const Op& op, AttrList attrs) : op_(&op), attrs_(attrs) {}
  const Op& op() const { return *op_; }
  AttrList attrs() const { return attrs_; }

  bool bool_attr(std::string_view name) const { return attr(name).as_bool(); }
  std::int64_t int_attr(std::string_view name) const { return attr(name).as_int(); }
  double float_attr(std::string_view name) const { return attr(name).as_float(); }
  std::string_view string_attr(std::string_view name) const { return attr(name).as_string(); }
  DType type_attr(std::string_view name) const { return attr(name).as_type(); }
  const TensorShape& shape_attr(std::string_view name) const { return attr(name).as_shape(); }
  std::span<const std::int64_t> ints_attr(std::string_view name) const {
    return attr(name).as_ints();
  }
  std::span<const double> floats_attr(std::string_view name) const {
    return attr(name).as_floats();
  }
  // Internal when the op has no such attribute.
  RILL_API const AttrValue& attr(std::string_view name) const;
  RILL_API const AttrValue* find_attr(
      std::string_view name) const;  // null: neither written nor defaulted

 private:
  const Op* op_;
  AttrList attrs_;
};

// What a shape function sees: the shapes of the inputs, which may have unknown
// dimensions or unknown rank, the values of those inputs that are known (every
// input in eager execution), and the attributes. It is the only place that
// checks ranks and sizes, so its messages are what a user reads. Dtypes were
// checked against the schema before it runs.
class ShapeContext : public AttrReader {
 public:
  ShapeContext(const Op& op, std::span<const In> inputs, AttrList attrs,
               std::span<TensorShape> outputs)
      : AttrReader(op, attrs), inputs_(inputs), outputs_(outputs) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const TensorShape& input(int i) const {
    return inputs_[static_cast<std::size_t>(i)]->impl()->shape;
  }
  DType input_dtype(int i) const { return inputs_[static_cast<std::size_t>(i)]->impl()->dtype; }
  // The value of an input when it is known now; else null.
  const Tensor* input_value(int i) const;
  // The value of an input that holds a shape or a list of sizes: unknown rank
  // when nothing is known.
  TensorShape input_as_shape(int i) const;
  // The value of an integer scalar input; false when it is not known.
  bool input_as_int(int i, std::int64_t* value) const;
  std::string_view tag() const { return op().tag; }

  void set_output(int i, TensorShape shape) {
    outputs_[static_cast<std::size_t>(i)] = std::move(shape);
  }

 private:
  std::span<const In> inputs_;
  std::span<TensorShape> outputs_;
};

// Shape functions that many ops share.
void unchanged_shape(ShapeContext& c);  // output 0 as input 0
void scalar_shape(ShapeContext& c);     // output 0 is a scalar
void unknown_shape(ShapeContext& c);    // every output has unknown rank (data-dependent)
void broadcast_shape(ShapeContext& c);  // output 0 as inputs 0 and 1 broadcast

// NumPy broadcasting of two shapes; InvalidArgument in the name of `tag`.
TensorShape broadcast_shapes(const TensorShape& a, const TensorShape& b, std::string_view tag);
// `axis` counted from the front; OutOfRange unless in [-rank, rank).
int normalize_axis(std::int64_t axis, int rank, std::string_view tag,
                   std::string_view name = "axis");
// Checks that input i has that rank (unknown passes).
void require_rank(const ShapeContext& c, int i, int rank, std::string_view name);
// Both known and different is an error; the known one otherwise.
std::int64_t merge_dims(std::int64_t a, std::int64_t b, std::string_view tag,
                        std::string_view what);

}  // namespace rill
