#include "rill/graph/control_flow/control_flow.h"

#include "rill/base/error.h"
#include "rill/eager/gradient_functions.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/control_flow/tensor_array.h"
#include "rill/graph/function/autograph.h"
#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill {
namespace {

using testing::expect_error;

Tensor square_if_positive(const Tensor& x) {
  return cond(
      x > 0, [&] { return x * x; }, [&] { return zeros_like(x); });
}

TEST(ControlFlow, VectorizedMapIsMapFn) {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(vectorized_map([](Tensor r) { return reduce_sum(r); }, x).to_vector<float>(),
            (std::vector<float>{3, 7}));
}

TEST(ControlFlow, TensorArraysAndTuplesAreLoopVariables) {
  const auto squares = [](const Tensor& x) {
    TensorArray rows(float32, 3, {.element_shape = {2}});
    auto [end, all] = while_loop([](Tensor i, TensorArray) { return i < 3; },
                                 [&](Tensor i, TensorArray a) {
                                   return std::tuple{i + 1, a.write(i, x * cast(i, float32))};
                                 },
                                 std::tuple{constant(0), rows});
    EXPECT_EQ(all.dtype(), float32);
    return all.stack();
  };
  const Tensor x = constant({1.f, 2.f});
  EXPECT_EQ(squares(x).to_vector<float>(), (std::vector<float>{0, 0, 1, 2, 2, 4}));
  auto traced = function(squares);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = traced(x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 1, 2, 2, 4}));
  EXPECT_EQ(tape.gradient(y, x).tensor().to_vector<float>(), (std::vector<float>{3, 3}));
  // As an argument and a result of a function.
  auto grown = function([](TensorArray a) { return a.write(1, 7.f); });
  EXPECT_EQ(grown(TensorArray(float32, 2, {.element_shape = {}}).write(0, 5.f))
                .stack()
                .to_vector<float>(),
            (std::vector<float>{5, 7}));
}

TEST(CondTest, GivesWhatEagerGives) {
  RILL_SHOWS("F15");
  auto f = function(square_if_positive);
  for (float x : {3.f, -2.f}) {
    EXPECT_EQ(f(constant(x)).item<float>(), square_if_positive(constant(x)).item<float>());
  }
  EXPECT_EQ(f.trace_count(), 1);
}

// for item in items: if item % 2 > 0: continue; s += item
Tensor sum_even(const Tensor& items) {
  auto out = while_loop([&](Tensor i, Tensor) { return i < size(items); },
                        [&](Tensor i, Tensor s) {
                          const Tensor c = gather(items, i);
                          return std::pair(
                              i + 1, cond(
                                         c % 2 > 0, [&] { return s; }, [&] { return s + c; }));
                        },
                        {0, 0});
  return out[1].as_tensor();
}

TEST(WhileLoopTest, SumEven) {
  RILL_SHOWS("F16", "F17", "P91");
  const Tensor items = constant({10, 12, 15, 20});
  EXPECT_EQ(sum_even(items).item<int>(), 42);
  EXPECT_EQ(function(sum_even)(items).item<int>(), 42);
}

// Eager and traced gradients of a function of one float tensor, and the second.
void expect_same_gradients(Tensor (*f)(const Tensor&), const Tensor& x) {
  auto grads = [f](Tensor v) -> std::vector<Tensor> {
    GradientTape outer;
    outer.watch(v);
    Tensor y, g;
    {
      GradientTape tape;
      tape.watch(v);
      y = f(v);
      g = tape.gradient(y, v).tensor();
    }
    if (!g.defined()) g = zeros_like(v);
    Gradient second = outer.gradient(g, v);
    return {y, g, second.defined() ? second.tensor() : zeros_like(v)};
  };
  const auto eager = grads(x), traced = function(grads)(x);
  auto wrapped = function(f);
  const auto around = [&] {  // tapes outside the function
    GradientTape outer;
    outer.watch(x);
    Tensor y, g;
    {
      GradientTape tape;
      tape.watch(x);
      y = wrapped(x);
      g = tape.gradient(y, x).tensor();
    }
    if (!g.defined()) g = zeros_like(x);
    Gradient second = outer.gradient(g, x);
    return std::vector<Tensor>{y, g, second.defined() ? second.tensor() : zeros_like(x)};
  }();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(eager[i].to_vector<float>(), traced[i].to_vector<float>()) << "traced " << i;
    EXPECT_EQ(eager[i].to_vector<float>(), around[i].to_vector<float>()) << "around " << i;
  }
}

