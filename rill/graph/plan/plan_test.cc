// Plans against the node-by-node run: programs put together at random, with variables
// that change on the way, must give the same bits.
#include "rill/graph/plan/plan.h"

#include <random>
#include <thread>

#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/graph/function/graph_function.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

// A program over a few tensors of [rows, columns], rows of [columns] and scalars.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i)
      variables_.emplace_back(random::uniform({kColumns}, -1., 1., {.seed = i + 1}));
  }
  static constexpr int kRows = 70, kColumns = 96;

  std::vector<Tensor> operator()(const Tensor& a, const Tensor& b) {
    std::mt19937 r = random_;  // the same program at each trace
    std::vector<Tensor> big{a, b}, out;
    GradientTape tape({.persistent = true});
    tape.watch(a);
    for (int i = 0; i < 40; ++i) {
      const Tensor &x = pick(big, r), &y = pick(big, r);
      const Variable& v = variables_[r() % variables_.size()];
      switch (r() % 14) {
        case 0:
          big.push_back(x + y);
          break;
        case 1:
          big.push_back(x * 0.5f);
          break;
        case 2:
          big.push_back(tanh(x) - y);
          break;
        case 3:
          big.push_back(nn::relu(x));
          break;
        case 4:
          big.push_back(x + v);
          break;
        case 5:
          big.push_back(reshape(reshape(x, {-1}) * 1.5f, {kRows, kColumns}));
          break;
        case 6:
          big.push_back(x - reduce_mean(x, 0));
          break;
        case 7:
          big.push_back(transpose(transpose(x) * 0.9f));
          break;
        case 8:
          big.push_back(where(x > y, x, y * 0.1f));
          break;
        case 9:
          v.assign_add(reduce_mean(x, 0) * 0.01f);
          break;
        case 10:
          v.assign(tanh(v.value() + 0.1f));
          break;
        case 11:
          big.push_back(matmul(matmul(x, transpose(y)) * 0.01f, x));
          break;
        case 12:
          out.push_back(reduce_sum(x));
          break;
        default:
          big.push_back(cast(cast(x, float64) * 1.25, float32));
          break;
      }
      if (!big.back().defined()) big.pop_back();
    }
    const Tensor loss = reduce_sum(square(big.back()));
    out.push_back(big.back());
    out.push_back(pick(big, r));
    out.push_back(loss);
    const Gradient g = tape.gradient(loss, a);
    if (g.defined()) out.push_back(g.tensor());
    return out;
  }
  std::vector<Variable> variables_;

 private:
  static const Tensor& pick(const std::vector<Tensor>& v, std::mt19937& r) {
    return v[v.size() - 1 - r() % std::min<std::size_t>(v.size(), 6)];
  }
  std::mt19937 random_;
};

struct Outcome {
  std::vector<std::vector<float>> values;
};
Outcome run(unsigned seed, bool planned, int calls, const Tensor& a, const Tensor& b) {
  enable_planning(planned);
  random::set_seed(seed);
  Program program(seed);
  auto f = function([&](Tensor x, Tensor y) { return program(x, y); });
  Outcome o;
  for (int c = 0; c < calls; ++c)
    for (const Tensor& t : f(a, b)) o.values.push_back(t.to_vector<float>());
  for (const Variable& v : program.variables_) o.values.push_back(v.value().to_vector<float>());
  enable_planning(true);
  return o;
}

TEST(PlanTest, RandomProgramsGiveTheSameBits) {
  graph_passes::disable("fold_transposes");
  graph_passes::disable("accumulate_in_gemm");  // adds in another order
  const Tensor a = random::uniform({Program::kRows, Program::kColumns}, -1., 1., {.seed = 5});
  const Tensor b = random::uniform({Program::kRows, Program::kColumns}, -1., 1., {.seed = 6});
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Outcome want = run(seed, false, 2, a, b), got = run(seed, true, 2, a, b);
    ASSERT_EQ(want.values.size(), got.values.size());
    for (std::size_t i = 0; i < want.values.size(); ++i)
      ASSERT_TRUE(std::equal(want.values[i].begin(), want.values[i].end(), got.values[i].begin(),
                             [](float x, float y) { return x == y || (x != x && y != y); }))
          << "program " << seed << ", value " << i;
  }
}

TEST(PlanTest, OldValuesOfVariablesStayWhatTheyWere) {
  Variable v(zeros({5000}));
  auto f = function([&] {
    const Tensor before = v.value();
    v.assign_add(ones({5000}));
    return std::pair(before, before * 2.f + v.value());
  });
  for (int i = 0; i < 3; ++i) {
    auto [before, mixed] = f();
    EXPECT_EQ(before.to_vector<float>()[7], static_cast<float>(i));
    EXPECT_EQ(mixed.to_vector<float>()[7], 3.f * static_cast<float>(i) + 1.f);
  }
}

TEST(PlanTest, ResultsDoNotLiveInTheArena) {
  auto f = function([](Tensor x) {
    const Tensor y = reshape(x * 2.f, {-1});
    return std::pair(y, reduce_sum(tanh(y)));
  });
  auto [first, s1] = f(ones({100, 100}));
  auto [second, s2] = f(zeros({100, 100}));
  EXPECT_EQ(first.to_vector<float>()[0], 2.f);
  EXPECT_EQ(second.to_vector<float>()[0], 0.f);
  EXPECT_NE(s1.item<float>(), s2.item<float>());
}

TEST(PlanTest, SeveralThreadsMayCallOneFunction) {
  Variable w(random::uniform({64, 64}, -1., 1., {.seed = 1}));
  auto f = function(
      [&](Tensor x) { return reduce_sum(tanh(matmul(nn::relu(matmul(x, w) + 0.5f), w)), 1); });
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> want;
  for (int i = 0; i < 8; ++i) {
    inputs.push_back(random::uniform({32 + i % 2, 64}, -1., 1., {.seed = 10 + i}));
    want.push_back(f(inputs.back()).to_vector<float>());
  }
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 50; ++k)
        wrong[static_cast<std::size_t>(t)] +=
            f(inputs[static_cast<std::size_t>(t)]).to_vector<float>() !=
            want[static_cast<std::size_t>(t)];
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(PlanTest, ExplainSaysWhatWasDone) {
  auto inner = function([](Tensor x) { return x * x; });
  auto f = function([&](Tensor x) { return tanh(inner(x) + 1.f); }, {.name = "chain"});
  f(ones({100, 100}));
  const std::string text = f.explain();
  EXPECT_THAT(text, ::testing::HasSubstr("1 calls inlined"));
  EXPECT_THAT(text, ::testing::HasSubstr("1 groups of 3 elementwise ops"));
  graph_passes::disable("fuse_elementwise");
  auto g = function([&](Tensor x) { return tanh(inner(x) + 1.f); });
  g(ones({100, 100}));
  EXPECT_THAT(g.explain(), ::testing::HasSubstr("0 groups"));
  graph_passes::enable("fuse_elementwise");
}

}  // namespace
}  // namespace rill
