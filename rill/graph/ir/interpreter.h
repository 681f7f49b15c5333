#pragma once
#include <span>
#include <vector>

#include "rill/graph/ir/graph.h"

namespace rill {

// Runs a graph node by node, each as eager execution would run it, and lets go
// of every value after its last use. It needs no plan, takes any shapes, and is
// what the planned execution is compared with.
class Interpreter {
 public:
  // Runs what `results` need, and all that has side effects (unless `pure`).
  Interpreter(const Graph& graph, std::vector<Endpoint> results, bool pure = false);
  std::vector<Tensor> run(std::span<const Tensor> inputs) const;

 private:
  struct Step {
    const Node* node;
    std::vector<std::int32_t> inputs;   // slots
    std::int32_t outputs = 0;           // first slot
    std::vector<std::int32_t> release;  // slots that are needed no more
  };
  std::vector<Step> steps_;
  std::vector<std::int32_t> args_, results_;
  std::int32_t slots_ = 0;
};

// Which nodes are needed for `results`; with `effects` also those that change
// state or print, and what they need. By node id.
std::vector<char> needed_nodes(const Graph& graph, const std::vector<Endpoint>& results,
                               bool effects);

}  // namespace rill
