#include "rill/graph/ir/interpreter.h"

#include "rill/base/check.h"
#include "rill/core/observer.h"

namespace rill {

std::vector<char> needed_nodes(const Graph& graph, const std::vector<Endpoint>& results,
                               bool effects) {
  const auto& nodes = graph.nodes();
  std::vector<char> needed(nodes.size(), 0);
  for (Endpoint e : results) needed[static_cast<std::size_t>(e.node->id)] = 1;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const Node& n = *nodes[i];
    // Reading a variable changes nothing.
    if (effects && n.op->has_effects() && !n.lifted) needed[i] = 1;
    if (!needed[i]) continue;
    for (Endpoint e : n.inputs) needed[static_cast<std::size_t>(e.node->id)] = 1;
    for (const Node* c : n.control_inputs) needed[static_cast<std::size_t>(c->id)] = 1;
  }
  return needed;
}

Interpreter::Interpreter(const Graph& graph, std::vector<Endpoint> results, bool pure) {
  const std::vector<char> needed = needed_nodes(graph, results, !pure);
  const auto& nodes = graph.nodes();
  std::vector<std::int32_t> first(nodes.size(), -1);
  for (const Node* a : graph.args) {
    first[static_cast<std::size_t>(a->id)] = slots_;
    args_.push_back(slots_++);
  }
  auto slot = [&](Endpoint e) { return first[static_cast<std::size_t>(e.node->id)] + e.index; };
  for (const auto& n : nodes) {
    const auto id = static_cast<std::size_t>(n->id);
    if (!needed[id] || first[id] >= 0) continue;
    Step s;
    s.node = n.get();
    for (Endpoint e : n->inputs) {
      RILL_CHECK(first[static_cast<std::size_t>(e.node->id)] >= 0, internal,
                 "node \"{}\" uses \"{}\", which comes after it", n->name, e.node->name);
      s.inputs.push_back(slot(e));
    }
    s.outputs = first[id] = slots_;
    slots_ += static_cast<std::int32_t>(n->outputs.size());
    steps_.push_back(std::move(s));
  }
  for (Endpoint e : results) results_.push_back(slot(e));
  // After whom each slot is free.
  std::vector<std::int32_t> last(static_cast<std::size_t>(slots_), -1);
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    for (std::int32_t i : steps_[k].inputs)
      last[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(k);
    for (std::size_t o = 0; o < steps_[k].node->outputs.size(); ++o)
      last[static_cast<std::size_t>(steps_[k].outputs) + o] = static_cast<std::int32_t>(k);
  }
  for (std::int32_t r : results_) last[static_cast<std::size_t>(r)] = -1;
  for (std::size_t i = 0; i < last.size(); ++i)
    if (last[i] >= 0)
      steps_[static_cast<std::size_t>(last[i])].release.push_back(static_cast<std::int32_t>(i));
}

namespace {

[[noreturn]] void fail_at(const Node& n, const errors::Error& e) {
  std::string where = format("in node \"{}\"", n.name);
  if (n.file) where += format(" ({}:{})", n.file, n.line);
  throw_error(e.code(), e.message() + "\n  " + where);
}

}  // namespace

std::vector<Tensor> Interpreter::run(std::span<const Tensor> inputs) const {
  std::vector<Tensor> values(static_cast<std::size_t>(slots_));
  for (std::size_t i = 0; i < args_.size(); ++i)
    values[static_cast<std::size_t>(args_[i])] = inputs[i];
  std::vector<In> in;
  const CallSiteScope site;  // errors name the node and its line
  if (call_context().checks_numerics) CallSiteScope::put();
  for (const Step& s : steps_) {
    const Node& n = *s.node;
    RILL_CHECK(!is_argument(n), invalid_argument,
               "placeholder \"{}\" ({} {}) needs a value, and none was given", n.name,
               n.outputs[0].dtype, n.outputs[0].shape);
    in.clear();
    for (std::int32_t i : s.inputs) in.emplace_back(values[static_cast<std::size_t>(i)]);
    const ScopedDevice scope(n);
    const NodeOfNextCall observed(n.name, Ran::node);
    try {
      if (n.outputs.size() == 1) {
        Tensor out = execute(*n.op, std::span<const In>(in), n.attrs.list());
        values[static_cast<std::size_t>(s.outputs)] = std::move(out);
      } else {
        auto out = execute_all(*n.op, std::span<const In>(in), n.attrs.list(),
                               static_cast<int>(n.outputs.size()));
        for (std::size_t k = 0; k < out.size(); ++k)
          values[static_cast<std::size_t>(s.outputs) + k] = std::move(out[k]);
      }
    } catch (const errors::Error& e) {
      fail_at(n, e);
    }
    for (std::int32_t i : s.release) values[static_cast<std::size_t>(i)] = {};
  }
  std::vector<Tensor> out;
  out.reserve(results_.size());
  for (std::int32_t r : results_) out.push_back(values[static_cast<std::size_t>(r)]);
  return out;
}

}  // namespace rill
