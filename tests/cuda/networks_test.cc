// Layers of networks on a GPU beside the CPU: recurrent ones, batch normalisation with what
// follows it, mixed precision, and steps that are recorded while other threads work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rill/core/device.h>
#include <rill/keras/layers/layers.h>
#include <rill/rill.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

namespace {

class GpuNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      auto scope = tf::device("/gpu:0");
    } catch (const tf::errors::InvalidArgument& e) {
      GTEST_SKIP() << "no GPU here: " << e.message();
    }
    tf::config::set_soft_device_placement(false);
  }
  void TearDown() override {
    tf::config::set_soft_device_placement(true);
    keras::mixed_precision::set_global_policy("float32");
  }
};

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}
Tensor normal(const std::vector<std::int64_t>& shape, int seed) {
  return tf::random::stateless_normal(tf::constant(shape), {seed, 11});
}

// Results and gradients of a layer with these weights, by a traced function or eagerly.
std::vector<Tensor> results_of(const char* device, const std::function<layers::Layer()>& make,
                               const std::vector<Tensor>& weights, const Tensor& input,
                               bool traced) {
  auto scope = tf::device(device);
  const layers::Layer layer = make();
  const Tensor x = tf::identity(input);
  tf::config::set_soft_device_placement(true);  // first weights come from the host
  layer.apply(x);
  tf::config::set_soft_device_placement(false);
  layer.set_weights(weights);
  const auto both = [=](Tensor v) {
    tf::GradientTape tape({.persistent = true});
    tape.watch(v);
    std::vector<Tensor> out = layer.apply(v).flatten();
    Tensor total = tf::reduce_sum(tf::square(out[0]));
    for (const Tensor& t : out) total = total + tf::reduce_mean(tf::sin(t));
    out.push_back(tape.gradient(total, v).tensor());
    for (const auto& g : tape.gradient(total, layer.trainable_variables()))
      out.push_back(g.tensor());
    return tf::Nest(out);
  };
  if (!traced) return both(x).flatten();
  auto f = tf::function(both);
  for (int i = 0; i < 6; ++i) f(x);  // after some calls it is recorded
  return f(x).flatten();
}

TEST_F(GpuNetworks, RecurrentLayersAreTheCpus) {
  struct Case {
    std::int64_t batch, time, features, units;
    bool sequences, state, backwards;
  };
  for (const bool gru : {false, true})
    for (const Case& c :
         {Case{50, 40, 60, 256, false, false, false}, Case{3, 7, 5, 4, true, true, false},
          Case{1, 1, 1, 1, false, false, false}, Case{17, 33, 31, 65, true, false, true}}) {
      SCOPED_TRACE(gru ? "GRU" : "LSTM");
      SCOPED_TRACE(c.units);
      const auto set = [&](auto o) {
        o.return_sequences = c.sequences, o.return_state = c.state, o.go_backwards = c.backwards;
        return o;
      };
      const auto make = [&]() -> layers::Layer {
        if (gru) return layers::GRU(c.units, set(layers::GRUOptions()));
        return layers::LSTM(c.units, set(layers::LSTMOptions()));
      };
      const std::int64_t wide = (gru ? 3 : 4) * c.units;
      const Tensor bias = normal({(gru ? 2 : 1) * wide}, 3) * 0.1f;
      const std::vector<Tensor> weights{normal({c.features, wide}, 1) * 0.1f,
                                        normal({c.units, wide}, 2) * 0.05f,
                                        gru ? tf::reshape(bias, {2, -1}) : bias};
      const Tensor x = normal({c.batch, c.time, c.features}, 4);
      const auto want = results_of("/cpu:0", make, weights, x, false);
      for (const bool traced : {false, true}) {
        const auto got = results_of("/gpu:0", make, weights, x, traced),
                   again = results_of("/gpu:0", make, weights, x, traced);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          SCOPED_TRACE(i);
          EXPECT_THAT(got[i].device().name(), ::testing::HasSubstr("GPU"));
          expect_close(got[i], want[i], 2e-4);
          EXPECT_EQ(got[i].to_vector<float>(), again[i].to_vector<float>());
        }
      }
    }
}

