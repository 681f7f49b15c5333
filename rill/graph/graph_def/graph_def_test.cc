#include "rill/graph/graph_def/graph_def.h"

#include <cstdio>
#include <filesystem>

#include "rill/ops/state_ops.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace rill {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::HasSubstr;
using ::testing::Not;

// A graph from its text.
ImportedGraph graph(const std::string& text, const GraphDefImportOptions& options = {}) {
  return import_graph_def(graph_def_from_text(text), options);
}
std::string floats(const std::string& name) {
  return "node { name: '" + name +
         "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n";
}
std::string node(const std::string& name, const std::string& op, const std::string& inputs) {
  return "node { name: '" + name + "' op: '" + op + "' " + inputs +
         " attr { key: 'T' value { type: DT_FLOAT } } }\n";
}
std::string constant_node(const std::string& name, const std::string& tensor) {
  return "node { name: '" + name + "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } " +
         "attr { key: 'value' value { tensor { dtype: DT_FLOAT " + tensor + " } } } }\n";
}
const char* kNegateFunction = R"(
  library { function {
    signature { name: 'negate' input_arg { name: 'a' type: DT_FLOAT }
                output_arg { name: 'r' type: DT_FLOAT } }
    node_def { name: 'n' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'r' value: 'n:y:0' } } }
)";

template <class F>
ConcreteFunction traced(F f, std::vector<TensorSpec> specs) {
  return function(f, {.input_signature = std::move(specs), .name = "f"})
      .get_concrete_function_for({});
}

TEST(GraphDef, HoldsArgumentsAndResultsByName) {
  const ConcreteFunction f =
      traced([](Tensor x) { return x * 2.f; }, {TensorSpec({None, 2}, float32, "x")});
  const ImportedGraph g = import_graph_def(to_graph_def(f, {.output_names = {"y"}}));
  ASSERT_EQ(g.placeholders().size(), 1u);
  EXPECT_EQ(g.placeholders()[0].name(), "x");
  EXPECT_EQ(g.placeholders()[0].shape(), (TensorShape{None, 2}));
  EXPECT_THAT(g.node_names(), ElementsAre("x", "Const", "mul", "y"));
  const Tensor y = g.function({"x"}, {"y"})({constant({{1.f, 2.f}})}).as_tensor();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 4}));
}

TEST(GraphDef, LargerThanTheLimitIsAnErrorThatNamesBoth) {
  RILL_SHOWS("G62");
  const Tensor large = zeros({1000, 10});
  const ConcreteFunction f =
      traced([large](Tensor x) { return x + large; }, {TensorSpec({1}, float32, "x")});
  EXPECT_GT(to_graph_def(f).size(), 40000u);
  expect_error<errors::InvalidArgument>([&] { to_graph_def(f, {.max_bytes = 40000}); },
                                        "a GraphDef holds at most 40000");
}

TEST(GraphDef, ValuesOfEveryDtypeSurvive) {
  for (DType d : {float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16,
                  uint32, uint64, bool_, complex64, complex128}) {
    for (const Tensor& t : {cast(constant({{3.f, 0.f}, {1.f, 100.f}}), d), cast(constant(1.f), d),
                            cast(zeros({0, 3}), d)}) {
      const ConcreteFunction f = traced([t] { return identity(t); }, {});
      const Tensor back =
          import_graph_def(to_graph_def(f)).function({}, {"output_0"})({}).as_tensor();
      ASSERT_EQ(back.dtype(), d);
      ASSERT_EQ(back.shape(), t.shape());
      EXPECT_EQ(back.to_string(), t.to_string()) << d.name();
    }
  }
  const Tensor words = constant({"a", "", std::string("\0x", 2)});
  const ConcreteFunction f = traced([words] { return identity(words); }, {});
  EXPECT_EQ(import_graph_def(to_graph_def(f))
                .function({}, {"output_0"})({})
                .as_tensor()
                .to_vector<std::string>(),
            words.to_vector<std::string>());
}

