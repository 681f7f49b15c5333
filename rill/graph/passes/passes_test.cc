// Each pass by the graph before and after it, and by the values of both.
#include <algorithm>
#include <limits>
#include <thread>

#include "rill/base/error.h"
#include "rill/base/parallel.h"
#include "rill/core/test_device.h"
#include "rill/eager/context.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/graph/function/function_impl.h"
#include "rill/graph/ir/interpreter.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/graph/passes/pass.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/ops/state_ops.h"
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
  for (const DType dtype : {float32, float64}) {
    const auto bias = run_pass(
        "fuse_conv",
        [](const auto& x) { return nn::bias_add(nn::conv2d(x[0], x[1], 1, "VALID"), x[2]); },
        {cast(numbers({2, 7, 6, 3}, 1), dtype), cast(numbers({3, 3, 3, 5}, 2), dtype),
         cast(numbers({5}, 3), dtype)},
        2e-6);
    EXPECT_EQ(bias.after, (Ops{"_FusedConv2D"}));
  }
}

TEST(PassesTest, FusedConvKeepsNaN) {
  auto f = function([](Tensor x, Tensor w, Tensor b) {
    return nn::relu(nn::bias_add(nn::conv2d(x, w, 1, "VALID"), b));
  });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = f(fill({1, 2, 2, 1}, nan), ones({1, 1, 1, 16}), zeros({16}));
  EXPECT_TRUE(reduce_all(math::is_nan(y)).item<bool>());
}

TEST(PassesTest, FoldBatchNorm) {
  auto normalised = [](bool training, std::int64_t images = 2) {
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
        {numbers({images, 7, 6, 3}, 1), numbers({3, 3, 3, 5}, 2), numbers({5}, 3), numbers({5}, 4),
         numbers({5}, 5), numbers({5}, 6)},
        1e-5);
  };
  const auto r = normalised(false);
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "FusedBatchNormV3"), 0);
  EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "BiasAdd"), 1);
  EXPECT_EQ(r.what, "1 normalisations in the filters of convolutions");
  // Of one image the result is smaller than the filter.
  const auto small = normalised(false, 1);
  EXPECT_EQ(small.after, small.before);
}

// The layers of a residual network, on a device that is not the host.
TEST(PassesTest, FuseBatchNorm) {
  test_device();
  const auto scope = device("/device:TEST:0");
  for (const std::int64_t channels : {8, 3}) {
    const Variable scale(numbers({channels}, 1)), offset(numbers({channels}, 2));
    const auto r =
        run_pass("fuse_batch_norm",
                 [&](const auto& in) {
                   const Tensor x = in[0];
                   GradientTape tape;
                   tape.watch(x);
                   const auto [first, mean, variance] = nn::fused_batch_norm(x, scale, offset).t;
                   const Tensor y = nn::relu(first);
                   const Tensor z = nn::relu(nn::fused_batch_norm(sin(y), scale, offset).t[0] + y);
                   std::vector<Tensor> out{z, mean, variance};
                   const Gradients g = tape.gradient(square(z), {x, scale, offset});
                   for (const Gradient& each : g) out.push_back(each.tensor());
                   return Nest(out);
                 },
                 {numbers({2, 3, 5, channels}, 3)});
    EXPECT_EQ(r.what, "2 normalisations with relu, 1 gradients");
    EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "_BatchNormRelu"), 2);
    EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "_BatchNormReluGrad"), 1);
    EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "Relu"), 0);
    EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "ReluGrad"), 1);
  }
}

TEST(PassesTest, NormalisationOnTheHostStays) {
  const Variable scale(numbers({3}, 1)), offset(numbers({3}, 2));
  const auto r = run_pass(
      "fuse_batch_norm",
      [&](const auto& x) { return nn::relu(nn::fused_batch_norm(x[0], scale, offset).t[0]); },
      {numbers({2, 3, 5, 3}, 3)});
  EXPECT_EQ(r.after, r.before);
}

TEST(PassesTest, SkipBias) {
  test_device();
  const auto scope = device("/device:TEST:0");
  const Variable scale(numbers({3}, 1)), offset(numbers({3}, 2)), bias(numbers({3}, 4)),
      mean_before(numbers({3}, 5)), variance_before(numbers({3}, 6) + 2.f);
  for (const double weight : {1., 0.25}) {
    const auto r = run_pass(
        "skip_bias",
        [&](const auto& in) {
          GradientTape tape;
          const Tensor x = nn::bias_add(in[0], cast(bias, bfloat16));
          const auto [y, mean, variance] = nn::fused_batch_norm(x, scale, offset,
                                                                {.mean = mean_before,
                                                                 .variance = variance_before,
                                                                 .exponential_avg_factor = weight})
                                               .t;
          const Gradients g = tape.gradient(square(y), {scale, offset});
          return Nest(std::vector<Tensor>{y, mean, variance, g[0].tensor(), g[1].tensor()});
        },
        {cast(numbers({2, 3, 5, 3}, 3), bfloat16)}, 0.05);
    EXPECT_EQ(r.what, "1 biases that normalisation takes away");
    EXPECT_EQ(std::count(r.after.begin(), r.after.end(), "BiasAdd"), 0);
  }
}

