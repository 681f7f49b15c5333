// shows: P10 P48 Q52
// Tensors: making, printing, arithmetic.
#include <rill/rill.h>
#include <sstream>

#include "example.h"
namespace tf = rill;

template <class T>
std::string printed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

int main() {
  tf::enable_eager_execution();
  expect(tf::executing_eagerly(), "eager by default");

  const auto m = tf::matmul({{2.}}, {{2.}});
  std::cout << tf::format("hello, {}", m) << '\n';
  expect(tf::format("hello, {}", m) == "hello, [[4.]]", "hello, [[4.]]");

  const auto a = tf::constant({{1, 2}, {3, 4}});
  const auto b = tf::add(a, 1);
  std::cout << a * b << '\n';
  expect(printed(a * b) == "tf.Tensor(\n[[ 2  6]\n [12 20]], shape=(2, 2), dtype=int32)", "a * b");
  expect(tf::matmul(a, b).to_vector<int>() == std::vector<int>{10, 13, 22, 29}, "matmul(a, b)");
  expect(printed(tf::convert_to_tensor({1, 2, 3})) == "tf.Tensor([1 2 3], shape=(3,), dtype=int32)",
         "convert_to_tensor");

  const auto random_float = tf::random::uniform({});
  const auto zero_vector = tf::zeros(2);
  const auto B = tf::constant({{5, 6}, {7, 8}});
  std::cout << random_float << '\n'
            << zero_vector << '\n'
            << a.shape() << '\n'
            << a.dtype() << '\n'
            << a.to_string() << '\n';
  expect(random_float.ndim() == 0 && zero_vector.size() == 2, "shapes of a scalar and a vector");
  expect(printed(a.shape()) == "(2, 2)" && printed(a.dtype()) == "<dtype: 'int32'>" &&
             a.to_string() == "[[1 2]\n [3 4]]",
         "printing");
  expect(tf::add(a, B).to_string() == "[[ 6  8]\n [10 12]]", "A + B");
  expect(tf::matmul(a, B).to_string() == "[[19 22]\n [43 50]]", "A x B");
  expect(tf::multiply(a, B).to_string() == "[[ 5 12]\n [21 32]]", "A * B");
}
