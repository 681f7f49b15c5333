#include <algorithm>

#include "rill/base/check.h"
#include "rill/graph/graph_def/graph_def_impl.h"

namespace rill {
namespace {

// The same op under another name.
struct Renamed {
  std::string_view before, now;
};
constexpr Renamed kRenamed[] = {
    {"BatchMatMul", "BatchMatMulV2"},
    {"BiasAddV1", "BiasAdd"},
    {"BatchMatrixSolve", "MatrixSolve"},
    {"BatchMatrixInverse", "MatrixInverse"},
    {"BatchMatrixDeterminant", "MatrixDeterminant"},
    {"BatchCholesky", "Cholesky"},
    {"BatchMatrixTriangularSolve", "MatrixTriangularSolve"},
    {"FusedBatchNorm", "FusedBatchNormV3"},
    {"FusedBatchNormV2", "FusedBatchNormV3"},
    {"Inv", "Reciprocal"},
    {"PlaceholderV2", "Placeholder"},
    {"PreventGradient", "Identity"},
    {"Snapshot", "Identity"},
    {"PlaceholderWithDefault", "Identity"},
    {"TopK", "TopKV2"},
    {"Mod", "TruncateMod"},
};

Endpoint constant(Graph& graph, const proto::NodeDef& def, const char* name, std::int32_t value) {
  return graph.add_constant(to_tensor(Operand(value)), def.name() + "/" + name);
}

}  // namespace

bool is_outdated(std::string_view op) {
  return op == "Add" || op == "Div" || op == "Concat" || op == "Gather" || is_old_parser(op) ||
         std::ranges::find(kRenamed, op, &Renamed::before) != std::end(kRenamed);
}

void modernize_node(Graph& graph, proto::NodeDef* def, std::vector<Endpoint>* inputs) {
  std::string_view op = def->op();
  const auto renamed = std::ranges::find(kRenamed, op, &Renamed::before);
  auto& attrs = *def->mutable_attr();
  if (is_old_parser(op)) {
    modernize_parser(graph, def, inputs);
  } else if (op == "Add" && !inputs->empty() && info(inputs->front()).dtype != string) {
    def->set_op("AddV2");
  } else if (op == "Div" && !inputs->empty()) {
    const DType d = info(inputs->front()).dtype;
    def->set_op(d.is_integer() ? "TruncateDiv" : "RealDiv");
  } else if (op == "Concat" && !inputs->empty()) {  // the axis came first
    std::rotate(inputs->begin(), inputs->begin() + 1, inputs->end());
    def->set_op("ConcatV2");
  } else if (op == "Gather" && inputs->size() == 2) {
    inputs->push_back(constant(graph, *def, "axis", 0));
    attrs.erase("validate_indices");
    def->set_op("GatherV2");
  } else if (op == "TopK" && attrs.contains("k")) {
    inputs->push_back(constant(graph, *def, "k", static_cast<std::int32_t>(attrs["k"].i())));
    attrs.erase("k");
    def->set_op("TopKV2");
  } else if (renamed != std::end(kRenamed)) {
    for (const char* gone : {"dtype", "shape", "message"})
      if (renamed->now == "Identity") attrs.erase(gone);
    def->set_op(std::string(renamed->now));
  }
}

}  // namespace rill
