// Each pass by the graph before and after it, and by the values of both.
#include <algorithm>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function.h"
#include "rill/graph/function_impl.h"
#include "rill/graph/interpreter.h"
#include "rill/graph/optimizer_options.h"
#include "rill/graph/passes/pass.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using testing::expect_error;

std::vector<std::string> ops_of(const Graph& g) {
  std::vector<std::string> out;
  for (const auto& n : g.nodes())
    if (!is_argument(*n) && !n->is("Const")) out.push_back(n->op->name);
  return out;
}

struct BeforeAndAfter {
  std::vector<std::string> before, after;
  std::string what;
};
// Runs one pass over the trace of f(x...) and checks that results stay what they were.
template <class F>
BeforeAndAfter run_pass(const char* name, F f, const std::vector<Tensor>& args, double tol = 0) {
  auto traced = function([&](const std::vector<Tensor>& list) { return f(list); });
  const ConcreteFunction c = traced.get_concrete_function(args);
  const Graph& before = *c.impl().body->graph;
  const Ref<Graph> after = clone(before);
  BeforeAndAfter out;
  out.before = ops_of(before);
  for (const Pass& p : all_passes())
    if (std::string(p.name) == name) out.what = p.run(*after);
  out.after = ops_of(*after);
  std::vector<Tensor> inputs = args;
  for (const Tensor& t : c.impl().captured) inputs.push_back(t);
  const auto want = Interpreter(before, before.results).run(inputs);
  const auto got = Interpreter(*after, after->results).run(inputs);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto a = want[i].to_vector<double>(), b = got[i].to_vector<double>();
    EXPECT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], tol);
  }
  return out;
}

using Ops = std::vector<std::string>;
Tensor numbers(const TensorShape& shape, int seed) {
  return random::uniform(shape, -1., 1., {.seed = seed});
}

TEST(PassesTest, InlineCalls) {
  auto square = function([](Tensor x) { return x * x; });
  auto twice = function([&](Tensor x) { return square(square(x)); });
  const auto r =
      run_pass("inline_calls", [&](const auto& x) { return twice(x[0]) + 1.f; }, {numbers({3}, 1)});
  EXPECT_EQ(r.before, (Ops{"PartitionedCall", "AddV2"}));
  EXPECT_EQ(r.after, (Ops{"Mul", "Mul", "AddV2"}));
  EXPECT_EQ(r.what, "3 calls inlined");
}

TEST(PassesTest, Simplify) {
  const auto r =
      run_pass("simplify",
               [](const auto& x) {
                 const Tensor y = identity(x[0] * 1.f) / 1.f - 0.f;
                 const Tensor first = -(-y) + 0.f, second = reshape(reshape(y, {6}), {3, 2});
                 return std::pair(first, second);
               },
               {numbers({2, 3}, 1)});
  EXPECT_EQ(r.after, (Ops{"AddV2", "Reshape"}));  // x + 0 is not x where x is -0
}

TEST(PassesTest, SimplifyTransposes) {
  const auto r = run_pass(
      "simplify", [](const auto& x) { return matmul(transpose(x[0]), transpose(transpose(x[1]))); },
      {numbers({4, 3}, 1), numbers({4, 5}, 2)});
  EXPECT_EQ(r.after, (Ops{"Transpose", "MatMul"}));
}

TEST(PassesTest, FoldTransposes) {
  const auto r = run_pass(
      "fold_transposes", [](const auto& x) { return matmul(transpose(x[0]), transpose(x[1])); },
      {numbers({4, 3}, 1), numbers({5, 4}, 2)}, 1e-6);
  EXPECT_EQ(r.after, (Ops{"MatMul"}));
}

TEST(PassesTest, SimplifyKeepsABroadcast) {
  const auto r = run_pass("simplify",
                          [](const auto& x) {
                            return x[0] * ones({3, 1});
                          },
                          {numbers({2}, 1)});
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "Mul"), 1);
}

TEST(PassesTest, CommonSubexpressions) {
  Variable v(2.f);
  const auto r = run_pass("common_subexpressions",
                          [&](const auto& x) {
                            const Tensor a = exp(x[0]) * v, b = exp(x[0]) * v;
                            v.assign(v.value() * 1.f);
                            return std::pair(a + b, exp(x[0] + 1.f) * v);
                          },
                          {numbers({2}, 1)});
  EXPECT_EQ(std::count(r.before.begin(), r.before.end(), "Exp"), 3);
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "Exp"), 2);
  // Reads before and after the assignment are not the same.
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "ReadVariableOp"), 2);
}

