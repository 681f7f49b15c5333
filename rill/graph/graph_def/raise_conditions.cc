#include <set>

#include "rill/graph/graph_def/raise_control_flow_impl.h"

namespace rill::raising {
namespace {

// Where a node stands: on which side of which predicates.
using Sides = std::map<std::string, int, std::less<>>;

// The tensor behind copies of it.
std::string predicate(Flow& flow, const std::string& tensor) {
  std::string at = tensor;
  for (int i = 0; i < 64; ++i) {
    const proto::NodeDef* n = flow.find(Edge(at).node);
    if (!n || !is_op(*n, "Identity") || n->input_size() < 1) break;
    at = Edge(n->input(0)).tensor();
  }
  return at;
}

std::vector<std::string> sorted(Flow& flow) {
  std::map<std::string, int> waits;
  const auto users = flow.users();
  std::vector<std::string> order, ready;
  int count = 0;
  flow.each([&](const proto::NodeDef& n) {
    ++count;
    int& w = waits[n.name()];
    for (const std::string& in : n.input()) w += flow.find(Edge(in).node) != nullptr;
    if (w == 0) ready.push_back(n.name());
  });
  while (!ready.empty()) {
    order.push_back(std::move(ready.back()));
    ready.pop_back();
    for (std::string_view u : users_of(users, order.back()))
      if (--waits[std::string(u)] == 0) ready.emplace_back(u);
  }
  if (static_cast<int>(order.size()) != count)
    for (const auto& [name, w] : waits)
      RILL_CHECK(w == 0, invalid_argument,
                 "[import_graph_def] node \"{}\" waits for itself: it is on a cycle, or uses one",
                 name);
  return order;
}

// Identity of the Switch of a predicate by itself: branches hang on it by control edges.
bool is_pivot(Flow& flow, const proto::NodeDef& n) {
  if (is_op(n, "Switch")) return true;
  if (!is_op(n, "Identity") || n.input_size() < 1) return false;
  const proto::NodeDef* s = flow.find(Edge(n.input(0)).node);
  return s && is_op(*s, "Switch");
}

void raise_condition(Flow& flow, Library& library, const std::string& pred,
                     const std::vector<std::string>& merges,
                     const std::map<std::string, Sides, std::less<>>& sides) {
  // Arguments of both branches: what the Switch nodes of this predicate take in.
  Piece branch[2];
  std::map<std::string, std::string> args[2];
  proto::NodeDef choice;
  auto& attrs = *choice.mutable_attr();
  attrs["Tin"].mutable_list();
  attrs["Tout"].mutable_list();
  choice.add_input(pred);
  std::map<std::string, std::string> by_source;  // tensor from outside: argument
  for (int side : {0, 1}) {
    std::set<std::string> seen;
    std::vector<std::string> todo;
    auto reach = [&](const Edge& e, const proto::NodeDef& user) {
      const proto::NodeDef* n = flow.find(e.node);
      if (!n || e.control) {
        if (n && !is_pivot(flow, *n)) todo.emplace_back(e.node);
        return;
      }
      if (is_op(*n, "Switch") && n->input_size() >= 2 &&
          predicate(flow, Edge(n->input(1)).tensor()) == pred) {
        if (e.index != (side ? "1" : "0")) cannot_raise(user, "it uses both sides of a Switch");
        const std::string source = Edge(n->input(0)).tensor();
        auto it = by_source.find(source);
        if (it == by_source.end()) {
          const std::string arg = flow.fresh(format("input_{}", by_source.size()));
          it = by_source.emplace(source, arg).first;
          choice.add_input(source);
          attrs["Tin"].mutable_list()->add_type(type_of(*n));
          for (Piece& p : branch) p.args.push_back(arg), p.arg_types.push_back(type_of(*n));
        }
        args[side][e.tensor()] = it->second;
        return;
      }
      const auto at = sides.find(e.node);
      const bool in_branch = at != sides.end() && at->second.contains(pred);
      if (!in_branch && !is_op(*n, "Const"))
        cannot_raise(user, format("\"{}\" comes into its branch without a Switch", e.tensor()));
      todo.emplace_back(e.node);
    };
    for (const std::string& m : merges) {
      const proto::NodeDef& n = *flow.find(m);
      reach(Edge(n.input(side)), n);
    }
    while (!todo.empty()) {
      const std::string name = std::move(todo.back());
      todo.pop_back();
      if (!seen.insert(name).second) continue;
      const proto::NodeDef* n = flow.find(name);
      if (!n) continue;
      for (const std::string& in : n->input()) reach(Edge(in), *n);
    }
    library.work(static_cast<std::int64_t>(seen.size()));
  }
  // What hangs on pivots hangs no more.
  const auto on_pivot = [&](const Edge& e) {
    const proto::NodeDef* from = flow.find(e.node);
    return !from || is_pivot(flow, *from);
  };
  for (int side : {0, 1}) {
    for (const std::string& m : merges) {
      const proto::NodeDef& n = *flow.find(m);
      branch[side].results.push_back(Edge(n.input(side)).tensor());
      branch[side].result_types.push_back(type_of(n));
    }
    library.cut(flow, args[side], {}, on_pivot, &branch[side]);
  }
  const std::string name = flow.fresh(merges[0] + "/If");
  choice.set_name(name);
  choice.set_op(branch[0].stateful || branch[1].stateful ? "If" : "StatelessIf");
  attrs["Tcond"].set_type(proto::DT_BOOL);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    proto::NodeDef& n = *flow.find(merges[i]);
    attrs["Tout"].mutable_list()->add_type(type_of(n));
    const proto::AttrValue type = n.attr().at("T");
    n.set_op("Identity");
    n.clear_input();
    n.clear_attr();
    (*n.mutable_attr())["T"] = type;
    n.add_input(i ? format("{}:{}", name, i) : name);
  }
  attrs["else_branch"].mutable_func()->set_name(
      library.add(merges[0] + "_false", std::move(branch[0])));
  attrs["then_branch"].mutable_func()->set_name(
      library.add(merges[0] + "_true", std::move(branch[1])));
  flow.add(std::move(choice));
}

// One condition in whose branches there is no other. False: there is none left.
bool raise_innermost(Flow& flow, Library& library, const std::vector<std::string>& order) {
  library.work(static_cast<std::int64_t>(order.size()) * 4);
  std::map<std::string, Sides, std::less<>> sides;
  std::map<std::string, std::string> merge_pred;
  for (const std::string& name : order) {
    const proto::NodeDef* n = flow.find(name);
    if (!n) continue;
    Sides own;
    bool first = true;
    for (const std::string& in : n->input()) {
      const Edge e(in);
      Sides from;
      if (const auto it = sides.find(e.node); it != sides.end()) from = it->second;
      if (const proto::NodeDef* s = flow.find(e.node);
          s && is_op(*s, "Switch") && s->input_size() >= 2 && !e.control)
        from[predicate(flow, Edge(s->input(1)).tensor())] = e.index == "1";
      if (is_op(*n, "Merge") && first) {
        own = std::move(from);
        first = false;
        continue;
      }
      if (is_op(*n, "Merge") && !e.control) {
        // The predicate on which the two sides differ ends here.
        std::string ends;
        for (const auto& [p, side] : from)
          if (const auto it = own.find(p); it != own.end() && it->second != side)
            ends = ends.empty() ? p : ends;
        if (!ends.empty()) merge_pred[name] = ends;
        from.erase(ends);
        own.erase(ends);
      }
      for (const auto& [p, side] : from) own.emplace(p, side);
    }
    if (own.size() > 256) cannot_raise(*n, "it is in too many branches");
    library.work(static_cast<std::int64_t>(own.size()) * 8);
    sides[name] = std::move(own);
  }
  // The first Merge, so that its branches hold none, and those beside it.
  std::string pred;
  std::vector<std::string> merges;
  std::set<std::string, std::less<>> after;  // what depends on any Merge
  for (const std::string& name : order) {
    const proto::NodeDef* n = flow.find(name);
    bool late = false;
    for (const std::string& in : n->input()) late = late || after.contains(Edge(in).node);
    if (is_op(*n, "Merge")) {
      const auto p = merge_pred.find(name);
      if (p == merge_pred.end() || n->input_size() < 2)
        cannot_raise(*n, "its inputs are not the two sides of one predicate");
      if (merges.empty()) pred = p->second;
      if (!late && p->second == pred) merges.push_back(name);
      late = true;
    }
    if (late) after.insert(name);
  }
  if (merges.empty()) return false;
  raise_condition(flow, library, pred, merges, sides);
  return true;
}

}  // namespace

void raise_conditions(Flow& flow, Library& library) {
  bool any = false;
  flow.each([&](const proto::NodeDef& n) { any = any || is_op(n, "Switch") || is_op(n, "Merge"); });
  if (!any) return;
  while (raise_innermost(flow, library, sorted(flow))) {
  }
  flow.each([&](const proto::NodeDef& n) {
    if (is_op(n, "Merge")) cannot_raise(n, "its inputs are not the two sides of one predicate");
  });
  // What is left hangs on pivots and leads nowhere.
  std::set<std::string> dead;
  for (const std::string& name : sorted(flow))
    if (const proto::NodeDef* n = flow.find(name)) {
      bool gone = is_op(*n, "Switch");
      for (const std::string& in : n->input())
        gone = gone || dead.contains(std::string(Edge(in).node));
      if (gone) dead.insert(name);
    }
  for (const std::string& name : dead) flow.remove(name);
}

}  // namespace rill::raising
