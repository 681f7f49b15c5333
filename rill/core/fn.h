#pragma once
#include "rill/core/nest.h"
#include "rill/core/operand.h"

// Turning a user's callable into one type-erased function over tensors, with
// its arity and result type kept for the caller.
namespace rill RILL_API {
namespace detail {

template <class... A>
struct Pack {
  static constexpr std::size_t size = sizeof...(A);
};
template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using result = R;
  using args = Pack<A...>;
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};

// What stands for the signature of a callable that has none.
struct NoSignature {
  using result = Tensor;
  using args = Pack<>;
};
// A generic lambda: the least number of Tensors that it takes. Its body is compiled for the first
// number that its declaration allows, and for no other.
template <class F, class... T>
constexpr auto probe() {
  if constexpr (std::is_invocable_v<F&, T...>)
    return Signature<std::invoke_result_t<F&, T...> (*)(T...)>{};
  else if constexpr (sizeof...(T) < 8)
    return probe<F, T..., Tensor>();
  else
    return NoSignature{};
}
template <class F>
constexpr auto signature() {
  if constexpr (requires { &F::operator(); })
    return Signature<decltype(&F::operator())>{};
  else if constexpr (std::is_pointer_v<F>)
    return Signature<F>{};
  else
    return probe<F, Tensor>();
}
// NoSignature of a lambda whose body is wrong: the compiler has said so, and functions that take
// callables add one line to it.
template <class F>
using SignatureOf = decltype(signature<F>());
template <class F>
inline constexpr bool has_signature = !std::is_same_v<SignatureOf<F>, NoSignature>;
template <class F>
constexpr void require_signature() {
  constexpr bool callable = has_signature<F>;
  static_assert(callable,
                "rill: this callable cannot be used: there is an error in its body, shown above, "
                "or it takes no number of Tensors from 1 to 8");
}
// A Tensor parameter of the callable becomes anything that an op takes.
template <class A>
using Param = std::conditional_t<std::is_same_v<std::remove_cvref_t<A>, Tensor>, const Operand&, A>;

// The erased callable: one virtual call.
class FnBase {
 public:
  virtual ~FnBase() = default;
  virtual Nest call(const Nest& args) = 0;
};
class FnImpl;
void retain(FnImpl*) noexcept;
void release(FnImpl*) noexcept;

template <class F>
class FnOf final : public FnBase {
 public:
  explicit FnOf(F f) : f_(std::move(f)) {}
  Nest call([[maybe_unused]] const Nest& args) override {
    require_signature<F>();
    if constexpr (has_signature<F>)
      return call_(args, typename SignatureOf<F>::args{});
    else
      return {};
  }

 private:
  template <class... A>
  Nest call_(const Nest& args, Pack<A...>) {
    return spread<A...>(args, std::index_sequence_for<A...>{});
  }
  // A callable that takes the arguments whole.
  Nest call_(const Nest& args, Pack<Nest>) { return invoke(args); }
  Nest call_(const Nest& args, Pack<const Nest&>) { return invoke(args); }
  template <class... A, std::size_t... I>
  Nest spread([[maybe_unused]] const Nest& args, std::index_sequence<I...>) {
    return invoke(argument<std::remove_cvref_t<A>>(args.part(I))...);
  }
  template <class A>
  static decltype(auto) argument(const Nest& n) {
    if constexpr (std::is_same_v<A, Tensor>)
      return (n.as_tensor());
    else if constexpr (Composite<A>)
      return n.template as<A>();
    else
      return n.as_tensor().template item<A>();
  }
  template <class... T>
  Nest invoke(const T&... t) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const T&...>>) {
      f_(t...);
      return {};
    } else {
      return Nest(f_(t...));
    }
  }
  F f_;
};

// A shared callable.
class Fn {
 public:
  template <class F>
  static Fn of(F f) {
    return Fn(new FnOf<F>(std::move(f)), SignatureOf<F>::args::size);
  }
  std::size_t arity() const { return arity_; }
  Nest operator()(const Nest& args) const;

 private:
  Fn(FnBase* f, std::size_t arity);
  Ref<FnImpl> impl_;
  std::size_t arity_;
};

// From the erased result back to what the callable returned.
template <class R>
struct FromNest;
template <class R>
R from_nest(const Nest& n) {
  return FromNest<R>::get(n);
}
template <>
struct FromNest<void> {
  static void get(const Nest&) {}
};
template <>
struct FromNest<Tensor> {
  static Tensor get(const Nest& n) { return n.as_tensor(); }
};
template <>
struct FromNest<Gradient> {
  static Gradient get(const Nest& n) { return n.as_tensor(); }
};
template <>
struct FromNest<Gradients> {
  static Gradients get(const Nest& n) { return n.flatten(); }
};
template <>
struct FromNest<Nest> {
  static Nest get(const Nest& n) { return n; }
};
template <>
struct FromNest<std::vector<Tensor>> {
  static std::vector<Tensor> get(const Nest& n) { return n.flatten(); }
};
template <Composite T>
struct FromNest<T> {
  static T get(const Nest& n) { return n.as<T>(); }
};
template <class A, class B>
struct FromNest<std::pair<A, B>> {
  static std::pair<A, B> get(const Nest& n) {
    return {from_nest<A>(n.part(0)), from_nest<B>(n.part(1))};
  }
};
template <class... A>
struct FromNest<std::tuple<A...>> {
  static std::tuple<A...> get(const Nest& n) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<A...>(from_nest<A>(n.part(I))...);
    }
    (std::index_sequence_for<A...>{});
  }
};

}  // namespace detail
}  // namespace RILL_API