TEST(GraphDef, FewValuesFillAShape) {
  const ImportedGraph g =
      graph(constant_node("last", "tensor_shape { dim { size: 4 } } float_val: 1 float_val: 2") +
            constant_node("none", "tensor_shape { dim { size: 2 } }"));
  const Nest r = g.function({}, {"last", "none"})({});
  EXPECT_EQ(r[0].as_tensor().to_string(), "[1. 2. 2. 2.]");
  EXPECT_EQ(r[1].as_tensor().to_string(), "[0. 0.]");
}

TEST(GraphDef, VariablesAreFrozenOrKeptAsHandles) {
  const Variable w(2.f, {.name = "w"});
  const ConcreteFunction f =
      traced([w](Tensor x) { return x * w; }, {TensorSpec({}, float32, "x")});
  const std::string frozen = to_graph_def(f);
  EXPECT_THAT(graph_def_to_text(frozen), Not(HasSubstr("VarHandleOp")));
  w.assign(5.f);
  const Tensor x = constant(3.f);
  EXPECT_EQ(import_graph_def(frozen).function({"x"}, {"output_0"})({x}).as_tensor().item<float>(),
            6.f);
  const ImportedGraph kept = import_graph_def(to_graph_def(f, {.freeze = false}));
  ASSERT_EQ(kept.variables().size(), 1u);
  EXPECT_EQ(kept.variables()[0].name(), "w:0");
  kept.variables()[0].assign(7.f);
  EXPECT_EQ(kept.function({"x"}, {"output_0"})({x}).as_tensor().item<float>(), 21.f);
}

TEST(GraphDef, AFunctionThatAssignsCannotBeFrozen) {
  const Variable v(1.f, {.name = "v"});
  const ConcreteFunction f = traced(
      [v] {
        v.assign_add(1.f);
        return v.value();
      },
      {});
  expect_error<errors::FailedPrecondition>([&] { to_graph_def(f); }, "freeze = false");
  EXPECT_THAT(graph_def_to_text(to_graph_def(f, {.freeze = false})), HasSubstr("^AssignAddVar"));
}

TEST(GraphDef, WhatPrintsRunsThoughNobodyUsesIt) {
  const ConcreteFunction f = traced(
      [](Tensor x) {
        print("seen");
        return x + 1.f;
      },
      {TensorSpec({}, float32, "x")});
  const ImportedGraph g = import_graph_def(to_graph_def(f));
  ::testing::internal::CaptureStderr();
  g.function({"x"}, {"output_0"})({constant(1.f)});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "seen\n");
}

TEST(GraphDef, NamesAreThoseThatNodesMayHave) {
  const ConcreteFunction f = traced(
      [](Tensor x) {
        name_scope s("my layer");
        return x * 2.f;
      },
      {TensorSpec({}, float32, "x")});
  EXPECT_THAT(import_graph_def(to_graph_def(f)).node_names(),
              ElementsAre("x", "my_layer/Const", "my_layer/mul", "output_0"));
  expect_error<errors::InvalidArgument>([&] { to_graph_def(f, {.output_names = {"a b"}}); },
                                        "\"a b\" cannot be the name of an output");
  expect_error<errors::InvalidArgument>(
      [&] {
        to_graph_def(f, {.output_names = {"a", "b"}});
      },
      "2 output_names for 1 results");
}

TEST(GraphDef, EffectsAloneAreAFunctionToo) {
  const Variable v(1.f, {.name = "v"});
  const ConcreteFunction f =
      traced([v](Tensor x) { v.assign(x * 2.f); }, {TensorSpec({}, float32, "x")});
  const ImportedGraph g = import_graph_def(to_graph_def(f, {.freeze = false}));
  g.function({"x"}, {"effects"})({constant(4.f)});
  EXPECT_EQ(g.variables()[0].item<float>(), 8.f);
}

