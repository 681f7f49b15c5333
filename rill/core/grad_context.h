#pragma once
#include "rill/core/gradient.h"
#include "rill/core/shape_inference.h"

namespace rill {

// What a gradient function sees and fills in. It is written with public ops, so
// it serves tapes, graphs and itself again for higher orders.
class GradContext : public AttrReader {
 public:
  GradContext(const Op& op, AttrList attrs) : AttrReader(op, attrs) {}
  virtual ~GradContext();

  virtual int num_inputs() const = 0;
  // The gradient that came in for output i; zeros of its shape when nothing
  // depends on that output.
  virtual const Tensor& dy(int i = 0) = 0;
  // dy as it came: possibly none, possibly sparse.
  virtual const Gradient& raw_dy(int i = 0) = 0;
  // Inputs and outputs named in the op's gradient(..., "saves").
  virtual const Tensor& input(int i) = 0;
  virtual const Tensor& output(int i = 0) = 0;
  // Shapes and dtypes are known of every input, saved or not.
  virtual const TensorShape& input_shape(int i) = 0;
  virtual DType input_dtype(int i) = 0;
  virtual const TensorShape& output_shape(int i = 0) = 0;
  // The shape of input i as an int32 (int64 if large) tensor, for gradients
  // that need it when it is unknown while tracing.
  virtual Tensor input_shape_tensor(int i) = 0;
  // Somebody wants the gradient of input i.
  virtual bool needs(int i) const = 0;
  virtual void set(int i, Gradient g) = 0;
};

}  // namespace rill
