#include "rill/eager/variable.h"

#include <limits>
#include <sstream>

#include "rill/core/device.h"
#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/printed.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::errors::InvalidArgument;
using rill::testing::expect_error;

using rill::testing::printed;

namespace {

struct Line {
  tf::Variable w{5.f}, b{tf::constant({1.f})};
};
TEST(VariableTest, BracesAroundOneNumberMakeAScalar) {
  EXPECT_EQ(Line().w.shape(), tf::TensorShape({}));
  EXPECT_EQ(Line().b.shape(), tf::TensorShape({1}));
  EXPECT_EQ(tf::Variable{2}.shape(), tf::TensorShape({}));
  EXPECT_EQ((tf::Variable{0.f, {.name = "v"}}).name(), "v:0");
  EXPECT_EQ(tf::Variable({0.f}).shape(), tf::TensorShape({1}));
  EXPECT_EQ((tf::Variable{{1.f, 2.f}}).shape(), tf::TensorShape({2}));
  EXPECT_EQ(tf::Variable({{1.f}, {2.f}}).shape(), tf::TensorShape({2, 1}));
  EXPECT_EQ(tf::Variable({1.f, 2.f}, {.trainable = false}).trainable(), false);
  const tf::Variable v(1.f);
  EXPECT_EQ(tf::Variable{v}.id(), v.id());  // the same variable
}

// x[0] = y would change a copy: it does not compile.
static_assert(!std::is_assignable_v<tf::Tensor, tf::Tensor> &&
              std::is_assignable_v<tf::Tensor&, tf::Tensor>);
static_assert(!std::is_assignable_v<tf::Nest, tf::Nest> &&
              std::is_assignable_v<tf::Nest&, tf::Nest>);

TEST(Variable, BracesAroundATensorOrAVariableMeanItself) {
  const auto t = tf::constant({{1.f, 2.f}});
  tf::Variable a{t}, b{a}, list({3.f});
  EXPECT_EQ(a.shape(), tf::TensorShape({1, 2}));
  EXPECT_EQ(b.id(), a.id());
  EXPECT_EQ(list.shape(), tf::TensorShape({1}));
}

TEST(Variable, ItsConstraintHoldsAfterEachUpdate) {
  const auto clip = [](const tf::Tensor& t) { return tf::clip_by_value(t, 0.f, 1.f); };
  tf::Variable v(tf::constant({0.5f, 0.5f, 5.f}), {.constraint = clip}), free(0.5f);
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{0.5f, 0.5f, 5.f}));  // not before one
  const auto gradient = tf::constant({1.f, -1.f, 0.f});
  tf::keras::optimizers::SGD sgd({.learning_rate = 1.0});
  sgd.apply_gradients({{gradient, v}, {tf::constant(2.f), free}});
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{0.f, 1.f, 1.f}));
  EXPECT_EQ(free.item<float>(), -1.5f);
  v.assign({0.25f, 0.75f, 1.f});
  tf::compat::v1::train::GradientDescentOptimizer(0.5).apply_gradients({{gradient, v}});
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{0.f, 1.f, 1.f}));
}

TEST(Variable, PrintsAsTensorFlowPrintsIt) {
  RILL_SHOWS("E14", "E15");
  EXPECT_EQ(printed(tf::Variable(0.97637f)),
            "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=0.97637>");
  tf::Variable kernel({{0.40784496f}, {1.191065f}, {1.9742855f}},
                      {.name = "linear_2/dense_1/kernel"}),
      bias({0.78322077f}, {.name = "linear_2/dense_1/bias"});
  EXPECT_EQ(printed(std::vector<tf::Variable>{kernel, bias}),
            "[<tf.Variable 'linear_2/dense_1/kernel:0' shape=(3, 1) dtype=float32, "
            "numpy=\narray([[0.40784496],\n       [1.191065  ],\n"
            "       [1.9742855 ]], dtype=float32)>, <tf.Variable 'linear_2/dense_1/bias:0' "
            "shape=(1,) dtype=float32, "
            "numpy=array([0.78322077], dtype=float32)>]");
}

TEST(Variable, IsMadeFromLiterals) {
  RILL_SHOWS("E24", "E25");
  EXPECT_EQ(tf::Variable({{1.0}}).shape(), tf::TensorShape({1, 1}));
  EXPECT_EQ(tf::Variable(3.).dtype(), tf::float32);
  EXPECT_EQ(tf::Variable(10).dtype(), tf::int32);
  EXPECT_TRUE(tf::Variable({{1.}, {2.}}).trainable());
  EXPECT_EQ(tf::contrib::eager::Variable(5., {.name = "weight"}).name(), "weight:0");
}

