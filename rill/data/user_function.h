#pragma once
#include <optional>

#include "rill/core/fn.h"

// A user's callable over elements of a dataset, type-erased.
namespace rill RILL_API {
namespace data {
class Dataset;
namespace detail {

using rill::detail::Fn;
using rill::detail::Pack;
using rill::detail::SignatureOf;

// InvalidArgument unless a callable of `arity` arguments can take the element.
void require_arguments(const Nest& element, std::size_t arity);
Tensor constant_of(const Operand& value);
Nest dataset_as_nest(const Dataset& dataset);

template <class A>
decltype(auto) argument(const Nest& n) {
  if constexpr (std::is_same_v<A, Nest>)
    return (n);
  else if constexpr (std::is_same_v<A, Tensor>)
    return (n.as_tensor());
  else if constexpr (std::is_same_v<A, Dataset>)
    return A::of(n);
  else if constexpr (Composite<A>)
    return n.template as<A>();
  else
    return n.as_tensor().template item<A>();
}

// What a callable may return: tensors in any structure, a number, a string, a
// dataset.
template <class T>
Nest result(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_convertible_v<const T&, std::string_view>)
    return Nest(constant_of(value));
  else if constexpr (std::is_convertible_v<const T&, const Dataset&>)
    return dataset_as_nest(value);
  else
    return Nest(value);
}

template <class F, class... A, std::size_t... I>
Nest apply(F& f, const Nest& element, Pack<A...>, std::index_sequence<I...>) {
  if (element.is_tensor() || element.is_dict() || element.is_composite()) {
    require_arguments(element, sizeof...(A));
    if constexpr (sizeof...(A) == 1)
      return result(f(argument<std::remove_cvref_t<A>>(element)...));
    else
      return {};  // refused above
  } else {
    require_arguments(element, sizeof...(A));
    return result(f(argument<std::remove_cvref_t<A>>(element.part(I))...));
  }
}
template <class F>
Nest apply(F& f, const Nest& element, Pack<Nest>, std::index_sequence<0>) {
  return result(f(element));
}
template <class F>
Nest apply(F& f, const Nest& element, Pack<const Nest&>, std::index_sequence<0>) {
  return result(f(element));
}

// The items of a tuple become the arguments; a callable of one Nest gets the
// element whole; a parameter that is a number or string takes a scalar's value.
template <class F>
Fn user_function(F f) {
  rill::detail::require_signature<F>();
  return Fn::of([f = std::move(f)]([[maybe_unused]] const Nest& element) mutable -> Nest {
    if constexpr (rill::detail::has_signature<F>) {
      using Args = typename SignatureOf<F>::args;
      return apply(f, element, Args{}, std::make_index_sequence<Args::size>{});
    } else {
      return {};
    }
  });
}

// A user's function in a struct of options, or none.
class ElementFunction {
 public:
  ElementFunction() = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, ElementFunction>) ElementFunction(F f)
      : fn_(user_function(std::move(f))) {}
  explicit operator bool() const { return fn_.has_value(); }
  Nest operator()(const Nest& element) const { return (*fn_)(element); }

 private:
  std::optional<Fn> fn_;
};

// A generator: start() begins a run, and the run yields elements until it is
// at its end.
class Run {
 public:
  virtual ~Run() = default;
  virtual bool next(Nest* element) = 0;
};
class Generator {
 public:
  virtual ~Generator() = default;
  virtual Run* start() = 0;  // the caller owns it
};

template <class P>
class RunOf final : public Run {
 public:
  explicit RunOf(P producer) : producer_(std::move(producer)) {}
  bool next(Nest* element) override {
    auto value = producer_();
    if (!value) return false;
    *element = result(*value);
    return true;
  }

 private:
  P producer_;
};
template <class G>
class GeneratorOf final : public Generator {
 public:
  explicit GeneratorOf(G g) : g_(std::move(g)) {}
  Run* start() override { return new RunOf<std::invoke_result_t<G&>>(g_()); }

 private:
  G g_;
};

}  // namespace detail
}  // namespace data
}  // namespace RILL_API
