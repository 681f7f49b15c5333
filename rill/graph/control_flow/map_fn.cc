// Functions over the rows of tensors: map_fn, scan, foldl and foldr.
#include "rill/base/check.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/function/branching.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"
#include "rill/ops/math_ops.h"

namespace rill::detail {
namespace {

// The rows of each tensor of a nest.
struct Rows {
  Rows(const Nest& e, const char* tag) : elems(e), leaves(e.flatten()) {
    RILL_CHECK(!leaves.empty(), invalid_argument, "[{}] elems has no tensors", tag);
    for (const Tensor& t : leaves) {
      RILL_CHECK(!t.shape().has_rank() || t.ndim() > 0, invalid_argument,
                 "[{}] elems has a scalar, which has no rows", tag);
      if (t.shape().has_rank() && t.shape().dim(0) >= 0) {
        RILL_CHECK(count < 0 || count == t.shape().dim(0), invalid_argument,
                   "[{}] the tensors of elems have {} and {} rows", tag, count, t.shape().dim(0));
        count = t.shape().dim(0);
      }
    }
  }
  // Row i of each: i is known, or symbolic.
  Nest row(const Operand& i) const {
    std::vector<Tensor> out;
    for (const Tensor& t : leaves) out.push_back(gather(t, i));
    return elems.with_leaves(out);
  }
  Tensor number() const {
    return count >= 0 ? to_tensor(count, int32) : cast(shape(leaves[0])[0], int32);
  }
  Nest elems;
  std::vector<Tensor> leaves;
  std::int64_t count = -1;  // -1: not known
};

// As fn takes it: one argument for each tensor of a tuple.
Nest arguments(const Fn& fn, const Nest& row) {
  if (fn.arity() == 1 && !row.is_tensor() && row.size() != 1) return Nest::make({row});
  return row;
}

// What fn returns for such arguments, learnt by tracing it once aside.
struct Probe {
  Nest structure;
  std::vector<ValueInfo> infos;
};
Probe probe(const Fn& fn, const std::vector<Nest>& args, bool two) {
  Graph* outer = TracingScope::current();
  Ref<Graph> g(new Graph("probe", outer));
  g->no_variables = outer->no_variables;
  TracingScope tracing(*g);
  auto symbolic = [&](const Nest& n) {
    std::vector<Tensor> leaves;
    for (const Tensor& t : n.flatten())
      leaves.push_back(g->tensor({&g->add_argument("probe", t.dtype(), t.shape()), 0}));
    return n.with_leaves(leaves);
  };
  Probe p;
  p.structure =
      two ? fn(Nest::make({symbolic(args[0]), symbolic(args[1])})) : fn(symbolic(args[0]));
  std::vector<Tensor> leaves = p.structure.flatten();
  for (Tensor& t : leaves) {
    p.infos.push_back({t.dtype(), t.shape()});
    t = {};
  }
  p.structure = p.structure.with_leaves(leaves);
  return p;
}

Nest stacked(const Nest& structure, const std::vector<std::vector<Tensor>>& columns) {
  std::vector<Tensor> out;
  for (const auto& c : columns) out.push_back(stack(c, 0));
  return structure.with_leaves(out);
}
Nest stacked_lists(const Probe& p, const Nest& lists, std::int64_t count) {
  std::vector<Tensor> out;
  const std::vector<Tensor> leaves = lists.flatten();
  for (std::size_t k = 0; k < p.infos.size(); ++k)
    out.push_back(tensor_list_stack(leaves[k], p.infos[k].shape, p.infos[k].dtype, count));
  return p.structure.with_leaves(out);
}

Fn nest_fn(std::function<Nest(const Nest&)> f) {
  return Fn::of([f = std::move(f)](const Nest& n) { return f(n); });
}

}  // namespace

Nest elements(const Operand& x) {
  if (x.file()) call_context().file = x.file(), call_context().line = x.line();
  return Nest(to_tensor(x));
}

Nest map_fn(const Fn& fn, const Nest& elems, const MapFnOptions& o) {
  const Rows rows(elems, "map_fn");
  if (!TracingScope::current()) {
    RILL_CHECK(rows.count > 0, invalid_argument,
               "[map_fn] elems has no rows: without one the results' shape is not known");
    Nest structure;
    std::vector<std::vector<Tensor>> columns;
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const Nest y = fn(arguments(fn, rows.row(i)));
      const std::vector<Tensor> leaves = y.flatten();
      if (i == 0) structure = y, columns.resize(leaves.size());
      for (std::size_t k = 0; k < leaves.size(); ++k) columns[k].push_back(leaves[k]);
    }
    return stacked(structure, columns);
  }
  const Tensor n = rows.number();
  const Probe p = probe(fn, {arguments(fn, rows.row(0))}, false);
  std::vector<Tensor> lists;
  for (const ValueInfo& v : p.infos) lists.push_back(tensor_list_reserve(v.shape, n, v.dtype));
  const Nest out = while_loop(
      nest_fn([&](const Nest& s) { return Nest(s[0].as_tensor() < n); }),
      nest_fn([&](const Nest& s) {
        const Tensor i = s[0].as_tensor();
        const std::vector<Tensor> y = fn(arguments(fn, rows.row(i))).flatten();
        std::vector<Tensor> next{i + 1};
        for (std::size_t k = 0; k < y.size(); ++k)
          next.push_back(tensor_list_set_item(s[static_cast<int>(k) + 1].as_tensor(), i, y[k]));
        return Nest(next);
      }),
      [&] {
        std::vector<Tensor> start{to_tensor(0, int32)};
        start.insert(start.end(), lists.begin(), lists.end());
        return Nest(start);
      }(),
      {.name = o.name.empty() ? "map" : o.name});
  std::vector<Tensor> leaves = out.flatten();
  leaves.erase(leaves.begin());
  return stacked_lists(p, Nest(leaves), rows.count);
}

