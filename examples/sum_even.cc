// shows: F17 P91 Q53
// The guide's loop with a `continue`: by the host's own loop, and as a part of a graph, where the
// loop and its condition are ops.
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
using tf::Tensor;

int sum_even(const Tensor& items) {
  int s = 0;
  for (const Tensor& c : items) {
    if (c % 2 > 0) continue;
    s += c.item<int>();
  }
  return s;
}

// What `continue` becomes in a graph: a flag, and the rest of the body under a condition.
Tensor tf_sum_even(const Tensor& items) {
  const auto sum =
      tf::while_loop([&](Tensor i, Tensor) { return i < tf::size(items); },
                     [&](Tensor i, Tensor s) {
                       const Tensor c = tf::gather(items, i), continue_ = c % 2 > 0;
                       const Tensor next = tf::cond(
                           tf::logical_not(continue_), [&] { return s + c; }, [&] { return s; });
                       return std::pair(i + 1, next);
                     },
                     {0, 0});
  return sum[1].as_tensor();
}

int main() {
  const Tensor items = tf::constant({10, 12, 15, 20});
  std::cout << tf::format("Eager result: {:d}\n", sum_even(items));
  auto graph = tf::function(tf_sum_even);
  std::cout << tf::format("Graph result: {:d}\n", graph(items));
  // One graph for every list of four numbers: 15 is skipped by its value, not by the trace.
  expect(graph(tf::constant({1, 3, 5, 8})).item<int>() == 8, "odd numbers are skipped");
  expect(graph.trace_count() == 1, "one trace");
}
