#include "rill/plot/plot.h"

#include <gtest/gtest.h>

#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/picture_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/plot/drawing_impl.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"
#include "tests/shows.h"

namespace rill {
namespace {

using rill::testing::expect_error;

std::vector<int> pixel(const plot::Figure& f, int y, int x) {
  return cast(f.pixels()(y, x), int32).to_vector<int>();
}
int painted(const plot::Figure& f) {
  return reduce_sum(cast(reduce_any(not_equal(f.pixels(), cast(constant(255), uint8)), -1), int32))
      .item<int>();
}

TEST(Plot, ImagesInASheetWithTitles) {
  RILL_SHOWS("V23");
  const std::string folder = testing::fresh_folder("plot");
  const Tensor batch =
      concat({zeros({1, 8, 8, 1}), ones({1, 8, 8, 1}) * 0.5f, ones({2, 8, 8, 1})}, 0);
  const plot::Figure f =
      plot::images(batch, {.titles = {"zero", "half"}, .columns = 4, .size = 64});
  EXPECT_EQ(f.width(), 10 + 4 * 74);
  EXPECT_EQ(f.height(), 10 + 22 + 64 + 10);
  EXPECT_EQ(pixel(f, 50, 20), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(pixel(f, 50, 100), (std::vector<int>{128, 128, 128}));
  EXPECT_EQ(pixel(f, 50, 5), (std::vector<int>{255, 255, 255}));
  f.save(folder + "/sheet.png");
  const Tensor back = io::decode_png(io::file_contents(folder + "/sheet.png"));
  EXPECT_TRUE(reduce_all(equal(back, f.pixels())).item<bool>());
  f.save(folder + "/sheet.svg");
  const std::string svg = io::file_contents(folder + "/sheet.svg");
  EXPECT_NE(svg.find(">half</text>"), svg.npos);
  EXPECT_NE(svg.find("href=\"data:image/png;base64,iVBORw0KGgo"), svg.npos);
}
TEST(Plot, ImagesOfAnyKind) {
  EXPECT_EQ(plot::images(zeros({5, 6}), {.size = 6}).width(), 26);
  EXPECT_EQ(plot::images(zeros({5, 6, 3}, uint8), {.size = 6}).width(), 26);
  EXPECT_EQ(plot::images(zeros({2, 6, 6}), {.size = 6}).width(), 42);
  EXPECT_EQ(plot::images({zeros({5, 6, 3}), zeros({9, 2, 1})}, {.size = 1}).height(), 29);
  EXPECT_EQ(plot::images(zeros({50, 4, 4, 1}), {.max_images = 7, .size = 4}).width(), 10 + 3 * 14);
  // A range of their own; transparent pixels lie on white.
  EXPECT_EQ(
      pixel(plot::images(constant({-3.f, 1.f, 5.f}, float32, {1, 1, 3, 1}), {.size = 3}), 10, 11),
      (std::vector<int>{128, 128, 128}));
  EXPECT_EQ(pixel(plot::images(zeros({1, 4, 4, 4}, uint8), {.size = 4}), 11, 11),
            (std::vector<int>{255, 255, 255}));
  expect_error<errors::InvalidArgumentError>(
      [] {
        plot::images(zeros({1, 4, 4, 2}));
      },
      "expected [n, height, width, 1, 3 or 4]");
  expect_error<errors::InvalidArgumentError>(
      [] {
        plot::images(zeros({0, 4, 4, 1}));
      },
      "there are 0 images");
  expect_error<errors::InvalidArgumentError>(
      [] {
        plot::images(zeros({4, 4})).save("a.gif");
      },
      "ends in .png or .svg");
}
TEST(Plot, CurvesOfAHistory) {
  keras::Sequential model({keras::layers::Dense(1)});
  model.compile({.loss = "mse", .metrics = {"mae"}});
  const Tensor x = random::uniform({32, 3}, 0, 1, {.seed = 1});
  const auto history =
      model.fit(x, reduce_sum(x, 1), {.epochs = 4, .verbose = 0, .validation_split = 0.25});
  const plot::Figure f = plot::history(history, {.title = "Training"});
  EXPECT_EQ(f.width(), 640);
  EXPECT_EQ(f.height(), 600);  // the loss and one metric
  const std::string svg = f.svg();
  for (const char* text : {">Training<", ">loss<", ">mae<", ">validation<", ">epoch<"})
    EXPECT_NE(svg.find(text), svg.npos) << text;
  EXPECT_EQ(plot::history(history, {.metrics = {"mae"}, .height = 200}).height(), 200);
  EXPECT_THROW(plot::history(history, {.metrics = {"auc"}}), errors::NotFoundError);
  EXPECT_THROW(plot::history({}), errors::InvalidArgumentError);
}
TEST(Plot, CurvesLeaveGaps) {
  const double nan = std::nan("");
  const plot::Figure f =
      plot::curves({{"a", {1, nan, 3, 4, nan}}, {"b <&>", {nan, nan, nan, nan, nan}}});
  const std::string svg = f.svg();
  EXPECT_NE(svg.find("b &lt;&amp;&gt;"), svg.npos);
  EXPECT_GT(painted(f), 1000);
  plot::curves({{"none", {}}}).pixels();
  plot::curves({{"one", {7}}}).pixels();
  plot::curves({}).pixels();
  expect_error<errors::InvalidArgumentError>(
      [] {
        plot::curves({{"a", {1, 2}}}, {.x = {1}});
      },
      "\"a\" has 2 values and x 1");
  EXPECT_THROW(plot::curves({{"a", {1, 2}}}, {.width = 5}), errors::InvalidArgumentError);
}
TEST(Plot, ConfusionMatrix) {
  const Tensor matrix =
      math::confusion_matrix(constant({0, 1, 2, 2, 1}), constant({0, 1, 1, 2, 1}));
  const plot::Figure f = plot::confusion_matrix(matrix, {.labels = {"cat", "dog", "a long name"}});
  for (const char* text : {">cat<", ">a long name<", ">prediction<", ">label<", ">2<"})
    EXPECT_NE(f.svg().find(text), std::string::npos) << text;
  EXPECT_NE(plot::confusion_matrix(matrix, {.normalize = true}).svg().find(">0.50<"),
            std::string::npos);
  plot::confusion_matrix(zeros({100, 100}, int32)).pixels();
  EXPECT_THROW(plot::confusion_matrix(zeros({2, 3})), errors::InvalidArgumentError);
  EXPECT_THROW(plot::confusion_matrix(zeros({2, 2}), {.labels = {"a"}}),
               errors::InvalidArgumentError);
}
TEST(Plot, Histogram) {
  const plot::Figure f = plot::histogram(constant({0.f, 0.f, 0.f, 1.f, 2.f}), {.bins = 2});
  EXPECT_GT(painted(f), 10000);
  plot::histogram(zeros({0})).pixels();
  plot::histogram(constant({5, 5, 5}), {.bins = 3}).pixels();
  plot::histogram(constant({1.f, std::nanf(""), INFINITY})).pixels();
  EXPECT_THROW(plot::histogram(zeros({3}), {.bins = 0}), errors::InvalidArgumentError);
}
TEST(PlotScale, HasRoundMarks) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(plot::scale_of(0, 10, 5).marks, (Numbers{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(plot::scale_of(0.12, 0.93, 5).low, 0);
  EXPECT_EQ(plot::scale_of(3, 3, 5).low < 3, true);
  EXPECT_EQ(plot::scale_of(INFINITY, -INFINITY, 5).high, 1);
  EXPECT_LE(plot::scale_of(-1e300, 1e300, 5).marks.size(), 7u);
}
TEST(PlotText, IsCutBetweenCharacters) {
  EXPECT_EQ(plot::shortened("hello", 1, 30), "hello");
  EXPECT_EQ(plot::shortened("hello world", 1, 36), "hell..");
  EXPECT_EQ(plot::characters("a\xc3\xa4\xff").size(), 3u);
  EXPECT_EQ(plot::shortened("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 1, 18), "\xc3\xa4..");
}

}  // namespace
}  // namespace rill
