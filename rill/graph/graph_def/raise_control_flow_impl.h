#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/check.h"
#include "rill/graph/graph_def/graph_def_impl.h"

// Frozen graphs of TensorFlow 1 say loops and conditions by edges: values enter a
// frame, meet in Merge, are sent by Switch to the body or out, and come round again
// by NextIteration. Each loop becomes a While (raise_loops.cc) and each condition an
// If (raise_conditions.cc), inner ones first, so that nothing but functions has to
// be run.
namespace rill::raising {

inline bool is_op(const proto::NodeDef& n, std::string_view op) { return n.op() == op; }
inline bool is_flow(const proto::NodeDef& n) {
  return is_op(n, "Switch") || is_op(n, "Merge") || is_op(n, "Enter") || is_op(n, "Exit") ||
         is_op(n, "NextIteration") || is_op(n, "LoopCond");
}

[[noreturn]] inline void cannot_raise(const proto::NodeDef& n, std::string_view why) {
  RILL_FAIL(
      unimplemented,
      "[import_graph_def] node \"{}\" ({}) is control flow of TensorFlow 1 that is not a loop "
      "of while_loop and no condition of cond: {}",
      n.name(), n.op(), why);
}

// "node:1" in its parts; "^node" is a control edge.
struct Edge {
  explicit Edge(std::string_view text) : control(!text.empty() && text[0] == '^') {
    if (control) text.remove_prefix(1);
    const auto colon = text.find(':');
    node = text.substr(0, colon);
    index = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
  }
  std::string tensor() const {
    return index == "0" ? std::string(node) : format("{}:{}", node, index);
  }
  bool control;
  std::string_view node, index;
};

inline proto::DataType type_of(const proto::NodeDef& n) {
  const auto it = n.attr().find("T");
  RILL_CHECK(it != n.attr().end(), invalid_argument,
             "[import_graph_def] node \"{}\" ({}) has no attribute T", n.name(), n.op());
  return it->second.type();
}

using Users = std::map<std::string_view, std::vector<std::string_view>>;

// Nodes by name, in the order of the file.
class Flow {
 public:
  void add(proto::NodeDef n) {
    const std::string name = n.name();
    RILL_CHECK(index_.emplace(name, nodes_.size()).second, invalid_argument,
               "[import_graph_def] two nodes are called \"{}\"", name);
    nodes_.push_back(std::move(n));
    gone_.push_back(0);
  }
  proto::NodeDef* find(std::string_view name) {
    const auto it = index_.find(name);
    return it == index_.end() || gone_[it->second] ? nullptr : &nodes_[it->second];
  }
  void remove(std::string_view name) {
    if (const auto it = index_.find(name); it != index_.end()) gone_[it->second] = 1;
  }
  bool knows(std::string_view name) const { return index_.find(name) != index_.end(); }
  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone_[i]) f(nodes_[i]);
  }
  // An unused name like this one.
  std::string fresh(std::string wanted) const {
    while (knows(wanted)) wanted += "_";
    return wanted;
  }
  Users users() {
    Users out;
    each([&](const proto::NodeDef& n) {
      for (const std::string& in : n.input()) out[Edge(in).node].push_back(n.name());
    });
    return out;
  }

 private:
  std::deque<proto::NodeDef> nodes_;
  std::vector<char> gone_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

// A function that is being cut out of a graph.
struct Piece {
  Flow flow;
  std::vector<std::string> args;
  std::vector<proto::DataType> arg_types;
  std::vector<std::string> results;  // tensors of the flow, or arguments
  std::vector<proto::DataType> result_types;
  bool stateful = false;
};

inline const std::vector<std::string_view>& users_of(const Users& users, std::string_view name) {
  static const std::vector<std::string_view> none;
  const auto it = users.find(name);
  return it == users.end() ? none : it->second;
}

// What the raising of one graph shares: the library that functions go to, and how
// much work may be done.
class Library {
 public:
  explicit Library(proto::GraphDef* def) : def_(def) {}

  // ResourceExhausted when it has become too much.
  void work(std::int64_t steps);

  // Copies into the piece what its results and the nodes of `also` need, up to the
  // tensors that are its arguments, and gives the arguments their names. Control edges
  // for which `drop` is true fall away.
  void cut(Flow& flow, const std::map<std::string, std::string>& args,
           const std::vector<std::string>& also, const std::function<bool(const Edge&)>& drop,
           Piece* piece);

  // Raises the conditions inside it and makes it a function; returns its name.
  std::string add(std::string wanted, Piece piece);

 private:
  proto::GraphDef* def_;
  std::int64_t work_ = 0;
  int next_function_ = 0;
};

void raise_loops(Flow& flow, Library& library);
void raise_conditions(Flow& flow, Library& library);

}  // namespace rill::raising
