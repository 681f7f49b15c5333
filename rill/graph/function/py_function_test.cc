#include "rill/graph/function/py_function.h"

#include "rill/base/error.h"
#include "rill/eager/context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill {
namespace {

using testing::expect_error;

TEST(PyFunctionTest, RunsAtEachCallWithValues) {
  int calls = 0;
  auto f = function([&](Tensor x) {
    const Tensor y = py_function(
        [&](Tensor v) {
          ++calls;
          EXPECT_FALSE(v.is_symbolic());
          return matmul(v, v);
        },
        x, float32);
    EXPECT_FALSE(y.shape().has_rank());
    y.set_shape({None, None});
    EXPECT_EQ(y.shape().rank(), 2);
    return y + 1.f;
  });
  EXPECT_EQ(f(constant({{2.f}})).item<float>(), 5.f);
  EXPECT_EQ(f(constant({{3.f}})).item<float>(), 10.f);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(PyFunctionTest, GradientsGoThrough) {
  auto grad = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = py_function([](Tensor v) { return v * v * v; }, x, float32);
    return tape.gradient(y, x).tensor();
  });
  EXPECT_EQ(grad(constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{3, 12}));
}

TEST(PyFunctionTest, NumpyFunctionWorksOnElements) {
  auto f = function([](Tensor names, Tensor labels) {
    return numpy_function(
        [](Tensor n, Tensor l) {
          std::vector<std::uint8_t> sizes;
          for (const std::string& s : n.to_vector<std::string>())
            sizes.push_back(static_cast<std::uint8_t>(s.size()));
          return std::pair(constant(sizes), l);
        },
        std::vector<Tensor>{names, labels}, std::vector<DType>{uint8, labels.dtype()});
  });
  const auto out = f(constant({"a", "bcd"}), constant({7, 8}));
  EXPECT_EQ(out[0].to_vector<int>(), (std::vector<int>{1, 3}));
  EXPECT_EQ(out[1].to_vector<int>(), (std::vector<int>{7, 8}));
}

TEST(PyFunctionTest, WrongResultsAreErrors) {
  auto f = function(
      [](Tensor x) { return py_function([](Tensor v) { return cast(v, int32); }, x, float32); });
  expect_error<errors::InvalidArgument>([&] { f(constant(1.f)); },
                                        "result 0 is int32; Tout says float32");
}

// The guide's function that a graph calls, and that computes eagerly.
TEST(PyFunctionTest, SquaresTheMatrixOfTheGuide) {
  RILL_SHOWS("Q20");
  auto my_py_func = [](Tensor x) {
    x = matmul(x, x);
    EXPECT_TRUE(executing_eagerly());
    return x;
  };
  auto pf = function([&](Tensor x) { return py_function(my_py_func, x, float32); });
  const Tensor y = pf(constant({{2.f}}));
  EXPECT_EQ(y.shape(), TensorShape({1, 1}));
  EXPECT_EQ(y.to_string(), "[[4.]]");
}

}  // namespace
}  // namespace rill
