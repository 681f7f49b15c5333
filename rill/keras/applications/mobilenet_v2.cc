#include <algorithm>
#include <cmath>

#include "rill/base/check.h"
#include "rill/base/format.h"
#include "rill/keras/applications/application_impl.h"
#include "rill/keras/layers/activation.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/merging.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/reshaping.h"

namespace rill::keras::applications {

namespace {

// The multiple of 8 next to a count of filters, at most a tenth below it.
std::int64_t whole_eights(double filters) {
  const std::int64_t near =
      std::max<std::int64_t>(8, static_cast<std::int64_t>(filters + 4) / 8 * 8);
  return static_cast<double>(near) < 0.9 * filters ? near + 8 : near;
}

Tensor batch_normalized(const Tensor& x, const std::string& name) {
  return layers::BatchNormalization({.momentum = 0.999, .epsilon = 1e-3, .name = name})(x);
}
Tensor relu6(const Tensor& x, const std::string& name) {
  return layers::ReLU({.max_value = 6, .name = name})(x);
}
Tensor pointwise(const Tensor& x, std::int64_t filters, const std::string& name) {
  return layers::Conv2D(filters, 1, {.padding = "same", .use_bias = false, .name = name})(x);
}

// Zeros before and after an axis so that a window of 3 with a stride of 2, which pads nothing
// itself, meets the same pixels whether the size is odd or even.
std::vector<int> around(Dim size) {
  const bool odd = size.known() && size.value() % 2 == 1;
  return {odd ? 1 : 0, 1};
}

struct Block {
  std::int64_t filters;
  int stride;
};

// Expands the channels, looks at each apart, and projects them on few; where neither size nor
// channels change, the input is added.
Tensor inverted_residual(const Tensor& input, const Block& block, double alpha, int id) {
  const std::int64_t channels = input.shape().dim(-1);
  const std::int64_t filters = whole_eights(std::trunc(static_cast<double>(block.filters) * alpha));
  const std::string prefix = id == 0 ? "expanded_conv_" : format("block_{}_", id);
  Tensor x = input;
  if (id > 0) {  // the first block has as many channels as it needs
    x = pointwise(x, 6 * channels, prefix + "expand");
    x = batch_normalized(x, prefix + "expand_BN");
    x = relu6(x, prefix + "expand_relu");
  }
  if (block.stride == 2) {
    x = layers::ZeroPadding2D(
        {.padding = layers::Borders({around(x.shape()[1]), around(x.shape()[2])}),
         .name = prefix + "pad"})(x);
  }
  x = layers::DepthwiseConv2D(3, {.strides = block.stride,
                                  .padding = block.stride == 1 ? "same" : "valid",
                                  .use_bias = false,
                                  .name = prefix + "depthwise"})(x);
  x = batch_normalized(x, prefix + "depthwise_BN");
  x = relu6(x, prefix + "depthwise_relu");
  x = pointwise(x, filters, prefix + "project");
  x = batch_normalized(x, prefix + "project_BN");
  if (channels != filters || block.stride != 1) return x;
  return layers::Add({.name = prefix + "add"})({input, x});
}

constexpr Block blocks[] = {{16, 1}, {24, 2},  {24, 1},  {32, 2},  {32, 1}, {32, 1},
                            {64, 2}, {64, 1},  {64, 1},  {64, 1},  {96, 1}, {96, 1},
                            {96, 1}, {160, 2}, {160, 1}, {160, 1}, {320, 1}};

}  // namespace

Model MobileNetV2(MobileNetV2Options o) {
  RILL_CHECK(o.alpha > 0, invalid_argument, "[MobileNetV2] alpha = {}; expected a number above 0",
             o.alpha);
  const ApplicationOptions common = {.include_top = o.include_top,
                                     .weights = o.weights,
                                     .input_shape = o.input_shape,
                                     .pooling = o.pooling,
                                     .classes = o.classes,
                                     .classifier_activation = o.classifier_activation};
  const TensorShape shape = checked_input_shape("MobileNetV2", common);
  const Tensor input = Input(shape);
  Tensor x = layers::Conv2D(whole_eights(32 * o.alpha), 3, 2,
                            {.padding = "same", .use_bias = false, .name = "Conv1"})(input);
  x = batch_normalized(x, "bn_Conv1");
  x = relu6(x, "Conv1_relu");
  for (int id = 0; const Block& block : blocks) x = inverted_residual(x, block, o.alpha, id++);
  // Narrow models keep all features for the classifier.
  const std::int64_t features = o.alpha > 1 ? whole_eights(1280 * o.alpha) : 1280;
  x = layers::Conv2D(features, 1, {.use_bias = false, .name = "Conv_1"})(x);
  x = batch_normalized(x, "Conv_1_bn");
  x = relu6(x, "out_relu");
  x = o.include_top ? predictions(layers::GlobalAveragePooling2D()(x), common) : pooled(x, common);
  const std::string rows = shape[0].known() ? format("{}", shape.dim(0)) : "None";
  return finished(input, x, format("mobilenetv2_{:.2f}_{}", o.alpha, rows), common);
}

}  // namespace rill::keras::applications
