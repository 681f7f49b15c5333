#include "rill/keras/applications/applications.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/layers/window_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras::applications {

namespace {

Tensor as_float(const Operand& x) {
  const Tensor t = identity(x);
  return t.dtype().is_floating() ? t : cast(t, backend::floatx());
}

// For weights that were trained with Caffe.
Tensor centred_bgr(const Operand& x, std::string_view data_format) {
  const bool first = is_channels_first("preprocess_input", std::string(data_format));
  const Tensor rgb = as_float(x);
  const Tensor means = constant({103.939, 116.779, 123.68}, rgb.dtype());
  return reverse(rgb, {first ? -3 : -1}) - (first ? reshape(means, {3, 1, 1}) : means);
}

}  // namespace

Tensor mobilenet_v2::preprocess_input(const Operand& x, std::string_view data_format) {
  is_channels_first("preprocess_input", std::string(data_format));  // known, though all are alike
  return as_float(x) / 127.5 - 1;
}
Tensor resnet50::preprocess_input(const Operand& x, std::string_view data_format) {
  return centred_bgr(x, data_format);
}
Tensor vgg16::preprocess_input(const Operand& x, std::string_view data_format) {
  return centred_bgr(x, data_format);
}
Tensor vgg19::preprocess_input(const Operand& x, std::string_view data_format) {
  return centred_bgr(x, data_format);
}

}  // namespace rill::keras::applications
