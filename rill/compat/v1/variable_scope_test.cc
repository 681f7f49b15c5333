#include "rill/compat/v1/variable_scope.h"

#include <thread>

#include "rill/graph/ir/name_scope.h"
#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
namespace v1 = tf::compat::v1;
using rill::testing::expect_error;
using tf::Tensor;
using tf::errors::InvalidArgument;

namespace {

std::vector<std::string> names(const std::vector<tf::Variable>& variables) {
  std::vector<std::string> out;
  for (const tf::Variable& v : variables) out.push_back(v.name());
  return out;
}
using Names = std::vector<std::string>;

// As in a graph of TensorFlow 1.
const v1::VariableStoreOptions strict{.reuse = false};

TEST(VariableScope, NamesTheVariablesInIt) {
  RILL_SHOWS("G31", "G35");
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  {
    v1::variable_scope foo("foo");
    v1::variable_scope bar("bar");
    const auto v = v1::get_variable("v", {1});
    EXPECT_EQ(v.name(), "foo/bar/v:0");
    EXPECT_EQ(bar.name(), "foo/bar");
  }
  v1::variable_scope foo("foo");
  const auto v = v1::get_variable("v", {2, 3}, {.initializer = v1::constant_initializer(7)});
  EXPECT_EQ(v.name(), "foo/v:0");
  EXPECT_EQ(v.dtype(), tf::float32);
  EXPECT_EQ(v.to_vector<float>(), std::vector<float>(6, 7.f));
  EXPECT_EQ(names(store.variables()), (Names{"foo/bar/v:0", "foo/v:0"}));
}

TEST(VariableScope, SharesWhatItIsToldToReuse) {
  RILL_SHOWS("G32", "G33");
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  tf::Variable v;
  {
    v1::variable_scope foo("foo");
    v = v1::get_variable("v", {1});
    v1::get_variable_scope().reuse_variables();
    EXPECT_EQ(v1::get_variable("v", {1}).id(), v.id());
    v1::variable_scope within("bar", {.reuse = false});
    EXPECT_TRUE(within.scope().reuse().yes());  // is not undone within
  }
  v1::variable_scope foo("foo", {.reuse = true});
  EXPECT_EQ(v1::get_variable("v").id(), v.id());  // needs no shape
  v.assign({5.f});
  EXPECT_EQ(v1::get_variable("v").item<float>(), 5.f);
}

TEST(VariableScope, RefusesANameThatIsTaken) {
  RILL_SHOWS("G34", "Z41");
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  const v1::variable_scope foo("foo", {.reuse = false});
  v1::get_variable("v", {1});
  expect_error<InvalidArgument>(
      [] { v1::get_variable("v", {1}); },
      "[get_variable] foo/v:0 already exists! To share it, open its scope with reuse = true or "
      "AUTO_REUSE");
  EXPECT_EQ(store.variables().size(), 1u);
}

TEST(VariableScope, RefusesToReuseWhatIsNotThere) {
  RILL_SHOWS("G36");
  const v1::VariableStore store;
  const auto variables = store.as_default();
  const v1::variable_scope foo("foo", {.reuse = true});
  expect_error<InvalidArgument>([] { v1::get_variable("v", {1}); },
                                "foo/v:0 does not exist, or was not made by get_variable");
}

TEST(VariableScope, SharedVariablesMustFit) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  v1::get_variable("v", {2});
  EXPECT_EQ(v1::get_variable("v", {tf::None}).shape(), tf::TensorShape({2}));
  expect_error<InvalidArgument>([] { v1::get_variable("v", {3}); },
                                "v:0 is shared, but has shape [2]; asked for was [3]");
  expect_error<InvalidArgument>([] { v1::get_variable("v", {2}, {.dtype = tf::float64}); },
                                "v:0 is shared, but has dtype float32; asked for was float64");
}