TEST(GraphDef, OpsOfRillAloneAreWrittenAsTheirPartsOrRefused) {
  const ConcreteFunction f =
      traced([](Tensor x) { return nn::layer_norm(x, ones({3}), zeros({3})); },
             {TensorSpec({2, 3}, float32, "x")});
  EXPECT_THAT(graph_def_to_text(to_graph_def(f)), Not(HasSubstr("op: \"LayerNorm\"")));
  const Variable v(1.f, {.name = "v"});
  const ConcreteFunction step = traced(
      [&](Tensor x) {
        run_update("ResourceApplyAdagradKeras",
                   {v.handle(), v.handle(), constant(0.1f), constant(1e-7f), x}, {});
      },
      {TensorSpec({}, float32, "x")});
  expect_error<errors::Unimplemented>([&] { to_graph_def(step, {.freeze = false}); },
                                      "an op of Rill alone");
}

TEST(GraphDefText, GoesBothWaysAndToFiles) {
  const ConcreteFunction f = traced([](Tensor x) { return -x; }, {TensorSpec({2}, float32, "x")});
  const std::string bytes = to_graph_def(f), text = graph_def_to_text(bytes);
  EXPECT_THAT(text, HasSubstr("op: \"Neg\""));
  EXPECT_TRUE(graph_def_from_text(text) == bytes);
  for (const char* name : {"rill_graph_def_test.pb", "rill_graph_def_test.pbtxt"}) {
    const std::string path = (std::filesystem::temp_directory_path() / name).string();
    write_graph_def(path, bytes);
    EXPECT_TRUE(read_graph_def(path) == bytes);
    std::filesystem::remove(path);
  }
  expect_error<errors::DataLoss>([] { graph_def_from_text("node { nam: 'x' }"); }, "line 1");
  expect_error<errors::NotFound>([] { read_graph_def("/no/such/file.pb"); }, "/no/such/file.pb");
}

TEST(ImportedGraph, TakesNodesInAnyOrder) {
  const ImportedGraph g =
      graph(node("c", "Neg", "input: 'b'") + node("b", "Neg", "input: 'a'") + floats("a"));
  EXPECT_THAT(g.node_names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(g.function({"a"}, {"c"})({constant(4.f)}).as_tensor().item<float>(), 4.f);
}

// "_offset" is ours: where in its stream a random op stands, as an index into a table.
TEST(ImportedGraph, AFileHasNoSayInWhatOnlyAProcessKnows) {
  const ImportedGraph g = import_graph_def(graph_def_from_text(R"(
    node { name: 'shape' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
           attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } }
                                                int_val: 4 } } } }
    node { name: 'random' op: 'RandomUniform' input: 'shape'
           attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'seed' value { i: 7 } }
           attr { key: 'seed2' value { i: 9 } } attr { key: '_offset' value { i: -1000000 } } })"));
  const ConcreteFunction f = g.function({}, {"random"});
  const std::vector<float> first = f({}).as_tensor().to_vector<float>();
  EXPECT_EQ(first.size(), 4u);
  EXPECT_NE(f({}).as_tensor().to_vector<float>(), first) << "the stream of a seeded op continues";
  EXPECT_EQ(g.function({}, {"random"})({}).as_tensor().shape(), TensorShape({4}));
}

// The shape of a cumulative sum does not depend on its axis, so that a plan is made without it.
TEST(ImportedGraph, AnAxisThatIsAnArgumentIsCheckedAtEachCall) {
  const ImportedGraph g =
      graph(floats("x") +
            "node { name: 'axis' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }"
            "node { name: 'y' op: 'Cumsum' input: 'x' input: 'axis'"
            " attr { key: 'T' value { type: DT_FLOAT } } }");
  const ConcreteFunction f = g.function({"x", "axis"}, {"y"});
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_THAT(f({x, constant(0)}).to_vector<float>(), ElementsAre(1, 2, 4, 6));
    EXPECT_THAT(f({x, constant(-1)}).to_vector<float>(), ElementsAre(1, 3, 3, 7));
    expect_error<errors::OutOfRange>([&] { f({x, constant(2)}); }, "axis 2 is out of range");
  }
}