TEST(Variable, IsAssigned) {
  RILL_SHOWS("E27");
  tf::Variable v(1.f);
  EXPECT_EQ(v.assign(2.f).item<float>(), 2.f);
  EXPECT_EQ(v.assign_sub(0.5f).item<float>(), 1.5f);
  EXPECT_EQ(v.assign_add(1).item<float>(), 2.5f);
}

TEST(Variable, CopiesShareTheValue) {
  tf::Variable v(1.f), same = v;
  same.assign(5.f);
  EXPECT_EQ(v.item<float>(), 5.f);
  EXPECT_EQ(v.id(), same.id());
}

TEST(Variable, WhatWasReadDoesNotChange) {
  tf::Variable v({1.f, 2.f});
  const tf::Tensor before = v;
  v.assign_add({10.f, 10.f});
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{11, 12}));
}

TEST(Variable, IsUpdatedInPlaceWhenNobodyElseLooks) {
  tf::Variable v(tf::zeros({4}));
  v.assign_add(1.f * tf::ones({4}));  // the zeros were the caller's: copied once
  const void* where = tf::Tensor(v).data<float>().data();
  v.assign_add(tf::ones({4}));
  EXPECT_EQ(tf::Tensor(v).data<float>().data(), where);
}

TEST(Variable, RefusesWhatDoesNotFitAndStaysWhole) {
  tf::Variable v({1.f, 2.f}, {.name = "v"});
  EXPECT_THROW(v.assign({1.f, 2.f, 3.f}), tf::errors::InvalidArgument);
  EXPECT_THROW(v.assign(tf::constant({1, 2})), tf::errors::InvalidArgument);
  EXPECT_THROW(v.assign_add({1.f, 2.f, 3.f}), tf::errors::InvalidArgument);
  try {
    v.assign({1.f, 2.f, 3.f});
  } catch (const tf::errors::InvalidArgument& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("variable \"v:0\" has shape [2], the value has shape [3]"));
  }
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Variable, ReadBeforeAValueIsAnError) {
  tf::Variable empty;
  EXPECT_FALSE(empty.defined());
  EXPECT_THROW(empty.value(), tf::errors::FailedPrecondition);
  const auto waiting = tf::Variable::uninitialized(tf::float32, {2}, {.name = "w"});
  EXPECT_THROW(waiting.value(), tf::errors::FailedPrecondition);
  waiting.assign({1.f, 2.f});
  EXPECT_TRUE(waiting.initialized());
}

TEST(Variable, RowsAreScatteredAndGathered) {
  tf::Variable v({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  v.scatter_add({2, 0}, {{1.f, 1.f}, {10.f, 10.f}});
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{11, 12, 3, 4, 6, 7}));
  v.scatter_update({1}, {{0.f, 0.f}});
  EXPECT_EQ(v.gather({1, 2}).to_vector<float>(), (std::vector<float>{0, 0, 6, 7}));
  EXPECT_THROW(v.scatter_sub({3}, {{1.f, 1.f}}), tf::errors::InvalidArgument);
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(v.gather({1, 1}));
  const auto g = tape.gradient(y, v);
  EXPECT_TRUE(g.is_sparse());
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{0, 0, 2, 2, 0, 0}));
}

// The memory of a variable is free as soon as the last handle is gone.
TEST(Variable, MemoryIsFreedWithTheLastHandle) {
  RILL_SHOWS("E54", "Z62");
  const auto before = tf::memory_stats().bytes_in_use;
  {
    tf::Variable v(tf::zeros({1000, 1000}));
    EXPECT_GE(tf::memory_stats().bytes_in_use, before + 4'000'000);
  }
  EXPECT_EQ(tf::memory_stats().bytes_in_use, before);
}

