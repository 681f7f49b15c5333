// What is worked out twice is worked out once.
#include <algorithm>
#include <cstring>
#include <map>

#include "rill/graph/passes/pass.h"

namespace rill {
namespace {

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.id() == b.id()) return true;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape()) || !kPlainTypes.contains(a.dtype()) ||
      a.size() > 64)
    return false;
  const Tensor x = to_host(a), y = to_host(b);
  return std::memcmp(x.impl()->data, y.impl()->data,
                     static_cast<std::size_t>(x.size()) * x.dtype().itemsize()) == 0;
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  using Kind = AttrValue::Kind;
  if (a.kind() != b.kind()) return false;
  auto equal = [](auto x, auto y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  switch (a.kind()) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return a.as_bool() == b.as_bool();
    case Kind::integer:
      return a.as_int() == b.as_int();
    case Kind::floating:
      return a.as_float() == b.as_float();
    case Kind::text:
      return a.as_string() == b.as_string();
    case Kind::type:
      return a.as_type() == b.as_type();
    case Kind::shape:
      return a.as_shape() == b.as_shape();
    case Kind::integers:
      return equal(a.as_ints(), b.as_ints());
    case Kind::floatings:
      return equal(a.as_floats(), b.as_floats());
    case Kind::texts:
      return equal(a.as_strings(), b.as_strings());
    case Kind::types:
      return equal(a.as_types(), b.as_types());
    case Kind::booleans:
      return equal(a.as_bools(), b.as_bools());
    case Kind::shapes:
      return equal(a.as_shapes(), b.as_shapes());
    case Kind::tensor:
      return same_tensor(a.as_tensor(), b.as_tensor());
    case Kind::function:
      return a.as_function() == b.as_function();
    case Kind::functions:
      return equal(a.as_functions(), b.as_functions());
  }
  return false;
}

}  // namespace

bool same_attrs(const Node& a, const Node& b) {
  const AttrList x = a.attrs.list(), y = b.attrs.list();
  if (x.size() != y.size()) return false;
  for (const Attr& p : x) {
    bool found = false;
    for (const Attr& q : y) found = found || (p.name == q.name && same_value(p.value, q.value));
    if (!found) return false;
  }
  return true;
}

namespace {

std::string common_subexpressions(Graph& graph) {
  int count = 0;
  // By op and inputs; a read of a variable also by how many effects came before.
  std::map<std::string, std::vector<Node*>> seen;
  std::map<const Node*, Node*> same;
  int effects = 0;
  for (const auto& n : graph.nodes()) {
    for (Endpoint& e : n->inputs)
      if (auto it = same.find(e.node); it != same.end()) e.node = it->second;
    const bool read = n->op->only_reads();
    if (n->op->stateful && !read) {
      ++effects;
      continue;
    }
    if (is_argument(*n) || n->outputs.empty()) continue;
    std::string key = n->op->name;
    for (Endpoint e : n->inputs) key += format(" {}:{}", e.node->id, e.index);
    if (read) key += format(" @{}", effects);
    key += n->device;
    std::vector<Node*>& alike = seen[key];
    Node* found = nullptr;
    for (Node* m : alike)
      if (same_attrs(*m, *n)) found = m;
    if (found) {
      same[n.get()] = found;
      ++count;
    } else {
      alike.push_back(n.get());
    }
  }
  if (count == 0) return "";
  for (Endpoint& e : graph.results)
    if (auto it = same.find(e.node); it != same.end()) e.node = it->second;
  for (const auto& n : graph.nodes())
    for (Node*& c : n->control_inputs)
      if (auto it = same.find(c); it != same.end()) c = it->second;
  prune(graph);
  return format("{} nodes were others again", count);
}
const PassRegistration registered_common_subexpressions(
    40, "common_subexpressions", "What is worked out twice is worked out once.",
    common_subexpressions);

}  // namespace
}  // namespace rill