TEST(ImportedGraph, AnyTensorMayBeAnInput) {
  const ImportedGraph g =
      graph(floats("a") + node("b", "Exp", "input: 'a'") + node("c", "Neg", "input: 'b'"));
  EXPECT_EQ(g.function({"b"}, {"c"})({constant(4.f)}).as_tensor().item<float>(), -4.f);
  expect_error<errors::InvalidArgument>([&] { g.function({}, {"c"}); }, "need placeholder \"a\"");
  expect_error<errors::InvalidArgument>([&] { g.function({"a", "a"}, {"c"}); }, "twice");
  expect_error<errors::NotFound>([&] { g.function({"a"}, {"cc"}); }, "Did you mean \"c\"?");
  expect_error<errors::InvalidArgument>([&] { g.function({"a"}, {"c:1"}); }, "has 1 outputs");
  expect_error<errors::InvalidArgument>([&] { g.function({"a"}, {"c:x"}); },
                                        "not a name of a tensor");
}

TEST(ImportedGraph, CallsFunctionsByAttributeAndByName) {
  const ImportedGraph g = graph(floats("a") + node("old", "negate", "input: 'a'") +
                                "node { name: 'new' op: 'PartitionedCall' input: 'a'"
                                " attr { key: 'f' value { func { name: 'negate' } } }"
                                " attr { key: 'Tin' value { list { type: DT_FLOAT } } }"
                                " attr { key: 'Tout' value { list { type: DT_FLOAT } } } }" +
                                kNegateFunction);
  EXPECT_THAT(g.function_names(), ElementsAre("negate"));
  const Nest r = g.function({"a"}, {"old", "new"})({constant(4.f)});
  EXPECT_EQ(r[0].as_tensor().item<float>(), -4.f);
  EXPECT_EQ(r[1].as_tensor().item<float>(), -4.f);
  EXPECT_EQ(g.library_function("negate")({constant(1.f)}).as_tensor().item<float>(), -1.f);
  expect_error<errors::NotFound>([&] { g.library_function("negat"); }, "Did you mean \"negate\"?");
}

TEST(ImportedGraph, UsesShapesThatTheFileKnows) {
  const ImportedGraph g =
      graph(floats("a") +
            "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }"
            " attr { key: '_output_shapes' value { list { shape { dim { size: 3 } } } } } }");
  EXPECT_EQ(g.function({"a"}, {"b"}).outputs()[0].shape(), (TensorShape{3}));
}

TEST(ImportedGraph, OpsOfOlderVersionsBecomeTheirSuccessors) {
  const ImportedGraph g = graph(
      floats("a") + floats("b") + node("sum", "Add", "input: 'a' input: 'b'") +
      node("quotient", "Div", "input: 'a' input: 'b'") + node("copy", "Snapshot", "input: 'a'") +
      node("zero", "ZerosLike", "input: 'a'") +
      "node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"
      " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }"
      "node { name: 'joined' op: 'Concat' input: 'axis' input: 'a' input: 'b'"
      " attr { key: 'N' value { i: 2 } } attr { key: 'T' value { type: DT_FLOAT } } }");
  const Nest r = g.function({"a", "b"}, {"sum", "quotient", "copy", "zero", "joined"})(
      {constant({6.f}), constant({2.f})});
  EXPECT_EQ(r[0].as_tensor().to_string(), "[8.]");
  EXPECT_EQ(r[1].as_tensor().to_string(), "[3.]");
  EXPECT_EQ(r[2].as_tensor().to_string(), "[6.]");
  EXPECT_EQ(r[3].as_tensor().to_string(), "[0.]");
  EXPECT_EQ(r[4].as_tensor().to_string(), "[6. 2.]");
}

// ---- what is not a graph

TEST(BadGraphDef, BytesThatAreNone) {
  const ConcreteFunction f = traced([](Tensor x) { return -x; }, {TensorSpec({2}, float32, "x")});
  const std::string bytes = to_graph_def(f);
  expect_error<errors::DataLoss>([&] { import_graph_def(bytes.substr(0, bytes.size() - 3)); },
                                 "cut short or damaged");
  expect_error<errors::DataLoss>([] { import_graph_def("this is not a graph"); }, "not a GraphDef");
  EXPECT_TRUE(import_graph_def("").node_names().empty());
}

