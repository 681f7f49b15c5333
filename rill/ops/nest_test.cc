// Nests where tensors are expected: what comes out of functions, loops and datasets.
#include "rill/core/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;

TEST(Nest, ALeafStandsWhereATensorMay) {
  const Nest n = tuple(constant({1.f, 2.f}), constant(3));
  const Tensor t = n[0];
  EXPECT_THAT(t.to_vector<float>(), ElementsAre(1, 2));
  EXPECT_THAT((n[0] * 2.f + t).to_vector<float>(), ElementsAre(3, 6));
  EXPECT_THAT(add(n[0], n[0]).to_vector<float>(), ElementsAre(2, 4));
  EXPECT_EQ(n[1].item<int>(), 3);
  EXPECT_THAT(n[0].to_vector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(n[0].shape(), TensorShape({2}));
  EXPECT_EQ(n[1].dtype(), int32);
}

TEST(Nest, AnIndexOfALeafIsARow) {
  const Nest n = dict({{"p", constant({{.1f, .9f}, {.8f, .2f}})}});
  EXPECT_THAT(n["p"][1].to_vector<float>(), ElementsAre(.8f, .2f));
  EXPECT_EQ(n["p"][0][1].item<float>(), .9f);
  EXPECT_EQ(n["p"].part(0).shape(), TensorShape({2, 2}));
}

TEST(Nest, WhatIsNotOneTensorSaysSo) {
  const Nest n = tuple(constant(1.f), constant(2.f));
  expect_error<errors::InvalidArgument>([&] { const Tensor t = n; }, "expected one tensor, got");
  expect_error<errors::InvalidArgument>([&] { n + 1.f; }, "expected one tensor, got");
  expect_error<errors::OutOfRange>([&] { n[2]; }, "item 2 of");
  expect_error<errors::OutOfRange>([&] { n[-1]; }, "item -1 of");
}

TEST(Nest, DictsGrowAndShrink) {
  const Nest n = dict({{"image", constant(1)}, {"tags", constant(2)}});
  EXPECT_THAT(n.with("image", constant(5)).without("tags").keys(), ElementsAre("image"));
  EXPECT_EQ(n.with("image", constant(5))["image"].item<int>(), 5);
  EXPECT_THAT(n.with("label", constant(3)).keys(), ElementsAre("image", "tags", "label"));
  EXPECT_EQ(n["image"].item<int>(), 1) << "a nest never changes";
  expect_error<errors::NotFound>([&] { n.without("tag"); }, "tags");
  expect_error<errors::InvalidArgument>([&] { tuple(constant(1)).with("a", constant(2)); },
                                        "expected a dict");
}

}  // namespace
}  // namespace rill
