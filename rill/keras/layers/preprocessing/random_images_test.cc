// What layers that change images by chance draw. The pixels of the images are their own places
// (column, row), so that the numbers that were drawn can be read off the results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/keras/utils/utils.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

constexpr int kImages = 600, kSize = 11, kMiddle = 5;

// [n, size, size, 2]: the column and the row of each pixel.
Tensor places(int n = kImages, int height = kSize, int width = kSize) {
  const Tensor column =
                   broadcast_to(reshape(range(0.f, static_cast<float>(width), 1.f), {1, width}),
                                {height, width}),
               row = broadcast_to(reshape(range(0.f, static_cast<float>(height), 1.f), {height, 1}),
                                  {height, width});
  return tile(expand_dims(stack({column, row}, -1), 0), {n, 1, 1, 1});
}

// One number of each image.
std::vector<float> at(const Tensor& y, int row, int column, int channel) {
  return y(all, row, column, channel).to_vector<float>();
}
std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(a[i] - b[i]);
  return out;
}

// Evenly between the bounds, another one for each image: four standard deviations of the mean and
// of the variance are allowed, and both ends are reached to a twentieth of the way.
void expect_uniform(const std::vector<float>& drawn, double lower, double upper) {
  const auto n = static_cast<double>(drawn.size());
  const double width = upper - lower;
  double sum = 0, squares = 0;
  for (const float v : drawn) {
    EXPECT_GE(v, lower - 1e-3 * width);
    EXPECT_LE(v, upper + 1e-3 * width);
    sum += v;
  }
  for (const float v : drawn) squares += (v - sum / n) * (v - sum / n);
  EXPECT_NEAR(sum / n, (lower + upper) / 2, 4 * width / std::sqrt(12 * n));
  EXPECT_NEAR(squares / n, width * width / 12, 4 * width * width / std::sqrt(180 * n));
  EXPECT_LT(*std::min_element(drawn.begin(), drawn.end()), lower + width / 20);
  EXPECT_GT(*std::max_element(drawn.begin(), drawn.end()), upper - width / 20);
  EXPECT_GT(std::set<float>(drawn.begin(), drawn.end()).size(), drawn.size() / 2);
}
// A share of so many is near what it should be.
void expect_share(std::int64_t count, double share, double of) {
  EXPECT_NEAR(static_cast<double>(count), share * of, 4 * std::sqrt(of * share * (1 - share)));
}

Tensor in_training(const Layer& layer, const Tensor& x) { return layer(x, {.training = 1}); }

TEST(RandomTranslation, MovesEachImageByItsOwnPart) {
  const layers::RandomTranslation layer({-0.1, 0.3}, 0.2, {.fill_mode = "nearest", .seed = 3});
  const Tensor y = in_training(layer, places());
  // Where something from the left, or from above, is seen now, the image has moved there.
  std::vector<float> right, down;
  for (const float v : at(y, kMiddle, kMiddle, 0)) right.push_back(kMiddle - v);
  for (const float v : at(y, kMiddle, kMiddle, 1)) down.push_back(kMiddle - v);
  expect_uniform(right, -0.2 * kSize, 0.2 * kSize);
  expect_uniform(down, -0.1 * kSize, 0.3 * kSize);
}

TEST(RandomZoom, ShowsMoreOrLessOfEachImage) {
  const Tensor both =
      in_training(layers::RandomZoom(0.3, {.fill_mode = "nearest", .seed = 3}), places());
  const auto wide = [](const Tensor& y) {
    return difference(at(y, kMiddle, kMiddle + 1, 0), at(y, kMiddle, kMiddle, 0));
  };
  const auto high = [](const Tensor& y) {
    return difference(at(y, kMiddle + 1, kMiddle, 1), at(y, kMiddle, kMiddle, 1));
  };
  expect_uniform(wide(both), 0.7, 1.3);
  for (const float v : difference(wide(both), high(both))) EXPECT_NEAR(v, 0, 1e-5);
  // About the middle.
  for (const float v : at(both, kMiddle, kMiddle, 0)) EXPECT_NEAR(v, kMiddle, 1e-4);
  const Tensor apart = in_training(
      layers::RandomZoom({-0.2, 0.}, {0., 0.4}, {.fill_mode = "nearest", .seed = 3}), places());
  expect_uniform(high(apart), 0.8, 1);
  expect_uniform(wide(apart), 1, 1.4);
}