// Two residual blocks.
struct Blocks {
  std::vector<tf::Variable> all;
  explicit Blocks(std::int64_t channels) {
    for (int i = 0; i < 3; ++i) {
      all.emplace_back(normal({3, 3, channels, channels}, i) * 0.1f);
      all.emplace_back(normal({channels}, 10 + i));  // bias
      all.emplace_back(normal({channels}, 20 + i));  // scale
      all.emplace_back(normal({channels}, 30 + i));  // offset
    }
  }
  Tensor operator()(const Tensor& x, tf::DType dtype) const {
    const auto part = [&](const Tensor& in, int i) {
      const Tensor y = tf::nn::bias_add(tf::nn::conv2d(in, tf::cast(all[4 * i], dtype), 1, "SAME"),
                                        tf::cast(all[4 * i + 1], dtype));
      return tf::nn::fused_batch_norm(y, all[4 * i + 2], all[4 * i + 3]).t[0];
    };
    Tensor y = tf::nn::relu(part(x, 0));
    y = tf::nn::relu(part(y, 1));
    return tf::nn::relu(part(y, 2) + x);
  }
};
std::vector<Tensor> train_blocks(const char* device, std::int64_t channels, tf::DType dtype,
                                 std::string* how = nullptr) {
  auto scope = tf::device(device);
  const Blocks net(channels);
  const Tensor x = tf::cast(normal({4, 9, 8, channels}, 5), dtype);
  auto step = tf::function([=](Tensor in) {
    tf::GradientTape tape;
    tape.watch(in);
    const Tensor y = net(in, dtype), loss = tf::reduce_mean(tf::square(tf::cast(y, tf::float32)));
    std::vector<Tensor> out{y, loss};
    for (const auto& g : tape.gradient(loss, net.all)) out.push_back(g.tensor());
    return tf::Nest(out);
  });
  for (int i = 0; i < 6; ++i) step(x);
  std::vector<Tensor> out = step(x).flatten();
  if (how) *how = step.explain();
  return out;
}

TEST_F(GpuNetworks, BatchNormTakesInReluAndSum) {
  for (const std::int64_t channels : {16, 7}) {
    SCOPED_TRACE(channels);
    std::string how;
    const auto got = train_blocks("/gpu:0", channels, tf::float32, &how),
               again = train_blocks("/gpu:0", channels, tf::float32),
               want = train_blocks("/cpu:0", channels, tf::float32);
    EXPECT_THAT(how, ::testing::HasSubstr("3 normalisations with relu, 2 gradients"));
    EXPECT_THAT(how, ::testing::HasSubstr("recorded on"));
    tf::graph_passes::disable("fuse_batch_norm");
    const auto apart = train_blocks("/gpu:0", channels, tf::float32);
    tf::graph_passes::enable("fuse_batch_norm");
    for (std::size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(got[i].to_vector<float>(), again[i].to_vector<float>());
      EXPECT_EQ(got[i].to_vector<float>(), apart[i].to_vector<float>()) << "the same sums";
      expect_close(got[i], want[i], 2e-3);
    }
    const auto half = train_blocks("/gpu:0", channels, tf::bfloat16, &how);
    EXPECT_THAT(how, ::testing::HasSubstr("3 biases that normalisation takes away"));
    EXPECT_NEAR(half[1].item<float>(), want[1].item<float>(), 0.03 * want[1].item<float>());
  }
}

