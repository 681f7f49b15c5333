// Convolutions whose filters stay packed from call to call give what they would without.
#include <atomic>
#include <thread>

#include "rill/graph/function/function.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/ops/state_ops.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<float>;

Values values(const Tensor& t) { return t.to_vector<float>(); }
Tensor numbers(const TensorShape& shape) { return random::uniform(shape, -1., 1., {.seed = 1}); }

TEST(KeptFilters, FollowTheVariable) {
  Variable w(numbers({3, 3, 32, 64})), d(numbers({3, 3, 32, 1}));
  const Tensor x = numbers({1, 14, 14, 32});
  auto net = [&](const Tensor& t) {
    return nn::conv2d(nn::depthwise_conv2d(t, d, 1, "SAME"), w, 1, "SAME");
  };
  auto f = function([&](Tensor t) { return net(t); });
  auto check = [&](const char* when) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(values(f(x)), values(net(x))) << when << " " << i;
  };
  check("at first");
  EXPECT_THAT(f.explain(), HasSubstr("2 filters kept packed"));
  w.assign(numbers({3, 3, 32, 64}));
  check("another tensor");
  for (int i = 0; i < 20; ++i) {
    w.assign_sub(w.value() * 0.25f);
    apply_gradient_descent(d.handle(), 0.5f, ones({3, 3, 32, 1}));
    EXPECT_EQ(values(f(x)), values(net(x))) << "after update " << i;
  }
  check("at rest again");
  // Other sizes of the batch have their own plans.
  const Tensor y = numbers({3, 14, 14, 32});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values(f(y)), values(net(y)));
  w.assign(zeros({3, 3, 32, 64}));
  EXPECT_EQ(values(f(y)), Values(static_cast<std::size_t>(3 * 14 * 14 * 64), 0.f));
  EXPECT_EQ(values(f(x)), Values(static_cast<std::size_t>(14 * 14 * 64), 0.f));
}

TEST(KeptFilters, OfConstantsAndArguments) {
  const Tensor w = numbers({3, 3, 32, 64}), v = numbers({3, 3, 32, 64}),
               x = numbers({1, 14, 14, 32});
  auto f = function([&](Tensor t, Tensor filter) {
    return nn::conv2d(t, w, 1, "SAME") + nn::conv2d(t, filter, 1, "SAME");
  });
  for (int i = 0; i < 12; ++i) {
    const Tensor& filter = i < 4 || i > 8 ? v : w;
    EXPECT_EQ(values(f(x, filter)),
              values(nn::conv2d(x, w, 1, "SAME") + nn::conv2d(x, filter, 1, "SAME")));
  }
}

TEST(KeptFilters, NotInStepsThatTrainThem) {
  Variable w(numbers({3, 3, 32, 64}));
  const Tensor x = numbers({1, 14, 14, 32});
  auto f = function([&](Tensor t) {
    const Tensor y = nn::conv2d(t, w, 1, "SAME");
    w.assign_sub(w.value() * 0.5f);
    return y;
  });
  for (int i = 0; i < 4; ++i) {
    const Values want = values(nn::conv2d(x, w, 1, "SAME"));
    EXPECT_EQ(values(f(x)), want);
  }
  EXPECT_THAT(f.explain(), HasSubstr("0 filters kept packed"));
}

TEST(KeptFilters, SwitchedOffByName) {
  Variable w(numbers({3, 3, 32, 64}));
  auto f = function([&](Tensor t) { return nn::conv2d(t, w, 1, "SAME"); });
  graph_passes::disable("keep_filters");
  f(numbers({1, 14, 14, 32}));
  graph_passes::enable("keep_filters");
  EXPECT_THAT(f.explain(), HasSubstr("0 filters kept packed"));
}

// Every result comes from one value of the filter, never from parts of two.
TEST(KeptFilters, WhileOthersChangeThem) {
  Variable w(ones({1, 1, 16, 64}));
  const Tensor x = ones({1, 4, 4, 16});
  auto f = function([&](Tensor t) { return nn::conv2d(t, w, 1, "SAME"); });
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!done) {
        const Values y = values(f(x));
        EXPECT_EQ(y, Values(y.size(), y[0]));
      }
    });
  for (int i = 0; i < 200; ++i) {
    w.assign_add(ones({1, 1, 16, 64}));
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  done = true;
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values(f(x))[0], 16.f * 201);
}

}  // namespace
}  // namespace rill
