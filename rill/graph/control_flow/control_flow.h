#pragma once
#include <vector>

#include "rill/core/fn.h"
#include "rill/core/shape.h"
#include "rill/eager/variable.h"

// Control flow that depends on values. Eagerly these run as C++ would; while a
// function is traced they become part of its graph. Gradients go through all of
// them.
namespace rill RILL_API {

namespace detail {
Nest cond(const Operand& pred, const Fn& true_fn, const Fn& false_fn);
Nest branches(const Operand& index, const std::vector<Fn>& fns, const char* tag);
Nest first_true(const std::vector<Tensor>& preds, const std::vector<Fn>& fns, bool exclusive);
template <class F>
using ResultOfFn = typename SignatureOf<F>::result;
}  // namespace detail

// true_fn() where pred is true, else false_fn(): callables without arguments
// whose results agree in structure and dtypes.
template <class F, class G>
auto cond(const Operand& pred, F true_fn, G false_fn) {
  return detail::from_nest<typename detail::SignatureOf<F>::result>(
      detail::cond(pred, detail::Fn::of(std::move(true_fn)), detail::Fn::of(std::move(false_fn))));
}

// A branch of case_ or switch_case: a callable without arguments.
class Branch {
 public:
  template <class F>
  requires std::is_invocable_v<F&> Branch(F f) : fn(detail::Fn::of(std::move(f))) {}
  detail::Fn fn;
};
struct CaseBranch {
  CaseBranch(const Operand& p, Branch f);
  Tensor pred;
  Branch fn;
};

// The result of the first branch whose predicate is true, else of the default
// (without one: of the last branch). `exclusive`: InvalidArgument when more than
// one is true.
Nest case_(const std::vector<CaseBranch>& pred_fn_pairs, const Branch& default_fn,
           bool exclusive = false);
Nest case_(const std::vector<CaseBranch>& pred_fn_pairs, bool exclusive = false);
// Branch number branch_index; the default (without one: the last) for any other number.
Nest switch_case(const Operand& branch_index, const std::vector<Branch>& branch_fns,
                 const Branch& default_fn);
Nest switch_case(const Operand& branch_index, const std::vector<Branch>& branch_fns);

struct WhileLoopOptions {
  // What stays true of the shapes of the loop's values, where it is less than what
  // is known of their first ones. One for each value, flat.
  std::vector<TensorShape> shape_invariants = {};
  std::int64_t maximum_iterations = -1;  // -1: no limit
  int parallel_iterations = 10;          // for the guides' programs; iterations run in order
  std::string name = {};
};
namespace detail {
Nest while_loop(const Fn& cond, const Fn& body, const Nest& vars, const WhileLoopOptions& o);
Nest loop_values(std::initializer_list<Operand> vars);
}  // namespace detail

// While cond(values...) is true: values = body(values...).
template <class C, class B, class N>
requires std::is_same_v<N, Nest> Nest while_loop(C cond, B body, const N& loop_vars,
                                                 const WhileLoopOptions& options = {}) {
  return detail::while_loop(detail::Fn::of(std::move(cond)), detail::Fn::of(std::move(body)),
                            loop_vars, options);
}
// Values of several kinds: std::tuple{i, array}, of which the result has the same kinds.
template <class C, class B, class... A>
std::tuple<A...> while_loop(C cond, B body, const std::tuple<A...>& loop_vars,
                            const WhileLoopOptions& options = {}) {
  return detail::from_nest<std::tuple<A...>>(
      while_loop(std::move(cond), std::move(body), Nest(loop_vars), options));
}
template <class C, class B>
Nest while_loop(C cond, B body, std::initializer_list<Operand> loop_vars,
                const WhileLoopOptions& options = {}) {
  return detail::while_loop(detail::Fn::of(std::move(cond)), detail::Fn::of(std::move(body)),
                            detail::loop_values(loop_vars), options);
}
template <class C, class B>
Tensor while_loop(C cond, B body, const Operand& loop_var, const WhileLoopOptions& options = {}) {
  return detail::while_loop(detail::Fn::of(std::move(cond)), detail::Fn::of(std::move(body)),
                            detail::loop_values({loop_var}), options)
      .as_tensor();
}

struct MapFnOptions {
  DType dtype = {};  // of the results, for the guides' programs; they say it themselves
  int parallel_iterations = 10;
  std::string name = {};
};
struct ScanOptions {
  Nest initializer = {};  // none: the first element
  bool reverse = false;
  std::string name = {};
};
struct FoldOptions {
  Nest initializer = {};  // none: the first (of foldr: the last) element
  std::string name = {};
};
namespace detail {
Nest map_fn(const Fn& fn, const Nest& elems, const MapFnOptions& o);
Nest scan(const Fn& fn, const Nest& elems, const ScanOptions& o);
Nest fold(const Fn& fn, const Nest& elems, const FoldOptions& o, bool from_right);
Nest elements(const Operand& x);
}  // namespace detail

// fn of each row of elems (of each tensor in it), stacked. fn takes one tensor, or
// one argument for each tensor of elems.
template <class F, class N>
requires std::is_same_v<N, Nest> Nest map_fn(F fn, const N& elems,
                                             const MapFnOptions& options = {}) {
  return detail::map_fn(detail::Fn::of(std::move(fn)), elems, options);
}
template <class F>
auto map_fn(F fn, const Operand& elems, const MapFnOptions& options = {}) {
  return detail::from_nest<detail::ResultOfFn<F>>(
      detail::map_fn(detail::Fn::of(std::move(fn)), detail::elements(elems), options));
}
// The same results. (TensorFlow runs it as one op on all rows where it can; here it is map_fn.)
template <class F>
auto vectorized_map(F fn, const Operand& elems) {
  return map_fn(std::move(fn), elems);
}
template <class F, class N>
requires std::is_same_v<N, Nest> Nest vectorized_map(F fn, const N& elems) {
  return map_fn(std::move(fn), elems);
}
// All partial results a = fn(a, x) over the rows x of elems, stacked.
template <class F>
auto scan(F fn, const Operand& elems, const ScanOptions& options = {}) {
  return detail::from_nest<detail::ResultOfFn<F>>(
      detail::scan(detail::Fn::of(std::move(fn)), detail::elements(elems), options));
}
template <class F>
auto scan(F fn, const Operand& elems, const Operand& initializer, bool reverse = false) {
  return scan(std::move(fn), elems,
              ScanOptions{.initializer = detail::elements(initializer), .reverse = reverse});
}
// The last of a = fn(a, x) over the rows, from the first or from the last.
template <class F>
auto foldl(F fn, const Operand& elems, const FoldOptions& options = {}) {
  return detail::from_nest<detail::ResultOfFn<F>>(
      detail::fold(detail::Fn::of(std::move(fn)), detail::elements(elems), options, false));
}
template <class F>
auto foldl(F fn, const Operand& elems, const Operand& initializer) {
  return foldl(std::move(fn), elems, FoldOptions{.initializer = detail::elements(initializer)});
}
template <class F>
auto foldr(F fn, const Operand& elems, const FoldOptions& options = {}) {
  return detail::from_nest<detail::ResultOfFn<F>>(
      detail::fold(detail::Fn::of(std::move(fn)), detail::elements(elems), options, true));
}
template <class F>
auto foldr(F fn, const Operand& elems, const Operand& initializer) {
  return foldr(std::move(fn), elems, FoldOptions{.initializer = detail::elements(initializer)});
}

// While it lives, nodes are made to run after `before`. In a function that is so
// anyway (effects come in program order); in graphs of the first kind it says so.
class control_dependencies {
 public:
  explicit control_dependencies(const TensorList& before);
  ~control_dependencies();
  control_dependencies(const control_dependencies&) = delete;

 private:
  void* graph_ = nullptr;
};

}  // namespace RILL_API
