#pragma once
#include <functional>
#include <string>
#include <type_traits>

#include "rill/keras/layer.h"

// A function as a layer.
namespace rill RILL_API {
namespace keras {

using LayerFunction = std::function<Nest(const Nest&)>;

// A function of one tensor, of a list of them, or of any structure.
template <class F>
LayerFunction as_layer_function(F f) {
  if constexpr (std::is_invocable_r_v<Tensor, F&, Tensor>)
    return [f](const Nest& x) mutable -> Nest { return Nest(Tensor(f(x.as_tensor()))); };
  else if constexpr (std::is_invocable_v<F&, std::vector<Tensor>>)
    return [f](const Nest& x) mutable -> Nest { return Nest(f(x.flatten())); };
  else
    return [f](const Nest& x) mutable -> Nest { return Nest(f(x)); };
}

namespace utils {

void register_layer_function(std::string_view name, LayerFunction f);
// Makes a function known by name, so that Lambda(name) can be saved and loaded. A file holds the
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
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
};
// Lambda([](Tensor x) { return x * 2.f; }), or the name of a registered function. Of a function
// that is not registered the layer works but cannot be saved. Variables in the function are not
// the layer's: a layer with weights is a class of its own.
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
           (std::is_invocable_v<F&, Tensor> || std::is_invocable_v<F&, std::vector<Tensor>> ||
            std::is_invocable_v<F&, Nest>)) explicit Lambda(F f, LambdaOptions o = {})
      : Lambda(std::string(), as_layer_function(std::move(f)), std::move(o)) {}

 private:
  Lambda(std::string registered, LayerFunction f, LambdaOptions o);
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
