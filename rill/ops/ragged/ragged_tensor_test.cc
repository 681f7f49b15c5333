// What is expected here was printed by TensorFlow 2.15.1.
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"

namespace tf = rill;
using tf::RaggedTensor, tf::Tensor;
using tf::testing::expect_error, tf::testing::printed;
using Rows = std::vector<std::vector<int>>;
using Ints = std::vector<int>;

namespace {

RaggedTensor sample() { return tf::ragged::constant({{3, 1, 4, 1}, {}, {5, 9, 2}}); }
RaggedTensor deep() { return tf::ragged::constant({{{1, 2}, {3}}, {}, {{4}}}); }
std::string text(const RaggedTensor& t) { return t.to_string(); }

TEST(RaggedTensor, IsValuesAndRowSplits) {
  const RaggedTensor rt = RaggedTensor::from_row_splits({3, 1, 4, 1, 5, 9, 2}, {0, 4, 4, 7});
  EXPECT_EQ(printed(rt), "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2]]>");
  EXPECT_EQ(rt.to_list<int>(), (Rows{{3, 1, 4, 1}, {}, {5, 9, 2}}));
  EXPECT_EQ(rt.shape(), (tf::TensorShape{3, tf::None}));
  EXPECT_EQ(rt.dtype(), tf::int32);
  EXPECT_EQ(rt.ragged_rank(), 1);
  EXPECT_EQ(rt.row_splits().dtype(), tf::int64);
  EXPECT_EQ(rt.row_splits().to_vector<int>(), (Ints{0, 4, 4, 7}));
  EXPECT_EQ(rt.row_lengths().to_vector<int>(), (Ints{4, 0, 3}));
  EXPECT_EQ(rt.row_starts().to_vector<int>(), (Ints{0, 4, 4}));
  EXPECT_EQ(rt.row_limits().to_vector<int>(), (Ints{4, 4, 7}));
  EXPECT_EQ(rt.value_rowids().to_vector<int>(), (Ints{0, 0, 0, 0, 2, 2, 2}));
  EXPECT_EQ(rt.nrows().item<int>(), 3);
  EXPECT_EQ(rt.bounding_shape().to_vector<int>(), (Ints{3, 4}));
  EXPECT_EQ(rt.values().id(), rt.flat_values().id());
}

TEST(RaggedTensor, ComesFromEveryTellingOfItsRows) {
  EXPECT_EQ(text(RaggedTensor::from_row_lengths({1, 2, 3}, {1, 0, 2})), "[[1], [], [2, 3]]");
  EXPECT_EQ(text(RaggedTensor::from_row_starts({1, 2, 3}, {0, 2})), "[[1, 2], [3]]");
  EXPECT_EQ(text(RaggedTensor::from_row_limits({1, 2, 3}, {1, 3})), "[[1], [2, 3]]");
  EXPECT_EQ(text(RaggedTensor::from_value_rowids({3, 1, 4, 1, 5}, {0, 0, 2, 2, 4})),
            "[[3, 1], [], [4, 1], [], [5]]");
  EXPECT_EQ(text(RaggedTensor::from_value_rowids({3, 1}, {0, 0}, 3)), "[[3, 1], [], []]");
  const RaggedTensor uniform = RaggedTensor::from_uniform_row_length({1, 2, 3, 4}, 2);
  EXPECT_EQ(uniform.shape(), (tf::TensorShape{2, 2}));
  EXPECT_EQ(text(RaggedTensor::from_uniform_row_length(deep(), 3)), "[[[[1, 2], [3]], [], [[4]]]]");
  EXPECT_EQ(text(RaggedTensor::from_nested_row_splits(
                {1, 2, 3, 4}, {tf::constant({0, 2, 2, 3}), tf::constant({0, 2, 3, 4})})),
            text(deep()));
  EXPECT_EQ(text(RaggedTensor::from_nested_row_lengths(
                {1, 2, 3, 4}, {tf::constant({2, 0, 1}), tf::constant({2, 1, 1})})),
            text(deep()));
  EXPECT_EQ(RaggedTensor::from_row_splits({1, 2}, tf::constant({0, 2})).row_splits().dtype(),
            tf::int32);
}

TEST(RaggedTensor, RefusesRowsThatDoNotFit) {
  auto refuses = [](auto f, const char* message) {
    expect_error<tf::errors::InvalidArgument>(f, message);
  };
  refuses(
      [] {
        RaggedTensor::from_row_splits({1, 2}, {1, 2});
      },
      "[RaggedTensor.from_row_splits] row_splits begins with 1; expected 0");
  refuses(
      [] {
        RaggedTensor::from_row_splits({1, 2}, {0, 2, 1, 2});
      },
      "row_splits[2] = 1 is less than row_splits[1] = 2");
  refuses(
      [] {
        RaggedTensor::from_row_splits({1, 2}, {0, 3});
      },
      "the rows end at 3, but there are 2 values");
  refuses(
      [] {
        RaggedTensor::from_row_splits({1, 2}, tf::zeros({0}, tf::int64));
      },
      "row_splits is empty");
  refuses([] { RaggedTensor::from_row_lengths({1, 2}, {3}); }, "end at 3");
  refuses([] { RaggedTensor::from_row_lengths({1, 2}, {-1, 3}); }, "row_lengths[0] is -1");
  refuses([] { RaggedTensor::from_value_rowids({1, 2}, {1, 0}); }, "value_rowids[1] is 0");
  refuses([] { RaggedTensor::from_value_rowids({1, 2}, {0}); }, "1 value_rowids for 2 values");
  refuses([] { RaggedTensor::from_value_rowids({1, 2}, {0, 3}, 2); }, "nrows is 2");
  refuses(
      [] {
        RaggedTensor::from_row_splits({1, 2}, tf::constant({0.f, 2.f}));
      },
      "row_splits has dtype float32");
  refuses([] { RaggedTensor::from_row_splits(3, {0, 1}); }, "values is a scalar");
  refuses([] { deep().values(); }, "ragged_rank 2");
  refuses([] { RaggedTensor().row_lengths(); }, "undefined");
  refuses([] { sample().to_list<int, 3>(); }, "to_list<T, 2>");
}

TEST(RaggedTensor, PrintsAsTensorFlowDoes) {
  EXPECT_EQ(text(tf::ragged::constant({{1, 2}, {3, 4}})), "[[1, 2],\n [3, 4]]");
  EXPECT_EQ(text(deep()), "[[[1, 2], [3]], [], [[4]]]");
  EXPECT_EQ(text(tf::ragged::constant({{1.5, 2}, {}})), "[[1.5, 2.0], []]");
  EXPECT_EQ(text(tf::ragged::constant({{"a", "b"}, {"c"}})), "[[b'a', b'b'], [b'c']]");
  EXPECT_EQ(text(tf::ragged::constant({{true}, {false, true}})), "[[True], [False, True]]");
  EXPECT_EQ(text(tf::ragged::constant({{}, {}})), "[[], []]");
  EXPECT_EQ(text(RaggedTensor::from_row_splits(tf::zeros({0}, tf::int32), {0})), "[]");
  EXPECT_EQ(text(RaggedTensor::from_row_splits({{1, 2}, {3, 4}, {5, 6}}, {0, 1, 3})),
            "[[[1, 2]], [[3, 4],\n            [5, 6]]]");
  EXPECT_EQ(text(tf::ragged::constant({{{1, 2}, {3, 4}}, {{5, 6}}})),
            "[[[1, 2],\n  [3, 4]], [[5, 6]]]");
  EXPECT_EQ(text(tf::ragged::constant({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})),
            "[[[1, 2],\n  [3, 4]],\n\n [[5, 6],\n  [7, 8]]]");
  EXPECT_EQ(text(tf::ragged::range({30, 40, 2})),
            "[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,\n"
            "  21, 22, 23, 24, 25, 26, 27, 28, 29]                                      ,\n"
            " [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,\n"
            "  21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,\n"
            "  39]                                                                      ,\n"
            " [0, 1]]");
  EXPECT_EQ(text(tf::ragged::range(tf::range(3, 1203) % 5)),
            "[[0, 1, 2], [0, 1, 2, 3], [], ..., [], [0], [0, 1]]");
  EXPECT_EQ(tf::format("{}", sample()), "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2]]>");
}

TEST(RaggedTensor, OfListsTakesTheirDtypeAndDepth) {
  EXPECT_EQ(tf::ragged::constant({{1, 2}, {3}}).dtype(), tf::int32);
  EXPECT_EQ(text(tf::ragged::constant({{1}, {2.5f, 3}})), "[[1.0], [2.5, 3.0]]");
  EXPECT_EQ(tf::ragged::constant({{}, {}}).dtype(), tf::float32);
  EXPECT_EQ(tf::ragged::constant({{1, 2}, {}}, tf::float64).dtype(), tf::float64);
  EXPECT_EQ(tf::ragged::constant(std::vector<std::vector<float>>{{1, 2}, {}}).to_list<float>(),
            (std::vector<std::vector<float>>{{1, 2}, {}}));
  EXPECT_EQ(deep().ragged_rank(), 2);
  EXPECT_EQ((deep().to_list<int, 3>()), (std::vector<Rows>{{{1, 2}, {3}}, {}, {{4}}}));
  const RaggedTensor pairs = tf::ragged::constant(
      {{{1, 2}, {3, 4}}, {}}, {.ragged_rank = 1, .row_splits_dtype = tf::int32});
  EXPECT_EQ(pairs.shape(), (tf::TensorShape{2, tf::None, 2}));
  EXPECT_EQ(pairs.row_splits_dtype(), tf::int32);
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::ragged::constant({{{1}}, {2}});
      },
      "expected one depth");
  expect_error<tf::errors::InvalidArgument>(
      [] {
        tf::ragged::constant({{1}, {{}}});
      },
      "empty list");
  expect_error<tf::errors::InvalidArgument>([] { tf::ragged::constant({1, 2}); }, "tf::constant");
}

