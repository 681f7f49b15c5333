#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "case.h"
#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "tests/tensor_text.h"

namespace rill::graph_defs {
using testing::number, testing::hex, testing::unhex, testing::write_tensor, testing::read_tensor;

Example read_example(const std::string& path) {
  Example out;
  std::ifstream in(path);
  RILL_CHECK(in, not_found, "cannot read \"{}\"; make parity UPDATE=1 makes it", path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    (kind == "in" ? out.input_names : out.output_names).push_back(name);
    (kind == "in" ? out.inputs : out.outputs).push_back(read_tensor(words));
  }
  return out;
}

void write_example(const std::string& path, const Example& e) {
  std::ofstream os(path);
  for (std::size_t i = 0; i < e.inputs.size(); ++i) {
    os << "in " << e.input_names[i] << " ";
    write_tensor(os, e.inputs[i]);
    os << "\n";
  }
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    os << "out " << e.output_names[i] << " ";
    write_tensor(os, e.outputs[i]);
    os << "\n";
  }
}

std::string goldens_folder() {
  const char* dir = std::getenv("RILL_SOURCE_DIR");
  return std::string(dir ? dir : ".") + "/tests/graph_def/goldens";
}

}  // namespace rill::graph_defs