TEST(BadGraphDef, NamesTheNodeOfEachFault) {
  struct Fault {
    std::string text;
    Code code;
    const char* says;
  };
  const std::string a = floats("a");
  const Fault faults[] = {
      {a + node("b", "Nega", "input: 'a'"), Code::not_found, "Did you mean \"Neg\"?"},
      {a + node("b", "Nega", "input: 'a'"), Code::not_found, "in node \"b\" (Nega)"},
      {a + node("b", "Neg", "input: 'x'"), Code::not_found, "there is no node \"x\""},
      {a + node("b", "Neg", "input: 'a' input: '^x'"), Code::not_found, "waits for \"^x\""},
      {a + node("b", "Neg", "input: '^a' input: 'a'"), Code::invalid_argument, "come last"},
      {a + node("b", "Neg", "input: 'a:1'"), Code::invalid_argument, "has 1 outputs"},
      {a + node("b", "Neg", "input: 'a:-1'"), Code::invalid_argument, "has 1 outputs"},
      {a + node("b", "Neg", ""), Code::invalid_argument, "got 0 inputs, expected 1"},
      {a + node("b", "AddV2", "input: 'a' input: 'b'"), Code::invalid_argument, "waits for itself"},
      {a + a, Code::invalid_argument, "two nodes are called \"a\""},
      {floats(""), Code::invalid_argument, "is not a name of a node"},
      {floats("^a"), Code::invalid_argument, "is not a name of a node"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_INT32 } } }",
       Code::invalid_argument, "attribute T is int32, but the input is float32"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { b: true } } }",
       Code::invalid_argument, "attribute T holds a bool; expected type"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'U' value { b: true } } }",
       Code::invalid_argument, "op Neg has no attribute \"U\""},
      {a + "node { name: 'b' op: 'Cast' input: 'a' }", Code::invalid_argument,
       "the attribute DstT is missing"},
      {a + "node { name: 'b' op: 'LogicalNot' input: 'a' }", Code::invalid_argument,
       "expected one of bool"},
      {"node { name: 'b' op: 'Placeholder' attr { key: 'dtype' value { type: DT_QINT8 } } }",
       Code::unimplemented, "DT_QINT8"},
      {constant_node("b", "tensor_shape { dim { size: -3 } }"), Code::invalid_argument,
       "a dimension of size -3"},
      {constant_node("b", "tensor_shape { dim { size: -1 } }"), Code::invalid_argument,
       "expected known sizes"},
      {constant_node("b", "tensor_shape { dim { size: 2 } } tensor_content: 'abc'"),
       Code::invalid_argument, "holds 3 bytes; expected 8"},
      {constant_node("b", "tensor_shape { dim { size: 1 } } float_val: 1 float_val: 2"),
       Code::invalid_argument, "holds 2 values; expected at most 1"},
      {constant_node("b", "tensor_shape { dim { size: 1000000000000 } } float_val: 1"),
       Code::resource_exhausted, "max_fill_bytes"},
      {constant_node(
           "b", "tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } } float_val: 1"),
       Code::invalid_argument, "more elements than 63 bits can count"},
      {a + constant_node("c", "tensor_shape { dim { size: 2 } }") +
           constant_node("d", "tensor_shape { dim { size: 3 } }") +
           node("b", "AddV2", "input: 'c' input: 'd'"),
       Code::invalid_argument, "cannot be broadcast"},
      {a + "node { name: 'b' op: 'PartitionedCall' input: 'a'"
           " attr { key: 'f' value { func { name: 'g' } } }"
           " attr { key: 'Tin' value { list { type: DT_FLOAT } } }"
           " attr { key: 'Tout' value { list { type: DT_FLOAT } } } }",
       Code::not_found, "no function \"g\""},
      {a +
           "node { name: 'b' op: 'PartitionedCall' input: 'a'"
           " attr { key: 'f' value { func { name: 'negate' } } }"
           " attr { key: 'Tin' value { list { type: DT_FLOAT } } }"
           " attr { key: 'Tout' value { list { type: DT_FLOAT type: DT_FLOAT } } } }" +
           kNegateFunction,
       Code::invalid_argument, "has 1 results, but the call expects 2"},
      {a +
           "node { name: 'b' op: 'PartitionedCall' input: 'a' input: 'a'"
           " attr { key: 'f' value { func { name: 'negate' } } }"
           " attr { key: 'Tin' value { list { type: DT_FLOAT type: DT_FLOAT } } }"
           " attr { key: 'Tout' value { list { type: DT_FLOAT } } } }" +
           kNegateFunction,
       Code::invalid_argument, "takes 1 arguments, but the call gives 2"},
      {"library { function { signature { name: 'f' output_arg { name: 'r' type: DT_FLOAT } } } }",
       Code::invalid_argument, "in function \"f\""},
      {"library { function { signature { name: 'f' } } function { signature { name: 'f' } } }",
       Code::invalid_argument, "two functions \"f\""},
      {"library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } }"
       " node_def { name: 'again' op: 'f' input: 'a' } } }",
       Code::invalid_argument, "call each other in a circle"},
      {"library { function { signature { name: 'f' input_arg { name: 'a' type_attr: 'T' } } } }",
       Code::unimplemented, "a type that each call chooses"},
      {a + node("b", "Switch", "input: 'a' input: 'a'") +
           node("c", "Merge", "input: 'b' input: 'a'"),
       Code::unimplemented, "node \"c\" (Merge)"},
      {a +
           "node { name: 'axes' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"
           " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } }"
           " } } } }" +
           constant_node("c", "tensor_shape { dim { size: 2 } }") +
           node("b", "ConcatV2", "input: 'c' input: 'c' input: 'axes'"),
       Code::invalid_argument, "[concat] input axis must be one integer"},
      {"versions { min_consumer: 100000 }", Code::unimplemented, "from version 100000 on"},
      {a + node("b", "NextIteration", "input: 'a'"), Code::unimplemented, "belongs to no frame"},
  };
  for (const Fault& f : faults) {
    try {
      graph(f.text);
      ADD_FAILURE() << "no error; expected: " << f.says;
    } catch (const errors::Error& e) {
      EXPECT_EQ(e.code(), f.code) << e.what();
      EXPECT_THAT(e.message(), HasSubstr(f.says));
    }
  }
}