TEST(RaggedTensor, BecomesDenseAndComesFromIt) {
  const RaggedTensor rt = sample();
  EXPECT_EQ(rt.to_tensor(0).to_string(), "[[3 1 4 1]\n [0 0 0 0]\n [5 9 2 0]]");
  EXPECT_EQ(rt.to_tensor(-1, {tf::None, 2}).to_string(), "[[ 3  1]\n [-1 -1]\n [ 5  9]]");
  EXPECT_EQ(rt.to_tensor(0, {4, tf::None}).to_string(),
            "[[3 1 4 1]\n [0 0 0 0]\n [5 9 2 0]\n [0 0 0 0]]");
  EXPECT_EQ(rt.to_tensor(0, {1, 5}).to_string(), "[[3 1 4 1 0]]");
  EXPECT_EQ(RaggedTensor::from_row_splits(tf::zeros({0}), {0}).to_tensor().shape(),
            (tf::TensorShape{0, 0}));
  EXPECT_EQ(deep().to_tensor().to_vector<int>(), (Ints{1, 2, 3, 0, 0, 0, 0, 0, 4, 0, 0, 0}));
  EXPECT_EQ(tf::ragged::constant({{"a"}, {}}).to_tensor().to_vector<std::string>(),
            (std::vector<std::string>{"a", ""}));
  const auto pairs = RaggedTensor::from_row_splits({{1, 2}, {3, 4}, {5, 6}}, {0, 1, 3});
  EXPECT_EQ(pairs.to_tensor().to_vector<int>(), (Ints{1, 2, 0, 0, 3, 4, 5, 6}));
  EXPECT_EQ(pairs.to_sparse().values.to_vector<int>(), (Ints{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(pairs.to_sparse().indices[4].to_vector<int>(), (Ints{1, 1, 0}));

  EXPECT_EQ(text(RaggedTensor::from_tensor({{1, 2, 0}, {3, 0, 0}})), "[[1, 2, 0],\n [3, 0, 0]]");
  EXPECT_EQ(RaggedTensor::from_tensor({{1, 2}, {3, 4}}).shape(), (tf::TensorShape{2, 2}));
  EXPECT_EQ(text(RaggedTensor::from_tensor({{1, 2, 0}, {3, 0, 0}}, {.padding = tf::constant(0)})),
            "[[1, 2], [3]]");
  EXPECT_EQ(text(RaggedTensor::from_tensor({{1, 2, 0}, {3, 0, 0}}, {.lengths = {2, 1}})),
            "[[1, 2], [3]]");
  EXPECT_EQ(text(RaggedTensor::from_tensor({{{0, 0}, {1, 0}, {0, 0}}},
                                           {.padding = tf::constant({0, 0})})),
            "[[[0, 0],\n  [1, 0]]]");
  const auto cube = tf::reshape(tf::range(12), {2, 3, 2});
  EXPECT_EQ(RaggedTensor::from_tensor(cube, {.ragged_rank = 2}).shape(),
            (tf::TensorShape{2, 3, 2}));
  const std::vector<Tensor> lengths = {tf::constant({1, 2}), tf::constant({2, 0, 1})};
  EXPECT_EQ(text(RaggedTensor::from_tensor(cube, {.lengths = lengths})), "[[[0, 1]], [[], [8]]]");

  const tf::SparseTensor s = rt.to_sparse();
  EXPECT_EQ(s.dense_shape.to_vector<int>(), (Ints{3, 4}));
  EXPECT_EQ(s.indices.to_vector<int>(), (Ints{0, 0, 0, 1, 0, 2, 0, 3, 2, 0, 2, 1, 2, 2}));
  EXPECT_EQ(text(RaggedTensor::from_sparse(s)), text(rt));
  expect_error<tf::errors::InvalidArgument>(
      [] {
        RaggedTensor::from_sparse(tf::SparseTensor({{0, 1}}, {5}, {1, 2}));
      },
      "[0, 1]");
}

TEST(RaggedTensor, GivesRowsAndPartsOfRows) {
  const RaggedTensor rt = sample();
  const auto from = [](tf::Dim begin, tf::Dim end, int step = 1) {
    return tf::slice(begin, end, step);
  };
  EXPECT_EQ(printed(rt[2]), "tf.Tensor([5 9 2], shape=(3,), dtype=int32)");
  EXPECT_EQ(rt[-3].to_vector<int>(), (Ints{3, 1, 4, 1}));
  EXPECT_EQ(rt[1].size(), 0);
  EXPECT_EQ(text(deep().row(0)), "[[1, 2], [3]]");
  EXPECT_EQ(text(rt(from(1, tf::None))), "[[], [5, 9, 2]]");
  EXPECT_EQ(text(rt(from(5, tf::None))), "[]");
  EXPECT_EQ(text(rt(from(tf::None, tf::None, 2))), "[[3, 1, 4, 1], [5, 9, 2]]");
  EXPECT_EQ(text(rt(from(tf::None, tf::None, -1))), "[[5, 9, 2], [], [3, 1, 4, 1]]");
  EXPECT_EQ(text(rt(tf::all, from(1, tf::None))), "[[1, 4, 1], [], [9, 2]]");
  EXPECT_EQ(text(rt(tf::all, from(tf::None, -1))), "[[3, 1, 4], [], [5, 9]]");
  EXPECT_EQ(text(rt(tf::all, from(-2, tf::None))), "[[4, 1], [], [9, 2]]");
  EXPECT_EQ(text(rt(tf::all, from(tf::None, tf::None, -1))), "[[1, 4, 1, 3], [], [2, 9, 5]]");
  EXPECT_EQ(text(tf::reverse(rt, 1)), "[[1, 4, 1, 3], [], [2, 9, 5]]");
  EXPECT_EQ(text(tf::gather(rt, {2, 0, 0})), "[[5, 9, 2], [3, 1, 4, 1], [3, 1, 4, 1]]");
  EXPECT_EQ(text(tf::gather(tf::range(10) * 10, rt)), "[[30, 10, 40, 10], [], [50, 90, 20]]");
  EXPECT_EQ(text(deep()(tf::all, tf::all, from(0, 1))), "[[[1],\n  [3]], [], [[4]]]");
  expect_error<tf::errors::OutOfRange>([&] { rt[3]; }, "row 3 of 3 rows");
  expect_error<tf::errors::InvalidArgument>([&] { rt(tf::all, 0); }, "tf::slice(0, 1)");
  expect_error<tf::errors::InvalidArgument>([&] { deep()[0]; }, "use row(0)");
  expect_error<tf::errors::InvalidArgument>([&] { tf::gather(rt, {3}); }, "row 3 of 3");
}

TEST(RaggedTensor, IsALeafOfANestAndAnArgumentOfFunctions) {
  const tf::Nest nest = tf::tuple(sample(), tf::constant(1));
  EXPECT_EQ(nest[0].composite_kind(), "ragged");
  EXPECT_EQ(text(nest[0].as_ragged()), text(sample()));
  EXPECT_EQ(printed(nest),
            "(<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2]]>, "
            "<tf.Tensor: shape=(), dtype=int32, numpy=1>)");
  expect_error<tf::errors::InvalidArgument>([&] { nest[1].as_ragged(); },
                                            "expected a ragged tensor, got int32 []");
  const auto doubled = tf::function([](const RaggedTensor& t) { return t * 2; });
  EXPECT_EQ(text(doubled(sample())), "[[6, 2, 8, 2], [], [10, 18, 4]]");
  EXPECT_EQ(text(doubled(tf::ragged::constant({{1}, {2, 3}}))), "[[2], [4, 6]]");
  const auto sparse = tf::function([](const RaggedTensor& t) { return t.to_sparse(); });
  EXPECT_EQ(text(RaggedTensor::from_sparse(sparse(sample()))), text(sample()));
  const auto added = tf::function([](const RaggedTensor& t) {
    return t + RaggedTensor::from_row_splits(tf::range(7), {0, 3, 4, 7});
  });
  expect_error<tf::errors::InvalidArgument>([&] { added(sample()); }, "of different rows");
  const auto sums = tf::function(
      [](const RaggedTensor& t) { return tf::tuple(tf::reduce_sum(t, 1), t.to_tensor(-1), t[0]); });
  const tf::Nest out = sums(sample());
  EXPECT_EQ(out[0].to_vector<int>(), (Ints{9, 0, 16}));
  EXPECT_EQ(out[1].to_vector<int>(), (Ints{3, 1, 4, 1, -1, -1, -1, -1, 5, 9, 2, -1}));
  EXPECT_EQ(out[2].to_vector<int>(), (Ints{3, 1, 4, 1}));
}

TEST(RaggedTensor, IsDifferentiatedByItsFlatValues) {
  const auto rt = tf::ragged::constant({{1.f, 2.f}, {}, {3.f}});
  tf::GradientTape tape({.persistent = true});
  tape.watch(rt.flat_values());
  const auto y = tf::reduce_sum(tf::square(rt) * tf::constant({{1.f}, {2.f}, {3.f}}), 1);
  const auto dense = rt.to_tensor(0) * tf::constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const auto row = rt[0];
  EXPECT_EQ(tape.gradient(y, rt.flat_values()).tensor().to_vector<float>(),
            (std::vector<float>{2, 4, 18}));
  EXPECT_EQ(tape.gradient(dense, rt.flat_values()).tensor().to_vector<float>(),
            (std::vector<float>{1, 2, 5}));
  EXPECT_EQ(tape.gradient(row, rt.flat_values()).tensor().to_vector<float>(),
            (std::vector<float>{1, 1, 0}));
}

}  // namespace
