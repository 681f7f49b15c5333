// shows: P15 Q11
// A variable is saved, changed and restored; then a whole training, which continues in another
// program as if it had never stopped.
#include <rill/rill.h>

#include <filesystem>

#include "example.h"
namespace tf = rill;

namespace {

struct Line {
  tf::Variable w{0.f}, b{0.f};
  tf::keras::optimizers::Adam optimizer{0.1};
  tf::train::Checkpoint checkpoint{{"w", w}, {"b", b}, {"optimizer", optimizer}};
  float train(int steps) {
    const auto x = tf::constant({1.f, 2.f, 3.f}), y = 3 * x + 2;
    float last = 0;
    for (int i = 0; i < steps; ++i) {
      tf::GradientTape tape;
      const auto loss = tf::reduce_mean(tf::square(w * x + b - y));
      optimizer.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
      last = loss.item<float>();
    }
    return last;
  }
};

}  // namespace

int main() {
  std::filesystem::remove_all("ckpt");

  tf::Variable x(10.f);
  tf::train::Checkpoint checkpoint({{"x", x}});
  x.assign(2.f);
  const std::string save_path = checkpoint.save("./ckpt/");
  x.assign(11.f);
  checkpoint.restore(save_path);
  std::cout << x.numpy().to_string() << '\n';  // 2.0
  expect(x.numpy().to_string() == "2.0", "the value that was saved");

  Line whole, first;
  const float loss = whole.train(60);
  first.train(30);
  first.checkpoint.save("./ckpt/line");
  Line second;  // as another program; the optimizer makes its state at its first step
  const auto status = second.checkpoint.restore(tf::train::latest_checkpoint("./ckpt"));
  expect(second.train(30) == loss, "the training continues where it stopped");
  status.assert_consumed();
  std::cout << status.table();
}
