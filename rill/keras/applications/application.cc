#include <atomic>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/keras/applications/application_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/pooling.h"

namespace rill::keras::applications {

PublishedWeights::PublishedWeights(Dim none) : given_(true) {
  RILL_CHECK(!none.known(), invalid_argument,
             "[applications] weights is {}; expected the path of a file, or tf::None",
             none.value());
}

namespace {

constexpr std::int64_t default_size = 224, least_size = 32;

void check_weights(std::string_view application, const ApplicationOptions& o) {
  if (!o.weights.given()) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true))
      RILL_LOG(warning,
               "[{}] its weights are random. Keras would load those of ImageNet: give the path of "
               "their file as .weights, or .weights = tf::None if random ones are meant",
               application);
  }
  if (o.weights.path().empty()) return;
  const bool imagenet = o.weights.path() == "imagenet";
  RILL_CHECK(!imagenet || !o.include_top || o.classes == 1000, invalid_argument,
             "[{}] classes = {} with weights = \"imagenet\" and include_top = true; these weights "
             "tell 1000 classes apart. Leave weights empty to train {} classes, or set "
             "include_top = false",
             application, o.classes, o.classes);
  RILL_CHECK(!imagenet, unimplemented,
             "[{}] weights = \"imagenet\", but nothing is downloaded. Give the path of the .h5 "
             "file that Keras publishes, or leave weights empty for random ones",
             application);
  RILL_CHECK(
      io::file_exists(o.weights.path()), invalid_argument,
      "[{}] weights = \"{}\" is not a file; expected the path of a file of weights, or nothing "
      "for random ones",
      application, o.weights.path());
  const Activation& a = o.classifier_activation;
  RILL_CHECK(!o.include_top || a.is("softmax") || a.is("linear"), invalid_argument,
             "[{}] classifier_activation = \"{}\" with weights from a file and include_top = "
             "true; expected \"softmax\" or none. Leave weights empty, or take the logits and "
             "apply the activation to them",
             application, a.name());
}

}  // namespace

TensorShape checked_input_shape(std::string_view application, const ApplicationOptions& o) {
  check_weights(application, o);
  RILL_CHECK(o.pooling.empty() || o.pooling == "avg" || o.pooling == "max", invalid_argument,
             "[{}] pooling = \"{}\"; expected \"avg\", \"max\", or nothing", application,
             o.pooling);
  const TensorShape& shape = o.input_shape;
  if (!shape.has_rank()) {
    return o.include_top ? TensorShape({default_size, default_size, 3})
                         : TensorShape({None, None, 3});
  }
  RILL_CHECK(shape.rank() == 3, invalid_argument,
             "[{}] input_shape = {}; expected three numbers: height, width and channels",
             application, shape);
  RILL_CHECK(shape[2].known() && shape.dim(2) > 0, invalid_argument,
             "[{}] input_shape = {} does not say how many channels there are. Give the last number",
             application, shape);
  for (int axis : {0, 1}) {
    RILL_CHECK(!shape[axis].known() || shape.dim(axis) >= least_size, invalid_argument,
               "[{}] input_shape = {}; the image must be at least {}x{}. Make it larger with "
               "image::resize",
               application, shape, least_size, least_size);
    RILL_CHECK(shape[axis].known() || !o.include_top, invalid_argument,
               "[{}] input_shape = {} with include_top = true; the layers that classify need a "
               "fixed size. Give all numbers, or set include_top = false",
               application, shape);
  }
  if (shape.dim(2) != 1 && shape.dim(2) != 3)
    RILL_LOG(warning, "[{}] input_shape = {}; images usually have 1 or 3 channels", application,
             shape);
  return shape;
}

Tensor pooled(const Tensor& x, const ApplicationOptions& o, const EndNames& names) {
  if (o.pooling == "avg") return layers::GlobalAveragePooling2D({.name = names.average})(x);
  if (o.pooling == "max") return layers::GlobalMaxPooling2D({.name = names.max})(x);
  return x;
}

Tensor predictions(const Tensor& x, const ApplicationOptions& o) {
  return layers::Dense(o.classes,
                       {.activation = o.classifier_activation, .name = "predictions"})(x);
}

Model finished(const Tensor& input, const Tensor& output, std::string_view name,
               const ApplicationOptions& o) {
  Model model(input, output, name);
  if (!o.weights.path().empty()) model.load_weights(o.weights.path());
  return model;
}

}  // namespace rill::keras::applications