TEST(VariableScope, NewVariablesNeedAShapeAndAnInitializer) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  expect_error<InvalidArgument>([] { v1::get_variable("a"); },
                                "a is new: its shape must be given, with all its sizes");
  expect_error<InvalidArgument>([] { v1::get_variable("a", {tf::None, 2}); }, "got [?, 2]");
  const Tensor value = tf::constant({1, 2});
  expect_error<InvalidArgument>([&] { v1::get_variable("a", {2}, {.initializer = value}); },
                                "no shape is given beside it");
  expect_error<InvalidArgument>(
      [&] { v1::get_variable("a", {}, {.initializer = value, .dtype = tf::float32}); },
      "a tensor of int32, and dtype says float32");
  expect_error<InvalidArgument>([] { v1::get_variable(""); }, "needs a name");
  EXPECT_TRUE(store.variables().empty());

  EXPECT_EQ(v1::get_variable("a", {}, {.initializer = value}).dtype(), tf::int32);
  EXPECT_EQ(v1::get_variable("i", {2}, {.dtype = tf::int32}).to_vector<int>(),
            (std::vector<int>{0, 0}));
  EXPECT_EQ(v1::get_variable("b", {1}, {.dtype = tf::bool_}).item<bool>(), false);
  EXPECT_EQ(v1::get_variable("s", {1}, {.dtype = tf::string}).item<std::string>(), "");
  // glorot_uniform: within sqrt(6 / (in + out)), and not all the same.
  const auto glorot = v1::get_variable("g", {100, 50}).value();
  EXPECT_LE(tf::reduce_max(tf::abs(glorot)).item<float>(), 0.2f);
  EXPECT_GT(tf::reduce_max(glorot).item<float>(), 0.19f);
}

TEST(VariableScope, GivesItsDefaultsToWhatIsWithin) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  const v1::variable_scope outer("outer", {.initializer = v1::constant_initializer(3),
                                           .regularizer = tf::keras::regularizers::L2(0.5),
                                           .dtype = tf::float64});
  const v1::variable_scope inner("inner");
  const auto v = v1::get_variable("c", {2});
  EXPECT_EQ(v.dtype(), tf::float64);
  EXPECT_EQ(v.to_vector<double>(), (std::vector<double>{3, 3}));
  const auto w = v1::get_variable("w", {1}, {.initializer = "ones", .regularizer = "l1"});
  EXPECT_EQ(w.item<double>(), 1);
  ASSERT_EQ(tf::losses::get_regularization_losses().size(), 2u);
  EXPECT_NEAR(tf::losses::get_regularization_loss().item<double>(), 9 + 0.01, 1e-7);
}

TEST(VariableScope, DefaultNamesAreMadeUnique) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  const auto fresh = [] { return v1::variable_scope("", {.default_name = "net"}).name(); };
  EXPECT_EQ(fresh(), "net");
  EXPECT_EQ(fresh(), "net_1");
  EXPECT_EQ(v1::variable_scope("net").name(), "net");
  EXPECT_EQ(fresh(), "net_2");
  {
    const v1::variable_scope foo("foo");
    EXPECT_EQ(fresh(), "foo/net");
    EXPECT_EQ(fresh(), "foo/net_1");
  }
  const v1::variable_scope foo("foo");  // counts again
  EXPECT_EQ(fresh(), "foo/net");
  expect_error<InvalidArgument>(
      [] { v1::variable_scope scope("", {.default_name = "a", .reuse = true}); },
      "reuse = true needs a name");
}

// As TensorFlow has it: the part without letters is there, but names no ops.
TEST(VariableScope, MayHaveAnEmptyName) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  {
    const v1::variable_scope top("");
    EXPECT_EQ(top.name(), "");
    EXPECT_EQ(v1::get_variable("x", {1}).name(), "x:0");
    EXPECT_EQ(tf::join_scope("op"), "op");
  }
  const v1::variable_scope outer("a");
  const v1::variable_scope empty("");
  EXPECT_EQ(empty.name(), "a/");
  EXPECT_EQ(v1::get_variable("x", {1}).name(), "a//x:0");
  EXPECT_EQ(tf::join_scope("op"), "a/op");
  const v1::variable_scope inner("d");
  EXPECT_EQ(inner.name(), "a//d");
  EXPECT_EQ(v1::get_variable("x", {1}).name(), "a//d/x:0");
  EXPECT_EQ(tf::join_scope("op"), "a/d/op");
}