TEST(BadGraphDef, MemoryThatAFileMayAskForIsLimited) {
  const std::string large = constant_node("b", "tensor_shape { dim { size: 1000 } } float_val: 1");
  EXPECT_NO_THROW(graph(large));
  expect_error<errors::ResourceExhausted>([&] { graph(large, {.max_fill_bytes = 3000}); },
                                          "in node \"b\" (Const)");
  // All together.
  expect_error<errors::ResourceExhausted>(
      [&] {
        graph(constant_node("a", "tensor_shape { dim { size: 1000 } } float_val: 1") + large,
              {.max_fill_bytes = 6000});
      },
      "in node \"b\" (Const)");
}

// A function as a file: who runs it needs nothing of the program that wrote it.
TEST(GraphDef, AFunctionRunsWithoutItsSource) {
  RILL_SHOWS("F28");
  const std::string path =
      (std::filesystem::temp_directory_path() / "rill_exported_function.pb").string();
  const Tensor x = constant({{1.f, -2.f}, {3.f, 4.f}});
  std::vector<float> want;
  {
    Variable w(constant({{1.f, 2.f}, {3.f, 4.f}})), b(constant({0.5f, -0.5f}));
    auto deep_net =
        function([&](Tensor v) { return nn::softmax(nn::relu(matmul(v, w) + b)); },
                 {.input_signature = {TensorSpec({None, 2}, float32, "v")}, .name = "deep_net"});
    want = deep_net(x).to_vector<float>();
    write_graph_def(path,
                    to_graph_def(deep_net.get_concrete_function_for({}), {.output_names = {"p"}}));
  }
  const ImportedGraph g = import_graph_def(read_graph_def(path));
  EXPECT_EQ(g.function({"v"}, {"p"})({x}).as_tensor().to_vector<float>(), want);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rill
