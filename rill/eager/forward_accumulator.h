#pragma once
#include <vector>

#include "rill/eager/gradient_tape.h"

namespace rill RILL_API {
namespace autodiff {

struct JvpOptions {
  std::string unconnected_gradients = "none";  // or "zero"
};

// Products of a Jacobian matrix with a vector: how much each value changes when the primals
// move along their tangents. Listens while it lives, as a GradientTape does, on the thread that
// made it. An accumulator that was made earlier sees the products of a later one, and the
// gradients of a tape inside it, which is how higher orders come about.
//
//   tf::autodiff::ForwardAccumulator acc(x, direction);
//   Tensor y = tf::sin(x) * x;
//   Tensor dy = acc.jvp(y);  // (cos(x) x + sin(x)) direction
//
// It keeps what a tape keeps, and a product costs about two walks back.
class ForwardAccumulator {
 public:
  // A tangent has the shape and dtype of its primal, a tensor or a variable. InvalidArgument
  // for a primal that is no floating-point tensor, or that comes twice.
  ForwardAccumulator(const Source& primal, const Operand& tangent);
  ForwardAccumulator(const std::vector<Source>& primals, const TensorList& tangents);
  ForwardAccumulator(const ForwardAccumulator&) = delete;

  // The tangent of a value; none where it does not depend on a primal. Any number of times.
  Gradient jvp(const Source& target, const JvpOptions& options = {});
  Gradients jvp(const std::vector<Tensor>& targets, const JvpOptions& options = {});

 private:
  void watch(const Source& primal, Tensor tangent);
  GradientTape tape_;
  std::vector<Tensor> primals_, tangents_;
};

}  // namespace autodiff
}  // namespace RILL_API