TEST(PassesTest, AccumulateInGemm) {
  const auto r = run_pass(
      "accumulate_in_gemm",
      [](const auto& x) { return matmul(x[0], x[1]) + matmul(x[2], x[1]) + matmul(x[0], x[1]); },
      {numbers({5, 4}, 1), numbers({4, 6}, 2), numbers({5, 4}, 3)}, 1e-6);
  EXPECT_EQ(r.after, (Ops{"MatMul", "_MatMulAdd", "_MatMulAdd"}));
}

TEST(PassesTest, ShareTransposes) {
  const auto products = [](int n) {
    return [n](const auto& x) {
      Tensor y = x[0];
      for (int i = 0; i < n; ++i) y = matmul(matmul(y, x[1], {.transpose_b = true}), x[2]);
      return y;
    };
  };
  const std::vector<Tensor> args{numbers({3, 64}, 1) / 100.f, numbers({128, 64}, 2) / 100.f,
                                 numbers({128, 64}, 3) / 100.f};
  const auto eight = run_pass("share_transposes", products(8), args, 1e-5);
  EXPECT_EQ(eight.what, "8 products by 1 shared transposes");
  EXPECT_EQ(std::count(eight.after.begin(), eight.after.end(), "Transpose"), 1);
  EXPECT_EQ(run_pass("share_transposes", products(7), args).what, "");
}

// Variables with the slots of Adam; the same at every call.
struct Adam {
  explicit Adam(const std::vector<TensorShape>& shapes) {
    float start = 0;
    auto wave = [&](const TensorShape& shape) {
      return reshape(sin(cast(range(shape.num_elements()), float32) * 0.7f + ++start), shape);
    };
    for (const TensorShape& shape : shapes) {
      for (std::vector<Variable>* of : {&var, &m, &v}) of->emplace_back(abs(wave(shape)));
      grad.push_back(wave(shape));
    }
  }
  void update(std::size_t i, bool nesterov = false, float rate = 0.01f) const {
    const auto number = [](float x) { return constant(x); };
    const Attr attrs[] = {{"use_nesterov", nesterov}};
    run_update("ResourceApplyAdam",
               {var[i].handle(), m[i].handle(), v[i].handle(), number(0.9f), number(0.999f),
                number(rate), number(0.9f), number(0.999f), number(1e-7f), grad[i]},
               attrs);
  }
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> out;
    for (const auto* of : {&var, &m, &v})
      for (const Variable& x : *of) out.push_back(x.value().to_vector<float>());
    return out;
  }
  std::vector<Variable> var, m, v;
  std::vector<Tensor> grad;
};
// The ops of a function without arguments, before and after the pass.
template <class F>
BeforeAndAfter merged(F f) {
  auto traced = function([&] { f(); });
  const ConcreteFunction c = traced.get_concrete_function();
  const Ref<Graph> after = clone(*c.impl().body->graph);
  BeforeAndAfter out;
  out.before = ops_of(*after);
  for (const Pass& p : all_passes())
    if (std::string(p.name) == "merge_updates") out.what = p.run(*after);
  out.after = ops_of(*after);
  return out;
}

TEST(PassesTest, MergeUpdates) {
  const std::vector<TensorShape> shapes{{3}, TensorShape::scalar(), {40, 500}, {64}, {0}, {4097}};
  auto step = [&](const Adam& a) {
    for (std::size_t i = 0; i < shapes.size(); ++i) a.update(i, false, i == 3 ? 0.5f : 0.01f);
  };
  const Adam separate(shapes);
  const auto r = merged([&] { step(separate); });
  EXPECT_EQ(r.before, Ops(6, "ResourceApplyAdam"));
  EXPECT_EQ(r.after, Ops{"_ApplyMany"});
  EXPECT_EQ(r.what, "6 updates of variables in 1");
  // The same bits as one by one, at every width.
  step(separate), step(separate);
  for (const int width : {1, 2, 3}) {
    const ComputeWidthScope scope(width);
    const Adam together(shapes);
    auto f = function([&] { step(together); });
    f(), f();
    EXPECT_EQ(together.values(), separate.values()) << width;
    EXPECT_THAT(f.explain(), ::testing::HasSubstr("merge_updates: 6 updates of variables in 1"));
  }
}

