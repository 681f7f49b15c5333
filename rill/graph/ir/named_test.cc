// Names as TensorFlow 2.15 gives them to `name=` in a tf.function.
#include "rill/graph/ir/named.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/rill.h"

namespace rill {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

// The names of what `f` makes of a vector, except for its argument.
template <class F>
std::vector<std::string> names_in(F f) {
  const ConcreteFunction c = function([=](Tensor x) { return f(x); },
                                      {.input_signature = {{TensorSpec({2}, float32, "x")}}})
                                 .get_concrete_function_for({});
  std::vector<std::string> names;
  for (const std::string& n : import_graph_def(to_graph_def(c)).node_names())
    if (n != c.inputs()[0].name()) names.push_back(n);
  return names;
}

TEST(Named, TheOpOfTheExpressionGetsTheName) {
  EXPECT_THAT(names_in([](Tensor x) { return named("loss", square(x)); }), Contains("loss"));
  EXPECT_THAT(names_in([](Tensor x) { return named("loss", x + 1.f); }), Contains("loss"));
}

TEST(Named, TheAutomaticNameIsFreeAgain) {
  const auto names = names_in([](Tensor x) {
    const Tensor a = named("first", square(x)), b = square(a);
    return named("third", square(b)) + square(b);
  });
  EXPECT_THAT(names, IsSupersetOf({"first", "Square", "third", "Square_1"}));
  EXPECT_THAT(names, Not(Contains("Square_2")));
}

TEST(Named, ANameThatIsTakenIsCounted) {
  EXPECT_THAT(names_in([](Tensor x) { return named("y", square(x)) + named("y", negative(x)); }),
              IsSupersetOf({"y", "y_1"}));
}

TEST(Named, StandsInItsScopes) {
  EXPECT_THAT(names_in([](Tensor x) {
                name_scope s("train");
                return named("loss", square(x));
              }),
              Contains("train/loss"));
}

TEST(Named, WhatIsThereAlreadyGetsAnIdentity) {
  const auto names = names_in([](Tensor x) {
    const Tensor y = square(x);
    return named("again", y) + named("cast", cast(y, float32)) + named("input", identity(x));
  });
  EXPECT_THAT(names, IsSupersetOf({"Square", "again", "cast", "input"}));
}

TEST(Named, NodesOfAFunctionStandBelowTheName) {
  const auto names = names_in([](Tensor x) { return named("norm", norm(x)); });
  EXPECT_TRUE(std::ranges::any_of(names, [](const std::string& n) {
    return n == "norm" || n.starts_with("norm/");
  })) << testing::PrintToString(names);
}

TEST(Named, SeveralResultsShareTheName) {
  const auto names = names_in([](Tensor x) { return named("parts", split(x, 2, 0))[1]; });
  EXPECT_THAT(names, Contains("parts"));
}

TEST(Named, EagerlyNothingHappens) {
  const Tensor x = constant(2.f);
  EXPECT_EQ(named("x", x * 3.f).item<float>(), 6.f);
  EXPECT_EQ(named("x", x).id(), x.id());
  EXPECT_FALSE(named("x", Tensor()).defined());
}

}  // namespace
}  // namespace rill
