#include "rill/keras/applications/applications.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rill/base/error.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/optimizers/optimizer.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace applications = keras::applications;
using rill::testing::expect_error;
using tf::Tensor;

namespace {

// Keras's own models (tools/goldens/make_application_goldens.py).
std::ifstream golden(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/rill/keras/applications/testdata/" + name +
                   ".txt");
  EXPECT_TRUE(in.good()) << name;
  return in;
}

std::int64_t count(const std::vector<tf::Variable>& weights) {
  std::int64_t n = 0;
  for (const tf::Variable& w : weights) n += w.shape().num_elements();
  return n;
}

// Names, classes and weights of all layers, as the goldens write them.
std::string layout(const keras::Model& model) {
  std::ostringstream out;
  out << "model " << model.name() << ' ' << count(model.weights()) << ' '
      << count(model.trainable_weights()) << '\n';
  for (const keras::LayerRef& layer : model.layers()) {
    out << layer->name() << ' ' << layer->class_name();
    for (const tf::Variable& w : layer->weights()) {
      const char* between = " ";
      for (std::int64_t size : w.shape().as_list()) {
        out << between << size;
        between = "x";
      }
    }
    out << '\n';
  }
  return out.str();
}
template <class F, class Options>
void expect_layout(const std::string& name, F application, const Options& options) {
  keras::backend::clear_session();
  std::stringstream want;
  want << golden(name).rdbuf();
  EXPECT_EQ(layout(application(options)), want.str()) << name;
}

// Scattered numbers from -1 to 1 by their place alone: offset + scale * each.
Tensor scattered(const tf::TensorShape& shape, std::uint32_t start = 0, double scale = 1,
                 double offset = 0) {
  std::vector<float> v(static_cast<std::size_t>(shape.num_elements()));
  for (float& value : v) {
    std::uint32_t h = start++ * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    value = static_cast<float>(offset + scale * (h / 2147483648.0 - 1));
  }
  return tf::constant(v, tf::float32, shape);
}
// The weights of the script that makes the goldens; gamma is the mean of those of that name.
void set_weights_by_formula(const keras::Model& model, double gamma = 1) {
  std::uint32_t index = 0;
  for (tf::Variable w : model.weights()) {
    const tf::TensorShape shape = w.shape();
    const std::int64_t n = shape.num_elements();
    const auto has = [name = w.name()](const char* part) {
      return name.find(part) != std::string::npos;
    };
    const double fan_in = has("depthwise_kernel")
                              ? static_cast<double>(shape.dim(0) * shape.dim(1))
                              : static_cast<double>(n) / static_cast<double>(shape.dim(-1));
    const double offset = has("gamma") ? gamma : has("variance") ? 1 : 0;
    const double scale = has("kernel") ? std::sqrt(6.0 / fan_in) : 0.25;
    w.assign(scattered(shape, index, scale, offset));
    index += static_cast<std::uint32_t>(n);
  }
}
void expect_result(const std::string& name, const keras::Model& model, double gamma = 1) {
  set_weights_by_formula(model, gamma);
  tf::TensorShape shape = model.inputs()[0].shape();
  shape.set_dim(0, 2);
  const Tensor x = scattered(shape);
  const Tensor y = model(x);
  const std::vector<float> got =
      y(tf::all, tf::slice(0, std::min<std::int64_t>(16, y.shape().dim(1)))).to_vector<float>();
  std::ifstream in = golden("results");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string case_name;
    words >> case_name;
    if (case_name != name) continue;
    std::size_t i = 0;
    for (float want; words >> want; ++i) {
      ASSERT_LT(i, got.size());
      EXPECT_NEAR(got[i], want, 1e-4) << name << ' ' << i;
    }
    EXPECT_EQ(i, got.size());
    return;
  }
  FAIL() << "no golden of " << name;
}

TEST(Applications, MobileNetV2HasTheLayersOfKeras) {
  using Options = applications::MobileNetV2Options;
  expect_layout("mobilenet_v2", applications::MobileNetV2, Options{});
  expect_layout("mobilenet_v2_half", applications::MobileNetV2,
                Options{.input_shape = {97, 65, 1}, .alpha = 0.5, .classes = 5});
  expect_layout("mobilenet_v2_wide", applications::MobileNetV2,
                Options{.alpha = 1.4, .include_top = false, .pooling = "max"});
}

