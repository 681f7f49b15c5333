#include <cctype>
#include <set>

#include "rill/graph/graph_def/raise_control_flow_impl.h"

namespace rill {
namespace raising {
namespace {

// Frames and conditions times nodes: more than any graph has that was not made to
// keep us busy.
constexpr std::int64_t kMaxWork = 400'000'000;

bool is_stateful(const proto::NodeDef& n) {
  try {
    return find_op(n.op()).stateful;
  } catch (const errors::NotFound&) {
    return true;  // a function, or what will be an error in a moment
  }
}

}  // namespace

void Library::work(std::int64_t steps) {
  work_ += steps;
  RILL_CHECK(work_ <= kMaxWork, resource_exhausted,
             "[import_graph_def] the control flow of this graph is too tangled to be raised to "
             "loops and conditions");
}

void Library::cut(Flow& flow, const std::map<std::string, std::string>& args,
                  const std::vector<std::string>& also,
                  const std::function<bool(const Edge&)>& drop, Piece* piece) {
  auto argument = [&](const Edge& e) -> const std::string* {
    const auto it = args.find(e.tensor());
    return it == args.end() ? nullptr : &it->second;
  };
  std::set<std::string, std::less<>> seen;
  std::vector<std::string> todo(also);
  for (std::string& r : piece->results) {
    const Edge e(r);
    if (const std::string* a = argument(e))
      r = *a;
    else
      todo.emplace_back(e.node);
  }
  std::set<std::string_view> boundary;
  for (const auto& [tensor, arg] : args) boundary.insert(Edge(tensor).node);
  std::vector<proto::NodeDef> found;
  while (!todo.empty()) {
    const std::string name = std::move(todo.back());
    todo.pop_back();
    if (boundary.contains(name) || !seen.insert(name).second) continue;
    proto::NodeDef* n = flow.find(name);
    RILL_CHECK(n, not_found, "[import_graph_def] there is no node \"{}\"", name);
    if (is_flow(*n) && !is_op(*n, "Switch") && !is_op(*n, "Merge"))
      cannot_raise(*n, "a loop's body uses it from outside");
    proto::NodeDef copy = *n;
    copy.clear_input();
    for (const std::string& in : n->input()) {
      const Edge e(in);
      if (e.control) {
        // Arguments are there anyway.
        if (boundary.contains(e.node) || (drop && drop(e))) continue;
        todo.emplace_back(e.node);
        copy.add_input(in);
      } else if (const std::string* a = argument(e)) {
        copy.add_input(*a);
      } else {
        if (boundary.contains(e.node)) cannot_raise(*n, "it uses a value on the way out");
        todo.emplace_back(e.node);
        copy.add_input(in);
      }
    }
    piece->stateful = piece->stateful || (!is_flow(*n) && is_stateful(*n));
    found.push_back(std::move(copy));
  }
  work(static_cast<std::int64_t>(found.size()));
  for (proto::NodeDef& n : found) piece->flow.add(std::move(n));
}

std::string Library::add(std::string wanted, Piece piece) {
  raise_conditions(piece.flow, *this);
  for (char& c : wanted)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  proto::FunctionDef& f = *def_->mutable_library()->add_function();
  std::string name = format("__raised_{}_{}", wanted, next_function_++);
  f.mutable_signature()->set_name(name);
  (*f.mutable_attr())[kGraphInputs].set_b(true);
  for (std::size_t i = 0; i < piece.args.size(); ++i) {
    auto* arg = f.mutable_signature()->add_input_arg();
    arg->set_name(piece.args[i]);
    arg->set_type(piece.arg_types[i]);
  }
  piece.flow.each([&](proto::NodeDef& n) { f.add_node_def()->Swap(&n); });
  for (std::size_t i = 0; i < piece.results.size(); ++i) {
    auto* out = f.mutable_signature()->add_output_arg();
    out->set_name(format("result_{}", i));
    out->set_type(piece.result_types[i]);
    (*f.mutable_ret())[out->name()] = piece.results[i];
  }
  return name;
}

}  // namespace raising

void raise_control_flow(proto::GraphDef* def) {
  using namespace raising;
  bool any = false;
  for (const proto::NodeDef& n : def->node()) any = any || is_flow(n);
  for (const proto::FunctionDef& f : def->library().function())
    for (const proto::NodeDef& n : f.node_def())
      if (is_flow(n)) cannot_raise(n, "it is in a function");
  if (!any) return;
  Flow flow;
  for (proto::NodeDef& n : *def->mutable_node()) flow.add(std::move(n));
  Library library(def);
  raise_loops(flow, library);
  raise_conditions(flow, library);
  def->clear_node();
  flow.each([&](proto::NodeDef& n) { def->add_node()->Swap(&n); });
}

}  // namespace rill
