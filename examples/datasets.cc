// shows: P24 P39 P66
// Datasets: what their elements are, how they print, and batches of them.
#include <rill/rill.h>

#include <sstream>

#include "example.h"
namespace tf = rill;
using tf::Nest, tf::Tensor, tf::data::Dataset;

template <class T>
void show(const T& value, const std::string& expected) {
  std::ostringstream text;
  text << value;
  std::cout << text.str() << '\n';
  expect(text.str() == expected, expected);
}

int main() {
  // Elements are tensors, tuples or dicts, nested as you like.
  const auto dataset1 = Dataset::from_tensor_slices(tf::random::uniform({4, 10}));
  show(dataset1.output_types(), "tf.float32");
  show(dataset1.output_shapes(), "(10,)");

  const auto numbers = tf::random::uniform({4, 100}, 0, 100, {.dtype = tf::int32});
  const auto dataset2 = Dataset::from_tensor_slices(tf::tuple(tf::random::uniform({4}), numbers));
  show(dataset2.output_types(), "(tf.float32, tf.int32)");
  show(dataset2.output_shapes(), "((), (100,))");

  const auto dataset3 = Dataset::zip({dataset1, dataset2});
  show(dataset3.output_types(), "(tf.float32, (tf.float32, tf.int32))");
  show(dataset3.output_shapes(), "((10,), ((), (100,)))");

  const auto named =
      Dataset::from_tensor_slices(Nest::dict({{"a", tf::random::uniform({4})}, {"b", numbers}}));
  show(named.output_types(), "{'a': tf.float32, 'b': tf.int32}");
  show(named.output_shapes(), "{'a': (), 'b': (100,)}");

  // A dataset prints its kind; float64 stays float64.
  const auto x = tf::random::uniform({5, 2}, 0, 1, {.dtype = tf::float64});
  show(Dataset::from_tensor_slices(x), "<TensorSliceDataset shapes: (2,), types: tf.float64>");
  const auto a = tf::random::uniform({5}, 0, 1, {.dtype = tf::float64});
  show(Dataset::from_tensor_slices(Nest::dict({{"a", a}, {"b", x}})),
       "<TensorSliceDataset shapes: {a: (), b: (2,)}, types: {a: tf.float64, b: tf.float64}>");

  // Batches: consecutive elements, stacked.
  const char* batches[] = {"([0 1 2 3], [ 0 -1 -2 -3])", "([4 5 6 7], [-4 -5 -6 -7])",
                           "([ 8  9 10 11], [ -8  -9 -10 -11])"};
  int i = 0;
  const auto pairs = Dataset::zip({Dataset::range(100), Dataset::range(0, -100, -1)});
  for (auto& batch : pairs.batch(4).take(3)) {
    auto [up, down] = batch.unpack<2>();
    show("(" + up.to_string() + ", " + down.to_string() + ")", batches[i++]);
  }

  // Elements of different lengths are padded to the longest of their batch.
  const auto rows = Dataset::range(100).map(
      [](Tensor n) { return tf::fill(tf::reshape(tf::cast(n, tf::int32), {1}), n); });
  auto padded = rows.padded_batch(4, {{tf::None}}).iter();
  show(padded.next().as_tensor().to_string(), "[[0 0 0]\n [1 0 0]\n [2 2 0]\n [3 3 3]]");
  show(padded.next().as_tensor().to_string(),
       "[[4 4 4 4 0 0 0]\n [5 5 5 5 5 0 0]\n [6 6 6 6 6 6 0]\n [7 7 7 7 7 7 7]]");
}
