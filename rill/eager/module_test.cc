#include "rill/eager/module.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace tf = rill;
using rill::testing::expect_error;

namespace {

struct Line : tf::Module {
  tf::Variable w{2.f}, b{1.f, {.trainable = false}};
  explicit Line(std::string_view name = "line") : Module(name) {
    track("w", w);
    track("b", b);
  }
  tf::Tensor operator()(const tf::Tensor& x) const { return w * x + b; }
};
struct Lines : tf::Module {
  Line first, second;
  std::vector<Line> rest{Line(), Line()};
  Lines() : Module("lines") {
    track("first", first);
    track("second", second);
    track("rest", rest);
    track("again", first.w);  // counted once
  }
};

TEST(Module, HoldsTheVariablesOfItsMembers) {
  const Line line;
  EXPECT_EQ(line.name(), "line");
  EXPECT_EQ(line(tf::constant(3.f)).item<float>(), 7);
  EXPECT_EQ(line.variables().size(), 2u);
  EXPECT_EQ(line.trainable_variables().size(), 1u);
  EXPECT_EQ(line.non_trainable_variables().at(0).id(), line.b.id());
  const Lines lines;
  EXPECT_EQ(lines.variables().size(), 8u);
  EXPECT_EQ(lines.variables()[2].id(), lines.second.w.id());
  const Lines copy = lines;  // the same variables
  copy.first.w.assign(5.f);
  EXPECT_EQ(lines.first.w.value().item<float>(), 5);
  EXPECT_EQ(copy.variables()[0].id(), lines.variables()[0].id());
}

TEST(Module, CheckpointsFindWhatItTracks) {
  const Lines lines;
  const auto node = lines.trackable();
  EXPECT_EQ(node->edges().size(), 4u);
  EXPECT_NE(node->child("rest")->child("1")->child("w"), nullptr);
  expect_error<tf::errors::InvalidArgument>(
      [] {
        struct Twice : tf::Module {
          tf::Variable a{1.f}, b{1.f};
          Twice() {
            track("v", a);
            track("v", b);
          }
        } t;
      },
      "already known as \"v\"");
}

}  // namespace
