#pragma once
#include <functional>
#include <string>
#include <type_traits>

#include "rill/core/fn.h"
#include "rill/keras/engine/layer.h"

// A function as a layer.
namespace rill RILL_API {
namespace keras {

// Of the inputs, and of the arguments that the layer was given.
using LayerFunction = std::function<Nest(const Nest&, const Config& arguments)>;

// InvalidArgument unless there are none: for functions of the inputs alone.
void require_no_arguments(const Config& arguments);

template <class F>
inline constexpr bool takes_layer_inputs =
    std::disjunction_v<std::is_invocable<F&, Tensor>, std::is_invocable<F&, Tensor, Config>,
                       std::is_invocable<F&, Nest>, std::is_invocable<F&, std::vector<Tensor>>,
                       std::is_invocable<F&, Nest, Config>,
                       std::is_invocable<F&, std::vector<Tensor>, Config>>;

// The first parameter, where the callable is no template, is A. (A Nest becomes a Tensor and the
// other way round, so that asking whether a call compiles does not tell.)
template <class F, class A>
constexpr bool layer_function_of() {
  if constexpr (requires { &F::operator(); })
    return []<class First, class... Rest>(rill::detail::Pack<First, Rest...>) {
      return std::is_same_v<std::remove_cvref_t<First>, A>;
    }(typename rill::detail::Signature<decltype(&F::operator())>::args{});
  else
    return false;
}

// A function of one tensor, of a list of them, or of any structure; and optionally of a Config
// with further arguments.
template <class F>
LayerFunction as_layer_function(F f) {
  using List = std::vector<Tensor>;
  constexpr bool callable = takes_layer_inputs<F>;
  static_assert(callable,
                "rill: this callable is no function of a layer: there is an error in its body, "
                "shown above, or it does not take a Tensor, a vector of them or a Nest (and a "
                "keras::Config behind it)");
  constexpr bool of_nest = layer_function_of<F, Nest>(), of_list = layer_function_of<F, List>();
  if constexpr (!callable)
    return {};
  else if constexpr (!of_nest && !of_list && std::is_invocable_v<F&, Tensor, Config>)
    return
        [f](const Nest& x, const Config& a) mutable -> Nest { return Nest(f(x.as_tensor(), a)); };
  else if constexpr (!of_nest && std::is_invocable_v<F&, List, Config>)
    return [f](const Nest& x, const Config& a) mutable -> Nest { return Nest(f(x.flatten(), a)); };
  else if constexpr (std::is_invocable_v<F&, Nest, Config>)
    return [f](const Nest& x, const Config& a) mutable -> Nest { return Nest(f(x, a)); };
  else
    return [f](const Nest& x, const Config& a) mutable -> Nest {
      require_no_arguments(a);
      if constexpr (!of_nest && !of_list && std::is_invocable_v<F&, Tensor>)
        return Nest(f(x.as_tensor()));
      else if constexpr (!of_nest && std::is_invocable_v<F&, List>)
        return Nest(f(x.flatten()));
      else
        return Nest(f(x));
    };
}
// A class is taken for a callable without a look at its body, so that the compiler speaks of a
// mistake there, and not of constructors.
template <class F>
concept LayerCallable = std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

namespace utils {

void register_layer_function(std::string_view name, LayerFunction f);
// Registers a function under a name, so that Lambda(name) can be saved and loaded. A file holds the
// name alone: the program that loads it registers the same function. A name given twice means
// the later function from then on.
template <class F>
void register_keras_function(std::string_view name, F f) {
  register_layer_function(name, as_layer_function(std::move(f)));
}
// The function of that name; NotFound, with the nearest name, when there is none.
LayerFunction get_registered_function(std::string_view name);

}  // namespace utils

namespace layers {

struct LambdaOptions {
  Config arguments = {};  // a dict, for a function that takes one behind its inputs
  // The mask of the output, of the inputs and their mask. Without it, masks end at the layer.
  std::function<Tensor(const Nest& inputs, const Tensor& mask)> mask = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Lambda([](Tensor x) { return x * 2.f; }), or the name of a registered function:
//
//   keras::utils::register_keras_function("scaled", [](Tensor x, const keras::Config& arguments) {
//     return x * arguments.get("scale", 1.0);
//   });
//   keras::layers::Lambda twice("scaled", {.arguments = keras::Config::dict({{"scale", 2.0}})});
//
// Of a function that is not registered, or with a mask, the layer works but cannot be saved.
// Variables in the function are not the layer's: a layer with weights is its own class.
class Lambda : public Layer {
 public:
  template <StringLike S>
  explicit Lambda(const S& function, LambdaOptions o = {})
      : Lambda(std::string(std::string_view(function)), LayerFunction(), std::move(o)) {}
  // An op of the library.
  explicit Lambda(Tensor (*f)(const Operand&), LambdaOptions o = {})
      : Lambda(std::string(), as_layer_function([f](const Tensor& x) { return f(x); }),
               std::move(o)) {}
  template <class F>
  requires(!StringLike<F> && !std::is_base_of_v<Layer, F> &&
           !std::is_convertible_v<F, Tensor (*)(const Operand&)> &&
           LayerCallable<F>) explicit Lambda(F f, LambdaOptions o = {})
      : Lambda(std::string(), as_layer_function(std::move(f)), std::move(o)) {}

 private:
  Lambda(std::string registered, LayerFunction f, LambdaOptions o);
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
