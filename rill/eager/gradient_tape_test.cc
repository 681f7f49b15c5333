#include <cmath>
#include <memory>
#include <sstream>
#include <thread>

#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::errors::InvalidArgument;
using rill::testing::expect_error;
using tf::Tensor;

using rill::testing::printed;

namespace {

TEST(GradientTapeTest, BatchJacobian) {
  using namespace rill;
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  // Row i: (x0 x1, x0^2, x1).
  const Tensor a = x(all, 0), b = x(all, 1), y = stack({a * b, a * a, b}, 1);
  const Tensor j = tape.batch_jacobian(y, x);
  EXPECT_EQ(j.shape(), TensorShape({2, 3, 2}));
  EXPECT_EQ(j.to_vector<float>(), (std::vector<float>{2, 1, 2, 0, 0, 1, 4, 3, 6, 0, 0, 1}));
  EXPECT_FALSE(tape.batch_jacobian(constant({{1.f}, {2.f}}), x).defined());
  EXPECT_EQ(
      tape.batch_jacobian(constant({{1.f}, {2.f}}), x, {.unconnected_gradients = "zero"}).shape(),
      TensorShape({2, 1, 2}));
  expect_error<errors::InvalidArgument>([&] { tape.batch_jacobian(a(slice(0, 1)), x); },
                                        "the same number of rows");
}

TEST(GradientTapeTest, RecomputedValuesHaveTheSameGradients) {
  using namespace rill;
  const Variable w(3.f);
  int runs = 0;
  const auto f = [&](const Tensor& x) {
    ++runs;
    return sin(x * w) * x;
  };
  const auto again = recompute_grad([&](Tensor x) { return f(x); });
  const Tensor x = constant({1.f, 2.f});
  EXPECT_EQ(again(x).to_vector<float>(), f(x).to_vector<float>());
  EXPECT_EQ(runs, 2);
  const auto gradients = [&](auto&& g) {
    GradientTape outer({.persistent = true});
    outer.watch(x);
    Tensor dx, dw;
    {
      GradientTape tape({.persistent = true});
      tape.watch(x);
      const Tensor y = reduce_sum(square(g(x)));
      dx = tape.gradient(y, x);
      dw = tape.gradient(y, w);
    }
    std::vector<float> all = dx.to_vector<float>();
    all.push_back(dw.item<float>());
    for (const float v : Tensor(outer.gradient(dx, x)).to_vector<float>()) all.push_back(v);
    return all;
  };
  const std::vector<float> want = gradients(f), got = gradients(again);
  ASSERT_EQ(want.size(), 5u);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-4f) << i;
}

TEST(GradientTapeTest, GradientsUnpack) {
  using namespace rill;
  const Variable w(2.f), b(1.f);
  GradientTape tape;
  const Tensor y = w * 3.f + b;
  const auto [dw, db] = tape.gradient(y, {w, b}).unpack<2>();
  EXPECT_EQ(dw.tensor().item<float>(), 3);
  EXPECT_EQ(db.tensor().item<float>(), 1);
  Gradients list{dw};
  expect_error<errors::InvalidArgument>([&] { list.unpack<2>(); }, "there are 1 gradients");
}

TEST(GradientTape, GradientsArePrintedAsAList) {
  auto grad = tf::gradients_function([](Tensor x, Tensor) { return x * x; });
  EXPECT_EQ(printed(grad(3.f, 1.f)), "[tf.Tensor(6.0, shape=(), dtype=float32), None]");
}

TEST(GradientTape, DifferentiatesAVariable) {
  RILL_SHOWS("E29", "E35", "Q06");
  tf::Variable w({{1.0f}});
  tf::GradientTape tape;
  const auto loss = w * w;
  const auto g = tape.gradient(loss, w);
  EXPECT_EQ(printed(g), "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)");
  tf::Variable x(3.f);
  tf::GradientTape second;
  const auto y = tf::square(x);
  EXPECT_EQ(y.item<float>(), 9.f);
  EXPECT_EQ(second.gradient(y, x).item<float>(), 6.f);
}

TEST(GradientTape, SecondUseOfANonPersistentTapeIsAnError) {
  RILL_SHOWS("E30", "Z03");
  tf::Variable w(1.f);
  tf::GradientTape tape;
  const auto loss = w * w;
  tape.gradient(loss, w);
  try {
    tape.gradient(loss, w);
    ADD_FAILURE() << "no error";
  } catch (const tf::errors::FailedPrecondition& e) {
    EXPECT_STREQ(e.what(),
                 "GradientTape.gradient can only be called once on non-persistent tapes.");
  }
}