TEST(Applications, ResNet50HasTheLayersOfKeras) {
  RILL_SHOWS("A05");
  using Options = applications::ResNet50Options;
  expect_layout("resnet50", applications::ResNet50, Options{});
  expect_layout("resnet50_no_top", applications::ResNet50,
                Options{.include_top = false, .pooling = "avg"});
}

TEST(Applications, VGGHasTheLayersOfKeras) {
  RILL_SHOWS("A01");
  using Options = applications::ApplicationOptions;
  // The published size has 138 million parameters; of a small image the same layers.
  expect_layout("vgg16", applications::VGG16, Options{.input_shape = {32, 32, 3}});
  expect_layout("vgg16_no_top", applications::VGG16,
                Options{.include_top = false, .pooling = "avg"});
  expect_layout("vgg19_no_top", applications::VGG19, Options{.include_top = false});
}

TEST(Applications, ResultsOfMobileNetV2AreThoseOfKeras) {
  expect_result(
      "mobilenet_v2",
      applications::MobileNetV2(
          {.input_shape = {32, 32, 3}, .alpha = 0.35, .classes = 10, .classifier_activation = {}}));
  expect_result(
      "mobilenet_v2_odd",
      applications::MobileNetV2(
          {.input_shape = {37, 50, 3}, .alpha = 0.35, .include_top = false, .pooling = "avg"}));
}
TEST(Applications, ResultsOfResNet50AreThoseOfKeras) {
  RILL_SHOWS("A05");
  // A smaller gamma, for the sums of its blocks grow.
  expect_result("resnet50",
                applications::ResNet50(
                    {.input_shape = {32, 32, 3}, .classes = 10, .classifier_activation = {}}),
                0.75);
}
TEST(Applications, ResultsOfVGG16AreThoseOfKeras) {
  expect_result("vgg16", applications::VGG16(
                             {.include_top = false, .input_shape = {32, 32, 3}, .pooling = "max"}));
}

TEST(Applications, AModelWithoutTopTakesImagesOfAnySize) {
  const auto features = applications::MobileNetV2({.alpha = 0.35, .include_top = false});
  EXPECT_EQ(features.name(), "mobilenetv2_0.35_None");
  EXPECT_EQ(features(tf::zeros({1, 64, 96, 3})).shape(), tf::TensorShape({1, 2, 3, 1280}));
  EXPECT_EQ(features(tf::zeros({2, 32, 32, 3})).shape(), tf::TensorShape({2, 1, 1, 1280}));
}

TEST(Applications, MobileNetV2OfFiveClassesTrains) {
  RILL_SHOWS("A03");
  auto model = applications::MobileNetV2({.input_shape = {32, 32, 3}, .classes = 5});
  EXPECT_EQ(model.outputs()[0].shape(), tf::TensorShape({tf::None, 5}));
  const Tensor x = scattered({4, 32, 32, 3});
  const Tensor y = model(x);
  for (float sum : tf::reduce_sum(y, 1).to_vector<float>()) EXPECT_NEAR(sum, 1, 1e-5);

  const keras::LayerRef norm = model.get_layer("block_3_depthwise_BN");
  const std::vector<Tensor> before = norm->get_weights();
  model.compile(
      {.optimizer = keras::optimizers::SGD(0.1), .loss = "sparse_categorical_crossentropy"});
  const auto logs = model.train_on_batch(x, tf::range(4));
  EXPECT_TRUE(std::isfinite(logs["loss"]));
  const std::vector<Tensor> after = norm->get_weights();
  ASSERT_EQ(after.size(), 4u);  // gamma, beta, moving mean, moving variance
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_GT(tf::reduce_max(tf::abs(after[i] - before[i])).item<float>(), 0) << i;
  }
  // 0.999 of what it was, 1.
  EXPECT_GT(tf::reduce_min(after[3]).item<float>(), 0.998f);
  EXPECT_LT(tf::reduce_min(after[3]).item<float>(), 1.f);
}