TEST(CondTest, Gradients) {
  for (float x : {3.f, -2.f}) {
    expect_same_gradients(square_if_positive, constant(x));
    expect_same_gradients(
        [](const Tensor& v) {
          return cond(
              reduce_sum(v) > 0, [&] { return exp(v) * v; }, [&] { return v * v * v; });
        },
        constant({x, x + 1.f}));
  }
}

TEST(WhileLoopTest, Gradients) {
  expect_same_gradients(
      [](const Tensor& x) {  // x^8
        auto out = while_loop([](Tensor i, Tensor) { return i < 3; },
                              [](Tensor i, Tensor y) { return std::pair(i + 1, y * y); }, {0, x});
        return out[1].as_tensor();
      },
      constant({1.5f, 2.f}));
  expect_same_gradients(
      [](const Tensor& x) {  // x^5, x is used from outside
        auto out = while_loop([](Tensor i, Tensor) { return i < 5; },
                              [&](Tensor i, Tensor y) { return std::pair(i + 1, y * x); },
                              {0, ones_like(x)});
        return out[1].as_tensor();
      },
      constant({1.5f, 2.f}));
}

TEST(WhileLoopTest, GradientsOfVariables) {
  Variable w(constant({{0.5f, 0.1f}, {-0.2f, 0.4f}}));
  const Tensor x = constant({{1.f, 2.f}});
  auto grads = [&]() -> std::vector<Tensor> {
    GradientTape tape;
    auto out = while_loop([](Tensor i, Tensor) { return i < 4; },
                          [&](Tensor i, Tensor h) { return std::pair(i + 1, tanh(matmul(h, w))); },
                          {0, x});
    const Tensor loss = reduce_sum(out[1].as_tensor());
    return {loss, tape.gradient(loss, w).tensor()};
  };
  const auto eager = grads(), traced = function(grads)();
  EXPECT_EQ(eager[0].to_vector<float>(), traced[0].to_vector<float>());
  EXPECT_EQ(eager[1].to_vector<float>(), traced[1].to_vector<float>());
}

TEST(WhileLoopTest, MaximumIterations) {
  auto f = [](Tensor n) {
    return while_loop([](Tensor i) { return i < 100; }, [](Tensor i) { return i + 1; }, n,
                      {.maximum_iterations = 7});
  };
  EXPECT_EQ(f(constant(0)).item<int>(), 7);
  EXPECT_EQ(function(f)(constant(0)).item<int>(), 7);
  EXPECT_EQ(function(f)(constant(98)).item<int>(), 100);
}

TEST(WhileLoopTest, ShapesThatChangeMustBeSaid) {
  auto grow = [](bool said) {
    return function([said](Tensor x) {
      return while_loop([](Tensor y) { return size(y) < 8; },
                        [](Tensor y) {
                          return concat({y, y}, 0);
                        },
                        x,
                        {.shape_invariants =
                             said ? std::vector<TensorShape>{{None}} : std::vector<TensorShape>{}});
    });
  };
  EXPECT_EQ(grow(true)(constant({1, 2})).to_vector<int>(),
            (std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2}));
  expect_error<errors::InvalidArgument>(
      [&] {
        grow(false)(constant({1, 2}));
      },
      "shape [2] before a turn and [4] after it");
}

TEST(CaseTest, FirstTrueAndByIndex) {
  auto f = [](Tensor x) {
    return case_({{x < 0, [&] { return x - 1; }}, {x < 10, [&] { return x * 2; }}},
                 [&] { return x + 100; })
        .as_tensor();
  };
  auto g = [](Tensor i) {
    return switch_case(i, {[] { return constant(10); }, [] { return constant(20); }},
                       [] { return constant(-1); })
        .as_tensor();
  };
  auto tf_ = function(f);
  auto tg = function(g);
  for (int x : {-5, 3, 50}) EXPECT_EQ(tf_(constant(x)).item<int>(), f(constant(x)).item<int>());
  EXPECT_EQ(f(constant(-5)).item<int>(), -6);
  EXPECT_EQ(f(constant(3)).item<int>(), 6);
  EXPECT_EQ(f(constant(50)).item<int>(), 150);
  for (int i : {0, 1, 2, -3}) {
    EXPECT_EQ(g(constant(i)).item<int>(), i == 0 ? 10 : i == 1 ? 20 : -1);
    EXPECT_EQ(tg(constant(i)).item<int>(), i == 0 ? 10 : i == 1 ? 20 : -1);
  }
}

