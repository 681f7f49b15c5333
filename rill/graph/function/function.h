#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "rill/core/fn.h"
#include "rill/core/shape.h"
#include "rill/eager/variable.h"

// Functions that are traced once and then run as a graph.
namespace rill RILL_API {

struct FunctionOptions {
  // One for each tensor argument: fixes dtypes and shapes, None for any size. Other
  // arguments are then errors, and there is one trace.
  std::vector<TensorSpec> input_signature = {};
  std::string name = {};
  // When calls differ only in sizes, those sizes become unknown in the second
  // trace, which then serves all.
  bool reduce_retracing = true;
};

class ConcreteFunctionImpl;
class FunctionImpl;
void retain(ConcreteFunctionImpl*) noexcept;
void release(ConcreteFunctionImpl*) noexcept;
void retain(FunctionImpl*) noexcept;
void release(FunctionImpl*) noexcept;

// One trace: a graph with fixed dtypes and shapes.
class ConcreteFunction {
 public:
  explicit ConcreteFunction(Ref<ConcreteFunctionImpl> impl) : impl_(std::move(impl)) {}
  const std::string& name() const;          // "__inference_step_12"
  std::vector<TensorSpec> inputs() const;   // of the tensor arguments
  std::vector<TensorSpec> outputs() const;  // flat
  std::vector<Variable> variables() const;  // that it reads or changes
  std::vector<std::string> node_names() const;
  Nest operator()(const std::vector<Tensor>& args) const;
  // The program as text: one line a node, with shapes; functions that it calls below.
  std::string to_string() const;
  ConcreteFunctionImpl& impl() const { return *impl_; }

 private:
  Ref<ConcreteFunctionImpl> impl_;
};

namespace detail {

// An argument of a call: a tensor, a nest of tensors, or a plain value, which is
// part of the signature.
class Argument {
 public:
  enum class Kind : unsigned char { tensor, nest, integer, number, boolean, text };
  Argument(const Operand& x);
  Argument(const Nest& n) : kind(Kind::nest), nest(n) {}
  Argument(const std::vector<Tensor>& list) : kind(Kind::nest), nest(list) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  static Argument plain(T v) {
    Argument a;
    if constexpr (std::is_same_v<T, bool>)
      a.kind = Kind::boolean, a.integer = v;
    else if constexpr (std::is_integral_v<T>)
      a.kind = Kind::integer, a.integer = static_cast<std::int64_t>(v);
    else
      a.kind = Kind::number, a.number = static_cast<double>(v);
    return a;
  }
  static Argument plain(std::string_view s) {
    Argument a;
    a.kind = Kind::text;
    a.text = s;
    return a;
  }
  Kind kind = Kind::tensor;
  Tensor tensor;
  Nest nest = empty_nest();
  std::int64_t integer = 0;
  double number = 0;
  std::string text;

 private:
  Argument() = default;
  static const Nest& empty_nest();
};

template <class A>
inline constexpr bool is_tensor_argument = std::is_same_v<A, Tensor>;
template <class A>
Argument make_argument(const A& a) {
  if constexpr (std::is_arithmetic_v<A>)
    return Argument::plain(a);
  else if constexpr (std::is_same_v<A, Operand> || std::is_same_v<A, Nest> ||
                     std::is_same_v<A, std::vector<Tensor>>)
    return Argument(a);
  else if constexpr (std::is_same_v<A, Variable>)
    return Argument(Operand(a));
  else if constexpr (StringLike<A>)
    return Argument::plain(std::string_view(a));
  else
    return Argument(Nest(a));
}
template <class A>
decltype(auto) take_argument(const Argument& a) {
  if constexpr (std::is_same_v<A, Tensor>)
    return (a.tensor);
  else if constexpr (std::is_same_v<A, bool>)
    return a.integer != 0;
  else if constexpr (std::is_integral_v<A>)
    return static_cast<A>(a.integer);
  else if constexpr (std::is_floating_point_v<A>)
    return static_cast<A>(a.number);
  else if constexpr (std::is_same_v<A, Nest>)
    return (a.nest);
  else if constexpr (std::is_same_v<A, std::vector<Tensor>>)
    return a.nest.flatten();
  else if constexpr (std::is_convertible_v<const std::string&, A>)
    return A(a.text);
  else
    return from_nest<A>(a.nest);
}

// The user's callable: one virtual call, made only while it is traced.
class Traceable {
 public:
  virtual ~Traceable() = default;
  virtual Nest call(const Argument* args) = 0;
};
template <class F, class... A>
class TraceableOf final : public Traceable {
 public:
  explicit TraceableOf(F f) : f_(std::move(f)) {}
  Nest call(const Argument* args) override { return spread(args, std::index_sequence_for<A...>{}); }