TEST(PassesTest, RandomNumbersAreNotCommon) {
  auto f = function([] { return random::uniform({4}) - random::uniform({4}); });
  EXPECT_NE(f().to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
}

TEST(PassesTest, FuseMatmul) {
  const auto r =
      run_pass("fuse_matmul",
               [](const auto& x) {
                 const Tensor h = nn::relu(matmul(x[0], x[1]) + x[2]);
                 return tanh(nn::bias_add(matmul(h, x[1], {.transpose_b = true}), x[3]));
               },
               {numbers({5, 4}, 1), numbers({4, 6}, 2), numbers({6}, 3), numbers({4}, 4)});
  EXPECT_EQ(r.before, (Ops{"MatMul", "AddV2", "Relu", "MatMul", "BiasAdd", "Tanh"}));
  EXPECT_EQ(r.after, (Ops{"_FusedMatMul", "_FusedMatMul"}));
  const auto kept = run_pass("fuse_matmul",
                             [](const auto& x) {
                               const Tensor p = matmul(x[0], x[1]);
                               return std::pair(p + x[2], p);  // the product is needed by itself
                             },
                             {numbers({5, 4}, 1), numbers({4, 6}, 2), numbers({6}, 3)});
  EXPECT_EQ(kept.after, kept.before);
}

TEST(PassesTest, FuseConv) {
  const auto r = run_pass(
      "fuse_conv",
      [](const auto& x) { return nn::relu(nn::bias_add(nn::conv2d(x[0], x[1], 2, "SAME"), x[2])); },
      {numbers({2, 7, 6, 3}, 1), numbers({3, 3, 3, 5}, 2), numbers({5}, 3)});
  EXPECT_EQ(r.before, (Ops{"Conv2D", "BiasAdd", "Relu"}));
  EXPECT_EQ(r.after, (Ops{"_FusedConv2D"}));
}

TEST(PassesTest, FoldBatchNorm) {
  auto normalised = [](bool training) {
    return run_pass(
        "fold_batch_norm",
        [training](const auto& x) {
          const Tensor y = nn::conv2d(x[0], x[1], 1, "VALID");
          return nn::fused_batch_norm(y, x[2], x[3],
                                      {.mean = x[4],
                                       .variance = square(x[5]) + 0.5f,
                                       .epsilon = 1e-3,
                                       .is_training = training})
              .t[0];
        },
        {numbers({2, 7, 6, 3}, 1), numbers({3, 3, 3, 5}, 2), numbers({5}, 3), numbers({5}, 4),
         numbers({5}, 5), numbers({5}, 6)},
        1e-5);
  };
  const auto r = normalised(false);
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "FusedBatchNormV3"), 0);
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "BiasAdd"), 1);
  EXPECT_EQ(r.what, "1 normalisations in the filters of convolutions");
}

TEST(PassesTest, AccumulateInGemm) {
  const auto r = run_pass(
      "accumulate_in_gemm",
      [](const auto& x) { return matmul(x[0], x[1]) + matmul(x[2], x[1]) + matmul(x[0], x[1]); },
      {numbers({5, 4}, 1), numbers({4, 6}, 2), numbers({5, 4}, 3)}, 1e-6);
  EXPECT_EQ(r.after, (Ops{"MatMul", "_MatMulAdd", "_MatMulAdd"}));
}

TEST(PassesTest, Prune) {
  const auto r = run_pass("prune",
                          [](const auto& x) {
                            exp(x[0]);
                            return x[0] + 1.f;
                          },
                          {numbers({2}, 1)});
  EXPECT_EQ(r.after, (Ops{"AddV2"}));
}

TEST(PassesTest, SwitchedOffByName) {
  EXPECT_THAT(graph_passes::list(), ::testing::Contains("simplify"));
  graph_passes::disable("simplify");
  EXPECT_FALSE(graph_passes::enabled("simplify"));
  graph_passes::enable("simplify");
  expect_error<errors::NotFound>([] { graph_passes::disable("simplfy"); }, "simplify");
}

}  // namespace
}  // namespace rill