Nest scan(const Fn& fn, const Nest& elems, const ScanOptions& o) {
  const Rows rows(elems, "scan");
  const bool given = !o.initializer.flatten().empty();
  const bool tracing = TracingScope::current();
  RILL_CHECK(given || rows.count != 0, invalid_argument,
             "[scan] elems has no rows and there is no initializer");
  const Tensor n = tracing ? rows.number() : Tensor();
  auto at = [&](const Tensor& turn) { return o.reverse ? n - 1 - turn : turn; };
  if (!tracing) {
    Nest a = given ? o.initializer : rows.row(o.reverse ? rows.count - 1 : 0);
    std::vector<std::vector<Tensor>> columns(a.flatten().size());
    for (std::int64_t turn = 0; turn < rows.count; ++turn) {
      const std::int64_t i = o.reverse ? rows.count - 1 - turn : turn;
      if (given || turn > 0) a = a.with_leaves(fn(Nest::make({a, rows.row(i)})).flatten());
      const std::vector<Tensor> leaves = a.flatten();
      for (std::size_t k = 0; k < leaves.size(); ++k) columns[k].push_back(leaves[k]);
    }
    RILL_CHECK(rows.count > 0, invalid_argument, "[scan] elems has no rows");
    if (o.reverse)
      for (auto& c : columns) std::reverse(c.begin(), c.end());
    return stacked(a, columns);
  }
  const Nest first = given ? o.initializer : rows.row(at(to_tensor(0, int32)));
  std::vector<Tensor> state{to_tensor(given ? 0 : 1, int32)};
  const std::vector<Tensor> begin = first.flatten();
  state.insert(state.end(), begin.begin(), begin.end());
  for (const Tensor& t : begin) {
    Tensor list = tensor_list_reserve(t.shape(), n, t.dtype());
    state.push_back(given ? list : tensor_list_set_item(list, at(to_tensor(0, int32)), t));
  }
  const std::size_t m = begin.size();
  const Nest out = while_loop(
      nest_fn([&](const Nest& s) { return Nest(s[0].as_tensor() < n); }),
      nest_fn([&](const Nest& s) {
        const std::vector<Tensor> v = s.flatten();
        const Tensor i = at(v[0]);
        const Nest a =
            first.with_leaves({v.begin() + 1, v.begin() + 1 + static_cast<std::ptrdiff_t>(m)});
        const std::vector<Tensor> y = fn(Nest::make({a, rows.row(i)})).flatten();
        std::vector<Tensor> next{v[0] + 1};
        next.insert(next.end(), y.begin(), y.end());
        for (std::size_t k = 0; k < m; ++k)
          next.push_back(tensor_list_set_item(v[1 + m + k], i, y[k]));
        return Nest(next);
      }),
      Nest(state), {.name = o.name.empty() ? "scan" : o.name});
  const std::vector<Tensor> v = out.flatten();
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < m; ++k)
    results.push_back(
        tensor_list_stack(v[1 + m + k], begin[k].shape(), begin[k].dtype(), rows.count));
  return first.with_leaves(results);
}

Nest fold(const Fn& fn, const Nest& elems, const FoldOptions& o, bool from_right) {
  const char* tag = from_right ? "foldr" : "foldl";
  const Rows rows(elems, tag);
  const bool given = !o.initializer.flatten().empty();
  RILL_CHECK(given || rows.count != 0, invalid_argument,
             "[{}] elems has no rows and there is no initializer", tag);
  if (!TracingScope::current()) {
    auto at = [&](std::int64_t turn) { return from_right ? rows.count - 1 - turn : turn; };
    Nest a = given ? o.initializer : rows.row(at(0));
    for (std::int64_t turn = given ? 0 : 1; turn < rows.count; ++turn)
      a = a.with_leaves(fn(Nest::make({a, rows.row(at(turn))})).flatten());
    return a;
  }
  const Tensor n = rows.number();
  auto at = [&](const Tensor& turn) { return from_right ? n - 1 - turn : turn; };
  const Nest first = given ? o.initializer : rows.row(at(to_tensor(0, int32)));
  std::vector<Tensor> state{to_tensor(given ? 0 : 1, int32)};
  for (const Tensor& t : first.flatten()) state.push_back(t);
  const Nest out =
      while_loop(nest_fn([&](const Nest& s) { return Nest(s[0].as_tensor() < n); }),
                 nest_fn([&](const Nest& s) {
                   const std::vector<Tensor> v = s.flatten();
                   const Nest a = first.with_leaves({v.begin() + 1, v.end()});
                   std::vector<Tensor> next{v[0] + 1};
                   for (const Tensor& t : fn(Nest::make({a, rows.row(at(v[0]))})).flatten())
                     next.push_back(t);
                   return Nest(next);
                 }),
                 Nest(state), {.name = o.name.empty() ? tag : o.name});
  const std::vector<Tensor> v = out.flatten();
  return first.with_leaves({v.begin() + 1, v.end()});
}

}  // namespace rill::detail
