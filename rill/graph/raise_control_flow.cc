// Frozen graphs of TensorFlow 1 say loops and conditions by edges: values enter a
// frame, meet in Merge, are sent by Switch to the body or out, and come round again
// by NextIteration. Here each loop becomes a While and each condition an If, inner
// ones first, so that nothing but functions has to be run.
#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <set>

#include "rill/base/check.h"
#include "rill/graph/graph_def_impl.h"

namespace rill {
namespace {

// Frames and conditions times nodes: more than any graph has that was not made to
// keep us busy.
constexpr std::int64_t kMaxWork = 400'000'000;

bool is_op(const proto::NodeDef& n, std::string_view op) { return n.op() == op; }
bool is_flow(const proto::NodeDef& n) {
  return is_op(n, "Switch") || is_op(n, "Merge") || is_op(n, "Enter") || is_op(n, "Exit") ||
         is_op(n, "NextIteration") || is_op(n, "LoopCond");
}

[[noreturn]] void cannot_raise(const proto::NodeDef& n, std::string_view why) {
  RILL_FAIL(unimplemented,
            "[import_graph_def] node \"{}\" ({}) is control flow of TensorFlow 1 that is no loop "
            "of while_loop and no condition of cond: {}",
            n.name(), n.op(), why);
}

// "node:1" in its parts; "^node" is a control edge.
struct Edge {
  explicit Edge(std::string_view text) : control(!text.empty() && text[0] == '^') {
    if (control) text.remove_prefix(1);
    const auto colon = text.find(':');
    node = text.substr(0, colon);
    index = colon == std::string_view::npos ? "0" : text.substr(colon + 1);
  }
  std::string tensor() const {
    return index == "0" ? std::string(node) : format("{}:{}", node, index);
  }
  bool control;
  std::string_view node, index;
};

proto::DataType type_of(const proto::NodeDef& n) {
  const auto it = n.attr().find("T");
  RILL_CHECK(it != n.attr().end(), invalid_argument,
             "[import_graph_def] node \"{}\" ({}) has no attribute T", n.name(), n.op());
  return it->second.type();
}

bool is_stateful(const proto::NodeDef& n) {
  try {
    return find_op(n.op()).stateful;
  } catch (const errors::NotFound&) {
    return true;  // a function, or what will be an error in a moment
  }
}

// Nodes by name, in the order of the file.
class Flow {
 public:
  void add(proto::NodeDef n) {
    const std::string name = n.name();
    RILL_CHECK(index_.emplace(name, nodes_.size()).second, invalid_argument,
               "[import_graph_def] two nodes are called \"{}\"", name);
    nodes_.push_back(std::move(n));
    gone_.push_back(0);
  }
  proto::NodeDef* find(std::string_view name) {
    const auto it = index_.find(name);
    return it == index_.end() || gone_[it->second] ? nullptr : &nodes_[it->second];
  }
  void remove(std::string_view name) {
    if (const auto it = index_.find(name); it != index_.end()) gone_[it->second] = 1;
  }
  bool knows(std::string_view name) const { return index_.find(name) != index_.end(); }
  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!gone_[i]) f(nodes_[i]);
  }
  // An unused name like this one.
  std::string fresh(std::string wanted) const {
    while (knows(wanted)) wanted += "_";
    return wanted;
  }
  std::map<std::string_view, std::vector<std::string_view>> users() {
    std::map<std::string_view, std::vector<std::string_view>> out;
    each([&](const proto::NodeDef& n) {
      for (const std::string& in : n.input()) out[Edge(in).node].push_back(n.name());
    });
    return out;
  }

 private:
  std::deque<proto::NodeDef> nodes_;
  std::vector<char> gone_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

// A function that is being cut out of a graph.
struct Piece {
  Flow flow;
  std::vector<std::string> args;
  std::vector<proto::DataType> arg_types;
  std::vector<std::string> results;  // tensors of the flow, or arguments
  std::vector<proto::DataType> result_types;
  bool stateful = false;
};

class Raiser {
 public:
  explicit Raiser(proto::GraphDef* def) : def_(def) {}

  void run() {
    Flow flow;
    bool any = false;
    for (const proto::NodeDef& n : def_->node()) any = any || is_flow(n);
    for (const proto::FunctionDef& f : def_->library().function())
      for (const proto::NodeDef& n : f.node_def())
        if (is_flow(n)) cannot_raise(n, "it stands in a function");
    if (!any) return;
    for (const proto::NodeDef& n : def_->node()) flow.add(n);
    raise_loops(flow);
    raise_conditions(flow);
    google::protobuf::RepeatedPtrField<proto::NodeDef> raised;
    flow.each([&](proto::NodeDef& n) { raised.Add()->Swap(&n); });
    def_->mutable_node()->Swap(&raised);
  }

 private:
  void work(std::int64_t steps) {
    work_ += steps;
    RILL_CHECK(work_ <= kMaxWork, resource_exhausted,
               "[import_graph_def] the control flow of this graph is too tangled to be raised to "
               "loops and conditions");
  }

  // ---- loops

