// What a program sets once: the device by default, parts of a GPU, TF32, stored choices of
// engines. Each test is its own process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/core/device.h>
#include <rill/rill.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/cuda/own_process.h"
#include "tests/shows.h"

namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

bool on_gpu(const Tensor& t) { return t.device().type() == tf::DeviceType::gpu; }
Tensor normal(const std::vector<std::int64_t>& shape, int seed) {
  return tf::random::stateless_normal(tf::constant(shape), {seed, 7});
}
double largest(const Tensor& t) { return tf::reduce_max(tf::abs(t)).item<double>(); }

TEST(GpuConfig, AProgramThatSaysNothingRunsOnTheGpu) {
  RILL_SHOWS("C02");
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    EXPECT_TRUE(on_gpu(tf::constant({1.f, 2.f}) + 1.f));
    EXPECT_TRUE(on_gpu(tf::random::normal({3, 3})));
    EXPECT_TRUE(on_gpu(tf::Variable(tf::zeros({3})).value()));
    EXPECT_FALSE(on_gpu(tf::constant({1, 2}) + 1));  // sizes and indices
    EXPECT_FALSE(on_gpu(tf::constant(1.f) + 1.f));   // single numbers
    EXPECT_FALSE(on_gpu(tf::strings::join({"a", "b"})));
    const auto twice = tf::function([](Tensor x) { return x * 2.f; });
    EXPECT_TRUE(on_gpu(twice(tf::constant({1.f, 2.f}))));
    EXPECT_EQ(twice(tf::constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{2, 4}));
    for (auto& e : tf::data::Dataset::range(2).map([](Tensor x) {
           return tf::cast(tf::stack({x, x}), tf::float32) * 2.f;
         }))
      EXPECT_FALSE(on_gpu(e.as_tensor()));
    auto scope = tf::device("/cpu:0");
    EXPECT_FALSE(on_gpu(tf::constant({1.f, 2.f}) + 1.f));
  });
}

TEST(GpuConfig, KerasTrainsThereByDefault) {
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    const Tensor x = normal({256, 8}, 1), y = tf::reshape(tf::reduce_sum(x, 1), {-1, 1});
    keras::Sequential model(
        {keras::layers::Dense(16, {.activation = "relu"}), keras::layers::Dense(1)});
    model.compile({.optimizer = keras::optimizers::Adam(0.01), .loss = "mse"});
    const auto history = model.fit(x, y, {.batch_size = 32, .epochs = 8, .verbose = 0});
    const std::vector<double>& losses = history["loss"];
    EXPECT_LT(losses.back(), 0.3 * losses.front());
    EXPECT_TRUE(on_gpu(model.trainable_variables()[0].value()));
    EXPECT_EQ(model.predict(x).shape(), (tf::TensorShape{256, 1}));
  });
}

TEST(GpuConfig, HiddenGpusAreNotUsed) {
  RILL_SHOWS("Z31");
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    tf::config::set_visible_devices({}, "GPU");
    EXPECT_FALSE(on_gpu(tf::constant({1.f, 2.f}) + 1.f));
    EXPECT_THROW(tf::device("/gpu:0"), tf::errors::InvalidArgument);
  });
}

TEST(GpuConfig, OneGpuAsTwo) {
  RILL_SHOWS("C03");
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    const auto gpus = tf::config::list_physical_devices("GPU");
    tf::config::set_logical_device_configuration(gpus[0],
                                                 {{.memory_limit = 64}, {.memory_limit = 1024}});
    EXPECT_EQ(tf::config::list_logical_devices("GPU").size(), gpus.size() + 1);
    const Tensor x = normal({100, 100}, 1), want = tf::matmul(x.cpu(), x.cpu());
    for (int i : {0, 1}) {
      const Tensor there = x.gpu(i), y = tf::matmul(there, there);
      EXPECT_TRUE(on_gpu(y));
      EXPECT_EQ(y.device().index(), i);
      EXPECT_FALSE(on_gpu(y.cpu()));
      EXPECT_LT(largest(y.cpu() - want.cpu()), 1e-4);
    }
    EXPECT_EQ(x.gpu(0).gpu(1).cpu().to_vector<float>(), x.to_vector<float>());
    // 100 MB: too much for the first, and the first can go on.
    try {
      tf::zeros({25, 1024, 1024}).gpu(0);
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::ResourceExhausted& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("limit"));
    }
    EXPECT_LT(largest(tf::matmul(x, x).cpu() - want.cpu()), 1e-4);
    auto scope = tf::device("/gpu:1");
    EXPECT_EQ(tf::fill({25, 1024, 1024}, 1.f).device().index(), 1);
  });
}

