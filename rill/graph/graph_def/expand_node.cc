// Ops of TensorFlow's files that have no kernel here: each is what its public
// function builds.
#include <algorithm>

#include "rill/base/check.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

const proto::AttrValue& attr(const proto::NodeDef& def, const char* name) {
  const auto it = def.attr().find(name);
  RILL_CHECK(it != def.attr().end(), invalid_argument, "the attribute {} is missing", name);
  return it->second;
}

// A vector of conditions chooses rows: it has as many axes more as x, of size 1.
Tensor select(const Tensor& condition, const Tensor& x, const Tensor& y) {
  const int rank_known = condition.ndim();
  if (rank_known == 0 || rank_known > 1 || x.ndim() == 1) return where(condition, x, y);
  if (rank_known == 1 && x.ndim() >= 0) {
    Tensor rows = condition;
    for (int i = 1; i < x.ndim(); ++i) rows = expand_dims(rows, -1);
    return where(rows, x, y);
  }
  const Tensor more = where(equal(rank(condition), 1), maximum(rank(x) - 1, 0), 0);
  const Tensor sizes = concat({shape(condition), fill(reshape(more, {1}), 1)}, 0);
  return where(reshape(condition, sizes), x, y);
}

struct Expansion {
  std::string_view op;
  std::size_t inputs;       // 0: any number
  std::string_view output;  // what functions call its result
  Tensor (*build)(const proto::NodeDef& def, const std::vector<Tensor>& in);
};
const Expansion kExpansions[] = {
    {"ZerosLike", 1, "y",
     [](const proto::NodeDef&, const std::vector<Tensor>& in) { return zeros_like(in[0]); }},
    {"OnesLike", 1, "y",
     [](const proto::NodeDef&, const std::vector<Tensor>& in) { return ones_like(in[0]); }},
    {"Select", 3, "output",
     [](const proto::NodeDef&, const std::vector<Tensor>& in) {
       return select(in[0], in[1], in[2]);
     }},
    {"Einsum", 0, "output",
     [](const proto::NodeDef& def, const std::vector<Tensor>& in) {
       return einsum(attr(def, "equation").s(), in);
     }},
    {"BatchMatMulV3", 2, "output",
     [](const proto::NodeDef& def, const std::vector<Tensor>& in) {
       const auto flag = [&](const char* name) {
         return def.attr().contains(name) && def.attr().at(name).b();
       };
       return matmul(in[0], in[1], {.transpose_a = flag("adj_x"), .transpose_b = flag("adj_y")});
     }},
    {"StaticRegexReplace", 1, "output",
     [](const proto::NodeDef& def, const std::vector<Tensor>& in) {
       const bool all = !def.attr().contains("replace_global") || attr(def, "replace_global").b();
       return strings::regex_replace(in[0], attr(def, "pattern").s(), attr(def, "rewrite").s(),
                                     all);
     }},
    {"StaticRegexFullMatch", 1, "output",
     [](const proto::NodeDef& def, const std::vector<Tensor>& in) {
       return strings::regex_full_match(in[0], attr(def, "pattern").s());
     }},
};

}  // namespace

bool is_composite(std::string_view op) { return !composite_output(op).empty(); }

std::string_view composite_output(std::string_view op) {
  const auto* c = std::ranges::find(kExpansions, op, &Expansion::op);
  return c == std::end(kExpansions) ? std::string_view() : c->output;
}

Node* expand_node(Graph& graph, const proto::NodeDef& def, const std::vector<Endpoint>& inputs) {
  const Expansion& c = *std::ranges::find(kExpansions, def.op(), &Expansion::op);
  RILL_CHECK(c.inputs == 0 || c.inputs == inputs.size(), invalid_argument,
             "it has {} inputs; expected {}", inputs.size(), c.inputs);
  TracingScope tracing(graph);
  name_scope scope(def.name() + "/parts");
  std::vector<Tensor> in;
  for (Endpoint e : inputs) in.push_back(graph.tensor(e));
  const Endpoint result = graph.endpoint(c.build(def, in));
  return &graph.add(find_op("Identity"), def.name(), {result}, {}, {info(result)});
}

}  // namespace rill
