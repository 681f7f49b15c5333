// Kernels at sizes that the conformance table does not reach: many blocks, long runs, the
// geometries of real networks; the same bits from run to run; memory that is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/rill.h>

#include <array>
#include <cmath>

namespace tf = rill;
using tf::Tensor;

namespace {

class GpuKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      auto scope = tf::device("/gpu:0");
    } catch (const tf::errors::InvalidArgument& e) {
      GTEST_SKIP() << "no GPU here: " << e.message();
    }
    tf::config::set_soft_device_placement(false);
  }
  void TearDown() override { tf::config::set_soft_device_placement(true); }
};

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}
void expect_same(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>());
}
Tensor normal(const std::vector<std::int64_t>& shape, int seed) {
  return tf::random::stateless_normal(tf::constant(shape), {seed, 7});
}

// Output and both gradients, as the network would have them.
std::vector<Tensor> conv_and_gradients(const Tensor& x, const Tensor& w, int stride,
                                       const char* padding) {
  tf::GradientTape tape;
  tape.watch(x), tape.watch(w);
  const Tensor y = tf::nn::conv2d(x, w, stride, padding);
  const tf::Gradients g = tape.gradient(y, {x, w});
  return {y, g[0].tensor(), g[1].tensor()};
}

TEST_F(GpuKernels, ConvolutionsOfNetworks) {
  struct Case {
    std::int64_t batch, size, in, out, taps;
    int stride;
    const char* padding;
  };
  for (const Case& c : {Case{4, 28, 1, 32, 3, 1, "SAME"}, Case{4, 14, 32, 64, 3, 1, "VALID"},
                        Case{2, 56, 64, 64, 1, 1, "VALID"}, Case{2, 57, 16, 32, 3, 2, "SAME"},
                        Case{2, 64, 3, 64, 7, 2, "SAME"}, Case{3, 9, 5, 7, 4, 3, "VALID"}}) {
    SCOPED_TRACE(c.taps);
    const Tensor x = normal({c.batch, c.size, c.size, c.in}, 1),
                 w = normal({c.taps, c.taps, c.in, c.out}, 2) * 0.1f;
    const auto want = conv_and_gradients(x, w, c.stride, c.padding),
               got = conv_and_gradients(x.gpu(), w.gpu(), c.stride, c.padding),
               again = conv_and_gradients(x.gpu(), w.gpu(), c.stride, c.padding);
    // Sums of many products of random sign. TF32 would be off by some 1e-2.
    for (int i = 0; i < 3; ++i) {
      expect_near(got[i], want[i], i == 2 ? 1e-3 : 2e-5);
      expect_same(got[i], again[i]);
    }
  }
}

// Large enough for engines to be timed, whichever is taken; and the filters over few channels
// that have their own kernel. float64 says which device is right. TF32 would be off by
// 1e-4 and more of the largest sum, Winograd by 1e-3.
TEST_F(GpuKernels, ConvolutionsOfTunedEngines) {
  struct Case {
    std::int64_t batch, size, in, out, taps;
    int stride;
    const char* padding;
  };
  for (const Case& c : {Case{1024, 28, 1, 32, 5, 1, "SAME"}, Case{1024, 14, 32, 64, 5, 1, "SAME"},
                        Case{50, 28, 1, 32, 5, 1, "SAME"}, Case{50, 14, 32, 64, 5, 1, "SAME"},
                        Case{64, 33, 3, 16, 3, 1, "VALID"}, Case{8, 64, 3, 36, 7, 2, "SAME"},
                        Case{8, 65, 2, 20, 5, 3, "SAME"}, Case{16, 56, 64, 64, 3, 1, "SAME"},
                        Case{16, 27, 48, 40, 4, 1, "SAME"}, Case{64, 14, 256, 64, 1, 1, "VALID"}}) {
    SCOPED_TRACE(tf::format("{} x {} x {} -> {}, {} taps", c.batch, c.size, c.in, c.out, c.taps));
    const Tensor x = normal({c.batch, c.size, c.size, c.in}, 1),
                 w = normal({c.taps, c.taps, c.in, c.out}, 2) * 0.1f;
    const auto run = [&](const Tensor& images, const Tensor& filter) {
      tf::GradientTape tape;
      tape.watch(images), tape.watch(filter);
      const Tensor y = tf::nn::conv2d(images, filter, c.stride, c.padding);
      const Tensor weights =
          tf::cast(tf::random::stateless_normal(tf::shape(y), {3, 7}), y.dtype());
      const tf::Gradients g = tape.gradient(y * weights, {images, filter});
      return std::vector<Tensor>{y, g[0].tensor(), g[1].tensor()};
    };
    const auto want = run(tf::cast(x.gpu(), tf::float64), tf::cast(w.gpu(), tf::float64)),
               got = run(x.gpu(), w.gpu()), again = run(x.gpu(), w.gpu()), host = run(x, w);
    for (std::size_t i = 0; i < 3; ++i) {
      SCOPED_TRACE(i == 0 ? "output" : i == 1 ? "gradient of the input" : "of the filter");
      const double bound = 3e-5 * tf::reduce_max(tf::abs(want[i])).item<double>();
      const auto worst = [&](const Tensor& t) {
        return tf::reduce_max(tf::abs(tf::cast(t.gpu(), tf::float64) - want[i])).item<double>();
      };
      EXPECT_LT(worst(got[i]), bound) << "on the GPU";
      EXPECT_LT(worst(host[i]), bound) << "on the CPU";
      expect_same(got[i], again[i]);
    }
  }
}