// fit in half types: the loss falls as it does in float32.
TEST_F(GpuNetworks, MixedPrecisionFits) {
  tf::config::set_soft_device_placement(true);
  const Tensor x = normal({256, 8, 8, 3}, 1),
               y = tf::cast(tf::reduce_mean(x, {1, 2, 3}) > 0.f, tf::int32);
  double float32_loss = 0;
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    SCOPED_TRACE(policy);
    keras::mixed_precision::set_global_policy(policy);
    auto scope = tf::device("/gpu:0");
    tf::random::set_seed(7);
    keras::Sequential model({layers::Conv2D(16, 3, {.padding = "same", .use_bias = false}),
                             layers::BatchNormalization(), layers::ReLU(), layers::Flatten(),
                             layers::Dense(32, {.activation = "relu"}),
                             layers::Dense(2, {.dtype = "float32"})});
    model.compile({.optimizer = keras::optimizers::Adam({.learning_rate = 3e-3}),
                   .loss = keras::losses::SparseCategoricalCrossentropy({.from_logits = true})});
    const auto history = model.fit(x, y, {.batch_size = 32, .epochs = 8, .verbose = 0});
    const auto losses = history["loss"];
    for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss));
    std::printf("%s: loss %g -> %g\n", policy, losses.front(), losses.back());
    EXPECT_LT(losses.back(), 0.5 * losses.front());
    if (policy[0] == 'f') float32_loss = losses.back();
    EXPECT_LT(losses.back(), float32_loss + 0.15);
    for (const tf::Variable& v : model.trainable_variables()) EXPECT_EQ(v.dtype(), tf::float32);
  }
}

// The gates of an LSTM cell, their gradient and an update, op after op and as chains.
TEST_F(GpuNetworks, ChainsOfElementwiseOpsHaveTheSameBits) {
  auto scope = tf::device("/gpu:0");
  const auto cell = [](const Tensor& z, const Tensor& c, const Tensor& bias) {
    tf::GradientTape tape;
    tape.watch(z), tape.watch(c), tape.watch(bias);
    const auto g = tf::split(z + bias, 4, 1);
    const Tensor next = tf::sigmoid(g[1]) * c + tf::sigmoid(g[0]) * tf::tanh(g[2]);
    const Tensor y =
        tf::square(tf::nn::relu(tf::sigmoid(g[3]) * tf::tanh(next) - 0.1f)) + tf::exp(-next) * 0.5f;
    const tf::Gradients d = tape.gradient(y, {z, c, bias});
    return std::vector<Tensor>{next, y, d[0].tensor(), d[1].tensor(), d[2].tensor()};
  };
  for (const int n : {1, 50, 256, 2000}) {
    const Tensor z = normal({50, 4 * n}, 1), c = normal({50, n}, 2), bias = normal({4 * n}, 3);
    const std::vector<Tensor> want = cell(z, c, bias);
    auto f = tf::function([&](Tensor a, Tensor b, Tensor d) { return tf::Nest(cell(a, b, d)); });
    for (int run = 0; run < 6; ++run) {
      const std::vector<Tensor> got = f(z, c, bias).flatten();
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>())
            << n << ", output " << i << ", run " << run;
    }
    EXPECT_THAT(f.explain(), ::testing::Not(::testing::HasSubstr(" 0 groups")));
    EXPECT_THAT(f.explain(), ::testing::HasSubstr("recorded on"));
  }
}

// One thread records steps, others run ops and copies on the same GPU.
TEST_F(GpuNetworks, OthersWorkWhileAStepIsRecorded) {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0, rounds = 0;
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t)
    others.emplace_back([&, t] {
      while (!stop) {
        const Tensor x = tf::fill({1000 + 100 * t}, static_cast<float>(t + 1)).gpu();
        const Tensor y = tf::matmul(tf::reshape(x, {-1, 100}), tf::ones({100, 3}).gpu());
        if (y.to_vector<float>()[0] != 100.f * static_cast<float>(t + 1)) ++wrong;
        ++rounds;
      }
    });
  int recorded = 0;
  for (int i = 0; i < 12; ++i) {
    auto scope = tf::device("/gpu:0");
    const tf::Variable v(tf::zeros({64}));
    auto f = tf::function([=](Tensor x) {
      v.assign_add(tf::reduce_sum(tf::nn::relu(tf::matmul(x, x)), {0}));
      return tf::reduce_sum(v.value());
    });
    const Tensor x = tf::ones({64, 64});
    for (int k = 1; k <= 10; ++k) ASSERT_EQ(f(x).item<float>(), 64.f * 64 * 64 * k);
    recorded += f.explain().find("recorded on") != std::string::npos;
  }
  stop = true;
  for (std::thread& t : others) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(rounds, 0);
  std::printf("%d of 12 steps were recorded beside %d rounds of others\n", recorded, rounds.load());
  EXPECT_GT(recorded, 6);
}

}  // namespace
