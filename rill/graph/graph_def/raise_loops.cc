#include <set>

#include "rill/graph/graph_def/raise_control_flow_impl.h"

namespace rill::raising {
namespace {

// False: it has a loop inside that must be raised first.
bool raise_loop(Flow& flow, Library& library, const std::string& frame,
                const std::vector<std::string>& enters) {
  // All that is in the frame: what Enter nodes lead to, up to Exit.
  const auto users = flow.users();
  library.work(static_cast<std::int64_t>(users.size()) + 1);
  std::set<std::string_view> inside(enters.begin(), enters.end());
  std::vector<std::string_view> todo(enters.begin(), enters.end()), exits;
  while (!todo.empty()) {
    const std::string_view name = todo.back();
    todo.pop_back();
    const auto it = users.find(name);
    if (it == users.end()) continue;
    for (std::string_view u : it->second) {
      const proto::NodeDef& n = *flow.find(u);
      if (is_op(n, "Exit")) {
        exits.push_back(n.name());
        continue;
      }
      if (is_op(n, "Enter") && !inside.contains(n.name())) return false;
      if (inside.insert(n.name()).second) todo.push_back(n.name());
    }
  }
  // The loop's values: Enter -> Merge -> Switch, and back by NextIteration.
  struct Value {
    const proto::NodeDef *enter, *merge = nullptr, *turn = nullptr, *next = nullptr;
  };
  std::vector<Value> values, constants;
  const proto::NodeDef* loop_cond = nullptr;
  for (const std::string& e : enters) {
    const proto::NodeDef* enter = flow.find(e);
    if (const auto c = enter->attr().find("is_constant");
        c != enter->attr().end() && c->second.b()) {
      constants.push_back({enter});
      continue;
    }
    Value v{enter};
    for (std::string_view u : users_of(users, e))
      if (const proto::NodeDef* n = flow.find(u); is_op(*n, "Merge")) {
        if (v.merge || n->input_size() < 2) cannot_raise(*enter, "its Merge is not one of a loop");
        v.merge = n;
      }
    if (!v.merge) {  // a value that never comes round
      constants.push_back({enter});
      continue;
    }
    v.next = flow.find(Edge(v.merge->input(1)).node);
    if (!v.next || !is_op(*v.next, "NextIteration") || v.next->input_size() < 1)
      cannot_raise(*v.merge, "no NextIteration comes back to it");
    for (std::string_view u : users_of(users, v.merge->name()))
      if (const proto::NodeDef* n = flow.find(u); is_op(*n, "Switch") && n->input_size() >= 2 &&
                                                  Edge(n->input(0)).node == v.merge->name()) {
        const proto::NodeDef* c = flow.find(Edge(n->input(1)).node);
        if (!c || !is_op(*c, "LoopCond") || c->input_size() < 1) continue;
        if (loop_cond && loop_cond != c) cannot_raise(*n, "the frame has two conditions");
        loop_cond = c;
        v.turn = n;
      }
    values.push_back(v);
  }
  if (!loop_cond) cannot_raise(*flow.find(enters[0]), "the frame has no condition");
  // Both functions take the values and the constants.
  std::map<std::string, std::string> in_cond, in_body;  // tensor: argument
  Piece cond, body;
  auto argument = [&](const std::string& wanted, proto::DataType type) {
    const std::string name = flow.fresh(wanted);
    for (Piece* p : {&cond, &body}) p->args.push_back(name), p->arg_types.push_back(type);
    return name;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& v = values[i];
    const std::string arg = argument(format("value_{}", i), type_of(*v.enter));
    in_cond[v.merge->name()] = in_body[v.merge->name()] = arg;
    if (v.turn) in_body[v.turn->name() + ":1"] = arg;
    body.results.push_back(Edge(v.next->input(0)).tensor());
    body.result_types.push_back(type_of(*v.enter));
  }
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const std::string arg = argument(format("constant_{}", i), type_of(*constants[i].enter));
    in_cond[constants[i].enter->name()] = in_body[constants[i].enter->name()] = arg;
    body.results.push_back(constants[i].enter->name());
    body.result_types.push_back(type_of(*constants[i].enter));
  }
  cond.results.push_back(Edge(loop_cond->input(0)).tensor());
  cond.result_types.push_back(proto::DT_BOOL);
  std::vector<std::string> also;  // effects that NextIteration waits for
  for (const Value& v : values)
    for (const std::string& in : v.next->input())
      if (Edge(in).control) also.emplace_back(Edge(in).node);
  library.cut(flow, in_cond, {}, nullptr, &cond);
  library.cut(flow, in_body, also, nullptr, &body);
  // The loop as one node, under the name of its condition.
  proto::NodeDef loop;
  loop.set_name(loop_cond->name());
  loop.set_op(cond.stateful || body.stateful ? "While" : "StatelessWhile");
  auto& attrs = *loop.mutable_attr();
  attrs["T"].mutable_list();
  std::vector<const proto::NodeDef*> all;
  for (const Value& v : values) all.push_back(v.enter);
  for (const Value& v : constants) all.push_back(v.enter);
  for (const proto::NodeDef* e : all) {
    loop.add_input(Edge(e->input(0)).tensor());
    attrs["T"].mutable_list()->add_type(type_of(*e));
  }
  for (const proto::NodeDef* e : all)
    for (const std::string& in : e->input())
      if (Edge(in).control) loop.add_input(in);
  // Results: Exit takes what Switch sends out.
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].turn) place[values[i].turn->name()] = i;
  for (std::string_view e : exits) {
    proto::NodeDef& n = *flow.find(e);
    const Edge from(n.input(0));
    const auto it = place.find(from.node);
    if (from.control || it == place.end() || from.index != "0")
      cannot_raise(n, "its value is none of the loop's");
    n.set_op("Identity");
    n.set_input(0, it->second ? format("{}:{}", loop.name(), it->second) : loop.name());
  }
  attrs["cond"].mutable_func()->set_name(library.add(frame + "_cond", std::move(cond)));
  attrs["body"].mutable_func()->set_name(library.add(frame + "_body", std::move(body)));
  std::vector<std::string> gone(inside.begin(), inside.end());
  const std::string loop_name = loop.name();
  for (const std::string& name : gone)
    if (name != loop_name) flow.remove(name);
  flow.find(loop_name)->Swap(&loop);
  return true;
}

}  // namespace

void raise_loops(Flow& flow, Library& library) {
  std::map<std::string, std::vector<std::string>> frames;  // name: its Enter nodes
  flow.each([&](const proto::NodeDef& n) {
    if (!is_op(n, "Enter")) return;
    const auto it = n.attr().find("frame_name");
    if (it == n.attr().end() || n.input_size() < 1)
      cannot_raise(n, "it names no frame or no input");
    frames[it->second.s()].push_back(n.name());
  });
  while (!frames.empty()) {
    const std::size_t before = frames.size();
    for (auto it = frames.begin(); it != frames.end();)
      it = raise_loop(flow, library, it->first, it->second) ? frames.erase(it) : std::next(it);
    if (frames.size() == before)
      cannot_raise(*flow.find(frames.begin()->second[0]), "its frames contain each other");
  }
  flow.each([&](const proto::NodeDef& n) {
    if (is_op(n, "Exit") || is_op(n, "NextIteration") || is_op(n, "LoopCond"))
      cannot_raise(n, "it belongs to no frame");
  });
}

}  // namespace rill::raising
