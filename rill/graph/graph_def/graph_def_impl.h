#pragma once
#include <map>
#include <string>
#include <vector>

#include "rill/graph/function/graph_function.h"
#include "rill/graph/graph_def/graph_def.h"
#include "rill_proto/graph.pb.h"

namespace rill {

// What TensorFlow 2.15 calls itself in files.
inline constexpr int kGraphVersion = 1645;

// Letters, digits and some signs.
inline bool may_be_in_node_name(char c, bool first) {
  const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return plain || c == '.' || (!first && (c == '_' || c == '-' || c == '/' || c == '>'));
}

// DataLoss for bytes that are not a GraphDef.
proto::GraphDef parse_graph_def(std::string_view bytes);
// The same bytes for the same message. InvalidArgument when there are too many.
std::string serialize_graph_def(const proto::GraphDef& def, std::int64_t max_bytes = 2147483647);

// Writes graphs into a GraphDef, with the functions that they call.
class GraphDefWriter {
 public:
  explicit GraphDefWriter(proto::GraphDef* out, bool output_shapes = false)
      : out_(out), output_shapes_(output_shapes) {}

  // The nodes of the main graph, except for its arguments.
  void add_graph(const Graph& graph);
  // The name of a function in the library; its definition follows with finish().
  std::string function_name(const FunctionRef& f);
  void finish();

 private:
  void write_attrs(const Node& n, proto::NodeDef* def);
  void write_function(GraphFunction& f, const std::string& name);

  proto::GraphDef* out_;
  bool output_shapes_;
  std::map<const FunctionBody*, std::string> names_;
  std::map<std::string, int> used_;
  std::vector<FunctionRef> pending_;
};

// The graph in a form that others can run: ops of Rill alone as what they are made
// of, and variables as values. Each argument for which `as` has a dtype is a value of
// that dtype and shape in place of a handle; FailedPrecondition when such a variable
// is changed.
Ref<Graph> portable_graph(const Graph& graph, const std::vector<ValueInfo>& as);

// What a GraphDef says, as graphs.
struct GraphDefContents {
  Ref<Graph> graph;
  std::map<std::string, Ref<GraphFunction>, std::less<>> functions;
};
GraphDefContents read_graph_def(const proto::GraphDef& def, const GraphDefImportOptions& options);

// Whether an op has a successor.
bool is_outdated(std::string_view op);
// Ops of older versions under the names and forms of today: changes `def` and
// `inputs`. Unimplemented, naming the node, for what has no successor.
void modernize_node(Graph& graph, proto::NodeDef* def, std::vector<Endpoint>* inputs);

// The same for ops that parse Examples.
bool is_old_parser(std::string_view op);
void modernize_parser(Graph& graph, proto::NodeDef* def, std::vector<Endpoint>* inputs);

// Whether an op is one that Rill builds of several; and builds it, with a node of the
// same name for its result.
bool is_composite(std::string_view op);
std::string_view composite_output(std::string_view op);  // what functions call its only result
Node* expand_node(Graph& graph, const proto::NodeDef& def, const std::vector<Endpoint>& inputs);

// An attribute of functions whose nodes write inputs as graphs do: "node:1".
inline constexpr const char* kGraphInputs = "_rill_graph_inputs";

// Puts If and While in the place of Switch, Merge, Enter, Exit and NextIteration.
void raise_control_flow(proto::GraphDef* def);

}  // namespace rill
