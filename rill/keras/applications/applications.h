#pragma once
#include <string>
#include <string_view>

#include "rill/core/operand.h"
#include "rill/keras/activations/activation.h"
#include "rill/keras/models/model.h"

// Models for images with the layers, names and weights of Keras's, so that files of weights fit
// both ways. Images are [height, width, channels].
//
//   auto model = keras::applications::MobileNetV2({.classes = 5});
//   auto base = keras::applications::ResNet50({.include_top = false, .weights = "resnet50.h5"});
namespace rill RILL_API {
namespace keras {
namespace applications {

// Where weights come from: a file that load_weights reads, or tf::None for those of the
// initializers. Not given: the same with a warning, since Keras would download "imagenet", which is
// Unimplemented here.
class PublishedWeights {
 public:
  PublishedWeights() = default;
  PublishedWeights(const char* path) : path_(path), given_(true) {}
  PublishedWeights(std::string path) : path_(std::move(path)), given_(true) {}
  PublishedWeights(Dim none);  // InvalidArgument unless None
  PublishedWeights(std::nullptr_t) : given_(true) {}
  const std::string& path() const { return path_; }
  bool given() const { return given_; }

 private:
  std::string path_;
  bool given_ = false;
};

struct ApplicationOptions {
  bool include_top = true;  // the layers that classify
  PublishedWeights weights = {};
  // 224 x 224 x 3 when not given, or, without the top, any size. At least 32 x 32.
  TensorShape input_shape = {};
  std::string pooling = {};     // without the top: "avg" or "max" over the image; empty: none
  std::int64_t classes = 1000;  // this and the next: of the top alone
  Activation classifier_activation = "softmax";
};
using ResNet50Options = ApplicationOptions;
using VGG16Options = ApplicationOptions;
using VGG19Options = ApplicationOptions;

struct MobileNetV2Options {
  TensorShape input_shape = {};
  double alpha = 1;  // how many filters each layer has, of those in the paper
  bool include_top = true;
  PublishedWeights weights = {};
  std::string pooling = {};
  std::int64_t classes = 1000;
  Activation classifier_activation = "softmax";
};

Model MobileNetV2(MobileNetV2Options options = {});
Model ResNet50(ResNet50Options options = {});
Model VGG16(VGG16Options options = {});
Model VGG19(VGG19Options options = {});

// What the published weights expect of RGB images with values 0 to 255; whole numbers become
// floatx. The result is its own tensor.
namespace mobilenet_v2 {
using applications::MobileNetV2;
// -1 to 1.
Tensor preprocess_input(const Operand& x, std::string_view data_format = "channels_last");
}  // namespace mobilenet_v2
namespace resnet50 {
using applications::ResNet50;
// BGR, less the mean of each channel over ImageNet.
Tensor preprocess_input(const Operand& x, std::string_view data_format = "channels_last");
}  // namespace resnet50
namespace vgg16 {
using applications::VGG16;
// As resnet50.
Tensor preprocess_input(const Operand& x, std::string_view data_format = "channels_last");
}  // namespace vgg16
namespace vgg19 {
using applications::VGG19;
// As resnet50.
Tensor preprocess_input(const Operand& x, std::string_view data_format = "channels_last");
}  // namespace vgg19

}  // namespace applications
}  // namespace keras
}  // namespace RILL_API
