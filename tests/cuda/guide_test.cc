// What the guides say of GPUs: when they start, what they wait for, what a program may limit, and
// what happens where a library is not what it should be. Each test that configures is a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/core/device.h>
#include <rill/graph/profiler/profiler.h>
#include <rill/rill.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "tests/cuda/own_process.h"
#include "tests/shows.h"

namespace tf = rill;
using tf::Tensor;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::string file(const char* path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}
// Megabytes of the first GPU that are taken, by whomever; negative: nobody says.
long used_megabytes() {
  char text[64] = "";
  if (FILE* p = popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", "r")) {
    if (!std::fgets(text, sizeof text, p)) text[0] = 0;
    pclose(p);
  }
  char* end = nullptr;
  const long mb = std::strtol(text, &end, 10);
  return end == text ? -1 : mb;
}

// Asked of the system: for tests in which the program itself must not have started anything.
#define SKIP_WITHOUT_DRIVER()                                    \
  if (!std::filesystem::exists("/proc/driver/nvidia/version") && \
      !std::filesystem::exists("/dev/nvidiactl"))                \
  GTEST_SKIP() << "no GPU here"

TEST(GpuGuide, NothingIsStartedBeforeItsFirstUse) {
  RILL_SHOWS("E57");
  SKIP_WITHOUT_DRIVER();
  in_a_process([] {
    EXPECT_THAT(file("/proc/self/maps"), ::testing::Not(::testing::HasSubstr("libcuda.so")));
    const double begin = now();
    const auto work = [] {
      auto scope = tf::device("/gpu:0");
      const Tensor x = tf::ones({50, 50});
      return tf::matmul(x, x)[0][0].item<float>();
    };
    EXPECT_EQ(work(), 50.f);
    const double first = now() - begin;
    EXPECT_THAT(file("/proc/self/maps"), ::testing::HasSubstr("libcuda.so"));
    const double second_begin = now();
    EXPECT_EQ(work(), 50.f);
    const double second = now() - second_begin;
    EXPECT_GT(first, 5 * second) << "seconds of the first use and of the second";
  });
}

TEST(GpuGuide, ProductsReturnBeforeTheyAreDone) {
  RILL_SHOWS("E56");
  SKIP_WITHOUT_GPU();
  auto scope = tf::device("/gpu:0");
  const Tensor x = tf::ones({4096, 4096}) / 4096.f;
  Tensor y = x;
  const auto multiply = [&] {
    y = x;
    for (int i = 0; i < 20; ++i) y = tf::matmul(y, x);
  };
  multiply();
  y.cpu();
  const double begin = now();
  multiply();
  const double returned = now() - begin;
  const Tensor corner = tf::strided_slice(y, {0, 0}, {1, 2}).numpy();
  const double done = now() - begin;
  EXPECT_EQ(corner.to_vector<float>(), std::vector<float>(2, 1.f / 4096));
  EXPECT_LT(returned, 0.2 * done) << "seconds: " << returned << " of " << done;
  EXPECT_GT(done, 0.02) << "2.7 TFLOP";
}

// As in the guide; the GPU is to be the faster one.
TEST(GpuGuide, TwoHundredProductsAreTimedOnEachDevice) {
  RILL_SHOWS("C13", "T04");
  SKIP_WITHOUT_GPU();
  const auto measure = [](Tensor x, int steps) {
    tf::matmul(x, x);  // devices start on first use
    const double start = now();
    for (int i = 0; i < steps; ++i) x = tf::matmul(x, x);
    x.numpy();
    return now() - start;
  };
  std::ostringstream said;
  double seconds[2];
  said << "Time to multiply a (1000, 1000) matrix by itself 200 times:\n";
  for (const int gpu : {0, 1}) {
    auto scope = tf::device(gpu ? "/gpu:0" : "/cpu:0");
    seconds[gpu] = measure(tf::random_normal({1000, 1000}, 0, 0.03), 200);
    said << (gpu ? "GPU: " : "CPU: ") << seconds[gpu] << " secs\n";
  }
  std::cout << said.str();
  EXPECT_LT(seconds[1], seconds[0]);
  EXPECT_LT(seconds[1], 0.4) << "1 TFLOP/s, as in the guide";
}

