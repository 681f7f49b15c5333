#include "rill/core/operand.h"

#include <gtest/gtest.h>

#include "rill/base/error.h"
#include "rill/core/execute.h"
#include "rill/core/gradient.h"
#include "rill/core/tensor_impl.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using testing::expect_error;

Tensor of(std::initializer_list<Operand> list, DType dtype = {}) {
  return to_tensor(Operand(list), dtype);
}

TEST(Operand, LiteralsHaveTheirNaturalDType) {
  EXPECT_EQ(to_tensor(1).dtype(), int32);
  EXPECT_EQ(to_tensor(1.0).dtype(), float32);
  EXPECT_EQ(to_tensor(true).dtype(), bool_);
  EXPECT_EQ(to_tensor("a").dtype(), string);
  EXPECT_EQ(to_tensor(std::string("a")).dtype(), string);
  EXPECT_EQ(to_tensor(std::int64_t{1}).dtype(), int64);
  EXPECT_EQ(to_tensor(3000000000u).dtype(), int64);
  EXPECT_EQ(of({1, 2.5}).dtype(), float32);
  EXPECT_EQ(of({}).dtype(), float32);
  EXPECT_EQ(to_tensor(TensorShape{2, 3}).dtype(), int32);
}

TEST(Operand, NestedListsHaveAShape) {
  EXPECT_EQ(of({{1, 2, 3}, {4, 5, 6}}).shape(), (TensorShape{2, 3}));
  EXPECT_EQ(of({{{1.f}}}).shape(), (TensorShape{1, 1, 1}));
  EXPECT_EQ(of({}).shape(), (TensorShape{0}));
  EXPECT_EQ(of({{"a", "b"}, {"c", "d"}}).shape(), (TensorShape{2, 2}));
}

TEST(Operand, ListsOfTensorsAreStacked) {
  const Tensor a = of({1.f, 2.f});
  const Tensor t = of({a, {3, 4}});
  EXPECT_EQ(t.shape(), (TensorShape{2, 2}));
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Operand, RaggedAndMixedListsAreRefused) {
  expect_error<errors::InvalidArgument>(
      [] {
        of({{1, 2}, {3}});
      },
      "ragged list: lists of 2 and 1 elements at depth 1");
  expect_error<errors::InvalidArgument>(
      [] {
        of({{1, 2}, 3});
      },
      "ragged list: got a number where a list was expected at depth 1");
  expect_error<errors::InvalidArgument>([] { of({3, {1, 2}}); }, "ragged list");
  expect_error<errors::InvalidArgument>([] { of({1, "a"}); }, "mixes strings, bools and numbers");
  expect_error<errors::InvalidArgument>([] { of({1, true}); }, "mixes strings, bools and numbers");
}

TEST(Operand, LiteralsMustFitTheDType) {
  expect_error<errors::InvalidArgument>([] { to_tensor(1.5, int32); },
                                        "the fraction 1.5 does not fit dtype int32");
  expect_error<errors::InvalidArgument>([] { to_tensor(256, uint8); },
                                        "256 does not fit dtype uint8");
  expect_error<errors::InvalidArgument>([] { to_tensor(-1, uint8); },
                                        "-1 does not fit dtype uint8");
  expect_error<errors::InvalidArgument>([] { to_tensor(-1, uint64); },
                                        "-1 does not fit dtype uint64");
  expect_error<errors::InvalidArgument>([] { to_tensor(1e20, int64); }, "does not fit dtype int64");
  expect_error<errors::InvalidArgument>([] { to_tensor(9223372036854775808.0, int64); },
                                        "does not fit dtype int64");
  expect_error<errors::InvalidArgument>([] { to_tensor("a", float32); },
                                        "the string \"a\" where a float32 was expected");
  expect_error<errors::InvalidArgument>([] { to_tensor(1, string); },
                                        "got a number where a string was expected");
  expect_error<errors::InvalidArgument>([] { to_tensor(2, bool_); },
                                        "got the number 2 where a bool was expected");
  EXPECT_EQ(to_tensor(2.0, int32).item<int>(), 2);
  EXPECT_EQ(to_tensor(0.1, float64).item<double>(), 0.1);
  EXPECT_EQ(to_tensor(std::uint64_t{1} << 63, uint64).item<std::uint64_t>(),
            std::uint64_t{1} << 63);
}

