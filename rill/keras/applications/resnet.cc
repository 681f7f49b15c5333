#include "rill/base/format.h"
#include "rill/keras/applications/application_impl.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/merging.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/reshaping.h"

namespace rill::keras::applications {

namespace {

Tensor normalized(const Tensor& x, const std::string& name) {
  return layers::BatchNormalization({.epsilon = 1.001e-5, .name = name})(x);
}
Tensor relu(const Tensor& x, const std::string& name) {
  return layers::Activation("relu", {.name = name})(x);
}
// A convolution over channels alone, normalised; `part` is its place in the block.
Tensor pointwise(const Tensor& x, std::int64_t filters, int stride, const std::string& part) {
  return normalized(layers::Conv2D(filters, 1, stride, {.name = part + "_conv"})(x), part + "_bn");
}

// Three convolutions, of which the one that sees neighbours works on a quarter of the channels,
// and what went in added. A block that changes size or channels projects that too.
Tensor bottleneck(const Tensor& input, std::int64_t filters, int stride, bool project,
                  const std::string& name) {
  const Tensor shortcut = project ? pointwise(input, 4 * filters, stride, name + "_0") : input;
  Tensor x = relu(pointwise(input, filters, stride, name + "_1"), name + "_1_relu");
  x = layers::Conv2D(filters, 3, {.padding = "same", .name = name + "_2_conv"})(x);
  x = relu(normalized(x, name + "_2_bn"), name + "_2_relu");
  x = pointwise(x, 4 * filters, 1, name + "_3");
  return relu(layers::Add({.name = name + "_add"})({shortcut, x}), name + "_out");
}

struct Stack {
  const char* name;
  std::int64_t filters;
  int blocks, stride;
};
constexpr Stack stacks[] = {
    {"conv2", 64, 3, 1}, {"conv3", 128, 4, 2}, {"conv4", 256, 6, 2}, {"conv5", 512, 3, 2}};

}  // namespace

Model ResNet50(ResNet50Options o) {
  const Tensor input = Input(checked_input_shape("ResNet50", o));
  Tensor x = layers::ZeroPadding2D(3, {.name = "conv1_pad"})(input);
  x = layers::Conv2D(64, 7, 2, {.name = "conv1_conv"})(x);
  x = relu(normalized(x, "conv1_bn"), "conv1_relu");
  x = layers::ZeroPadding2D(1, {.name = "pool1_pad"})(x);
  x = layers::MaxPooling2D(3, 2, {.name = "pool1_pool"})(x);
  for (const Stack& s : stacks) {
    for (int i = 1; i <= s.blocks; ++i) {
      const bool first = i == 1;
      x = bottleneck(x, s.filters, first ? s.stride : 1, first, format("{}_block{}", s.name, i));
    }
  }
  x = o.include_top ? predictions(layers::GlobalAveragePooling2D({.name = "avg_pool"})(x), o)
                    : pooled(x, o, {.average = "avg_pool", .max = "max_pool"});
  return finished(input, x, "resnet50", o);
}

}  // namespace rill::keras::applications