TEST(GpuGuide, TensorsComputeWhereTheyAre) {
  RILL_SHOWS("P22");
  SKIP_WITHOUT_GPU();
  const Tensor x = tf::random_normal({10, 10});
  const Tensor on_gpu = x.gpu(), on_cpu = x.cpu();
  const Tensor a = tf::matmul(on_gpu, on_gpu), b = tf::matmul(on_cpu, on_cpu);
  EXPECT_THAT(a.device().name(), ::testing::EndsWith("/device:GPU:0"));
  EXPECT_THAT(b.device().name(), ::testing::EndsWith("/device:CPU:0"));
  const std::vector<float> got = a.cpu().to_vector<float>(), want = b.to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
  if (tf::contrib::eager::num_gpus() > 1) {
    EXPECT_THAT(tf::matmul(x.gpu(1), x.gpu(1)).device().name(), ::testing::EndsWith("GPU:1"));
  }
}

TEST(GpuGuide, AVariableGivesItsMemoryBackWhenItsObjectDies) {
  RILL_SHOWS("C17", "P94");
  SKIP_WITHOUT_GPU();
  const auto in_use = [] { return tf::config::experimental::get_memory_info("GPU:0").current; };
  auto scope = tf::device("/gpu:0");
  tf::ones({3}).cpu();
  const auto before = in_use();
  auto v = std::make_unique<tf::Variable>(tf::random_normal({1000, 1000}));
  EXPECT_GE(in_use(), before + 4'000'000);
  v = nullptr;
  EXPECT_LT(in_use(), before + 100'000);
}

TEST(GpuGuide, TheEnvironmentSaysWhichGpus) {
  RILL_SHOWS("C08");
  SKIP_WITHOUT_DRIVER();
  const auto count = [] { return tf::config::list_physical_devices("GPU").size(); };
  in_a_process([&] {
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);  // by the program, before its first op
    EXPECT_EQ(count(), 1u);
    EXPECT_EQ(tf::ones({3}).gpu().device().index(), 0);
    EXPECT_THROW(tf::device("/gpu:1"), tf::errors::InvalidArgument);
  });
  in_a_process([&] {
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ((tf::constant({1.f, 2.f}) + 1.f).device().type(), tf::DeviceType::cpu);
    EXPECT_THROW(tf::device("/gpu:0"), tf::errors::InvalidArgument);
  });
}

TEST(GpuGuide, MemoryIsTakenWhenItIsNeeded) {
  RILL_SHOWS("C10");
  SKIP_WITHOUT_GPU();
  if (used_megabytes() < 0) GTEST_SKIP() << "nvidia-smi does not say how much memory is taken";
  in_a_process([] {
    const auto gpus = tf::config::list_physical_devices("GPU");
    tf::config::experimental::set_memory_growth(gpus[0], true);
    auto scope = tf::device("/gpu:0");
    const Tensor small = tf::ones({1000});
    small.cpu();
    const long little = used_megabytes();
    const Tensor large = tf::ones({2048, 1024, 512});  // 4 GB
    large[0][0][0].cpu();
    const long much = used_megabytes();
    EXPECT_GE(much - little, 4000);
    EXPECT_LT(much - little, 12000);
  });
}

TEST(GpuGuide, AMemoryLimitIsAnErrorThatSaysSo) {
  RILL_SHOWS("C11", "Z29");
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    const auto gpus = tf::config::list_physical_devices("GPU");
    tf::config::set_logical_device_configuration(gpus[0], {{.memory_limit = 1024}});
    auto scope = tf::device("/gpu:0");
    const Tensor half = tf::ones({128, 1024, 1024});  // 512 MB
    try {
      tf::ones({256, 1024, 1024});  // and 1 GB
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::ResourceExhausted& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("limit"));
      EXPECT_THAT(e.what(), ::testing::HasSubstr("1024"));
    }
    EXPECT_EQ(tf::reduce_sum(half[0]).item<float>(), 1024.f * 1024) << "it goes on";
  });
}

