#pragma once
#include "rill/core/fn.h"
#include "rill/eager/gradient_tape.h"

// Gradients of functions rather than of values: TensorFlow's tfe module, also
// under contrib::eager.
namespace rill RILL_API {

namespace detail {
std::pair<Nest, Gradients> value_and_gradients_of(const Fn& f, const std::vector<Tensor>& args);
// Runs f and pairs the gradient of each trainable variable that it read.
struct ImplicitResult {
  Nest value;
  std::vector<std::pair<Gradient, Variable>> gradients;
};
ImplicitResult implicit_gradients_of(const Fn& f, const std::vector<Tensor>& args);
Gradients hessians_of(const Fn& f, const std::vector<Tensor>& args);
std::vector<Tensor> float_arguments(std::initializer_list<Operand> args);
std::vector<Tensor> any_arguments(std::initializer_list<Operand> args);
}  // namespace detail

// f(args...) -> {df/darg0, df/darg1, ...}; none where f does not depend on one.
// Arguments must be floating-point.
template <class... A>
class GradientsFunction {
 public:
  explicit GradientsFunction(detail::Fn f) : f_(std::move(f)) {}
  Gradients operator()(detail::Param<A>... args) const {
    return detail::value_and_gradients_of(f_, detail::float_arguments({Operand(args)...})).second;
  }

 private:
  detail::Fn f_;
};
template <class F>
auto gradients_function(F f) {
  return [&]<class... A>(detail::Pack<A...>) {
    return GradientsFunction<A...>(detail::Fn::of(std::move(f)));
  }(typename detail::SignatureOf<F>::args{});
}

// f(args...) -> the second derivatives of the sum of what f returns by each argument alone, of
// shape arg.shape + arg.shape; none where f does not depend on it. Shapes must be known.
template <class... A>
class HessiansFunction {
 public:
  explicit HessiansFunction(detail::Fn f) : f_(std::move(f)) {}
  Gradients operator()(detail::Param<A>... args) const {
    return detail::hessians_of(f_, detail::float_arguments({Operand(args)...}));
  }

 private:
  detail::Fn f_;
};
template <class F>
auto hessians_function(F f) {
  return [&]<class... A>(detail::Pack<A...>) {
    return HessiansFunction<A...>(detail::Fn::of(std::move(f)));
  }(typename detail::SignatureOf<F>::args{});
}

// hessians(f, x, y): the same at once. (tf.hessians takes tensors of a graph; a function says the
// same without one.)
template <class F, class... A>
requires(sizeof...(A) > 0) Gradients hessians(F f, const A&... args) {
  return hessians_function(std::move(f))(args...);
}

// f(args...) -> {f(args...), {df/darg0, ...}}
template <class R, class... A>
class ValueAndGradientsFunction {
 public:
  explicit ValueAndGradientsFunction(detail::Fn f) : f_(std::move(f)) {}
  std::pair<R, Gradients> operator()(detail::Param<A>... args) const {
    auto [value, gradients] =
        detail::value_and_gradients_of(f_, detail::float_arguments({Operand(args)...}));
    return {detail::from_nest<R>(value), std::move(gradients)};
  }

 private:
  detail::Fn f_;
};
template <class F>
auto value_and_gradients_function(F f) {
  using S = detail::SignatureOf<F>;
  return [&]<class... A>(detail::Pack<A...>) {
    return ValueAndGradientsFunction<typename S::result, A...>(detail::Fn::of(std::move(f)));
  }(typename S::args{});
}

// f(args...) -> pairs (gradient, variable) of the trainable variables that f
// reads, in the order of reading.
template <class... A>
class ImplicitGradients {
 public:
  explicit ImplicitGradients(detail::Fn f) : f_(std::move(f)) {}
  std::vector<std::pair<Gradient, Variable>> operator()(detail::Param<A>... args) const {
    return detail::implicit_gradients_of(f_, detail::any_arguments({Operand(args)...})).gradients;
  }