TEST(RandomRotation, TurnsEachImageAboutItsMiddle) {
  const Tensor y =
      in_training(layers::RandomRotation(0.1, {.fill_mode = "nearest", .seed = 3}), places());
  const auto dx = difference(at(y, kMiddle, kMiddle + 1, 0), at(y, kMiddle, kMiddle, 0)),
             dy = difference(at(y, kMiddle, kMiddle + 1, 1), at(y, kMiddle, kMiddle, 1));
  std::vector<float> turns;
  for (std::size_t i = 0; i < dx.size(); ++i) {
    turns.push_back(std::atan2(dy[i], dx[i]) / (2 * std::numbers::pi_v<float>));
    EXPECT_NEAR(std::hypot(dx[i], dy[i]), 1, 1e-4);
  }
  expect_uniform(turns, -0.1, 0.1);
  for (const float v : at(y, kMiddle, kMiddle, 0)) EXPECT_NEAR(v, kMiddle, 1e-4);
}

TEST(RandomFlip, MirrorsHalfOfTheImages) {
  for (const std::string mode : {"horizontal", "vertical", "horizontal_and_vertical"}) {
    SCOPED_TRACE(mode);
    const Tensor y = in_training(layers::RandomFlip(mode, {.seed = 3}), places());
    const auto column = at(y, 0, 0, 0), row = at(y, 0, 0, 1);
    std::int64_t sideways = 0, over = 0, both = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      for (const float v : {column[i], row[i]}) EXPECT_TRUE(v == 0 || v == kSize - 1) << v;
      sideways += column[i] > 0;
      over += row[i] > 0;
      both += column[i] > 0 && row[i] > 0;
    }
    expect_share(sideways, mode == "vertical" ? 0 : 0.5, kImages);
    expect_share(over, mode == "horizontal" ? 0 : 0.5, kImages);
    if (mode == "horizontal_and_vertical") expect_share(both, 0.25, kImages);
  }
}

TEST(RandomBrightness, AddsToEachImageItsOwnPartOfTheRange) {
  const Tensor x = fill({kImages, 2, 2, 3}, constant(100.f));
  const Tensor more = in_training(layers::RandomBrightness({-0.3, 0.5}, {.seed = 3}), x) - x;
  expect_uniform(at(more, 0, 0, 0), -0.3 * 255, 0.5 * 255);
  const Tensor first = more(all, slice(0, 1), slice(0, 1), slice(0, 1));
  EXPECT_LT(reduce_max(abs(more - first)).item<float>(), 1e-4f);  // all pixels alike
  const Tensor small =
      in_training(layers::RandomBrightness(0.5, {.value_range = {0, 1}, .seed = 3}), x / 100.f);
  EXPECT_LE(reduce_max(small).item<float>(), 1.f);  // cut to the range
}

TEST(RandomContrast, DrawsOneContrastForABatch) {
  const layers::RandomContrast layer({0.4, 0.8}, {.seed = 3});
  const Tensor x = places(2) + 100.f;
  const float mean = 100 + kMiddle;
  std::vector<float> drawn;
  for (int i = 0; i < kImages; ++i) {
    const Tensor y = in_training(layer, x);
    const std::vector<float> corner = at(y, 0, kSize - 1, 0);
    EXPECT_NEAR(corner[0], corner[1], 1e-4);
    drawn.push_back((corner[0] - mean) / static_cast<float>(kSize - 1 - kMiddle));
  }
  expect_uniform(drawn, 0.6, 1.8);
}

TEST(RandomCrop, CutsABatchAtOnePlace) {
  const layers::RandomCrop layer(8, 9, {.seed = 3});
  const Tensor x = places(2);
  std::vector<std::int64_t> tops(4), lefts(3);  // rooms of 3 and 2
  for (int i = 0; i < kImages; ++i) {
    const Tensor y = in_training(layer, x);
    ASSERT_EQ(y.shape(), TensorShape({2, 8, 9, 2}));
    const auto left = at(y, 0, 0, 0), top = at(y, 0, 0, 1);
    EXPECT_EQ(left[0], left[1]);
    EXPECT_EQ(top[0], top[1]);
    EXPECT_EQ(at(y, 7, 8, 0)[0], left[0] + 8);
    EXPECT_EQ(at(y, 7, 8, 1)[0], top[0] + 7);
    ++tops.at(static_cast<std::size_t>(top[0]));
    ++lefts.at(static_cast<std::size_t>(left[0]));
  }
  for (const std::int64_t n : tops) expect_share(n, 1. / 4, kImages);
  for (const std::int64_t n : lefts) expect_share(n, 1. / 3, kImages);
}