TEST(PassesTest, MergeUpdatesOfOneKind) {
  const Adam a(std::vector<TensorShape>(8, TensorShape({3})));
  std::vector<Variable> x;
  for (int i = 0; i < 4; ++i) x.emplace_back(1.f);
  const auto r = merged([&] {
    for (std::size_t i = 0; i < 8; ++i) {
      a.update(i, i % 2 == 1);
      if (i % 2 == 1) apply_gradient_descent(x[i / 2].handle(), 0.1f, 1.f);
    }
  });
  EXPECT_EQ(r.after, (Ops{"_ApplyMany", "_ApplyMany", "_ApplyMany"}));
  EXPECT_EQ(r.what, "12 updates of variables in 3");
  const auto few = merged([&] { a.update(0), a.update(1), a.update(2); });
  EXPECT_EQ(few.after, few.before);
}

TEST(PassesTest, MergeUpdatesKeepsTheOrderOfEffects) {
  const Adam a(std::vector<TensorShape>(8, TensorShape({3})));
  auto update = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) a.update(i);
  };
  Variable out(zeros({3}));
  const auto read = merged([&] {
    update(0, 4);
    out.assign(a.var[0].value());  // sees the update before it
    update(4, 8);
  });
  EXPECT_EQ(read.after, (Ops{"_ApplyMany", "ReadVariableOp", "AssignVariableOp", "_ApplyMany"}));
  const auto again = merged([&] { update(0, 6), update(0, 4); });
  EXPECT_EQ(again.after, (Ops{"_ApplyMany", "_ApplyMany"}));
  // Others may be read between.
  const auto other = merged([&] {
    update(0, 2);
    out.assign(a.var[7].value());
    update(2, 4);
  });
  EXPECT_EQ(other.after, (Ops{"ReadVariableOp", "AssignVariableOp", "_ApplyMany"}));
}

TEST(PassesTest, MergeUpdatesHoldsNoMoreLocksThanSanitizersFollow) {
  const Adam a(std::vector<TensorShape>(45, TensorShape({2})));
  auto step = [&] {
    for (std::size_t i = 0; i < 45; ++i) a.update(i);
  };
  EXPECT_EQ(merged(step).what, "45 updates of variables in 3");
  auto f = function(step);
  f();
}

TEST(PassesTest, MergedUpdatesLeaveValuesThatOthersHold) {
  const Adam a(std::vector<TensorShape>(4, TensorShape({3})));
  auto f = function([&] {
    const Tensor before = a.var[0].value();
    for (std::size_t i = 0; i < 4; ++i) a.update(i);
    return before;
  });
  const auto first = a.var[0].value().to_vector<float>();
  const Tensor held = f();
  EXPECT_EQ(held.to_vector<float>(), first);
  EXPECT_NE(a.var[0].value().to_vector<float>(), first);
}

TEST(PassesTest, MergedUpdatesAreMadeAllOrNone) {
  std::vector<Variable> x;
  for (int i = 0; i < 4; ++i) x.emplace_back(zeros({3}));
  auto f = function(
      [&](Tensor g, Tensor h) {
        for (const Variable& v : x)
          apply_gradient_descent(v.handle(), 1.f, v.id() == x[3].id() ? h : g);
      },
      {.input_signature = {TensorSpec({None}, float32), TensorSpec({None}, float32)}});
  f(ones({3}), ones({3}));
  EXPECT_THAT(f.explain(), ::testing::HasSubstr("merge_updates: 4 updates"));
  expect_error<errors::InvalidArgument>([&] { f(ones({3}), ones({5})); },
                                        "the variable has shape [3], its gradient has shape [5]");
  for (const Variable& v : x)
    EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{-1, -1, -1}));
}

TEST(PassesTest, MergedUpdatesOfManyThreads) {
  std::vector<Variable> forth;
  for (const std::int64_t n : {5000, 3, 1, 70}) forth.emplace_back(zeros({n}));
  std::vector<Variable> back(forth.rbegin(), forth.rend());
  std::vector<std::thread> threads;
  for (std::vector<Variable>* mine : {&forth, &back})
    threads.emplace_back([mine] {
      auto f = function([&] {
        for (const Variable& v : *mine) apply_gradient_descent(v.handle(), 1.f, ones(v.shape()));
      });
      for (int i = 0; i < 200; ++i) f();
    });
  for (std::thread& t : threads) t.join();
  for (const Variable& v : forth)
    EXPECT_EQ(v.value().to_vector<float>(),
              std::vector<float>(static_cast<std::size_t>(v.value().size()), -400.f));
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