 private:
  template <std::size_t... I>
  Nest spread([[maybe_unused]] const Argument* args, std::index_sequence<I...>) {
    using R = decltype(f_(take_argument<std::remove_cvref_t<A>>(args[I])...));
    if constexpr (std::is_void_v<R>) {
      f_(take_argument<std::remove_cvref_t<A>>(args[I])...);
      return {};
    } else {
      return Nest(f_(take_argument<std::remove_cvref_t<A>>(args[I])...));
    }
  }
  F f_;
};

// What all functions share, whatever their types.
class AnyFunction {
 public:
  AnyFunction(Traceable* callable, FunctionOptions options);  // takes it over
  Nest call(const Argument* args, std::size_t n) const;
  // The only result, without a nest around it.
  Tensor call_single(const Argument* args, std::size_t n) const;
  ConcreteFunction concrete(const Argument* args, std::size_t n) const;
  ConcreteFunction concrete(const std::vector<TensorSpec>& specs) const;

  const std::string& name() const;
  int trace_count() const;
  // Which argument made the last call trace again, from what to what; empty after a
  // first trace.
  std::string why_retraced() const;
  // What each pass did to the trace that ran last, and how it is planned.
  std::string explain() const;
  FunctionImpl& impl() const { return *impl_; }

 private:
  Ref<FunctionImpl> impl_;
};

// What a call may pass for a parameter.
template <class A>
using FunctionParam = std::conditional_t<std::is_same_v<std::remove_cvref_t<A>, Tensor>,
                                         const Operand&, const std::remove_cvref_t<A>&>;

}  // namespace detail

namespace config {
// From now on functions run as plain C++ at each call, in all threads: breakpoints and prints work.
// fit does so by .run_eagerly of compile.
void run_functions_eagerly(bool yes);
bool functions_run_eagerly();
}  // namespace config

// A callable that runs as a graph: traced at its first call for each signature
// (dtypes, shapes, structure and the values of plain arguments), then replayed.
// Variables that it uses are shared with the program; effects come in program
// order at every call. A handle: copies share the traces.
template <class R, class... A>
class Function {
 public:
  explicit Function(detail::AnyFunction f) : f_(std::move(f)) {}

  R operator()(detail::FunctionParam<A>... args) const {
    const detail::Argument list[] = {detail::make_argument(args)..., detail::Argument(Nest())};
    if constexpr (std::is_same_v<R, Tensor>)
      return f_.call_single(list, sizeof...(A));
    else
      return detail::from_nest<R>(f_.call(list, sizeof...(A)));
  }
  // The trace for these arguments, made if it is not there.
  ConcreteFunction get_concrete_function(detail::FunctionParam<A>... args) const {
    const detail::Argument list[] = {detail::make_argument(args)..., detail::Argument(Nest())};
    return f_.concrete(list, sizeof...(A));
  }
  // For tensor arguments alone, by their specs; none: the input_signature.
  ConcreteFunction get_concrete_function_for(const std::vector<TensorSpec>& specs) const {
    return f_.concrete(specs);
  }
  const std::string& name() const { return f_.name(); }
  int trace_count() const { return f_.trace_count(); }
  std::string why_retraced() const { return f_.why_retraced(); }
  std::string explain() const { return f_.explain(); }
  const detail::AnyFunction& any() const { return f_; }

 private:
  detail::AnyFunction f_;
};

namespace detail {
template <class R>
struct ResultOf {
  using type = R;
};
template <>
struct ResultOf<Gradient> {
  using type = Tensor;
};
template <class F, class R, class... A>
auto make_function(F f, FunctionOptions options, Pack<A...>) {
  return Function<typename ResultOf<R>::type, std::remove_cvref_t<A>...>(
      AnyFunction(new TraceableOf<F, A...>(std::move(f)), std::move(options)));
}
// What tf::function makes of a callable with an error: calls of it are no further errors.
struct NoFunction {
  template <class... A>
  Tensor operator()(const A&...) const;
};
}  // namespace detail

// Of a lambda, a function or any callable whose parameters are tensors, nests,
// numbers, bools and strings:
//   auto step = tf::function([&](Tensor x, Tensor y) { ... return loss; });
template <class F>
auto function(F f, FunctionOptions options = {}) {
  detail::require_signature<F>();
  using S = detail::SignatureOf<F>;
  if constexpr (detail::has_signature<F>)
    return detail::make_function<F, typename S::result>(std::move(f), std::move(options),
                                                        typename S::args{});
  else
    return detail::NoFunction{};
}
// Of a member: tf::function(this, &Layer::call).
template <class C, class R, class... A>
auto function(C* object, R (C::*member)(A...), FunctionOptions options = {}) {
  auto f = [object, member](A... args) -> R { return (object->*member)(args...); };
  return detail::make_function<decltype(f), R>(std::move(f), std::move(options),
                                               detail::Pack<A...>{});
}
template <class C, class R, class... A>
auto function(const C* object, R (C::*member)(A...) const, FunctionOptions options = {}) {
  auto f = [object, member](A... args) -> R { return (object->*member)(args...); };
  return detail::make_function<decltype(f), R>(std::move(f), std::move(options),
                                               detail::Pack<A...>{});
}

}  // namespace RILL_API
