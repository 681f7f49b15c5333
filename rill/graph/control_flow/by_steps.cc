#include "rill/base/check.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/control_flow/by_steps_impl.h"
#include "rill/ops/array_ops.h"

namespace rill {

std::vector<Tensor> gradients_by_steps(BySteps steps, const std::vector<Tensor>& arguments,
                                       const std::vector<Tensor>& slopes) {
  GradientTape tape;
  for (const Tensor& t : arguments) tape.watch(t);
  return tape.gradient(steps(arguments), arguments,
                       {.output_gradients = slopes, .unconnected_gradients = "zero"});
}

void differentiate_gradients(GradContext& g, BySteps steps, int num_results, int num_arguments) {
  const TensorShape& x = g.input_shape(num_results);
  RILL_CHECK(x.has_rank() && x.dim(0) >= 0, unimplemented,
             "[{}] the second derivative needs the number of steps; x has shape {}", g.op().tag, x);
  std::vector<Tensor> in, u;
  for (int i = 0; i < num_results + num_arguments; ++i) in.push_back(identity(g.input(i)));
  for (int i = 0; i < num_arguments; ++i) u.push_back(g.dy(i));
  // A tape listens to how another goes back through the steps.
  GradientTape tape;
  for (const Tensor& t : in) tape.watch(t);
  const auto first_argument = in.begin() + num_results;
  const std::vector<Tensor> first =
      gradients_by_steps(steps, {first_argument, in.end()}, {in.begin(), first_argument});
  const Gradients second =
      tape.gradient(first, in, {.output_gradients = u, .unconnected_gradients = "zero"});
  for (int i = 0; i < num_results + num_arguments; ++i)
    if (g.needs(i)) g.set(i, second[static_cast<std::size_t>(i)]);
}

}  // namespace rill
