#pragma once
#include <functional>
#include <string>
#include <vector>

#include "rill/graph/graph_def/graph_def.h"

namespace rill::graph_defs {

// A program of ours that becomes a GraphDef for TensorFlow to run.
struct Case {
  std::string name;
  std::function<ConcreteFunction()> trace;
  std::vector<Tensor> inputs;
  GraphDefOptions options = {};
  bool values = true;  // false: random numbers; shapes and dtypes alone are compared
};
const std::vector<Case>& cases();

// What goes into a graph and what comes out: a text file with a line a tensor,
// "in x:0 float32 2,3 1 2 3 4 5 6".
struct Example {
  std::vector<std::string> input_names, output_names;
  std::vector<Tensor> inputs, outputs;
};
Example read_example(const std::string& path);
void write_example(const std::string& path, const Example& example);

std::string goldens_folder();

}  // namespace rill::graph_defs
