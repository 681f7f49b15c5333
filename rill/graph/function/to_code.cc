// A traced program as source that a person can read.
#include <cctype>
#include <map>
#include <set>

#include "rill/base/check.h"
#include "rill/core/array_format.h"
#include "rill/graph/function/autograph.h"
#include "rill/graph/function/branching.h"
#include "rill/graph/function/function_impl.h"

namespace rill {
namespace {

class Writer {
 public:
  std::string function(const Graph& g, std::string_view name, std::size_t own_args) {
    std::map<Endpoint, std::string, Less> names;
    std::string args;
    for (std::size_t i = 0; i < g.args.size(); ++i) {
      const Node& a = *g.args[i];
      const std::string n = fresh(a.name);
      names[{g.args[i], 0}] = n;
      if (i < own_args)
        args += format("{}Tensor {} /* {} {} */", args.empty() ? "" : ", ", n, a.outputs[0].dtype,
                       a.outputs[0].shape);
    }
    out_ += format("auto {}({}) {{\n", name, args);
    for (std::size_t i = own_args; i < g.args.size(); ++i)
      out_ += format("  // {} comes from outside: {} {}\n", names[{g.args[i], 0}],
                     g.args[i]->outputs[0].dtype, g.args[i]->outputs[0].shape);
    body(g, names, 1, "return");
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  struct Less {
    bool operator()(const Endpoint& a, const Endpoint& b) const {
      return a.node != b.node ? a.node < b.node : a.index < b.index;
    }
  };
  using Names = std::map<Endpoint, std::string, Less>;

  // An identifier that nothing else has.
  std::string fresh(std::string_view wanted) {
    std::string base;
    for (char c : wanted)
      base += std::isalnum(static_cast<unsigned char>(c))
                  ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                  : '_';
    if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "t" + base;
    std::string name = base;
    for (int i = 1; !used_.insert(name).second; ++i) name = format("{}_{}", base, i);
    return name;
  }

  static std::string literal(const Tensor& t) {
    if (t.dtype() == string || t.size() > 8 || !kPlainTypes.contains(t.dtype()))
      return t.size() == 1 && t.dtype() == string
                 ? format("\"{}\"", t.item<std::string>())
                 : format("tf::constant(/* {} {} */)", t.dtype(), t.shape());
    if (t.ndim() == 0) return t.to_string();
    return format("tf::constant({})", array_str({t.dtype(), t.shape().dims(), t.impl()->data}));
  }

  static std::string attribute(const AttrValue& v) {
    using Kind = AttrValue::Kind;
    switch (v.kind()) {
      case Kind::boolean:
        return v.as_bool() ? "true" : "false";
      case Kind::integer:
        return format("{}", v.as_int());
      case Kind::floating:
        return format("{}", v.as_float());
      case Kind::text:
        return format("\"{}\"", v.as_string());
      case Kind::type:
        return format("tf::{}", v.as_type());
      case Kind::integers: {
        std::string s;
        for (std::int64_t i : v.as_ints()) s += format("{}{}", s.empty() ? "" : ", ", i);
        return "{" + s + "}";
      }
      default:
        return "";
    }
  }

  void body(const Graph& g, Names names, int depth, const char* keyword) {
    const std::string pad(static_cast<std::size_t>(depth) * 2, ' ');
    for (const auto& n : g.nodes()) {
      if (is_argument(*n)) continue;
      if (const Tensor* c = n->constant()) {
        names[{n.get(), 0}] = literal(*c);
        continue;
      }
      statement(*n, names, depth);
    }
    std::string results;
    for (Endpoint e : g.results) results += (results.empty() ? "" : ", ") + names[e];
    if (g.results.size() != 1) results = "{" + results + "}";
    if (!g.results.empty()) out_ += format("{}{} {};\n", pad, keyword, results);
  }

  // "Tensor y = ", "auto [a, b] = ", or nothing for what only has an effect.
  std::string declare(const Node& n, Names& names) {
    if (n.outputs.empty()) return "";
    std::string list;
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      const std::string v = fresh(n.outputs.size() == 1 ? n.name : format("{}_{}", n.name, i));
      names[{const_cast<Node*>(&n), static_cast<int>(i)}] = v;
      list += (i ? ", " : "") + v;
    }
    return n.outputs.size() == 1 ? "Tensor " + list + " = " : "auto [" + list + "] = ";
  }
  static std::string comment(const Node& n) {
    if (n.outputs.size() != 1) return "";
    return format("  // {} {}", n.outputs[0].dtype, n.outputs[0].shape);
  }