TEST(Operand, UnsignedNumbersBeyondInt64StayWhatTheyAre) {
  const std::uint64_t big = std::uint64_t{1} << 63;
  EXPECT_EQ(to_tensor(big).dtype(), uint64);
  EXPECT_EQ(to_tensor(big).item<std::uint64_t>(), big);
  EXPECT_EQ(of({1, big}).to_vector<std::uint64_t>(), (std::vector<std::uint64_t>{1, big}));
  EXPECT_EQ(to_tensor(std::uint64_t{5}).dtype(), int64);
  EXPECT_EQ(to_tensor(big, float64).item<double>(), 9223372036854775808.0);
  EXPECT_EQ(to_tensor(big, float32).item<float>(), 9223372036854775808.f);
  expect_error<errors::InvalidArgument>([&] { to_tensor(big, int64); },
                                        "9223372036854775808 does not fit dtype int64");
  expect_error<errors::InvalidArgument>([&] { to_tensor(big, int8); },
                                        "9223372036854775808 does not fit dtype int8");
  expect_error<errors::InvalidArgument>(
      [&] {
        of({std::int64_t{-1}, big});
      },
      "-1 does not fit dtype uint64");
  expect_error<errors::InvalidArgument>([] { to_tensor(std::int64_t{-1}, uint64); },
                                        "-1 does not fit dtype uint64");
}

TEST(Operand, ShapesBecomeLists) {
  EXPECT_EQ(to_tensor(TensorShape{2, 3}).to_vector<int>(), (std::vector<int>{2, 3}));
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(to_tensor(TensorShape{big}).item<std::int64_t>(), big);
  expect_error<errors::InvalidArgument>([&] { to_tensor(TensorShape{big}, int32); },
                                        "does not fit dtype int32");
  expect_error<errors::InvalidArgument>([] { to_tensor(TensorShape{None}); }, "not fully defined");
}

TEST(Operand, ShapesTakeDTypesOfNumbers) {
  EXPECT_EQ(to_tensor(TensorShape{2, 3}, float32).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(to_tensor(TensorShape{2, 3}, int64).dtype(), int64);
  expect_error<errors::InvalidArgument>([] { to_tensor(TensorShape{2}, string); },
                                        "shape [2] where a string was expected");
}

TEST(Operand, NoLiteralIsAResource) {
  expect_error<errors::InvalidArgument>([] { to_tensor(1, resource); },
                                        "no literal has dtype resource");
  expect_error<errors::InvalidArgument>([] { to_tensor(1, variant); },
                                        "no literal has dtype variant");
}

TEST(Operand, ALiteralTakesItsPartnersDType) {
  const Tensor h = to_tensor(1, float16), i = to_tensor(1, int64);
  EXPECT_EQ(ArgPair(h, 2.5).second().dtype(), float16);
  EXPECT_EQ(ArgPair(2, i).first().dtype(), int64);
  EXPECT_EQ(ArgPair(1, 2.5).first().dtype(), float32);
  expect_error<errors::InvalidArgument>([&] { ArgPair(i, 2.5); },
                                        "the fraction 2.5 does not fit dtype int64");
  // Two tensors are never promoted.
  expect_error<errors::InvalidArgument>(
      [&] {
        execute(find_op("AddV2"), {h, i});
      },
      "x is float16 and y is int64: dtypes are not promoted");
}

TEST(Operand, ListsOfTensorsShareADType) {
  const Tensor a = to_tensor(1, float64);
  const TensorList list{a, 2, 3.5};
  ASSERT_EQ(list.size(), 3u);
  for (const Tensor& t : list.tensors()) EXPECT_EQ(t.dtype(), float64);
}

}  // namespace
}  // namespace rill
