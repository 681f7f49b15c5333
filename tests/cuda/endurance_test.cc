// Long runs and hard ends on a GPU: memory over many recorded steps, a batch that does not fit, two
// threads with a model each, and what a profile sees of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/graph/profiler/profiler.h>
#include <rill/rill.h>

#include <cstdlib>
#include <thread>

namespace tf = rill;
using tf::Tensor;

namespace {

class GpuEndurance : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      auto scope = tf::device("/gpu:0");
    } catch (const tf::errors::InvalidArgument& e) {
      GTEST_SKIP() << "no GPU here: " << e.message();
    }
  }
};

// A small network with its own weights; the losses of its steps and its last weights.
struct Trainer {
  tf::Variable w, v;
  std::vector<tf::Variable> all;
  tf::keras::optimizers::Adam adam{{.learning_rate = 1e-2}};
  explicit Trainer(int seed)
      : w(tf::random::stateless_normal({20, 30}, {seed, 1}) * 0.1f),
        v(tf::random::stateless_normal({30, 10}, {seed, 2}) * 0.1f),
        all{w, v} {}
  Tensor operator()(const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = tf::matmul(tf::nn::relu(tf::matmul(x, w)), v)}));
    adam.apply_gradients(tape.gradient(loss, all), all);
    return loss;
  }
};
std::vector<float> train(int seed, int steps) {
  auto scope = tf::device("/gpu:0");
  Trainer trainer(seed);
  auto step = tf::function([&](Tensor x, Tensor y) { return trainer(x, y); });
  std::vector<float> seen;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = tf::random::stateless_uniform({32, 20}, {seed, i}),
                 y = tf::cast(tf::random::stateless_uniform({32}, {seed + 1, i}) * 10.f, tf::int32);
    seen.push_back(step(x, y).item<float>());
  }
  for (const tf::Variable& each : trainer.all)
    for (const float f : each.value().to_vector<float>()) seen.push_back(f);
  return seen;
}

// RILL_GPU_STEPS: how many; 100000 for the report.
TEST_F(GpuEndurance, MemoryIsFlatOverRecordedSteps) {
  using namespace tf::config::experimental;
  const char* given = std::getenv("RILL_GPU_STEPS");
  const int steps = given ? std::atoi(given) : 20000;
  auto scope = tf::device("/gpu:0");
  Trainer trainer(3);
  auto step = tf::function([&](Tensor x, Tensor y) { return trainer(x, y); });
  const Tensor x = tf::random::stateless_uniform({32, 20}, {1, 2}),
               y = tf::cast(tf::range(32) % 10, tf::int32);
  float loss = 0;
  for (int i = 0; i < 200; ++i) loss = step(x, y).item<float>();
  EXPECT_THAT(step.explain(), ::testing::HasSubstr("recorded on"));
  reset_memory_stats("GPU:0");
  const auto before = get_memory_info("GPU:0");
  for (int i = 0; i < steps; ++i) {
    const Tensor got = step(x, y);
    if (i % 1000 == 0) loss = got.item<float>();
  }
  loss = step(x, y).item<float>();
  const auto after = get_memory_info("GPU:0");
  EXPECT_EQ(after.current, before.current);
  EXPECT_LE(after.peak, before.peak + (1 << 20));
  EXPECT_LT(loss, 0.05f);
}

TEST_F(GpuEndurance, ASmallerBatchGoesOnAfterOutOfMemory) {
  using namespace tf::config::experimental;
  auto scope = tf::device("/gpu:0");
  const tf::Variable w(tf::fill({64, 64}, 0.01f));
  auto step = tf::function([=](Tensor x) {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::square(tf::matmul(tf::nn::relu(tf::matmul(x, w)), w)));
    w.assign_sub(0.1f * tape.gradient(loss, w).tensor());
    return loss;
  });
  const Tensor small = tf::ones({256, 64}), large = tf::ones({1 << 18, 64});
  float loss = step(small).item<float>();
  const auto base = get_memory_info("GPU:0").current;
  set_memory_limit("GPU:0", (base >> 20) + 32);
  for (int round = 0; round < 3; ++round) {
    try {
      step(large).item<float>();
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::ResourceExhausted& e) {
      EXPECT_THAT(e.message(), ::testing::HasSubstr("limit"));
    }
    for (int i = 0; i < 20; ++i) {
      const float next = step(small).item<float>();
      EXPECT_LE(next, loss);
      loss = next;
    }
  }
  set_memory_limit("GPU:0", 0);
  EXPECT_LE(step(large).item<float>(), loss) << "with room it goes through";
}

TEST_F(GpuEndurance, TwoThreadsTrainAsOneWould) {
  const std::vector<float> want[] = {train(5, 60), train(9, 60)};
  std::vector<float> got[2];
  std::thread other([&] { got[1] = train(9, 60); });
  got[0] = train(5, 60);
  other.join();
  for (int i : {0, 1}) EXPECT_EQ(got[i], want[i]) << "thread " << i;
}

TEST_F(GpuEndurance, AProfileShowsKernelsOwnTimes) {
  const Tensor a = tf::random::stateless_normal({2048, 2048}, {1, 2});
  const auto work = [&] {
    const Tensor x = a.gpu();
    return tf::nn::relu(tf::matmul(x, x)).cpu();
  };
  work();
  tf::profiler::Profile profile;
  work();
  const auto report = profile.stop();
  const std::string table = report.table();
  if (report.activities().empty()) {
    EXPECT_THAT(table, ::testing::HasSubstr("CUPTI")) << "and why";
    GTEST_SKIP() << table;
  }
  double product_ms = 0;
  std::int64_t up = 0, down = 0;
  bool relu = false;
  for (const auto& each : report.activities()) {
    EXPECT_LT(each.start_ns, each.end_ns);
    EXPECT_GE(each.start_ns, -1'000'000);
    EXPECT_LE(static_cast<double>(each.end_ns), report.wall_seconds() * 1e9 + 1e6);
    EXPECT_EQ(each.device, "GPU:0");
    if (each.op == "MatMul") product_ms += static_cast<double>(each.end_ns - each.start_ns) / 1e6;
    relu = relu || each.op == "Relu";
    if (each.name == "host to device") up += each.bytes;
    if (each.name == "device to host") down += each.bytes;
  }
  EXPECT_GT(product_ms, 0.1) << "17 GFLOP take 0.3 ms at 60 TFLOP/s\n" << table;
  EXPECT_LT(product_ms, 50);
  EXPECT_TRUE(relu) << table;
  EXPECT_EQ(up, 4 * 2048 * 2048) << table;
  EXPECT_EQ(down, 4 * 2048 * 2048) << table;
  EXPECT_THAT(table, ::testing::HasSubstr("GPU:0 MatMul"));
}

}  // namespace