TEST(GpuGuide, TwoLogicalGpusOfOne) {
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    const auto gpus = tf::config::list_physical_devices("GPU");
    tf::config::set_logical_device_configuration(gpus[0],
                                                 {{.memory_limit = 2048}, {.memory_limit = 2048}});
    const auto parts = tf::config::list_logical_devices("GPU");
    EXPECT_EQ(parts.size(), gpus.size() + 1);
    for (const auto& part : parts) {
      auto scope = tf::device(part.name);
      const Tensor x = tf::fill({1000, 1000}, 0.5f);
      EXPECT_EQ(tf::matmul(x, x)[7][7].item<float>(), 250.f);
    }
  });
}

// Results of odd sizes among tensors whose numbers are known: none of those changes.
TEST(GpuGuide, AConvolutionWritesItsResultAlone) {
  RILL_SHOWS("Z60");
  SKIP_WITHOUT_GPU();
  auto scope = tf::device("/gpu:0");
  std::vector<Tensor> guards;
  const auto guard = [&](std::int64_t n) {
    guards.push_back(tf::fill({n}, static_cast<float>(guards.size())));
  };
  for (const int size : {1, 3, 5, 7, 13, 28, 33})
    for (const int channels : {1, 3, 17, 32})
      for (const int filter : {1, 3, 5}) {
        if (filter > size) continue;
        const Tensor x = tf::random::stateless_normal({2, size, size, channels}, {size, filter}),
                     w = tf::random::stateless_normal({filter, filter, channels, 5}, {1, channels});
        for (const char* padding : {"SAME", "VALID"}) {
          guard(2 * size * size * 5);
          tf::GradientTape tape;
          tape.watch(x), tape.watch(w);
          const Tensor y = tf::nn::conv2d(x, w, 1, padding);
          guard(y.size());
          const tf::Gradients g = tape.gradient(y, {x, w});
          guard(x.size());
          guard(w.size());
          EXPECT_EQ(g[0].tensor().shape(), x.shape());
          const double want = tf::reduce_sum(tf::nn::conv2d(tf::cast(x, tf::float64),
                                                            tf::cast(w, tf::float64), 1, padding))
                                  .item<double>();
          EXPECT_NEAR(tf::reduce_sum(tf::cast(y, tf::float64)).item<double>(), want,
                      1e-3 * std::max(1.0, std::abs(want)))
              << size << " " << channels << " " << filter << " " << padding;
        }
      }
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const std::vector<float> values = guards[i].to_vector<float>();
    ASSERT_EQ(values, std::vector<float>(values.size(), static_cast<float>(i))) << i;
  }
}

// ---- libraries that are missing, or are not what their name says

void convolve_without(const char* library, const char* reason) {
  in_a_process([=] {
    setenv("RILL_CUDNN", library, 1);
    auto scope = tf::device("/gpu:0");
    const Tensor x = tf::ones({1, 8, 8, 3}), w = tf::ones({3, 3, 3, 4});
    tf::profiler::Profile profile;
    const Tensor y = tf::nn::conv2d(x, w, 1, "VALID");
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(6 * 6 * 4, 27.f));
    EXPECT_THAT(profile.stop().why_slow(), ::testing::HasSubstr(reason));
  });
}
TEST(GpuGuide, WithoutCudnnConvolutionsAreSlowAndSayWhy) {
  SKIP_WITHOUT_GPU();
  convolve_without("/nowhere/libcudnn.so.9", "was not found");
}
TEST(GpuGuide, AnotherLibraryInCudnnsPlaceIsNotUsed) {
  SKIP_WITHOUT_GPU();
  convolve_without("libm.so.6", "has no function cudnnCreate");
}
TEST(GpuGuide, WithoutCufftTheErrorSaysWhatToDo) {
  SKIP_WITHOUT_GPU();
  in_a_process([] {
    setenv("RILL_CUFFT", "/nowhere/libcufft.so", 1);
    const Tensor x = tf::cast(tf::ones({16}), tf::complex64);
    try {
      tf::signal::fft(x.gpu()).cpu();
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::Unimplemented& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("cuFFT"));
      EXPECT_THAT(e.what(), ::testing::HasSubstr("LD_LIBRARY_PATH"));
    }
    auto scope = tf::device("/cpu:0");
    EXPECT_EQ(tf::math::real(tf::signal::fft(x.cpu()))[0].item<float>(), 16.f);
  });
}

}  // namespace
