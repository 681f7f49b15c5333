#include <charconv>
#include <set>

#include "rill/graph/graph_def/raise_control_flow_impl.h"

namespace rill::raising {
namespace {

// Where a node is: on which side of which predicates. A predicate is a bool (0: false, 1: true), or
// the number of a branch.
using Sides = std::map<std::string, int, std::less<>>;

// A Merge that ends a condition: its predicate, and which input belongs to each side.
struct End {
  std::string pred;
  std::vector<int> input_of_side;
};
using Ends = std::map<std::string, End, std::less<>>;

bool is_switch(const proto::NodeDef& n) {
  return (is_op(n, "Switch") || is_op(n, "_SwitchN")) && n.input_size() >= 2;
}
// The side that an output of a Switch is on.
int side_of(const Edge& e) {
  int side = 0;
  std::from_chars(e.index.data(), e.index.data() + e.index.size(), side);
  return side;
}

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
  if (is_switch(n)) return true;
  if (!is_op(n, "Identity") || n.input_size() < 1) return false;
  const proto::NodeDef* s = flow.find(Edge(n.input(0)).node);
  return s && is_switch(*s);
}

void raise_condition(Flow& flow, Library& library, const std::vector<std::string>& merges,
                     const Ends& ends, const std::map<std::string, Sides, std::less<>>& sides) {
  const std::string& pred = ends.find(merges[0])->second.pred;
  const std::size_t count = ends.find(merges[0])->second.input_of_side.size();
  const auto input_of = [&](const std::string& merge, std::size_t side) {
    return Edge(flow.find(merge)->input(ends.find(merge)->second.input_of_side[side]));
  };
  // Arguments of all branches: what the Switch nodes of this predicate take in.
  std::vector<Piece> branch(count);
  std::vector<std::map<std::string, std::string>> args(count);
  bool by_number = false;
  proto::NodeDef choice;
  auto& attrs = *choice.mutable_attr();
  attrs["Tin"].mutable_list();
  attrs["Tout"].mutable_list();
  choice.add_input(pred);
  std::map<std::string, std::string> by_source;  // tensor from outside: argument
  for (std::size_t side = 0; side < count; ++side) {
    std::set<std::string> seen;
    std::vector<std::string> todo;
    auto reach = [&](const Edge& e, const proto::NodeDef& user) {
      const proto::NodeDef* n = flow.find(e.node);
      if (!n || e.control) {
        if (n && !is_pivot(flow, *n)) todo.emplace_back(e.node);
        return;
      }
      if (is_switch(*n) && predicate(flow, Edge(n->input(1)).tensor()) == pred) {
        by_number = by_number || is_op(*n, "_SwitchN");
        if (side_of(e) != static_cast<int>(side))
          cannot_raise(user, "it uses several sides of a Switch");
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
      reach(input_of(m, side), n);
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
  bool stateful = false;
  for (std::size_t side = 0; side < count; ++side) {
    for (const std::string& m : merges) {
      branch[side].results.push_back(input_of(m, side).tensor());
      branch[side].result_types.push_back(type_of(*flow.find(m)));
    }
    library.cut(flow, args[side], {}, on_pivot, &branch[side]);
    stateful = stateful || branch[side].stateful;
  }
  by_number = by_number || count != 2;
  const std::string kind = by_number ? "Case" : "If";
  const std::string name = flow.fresh(merges[0] + "/" + kind);
  choice.set_name(name);
  choice.set_op(stateful ? kind : "Stateless" + kind);
  if (!by_number) attrs["Tcond"].set_type(proto::DT_BOOL);
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
  if (by_number) {
    for (std::size_t i = 0; i < count; ++i)
      attrs["branches"].mutable_list()->add_func()->set_name(
          library.add(format("{}_{}", merges[0], i), std::move(branch[i])));
  } else {
    attrs["else_branch"].mutable_func()->set_name(
        library.add(merges[0] + "_false", std::move(branch[0])));
    attrs["then_branch"].mutable_func()->set_name(
        library.add(merges[0] + "_true", std::move(branch[1])));
  }
  flow.add(std::move(choice));
}

// The predicate on whose sides the inputs of a Merge are, each on another. TensorFlow 1 puts the
// false side first, a lowered If the true one. An input that is a constant may be on no side: then
// it is on the one that is left. Empty: there is none.
End end_of(const std::vector<Sides>& inputs) {
  std::set<std::string> candidates;
  if (inputs.size() < 2) return {};
  for (const Sides& s : inputs)
    for (const auto& [p, side] : s) candidates.insert(p);
  for (const bool all_must_say : {true, false})
    for (const std::string& p : candidates) {
      std::vector<int> input_of_side(inputs.size(), -1), silent;
      bool fits = true;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto it = inputs[i].find(p);
        if (it == inputs[i].end()) {
          silent.push_back(static_cast<int>(i));
          continue;
        }
        const auto side = static_cast<std::size_t>(it->second);
        fits = fits && it->second >= 0 && side < inputs.size() && input_of_side[side] < 0;
        if (fits) input_of_side[side] = static_cast<int>(i);
      }
      if (!fits || silent.size() > (all_must_say ? 0 : 1)) continue;
      for (int& input : input_of_side)
        if (input < 0) input = silent[0];
      return {p, std::move(input_of_side)};
    }
  return {};
}

// One condition in whose branches there is no other. False: there is none left.
bool raise_innermost(Flow& flow, Library& library, const std::vector<std::string>& order) {
  library.work(static_cast<std::int64_t>(order.size()) * 4);
  std::map<std::string, Sides, std::less<>> sides;
  Ends ends;
  for (const std::string& name : order) {
    const proto::NodeDef* n = flow.find(name);
    if (!n) continue;
    Sides own;
    std::vector<Sides> merged;  // of a Merge: of its inputs
    for (const std::string& in : n->input()) {
      const Edge e(in);
      Sides from;
      if (const auto it = sides.find(e.node); it != sides.end()) from = it->second;
      if (const proto::NodeDef* s = flow.find(e.node); s && is_switch(*s) && !e.control)
        from[predicate(flow, Edge(s->input(1)).tensor())] = side_of(e);
      if (is_op(*n, "Merge") && !e.control)
        merged.push_back(std::move(from));
      else
        for (const auto& [p, side] : from) own.emplace(p, side);
    }
    if (is_op(*n, "Merge")) {
      End end = end_of(merged);  // the predicate ends here
      for (const Sides& from : merged)
        for (const auto& [p, side] : from)
          if (p != end.pred) own.emplace(p, side);
      if (!end.pred.empty()) ends[name] = std::move(end);
    }
    if (own.size() > 256) cannot_raise(*n, "it is in too many branches");
    library.work(static_cast<std::int64_t>(own.size()) * 8);
    sides[name] = std::move(own);
  }
  // The first Merge, so that its branches hold none, and those beside it.
  std::string pred;
  std::size_t count = 0;
  std::vector<std::string> merges;
  std::set<std::string, std::less<>> after;  // what depends on any Merge
  for (const std::string& name : order) {
    const proto::NodeDef* n = flow.find(name);
    bool late = false;
    for (const std::string& in : n->input()) late = late || after.contains(Edge(in).node);
    if (is_op(*n, "Merge")) {
      const auto end = ends.find(name);
      if (end == ends.end()) cannot_raise(*n, "its inputs are not the sides of one predicate");
      if (merges.empty()) {
        pred = end->second.pred;
        count = end->second.input_of_side.size();
      }
      if (!late && end->second.pred == pred) {
        if (end->second.input_of_side.size() != count)
          cannot_raise(*n, "it joins another number of branches than one beside it");
        merges.push_back(name);
      }
      late = true;
    }
    if (late) after.insert(name);
  }
  if (merges.empty()) return false;
  raise_condition(flow, library, merges, ends, sides);
  return true;
}

}  // namespace

void raise_conditions(Flow& flow, Library& library) {
  bool any = false;
  flow.each([&](const proto::NodeDef& n) { any = any || is_switch(n) || is_op(n, "Merge"); });
  if (!any) return;
  while (raise_innermost(flow, library, sorted(flow))) {
  }
  flow.each([&](const proto::NodeDef& n) {
    if (is_op(n, "Merge")) cannot_raise(n, "its inputs are not the sides of one predicate");
  });
  // What is left hangs on pivots and leads nowhere.
  std::set<std::string> dead;
  for (const std::string& name : sorted(flow))
    if (const proto::NodeDef* n = flow.find(name)) {
      bool gone = is_switch(*n);
      for (const std::string& in : n->input())
        gone = gone || dead.contains(std::string(Edge(in).node));
      if (gone) dead.insert(name);
    }
  for (const std::string& name : dead) flow.remove(name);
}

}  // namespace rill::raising