TEST(GradientTape, PersistentTapeMayBeUsedAgain) {
  RILL_SHOWS("E31");
  tf::Variable x(3.f);
  tf::GradientTape tape({.persistent = true});
  const auto y = x * x, z = y * y;
  EXPECT_EQ(tape.gradient(z, x).item<float>(), 108.f);
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 6.f);
  EXPECT_EQ(tape.gradient(z, y).item<float>(), 18.f);  // an intermediate result
}

TEST(GradientTape, ListOfSourcesGivesListOfGradients) {
  RILL_SHOWS("E32", "Q33");
  const auto X = tf::constant({{1.f, 2.f}, {3.f, 4.f}}), y = tf::constant({{1.f}, {2.f}});
  tf::Variable w({{1.f}, {2.f}}), b(1.f);
  tf::GradientTape tape;
  const auto L = tf::reduce_sum(tf::square(tf::matmul(X, w) + b - y));
  const auto g = tape.gradient(L, {w, b});
  EXPECT_EQ(L.item<float>(), 125.f);
  EXPECT_EQ(printed(g[0]), "tf.Tensor(\n[[ 70.]\n [100.]], shape=(2, 1), dtype=float32)");
  EXPECT_EQ(g[1].item<float>(), 30.f);
}

TEST(GradientTape, WatchesTensors) {
  RILL_SHOWS("E33");
  const auto x = tf::constant({1.f, 2.f});
  {
    tf::GradientTape tape;
    const auto y = tf::reduce_sum(x * x * x);
    EXPECT_FALSE(tape.gradient(y, x).defined());
  }
  tf::GradientTape tape;
  tape.watch(x);
  const auto y = tf::reduce_sum(x * x * x);
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), (std::vector<float>{3, 12}));
}

TEST(GradientTape, VariablesAreWatchedByDefault) {
  RILL_SHOWS("E28", "E34");
  tf::Variable w(2.f), frozen(3.f, {.trainable = false});
  tf::GradientTape tape;
  const auto y = w * frozen;
  const auto g = tape.gradient(y, {w, frozen});
  EXPECT_EQ(g[0].item<float>(), 3.f);
  EXPECT_FALSE(g[1].defined());
  tf::GradientTape off({.watch_accessed_variables = false});
  const auto z = w * 2.f;
  EXPECT_FALSE(off.gradient(z, w).defined());
}

TEST(GradientTape, BroadcastScalarGetsTheSum) {
  RILL_SHOWS("E69");
  tf::Variable a(2.f), b(1.f);
  const auto X = tf::constant({1.f, 2.f, 3.f});
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(a * X + b);
  const auto g = tape.gradient(y, {a, b});
  EXPECT_EQ(g[0].item<float>(), 6.f);
  EXPECT_EQ(g[1].item<float>(), 3.f);
}

TEST(GradientTape, UnconnectedGradientsAreNoneOrZero) {
  tf::Variable a(2.f), b({1.f, 2.f});
  tf::GradientTape tape({.persistent = true});
  const auto y = a * a;
  EXPECT_FALSE(tape.gradient(y, b).defined());
  EXPECT_EQ(tape.gradient(y, b, {.unconnected_gradients = "zero"}).to_vector<float>(),
            (std::vector<float>{0, 0}));
  EXPECT_THROW(tape.gradient(y, b, {.unconnected_gradients = "nothing"}),
               tf::errors::InvalidArgument);
}

TEST(GradientTape, OutputGradientsWeighTheTarget) {
  const auto x = tf::constant({1.f, 2.f});
  tf::GradientTape tape;
  tape.watch(x);
  const auto y = x * x;
  EXPECT_EQ(tape.gradient(y, x, {.output_gradients = tf::constant({10.f, 1.f})}).to_vector<float>(),
            (std::vector<float>{20, 4}));
}

TEST(GradientTape, NestedTapesGiveHigherOrders) {
  tf::Variable x(2.f);
  tf::GradientTape outer;
  Tensor first;
  {
    tf::GradientTape inner;
    const auto y = x * x * x;
    first = inner.gradient(y, x);
  }
  EXPECT_EQ(first.item<float>(), 12.f);
  EXPECT_EQ(outer.gradient(first, x).item<float>(), 12.f);
}

