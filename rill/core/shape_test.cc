#include "rill/core/shape.h"

#include <gtest/gtest.h>

#include <sstream>

#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/core/shape_inference.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

std::string printed(const TensorShape& s) {
  std::ostringstream os;
  os << s;
  return os.str();
}

using testing::expect_error;

TEST(Shape, PrintsAsPythonDoes) {
  EXPECT_EQ(printed({2, 2}), "(2, 2)");
  EXPECT_EQ(printed({3}), "(3,)");
  EXPECT_EQ(printed(TensorShape::scalar()), "()");
  EXPECT_EQ(printed({None, 10}), "(None, 10)");
  EXPECT_EQ(printed(TensorShape()), "<unknown>");
}

TEST(Shape, SizesAreNumbers) {
  const TensorShape s{None, 3, 4};
  const int n = s[1];
  EXPECT_EQ(n, 3);
  EXPECT_EQ(s[1] * s[2], 12);
  EXPECT_TRUE(s[1] == 3 && 4 == s[2] && s[1] < 4 && s[0] == None && s[0] != 3 && s[1] != None);
  expect_error<errors::FailedPrecondition>([&] { return static_cast<int>(s[0]) > 0; },
                                           "a size that is not known");
  std::ostringstream os;
  os << s[0] << ' ' << s[1];
  EXPECT_EQ(os.str(), "None 3");
}

TEST(Shape, ReadsInMessagesAsAList) {
  EXPECT_EQ(format("{}", TensorShape{2, None}), "[2, ?]");
  EXPECT_EQ(format("{}", TensorShape()), "[unknown rank]");
}

TEST(Shape, NegativeIndicesCountFromTheEnd) {
  const TensorShape s{2, 3, None};
  EXPECT_EQ(s.dim(-2), 3);
  EXPECT_EQ(s.dim(0), 2);
  EXPECT_EQ(s[-1], None);
  expect_error<errors::OutOfRange>([&] { s.dim(3); },
                                   "dimension 3 of shape [2, 3, ?]: expected an index in [-3, 3)");
  expect_error<errors::OutOfRange>([&] { s.dim(-4); }, "dimension -4");
  expect_error<errors::InvalidArgument>([] { TensorShape().dim(0); }, "unknown rank");
}

TEST(Shape, NegativeSizesAreRefused) {
  expect_error<errors::InvalidArgument>([] { TensorShape{2, -1}; }, "dimension 1 is negative (-1)");
  expect_error<errors::InvalidArgument>([] { TensorShape(std::vector<std::int64_t>{-2}); },
                                        "dimension 0 is negative (-2)");
  EXPECT_EQ(TensorShape(std::vector<std::int64_t>{-1, 2}), (TensorShape{None, 2}));
}

TEST(Shape, DimensionsAreSetAndAddedWithinBounds) {
  TensorShape s{2, 3, None};
  s.set_dim(-1, 7);
  s.set_dim(0, None);
  s.set_dim(1, -1);
  EXPECT_EQ(s, (TensorShape{None, None, 7}));
  s.push_back(4);
  s.push_back(None);
  EXPECT_EQ(s, (TensorShape{None, None, 7, 4, None}));
  const TensorShape before = s;
  expect_error<errors::OutOfRange>(
      [&] { s.set_dim(5, 1); },
      "dimension 5 of shape [?, ?, 7, 4, ?]: expected an index in [-5, 5)");
  expect_error<errors::OutOfRange>([&] { s.set_dim(-6, 1); }, "dimension -6");
  expect_error<errors::InvalidArgument>([&] { s.set_dim(-2, -5); }, "dimension 3 is negative (-5)");
  expect_error<errors::InvalidArgument>([&] { s.push_back(-2); }, "dimension 5 is negative (-2)");
  EXPECT_EQ(s, before);
  TensorShape scalar = TensorShape::scalar();
  expect_error<errors::OutOfRange>([&] { scalar.set_dim(0, 1); }, "dimension 0 of shape []");
  expect_error<errors::InvalidArgument>([] { TensorShape().set_dim(0, 1); }, "unknown rank");
  expect_error<errors::InvalidArgument>([] { TensorShape().push_back(1); }, "unknown rank");
  expect_error<errors::InvalidArgument>([] { TensorShape::unknown_dims(-1); }, "rank is negative");
}

TEST(Shape, CountsElements) {
  EXPECT_EQ((TensorShape{2, 3}.num_elements()), 6);
  EXPECT_EQ(TensorShape::scalar().num_elements(), 1);
  EXPECT_EQ((TensorShape{2, 0}.num_elements()), 0);
  EXPECT_EQ((TensorShape{2, None}.num_elements()), -1);
  EXPECT_EQ((TensorShape{0, None}.num_elements()), -1);
  EXPECT_EQ(TensorShape().num_elements(), -1);
}

TEST(Shape, ProductsBeyond63BitsAreRefused) {
  const std::int64_t big = std::int64_t{1} << 40;
  expect_error<errors::InvalidArgument>(
      [&] {
        TensorShape({big, big}).num_elements();
      },
      "more elements than 63 bits can count");
  expect_error<errors::InvalidArgument>(
      [&] {
        checked_num_elements(Dims{big, big}, "op");
      },
      "[op] shape [1099511627776, 1099511627776]");
  expect_error<errors::InvalidArgument>(
      [&] {
        checked_num_elements(Dims{0, big, big}, "op");
      },
      "63 bits");
  EXPECT_EQ((TensorShape{big, big, 0}.num_elements()), 0);
}

TEST(Shape, UnknownSizesFitAll) {
  EXPECT_TRUE((TensorShape{2, None}.is_compatible_with({2, 3})));
  EXPECT_FALSE((TensorShape{2, None}.is_compatible_with({3, 3})));
  EXPECT_FALSE((TensorShape{2}.is_compatible_with({2, 1})));
  EXPECT_TRUE(TensorShape().is_compatible_with({2, 1}));
  EXPECT_EQ(TensorShape({2, None}).as_list(), (std::vector<std::int64_t>{2, -1}));
  expect_error<errors::InvalidArgument>([] { TensorShape().as_list(); },
                                        "rank of this shape is unknown");
}

TEST(Shape, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(broadcast_shapes({2, 1}, {3}, "op"), (TensorShape{2, 3}));
  EXPECT_EQ(broadcast_shapes(TensorShape::scalar(), {0, 1}, "op"), (TensorShape{0, 1}));
  EXPECT_EQ(broadcast_shapes({None, 1}, {5}, "op"), (TensorShape{None, 5}));
  EXPECT_EQ(broadcast_shapes(TensorShape(), {5}, "op"), TensorShape());
  expect_error<errors::InvalidArgument>([] { broadcast_shapes({2, 3}, {4}, "add"); }, "[add]");
}

TEST(Shape, AxesCountFromBothEnds) {
  EXPECT_EQ(normalize_axis(-1, 3, "op"), 2);
  EXPECT_EQ(normalize_axis(2, 3, "op"), 2);
  expect_error<errors::OutOfRange>([] { normalize_axis(3, 3, "op"); },
                                   "[op] axis 3 is out of range for rank 3");
  expect_error<errors::OutOfRange>([] { normalize_axis(-4, 3, "op"); }, "axis -4");
}

}  // namespace
}  // namespace rill
