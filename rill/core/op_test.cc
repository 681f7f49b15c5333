#include "rill/core/op.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rill/core/execute.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using testing::expect_error;

TEST(Op, IsFoundByName) {
  EXPECT_EQ(find_op("MatMul").name, "MatMul");
  EXPECT_EQ(find_op("MatMul").tag, "matmul");
  const auto all = list_ops();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST(Op, UnknownNamesAreRefusedWithTheNearest) {
  expect_error<errors::NotFound>([] { find_op("MatMull"); }, "MatMul");
  expect_error<errors::NotFound>([] { find_op(""); }, "");
}

TEST(Op, RefusesWrongNumbersOfInputs) {
  const Tensor x = to_tensor(1.f);
  expect_error<errors::InvalidArgument>([&] { execute(find_op("MatMul"), {x}); },
                                        "[matmul] got 1 inputs, expected 2");
  expect_error<errors::InvalidArgument>(
      [&] {
        execute(find_op("Exp"), {x, x});
      },
      "got 2 inputs, expected 1");
  expect_error<errors::InvalidArgument>(
      [&] {
        execute(find_op("AddV2"), {x, Tensor()});
      },
      "undefined");
}

TEST(Op, RefusesWrongDTypes) {
  const Tensor text = to_tensor("a"), number = to_tensor(1.f);
  expect_error<errors::InvalidArgument>([&] { execute(find_op("Exp"), {text}); },
                                        "x has dtype string; expected one of");
  expect_error<errors::InvalidArgument>([&] { execute(find_op("StringUpper"), {number}); },
                                        "input has dtype float32; expected one of string");
}

TEST(TypeSet, NamesItsMembers) {
  EXPECT_EQ(kRealFloatTypes.to_string(), "float32, float64");
  EXPECT_TRUE((kFloatTypes | TypeSet{int32}).contains(int32));
  EXPECT_FALSE(kFloatTypes.contains(DType()));
}

}  // namespace
}  // namespace rill
