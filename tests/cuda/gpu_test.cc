// The GPU through the public API, by the plug-in beside librill.so. Where there
// is no GPU every test is skipped, and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/core/device.h>
#include <rill/rill.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/shows.h"

namespace tf = rill;
using tf::Tensor;

namespace {

// What the tests compare with is the host's.
[[maybe_unused]] const int on_host_by_default = setenv("RILL_DEFAULT_DEVICE", "cpu", 1);

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tf::config::list_physical_devices("GPU").empty()) return;
    try {
      auto scope = tf::device("/gpu:0");
    } catch (const tf::errors::InvalidArgument& e) {
      GTEST_SKIP() << "no GPU here: " << e.message();
    }
  }
};

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}

TEST_F(Gpu, IsListed) {
  RILL_SHOWS("C04", "C06", "Q45");
  // With one GPU, as in the guide; more are listed behind it.
  std::ostringstream gpus, cpus;
  tf::config::operator<<(gpus, tf::config::list_physical_devices("GPU"));
  tf::config::operator<<(cpus, tf::config::list_physical_devices("CPU"));
  EXPECT_THAT(gpus.str(), ::testing::StartsWith(
                              "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')"));
  EXPECT_EQ(cpus.str(), "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]");
  EXPECT_EQ(tf::config::list_physical_devices().size(),
            tf::config::list_physical_devices("GPU").size() + 1);
  EXPECT_EQ(tf::contrib::eager::num_gpus(),
            static_cast<int>(tf::config::list_physical_devices("GPU").size()));
  EXPECT_GT(tf::contrib::eager::num_gpus(), 0);
  EXPECT_EQ(tf::config::list_physical_devices("GPU")[0].name, "/physical_device:GPU:0");
  EXPECT_EQ(tf::config::list_logical_devices("GPU")[0].name, "/device:GPU:0");
  EXPECT_TRUE(tf::test::is_gpu_available());
  EXPECT_THROW(tf::constant(1.f).gpu(99), tf::errors::InvalidArgument);
}

TEST_F(Gpu, ScopesPlaceOps) {
  RILL_SHOWS("C01");
  const auto device_of_sum = [](const char* name) {
    auto scope = tf::device(name);
    return (tf::ones({3}) + tf::ones({3})).device().name();
  };
  for (const char* name : {"/gpu:0", "gpu:0", "GPU:0", "/device:GPU:0"})
    EXPECT_THAT(device_of_sum(name), ::testing::EndsWith("/device:GPU:0")) << name;
  for (const char* name : {"/cpu:0", "cpu:0"})
    EXPECT_THAT(device_of_sum(name), ::testing::EndsWith("/device:CPU:0")) << name;
  auto outer = tf::device("/gpu:0");
  EXPECT_THAT(device_of_sum("/cpu:0"), ::testing::EndsWith("/device:CPU:0")) << "the inner one";
}

TEST_F(Gpu, TensorsMoveAndComeBackUnchanged) {
  for (int n : {1, 3, 1000, 3000000}) {
    const Tensor x = tf::random::stateless_uniform({n}, {1, 2});
    const Tensor there = x.gpu();
    EXPECT_THAT(there.device().name(), ::testing::HasSubstr("GPU:0"));
    EXPECT_EQ(there.cpu().to_vector<float>(), x.to_vector<float>());
  }
}

TEST_F(Gpu, ManyUploadsKeepTheirOrder) {
  Tensor sum = tf::constant(0.f).gpu();
  for (int i = 0; i < 300; ++i) sum = sum + tf::fill({5000}, static_cast<float>(i));
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(5000, 300 * 299 / 2));
}

TEST_F(Gpu, EventsMarkPointsOfTheQueue) {
  tf::Device& gpu = tf::find_device("/gpu:0");
  Tensor x = tf::ones({2048, 2048}).gpu();
  const auto start = gpu.record_event();
  for (int i = 0; i < 20; ++i) x = tf::matmul(x, x) / 2048.f;
  const auto end = gpu.record_event();
  gpu.wait_for(end);
  EXPECT_GT(end->milliseconds_since(*start), 0.0);
  EXPECT_TRUE(start->reached() && end->reached());
  // The host has another clock, and may be waited for.
  const auto here = tf::cpu_device().record_event();
  EXPECT_THROW(end->milliseconds_since(*here), tf::errors::InvalidArgument);
  gpu.wait_for(here);
  EXPECT_EQ(x[0][0].item<float>(), 1.f);
}