// A variable of open shape is updated by what fits the value that it holds now.
TEST(Variable, UpdatesMustFitTheValueNotOnlyTheShape) {
  tf::Variable v({1.f, 2.f, 3.f}, {.shape = {tf::None}});
  expect_error<InvalidArgument>(
      [&] { v.assign_add({10.f}); },
      "[assign_add] variable \"Variable:0\" has shape [3], the value has shape [1]");
  tf::Variable m({{1.f, 2.f}, {3.f, 4.f}}, {.shape = {tf::None, tf::None}});
  expect_error<InvalidArgument>([&] { m.scatter_add({0}, {{1.f}}); },
                                "updates have shape [1, 1]; expected [1, 2]");
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(m.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  tf::GradientTape tape;
  const auto y = tf::reduce_sum(m.gather({1}));
  EXPECT_EQ(tape.gradient(y, m).to_vector<float>(), (std::vector<float>{0, 0, 1, 1}));
}

TEST(Variable, RowsMustHaveTheVariablesDtype) {
  tf::Variable v({1.f, 2.f});
  expect_error<InvalidArgument>(
      [&] { v.scatter_add({0}, tf::constant({1.}, tf::float64)); },
      "[scatter_add] variable \"Variable:0\" is float32, updates are float64");
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Variable, IntegerRowsOverZeroAreAnErrorAndChangeNothing) {
  tf::Variable v({6, 7, 8});
  expect_error<InvalidArgument>(
      [&] {
        v.scatter_div({1, 0}, {2, 0});
      },
      "[scatter_div] element 1 of updates is 0 (integer division by zero)");
  EXPECT_EQ(v.to_vector<int>(), (std::vector<int>{6, 7, 8}));
  v.assign({std::numeric_limits<int>::min(), 7, 8});
  v.scatter_div({0}, {-1});  // wraps, as -x does
  EXPECT_EQ(v.to_vector<int>()[0], std::numeric_limits<int>::min());
}

TEST(Variable, UpdatesBeforeThereIsAValueSaySo) {
  tf::Variable v;
  expect_error<tf::errors::FailedPrecondition>(
      [&] { v.assign_add(1.f); }, "[assign_add] this Variable was default-constructed");
  expect_error<tf::errors::FailedPrecondition>(
      [&] { v.scatter_add({0}, {1.f}); }, "[scatter_add] this Variable was default-constructed");
}

// An update runs where the variable is, whatever the scope, so that errors and results come in
// order.
TEST(Variable, IsUpdatedOnItsOwnDevice) {
  tf::Variable v({1.f, 2.f});
  const auto scope = tf::device("/TEST:0");
  v.assign_add({1.f, 1.f});
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_THROW(v.scatter_add({9}, {1.f}), InvalidArgument);
}

// A value for each of two rooms, of which the thread is in one.
class TwoRooms : public tf::VariableStorage {
 public:
  static inline thread_local int room = 0;
  tf::VariableSlot& slot() override { return slots_[room]; }

 private:
  tf::VariableSlot slots_[2];
};

TEST(Variable, EveryAccessAsksTheStorageWhichValueIsMeant) {
  auto* cell = new tf::VariableCell(std::make_unique<TwoRooms>());
  cell->dtype = tf::float32;
  cell->shape = tf::TensorShape({2});
  cell->name = "v:0";
  const auto v = tf::Variable::of_handle(tf::make_resource(tf::Ref<tf::Resource>(cell)));
  auto step = tf::function([&](tf::Tensor x) {
    tf::GradientTape tape;
    const tf::Tensor y = tf::reduce_sum(v.value() * v.value() * x);
    const tf::Tensor g = tape.gradient(y, v);
    v.assign_sub(g);
    return g;
  });
  v.assign({1.f, 2.f});
  TwoRooms::room = 1;
  EXPECT_FALSE(v.initialized());
  expect_error<tf::errors::FailedPrecondition>([&] { v.value(); }, "before it has a value");
  v.assign({10.f, 20.f});
  v.assign_add({1.f, 1.f});
  EXPECT_EQ(step(1.f).to_string(), "[22. 42.]");
  EXPECT_EQ(v.value().to_string(), "[-11. -21.]");
  TwoRooms::room = 0;
  EXPECT_TRUE(v.initialized());
  EXPECT_EQ(v.value().to_string(), "[1. 2.]") << "the other room's value is another one";
  EXPECT_EQ(step(1.f).to_string(), "[2. 4.]");
  EXPECT_EQ(v.value().to_string(), "[-1. -2.]");
}

TEST(Variable, OneThatWasMovedFromSaysSo) {
  tf::Variable v(1.f), w(std::move(v));
  EXPECT_EQ(w.item<float>(), 1.f);
  expect_error<tf::errors::FailedPrecondition>([&] { printed(v); },
                                               "[variable] this Variable was moved from");
  expect_error<tf::errors::FailedPrecondition>([&] { v + 1.f; },
                                               "[variable] this Variable was moved from");
  v = w;
  EXPECT_EQ(v.item<float>(), 1.f);
}

}  // namespace