TEST(VariableScope, IsEnteredAgainFromWherever) {
  const v1::VariableStore store(strict);
  const auto variables = store.as_default();
  const auto scope = v1::variable_scope("foo").scope();
  v1::variable_scope elsewhere("bar");
  tf::Variable v;
  {
    const v1::variable_scope again(scope);
    v = v1::get_variable("v", {1});
    EXPECT_EQ(v.name(), "foo/v:0");
  }
  const v1::variable_scope again(scope, {.reuse = tf::AUTO_REUSE});
  EXPECT_EQ(v1::get_variable("v", {1}).id(), v.id());
  EXPECT_EQ(v1::get_variable("w", {1}).name(), "foo/w:0");
}

TEST(VariableScope, WithoutAStoreNothingIsShared) {
  const auto a = v1::get_variable("v", {2}), b = v1::get_variable("v", {2});
  EXPECT_EQ(a.name(), "v:0");
  EXPECT_NE(a.id(), b.id());
  expect_error<InvalidArgument>(
      [] {
        const v1::variable_scope foo("foo", {.reuse = true});
        v1::get_variable("v", {2});
      },
      "without a default VariableStore nothing keeps variables to share");
  EXPECT_TRUE(tf::losses::get_regularization_losses().empty());
  EXPECT_EQ(tf::losses::get_regularization_loss().item<float>(), 0.f);
}

TEST(VariableStore, ConstraintsAndTrainabilityReachTheVariables) {
  const v1::VariableStore store;
  const auto variables = store.as_default();
  const auto v = v1::get_variable("v", {1}, {.initializer = "ones", .constraint = "non_neg"});
  const auto fixed = v1::get_variable("fixed", {1}, {.trainable = false});
  EXPECT_EQ(names(store.trainable_variables()), Names{"v:0"});
  EXPECT_EQ(names(store.non_trainable_variables()), Names{"fixed:0"});
  v1::train::GradientDescentOptimizer(1.0).apply_gradients({{tf::constant({5.f}), v}});
  EXPECT_EQ(v.item<float>(), 0.f);
}

TEST(VariableStore, ThreadsShareOneVariable) {
  const v1::VariableStore store;
  std::vector<std::uint64_t> ids(4);
  std::vector<std::thread> threads;
  for (auto& id : ids)
    threads.emplace_back([&] {
      const auto variables = store.as_default();
      const v1::variable_scope foo("foo");
      id = v1::get_variable("v", {3}).id();
    });
  for (auto& t : threads) t.join();
  for (const auto id : ids) EXPECT_EQ(id, ids[0]);
  EXPECT_EQ(store.variables().size(), 1u);
}

TEST(VariableStore, IsSavedInCheckpoints) {
  const std::string folder = rill::saving_tests::fresh_folder("variable_store");
  const auto fill = [](const v1::VariableStore& store, float value) {
    const auto variables = store.as_default();
    const v1::variable_scope foo("foo");
    v1::get_variable("v", {2}).assign({value, value});
  };
  const v1::VariableStore saved, read, late;
  fill(saved, 3);
  const std::string path = tf::train::Checkpoint({{"store", saved}}).save(folder + "/ckpt");
  fill(read, 0);
  tf::train::Checkpoint({{"store", read}}).restore(path).assert_consumed();
  EXPECT_EQ(read.variables()[0].to_vector<float>(), (std::vector<float>{3, 3}));
  // Made after the restore, it takes its value then.
  tf::train::Checkpoint({{"store", late}}).restore(path);
  const auto variables = late.as_default();
  const v1::variable_scope foo("foo");
  EXPECT_EQ(v1::get_variable("v", {2}).to_vector<float>(), (std::vector<float>{3, 3}));
}

}  // namespace
