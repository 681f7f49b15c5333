#include "rill/base/format.h"
#include "rill/keras/applications/application_impl.h"
#include "rill/keras/layers/convolutional.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/pooling.h"

namespace rill::keras::applications {

namespace {

// Five blocks of convolutions; `deep` is how many each of the last three has.
Model vgg(std::string_view application, std::string_view name, int deep,
          const ApplicationOptions& o) {
  const Tensor input = Input(checked_input_shape(application, o));
  Tensor x = input;
  std::int64_t filters = 64;
  for (int block = 1; block <= 5; ++block) {
    for (int i = 1; i <= (block <= 2 ? 2 : deep); ++i) {
      x = layers::Conv2D(
          filters, 3,
          {.padding = "same", .activation = "relu", .name = format("block{}_conv{}", block, i)})(x);
    }
    x = layers::MaxPooling2D(2, 2, {.name = format("block{}_pool", block)})(x);
    filters = block < 4 ? filters * 2 : filters;
  }
  if (o.include_top) {
    x = layers::Flatten({.name = "flatten"})(x);
    x = layers::Dense(4096, {.activation = "relu", .name = "fc1"})(x);
    x = layers::Dense(4096, {.activation = "relu", .name = "fc2"})(x);
    x = predictions(x, o);
  } else {
    x = pooled(x, o);
  }
  return finished(input, x, name, o);
}

}  // namespace

Model VGG16(VGG16Options o) { return vgg("VGG16", "vgg16", 3, o); }
Model VGG19(VGG19Options o) { return vgg("VGG19", "vgg19", 4, o); }

}  // namespace rill::keras::applications
