#include "rill/graph/function/function.h"

#include "rill/base/error.h"
#include "rill/eager/gradient_functions.h"
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill {
namespace {

using testing::expect_error;

TEST(FunctionTest, RunsTheTracedOps) {
  RILL_SHOWS("F01");
  auto layer = function([](Tensor x, Tensor y) { return nn::relu(matmul(x, y)); });
  const Tensor x = constant({{1.f, -2.f}, {3.f, 4.f}}), y = constant({{1.f, 0.f}, {1.f, -1.f}});
  EXPECT_EQ(layer(x, y).to_vector<float>(), (std::vector<float>{0, 2, 7, 0}));
  EXPECT_EQ(layer(x, y).to_vector<float>(), (std::vector<float>{0, 2, 7, 0}));
  EXPECT_EQ(layer.trace_count(), 1);
}

Tensor linear_layer(const Tensor& x) { return 2 * x + 1; }

TEST(FunctionTest, FunctionsThatItCallsAreTracedToo) {
  RILL_SHOWS("F02", "P93");
  auto deep_net = function([](Tensor x) { return nn::relu(linear_layer(x)); });
  const Tensor y = deep_net(constant({1, 2, 3}));
  EXPECT_EQ(y.dtype(), int32);
  EXPECT_EQ(y.to_string(), "[3 5 7]");
}

TEST(FunctionTest, EffectsComeInProgramOrderAtEachCall) {
  RILL_SHOWS("F03");
  Variable v(1.f);
  auto f = function([&] {
    const Tensor before = v.value();
    v.assign_add(2.f);
    const Tensor between = v.value();
    v.assign(v.value() * 10.f);
    return std::vector<Tensor>{before, between, v.value()};
  });
  auto r = f();
  EXPECT_EQ(r[0].item<float>(), 1.f);
  EXPECT_EQ(r[1].item<float>(), 3.f);
  EXPECT_EQ(r[2].item<float>(), 30.f);
  r = f();
  EXPECT_EQ(r[0].item<float>(), 30.f);
  EXPECT_EQ(v.item<float>(), 320.f);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(FunctionTest, VariablesAreMadeAtTheFirstCallOnly) {
  RILL_SHOWS("F04");
  Variable w;
  auto f = function([&](Tensor x) {
    if (!w.defined()) w = Variable(random::normal({2, 2}, 0., 1., {.seed = 3}) + 1.f);
    return matmul(x, w);
  });
  const Tensor x = constant({{1.f, 0.f}});
  const auto first = f(x).to_vector<float>();
  EXPECT_EQ(f(x).to_vector<float>(), first);
  EXPECT_EQ(w.value()[0].to_vector<float>(), first);

  std::vector<Variable> many;
  auto bad = function([&](Tensor y) {
    many.emplace_back(1.f);
    return y * many.back();
  });
  expect_error<errors::FailedPrecondition>([&] { bad(constant(2.f)); }, "variable at a later call");
}

TEST(FunctionTest, TraceKeysAreDtypesShapesAndPlainValues) {
  RILL_SHOWS("F05");
  int runs = 0;
  auto f = function(
      [&](Tensor x, bool training) {
        ++runs;
        return training ? x * 2 : x;
      },
      {.reduce_retracing = false});
  f(constant({1.f, 2.f}), true);
  f(constant({3.f, 4.f}), true);  // another value: no trace
  EXPECT_EQ(runs, 1);
  f(constant({3.f, 4.f}), false);
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(f.why_retraced(), ::testing::HasSubstr("argument 1 changed from true to false"));
  f(constant({3, 4}), false);
  EXPECT_EQ(runs, 3);
  EXPECT_THAT(f.why_retraced(), ::testing::HasSubstr("from float32 [2] to int32 [2]"));
  EXPECT_THAT(f.why_retraced(), ::testing::HasSubstr("function_test.cc:"));
  EXPECT_EQ(f(constant({3, 4}), true).to_vector<int>(), (std::vector<int>{6, 8}));
}

TEST(FunctionTest, SizesThatDifferBecomeUnknown) {
  auto f = function([](Tensor x) { return reduce_sum(x * 2.f); });
  for (int n = 1; n < 9; ++n) EXPECT_EQ(f(ones({n, 3})).item<float>(), 6.f * n);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_THAT(f.why_retraced(), ::testing::HasSubstr("argument 0 changed from float32 [1, 3]"));
}

TEST(FunctionTest, InputSignatureFixesTheTrace) {
  RILL_SHOWS("F10");
  auto f = function(
      [](Tensor x) {
        return reduce_mean(x, {1, 2, 3});
      },
      {.input_signature = {TensorSpec({None, 28, 28, 1}, float32)}});
  EXPECT_EQ(f(ones({2, 28, 28, 1})).shape(), TensorShape({2}));
  EXPECT_EQ(f(ones({7, 28, 28, 1})).shape(), TensorShape({7}));
  EXPECT_EQ(f.trace_count(), 1);
  expect_error<errors::InvalidArgument>([&] { f(ones({7, 28, 28, 3})); }, "input_signature says");
  expect_error<errors::InvalidArgument>([&] { f(ones({7, 28, 28, 1}, float64)); }, "float64");
  EXPECT_EQ(f.get_concrete_function_for({}).inputs()[0].shape(), TensorShape({None, 28, 28, 1}));
}

TEST(FunctionTest, ResultsMayBeTuplesNestsOrNothing) {
  RILL_SHOWS("F26", "F27");
  auto pair = function([](Tensor x) { return std::pair(x + 1, x * 2); });
  auto [a, b] = pair(constant(3));
  EXPECT_EQ(a.item<int>(), 4);
  EXPECT_EQ(b.item<int>(), 6);
  auto dict = function([](Tensor x) { return Nest::dict({{"twice", x * 2}, {"same", x}}); });
  const Nest d = dict(constant(3));
  EXPECT_EQ(d["twice"].as_tensor().item<int>(), 6);
  EXPECT_EQ(d["same"].as_tensor().item<int>(), 3);
  Variable count(0);
  auto nothing = function([&] { count.assign_add(1); });
  nothing();
  nothing();
  EXPECT_EQ(count.item<int>(), 2);
}

TEST(FunctionTest, NestedFunctionsAreCalls) {
  auto square = function([](Tensor x) { return x * x; }, {.name = "square"});
  auto f = function([&](Tensor x) { return square(x) + square(x + 1.f); }, {.name = "outer"});
  EXPECT_EQ(f(constant(2.f)).item<float>(), 13.f);
  EXPECT_EQ(square.trace_count(), 1);
  GradientTape tape;
  const Tensor x = constant(2.f);
  tape.watch(x);
  EXPECT_EQ(tape.gradient(f(x), x).item<float>(), 10.f);
}

TEST(FunctionTest, AnInnerFunctionMayUseTensorsOfTheOuter) {
  auto outer = function([](Tensor x) {
    auto inner = function([&](Tensor y) { return x * y; });
    return inner(x) + inner(x + 1.f);
  });
  EXPECT_EQ(outer(constant(2.f)).item<float>(), 10.f);
  EXPECT_EQ(outer(constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{3, 10}));
  // One that lives on is traced again for each outer one: its tensors are others.
  Tensor shared;
  auto lasting = function([&](Tensor y) { return shared * y; });
  auto user = function([&](Tensor x) {
    shared = x;
    return lasting(ones_like(x) * 3.f);
  });
  EXPECT_EQ(user(constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_EQ(user(constant({{1.f, 2.f}})).to_vector<float>(), (std::vector<float>{3, 6}));
  auto again = function([&](Tensor x) {
    shared = x + 1.f;
    return lasting(ones_like(x) * 3.f);
  });
  EXPECT_EQ(again(constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{6, 9}));
}

TEST(FunctionTest, MembersMayBeTraced) {
  RILL_SHOWS("F09");
  struct Scaler {
    Variable k;
    Tensor call(Tensor x) { return x * k; }
  };
  Scaler a{Variable(2.f)}, b{Variable(5.f)};
  auto fa = function(&a, &Scaler::call), fb = function(&b, &Scaler::call);
  EXPECT_EQ(fa(3.f).item<float>(), 6.f);
  EXPECT_EQ(fb(3.f).item<float>(), 15.f);
}

TEST(FunctionTest, TapeInsideATrace) {
  RILL_SHOWS("E45");
  Variable w(constant({{1.f}, {2.f}})), c(1.f);
  const Tensor X = constant({{1.f, 2.f}, {3.f, 4.f}}), y = constant({{1.f}, {2.f}});
  auto grads = [&]() -> std::vector<Tensor> {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(matmul(X, w) + c - y));
    const Gradients g = tape.gradient(loss, {w, c});
    return {loss, g[0], g[1]};
  };
  const auto eager = grads();
  const auto traced = function(grads)();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(eager[static_cast<std::size_t>(i)].to_vector<float>(),
              traced[static_cast<std::size_t>(i)].to_vector<float>());
}

TEST(FunctionTest, TapeAroundACall) {
  Variable w(3.f);
  auto f = function([&](Tensor x) { return x * x * w; });
  const Tensor x = constant(2.f);
  GradientTape outer({.persistent = true});
  GradientTape tape({.persistent = true});
  outer.watch(x);
  tape.watch(x);
  const Tensor y = f(x);
  const Gradients g = tape.gradient(y, {x, w});
  EXPECT_EQ(g[0].item<float>(), 12.f);
  EXPECT_EQ(g[1].item<float>(), 4.f);
  EXPECT_EQ(outer.gradient(g[0].tensor(), x).item<float>(), 6.f);
  EXPECT_EQ(outer.gradient(g[0].tensor(), w).item<float>(), 4.f);
}

TEST(FunctionTest, RandomOpsRunAnewAtEachCall) {
  RILL_SHOWS("F29");
  auto f = function([] { return random::uniform({3, 3}); });
  EXPECT_NE(f().to_vector<float>(), f().to_vector<float>());
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(FunctionTest, AnIfOnATensorSaysWhatToWrite) {
  auto f = function([](Tensor x) { return x > 0 ? x * x : x; });
  expect_error<errors::FailedPrecondition>([&] { f(constant(1.f)); }, "tf::cond");
  expect_error<errors::FailedPrecondition>([&] { f(constant(1.f)); }, "function_test.cc:");
}

TEST(FunctionTest, ALeakedTensorNamesItsFunction) {
  Tensor leak;
  auto f = function(
      [&](Tensor x) {
        leak = x + 1.f;
        return leak;
      },
      {.name = "leaky"});
  f(constant(1.f));
  expect_error<errors::FailedPrecondition>([&] { leak + 1.f; }, "function \"leaky\"");
  expect_error<errors::FailedPrecondition>([&] { leak.item<float>(); }, "add:0");
  auto g = function([&](Tensor x) { return x + leak; }, {.name = "other"});
  expect_error<errors::FailedPrecondition>([&] { g(constant(1.f)); },
                                           "is used in function \"other\"");
}

TEST(FunctionTest, ALeakedTensorOfARemovedNodeCanBePrinted) {
  std::vector<Tensor> leaked;
  {
    auto f = function([&](Tensor x) {
      leaked = {x * 2.f, identity(x + 1.f), constant({2, 1})};  // nothing uses them
      return x * 3.f;
    });
    f(constant({1.f, 2.f}));
    f(constant(1.f));
  }
  EXPECT_EQ(leaked[0].shape(), TensorShape({}));
  EXPECT_NE(format("{}", leaked[0]).find("mul"), std::string::npos) << format("{}", leaked[0]);
  EXPECT_NE(format("{}", leaked[1]).find("Identity"), std::string::npos);
  expect_error<errors::FailedPrecondition>([&] { leaked[1] + 1.f; }, "Identity");
  auto g = function([&](Tensor x) { return x + leaked[1]; });
  expect_error<errors::FailedPrecondition>([&] { g(constant(1.f)); }, "is not part of it");
}

TEST(FunctionTest, FunctionsThatCallEachOtherWithoutEnd) {
  std::function<Tensor(Tensor)> back;
  auto f = function([&](Tensor x) { return back(x); }, {.name = "f"});
  auto g = function([&](Tensor x) { return Tensor(f(x)); }, {.name = "g"});
  back = [&](const Tensor& x) { return Tensor(g(x)); };
  expect_error<errors::FailedPrecondition>([&] { f(constant(1.f)); }, "RecursionError");
  // One whose arguments come to an end is traced once per argument.
  std::function<Tensor(Tensor, int)> power;
  auto p = function([&](Tensor x, int n) { return n == 0 ? ones_like(x) : x * power(x, n - 1); });
  power = [&](const Tensor& x, int n) { return Tensor(p(x, n)); };
  EXPECT_EQ(Tensor(p(constant(2.f), 10)).item<float>(), 1024);
}

TEST(FunctionTest, AVariableMadeAtEachTraceIsAnError) {
  // TensorFlow: ValueError. One that is kept across calls would count 2, 3, 4.
  auto f = function([](Tensor x) {
    Variable v(1.f);
    v.assign_add(x);
    return v.value();
  });
  for (int i = 0; i < 2; ++i)
    expect_error<errors::FailedPrecondition>([&] { f(constant(1.f)); }, "whenever it is traced");
  // What is made once is found by later traces.
  Variable kept;
  int traces = 0;
  auto g = function([&](Tensor x) {
    ++traces;
    if (!kept.defined()) kept = Variable(1.f);
    kept.assign_add(x);
    return kept.value();
  });
  EXPECT_EQ(Tensor(g(constant(1.f))).item<float>(), 2);
  EXPECT_EQ(Tensor(g(constant(1.f))).item<float>(), 3);
  EXPECT_EQ(traces, 2);  // as in TensorFlow
  EXPECT_EQ(g.trace_count(), 1);
}

TEST(FunctionTest, TransposeOfUnknownRankIsTheReverse) {
  auto f = function([](Tensor x) { return transpose(x); },
                    {.input_signature = {TensorSpec(TensorShape::unknown_rank(), float32)}});
  EXPECT_EQ(Tensor(f(constant({{1.f, 2.f}}))).shape(), TensorShape({2, 1}));
  const Tensor x = reshape(range(24.f), {2, 3, 4});
  EXPECT_EQ(Tensor(f(x)).to_vector<float>(), transpose(x).to_vector<float>());
  EXPECT_EQ(Tensor(f(constant(4.f))).item<float>(), 4);
}

TEST(FunctionTest, FunctionsRunEagerlyWhereThatIsAsked) {
  int runs = 0;
  auto f = function([&](Tensor x, float scale) {
    ++runs;
    EXPECT_EQ(x.is_symbolic(), !config::functions_run_eagerly());
    return x * scale;
  });
  config::run_functions_eagerly(true);
  EXPECT_EQ(Tensor(f(2.f, 3.f)).item<float>(), 6);
  EXPECT_EQ(Tensor(f(2.f, 3.f)).item<float>(), 6);
  config::run_functions_eagerly(false);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.trace_count(), 0);
  EXPECT_EQ(Tensor(f(2.f, 3.f)).item<float>(), 6);
  EXPECT_EQ(Tensor(f(2.f, 3.f)).item<float>(), 6);
  EXPECT_EQ(runs, 3);
}

TEST(FunctionTest, CapturesSeeTheirNewValues) {
  Variable v(1.f);
  const Tensor big = ones({300});
  auto f = function([&] { return reduce_sum(big) * v; });
  EXPECT_EQ(f().item<float>(), 300.f);
  v.assign(2.f);
  EXPECT_EQ(f().item<float>(), 600.f);
}

// A function is written with ops, on tensors: what else is in it runs while it is traced.
TEST(FunctionTest, OnlyOpsAreInTheGraph) {
  RILL_SHOWS("F07", "Z26");
  int host = 0;
  auto f = function([&](Tensor x) {
    ++host;  // no op
    return x + host;
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(f(constant(1)).item<int>(), 2);
  EXPECT_EQ(host, 1);
  // A value that only a run has steers no C++, and leaves no tensor for it to read.
  auto loop = function([](Tensor n) {
    Tensor i = constant(0);
    while (i < n) i = i + 1;
    return i;
  });
  expect_error<errors::FailedPrecondition>([&] { loop(constant(3)); }, "tf::");
  auto read = function([](Tensor x) { return constant(x.item<float>()); });
  expect_error<errors::FailedPrecondition>([&] { read(constant(3.f)); }, "symbolic");
  EXPECT_EQ(f(constant(1)).item<int>(), 2);  // an error in one function harms no other
}

}  // namespace
}  // namespace rill