TEST_F(Gpu, ReductionsOfEverySize) {
  for (int rows : {1, 7, 300, 5000})
    for (int columns : {1, 10, 1000, 6000}) {
      const Tensor x = tf::random::stateless_normal({rows, columns}, {3, rows + columns});
      const Tensor there = x.gpu();
      for (const std::vector<int>& axes : {std::vector<int>{0}, {1}, {0, 1}}) {
        // Sums of random signs: the error grows with the root of their number.
        const double tolerance = 1e-6 * std::sqrt(rows * columns);
        expect_near(tf::reduce_sum(there, axes), tf::reduce_sum(x, axes), tolerance);
        expect_near(tf::reduce_max(there, axes), tf::reduce_max(x, axes), 0);
      }
      EXPECT_EQ(tf::argmax(there, 1).to_vector<std::int64_t>(),
                tf::argmax(x, 1).to_vector<std::int64_t>());
      expect_near(tf::nn::softmax(there), tf::nn::softmax(x), 1e-6);
      expect_near(tf::transpose(there), tf::transpose(x), 0);
    }
}

TEST_F(Gpu, ProductsAreOfFloat32) {
  const Tensor a = tf::random::stateless_normal({123, 457}, {1, 1}),
               b = tf::random::stateless_normal({457, 89}, {1, 2});
  const Tensor want = tf::matmul(tf::cast(a, tf::float64), tf::cast(b, tf::float64));
  // TF32 would be off by some 1e-2 here.
  expect_near(tf::matmul(a.gpu(), b.gpu()), want, 1e-4);
  expect_near(tf::matmul(tf::transpose(a).gpu(), b.gpu(), {.transpose_a = true}), want, 1e-4);
  expect_near(tf::matmul(a.gpu(), tf::transpose(b).gpu(), {.transpose_b = true}), want, 1e-4);
}

TEST_F(Gpu, RandomNumbersAreTheCpus) {
  const auto scope = [](const char* device, auto make) {
    auto in = tf::device(device);
    return make();
  };
  for (int n : {1, 5, 10001}) {
    const auto uniform = [n] { return tf::random::stateless_uniform({n}, {7, n}); };
    EXPECT_EQ(scope("/gpu:0", uniform).to_vector<float>(),
              scope("/cpu:0", uniform).to_vector<float>());
    const auto normal = [n] { return tf::random::stateless_normal({n}, {7, n}); };
    expect_near(scope("/gpu:0", normal), scope("/cpu:0", normal), 1e-6);
    const auto truncated = [n] { return tf::random::stateless_truncated_normal({n}, {7, n}); };
    expect_near(scope("/gpu:0", truncated), scope("/cpu:0", truncated), 1e-6);
  }
}

TEST_F(Gpu, VariablesStayWhereTheyAre) {
  auto scope = tf::device("/gpu:0");
  const tf::Variable v(tf::constant({1.f, 2.f}));
  EXPECT_THAT(v.device().name(), ::testing::HasSubstr("GPU:0"));
  const Tensor before = v.value();
  v.assign_add(tf::constant({10.f, 10.f}));
  v.assign(v + 1.f);
  EXPECT_THAT(v.device().name(), ::testing::HasSubstr("GPU:0"));
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{12, 13}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2})) << "what was read stays";
}

TEST_F(Gpu, BadDataIsAnErrorWhenTheHostLooks) {
  const Tensor logits = tf::zeros({2, 3}).gpu(), labels = tf::constant({1, 3}).gpu();
  const Tensor loss =
      tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = labels, .logits = logits});
  try {
    loss.to_vector<float>();
    FAIL() << "no error";
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_THAT(e.message(), ::testing::HasSubstr("labels[1] = 3 is not in [0, 3)"));
  }
  EXPECT_TRUE(std::isnan(loss.to_vector<float>()[1])) << "told once";
  const Tensor one = tf::constant({1, 1}).gpu(), zero = tf::constant({1, 0}).gpu();
  EXPECT_THROW(tf::math::floordiv(one, zero).to_vector<int>(), tf::errors::InvalidArgument);
}

