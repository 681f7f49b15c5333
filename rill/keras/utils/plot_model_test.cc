#include "rill/keras/utils/plot_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/io/file.h"
#include "rill/keras/layers/layers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"

namespace rill::keras {
namespace {

using layers::Dense;
using ::testing::HasSubstr;
using ::testing::Not;
using utils::model_to_dot;

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
// The id of the box that shows this name.
std::string id_of(const std::string& dot, const std::string& name) {
  const std::size_t at = dot.find("<B>" + name + "</B>");
  EXPECT_NE(at, dot.npos) << name << " in\n" << dot;
  if (at == dot.npos) return "?";
  const std::size_t line = dot.rfind('\n', at) + 1;
  const std::size_t from = dot.find_first_not_of(' ', line);
  return dot.substr(from, dot.find(' ', from) - from);
}
std::string edge(const std::string& dot, const std::string& from, const std::string& to) {
  return id_of(dot, from) + " -> " + id_of(dot, to) + ";";
}

Sequential stack() {
  return Sequential({Dense(8, {.activation = "relu", .input_shape = {4}, .name = "first"}),
                     Dense(2, {.name = "second"})},
                    "stack");
}

TEST(PlotModel, AStackIsAChainFromItsInput) {
  const std::string dot = model_to_dot(stack());
  EXPECT_THAT(dot, HasSubstr(edge(dot, "first_input", "first")));
  EXPECT_THAT(dot, HasSubstr(edge(dot, "first", "second")));
  EXPECT_EQ(count(dot, " -> "), 2);
  EXPECT_EQ(count(dot, "label=<<TABLE"), 3);
  EXPECT_THAT(dot, HasSubstr("dpi=96"));
  EXPECT_THAT(dot, HasSubstr("rankdir=TB"));
  EXPECT_THAT(dot, Not(HasSubstr("None")));
  EXPECT_THAT(dot, Not(HasSubstr("relu")));
}

TEST(PlotModel, ShowsWhatIsAskedFor) {
  Sequential m = stack();
  m.get_layer("second")->set_trainable(false);
  const std::string dot = model_to_dot(m, {.show_shapes = true,
                                           .show_dtype = true,
                                           .rankdir = "LR",
                                           .dpi = 200,
                                           .show_layer_activations = true,
                                           .show_trainable = true});
  EXPECT_THAT(dot, HasSubstr("(None, 4) float32"));
  EXPECT_THAT(dot, HasSubstr("(None, 8) float32"));
  EXPECT_THAT(dot, HasSubstr("Dense \xc2\xb7 relu"));
  EXPECT_EQ(count(dot, ">trainable<"), 1);
  EXPECT_EQ(count(dot, ">frozen<"), 1);
  EXPECT_THAT(dot, HasSubstr("rankdir=LR, dpi=200"));
  const std::string bare = model_to_dot(m, {.show_layer_names = false});
  EXPECT_THAT(bare, Not(HasSubstr("first")));
  EXPECT_EQ(count(bare, "<B>Dense</B>"), 2);
}

TEST(PlotModel, SharedLayersAndSeveralOutputs) {
  const Tensor a = Input({4}, {.name = "a"}), b = Input({4}, {.name = "b"});
  const Dense shared(3, {.name = "shared"});
  const Tensor x = shared(a), y = shared(b);
  const Model m(Nest{a, b},
                Nest{Dense(1, {.name = "out1"})(x), layers::Add({.name = "out2"})({x, y})});
  const std::string dot = model_to_dot(m, {.show_shapes = true});
  EXPECT_EQ(count(dot, "<B>shared</B>"), 1);
  for (const auto& [from, to] : {std::pair("a", "shared"), std::pair("b", "shared"),
                                 std::pair("shared", "out1"), std::pair("shared", "out2")})
    EXPECT_THAT(dot, HasSubstr(edge(dot, from, to)));
  EXPECT_EQ(count(dot, " -> "), 4);
  // Two inputs stand below each other.
  EXPECT_THAT(dot, HasSubstr("(None, 3)<BR ALIGN=\"LEFT\"/>(None, 3)"));
}

Model nested() {
  const Tensor i = Input({4}, {.name = "i"});
  const Model block(i, Nest{Dense(4, {.name = "left"})(i), Dense(4, {.name = "right"})(i)},
                    "block");
  const Tensor x = Input({4}, {.name = "x"});
  const Nest two = block(Nest(x));
  const Sequential tail({Dense(3, {.input_shape = {4}, .name = "tail_1"})}, "tail");
  return Model(x, Nest{tail(two[1].as_tensor()), Dense(1, {.name = "head"})(two[0].as_tensor())},
               "outer");
}

TEST(PlotModel, NestedModelsAreOneBox) {
  const std::string dot = model_to_dot(nested());
  EXPECT_THAT(dot, Not(HasSubstr("subgraph")));
  EXPECT_THAT(dot, HasSubstr(edge(dot, "x", "block")));
  EXPECT_THAT(dot, HasSubstr(edge(dot, "block", "tail")));
  EXPECT_THAT(dot, HasSubstr(edge(dot, "block", "head")));
  EXPECT_EQ(count(dot, " -> "), 3);
}

TEST(PlotModel, NestedModelsOpenAsFrames) {
  const std::string dot = model_to_dot(nested(), {.expand_nested = true});
  EXPECT_EQ(count(dot, "subgraph cluster_"), 2);
  for (const auto& [from, to] : {std::pair("x", "i"), std::pair("i", "left"),
                                 std::pair("i", "right"), std::pair("right", "tail_1_input"),
                                 std::pair("tail_1_input", "tail_1"), std::pair("left", "head")})
    EXPECT_THAT(dot, HasSubstr(edge(dot, from, to)));
  EXPECT_EQ(count(dot, " -> "), 6);
}

TEST(PlotModel, ARangeOfLayers) {
  const std::string dot = model_to_dot(stack(), {.layer_range = {"first$", "sec"}});
  EXPECT_EQ(count(dot, " -> "), 1);
  EXPECT_THAT(dot, HasSubstr(edge(dot, "first", "second")));
  testing::expect_error<errors::InvalidArgument>(
      [] {
        model_to_dot(stack(), {.layer_range = {"third", "second"}});
      },
      "no layer's name matches \"third\"");
}

struct Own : Model {
  Dense inner{2};
  Own() { track("inner", inner); }
  Tensor call(const Tensor& x, const CallContext&) override { return inner(x); }
};

TEST(PlotModel, AClassOfOnesOwnIsOneBox) {
  Own m;
  testing::expect_error<errors::FailedPrecondition>([&] { model_to_dot(m); },
                                                    "has not yet been built");
  m(ones({1, 3}));
  const std::string dot = model_to_dot(m);
  EXPECT_EQ(count(dot, "label=<<TABLE"), 1);
  EXPECT_THAT(dot, HasSubstr("<B>own"));
  testing::expect_error<errors::FailedPrecondition>(
      [] { model_to_dot(Sequential({Dense(2)}, "later")); },
      "the model \"later\" has not yet been built");
}

TEST(PlotModel, WrappersNameWhatTheyWrap) {
  const Sequential m({layers::Bidirectional(layers::LSTM(2), {.input_shape = {5, 3}})});
  EXPECT_THAT(model_to_dot(m), HasSubstr("Bidirectional(LSTM)"));
}

TEST(PlotModel, NamesStayNames) {
  const Tensor x = Input({2}, {.name = "x"});
  const Model m(x, Dense(1, {.name = "<B>&\"]; evil -> \xff\n\xc3\xa4"})(x));
  EXPECT_THAT(model_to_dot(m),
              HasSubstr("<B>&lt;B&gt;&amp;&quot;]; evil -&gt; \xef\xbf\xbd \xc3\xa4</B>"));
  const std::string file = saving_tests::fresh_folder("plot_names") + "/it's $(a) name.svg";
  if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "no dot here";
  utils::plot_model(m, {.to_file = file});
  EXPECT_THAT(io::file_contents(file), HasSubstr("evil"));
}

TEST(PlotModel, WritesByTheEnding) {
  const std::string folder = saving_tests::fresh_folder("plot");
  utils::plot_model(stack(), {.to_file = folder + "/m.dot"});
  EXPECT_EQ(io::file_contents(folder + "/m.dot"), model_to_dot(stack()));
  testing::expect_error<errors::InvalidArgument>(
      [&] { utils::plot_model(stack(), {.to_file = folder + "/m.docx"}); }, "m.docx");
  if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "no dot here";
  for (const auto& [name, begin] : {std::pair("m.svg", "<?xml"), std::pair("m.png", "\x89PNG"),
                                    std::pair("m.pdf", "%PDF"), std::pair("plain", "\x89PNG")}) {
    utils::plot_model(stack(), {.to_file = folder + "/new/" + name, .show_shapes = true});
    EXPECT_TRUE(io::file_contents(folder + "/new/" + name).starts_with(begin)) << name;
  }
  EXPECT_THAT(io::file_contents(folder + "/new/m.svg"), HasSubstr(">second<"));
  EXPECT_THAT(io::file_contents(folder + "/new/m.svg"),
              HasSubstr("scale(1 1)"));  // else it is cut off
  // Nothing else stays behind.
  EXPECT_EQ(io::list_folder(folder + "/new"),
            (std::vector<std::string>{"m.pdf", "m.png", "m.svg", "plain"}));
}

TEST(PlotModel, SaysWhatToInstall) {
  const std::string folder = saving_tests::fresh_folder("plot_nothing");
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  setenv("PATH", folder.c_str(), 1);
  testing::expect_error<errors::FailedPrecondition>(
      [&] { utils::plot_model(stack(), {.to_file = folder + "/m.png"}); },
      "apt-get install graphviz");
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(io::list_folder(folder).empty());
}

}  // namespace
}  // namespace rill::keras