TEST(CondTest, BranchesMustAgree) {
  auto f = function([](Tensor x) {
    return cond(
        x > 0, [&] { return x; }, [&] { return cast(x, int32); });
  });
  expect_error<errors::InvalidArgument>([&] { f(constant(1.f)); }, "in one branch and");
  auto g = function([](Tensor x) {
    return cond(
        x, [&] { return x; }, [&] { return x; });
  });
  expect_error<errors::InvalidArgument>([&] { g(constant(1.f)); }, "expected bool");
}

TEST(TensorArrayTest, WriteAndRead) {
  RILL_SHOWS("F24", "P72", "Q44");
  auto f = function([] {
    TensorArray arr(float32, 3);
    arr = arr.write(0, constant(0.f));
    arr = arr.write(1, constant(1.f));
    arr = arr.write(2, constant(2.f));
    return std::tuple(arr.read(0), arr.read(1), arr.read(2));
  });
  auto [a, b, c] = f();
  std::ostringstream os;
  os << a << " " << b << " " << c;
  EXPECT_EQ(os.str(),
            "tf.Tensor(0.0, shape=(), dtype=float32) tf.Tensor(1.0, shape=(), dtype=float32) "
            "tf.Tensor(2.0, shape=(), dtype=float32)");
}

TEST(TensorArrayTest, GrowsOnlyWhenDynamic) {
  RILL_SHOWS("F21", "F23");
  TensorArray fixed(float32, 1), dynamic(float32, 0, {.dynamic_size = true});
  expect_error<errors::OutOfRange>([&] { (void)fixed.write(1, 2.f); }, "dynamic_size");
  dynamic = dynamic.write(0, 1.f).write(2, 3.f);
  EXPECT_EQ(dynamic.size().item<int>(), 3);
  EXPECT_EQ(dynamic.read(0).item<float>(), 1);
  EXPECT_EQ(dynamic.read(2).item<float>(), 3);
  EXPECT_EQ(dynamic.stack().to_vector<float>(), (std::vector<float>{1, 0, 3}));
  expect_error<errors::OutOfRange>([&] { dynamic.read(3); }, "index 3 is out of range");
  expect_error<errors::InvalidArgument>([&] { (void)fixed.write(0, constant(1)); },
                                        "holds float32");
}

TEST(TensorArrayTest, GradientsThroughALoop) {
  auto f = [](const Tensor& x) {
    TensorArray arr(float32, 3, {.element_shape = TensorShape::scalar()});
    auto out = while_loop([](Tensor i, Tensor) { return i < 3; },
                          [&](Tensor i, Tensor flow) {
                            const Tensor y = x * x * cast(i + 1, float32);
                            return std::pair(i + 1, arr.with_flow(flow).write(i, y).flow());
                          },
                          Nest(std::vector<Tensor>{constant(0), arr.flow()}));
    const Tensor all = arr.with_flow(out[1].as_tensor()).stack();
    return reduce_sum(all * constant({1.f, 10.f, 100.f}));
  };
  auto grad = gradients_function(f);
  EXPECT_EQ(grad(2.f)[0].item<float>(), 2 * 2.f * 321.f);
  auto traced = function([&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), x).tensor();
  });
  EXPECT_EQ(traced(constant(2.f)).item<float>(), 2 * 2.f * 321.f);
}

TEST(MapTest, MapScanFold) {
  auto m = [](Tensor x) { return map_fn([](Tensor r) { return reduce_sum(r * r); }, x); };
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  EXPECT_EQ(m(x).to_vector<float>(), (std::vector<float>{5, 25, 61}));
  EXPECT_EQ(function(m)(x).to_vector<float>(), (std::vector<float>{5, 25, 61}));
  auto s = [](Tensor v) { return scan([](Tensor a, Tensor r) { return a + r; }, v); };
  auto r = [](Tensor v) { return scan([](Tensor a, Tensor e) { return a * 2 + e; }, v, 1, true); };
  auto l = [](Tensor v) { return foldl([](Tensor a, Tensor e) { return a - e; }, v); };
  auto fr = [](Tensor v) { return foldr([](Tensor a, Tensor e) { return a - e; }, v, 100); };
  const Tensor v = constant({1, 2, 3, 4});
  EXPECT_EQ(s(v).to_vector<int>(), (std::vector<int>{1, 3, 6, 10}));
  EXPECT_EQ(function(s)(v).to_vector<int>(), (std::vector<int>{1, 3, 6, 10}));
  EXPECT_EQ(r(v).to_vector<int>(), (std::vector<int>{65, 32, 15, 6}));
  EXPECT_EQ(function(r)(v).to_vector<int>(), r(v).to_vector<int>());
  EXPECT_EQ(l(v).item<int>(), -8);
  EXPECT_EQ(function(l)(v).item<int>(), -8);
  EXPECT_EQ(fr(v).item<int>(), 90);
  EXPECT_EQ(function(fr)(v).item<int>(), 90);
  auto grad = [&](Tensor a) {
    GradientTape tape;
    tape.watch(a);
    return tape.gradient(m(a), a).tensor();
  };
  EXPECT_EQ(function(grad)(x).to_vector<float>(), grad(x).to_vector<float>());
}

