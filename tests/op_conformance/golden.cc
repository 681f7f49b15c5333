#include "golden.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"
#include "tests/tensor_text.h"

namespace rill::conformance {
namespace {

using testing::number, testing::hex, testing::unhex, testing::write_tensor, testing::read_tensor;

std::string attr_text(const AttrValue& v) {
  auto list = [](const auto& items, auto text) {
    std::string out = "[";
    for (const auto& i : items) out += (out.size() > 1 ? "," : "") + text(i);
    return out + "]";
  };
  switch (v.kind()) {
    case AttrValue::Kind::boolean:
      return v.as_bool() ? "b:1" : "b:0";
    case AttrValue::Kind::integer:
      return "i:" + std::to_string(v.as_int());
    case AttrValue::Kind::floating:
      return "f:" + number(v.as_float());
    case AttrValue::Kind::text:
      return "s:" + hex(std::string(v.as_string()));
    case AttrValue::Kind::type:
      return std::string("t:") + v.as_type().name();
    case AttrValue::Kind::shape:
      return "h:" + list(v.as_shape().as_list(), [](std::int64_t i) { return std::to_string(i); });
    case AttrValue::Kind::integers:
      return "li:" + list(v.as_ints(), [](std::int64_t i) { return std::to_string(i); });
    case AttrValue::Kind::floatings:
      return "lf:" + list(v.as_floats(), number);
    case AttrValue::Kind::texts:
      return "ls:" + list(v.as_strings(), hex);
    case AttrValue::Kind::types:
      return "lt:" + list(v.as_types(), [](DType d) { return std::string(d.name()); });
    default:
      return "?";
  }
}

std::string source_dir() {
  const char* dir = std::getenv("RILL_SOURCE_DIR");
  return dir ? dir : ".";
}

}  // namespace

std::string key(const Row& row, std::size_t sample, DType dtype) {
  return row.name + "/" + std::to_string(sample) + "/" + dtype.name();
}

std::string checksum(const std::vector<Tensor>& inputs, const Sample& sample) {
  std::ostringstream text;
  for (const Tensor& t : inputs) write_tensor(text, t), text << ";";
  for (const Attr& a : sample.attrs.list()) text << a.name << "=" << attr_text(a.value) << ";";
  std::uint64_t h = 1469598103934665603ull;
  for (unsigned char c : text.str()) h = (h ^ c) * 1099511628211ull;
  char out[20];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(h));
  return out;
}

const std::map<std::string, Golden>& goldens() {
  static const auto* all = [] {
    auto* map = new std::map<std::string, Golden>;
    const std::string folder = source_dir() + "/tests/op_conformance/goldens";
    if (!std::filesystem::is_directory(folder)) return map;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(file.path());
      Golden* current = nullptr;
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string kind, name;
        words >> kind;
        if (kind == "row") {
          words >> name;
          current = &(*map)[name];
          words >> current->checksum;
        } else if (kind == "out" && current) {
          current->outputs.push_back(read_tensor(words));
        } else if (kind == "error" && current) {
          std::getline(words, current->error);
        }
      }
    }
    return map;
  }();
  return *all;
}

void write_requests(const std::string& path) {
  std::ofstream os(path);
  for (const Row* r : table()) {
    if (!r->no_tensorflow.empty()) continue;
    for (std::size_t s = 0; s < r->samples.size(); ++s) {
      for (int i = 1; i < DType::kCount; ++i) {
        const DType d{static_cast<DType::Code>(i)};
        if (!r->types.contains(d)) continue;
        const Sample& sample = r->samples[s];
        const auto inputs = make_inputs(*r, sample, d);
        os << "row " << key(*r, s, d) << " " << checksum(inputs, sample) << " " << r->name << " "
           << sample.outputs << "\n";
        if (!r->tf_expression.empty()) os << "tf " << r->tf_expression << "\n";
        for (std::size_t k = 0; k < inputs.size(); ++k) {
          os << (sample.inputs[k].kind == Input::Kind::variable ? "var " : "in ");
          write_tensor(os, inputs[k]);
          os << "\n";
        }
        // The dtype under test is an attribute where no input carries it.
        for (const Attr& a : sample.attrs.list())
          os << "attr " << a.name << " " << attr_text(a.value) << "\n";
        // Names of the inputs, and how many tensors each takes.
        if (!r->composite) {
          const Op& op = find_op(r->name);
          for (const ArgDef& a : op.inputs)
            os << "arg " << a.name << " " << (a.number_attr >= 0 ? 1 : 0) << "\n";
        }
      }
    }
  }
}

}  // namespace rill::conformance