TEST_F(GpuKernels, DepthwiseConvolutions) {
  const Tensor x = normal({2, 33, 33, 24}, 1), w = normal({3, 3, 24, 2}, 2);
  for (const char* padding : {"SAME", "VALID"})
    for (int stride : {1, 2})
      expect_near(tf::nn::depthwise_conv2d(x.gpu(), w.gpu(), stride, padding),
                  tf::nn::depthwise_conv2d(x, w, stride, padding), 1e-5);
}

TEST_F(GpuKernels, BatchNormOfManyRows) {
  const Tensor x = normal({64, 28, 28, 40}, 1) * 3.f + 100.f, scale = normal({40}, 2),
               offset = normal({40}, 3);
  const auto want = tf::nn::fused_batch_norm(x, scale, offset),
             got = tf::nn::fused_batch_norm(x.gpu(), scale.gpu(), offset.gpu());
  expect_near(got.get<0>(), want.get<0>(), 1e-4);
  expect_near(got.get<1>(), want.get<1>(), 1e-4);
  expect_near(got.get<2>(), want.get<2>(), 1e-4);
}

TEST_F(GpuKernels, PoolingOfManyWindows) {
  for (int channels : {32, 33}) {  // in packs, one by one
    const Tensor x = normal({8, 56, 56, channels}, 1);
    expect_same(tf::nn::max_pool2d(x.gpu(), 3, 2, "SAME"), tf::nn::max_pool2d(x, 3, 2, "SAME"));
    expect_near(tf::nn::avg_pool2d(x.gpu(), 2, 2, "VALID"), tf::nn::avg_pool2d(x, 2, 2, "VALID"),
                1e-6);
    const auto gradient = [](const Tensor& t, bool max) {
      tf::GradientTape tape;
      tape.watch(t);
      const Tensor y =
          max ? tf::nn::max_pool2d(t, 3, 2, "SAME") : tf::nn::avg_pool2d(t, 3, 2, "SAME");
      return tape.gradient(tf::reduce_sum(y * y), t).tensor();
    };
    for (const bool max : {false, true})
      expect_near(gradient(x.gpu(), max), gradient(x, max), 1e-5);
  }
}

TEST_F(GpuKernels, TransposesAndBroadcasts) {
  for (const tf::DType dtype : {tf::int8, tf::bfloat16, tf::float32, tf::float64}) {
    const Tensor x = tf::cast(normal({5, 70, 33, 130}, 1) * 9.f, dtype);
    for (const std::vector<int>& order : {std::vector{3, 2, 1, 0}, {0, 1, 3, 2}, {1, 3, 0, 2}})
      expect_same(tf::transpose(x.gpu(), order), tf::transpose(x, order));
  }
  const Tensor x = normal({300, 124}, 1), odd = normal({301, 123}, 2);
  for (const Tensor& t : {x, odd}) {
    const Tensor row = t[7], column = tf::reshape(tf::transpose(t)[5], {-1, 1});
    expect_same(t.gpu() + row.gpu(), t + row);
    expect_same(row.gpu() - t.gpu(), row - t);
    expect_same(t.gpu() * column.gpu(), t * column);
    expect_same(column.gpu() - row.gpu(), column - row);
    EXPECT_EQ((t.gpu() < row.gpu()).to_vector<bool>(), (t < row).to_vector<bool>());
    const Tensor there = t.gpu();  // a slice that begins anywhere
    expect_same(tf::nn::relu(tf::slice(tf::reshape(there, {-1}), {3}, {1001})),
                tf::nn::relu(tf::slice(tf::reshape(t, {-1}), {3}, {1001})));
  }
}

