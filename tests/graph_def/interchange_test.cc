// GraphDefs between Rill and TensorFlow. What each wrote is checked in, with
// inputs and with what TensorFlow computed: `make parity` asks it again.
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "case.h"
#include "rill/core/op.h"
#include "rill/graph/graph_def/node_signature_impl.h"
#include "rill/rill.h"
#include "tests/shows.h"

namespace rill::graph_defs {
namespace {

// The difference that another order of sums makes.
double tolerance(DType d) {
  if (d == float64 || d == complex128) return 1e-12;
  if (d == float16) return 2e-3;
  if (d == bfloat16) return 2e-2;
  return 1e-5;
}

void expect_same(const Tensor& got, const Tensor& want, const std::string& what, bool values) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  if (!values) return;
  if (want.dtype() == string) {
    EXPECT_EQ(got.to_vector<std::string>(), want.to_vector<std::string>()) << what;
  } else if (want.dtype().is_integer() || want.dtype() == bool_) {
    EXPECT_EQ(got.to_vector<std::int64_t>(), want.to_vector<std::int64_t>()) << what;
  } else {
    const auto a = got.to_vector<std::complex<double>>(),
               b = want.to_vector<std::complex<double>>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(b[i].real()) && std::isnan(a[i].real())) continue;
      EXPECT_LE(std::abs(a[i] - b[i]), tolerance(want.dtype()) * std::max(1.0, std::abs(b[i])))
          << what << ", element " << i << ": " << a[i] << " and " << b[i];
    }
  }
}

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Written : public ::testing::TestWithParam<const Case*> {};

TEST_P(Written, IsWhatTensorFlowAcceptedByteForByte) {
  const Case& c = *GetParam();
  const std::string path = goldens_folder() + "/rill/" + c.name;
  const std::string bytes = to_graph_def(c.trace(), c.options);
  EXPECT_TRUE(bytes == file(path + ".pb"))
      << "the graph is another; `make parity UPDATE=1` asks TensorFlow and writes\n"
      << graph_def_to_text(bytes);
  // A second trace, of other functions with other numbers, gives the same file.
  EXPECT_TRUE(bytes == to_graph_def(c.trace(), c.options));
}

TEST_P(Written, GivesTensorFlowsValuesBeforeAndAfterTheFile) {
  const Case& c = *GetParam();
  const Example want = read_example(goldens_folder() + "/rill/" + c.name + ".txt");
  const ConcreteFunction f = c.trace();
  const std::vector<Tensor> direct = f(c.inputs).flatten();
  const ImportedGraph graph = import_graph_def(to_graph_def(f, c.options));
  const std::vector<Tensor> again =
      graph.function(want.input_names, want.output_names)(c.inputs).flatten();
  ASSERT_EQ(direct.size(), want.outputs.size());
  ASSERT_EQ(again.size(), want.outputs.size());
  for (std::size_t i = 0; i < direct.size(); ++i) {
    expect_same(direct[i], want.outputs[i], "traced: " + want.output_names[i], c.values);
    expect_same(again[i], want.outputs[i], "read: " + want.output_names[i], c.values);
  }
}

std::vector<const Case*> all_cases() {
  std::vector<const Case*> out;
  for (const Case& c : cases()) out.push_back(&c);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Cases, Written, ::testing::ValuesIn(all_cases()),
                         [](const auto& p) { return p.param->name; });

// Graphs that TensorFlow wrote.
std::vector<std::string> theirs() {
  std::vector<std::string> out;
  const std::string folder = goldens_folder() + "/tensorflow";
  if (std::filesystem::is_directory(folder))
    for (const auto& e : std::filesystem::directory_iterator(folder))
      if (e.path().extension() == ".pb") out.push_back(e.path().stem());
  std::sort(out.begin(), out.end());
  return out;
}

class OfTensorFlow : public ::testing::TestWithParam<std::string> {};