TEST(Applications, MistakenArgumentsAreNamed) {
  RILL_SHOWS("A02", "Z32");
  using tf::errors::InvalidArgument;
  const auto fails = [](const applications::MobileNetV2Options& o, const std::string& text) {
    expect_error<InvalidArgument>([&] { applications::MobileNetV2(o); }, text);
  };
  fails({.input_shape = {31, 32, 3}}, "at least 32x32");
  fails({.input_shape = {32, 32}}, "three numbers");
  fails({.input_shape = {tf::None, 32, 3}}, "include_top = true");
  fails({.input_shape = {32, 32, tf::None}}, "channels");
  fails({.include_top = false, .pooling = "mean"}, "expected \"avg\"");
  fails({.alpha = 0}, "alpha = 0");
  fails({.weights = "imagenet", .classes = 5}, "classes = 5 with weights = \"imagenet\"");
  fails({.weights = "no_such_file.h5"}, "no_such_file.h5");
  expect_error<tf::errors::Unimplemented>(
      [] { applications::MobileNetV2({.weights = "imagenet"}); }, "nothing is downloaded");
  expect_error<tf::errors::Unimplemented>(
      [] { applications::ResNet50({.include_top = false, .weights = "imagenet", .classes = 5}); },
      "[ResNet50]");
  expect_error<InvalidArgument>(
      [] {
        applications::VGG16({.input_shape = {32, 16, 3}});
      },
      "[VGG16] input_shape = [32, 16, 3]");
}

TEST(Applications, WeightsAreReadFromAFile) {
  RILL_SHOWS("A01", "A02");
  const std::string path =
      (std::filesystem::temp_directory_path() / "rill_applications_weights.h5").string();
  const applications::MobileNetV2Options options = {
      .input_shape = {32, 32, 3}, .alpha = 0.35, .classes = 5};
  const auto trained = applications::MobileNetV2(options);
  set_weights_by_formula(trained);
  trained.save_weights(path);

  auto from_file = options;
  from_file.weights = path;
  const auto again = applications::MobileNetV2(from_file);
  const Tensor x = scattered({1, 32, 32, 3});
  EXPECT_EQ(again(x).to_vector<float>(), trained(x).to_vector<float>());

  // Weights for another number of classes, and an activation that they were not trained with.
  from_file.classes = 6;
  expect_error<tf::errors::InvalidArgument>([&] { applications::MobileNetV2(from_file); }, "6");
  from_file.classes = 5;
  from_file.classifier_activation = "sigmoid";
  expect_error<tf::errors::InvalidArgument>([&] { applications::MobileNetV2(from_file); },
                                            "classifier_activation = \"sigmoid\"");
  std::filesystem::remove(path);
}

TEST(Applications, PreprocessingOfImages) {
  const Tensor rgb = tf::constant({{{{0, 51, 255}}}}, tf::uint8);  // one pixel
  const auto near = [](std::vector<float> v) {
    return ::testing::Pointwise(::testing::FloatNear(1e-4f), v);
  };
  const Tensor scaled = applications::mobilenet_v2::preprocess_input(rgb);
  EXPECT_EQ(scaled.dtype(), tf::float32);
  EXPECT_THAT(scaled.to_vector<float>(), near({-1, -0.6f, 1}));
  const std::vector<float> bgr = {255 - 103.939f, 51 - 116.779f, -123.68f};
  EXPECT_THAT(applications::resnet50::preprocess_input(rgb).to_vector<float>(), near(bgr));
  EXPECT_THAT(applications::vgg16::preprocess_input(rgb).to_vector<float>(), near(bgr));
  EXPECT_THAT(applications::vgg19::preprocess_input(rgb).to_vector<float>(), near(bgr));
  const Tensor channels_first = tf::reshape(rgb, {1, 3, 1, 1});
  EXPECT_THAT(
      applications::vgg16::preprocess_input(channels_first, "channels_first").to_vector<float>(),
      near(bgr));
  const Tensor exact = applications::resnet50::preprocess_input(tf::cast(rgb, tf::float64));
  EXPECT_EQ(exact.dtype(), tf::float64);
  EXPECT_NEAR(exact.to_vector<double>()[0], 255 - 103.939, 1e-12);
  expect_error<tf::errors::InvalidArgument>(
      [&] { applications::mobilenet_v2::preprocess_input(rgb, "channels_lost"); }, "channels_lost");
}

TEST(Applications, PreprocessingIsALayerOfAModel) {
  auto input = keras::Input({32, 32, 3});
  auto base = applications::MobileNetV2(
      {.input_shape = {32, 32, 3}, .alpha = 0.35, .include_top = false, .pooling = "avg"});
  keras::Model model(input, base(applications::mobilenet_v2::preprocess_input(input)));
  const Tensor x = tf::fill({1, 32, 32, 3}, 100.f);
  EXPECT_EQ(model(x).to_vector<float>(), base(x / 127.5f - 1.f).to_vector<float>());
}

}  // namespace