 private:
  detail::Fn f_;
};
template <class F>
auto implicit_gradients(F f) {
  return [&]<class... A>(detail::Pack<A...>) {
    return ImplicitGradients<A...>(detail::Fn::of(std::move(f)));
  }(typename detail::SignatureOf<F>::args{});
}
template <class R, class... A>
class ImplicitValueAndGradients {
 public:
  explicit ImplicitValueAndGradients(detail::Fn f) : f_(std::move(f)) {}
  std::pair<R, std::vector<std::pair<Gradient, Variable>>> operator()(
      detail::Param<A>... args) const {
    auto result = detail::implicit_gradients_of(f_, detail::any_arguments({Operand(args)...}));
    return {detail::from_nest<R>(result.value), std::move(result.gradients)};
  }

 private:
  detail::Fn f_;
};
template <class F>
auto implicit_value_and_gradients(F f) {
  using S = detail::SignatureOf<F>;
  return [&]<class... A>(detail::Pack<A...>) {
    return ImplicitValueAndGradients<typename S::result, A...>(detail::Fn::of(std::move(f)));
  }(typename S::args{});
}

// ---- custom gradients
namespace detail {
class Custom {
 public:
  virtual ~Custom() = default;
  virtual std::pair<Nest, Fn> call(const Nest& args) = 0;
};
template <class F>
class CustomOf final : public Custom {
 public:
  explicit CustomOf(F f) : f_(std::move(f)) {}
  std::pair<Nest, Fn> call(const Nest& a) override {
    return [&]<class... A>(Pack<A...>) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        auto [y, g] = f_(a.part(I).as_tensor()...);
        return std::pair<Nest, Fn>(Nest(y), Fn::of(std::move(g)));
      }
      (std::index_sequence_for<A...>{});
    }(typename SignatureOf<F>::args{});
  }

 private:
  F f_;
};
class CustomImpl;
void retain(CustomImpl*) noexcept;
void release(CustomImpl*) noexcept;
class CustomHandle {
 public:
  explicit CustomHandle(Custom* custom);
  Nest run(const std::vector<Tensor>& args) const;

 private:
  Ref<CustomImpl> impl_;
};
}  // namespace detail

namespace detail {
Nest recomputed(const Fn& f, const std::vector<Tensor>& args);
}
// f, of whose inner values a tape keeps none: the way back computes them again. For deep models
// whose values do not fit into memory. Variables that f reads have their gradients.
template <class R, class... A>
class RecomputedGradient {
 public:
  explicit RecomputedGradient(detail::Fn f) : f_(std::move(f)) {}
  R operator()(detail::Param<A>... args) const {
    return detail::from_nest<R>(detail::recomputed(f_, detail::any_arguments({Operand(args)...})));
  }

 private:
  detail::Fn f_;
};
template <class F>
auto recompute_grad(F f) {
  using S = detail::SignatureOf<F>;
  return [&]<class... A>(detail::Pack<A...>) {
    return RecomputedGradient<typename S::result, A...>(detail::Fn::of(std::move(f)));
  }(typename S::args{});
}

template <class R, class... A>
class CustomGradient {
 public:
  explicit CustomGradient(detail::CustomHandle h) : h_(std::move(h)) {}
  R operator()(detail::Param<A>... args) const {
    return detail::from_nest<R>(h_.run(detail::any_arguments({Operand(args)...})));
  }

 private:
  detail::CustomHandle h_;
};
// f(x...) returns a pair: the value, and a callable that takes the gradient of
// the value and returns those of the arguments; an undefined Tensor for none.
//
//   auto log1pexp = tf::custom_gradient([](Tensor x) {
//     auto e = tf::exp(x);
//     return std::pair(tf::log(1.f + e), [=](Tensor dy) { return dy * (1.f - 1.f / (1.f + e)); });
//   });
template <class F>
auto custom_gradient(F f) {
  using S = detail::SignatureOf<F>;
  using R = typename S::result::first_type;
  return [&]<class... A>(detail::Pack<A...>) {
    return CustomGradient<R, A...>(detail::CustomHandle(new detail::CustomOf<F>(std::move(f))));
  }(typename S::args{});
}

}  // namespace RILL_API