TEST_P(OfTensorFlow, RunsWithTheSameResults) {
  const std::string path = goldens_folder() + "/tensorflow/" + GetParam();
  const Example want = read_example(path + ".txt");
  const ImportedGraph graph = import_graph_def(read_graph_def(path + ".pb"));
  const ConcreteFunction f = graph.function(want.input_names, want.output_names);
  const std::vector<Tensor> got = f(want.inputs).flatten();
  ASSERT_EQ(got.size(), want.outputs.size());
  const bool values = GetParam() != "random";
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_same(got[i], want.outputs[i], want.output_names[i], values);
  // What was read can be written, and is then the same program.
  const ImportedGraph again = import_graph_def(to_graph_def(f));
  std::vector<std::string> inputs, outputs;
  for (const TensorSpec& s : f.inputs()) inputs.push_back(s.name());
  for (std::size_t i = 0; i < got.size(); ++i) outputs.push_back("output_" + std::to_string(i));
  const std::vector<Tensor> second = again.function(inputs, outputs)(want.inputs).flatten();
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_same(second[i], want.outputs[i], "written again: " + want.output_names[i], values);
}
INSTANTIATE_TEST_SUITE_P(Graphs, OfTensorFlow, ::testing::ValuesIn(theirs()),
                         [](const auto& p) { return p.param; });

TEST(Interchange, CoversAtLeastTwentyFiveGraphsEachWay) {
  EXPECT_GE(cases().size(), 25u);
  EXPECT_GE(theirs().size(), 25u);
}

void write_all(const std::string& folder) {
  for (const Case& c : cases()) {
    const ConcreteFunction f = c.trace();
    const std::string path = folder + "/" + c.name;
    write_graph_def(path + ".pb", to_graph_def(f, c.options));
    Example e;
    e.inputs = c.inputs;
    for (const TensorSpec& s : f.inputs()) e.input_names.push_back(s.name());
    const Nest results = f(c.inputs);
    e.outputs = results.flatten();
    for (std::size_t i = 0; i < e.outputs.size(); ++i)
      e.output_names.push_back(results.is_dict() ? results.keys()[i]
                                                 : "output_" + std::to_string(i));
    write_example(path + ".txt", e);
  }
}

// " = 1"; what a file leaves out has this value.
std::string default_text(const Op& op, std::string_view attr) {
  const AttrValue* v = op.find_default(attr);
  if (!v) return "";
  switch (v->kind()) {
    case AttrValue::Kind::boolean:
      return v->as_bool() ? " = true" : " = false";
    case AttrValue::Kind::integer:
      return " = " + std::to_string(v->as_int());
    case AttrValue::Kind::floating:
      return format(" = {}", static_cast<float>(v->as_float()));
    case AttrValue::Kind::text:
      return v->as_string() == "\n" ? " = '\\n'" : " = '" + std::string(v->as_string()) + "'";
    case AttrValue::Kind::type:
      return std::string(" = ") + v->as_type().name();
    case AttrValue::Kind::integers: {
      std::string list;
      for (std::int64_t i : v->as_ints()) list += (list.empty() ? "" : ", ") + std::to_string(i);
      return " = [" + list + "]";
    }
    default:
      return " = ?";
  }
}

// The schemas of our ops, for TensorFlow to compare.
void print_schemas() {
  for (const std::string& name : list_ops()) {
    const Op& op = find_op(name);
    if (!in_tensorflow(op)) continue;
    auto args = [&](const char* kind, const std::vector<ArgDef>& list) {
      std::string names;
      for (const ArgDef& a : list) names += (names.empty() ? "" : ", ") + a.name;
      std::cout << name << " " << kind << " " << names << "\n";
    };
    args("in", op.inputs);
    args("out", op.outputs);
    for (const AttrDef& a : op.attrs)
      if (!a.name.starts_with("_"))
        std::cout << name << " attr " << a.name << " " << a.type << default_text(op, a.name)
                  << "\n";
  }
}

}  // namespace
}  // namespace rill::graph_defs

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const std::string_view arg = argv[i]; arg.starts_with("--write=")) {
      rill::graph_defs::write_all(std::string(arg.substr(8)));
      return 0;
    } else if (arg == "--schemas") {
      rill::graph_defs::print_schemas();
      return 0;
    }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