TEST(AutographTest, ToCodeShowsControlFlow) {
  auto f = function(sum_even, {.name = "sum_even"});
  expect_error<errors::FailedPrecondition>([&] { autograph::to_code(f); }, "has not been traced");
  f(constant({10, 12, 15, 20}));
  const std::string code = autograph::to_code(f);
  for (const char* part : {"auto sum_even(Tensor arg_0 /* int32 [4] */) {", "tf::while_loop(",
                           "tf::cond(", "tf::floormod(", "return "})
    EXPECT_THAT(code, ::testing::HasSubstr(part)) << code;
}

TEST(WhileLoopTest, SumEvenPrintsAsInTheGuide) {
  RILL_SHOWS("Q53");
  const Tensor items = constant({10, 12, 15, 20});
  int eager = 0;  // the host's own loop
  for (const Tensor& c : items) {
    if (c % 2 > 0) continue;
    eager += c.item<int>();
  }
  auto tf_sum_even = function(sum_even);
  EXPECT_EQ(format("Eager result: {:d}\nGraph result: {:d}\n", eager, tf_sum_even(items)),
            "Eager result: 42\nGraph result: 42\n");
}

// The control flow of a function is that of its graph: traced once, run as often as values say.
TEST(CondTest, IsTheHostsEagerlyAndTheGraphsInAFunction) {
  RILL_SHOWS("F11", "F19", "E58");
  int yes = 0, no = 0, turns = 0;
  auto branch = [&](Tensor x) {
    return cond(
        x > 0,
        [&] {
          ++yes;
          return x * 2;
        },
        [&] {
          ++no;
          return -x;
        });
  };
  auto count = [&](Tensor n) {
    return while_loop([&](Tensor i) { return i < n; },
                      [&](Tensor i) {
                        ++turns;
                        return i + 1;
                      },
                      0);
  };
  EXPECT_EQ(branch(constant(3)).item<int>(), 6);
  EXPECT_EQ(count(constant(5)).item<int>(), 5);
  EXPECT_EQ(std::tuple(yes, no, turns), std::tuple(1, 0, 5));
  yes = no = turns = 0;
  auto traced_branch = function(branch);
  auto traced_count = function(count);
  EXPECT_EQ(traced_branch(constant(3)).item<int>(), 6);
  EXPECT_EQ(traced_branch(constant(-3)).item<int>(), 3);
  EXPECT_EQ(traced_count(constant(5)).item<int>(), 5);
  EXPECT_EQ(traced_count(constant(900)).item<int>(), 900);
  EXPECT_EQ(std::tuple(yes, no), std::tuple(1, 1));  // each branch is traced, once
  EXPECT_LE(turns, 2);
  // What decides is known while tracing: plain execution, and no branch in the graph.
  yes = no = 0;
  auto plain = function([&](Tensor x, bool twice) {
    return cond(
        twice,
        [&] {
          ++yes;
          return x * 2;
        },
        [&] {
          ++no;
          return x;
        });
  });
  EXPECT_EQ(plain(constant(4), true).item<int>(), 8);
  EXPECT_EQ(std::tuple(yes, no), std::tuple(1, 0));
  EXPECT_THAT(autograph::to_code(plain), ::testing::Not(::testing::HasSubstr("tf::cond")));
  EXPECT_THAT(autograph::to_code(traced_branch), ::testing::HasSubstr("tf::cond"));
}

TEST(TensorArrayTest, AWriteThatIsNotKeptIsLost) {
  RILL_SHOWS("Z28", "F22");
  auto f = [](bool kept) {
    TensorArray arr(float32, 2, {.element_shape = TensorShape::scalar()});
    arr = arr.write(0, 1.f);
    const TensorArray next = arr.write(1, 2.f);
    return (kept ? next : arr).stack();
  };
  for (const auto& run : {std::function(f), std::function([&](bool kept) {
                            return function([&] { return f(kept); })();
                          })}) {
    EXPECT_EQ(run(true).to_vector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(run(false).to_vector<float>(), (std::vector<float>{1, 0}));
  }
}

}  // namespace
}  // namespace rill