TEST(GradientTape, StopRecordingAndReset) {
  tf::Variable x(2.f);
  tf::GradientTape tape({.persistent = true});
  Tensor hidden;
  {
    auto pause = tape.stop_recording();
    hidden = x * x;
  }
  EXPECT_FALSE(tape.gradient(hidden, x).defined());
  tape.reset();
  const auto y = x * 3.f;
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 3.f);
}

TEST(GradientTape, StopGradientCuts) {
  tf::Variable x(2.f);
  tf::GradientTape tape;
  const auto y = tf::stop_gradient(x * x) * x;
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 4.f);
}

TEST(GradientTape, Jacobian) {
  const auto x = tf::constant({1.f, 2.f, 3.f});
  tf::GradientTape tape;
  tape.watch(x);
  const auto y = x * x;
  const auto j = tape.jacobian(y, x);
  EXPECT_EQ(j.shape(), tf::TensorShape({3, 3}));
  EXPECT_EQ(j.to_vector<float>(), (std::vector<float>{2, 0, 0, 0, 4, 0, 0, 0, 6}));
}

TEST(GradientTape, GathersStaySparse) {
  tf::Variable table({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(tf::gather(table, {2, 0, 2}) * 2.f);
  const auto g = tape.gradient(y, table);
  ASSERT_TRUE(g.is_sparse());
  EXPECT_EQ(g.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(g.slices().indices.to_vector<int>(), (std::vector<int>{2, 0, 2}));
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{2, 2, 0, 0, 4, 4}));  // dense where asked
}

TEST(GradientTape, WhyNoneSaysWhereThePathIsCut) {
  const auto x = tf::constant({1.5f, 2.5f});
  tf::GradientTape tape;
  tape.watch(x);
  const auto whole = tf::cast(x, tf::int32);
  const int line = __LINE__ - 1;
  const auto y = tf::reduce_sum(tf::cast(whole, tf::float32));
  const std::string why = tape.why_none(y, x);
  EXPECT_THAT(why, testing::HasSubstr("the path is cut at cast"));
  EXPECT_THAT(why, testing::HasSubstr("gradient_tape_test.cc:" + std::to_string(line)));
  tf::Variable never(1.f);
  EXPECT_THAT(tape.why_none(y, never), testing::HasSubstr("was not read"));
  const auto unwatched = tf::constant(1.f);
  EXPECT_THAT(tape.why_none(y, unwatched), testing::HasSubstr("not watched"));
}

TEST(GradientFunctions, FirstToThirdOrder) {
  RILL_SHOWS("E36", "E37", "E38");
  auto grad = tf::gradients_function([](Tensor x) { return x * x; });
  auto gradgrad = tf::gradients_function([=](Tensor x) { return Tensor(grad(x)[0]); });
  auto gradgradgrad = tf::gradients_function([=](Tensor x) { return Tensor(gradgrad(x)[0]); });
  EXPECT_EQ(grad(3.f)[0].item<float>(), 6.f);
  EXPECT_EQ(gradgrad(3.f)[0].item<float>(), 2.f);
  EXPECT_FALSE(gradgradgrad(3.f)[0].defined());
}

TEST(GradientFunctions, FlowControlIsTheLanguages) {
  RILL_SHOWS("E39", "Q14");
  auto grad = tf::gradients_function([](Tensor x) { return x > 0.f ? x : -x; });
  EXPECT_EQ(grad(3.f)[0].item<float>(), 1.f);
  EXPECT_EQ(grad(-3.f)[0].item<float>(), -1.f);
}

TEST(GradientFunctions, ArgumentsMustBeFloats) {
  RILL_SHOWS("E40", "Z04");
  auto grad = tf::gradients_function([](Tensor x) { return x * x; });
  try {
    grad(3);
    ADD_FAILURE() << "no error";
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("argument 0 has dtype int32; arguments must be floating-point"));
  }
}

TEST(GradientFunctions, ValueAndGradients) {
  RILL_SHOWS("E41", "E42", "Q16");
  const auto [value, grads] = tf::value_and_gradients_function([](Tensor x) { return x * x; })(3.f);
  EXPECT_EQ(value.item<float>(), 9.f);
  EXPECT_EQ(grads[0].item<float>(), 6.f);
  const auto [f, g] = tf::value_and_gradients_function(
      [](Tensor x, Tensor y) { return x * x * x * y - x * y * y; })(2.f, 3.f);
  EXPECT_EQ(f.item<float>(), 6.f);
  EXPECT_EQ(g[0].item<float>(), 27.f);
  EXPECT_EQ(g[1].item<float>(), -4.f);
}

