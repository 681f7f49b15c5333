// A state that goes from element to element: reduce and scan.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/dataset_values.h"
#include "tests/expect_error.h"
#include "tests/printed.h"

namespace tf = rill;
using rill::testing::List, rill::testing::expect_error, rill::testing::printed;
using rill::testing::values;
using tf::Nest, tf::Tensor, tf::data::Dataset;

namespace {

TEST(Reduce, FoldsAllElements) {
  const auto sum = Dataset::range(5).reduce(tf::constant(std::int64_t{0}),
                                            [](Tensor state, Tensor x) { return state + x; });
  EXPECT_EQ(sum.as_tensor().item<int>(), 10);
  EXPECT_EQ(values(Dataset::range(5).apply([](const Dataset& d) { return d.take(1); })), List{0});
}

TEST(Reduce, TheStateKeepsItsDTypes) {
  const auto r = Dataset::range(3);
  expect_error<tf::errors::InvalidArgument>(
      [&] { r.reduce(tf::constant(0), [](Tensor, Tensor x) { return x; }); },
      "[reduce] the function returned int64 [] for a state of int32 []; expected the same dtypes");
  // Its shape may change.
  EXPECT_EQ(r.reduce(tf::zeros({0}, tf::int64),
                     [](Tensor s, Tensor x) {
                       return tf::concat({s, tf::expand_dims(x, 0)}, 0);
                     })
                .as_tensor()
                .to_string(),
            "[0 1 2]");
}

TEST(Scan, HandsAStateOn) {
  const auto zero = tf::constant(std::int64_t{0});
  const auto sums = [](Tensor s, Tensor x) { return tf::tuple(s + x, s * 10); };
  const auto r = Dataset::range(6);
  EXPECT_EQ(values(r.scan(zero, sums)), (List{0, 0, 10, 30, 60, 100}));
  EXPECT_EQ(r.scan(zero, sums).cardinality(), 6);
  EXPECT_EQ(values(r.take(2).scan(zero, sums).repeat(2)), (List{0, 0, 0, 0}));
  const auto fibonacci = [](Nest s, Tensor) {
    auto [a, b] = s.unpack<2>();
    return tf::tuple(tf::tuple(b, a + b), a);
  };
  EXPECT_EQ(values(r.scan(tf::tuple(zero, zero + 1), fibonacci)), (List{0, 1, 1, 2, 3, 5}));
  const auto longer = r.scan(tf::zeros({0}, tf::int64), [](Tensor s, Tensor x) {
    return tf::tuple(tf::concat({s, tf::expand_dims(x, 0)}, 0), s);
  });
  EXPECT_EQ(printed(longer.output_shapes()), "(None,)");
  EXPECT_EQ(longer.as_vector()[3].as_tensor().to_string(), "[0 1 2]");
  expect_error<tf::errors::InvalidArgument>(
      [&] { r.scan(zero, [](Tensor s, Tensor) { return s; }).as_vector(); },
      "[scan] the function returned int64 []; expected a pair");
  expect_error<tf::errors::InvalidArgument>(
      [&] {
        r.scan(tf::constant(0), [](Tensor, Tensor x) { return tf::tuple(x, x); }).as_vector();
      },
      "[scan] the function returned int64 [] for a state of int32 []; expected the same dtypes");
}

}  // namespace
