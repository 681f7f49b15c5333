#pragma once
#include "rill/core/nest.h"
#include "rill/core/operand.h"

namespace rill RILL_API {

struct TensorArrayOptions {
  bool dynamic_size = false;     // writing at the end or beyond makes it longer
  bool clear_after_read = true;  // for the guides' programs; reading leaves the array as it is
  TensorShape element_shape = {};
  std::string name = {};
};

// A list of tensors that a loop may write step by step. Writing gives a new array
// and leaves this one as it was: arr = arr.write(i, x). Gradients go through it.
class TensorArray {
 public:
  TensorArray(DType dtype, const Operand& size = 0, TensorArrayOptions options = {});

  DType dtype() const { return dtype_; }
  bool dynamic_size() const { return dynamic_; }
  // OutOfRange for a missing index (unless it grows), InvalidArgument for
  // a value of another dtype.
  [[nodiscard]] TensorArray write(const Operand& index, const Operand& value) const;
  // What was never written reads as zeros if its shape is known.
  Tensor read(const Operand& index) const;
  Tensor stack() const;  // along a new first axis
  Tensor gather(const Operand& indices) const;
  Tensor concat() const;  // along the first axis
  // The rows of a tensor as the elements.
  [[nodiscard]] TensorArray unstack(const Operand& value) const;
  [[nodiscard]] TensorArray scatter(const Operand& indices, const Operand& value) const;
  Tensor size() const;
  [[nodiscard]] TensorArray identity() const { return *this; }

  // As a loop variable, and as an argument or result of a function: out[1].as<TensorArray>().
  Nest to_nest() const;
  static TensorArray from_nest(const Nest& nest);

  // The array as a tensor, for loops over tensors alone: pass flow() as a loop variable and take it
  // up inside by with_flow().
  const Tensor& flow() const { return list_; }
  [[nodiscard]] TensorArray with_flow(const Tensor& flow) const;

 private:
  TensorArray() = default;
  DType dtype_;
  bool dynamic_ = false;
  TensorShape element_shape_;
  Tensor list_;
};

}  // namespace RILL_API