TEST(GradientFunctions, ImplicitGradientsFindTheVariables) {
  RILL_SHOWS("E43", "E44", "E62");
  namespace tfe = tf::contrib::eager;
  tf::Variable w(2.f), b(1.f);
  auto grads = tfe::implicit_gradients([&](Tensor x) { return w * x + b; })(3.f);
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads[0].first.item<float>(), 3.f);
  EXPECT_EQ(grads[0].second.id(), w.id());
  EXPECT_EQ(grads[1].first.item<float>(), 1.f);
  const auto [value, pairs] =
      tfe::implicit_value_and_gradients([&](Tensor x) { return w * x + b; })(3.f);
  EXPECT_EQ(value.item<float>(), 7.f);
  EXPECT_EQ(pairs.size(), 2u);
  // Of those that are to be trained only.
  const tf::Variable frozen(5.f, {.trainable = false});
  const auto rest = tfe::implicit_gradients([&](Tensor x) { return frozen * x + b; })(3.f);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].second.id(), b.id());
}

TEST(CustomGradient, ReplacesTheGradient) {
  RILL_SHOWS("E46");
  auto clip = tf::custom_gradient([](Tensor x, Tensor norm) {
    return std::pair(tf::identity(x), [=](Tensor dy) {
      return std::vector<Tensor>{tf::clip_by_norm(dy, norm), {}};
    });
  });
  const auto x = tf::constant({3.f, 4.f}), norm = tf::constant(1.f);
  tf::GradientTape tape;
  tape.watch({x, norm});
  const auto y = clip(x, norm) * tf::constant({3.f, 4.f});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{9, 16}));
  const auto g = tape.gradient(y, {x, norm});
  EXPECT_NEAR(g[0].to_vector<float>()[0], 0.6f, 1e-6);
  EXPECT_NEAR(g[0].to_vector<float>()[1], 0.8f, 1e-6);
  EXPECT_FALSE(g[1].defined());
}

TEST(CustomGradient, UnstableFormulaGivesNanAndStableDoesNot) {
  RILL_SHOWS("E47", "E48", "E49");
  auto grad = tf::gradients_function([](Tensor x) { return tf::log(1.f + tf::exp(x)); });
  EXPECT_EQ(grad(0.f)[0].item<float>(), 0.5f);
  EXPECT_TRUE(std::isnan(grad(100.f)[0].item<float>()));
  auto log1pexp = tf::custom_gradient([](Tensor x) {
    const auto e = tf::exp(x);
    return std::pair(tf::log(1.f + e), [=](Tensor dy) { return dy * (1.f - 1.f / (1.f + e)); });
  });
  auto stable = tf::gradients_function([=](Tensor x) { return log1pexp(x); });
  EXPECT_EQ(stable(0.f)[0].item<float>(), 0.5f);
  EXPECT_EQ(stable(100.f)[0].item<float>(), 1.f);
}

TEST(GradientTape, UndefinedTensorsAreErrors) {
  const auto x = tf::constant(3.f);
  tf::GradientTape tape({.persistent = true});
  tape.watch(x);
  const auto y = x * x;
  expect_error<InvalidArgument>([&] { tape.gradient(y, Tensor()); },
                                "[gradient] a source is undefined");
  expect_error<InvalidArgument>([&] { tape.gradient(Tensor(), x); },
                                "[gradient] target 0 is undefined");
  expect_error<InvalidArgument>([&] { tape.jacobian(y, Tensor()); },
                                "[jacobian] a source is undefined");
  expect_error<InvalidArgument>([&] { tape.jacobian(Tensor(), x); },
                                "[jacobian] the target is undefined");
  expect_error<InvalidArgument>([&] { tape.watch(Tensor()); }, "[watch] a source is undefined");
  expect_error<InvalidArgument>([&] { tape.why_none(y, Tensor()); },
                                "[why_none] a source is undefined");
}

TEST(GradientTape, OutputGradientsMustHaveTheTargetsDtype) {
  const auto x = tf::constant({1.f, 2.f});
  tf::GradientTape tape;
  tape.watch(x);
  const auto y = x * x;
  expect_error<InvalidArgument>(
      [&] {
        tape.gradient(y, x, {.output_gradients = {tf::constant({1, 2})}});
      },
      "output_gradients[0] is int32, its target float32");
}