  Names arguments_of(const Graph& body, const std::vector<std::string>& given) {
    Names names;
    for (std::size_t i = 0; i < body.args.size(); ++i) names[{body.args[i], 0}] = given[i];
    return names;
  }

  void lambda(const GraphFunction& f, const std::vector<std::string>& given, std::string_view head,
              int depth) {
    const std::string pad(static_cast<std::size_t>(depth) * 2, ' ');
    out_ += format("{}{} {{\n", pad, head);
    body(*f.graph, arguments_of(*f.graph, given), depth + 1, "return");
    out_ += pad + "}";
  }

  void statement(const Node& n, Names& names, int depth) {
    const std::string pad(static_cast<std::size_t>(depth) * 2, ' ');
    std::vector<std::string> in;
    for (Endpoint e : n.inputs) in.push_back(names[e]);
    const AttrReader a = n.reader();
    const std::vector<GraphFunction*> bodies = called_functions(n);
    if (n.op->tag == "cond" && bodies.size() == 2) {
      const std::vector<std::string> rest(in.begin() + 1, in.end());
      out_ += format("{}{}tf::cond({},\n", pad, declare(n, names), in[0]);
      lambda(function_of(a.attr("then_branch").as_function()), rest, "[&]", depth + 1);
      out_ += ",\n";
      lambda(function_of(a.attr("else_branch").as_function()), rest, "[&]", depth + 1);
      out_ += ");" + comment(n) + "\n";
    } else if (n.op->tag == "switch_case" && !bodies.empty()) {
      const std::vector<std::string> rest(in.begin() + 1, in.end());
      out_ += format("{}{}tf::switch_case({}, {{\n", pad, declare(n, names), in[0]);
      for (GraphFunction* f : bodies) {
        lambda(*f, rest, "[&]", depth + 1);
        out_ += ",\n";
      }
      out_ += pad + "});" + comment(n) + "\n";
    } else if (n.op->tag == "while_loop" && bodies.size() == 2) {
      const GraphFunction &c = function_of(a.attr("cond").as_function()),
                          &b = function_of(a.attr("body").as_function());
      const std::string result = declare(n, names);
      std::vector<std::string> vars;
      std::string head = "[&](";
      for (std::size_t i = 0; i < in.size(); ++i) {
        vars.push_back(fresh(b.graph->args[i]->name));
        head += (i ? ", Tensor " : "Tensor ") + vars.back();
      }
      out_ += format("{}{}tf::while_loop(\n", pad, result);
      lambda(c, vars, head + ")", depth + 1);
      out_ += ",\n";
      lambda(b, vars, head + ")", depth + 1);
      std::string start;
      for (const std::string& s : in) start += (start.empty() ? "" : ", ") + s;
      out_ += format(",\n{}  {{{}}});{}\n", pad, start, comment(n));
    } else {
      std::string args;
      for (const std::string& s : in) args += (args.empty() ? "" : ", ") + s;
      std::string options;
      for (const Attr& attr : n.attrs.list()) {
        const int def = n.op->find_attr(attr.name);
        if (attr.name[0] == '_' || def < 0 || n.op->attrs[static_cast<std::size_t>(def)].inferred)
          continue;
        const std::string v = attribute(attr.value);
        if (!v.empty()) options += format("{}.{} = {}", options.empty() ? "" : ", ", attr.name, v);
      }
      if (!options.empty()) args += (args.empty() ? "{" : ", {") + options + "}";
      const std::string callee =
          bodies.size() == 1 ? bodies[0]->graph->name : "tf::" + std::string(n.op->tag);
      const std::string target = declare(n, names);
      out_ += format("{}{}{}({});{}\n", pad, target, callee, args, comment(n));
    }
  }

  std::string out_;
  std::set<std::string> used_;
};

}  // namespace

std::string ConcreteFunction::to_string() const {
  return Writer().function(*impl_->body->graph, impl_->body->graph->name, impl_->tensor_args);
}

namespace autograph {
std::string to_code(const detail::AnyFunction& f) {
  if (f.trace_count() == 0 && !f.impl().options.input_signature.empty()) f.concrete({});
  std::lock_guard lock(f.impl().mutex);
  RILL_CHECK(!f.impl().traces.empty(), failed_precondition,
             "[autograph.to_code] function \"{}\" has not been traced; call it once, or give it an "
             "input_signature",
             f.name());
  return ConcreteFunction(f.impl().traces.front()).to_string();
}
}  // namespace autograph

}  // namespace rill
