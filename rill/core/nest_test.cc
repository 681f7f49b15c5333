#include "rill/core/nest.h"

#include <gtest/gtest.h>

#include "rill/core/operand.h"
#include "tests/printed.h"

namespace rill {
namespace {

using testing::printed;

Tensor of(std::initializer_list<Operand> list) { return to_tensor(Operand(list)); }

TEST(Nest, PrintsValuesAsPythonDoes) {
  const Tensor matrix = of({{1.f, 2.f}, {3.f, 4.f}});
  const Nest number(to_tensor(3)), text(to_tensor("x"));
  EXPECT_EQ(printed(tuple(matrix, number)),
            "(<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\n"
            "array([[1., 2.],\n"
            "       [3., 4.]], dtype=float32)>, <tf.Tensor: shape=(), dtype=int32, numpy=3>)");
  EXPECT_EQ(printed(Nest::dict({{"a", of({1.f, 2.f})}, {"b", tuple(number, text)}})),
            "{'a': <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>, "
            "'b': (<tf.Tensor: shape=(), dtype=int32, numpy=3>, "
            "<tf.Tensor: shape=(), dtype=string, numpy=b'x'>)}");
  EXPECT_EQ(printed(tuple(number)), "(<tf.Tensor: shape=(), dtype=int32, numpy=3>,)");
  EXPECT_EQ(printed(Nest()), "()");
  EXPECT_EQ(printed(Nest::dict({{"none", Nest(Tensor())}})), "{'none': None}");
}

TEST(Nest, OfOneTensorPrintsAsTheTensor) {
  EXPECT_EQ(printed(Nest(to_tensor(9.f))), "tf.Tensor(9.0, shape=(), dtype=float32)");
}

TEST(Nest, TellsItsFormForErrors) {
  EXPECT_EQ(Nest::dict({{"a", of({1.f, 2.f})}}).to_string(), "{'a': float32 [2]}");
}

}  // namespace
}  // namespace rill