TEST_F(Gpu, TooMuchMemoryIsAnErrorAndNoHarm) {
  auto scope = tf::device("/gpu:0");
  EXPECT_THROW(tf::zeros({1 << 20, 1 << 20}), tf::errors::ResourceExhausted);
  EXPECT_EQ(tf::reduce_sum(tf::ones({1000})).item<float>(), 1000);
}

TEST_F(Gpu, OpsWithoutAKernelRunOnTheHostUnlessForbidden) {
  RILL_SHOWS("C14");
  const Tensor x = tf::constant({{4.f}}).gpu();
  EXPECT_EQ(tf::linalg::cholesky(x).to_vector<float>(), (std::vector<float>{2}));
  tf::config::set_soft_device_placement(false);
  try {
    tf::linalg::cholesky(x);
    ADD_FAILURE() << "no error";
  } catch (const tf::errors::Unimplemented& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("Could not find valid device for node name: "
                                               "\"Cholesky\": no GPU kernel for float32"));
  }
  tf::config::set_soft_device_placement(true);
}

TEST_F(Gpu, ThreadsShareItsStream) {
  const Tensor x = tf::random::stateless_normal({40, 40}, {9, 9}) * 0.1f, there = x.gpu();
  const auto work = [](const Tensor& start) {
    Tensor y = start;
    for (int i = 0; i < 100; ++i) y = tf::tanh(tf::matmul(y, start) + tf::constant(0.01f * i));
    return y;
  };
  const std::vector<float> want = work(there).to_vector<float>();
  expect_near(work(there), work(x), 1e-4);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (auto& g : got) threads.emplace_back([&] { g = work(there).to_vector<float>(); });
  for (std::thread& t : threads) t.join();
  for (const auto& g : got) EXPECT_EQ(g, want);
}

TEST_F(Gpu, TracedFunctionsRunThere) {
  const auto f = tf::function(
      [](Tensor x) { return tf::reduce_mean(tf::nn::relu(tf::matmul(x, x) + 1.f), {0}); });
  const Tensor x = tf::random::stateless_normal({20, 20}, {9, 9}), there = f(x.gpu());
  EXPECT_THAT(there.device().name(), ::testing::HasSubstr("GPU:0"));
  expect_near(there, f(x), 1e-5);
}

// Program P53's network: 784 inputs, 100 hidden units, 10 classes, Adam.
struct Network {
  tf::Variable w1{tf::random::stateless_normal({784, 100}, {1, 1}) * 0.05f}, b1{tf::zeros({100})};
  tf::Variable w2{tf::random::stateless_normal({100, 10}, {1, 2}) * 0.1f}, b2{tf::zeros({10})};
  std::vector<tf::Variable> variables() const { return {w1, b1, w2, b2}; }
  Tensor operator()(const Tensor& x) const {
    const Tensor hidden = tf::nn::relu(tf::nn::bias_add(tf::matmul(x, w1), b1));
    return tf::nn::bias_add(tf::matmul(hidden, w2), b2);
  }
};
struct Trained {
  std::vector<float> losses;
  std::vector<std::vector<float>> weights;
  float accuracy;
};

// Digits that can be learned: the class is the brightest of ten regions.
Trained train(const char* device, int steps) {
  auto scope = tf::device(device);
  tf::config::set_soft_device_placement(false);  // all of it runs there
  const Tensor noise = tf::random::stateless_uniform({50 * 20, 784}, {5, 5});
  const Tensor regions = tf::reduce_mean(
      tf::reshape(tf::strided_slice(noise, {0, 0}, {1000, 780}), {1000, 10, 78}), {2});
  const Tensor labels = tf::argmax(regions, 1);
  const Network net;
  tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
  Trained t;
  for (int step = 0; step < steps; ++step) {
    const int at = step % 20 * 50;
    const Tensor x = tf::strided_slice(noise, {at, 0}, {at + 50, 784}),
                 y = tf::strided_slice(labels, {at}, {at + 50});
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = net(x)}));
    adam.apply_gradients(tape.gradient(loss, net.variables()), net.variables());
    t.losses.push_back(loss.item<float>());
  }
  for (const tf::Variable& v : net.variables()) t.weights.push_back(v.value().to_vector<float>());
  const Tensor right = tf::equal(tf::argmax(net(noise), 1), labels);
  t.accuracy = tf::reduce_mean(tf::cast(right, tf::float32)).item<float>();
  tf::config::set_soft_device_placement(true);
  return t;
}

