// Where a training step's time goes: the same small network eagerly and as a traced
// function, timed, profiled, and asked why it is slow.
#include <rill/rill.h>
#include <chrono>
#include <filesystem>

#include "example.h"
namespace tf = rill;
using tf::Tensor;

struct Network {
  tf::Variable w1{tf::random::normal({64, 128}, 0, 0.15, {.seed = 1})}, b1{tf::zeros({128})};
  tf::Variable w2{tf::random::normal({128, 10}, 0, 0.15, {.seed = 2})}, b2{tf::zeros({10})};

  // One step of gradient descent; the loss before it.
  Tensor train(const Tensor& x, const Tensor& y) {
    const std::vector<tf::Variable> variables{w1, b1, w2, b2};
    tf::GradientTape tape;
    const auto hidden = tf::nn::relu(tf::matmul(x, w1) + b1);
    const auto loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = tf::matmul(hidden, w2) + b2}));
    const auto gradients = tape.gradient(loss, variables);
    for (std::size_t i = 0; i < variables.size(); ++i)
      tf::Variable(variables[i]).assign_sub(0.1f * Tensor(gradients[i]));
    return loss;
  }
};

int main() {
  const auto x = tf::random::normal({32, 64}, 0, 1, {.seed = 3});
  const auto y = tf::cast(
      tf::argmax(tf::matmul(x, tf::random::normal({64, 10}, 0, 1, {.seed = 4})), 1), tf::int32);
  Network eager, traced;
  auto step = tf::function(
      [&](Tensor images, Tensor labels) { return traced.train(images, labels); }, {.name = "step"});

  auto run = [&](const char* how, auto train) {
    train();  // not timed: memory is found, the function traced
    const auto start = std::chrono::steady_clock::now();
    Tensor loss;
    for (int i = 0; i < 1000; ++i) loss = train();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << tf::format("1000 steps {}: {:.3f} seconds, loss {:.4f}\n", how, took.count(),
                            loss);
    return loss.item<float>();
  };
  const float by_eager = run("eagerly", [&] { return eager.train(x, y); });
  const float by_function = run("as a function", [&] { return step(x, y); });
  expect(std::abs(by_eager - by_function) < 1e-3f, "both learn the same");

  for (const bool as_function : {false, true}) {
    tf::profiler::Profile profile;
    for (int i = 0; i < 200; ++i) as_function ? step(x, y) : eager.train(x, y);
    const auto report = profile.stop();
    std::cout << (as_function ? "\nas a function:\n" : "\neagerly:\n") << report.table()
              << "\nwhy slow?\n"
              << report.why_slow();
    expect(report.dropped_events() == 0, "all calls are kept");
    expect(report.table().find("MatMul") != std::string::npos, "products are in the table");
    const auto path = std::filesystem::temp_directory_path() /
                      (as_function ? "rill_function.json" : "rill_eager.json");
    report.save_chrome_trace(path);
    std::cout << "for chrome://tracing or ui.perfetto.dev: " << path.string() << '\n';
  }
}