TEST(GpuConfig, Tf32IsASwitch) {
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    auto scope = tf::device("/gpu:0");
    const Tensor a = normal({512, 512}, 1), b = normal({512, 512}, 2),
                 x = normal({32, 28, 28, 32}, 3), w = normal({3, 3, 32, 32}, 4);
    const auto error = [&](bool conv) {
      const auto f64 = [](const Tensor& t) { return tf::cast(t, tf::float64); };
      const Tensor got = conv ? tf::nn::conv2d(x, w, 1, "SAME") : tf::matmul(a, b),
                   want = conv ? tf::nn::conv2d(f64(x), f64(w), 1, "SAME")
                               : tf::matmul(f64(a), f64(b));
      return largest(f64(got) - want) / largest(want);
    };
    for (const bool conv : {false, true}) {
      SCOPED_TRACE(conv);
      EXPECT_LT(error(conv), 3e-6);
      tf::config::experimental::enable_tensor_float_32_execution(true);
      EXPECT_GT(error(conv), 2e-5);
      EXPECT_LT(error(conv), 5e-3);
      tf::config::experimental::enable_tensor_float_32_execution(false);
      EXPECT_LT(error(conv), 3e-6);
    }
  });
}

std::string contents(const std::string& folder) {
  std::string text;
  if (!std::filesystem::exists(folder)) return text;
  for (const auto& f : std::filesystem::directory_iterator(folder))
    if (f.path().extension() == ".txt") {
      std::ifstream file(f.path());
      text += std::string(std::istreambuf_iterator<char>(file), {});
    }
  return text;
}
// All three passes of a convolution that is worth timing; what they gave.
std::vector<float> convolve() {
  auto scope = tf::device("/gpu:0");
  const Tensor x = normal({64, 28, 28, 32}, 1), w = normal({5, 5, 32, 64}, 2);
  tf::GradientTape tape;
  tape.watch(x), tape.watch(w);
  const Tensor y = tf::nn::conv2d(x, w, 1, "SAME");
  const tf::Gradients g = tape.gradient(y * y, {x, w});
  std::vector<float> all = y.to_vector<float>();
  for (int i = 0; i < 2; ++i)
    for (const float v : g[i].tensor().to_vector<float>()) all.push_back(v);
  return all;
}
void write(const std::string& path, const std::vector<float>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}
std::string bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A process each; the lines around them run in each of them too.
void twice_in_processes(bool tuned) {
  const char* given = std::getenv("CHOICES_FOLDER");  // in a child: its parent's
  const std::string folder =
      given ? given : ::testing::TempDir() + "engines_" + std::to_string(getpid());
  setenv("CHOICES_FOLDER", folder.c_str(), 1);
  setenv("RILL_CACHE_DIR", folder.c_str(), 1);
  setenv("RILL_CUDNN_TUNING", tuned ? "1" : "0", 1);
  std::filesystem::create_directories(folder);
  in_a_process([&] { write(folder + "/first", convolve()); });
  const std::string chosen = contents(folder);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), '\n'), tuned ? 3 : 0) << chosen;
  in_a_process([&] { write(folder + "/second", convolve()); });
  EXPECT_EQ(contents(folder), chosen);
  EXPECT_FALSE(bytes(folder + "/first").empty());
  EXPECT_TRUE(bytes(folder + "/first") == bytes(folder + "/second"));
  std::filesystem::remove_all(folder);
  unsetenv("RILL_CUDNN_TUNING"), unsetenv("RILL_CACHE_DIR"), unsetenv("CHOICES_FOLDER");
}

TEST(GpuConfig, AnotherProcessTakesTheSameEngines) {
  SKIP_WITHOUT_GPU();
  twice_in_processes(true);
}
TEST(GpuConfig, WithoutTimingNothingIsStoredAndBitsAreTheSame) {
  SKIP_WITHOUT_GPU();
  twice_in_processes(false);
}

TEST(GpuConfig, BatchesAreThereWhenAStepBegins) {
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    const Tensor x = tf::reshape(tf::range(0.f, 64.f), {16, 4});
    float sum = 0;
    for (auto& e :
         tf::data::Dataset::from_tensor_slices(x.cpu()).batch(4).prefetch_to_device("/gpu:0", 2)) {
      EXPECT_TRUE(on_gpu(e.as_tensor()));
      sum += tf::reduce_sum(e.as_tensor()).item<float>();
    }
    EXPECT_EQ(sum, 64 * 63 / 2);
  });
}

}  // namespace