TEST_F(Gpu, TrainsAsTheCpuDoes) {
  const Trained gpu = train("/gpu:0", 200), cpu = train("/cpu:0", 200);
  for (std::size_t i = 0; i < gpu.losses.size(); ++i)
    ASSERT_NEAR(gpu.losses[i], cpu.losses[i], 2e-3 * cpu.losses[i]) << "step " << i;
  EXPECT_NEAR(gpu.losses[0], cpu.losses[0], 1e-6 * cpu.losses[0]);
  for (std::size_t v = 0; v < 4; ++v)
    for (std::size_t i = 0; i < gpu.weights[v].size(); ++i)
      ASSERT_NEAR(gpu.weights[v][i], cpu.weights[v][i], 2e-3) << "variable " << v << ", " << i;
  std::cout << "loss " << gpu.losses.front() << " -> " << gpu.losses.back() << " (CPU "
            << cpu.losses.back() << "), accuracy " << gpu.accuracy << " (CPU " << cpu.accuracy
            << ")\n";
  EXPECT_LT(gpu.losses.back(), 0.8f * gpu.losses.front());
  EXPECT_NEAR(gpu.accuracy, cpu.accuracy, 0.01);
}

TEST_F(Gpu, TrainsTheSameBitsTwice) {
  const Trained one = train("/gpu:0", 50), two = train("/gpu:0", 50);
  EXPECT_EQ(one.losses, two.losses);
  EXPECT_EQ(one.weights, two.weights);
}

// A traced step is planned, then recorded and replayed; the eager one tells what is right.
TEST_F(Gpu, AssignmentsAreRecorded) {
  auto scope = tf::device("/gpu:0");
  const tf::Variable average(tf::zeros({3}));
  const auto f = tf::function([=](Tensor x) {
    average.assign(average.value() * 0.5f + x);
    return tf::reduce_sum(average.value());
  });
  std::vector<float> want(3);
  Tensor held;
  for (int i = 0; i < 12; ++i) {
    const Tensor sum = f(tf::constant({1.f * i, 2.f, 3.f - i}));
    want = {want[0] * 0.5f + 1.f * i, want[1] * 0.5f + 2.f, want[2] * 0.5f + 3.f - i};
    EXPECT_NEAR(sum.item<float>(), want[0] + want[1] + want[2], 1e-4) << i;
    EXPECT_EQ(average.value().to_vector<float>(), want) << i;
    if (i == 8) held = average.value();  // the next assignment must not write over it
    if (i == 9) {
      EXPECT_NE(held.to_vector<float>(), want);
    }
  }
  EXPECT_THAT(f.explain(), ::testing::HasSubstr("recorded on"));
}

TEST_F(Gpu, RecordedStepsTrainAsEagerOnes) {
  auto train = [](bool traced, int steps) {
    auto scope = tf::device("/gpu:0");
    tf::Variable w(tf::random::stateless_normal({20, 10}, {1, 1}) * 0.1f), b(tf::zeros({10}));
    const std::vector<tf::Variable> vars{w, b};
    tf::keras::optimizers::Adam adam({.learning_rate = 1e-2});
    auto step = [&](Tensor x, Tensor y) {
      tf::GradientTape tape;
      const Tensor loss = tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(
          {.labels = y, .logits = tf::matmul(x, w) + b}));
      adam.apply_gradients(tape.gradient(loss, vars), vars);
      return loss;
    };
    auto graph = tf::function(step);
    std::vector<float> losses;
    Tensor held;
    for (int i = 0; i < steps; ++i) {
      const Tensor x = tf::random::stateless_uniform({32, 20}, {7, i}),
                   y = tf::cast(tf::random::stateless_uniform({32}, {8, i}) * 10.f, tf::int32);
      losses.push_back((traced ? graph(x, y) : step(x, y)).item<float>());
      if (i == steps / 2) held = w.value();  // the next update must not write over it
      if (i == steps / 2 + 3) adam.set_learning_rate(5e-3);
    }
    for (float v : w.value().to_vector<float>()) losses.push_back(v);
    for (float v : held.to_vector<float>()) losses.push_back(v);
    return losses;
  };
  const auto eager = train(false, 40), traced = train(true, 40);
  ASSERT_EQ(eager.size(), traced.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    ASSERT_NEAR(eager[i], traced[i], 2e-5) << "value " << i;
}

}  // namespace