TEST_F(GpuKernels, SoftmaxOfRowsOfEveryLength) {
  for (int n : {1, 10, 128, 129, 384, 1000, 1025, 2049, 8192, 9001, 20000}) {
    SCOPED_TRACE(n);
    const Tensor x = normal({37, n}, n) * 4.f;
    const Tensor wide = tf::cast(x, tf::float64);
    expect_near(tf::nn::softmax(x.gpu()), tf::nn::softmax(wide), 2e-6);
    expect_near(tf::nn::log_softmax(x.gpu()), tf::nn::log_softmax(wide), 2e-6);
  }
}

// Sums may cancel: what counts is the error beside the sum of the magnitudes.
void expect_running_sums(const Tensor& x) {
  const Tensor wide = tf::cast(x, tf::float64);
  for (const bool reverse : {false, true})
    for (const bool exclusive : {false, true}) {
      const auto sums = [&](const Tensor& t) {
        return tf::cumsum(t, -1, {.exclusive = exclusive, .reverse = reverse});
      };
      const Tensor got = sums(x.gpu());
      const auto a = got.to_vector<double>(), b = sums(wide).to_vector<double>(),
                 magnitude = sums(tf::abs(wide)).to_vector<double>();
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], 5e-7 * magnitude[i])
            << "element " << i << (reverse ? ", reverse" : "") << (exclusive ? ", exclusive" : "");
      expect_same(sums(x.gpu()), got);
    }
}

TEST_F(GpuKernels, SortsCountsAndRunningSums) {
  for (int n : {1000, 300000}) {
    const Tensor x = normal({3, n}, n);
    const auto want = tf::nn::top_k(x, 17), got = tf::nn::top_k(x.gpu(), 17);
    expect_same(got.values, want.values);
    EXPECT_EQ(got.indices.to_vector<int>(), want.indices.to_vector<int>());
    expect_running_sums(x);
    EXPECT_EQ(tf::where(x.gpu() > 1.f).to_vector<std::int64_t>(),
              tf::where(x > 1.f).to_vector<std::int64_t>());
  }
}

TEST_F(GpuKernels, RowsAddedByIndexHaveTheCpusBits) {
  const Tensor rows = normal({20000, 16}, 1),
               ids = tf::cast(tf::random::stateless_uniform({20000}, {3, 4}) * 300.f, tf::int32);
  const Tensor want = tf::math::unsorted_segment_sum(rows, ids, 300);
  for (int i = 0; i < 3; ++i)
    expect_same(tf::math::unsorted_segment_sum(rows.gpu(), ids.gpu(), 300), want);
  EXPECT_THROW(tf::math::unsorted_segment_sum(rows.gpu(), ids.gpu(), 10).to_vector<float>(),
               tf::errors::InvalidArgument);
}

TEST_F(GpuKernels, MemoryIsCountedAndLimited) {
  using namespace tf::config::experimental;
  const std::int64_t before = get_memory_info("GPU:0").current;
  {
    const Tensor x = tf::zeros({1 << 20}).gpu();
    EXPECT_GE(get_memory_info("GPU:0").current, before + (4 << 20));
    set_memory_limit("GPU:0", (before >> 20) + 16);
    try {
      const Tensor large = tf::zeros({32 << 20}).gpu();
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::ResourceExhausted& e) {
      EXPECT_THAT(e.message(), ::testing::HasSubstr("limit"));
      EXPECT_THAT(e.message(), ::testing::HasSubstr("in use by tensors (blocks: "));
    }
    EXPECT_EQ(tf::reduce_sum(tf::ones({1000}).gpu()).item<float>(), 1000) << "smaller ones go on";
    set_memory_limit("GPU:0", 0);
  }
  EXPECT_EQ(get_memory_info("GPU:0").current, before);
  EXPECT_GE(get_memory_info("GPU:0").peak, before + (4 << 20));
  reset_memory_stats("GPU:0");
  EXPECT_EQ(get_memory_info("GPU:0").peak, before);
}

}  // namespace
