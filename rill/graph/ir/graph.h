#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rill/core/shape_inference.h"
#include "rill/core/tensor_impl.h"

// The program that tracing writes down: ops as nodes, in the order in which the
// program called them. That order is part of the meaning: nodes run in it, so a
// read of a variable sees the assignments before it and none after, prints come
// in order, and a node never uses one that comes after it. Control edges say
// the same to other runtimes and are worked out when a graph is written to a
// file.
namespace rill {

class Graph;
class Node;

// One output of a node.
struct Endpoint {
  Node* node = nullptr;
  int index = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct ValueInfo {
  DType dtype;
  TensorShape shape;
};

class Node {
 public:
  const Op* op = nullptr;
  std::string name;  // unique in its graph: "dense/MatMul_1"
  AttrStorage attrs;
  std::vector<Endpoint> inputs;
  std::vector<Node*> control_inputs;  // beyond program order: written by the user, or imported
  std::vector<ValueInfo> outputs;
  std::string device;          // as the scope asked; empty: anywhere
  const char* file = nullptr;  // the user's line
  int line = 0;
  Ref<Resource> handle;  // of an argument: the variable that it names, where that is known
  std::int32_t id = 0;   // position in Graph::nodes()
  // Its value was needed at once (as a variable's initial value): side effects
  // are done, so the node stays only if another uses it.
  bool lifted = false;
  // The identity of the first handle of each output, by which tapes know it; 0: none was made.
  std::vector<std::uint64_t> handle_ids;

  // Tensors that stand for outputs of the node, which programs may keep when it is gone.
  std::atomic<int> symbols = 0;
  bool removed = false;  // from its graph, which keeps it for those tensors

  // The constant of a Const node; null for others.
  const Tensor* constant() const;
  AttrReader reader() const { return AttrReader(*op, attrs.list()); }
  bool is(std::string_view op_name) const { return op->name == op_name; }
};

// A value from outside that a graph uses: it came in as argument `arg`.
struct Capture {
  Tensor outer;
  Node* arg = nullptr;
};

class Graph {
 public:
  explicit Graph(std::string graph_name = "", Graph* outer = nullptr);
  ~Graph();
  Graph(const Graph&) = delete;

  const std::string name;  // of the function; empty for a plain graph
  Graph* const outer;      // the graph in which this one is being traced

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  // Appends a node. `wanted` is made unique: "MatMul" becomes "MatMul_1".
  Node& add(const Op& op, std::string_view wanted, std::vector<Endpoint> inputs, AttrStorage attrs,
            std::vector<ValueInfo> outputs);
  // An argument; those of a function come first, then its captures.
  Node& add_argument(std::string_view wanted, DType dtype, const TensorShape& shape);
  Endpoint add_constant(const Tensor& value, std::string_view wanted = "Const");
  // Keeps those for which `keep` is true, in their order.
  void retain_nodes(const std::vector<char>& keep);
  // Puts nodes into the order given. REQUIRES: a permutation that respects inputs.
  void reorder(const std::vector<Node*>& order);
  std::string unique_name(std::string_view wanted);
  // The node `old`, and those below it ("old/x"), are called `wanted` instead, made unique. The
  // name that was made up for `old` is free again.
  void rename(const std::string& old, std::string_view wanted);
  Node* find(std::string_view node_name) const;  // null: none

  // The handle by which programs use an output while they build the graph.
  Tensor tensor(Endpoint e);
  // The first of them once more, the same to a tape that recorded it.
  Tensor recorded_tensor(Endpoint e);
  // What `t` is in this graph: its own endpoint, or one made for it by capturing
  // it. FailedPrecondition when it belongs to a function that is not being traced.
  Endpoint endpoint(const Tensor& t);

  // The argument by which a value from outside comes in, made if there is none: unlike
  // endpoint() never a constant.
  Endpoint endpoint_of_capture(const Tensor& t);
  // The value of a symbolic tensor of this graph, worked out now. What it ran is
  // done: those nodes stay only if others use them. FailedPrecondition when an
  // argument is needed.
  Tensor evaluate(const Tensor& t);

  std::vector<Node*> args;  // all inputs: the function's own, then captures
  std::vector<Capture> captures;
  std::vector<Endpoint> results;

  // What nodes made now must run after, by scope.
  std::vector<std::vector<Node*>> control_stack;
  // Null: variables may be made. Else why not.
  const char* no_variables = nullptr;
  bool made_variables = false;

  RefCount refs;

 private:
  void free_name(const std::string& name);
  Endpoint capture(const Tensor& t);
  Endpoint capture_as_argument(const Tensor& t);
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Node>> removed_;  // that have symbols
  std::unordered_map<std::string, int> names_;  // how often a name was wanted
  std::unordered_map<std::string, Node*> by_name_;
  std::unordered_map<std::uint64_t, Endpoint> captured_;  // by tensor id
};
inline void retain(Graph* g) noexcept { g->refs.retain(); }
inline void release(Graph* g) noexcept {
  if (g->refs.release()) delete g;
}

// The symbol behind a symbolic tensor.
class GraphSymbol : public Symbol {
 public:
  GraphSymbol(Ref<Graph> g, Endpoint e) : graph(std::move(g)), at(e) { ++at.node->symbols; }
  ~GraphSymbol() override { --at.node->symbols; }
  const Tensor* known_value() const override;
  TensorShape known_sizes() const override;
  void shape_is(const TensorShape& shape) override;
  std::string name() const override;
  std::string describe() const override;
  const Ref<Graph> graph;
  const Endpoint at;
};
// The endpoint that a symbolic tensor stands for. REQUIRES: t.is_symbolic()
const GraphSymbol& symbol_of(const Tensor& t);

// Dtype and shape of an endpoint.
inline const ValueInfo& info(Endpoint e) {
  return e.node->outputs[static_cast<std::size_t>(e.index)];
}

// The constant that an endpoint is known to be: a Const node, or one seen
// through Identity and similar ops, or the Shape, Size or Rank of what is known.
const Tensor* known_value(Endpoint e);

// The name that the guides' programs would see: "add" for AddV2, else the op's.
std::string_view default_node_name(const Op& op);

// The ops of arguments and constants.
const Op& placeholder_op();
const Op& const_op();
bool is_argument(const Node& n);

// Records into a graph for the time of its life: every op that this thread calls
// becomes a node. Tapes that were recording see nothing of it.
class TracingScope {
 public:
  explicit TracingScope(Graph& graph);
  ~TracingScope();
  TracingScope(const TracingScope&) = delete;
  static Graph* current();  // of this thread; null: eager

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The device that a node asks for, while it runs.
class ScopedDevice {
 public:
  explicit ScopedDevice(const Node& n)
      : scope_(n.device.empty() ? call_context().device : &find_device(n.device)) {}

 private:
  const ScopedContext<&CallContext::device> scope_;
};

// Leaves tracing for the time of its life: ops run at once. Symbolic tensors
// cannot be used in it.
class EagerScope {
 public:
  EagerScope();
  ~EagerScope();
  EagerScope(const EagerScope&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rill
