#include "rill/graph/flops.h"

#include <cmath>

namespace rill {
namespace {

using Values = std::vector<ObservedValue>;

const TensorShape* shape_at(const Values& values, std::size_t i, int least_rank) {
  if (i >= values.size()) return nullptr;
  const TensorShape& s = values[i].shape;
  return s.is_fully_defined() && s.rank() >= least_rank ? &s : nullptr;
}

// [.., m, k] x [.., k, n] in any transposition. The sizes of the three matrices tell k
// without the attributes: |a| |b| / |y| = k^2.
std::int64_t of_matmul(const Values& in, const Values& out) {
  const TensorShape *a = shape_at(in, 0, 2), *b = shape_at(in, 1, 2), *y = shape_at(out, 0, 2);
  if (!a || !b || !y || y->num_elements() == 0) return 0;
  auto matrix = [](const TensorShape& s) {
    return static_cast<double>(s.dim(-2)) * static_cast<double>(s.dim(-1));
  };
  const double k = std::sqrt(matrix(*a) * matrix(*b) / matrix(*y));
  return 2 * y->num_elements() * std::llround(k);
}

// Every element of the image on the far side meets each tap of one output channel.
std::int64_t of_windows(const TensorShape* image, const TensorShape* filter, bool depthwise) {
  if (!image || !filter || filter->num_elements() == 0) return 0;
  const std::int64_t one = depthwise ? filter->dim(-1) * filter->dim(-2) : filter->dim(-1);
  return 2 * image->num_elements() * (filter->num_elements() / one);
}
template <bool depthwise>
std::int64_t of_conv(const Values& in, const Values& out) {
  return of_windows(shape_at(out, 0, 3), shape_at(in, 1, 3), depthwise);
}
// (sizes of the input, filter, gradient of the output)
template <bool depthwise>
std::int64_t of_conv_input(const Values& in, const Values&) {
  return of_windows(shape_at(in, 2, 3), shape_at(in, 1, 3), depthwise);
}
// (input, sizes of the filter, gradient of the output)
template <bool depthwise>
std::int64_t of_conv_filter(const Values& in, const Values& out) {
  return of_windows(shape_at(in, 2, 3), shape_at(out, 0, 3), depthwise);
}

struct Row {
  std::string_view op;
  std::int64_t (*flops)(const Values& in, const Values& out);
};
constexpr Row kRows[] = {
    {"MatMul", of_matmul},
    {"BatchMatMulV2", of_matmul},
    {"_FusedMatMul", of_matmul},
    {"_MatMulAdd", of_matmul},
    {"Conv2D", of_conv<false>},
    {"Conv2DBackpropInput", of_conv_input<false>},
    {"Conv2DBackpropFilter", of_conv_filter<false>},
    {"Conv3D", of_conv<false>},
    {"Conv3DBackpropInputV2", of_conv_input<false>},
    {"Conv3DBackpropFilterV2", of_conv_filter<false>},
    {"DepthwiseConv2dNative", of_conv<true>},
    {"DepthwiseConv2dNativeBackpropInput", of_conv_input<true>},
    {"DepthwiseConv2dNativeBackpropFilter", of_conv_filter<true>},
};

}  // namespace

std::int64_t flops_of(std::string_view op, const Values& inputs, const Values& outputs) {
  for (const Row& r : kRows)
    if (r.op == op) return r.flops(inputs, outputs);
  return 0;
}

}  // namespace rill
