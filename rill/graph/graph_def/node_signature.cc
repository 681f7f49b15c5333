#include <set>

#include "rill/base/check.h"
#include "rill/core/shape_inference.h"
#include "rill/graph/graph_def/node_signature_impl.h"

namespace rill {
namespace {

// Far more outputs than any op of a program has, and few enough to be made.
constexpr std::int64_t kMaxOutputs = 1 << 16;

}  // namespace

bool in_tensorflow(const Op& op) {
  // Kernels of our own that other runtimes build of several ops, and callbacks, which
  // end with the process.
  static const std::set<std::string_view> kOwn = {"LayerNorm",
                                                  "LayerNormGrad",
                                                  "GRUSequence",
                                                  "GRUSequenceGrad",
                                                  "LSTMSequence",
                                                  "LSTMSequenceGrad",
                                                  "ResourceApplyNadam",
                                                  "ResourceApplyAdamKeras",
                                                  "ResourceApplyAdamWithAmsgradKeras",
                                                  "ResourceApplyAdagradKeras",
                                                  "ResourceSparseApplyAdagradKeras",
                                                  "PyFunc",
                                                  "EagerPyFunc"};
  return !op.name.starts_with("_") && !kOwn.contains(op.name);
}

NodeSignature::NodeSignature(const Op& op, std::vector<DType> inputs)
    : op_(&op),
      inputs_(std::move(inputs)),
      types_(op.attrs.size()),
      numbers_(op.attrs.size(), -1),
      lists_(op.attrs.size()) {
  std::size_t lists = 0;
  for (const ArgDef& a : op.inputs) lists += a.is_list();
  const std::size_t singles = op.inputs.size() - lists, n = inputs_.size();
  RILL_CHECK(n >= singles && (lists == 0 ? n == singles : (n - singles) % lists == 0),
             invalid_argument, "[{}] got {} inputs, expected {}{}", op.tag, n, singles,
             lists ? " and those of its lists" : "");
  const std::size_t each = lists ? (n - singles) / lists : 0;
  std::size_t next = 0;
  for (const ArgDef& a : op.inputs) {
    const std::size_t count = a.is_list() ? each : 1;
    if (a.type_list_attr >= 0)
      lists_[static_cast<std::size_t>(a.type_list_attr)] = {next, count, true};
    if (a.number_attr >= 0)
      numbers_[static_cast<std::size_t>(a.number_attr)] = static_cast<std::int64_t>(count);
    if (a.type_attr >= 0 && count > 0)
      types_[static_cast<std::size_t>(a.type_attr)] = inputs_[next];
    next += count;
  }
}

bool NodeSignature::infers(std::size_t attr) const {
  return types_[attr].defined() || numbers_[attr] >= 0 || lists_[attr].bound;
}

std::span<const DType> NodeSignature::types(std::size_t attr) const {
  return std::span(inputs_).subspan(lists_[attr].begin, lists_[attr].size);
}

std::vector<std::size_t> NodeSignature::output_counts(AttrList attrs) const {
  const AttrReader reader(*op_, attrs);
  std::vector<std::size_t> counts;
  for (const ArgDef& a : op_->outputs) {
    std::int64_t n = 1;
    const int slot = a.number_attr >= 0 ? a.number_attr : a.type_list_attr;
    if (slot >= 0) {
      const auto s = static_cast<std::size_t>(slot);
      const std::string& name = op_->attrs[s].name;
      const AttrValue* given = reader.find_attr(name);
      RILL_CHECK(infers(s) || given, invalid_argument, "[{}] the attribute {} is missing", op_->tag,
                 name);
      if (a.number_attr >= 0)
        n = infers(s) ? numbers_[s] : given->as_int();
      else
        n = static_cast<std::int64_t>(infers(s) ? lists_[s].size : given->as_types().size());
      RILL_CHECK(n >= 0 && n <= kMaxOutputs, invalid_argument,
                 "[{}] {} asks for {} outputs; expected 0 to {}", op_->tag, name, n, kMaxOutputs);
    }
    counts.push_back(static_cast<std::size_t>(n));
  }
  return counts;
}

}  // namespace rill