TEST(RandomCrop, CutsTheMiddleInInference) {
  const layers::RandomCrop layer(4, 4);
  const Tensor y = layer(places(1, 4, 10), {.training = 0});
  EXPECT_EQ(at(y, 0, 0, 0)[0], 3);
  EXPECT_EQ(at(y, 3, 3, 0)[0], 6);
  EXPECT_EQ(at(y, 3, 3, 1)[0], 3);
}

struct Kind {
  const char* name;
  std::function<LayerRef(std::int64_t seed)> make;
};
std::vector<Kind> kinds() {
  return {{"RandomCrop", [](auto s) -> LayerRef { return layers::RandomCrop(5, 5, {.seed = s}); }},
          {"RandomFlip", [](auto s) -> LayerRef { return layers::RandomFlip({.seed = s}); }},
          {"RandomTranslation",
           [](auto s) -> LayerRef { return layers::RandomTranslation(0.3, 0.3, {.seed = s}); }},
          {"RandomRotation",
           [](auto s) -> LayerRef { return layers::RandomRotation(0.3, {.seed = s}); }},
          {"RandomZoom", [](auto s) -> LayerRef { return layers::RandomZoom(0.3, {.seed = s}); }},
          {"RandomContrast",
           [](auto s) -> LayerRef { return layers::RandomContrast(0.3, {.seed = s}); }},
          {"RandomBrightness",
           [](auto s) -> LayerRef { return layers::RandomBrightness(0.1, {.seed = s}); }}};
}
std::vector<std::vector<float>> four_calls(const LayerRef& layer) {
  std::vector<std::vector<float>> all;
  for (int i = 0; i < 4; ++i) all.push_back(in_training(*layer, places(8)).to_vector<float>());
  return all;
}

TEST(RandomImages, OneSeedGivesTheSamePicturesAgain) {
  for (const Kind& k : kinds()) {
    SCOPED_TRACE(k.name);
    utils::set_random_seed(1);
    const auto first = four_calls(k.make(7));
    utils::set_random_seed(1);
    EXPECT_EQ(four_calls(k.make(7)), first);
    EXPECT_NE(four_calls(k.make(8)), first);
    // Another call gives other pictures.
    EXPECT_GT(std::set<std::vector<float>>(first.begin(), first.end()).size(), 1u);
    // Without one, that of the program decides.
    utils::set_random_seed(5);
    const auto of_program = four_calls(k.make(-1));
    utils::set_random_seed(5);
    EXPECT_EQ(four_calls(k.make(-1)), of_program);
    utils::set_random_seed(6);
    EXPECT_NE(four_calls(k.make(-1)), of_program);
  }
}

TEST(RandomImages, AreChangedInTrainingAlone) {
  const Tensor x = places(8);
  for (const Kind& k : kinds()) {
    SCOPED_TRACE(k.name);
    if (std::string(k.name) == "RandomCrop") continue;  // it has the shape to keep
    Sequential m({k.make(7)});
    EXPECT_EQ(m.predict(x).to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(in_training(m, x).shape(), x.shape());
    EXPECT_NE(in_training(m, x).to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(Tensor(m(x, {.training = 0})).to_vector<float>(), x.to_vector<float>());
  }
}

// The pictures of one batch of fit differ, and those of the next epoch do too.
TEST(RandomImages, AreDrawnAnewInFit) {
  struct Seen : Layer {
    std::vector<std::vector<float>>* seen;
    explicit Seen(std::vector<std::vector<float>>* s) : seen(s) {}
    Tensor call(const Tensor& x, const CallContext& context) override {
      if (context.training) seen->push_back(at(x, kMiddle, kMiddle, 0));
      return reduce_mean(x, {1, 2});
    }
  };
  std::vector<std::vector<float>> seen;
  Sequential m({layers::RandomTranslation(0.2, 0.2, {.fill_mode = "nearest", .seed = 3}),
                Seen(&seen), layers::Dense(1)});
  m.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true});
  m.fit(places(6), zeros({6, 1}), {.batch_size = 6, .epochs = 3, .verbose = 0});
  ASSERT_EQ(seen.size(), 3u);
  std::set<float> all;
  for (const auto& batch : seen) all.insert(batch.begin(), batch.end());
  EXPECT_EQ(all.size(), 18u);
}

}  // namespace
}  // namespace rill::keras