  void raise_loops(Flow& flow) {
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
        it = raise_loop(flow, it->first, it->second) ? frames.erase(it) : std::next(it);
      if (frames.size() == before)
        cannot_raise(*flow.find(frames.begin()->second[0]), "its frames contain each other");
    }
    flow.each([&](const proto::NodeDef& n) {
      if (is_op(n, "Exit") || is_op(n, "NextIteration") || is_op(n, "LoopCond"))
        cannot_raise(n, "it belongs to no frame");
    });
  }

  // False: it has a loop inside that must be raised first.
  bool raise_loop(Flow& flow, const std::string& frame, const std::vector<std::string>& enters) {
    // All that stands in the frame: what Enter nodes lead to, up to Exit.
    const auto users = flow.users();
    work(static_cast<std::int64_t>(users.size()) + 1);
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
          if (v.merge || n->input_size() < 2)
            cannot_raise(*enter, "its Merge is not one of a loop");
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
    cut(flow, in_cond, {}, &cond);
    cut(flow, in_body, also, &body);
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
    attrs["cond"].mutable_func()->set_name(add_function(frame + "_cond", std::move(cond)));
    attrs["body"].mutable_func()->set_name(add_function(frame + "_body", std::move(body)));
    std::vector<std::string> gone(inside.begin(), inside.end());
    const std::string loop_name = loop.name();
    for (const std::string& name : gone)
      if (name != loop_name) flow.remove(name);
    flow.find(loop_name)->Swap(&loop);
    return true;
  }

  static const std::vector<std::string_view>& users_of(
      const std::map<std::string_view, std::vector<std::string_view>>& users,
      std::string_view name) {
    static const std::vector<std::string_view> none;
    const auto it = users.find(name);
    return it == users.end() ? none : it->second;
  }

  // Copies into the piece what its results need, up to the tensors that are its
  // arguments, and gives the arguments their names.
  void cut(Flow& flow, const std::map<std::string, std::string>& args,
           const std::vector<std::string>& also, Piece* piece) {
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
          if (boundary.contains(e.node)) continue;  // arguments are there anyway
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

  // Conditions inside it are raised; then it is a function of the library.
  std::string add_function(std::string wanted, Piece piece) {
    raise_conditions(piece.flow);
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

  // ---- conditions

  // Where a node stands: on which side of which predicates.
  using Sides = std::map<std::string, int, std::less<>>;

  // The tensor behind copies of it.
  static std::string predicate(Flow& flow, const std::string& tensor) {
    std::string at = tensor;
    for (int i = 0; i < 64; ++i) {
      const proto::NodeDef* n = flow.find(Edge(at).node);
      if (!n || !is_op(*n, "Identity") || n->input_size() < 1) break;
      at = Edge(n->input(0)).tensor();
    }
    return at;
  }

  void raise_conditions(Flow& flow) {
    bool any = false;
    flow.each(
        [&](const proto::NodeDef& n) { any = any || is_op(n, "Switch") || is_op(n, "Merge"); });
    if (!any) return;
    while (raise_innermost(flow, sorted(flow))) {
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

  // One condition in whose branches there is no other. False: there is none left.
  bool raise_innermost(Flow& flow, const std::vector<std::string>& order) {
    work(static_cast<std::int64_t>(order.size()) * 4);
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
      if (own.size() > 256) cannot_raise(*n, "it stands in too many branches");
      work(static_cast<std::int64_t>(own.size()) * 8);
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
    raise_condition(flow, pred, merges, sides);
    return true;
  }

  void raise_condition(Flow& flow, const std::string& pred, const std::vector<std::string>& merges,
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
      work(static_cast<std::int64_t>(seen.size()));
    }
    for (int side : {0, 1}) {
      for (const std::string& m : merges) {
        const proto::NodeDef& n = *flow.find(m);
        branch[side].results.push_back(Edge(n.input(side)).tensor());
        branch[side].result_types.push_back(type_of(n));
      }
      cut_branch(flow, args[side], &branch[side]);
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
        add_function(merges[0] + "_false", std::move(branch[0])));
    attrs["then_branch"].mutable_func()->set_name(
        add_function(merges[0] + "_true", std::move(branch[1])));
    flow.add(std::move(choice));
  }

  // Identity of the Switch of a predicate by itself: branches hang on it by control edges.
  static bool is_pivot(Flow& flow, const proto::NodeDef& n) {
    if (is_op(n, "Switch")) return true;
    if (!is_op(n, "Identity") || n.input_size() < 1) return false;
    const proto::NodeDef* s = flow.find(Edge(n.input(0)).node);
    return s && is_op(*s, "Switch");
  }

  // Like cut(), but what hangs on pivots hangs no more.
  void cut_branch(Flow& flow, const std::map<std::string, std::string>& args, Piece* piece) {
    Flow unhooked;
    flow.each([&](const proto::NodeDef& n) {
      proto::NodeDef copy = n;
      copy.clear_input();
      for (const std::string& in : n.input()) {
        const Edge e(in);
        const proto::NodeDef* from = flow.find(e.node);
        if (e.control && (!from || is_pivot(flow, *from))) continue;
        copy.add_input(in);
      }
      unhooked.add(std::move(copy));
    });
    work(static_cast<std::int64_t>(args.size()));
    cut(unhooked, args, {}, piece);
  }

  proto::GraphDef* def_;
  std::int64_t work_ = 0;
  int next_function_ = 0;
};

}  // namespace

void raise_control_flow(proto::GraphDef* def) { Raiser(def).run(); }

}  // namespace rill