TEST(GradientTape, APersistentTapeGoesOnAfterAJacobianThatThrew) {
  auto bad = tf::custom_gradient([](Tensor x) {
    return std::pair(x * x, [=](Tensor dy) { return std::vector<Tensor>{dy, dy}; });
  });
  const auto x = tf::constant(3.f);
  tf::GradientTape tape({.persistent = true});
  tape.watch(x);
  const auto y = bad(x);
  EXPECT_THROW(tape.jacobian(y, x), InvalidArgument);
  const auto z = x * x;
  EXPECT_EQ(tape.gradient(z, x).item<float>(), 6.f);
}

TEST(GradientTape, AnUnconnectedJacobianHasTheSourcesDtype) {
  const auto x = tf::constant({1.f, 2.f}), y = tf::constant({1., 2., 3.}, tf::float64);
  tf::GradientTape tape;
  tape.watch({x, y});
  const auto j = tape.jacobian(y * 2, x, {.unconnected_gradients = "zero"});
  EXPECT_EQ(j.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(j.dtype(), tf::float32);
}

// A tape that another thread destroys, or asks for its gradient.
TEST(GradientTape, OtherThreadsMayEndIt) {
  const auto x = tf::constant(3.f);
  auto tape = std::make_unique<tf::GradientTape>();
  tape->watch(x);
  std::thread([&] { tape.reset(); }).join();
  std::vector<Tensor> keep;
  for (int i = 0; i < 100; ++i) keep.push_back(x * x);  // records into nothing

  std::thread([&] {
    tape = std::make_unique<tf::GradientTape>();
    tape->watch(x);
  }).join();
  EXPECT_FALSE(tape->gradient(x * x, x).defined());  // its thread has ended
  tape.reset();

  auto persistent = std::make_unique<tf::GradientTape>(tf::TapeOptions{.persistent = true});
  persistent->watch(x);
  Tensor y = x * x;
  std::thread([&] {
    EXPECT_EQ(persistent->gradient(y, x).item<float>(), 6.f);
    y = y * x;  // not recorded: the tape is the first thread's
  }).join();
  EXPECT_FALSE(persistent->gradient(y, x).defined());
  const auto z = x * x * x;
  EXPECT_EQ(persistent->gradient(z, x).item<float>(), 27.f);
}

// A branch that was not taken sends 0 back, which no pole multiplies: TensorFlow's numbers.
TEST(GradientTape, NothingComesBackThroughAPole) {
  const auto a = tf::constant({0.f, 4.f});
  const auto slope = [&](auto f) {
    tf::GradientTape tape;
    tape.watch(a);
    const Tensor y = f(a);
    return Tensor(tape.gradient(y, a)).to_vector<float>();
  };
  const auto taken = [&](auto f) {
    return slope([&](const Tensor& x) { return tf::where(x > 0, f(x), 0.f); });
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(taken([](const Tensor& x) { return tf::sqrt(x); }), (Floats{0, 0.25f}));
  EXPECT_EQ(taken([](const Tensor& x) { return tf::math::rsqrt(x); }), (Floats{0, -0.0625f}));
  EXPECT_EQ(taken([](const Tensor& x) { return tf::math::reciprocal(x); }), (Floats{0, -0.0625f}));
  EXPECT_EQ(taken([](const Tensor& x) { return tf::norm(tf::expand_dims(x, 1), {.axis = {1}}); }),
            (Floats{0, 1}));
  EXPECT_EQ(slope([](const Tensor& x) { return tf::square(tf::sqrt(x)); }), (Floats{0, 1}));
  // In a graph too.
  const auto f = tf::function([&](Tensor x) {
    tf::GradientTape tape;
    tape.watch(x);
    const Tensor y = tf::where(x > 0, tf::sqrt(x) * 2.f, 0.f);
    return Tensor(tape.gradient(y, x)) * 3.f;
  });
  EXPECT_EQ(Tensor(f(a)).to_vector<float>(), (Floats{0, 1.5f}));
}

TEST(GradientTape, WatchingAnIntegerHasNoGradient) {
  const auto x = tf::constant(3);
  tf::GradientTape tape;
  tape.watch(x);
  EXPECT_FALSE(tape.gradient(x * 2, x).defined());
}

TEST(CustomGradient, IsNotRecordedWhereRecordingIsStopped) {
  auto square = tf::custom_gradient(
      [](Tensor x) { return std::pair(x * x, [=](Tensor dy) { return dy * 2 * x; }); });
  const auto x = tf::constant(3.f);
  tf::GradientTape tape;
  tape.watch(x);
  Tensor y;
  {
    tf::StopRecordingScope none;
    y = square(x);
  }
  EXPECT_FALSE(tape.gradient(y, x).defined());
}

}  // namespace
