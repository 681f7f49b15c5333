#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/losses/registered_losses.h"
#include "rill/keras/metrics/registered_metrics.h"
#include "rill/keras/models/model.h"
#include "rill/keras/registry/registered_functions.h"

namespace rill RILL_API {
namespace keras {

// The graph that a configuration describes, for a class that is made of inputs and outputs.
struct GraphOfConfig {
  Nest inputs, outputs;
};
GraphOfConfig graph_from_config(const Config& config);
// Name and `trainable` as the configuration says.
void finish_from_config(Layer& model, const Config& config);
// Adds the layers of a stack, unless the constructor has.
void stack_from_config(Sequential& model, const Config& config);

// "package>name" of two texts in either order: the one that is the name of the class is the name.
// InvalidArgument when neither is, or both are.
std::string registered_name(const std::type_info& type, std::string_view a, std::string_view b);

namespace utils {

namespace detail {

// What stands for objects of a class where files name it, and what makes the class known.
template <class M, class R>
struct SerializableKind {
  using Made = M;
  using Register = R;
  template <class C>
  static Made keep(C object) {
    if constexpr (std::is_constructible_v<Made, C>)
      return Made(std::move(object));
    else
      return std::make_shared<const C>(std::move(object));  // a schedule
  }
};
template <class C>
struct KindOf {
  template <class Base, class Yes, class No>
  using If = std::conditional_t<std::is_base_of_v<Base, C>, Yes, No>;
  using Schedule = optimizers::LearningRateSchedule;
  using type = If<
      Loss, SerializableKind<LossRef, RegisterLoss>,
      If<Metric, SerializableKind<MetricRef, RegisterMetric>,
         If<Initializer, SerializableKind<Initializer, RegisterInitializer>,
            If<Regularizer, SerializableKind<Regularizer, RegisterRegularizer>,
               If<Constraint, SerializableKind<Constraint, RegisterConstraint>,
                  If<Schedule,
                     SerializableKind<std::shared_ptr<const Schedule>,
                                      optimizers::RegisterSchedule>,
                     If<optimizers::UserOptimizer, SerializableKind<Optimizer, RegisterOptimizer>,
                        SerializableKind<LayerRef, RegisterLayer>>>>>>>>;
};

}  // namespace detail

struct SerializableName {
  std::string package = "Custom";
  std::string name = {};
};

// Registers a user-defined layer, model, loss, metric, initializer, regularizer, constraint,
// optimizer or learning rate schedule for load_model and from_config, as "package>name"; without a
// package as "name". The class has a static from_config(const keras::Config&), or a constructor
// that takes the Config. Else a model may have one that takes inputs and outputs, any class but a
// layer's one that takes nothing.
template <class C>
void register_keras_serializable(const SerializableName& as) {
  using Kind = typename detail::KindOf<C>::type;
  using Made = typename Kind::Made;
  if constexpr (std::is_base_of_v<Layer, C>)
    static_cast<void>(layer_copies::copy_known<C>);  // so that models can keep its objects
  const std::string name = as.package.empty() ? as.name : as.package + ">" + as.name;
  typename Kind::Register(name, typeid(C), [](const Config& c) -> Made {
    constexpr bool takes_config = std::is_constructible_v<C, const Config&>;
    if constexpr (requires { C::from_config(c); }) {
      return Kind::keep(C::from_config(c));
    } else if constexpr (!takes_config && std::is_base_of_v<Model, C> &&
                         std::is_constructible_v<C, const Nest&, const Nest&>) {
      const GraphOfConfig graph = graph_from_config(c);
      C model(graph.inputs, graph.outputs);
      finish_from_config(model, c);
      return Made(model);
    } else if constexpr (!takes_config && std::is_base_of_v<Sequential, C>) {
      C model;
      stack_from_config(model, c);
      finish_from_config(model, c);
      return Made(model);
    } else if constexpr (!std::is_base_of_v<Layer, C> && !takes_config) {
      return Kind::keep(C());
    } else {
      return Kind::keep(C(c));
    }
  });
}
// In the package "Custom"; with a package, in Python's order or the other.
template <class C>
void register_keras_serializable(std::string_view name) {
  register_keras_serializable<C>(SerializableName{.name = std::string(name)});
}
template <class C>
void register_keras_serializable(std::string_view package, std::string_view name) {
  const std::string both = registered_name(typeid(C), package, name);
  const std::size_t arrow = both.find('>');
  register_keras_serializable<C>(
      {.package = both.substr(0, arrow), .name = both.substr(arrow + 1)});
}
// The same for a function that is given to compile as a loss or metric:
// register_keras_serializable("my_loss", my_loss).
template <class F>
requires(std::is_invocable_r_v<Tensor, F&, Tensor, Tensor> && !std::is_base_of_v<Layer, F> &&
         !std::is_base_of_v<Loss, F> &&
         !std::is_base_of_v<Metric, F>) void register_keras_serializable(std::string_view name,
                                                                         F function,
                                                                         std::string_view package =
                                                                             "Custom") {
  static_assert(std::is_pointer_v<F> || std::is_empty_v<F>,
                "two functions that capture values cannot be distinguished; make it a "
                "class derived from keras::Loss or keras::Metric");
  if constexpr (!std::is_pointer_v<F> && std::is_convertible_v<F, BinaryFn>)
    register_keras_serializable(name, BinaryFn(function), package);  // as compile takes it
  else
    RegisterFunction((package.empty() ? "" : std::string(package) + ">") + std::string(name),
                     function, [function](const LossFunction& other) {
                       const F* f = other.target<F>();
                       if constexpr (std::is_pointer_v<F>)
                         return f && *f == function;
                       else
                         return f != nullptr;
                     });
}

// Classes and functions that files may name while it lives, by their names there:
//
//   keras::utils::custom_object_scope scope;
//   scope.add<Linear>("Linear").add("my_loss", my_loss);
//   auto model = keras::models::load_model("model.h5");
//
// As in Keras they have no package: what is saved meanwhile holds the bare name. What was known by
// such a name before is known by it again afterwards. It ends on the thread on which it began,
// before a scope that began earlier does.
class custom_object_scope {
 public:
  custom_object_scope();
  ~custom_object_scope();
  custom_object_scope(const custom_object_scope&) = delete;
  custom_object_scope& operator=(const custom_object_scope&) = delete;

  // As register_keras_serializable<C>.
  template <class C>
  custom_object_scope& add(std::string_view name) {
    register_keras_serializable<C>(SerializableName{.package = {}, .name = std::string(name)});
    return *this;
  }
  template <class F>
  custom_object_scope& add(std::string_view name, F function) {
    register_keras_serializable(name, function, "");
    return *this;
  }

 private:
  std::vector<std::function<void()>> undo_, *around_;
};
using CustomObjectScope = custom_object_scope;

}  // namespace utils

}  // namespace keras
}  // namespace RILL_API
