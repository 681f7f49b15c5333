// shows: P21 Q18 Q19
// How long 200 products of 1000 x 1000 matrices take on each device.
#include <rill/rill.h>
#include <chrono>

#include "example.h"
namespace tf = rill;

double measure(tf::Tensor x, int steps) {
  tf::matmul(x, x);  // devices start on first use
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) x = tf::matmul(x, x);
  x.numpy();  // waits for the device
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main() {
  const int steps = 200;
  std::cout << "Time to multiply a (1000, 1000) matrix by itself " << steps << " times:\n";
  {
    auto scope = tf::device("/cpu:0");
    const double seconds = measure(tf::random_normal({1000, 1000}, 0, 0.03), steps);
    std::cout << "CPU: " << seconds << " secs\n";
    expect(seconds > 0, "a time");
  }
  if (tf::contrib::eager::num_gpus() > 0) {
    auto scope = tf::device("/gpu:0");
    std::cout << "GPU: " << measure(tf::random_normal({1000, 1000}, 0, 0.03), steps) << " secs\n";
  } else {
    std::cout << "GPU: not found\n";
  }
}
