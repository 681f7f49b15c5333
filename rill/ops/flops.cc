#include "rill/ops/flops.h"

#include <cmath>

namespace rill::flops {
namespace {

const TensorShape* shape_at(Shapes shapes, std::size_t i, int least_rank) {
  if (i >= shapes.size()) return nullptr;
  const TensorShape& s = shapes[i];
  return s.is_fully_defined() && s.rank() >= least_rank ? &s : nullptr;
}

// Every element of the image on the far side meets each tap of one output channel.
std::int64_t of_windows(const TensorShape* image, const TensorShape* filter, bool depthwise) {
  if (!image || !filter || filter->num_elements() == 0) return 0;
  const std::int64_t one = depthwise ? filter->dim(-1) * filter->dim(-2) : filter->dim(-1);
  return 2 * image->num_elements() * (filter->num_elements() / one);
}

}  // namespace

// The sizes of the three matrices tell k without the attributes: |a| |b| / |y| = k^2.
std::int64_t of_matmul(Shapes in, Shapes out) {
  const TensorShape *a = shape_at(in, 0, 2), *b = shape_at(in, 1, 2), *y = shape_at(out, 0, 2);
  if (!a || !b || !y || y->num_elements() == 0) return 0;
  auto matrix = [](const TensorShape& s) {
    return static_cast<double>(s.dim(-2)) * static_cast<double>(s.dim(-1));
  };
  const double k = std::sqrt(matrix(*a) * matrix(*b) / matrix(*y));
  return 2 * y->num_elements() * std::llround(k);
}

std::int64_t of_conv(Shapes in, Shapes out) {
  return of_windows(shape_at(out, 0, 3), shape_at(in, 1, 3), false);
}
std::int64_t of_conv_input(Shapes in, Shapes) {
  return of_windows(shape_at(in, 2, 3), shape_at(in, 1, 3), false);
}
std::int64_t of_conv_filter(Shapes in, Shapes out) {
  return of_windows(shape_at(in, 2, 3), shape_at(out, 0, 3), false);
}
std::int64_t of_depthwise(Shapes in, Shapes out) {
  return of_windows(shape_at(out, 0, 3), shape_at(in, 1, 3), true);
}
std::int64_t of_depthwise_input(Shapes in, Shapes) {
  return of_windows(shape_at(in, 2, 3), shape_at(in, 1, 3), true);
}
std::int64_t of_depthwise_filter(Shapes in, Shapes out) {
  return of_windows(shape_at(in, 2, 3), shape_at(out, 0, 3), true);
}

}  // namespace rill::flops
