// What the train_step of a user-defined class uses and its model does not hold is told once.
#include <gtest/gtest.h>

#include "rill/base/logging.h"
#include "rill/rill.h"

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Nest, tf::Tensor;

namespace {

const Tensor x = tf::ones({8, 2}), y = tf::ones({8, 1});
std::vector<std::string> lines;

// The warnings of what runs while it lives.
class Warnings {
 public:
  Warnings() : before_(tf::log_level()) {
    lines.clear();
    tf::set_log_level(tf::LogLevel::warning);
    tf::set_log_sink([](tf::LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
  ~Warnings() {
    tf::set_log_sink(nullptr);
    tf::set_log_level(before_);
  }
  Warnings(const Warnings&) = delete;

 private:
  tf::LogLevel before_;
};

// Which members are tracked.
struct Held {
  bool net = true, mean = true;
};
struct Own : keras::Model {
  keras::Sequential net{layers::Dense(1, {.input_shape = {2}})};
  keras::metrics::Mean mean{"mean"};
  explicit Own(Held held) {
    if (held.net) track("net", net);
    if (held.mean) track("mean", mean);
  }
  Nest train_step(const Nest& data) override {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::square(data[1].as_tensor() - net(data[0].as_tensor())));
    const auto variables = net.trainable_variables();
    optimizer().apply_gradients(tape.gradient(loss, variables), variables);
    mean.update_state(loss);
    return Nest::dict({{"mean", mean.result()}});
  }
};

std::vector<std::string> told_of(Held held) {
  Own m(held);
  m.compile({.optimizer = "adam"});
  const Warnings watched;
  for (int i = 0; i < 2; ++i) m.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0});
  return lines;
}

TEST(Unheld, NothingIsSaidWhereAllIsTracked) { EXPECT_TRUE(told_of({}).empty()); }
TEST(Unheld, AMetricThatIsNotTracked) {
  const std::vector<std::string> told = told_of({.mean = false});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("metrics() of the model does not list: fit does not reset it"),
            std::string::npos)
      << told[0];
  EXPECT_NE(told[0].find("track(\"NAME\", metric)"), std::string::npos) << told[0];
}
TEST(Unheld, NetworksThatAreNotTracked) {
  const std::vector<std::string> told = told_of({.net = false});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("the model holds nothing that could be trained"), std::string::npos)
      << told[0];
}

// A metric that holds another one resets it itself.
struct Outer : keras::metrics::Metric {
  keras::metrics::Mean inner{"inner"};
  void update_state(const Tensor& v, const Tensor&, const Tensor&) override {
    inner.update_state(v);
  }
  Tensor result() override { return inner.result(); }
  void reset_state() override { inner.reset_state(); }
};
struct WithOuter : Own {
  Outer outer;
  WithOuter() : Own({}) { track("outer", outer); }
  Nest train_step(const Nest& data) override {
    outer.update_state(data[1].as_tensor(), {}, {});
    return Own::train_step(data);
  }
};
TEST(Unheld, MetricsInMetricsAndUsualTrainingAreNoConcern) {
  WithOuter m;
  m.compile({.optimizer = "adam"});
  const Warnings watched;
  m.fit(x, y, {.verbose = 0});
  struct Plain : keras::Model {
    layers::Dense dense{1};
    Plain() { track("dense", dense); }
    Tensor call(const Tensor& v, const keras::CallContext&) override { return dense(v); }
  } plain;
  plain.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae", keras::metrics::AUC()}});
  plain.fit(x, y, {.verbose = 0, .validation_data = {x, y}});
  EXPECT_TRUE(lines.empty()) << lines[0];
}

}  // namespace
