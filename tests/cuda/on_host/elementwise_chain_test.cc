// Chains of elementwise ops as one kernel, on the stand-in: the bits of op after op.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/eager/context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

// Without the element loops of products: what comes before and after them.
std::vector<Tensor> cell(const Tensor& z, const Tensor& c, const Tensor& bias) {
  GradientTape tape;
  tape.watch(z), tape.watch(c), tape.watch(bias);
  const Tensor shifted = z + bias;
  const auto g = split(shifted, 4, 1);
  const Tensor next = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2]);
  const Tensor h = sigmoid(g[3]) * tanh(next);
  const Tensor y = square(nn::relu(h - 0.1f)) + exp(-next) * 0.5f;
  const Gradients d = tape.gradient(y, {z, c, bias});
  return {h, next, y, d[0].tensor(), d[1].tensor(), d[2].tensor()};
}

TEST(ElementwiseChainOnGpu, HasTheBitsOfOpAfterOp) {
  auto scope = device("/gpu:0");
  for (const int n : {1, 5, 64}) {
    const Tensor z = random::stateless_normal({7, 4 * n}, {1, n}).gpu(),
                 c = random::stateless_normal({7, n}, {2, n}).gpu(),
                 bias = random::stateless_normal({4 * n}, {3, n}).gpu();
    const std::vector<Tensor> want = cell(z, c, bias);
    auto f = function([](Tensor a, Tensor b, Tensor d) { return Nest(cell(a, b, d)); });
    for (int run = 0; run < 3; ++run) {
      const std::vector<Tensor> got = f(z, c, bias).flatten();
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>()) << n << ", output " << i;
    }
    EXPECT_THAT(f.explain(), ::testing::Not(::testing::HasSubstr(" 0 groups")));
  }
}

TEST(ElementwiseChainOnGpu, IsCutWhereItIsTooLong) {
  auto scope = device("/gpu:0");
  const Tensor x = random::stateless_normal({3, 5}, {1, 2}).gpu();
  const auto work = [](const Tensor& start) {
    Tensor y = start;
    std::vector<Tensor> kept;
    for (int i = 0; i < 70; ++i) {
      y = tanh(y * 1.01f + start);
      if (i % 9 == 0) kept.push_back(y);
    }
    return y + add_n(kept);
  };
  auto f = function([&](Tensor a) { return work(a); });
  for (int run = 0; run < 2; ++run) EXPECT_EQ(f(x).to_vector<float>(), work(x).to_vector<float>());
}

}  // namespace
}  // namespace rill
