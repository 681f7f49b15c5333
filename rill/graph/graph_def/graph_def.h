#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rill/graph/function/function.h"

// Graphs as TensorFlow's files hold them. A GraphDef is handled here as the bytes
// of its protocol buffer; what TensorFlow writes can be run, and what is written
// here TensorFlow runs.
namespace rill RILL_API {

struct GraphDefOptions {
  // Variables become constants with the values that they have now. A function that
  // changes a variable cannot be frozen: FailedPrecondition. Otherwise variables
  // are VarHandleOp nodes, whose values are kept elsewhere.
  bool freeze = true;
  // The body becomes a function of the library that one node calls; otherwise it
  // is in the main graph itself.
  bool call = false;
  // Writes the shape of every output as the attribute _output_shapes.
  bool output_shapes = false;
  // One for each result; by default the keys of a dict, else output_0, output_1, ...
  std::vector<std::string> output_names = {};
  // Protocol buffers end at 2 GB: a larger graph is an InvalidArgument.
  std::int64_t max_bytes = 2147483647;
};

// The function as a GraphDef: a Placeholder for each tensor argument, under the
// argument's name; an Identity for each result, under the result's; functions that
// it calls in the library. Equal traces give equal bytes. Control edges keep
// effects in program order. Unimplemented for ops that TensorFlow does not have.
std::string to_graph_def(const ConcreteFunction& f, const GraphDefOptions& options = {});

struct GraphDefImportOptions {
  // A file of a few bytes may say that it holds a tensor of any size, all of one
  // value. The total of what such values may take; more is ResourceExhausted.
  std::int64_t max_fill_bytes = std::int64_t{1} << 30;
};

class ImportedGraphImpl;
void retain(ImportedGraphImpl*) noexcept;
void release(ImportedGraphImpl*) noexcept;

// A GraphDef that was read: its graph and the functions of its library.
class ImportedGraph {
 public:
  explicit ImportedGraph(Ref<ImportedGraphImpl> impl) : impl_(std::move(impl)) {}
  std::vector<std::string> node_names() const;      // in an order in which they can run
  std::vector<TensorSpec> placeholders() const;     // what has no value yet
  std::vector<std::string> function_names() const;  // of the library
  std::vector<Variable> variables() const;          // of VarHandleOp nodes; they have no values yet
  // What computes `outputs` from `inputs`, and nothing else: names of tensors ("x",
  // "split:1"). An input may be any tensor, whose own computation then falls away. An
  // output may also be a node without results, which runs for its effects.
  // NotFound for an unknown name; InvalidArgument for a placeholder that is needed
  // and is not an input.
  ConcreteFunction function(const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) const;
  // A function of the library.
  ConcreteFunction library_function(std::string_view name) const;

 private:
  Ref<ImportedGraphImpl> impl_;
};

// Reads a GraphDef. Nodes may be in any order. DataLoss for bytes that are none,
// NotFound for an unknown op, function or node, InvalidArgument for what cannot be
// (cycles, wrong dtypes or shapes), Unimplemented for what Rill does not have; each
// names the node.
ImportedGraph import_graph_def(std::string_view bytes, const GraphDefImportOptions& options = {});

// The text form of a GraphDef and back.
std::string graph_def_to_text(std::string_view bytes);
std::string graph_def_from_text(std::string_view text);

// Files; names that end in .pbtxt hold the text form.
void write_graph_def(const std::string& path, std::string_view bytes);
std::string read_graph_def(const std::string& path);

}  // namespace RILL_API
