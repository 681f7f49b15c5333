#pragma once
#include <string>

#include "rill/ops/nn_ops.h"

// Where TensorFlow 1's functions differ from rill::nn.
namespace rill RILL_API {
namespace compat::v1::nn {

using namespace rill::nn;
struct DropoutOptions {
  TensorShape noise_shape = {};
  std::int64_t seed = -1;
  std::string name = {};
  double keep_prob = -1;  // 1 - rate; deprecated
  double rate = -1;       // one of the two must be given, not both
};
Tensor dropout(const Operand& x, const DropoutOptions& options);
Tensor dropout(const Operand& x, double keep_prob);
struct Conv2dOptions {
  bool use_cudnn_on_gpu = true;  // without meaning here
  std::string data_format = "NHWC";
  Sizes dilations = 1;
  std::string name = {};
};
Tensor conv2d(const Operand& input, const Operand& filter, const Sizes& strides,
              const Padding& padding, const Conv2dOptions& options = {});
Tensor conv2d_backprop_input(const Operand& input_sizes, const Operand& filter,
                             const Operand& out_backprop, const Sizes& strides,
                             const Padding& padding, const Conv2dOptions& options = {});
Tensor conv2d_backprop_filter(const Operand& input, const Operand& filter_sizes,
                              const Operand& out_backprop, const Sizes& strides,
                              const Padding& padding, const Conv2dOptions& options = {});

}  // namespace compat::v1::nn
}  // namespace RILL_API
