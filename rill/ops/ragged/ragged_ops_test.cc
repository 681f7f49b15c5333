// Ops of elements, reductions, joins. What is expected here was printed by TensorFlow 2.15.1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rill/rill.h"
#include "tests/expect_error.h"

namespace tf = rill;
namespace ragged = tf::ragged;
using tf::RaggedTensor, tf::Tensor;
using tf::testing::expect_error;

namespace {

RaggedTensor rows() { return ragged::constant({{3, 1, 4, 1}, {}, {5, 9, 2}}); }
RaggedTensor rows_of_rows() { return ragged::constant({{{1, 2}, {3}}, {}, {{4}}}); }
RaggedTensor pairs() { return RaggedTensor::from_row_splits({{1, 2}, {3, 4}, {5, 6}}, {0, 1, 3}); }
std::string str(const RaggedTensor& t) { return t.to_string(); }
std::string str(const Tensor& t) { return t.to_string(); }

TEST(RaggedElementwise, KeepsTheRows) {
  const RaggedTensor rt = rows();
  EXPECT_EQ(str(rt + 1), "[[4, 2, 5, 2], [], [6, 10, 3]]");
  EXPECT_EQ(str(10 - rt), "[[7, 9, 6, 9], [], [5, 1, 8]]");
  EXPECT_EQ(str(rt * rt), "[[9, 1, 16, 1], [], [25, 81, 4]]");
  EXPECT_EQ(str(rt / 2), "[[1.5, 0.5, 2.0, 0.5], [], [2.5, 4.5, 1.0]]");
  EXPECT_EQ(str(rt % 2), "[[1, 1, 0, 1], [], [1, 1, 0]]");
  EXPECT_EQ(str(rt == 1), "[[False, True, False, True], [], [False, False, False]]");
  EXPECT_EQ(str(-rt), "[[-3, -1, -4, -1], [], [-5, -9, -2]]");
  EXPECT_EQ(str(tf::maximum(rt, 3)), "[[3, 3, 4, 3], [], [5, 9, 3]]");
  EXPECT_EQ(str(tf::cast(rt > 2, tf::int32)), "[[1, 0, 1, 0], [], [1, 1, 0]]");
  EXPECT_EQ(str(tf::where(rt > 2, rt, -rt)), "[[3, -1, 4, -1], [], [5, 9, -2]]");
  EXPECT_EQ(str(tf::where(rt > 2, rt, 0)), "[[3, 0, 4, 0], [], [5, 9, 0]]");
  EXPECT_EQ(str(tf::where(rt > 2, 1, 0)), "[[1, 0, 1, 0], [], [1, 1, 0]]");
  EXPECT_EQ(str(tf::square(tf::abs(-rt))), str(rt * rt));
  EXPECT_EQ(str(tf::math::add(tf::nn::relu(-rt), tf::math::square(rt))), str(rt * rt));
  EXPECT_EQ(str(ragged::map_flat_values([](Tensor t) { return t * 2; }, rt)), str(rt * 2));
  EXPECT_EQ((rt + 1).row_splits().id(), rt.row_splits().id());
}

TEST(RaggedElementwise, BroadcastsTensorsToTheRows) {
  const RaggedTensor rt = rows();
  EXPECT_EQ(str(rt + Tensor(tf::constant({{10}, {20}, {30}}))),
            "[[13, 11, 14, 11], [], [35, 39, 32]]");
  EXPECT_EQ(str(tf::constant({{10}, {20}, {30}}) - rt), "[[7, 9, 6, 9], [], [25, 21, 28]]");
  EXPECT_EQ(str(rt + tf::constant({100})), "[[103, 101, 104, 101], [], [105, 109, 102]]");
  EXPECT_EQ(str(rt + tf::constant({{1}})), str(rt + 1));
  EXPECT_EQ(str(ragged::constant({{1, 2}, {3, 4}}) + tf::constant({10, 20})),
            "[[11, 22],\n [13, 24]]");
  EXPECT_EQ(str(pairs() + tf::constant({10, 20})),
            "[[[11, 22]], [[13, 24],\n              [15, 26]]]");
  EXPECT_EQ(str(pairs() + tf::constant({{{10}}, {{20}}})),
            "[[[11, 12]], [[23, 24],\n              [25, 26]]]");
  EXPECT_EQ(str(rows_of_rows() + tf::constant({{{1}}, {{2}}, {{3}}})),
            "[[[2, 3], [4]], [], [[7]]]");
  // One number for each row of the rows.
  EXPECT_EQ(str(rows_of_rows() * tf::expand_dims(ragged::constant({{10, 100}, {}, {1000}}), -1)),
            "[[[10, 20], [300]], [], [[4000]]]");
  EXPECT_EQ(str(ragged::constant({{1, 2}, {3}}) + ragged::constant({{10, 20}, {30}})),
            "[[11, 22], [33]]");
}

TEST(RaggedElementwise, RefusesOtherRows) {
  auto refuses = [](auto f, const char* message) {
    expect_error<tf::errors::InvalidArgument>(f, message);
  };
  refuses(
      [] {
        rows() + ragged::constant({{1}, {2}, {3}});
      },
      "[add] ragged tensors have different rows: row_splits of axis 1 are [0 4 4 7] and [0 1 2 "
      "3]");
  refuses([] { rows() + tf::constant({1, 2}); }, "of which a row has 4 elements");
  refuses([] { rows() + tf::constant({{1}, {2}}); }, "has 3 rows");
  refuses([] { rows() * tf::zeros({1, 1, 1}, tf::int32); }, "expected no more axes");
  refuses([] { rows().with_flat_values(tf::constant({1, 2})); }, "the rows hold 7 values, got 2");
}

TEST(RaggedReduction, OfAnAxisThatIsRagged) {
  const RaggedTensor rt = rows();
  const RaggedTensor f = tf::cast(rt, tf::float32);
  EXPECT_EQ(str(tf::reduce_sum(rt, 1)), "[ 9  0 16]");
  EXPECT_EQ(str(tf::reduce_sum(rt, -1)), "[ 9  0 16]");
  EXPECT_EQ(str(tf::reduce_sum(rt, 0)), "[ 8 10  6  1]");
  EXPECT_EQ(str(tf::reduce_mean(rt, 1)), "[2.25              nan 5.33333333]");
  EXPECT_EQ(tf::reduce_mean(rt, 1).dtype(), tf::float64);
  EXPECT_EQ(tf::reduce_mean(f, 1).dtype(), tf::float32);
  EXPECT_EQ(tf::reduce_max(rt, 1).to_vector<int>(),
            (std::vector<int>{4, std::numeric_limits<int>::min(), 9}));
  EXPECT_EQ(tf::reduce_min(f, 1).to_vector<float>(),
            (std::vector<float>{1, std::numeric_limits<float>::max(), 2}));
  EXPECT_EQ(str(tf::reduce_prod(rt, 1)), "[12  1 90]");
  EXPECT_EQ(str(tf::reduce_any(rt > 4, 1)), "[False False  True]");
  EXPECT_EQ(str(tf::reduce_all(rt > 0, 1)), "[ True  True  True]");
  EXPECT_NEAR(tf::reduce_variance(f, 1)[2].item<float>(), 8.222221, 1e-5);
  EXPECT_NEAR(tf::reduce_std(rt, 1)[0].item<double>(), 1.29903811, 1e-8);
  EXPECT_EQ(tf::reduce_sum(rt, 1, {.keepdims = true}).shape(), (tf::TensorShape{3, 1}));
  EXPECT_EQ(tf::reduce_sum(rt).item<int>(), 25);
  EXPECT_EQ(tf::reduce_mean(rt).item<double>(), 25 / 7.);
  EXPECT_EQ(tf::reduce_sum(rt, {.keepdims = true}).shape(), (tf::TensorShape{1, 1}));
  EXPECT_EQ(tf::reduce_sum(rt, {.axis = 1}).to_vector<int>(), (std::vector<int>{9, 0, 16}));
  EXPECT_EQ(tf::size(rt).item<int>(), 7);
  EXPECT_EQ(tf::rank(rt).item<int>(), 2);
  expect_error<tf::errors::InvalidArgument>([&] { tf::reduce_sum(rt, 2); }, "expected -2 to 1");
}

TEST(RaggedReduction, WhoseResultIsRagged) {
  const RaggedTensor x = rows_of_rows();
  EXPECT_EQ(str(ragged::reduce_sum(x, 2)), "[[3, 3], [], [4]]");
  EXPECT_EQ(str(ragged::reduce_sum(x, 1)), "[[4, 2], [], [4]]");
  EXPECT_EQ(str(ragged::reduce_sum(x, 0)), "[[5, 2], [3]]");
  EXPECT_EQ(str(ragged::reduce_sum(x, 2, {.keepdims = true})), "[[[3],\n  [3]], [], [[4]]]");
  EXPECT_EQ(str(ragged::reduce_sum(x, 1, {.keepdims = true})), "[[[4, 2]],\n [[]],\n [[4]]]");
  EXPECT_EQ(str(ragged::reduce_max(pairs(), 2)), "[[2], [4, 6]]");
  EXPECT_EQ(str(tf::reduce_sum(pairs(), 1)), "[[ 1  2]\n [ 8 10]]");
  expect_error<tf::errors::InvalidArgument>([&] { tf::reduce_sum(x, 2); },
                                            "use tf::ragged::reduce_sum");
}

TEST(RaggedReduction, OfSeveralAxes) {
  const RaggedTensor x = rows_of_rows();
  EXPECT_EQ(str(tf::reduce_sum(x, {1, 2})), "[6 0 4]");
  EXPECT_EQ(str(tf::reduce_sum(x, {0, 1})), "[8 2]");
  EXPECT_EQ(str(tf::reduce_mean(x, {1, 2})), "[ 2. nan  4.]");
  EXPECT_EQ(str(tf::reduce_max(ragged::constant({{{1, 2}, {3}}, {{4}}}), {0, 2})), "[4 3]");
  EXPECT_EQ(str(tf::reduce_sum(x, {.axis = std::vector<int>{-1, 1}})), "[6 0 4]");
}

TEST(RaggedJoin, Tile) {
  EXPECT_EQ(str(tf::tile(rows(), {1, 2})), "[[3, 1, 4, 1, 3, 1, 4, 1], [], [5, 9, 2, 5, 9, 2]]");
  EXPECT_EQ(str(tf::tile(rows(), {2, 1})), str(tf::concat({rows(), rows()}, 0)));
  expect_error<tf::errors::InvalidArgument>([] { tf::tile(rows(), {2}); }, "one an axis");
}

TEST(RaggedJoin, ConcatAndStack) {
  const RaggedTensor rt = rows();
  EXPECT_EQ(str(tf::concat({rt, rt}, 0)),
            "[[3, 1, 4, 1], [], [5, 9, 2], [3, 1, 4, 1], [], [5, 9, 2]]");
  EXPECT_EQ(str(tf::concat({rt, rt * 10}, 1)),
            "[[3, 1, 4, 1, 30, 10, 40, 10], [], [5, 9, 2, 50, 90, 20]]");
  EXPECT_EQ(str(tf::concat({rows_of_rows(), rows_of_rows() * 10}, 2)),
            "[[[1, 2, 10, 20], [3, 30]], [], [[4, 40]]]");
  EXPECT_EQ(str(ragged::stack({rt, rt})),
            "[[[3, 1, 4, 1], [], [5, 9, 2]],\n [[3, 1, 4, 1], [], [5, 9, 2]]]");
  EXPECT_EQ(str(ragged::stack({tf::constant({1, 2}), tf::constant({3})})), "[[1, 2], [3]]");
  EXPECT_EQ(str(ragged::stack({tf::constant({{1, 2}, {3, 4}}), tf::constant({{5, 6, 7}})})),
            "[[[1, 2], [3, 4]], [[5, 6, 7]]]");
  EXPECT_EQ(str(tf::expand_dims(rt, 0)), "[[[3, 1, 4, 1], [], [5, 9, 2]]]");
  EXPECT_EQ(str(tf::expand_dims(rt, 1)), "[[[3, 1, 4, 1]],\n [[]],\n [[5, 9, 2]]]");
  EXPECT_EQ(tf::expand_dims(rt, 0).shape(), (tf::TensorShape{1, 3, tf::None}));
  EXPECT_EQ(tf::expand_dims(rt, 1).shape(), (tf::TensorShape{3, 1, tf::None}));
  EXPECT_EQ(tf::expand_dims(rt, -1).shape(), (tf::TensorShape{3, tf::None, 1}));
}

TEST(RaggedJoin, RangesAndMasks) {
  const RaggedTensor rt = rows();
  EXPECT_EQ(str(ragged::range({2, 0, 3})), "[[0, 1], [], [0, 1, 2]]");
  EXPECT_EQ(str(ragged::range({0, 5}, {3, 1}, {1, -2})), "[[0, 1, 2], [5, 3]]");
  EXPECT_EQ(str(ragged::range({0.f, 1.f}, {1.f, 2.5f}, 0.5f)), "[[0.0, 0.5], [1.0, 1.5, 2.0]]");
  EXPECT_EQ(str(ragged::boolean_mask(rt, rt > 2)), "[[3, 4], [], [5, 9]]");
  EXPECT_EQ(str(ragged::boolean_mask(rt, {true, false, true})), "[[3, 1, 4, 1], [5, 9, 2]]");
  EXPECT_EQ(str(ragged::boolean_mask({{1, 2, 3}, {4, 5, 6}},
                                     {{true, false, true}, {false, false, false}})),
            "[[1, 3], []]");
  EXPECT_EQ(str(ragged::row_splits_to_segment_ids({0, 3, 3, 5})), "[0 0 0 2 2]");
  EXPECT_EQ(str(ragged::segment_ids_to_row_splits({0, 0, 0, 2, 2})), "[0 3 3 5]");
  expect_error<tf::errors::InvalidArgument>([] { ragged::range({0}, {1}, 0); }, "a delta is 0");
}

}  // namespace
