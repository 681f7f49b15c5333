// shows: P95
// Random numbers that come again: seeds of ops, and of the whole program.
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;

int main() {
  // Of an op: its own stream, whatever else draws.
  tf::set_random_seed(87654321);
  tf::Variable a(tf::truncated_normal({2, 3}, 0.0, 0.1, tf::float32, /*seed=*/0));
  tf::set_random_seed(87654321);
  tf::random_uniform({100});  // another op in between
  tf::Variable b(tf::truncated_normal({2, 3}, 0.0, 0.1, tf::float32, /*seed=*/0));
  std::cout << a << '\n';
  expect(a.to_vector<float>() == b.to_vector<float>(), "one op seed, one stream");

  // Of the program: everything after it comes again.
  const auto draw = [](int seed) {
    tf::set_random_seed(seed);
    const auto first = tf::random_normal({4}), second = tf::random_normal({4});
    return tf::concat({first, second}, 0).to_vector<float>();
  };
  const auto once = draw(42), again = draw(42), other = draw(43);
  expect(once == again, "the same seed, the same numbers");
  expect(once != other, "another seed, other numbers");
  expect(!std::equal(once.begin(), once.begin() + 4, once.begin() + 4), "two ops, two streams");
  std::cout << "seed 42 gives " << tf::constant(once).to_string() << " every time\n";
}
