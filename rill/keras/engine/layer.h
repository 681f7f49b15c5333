#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rill/base/overrides.h"
#include "rill/core/nest.h"
#include "rill/core/operand.h"
#include "rill/eager/variable.h"
#include "rill/keras/config.h"
#include "rill/keras/constraints/constraint.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/initializers/initializers.h"
#include "rill/keras/regularizers/regularizer.h"

namespace rill RILL_API {

class TrackableNode;
void retain(TrackableNode* n) noexcept;
void release(TrackableNode* n) noexcept;

namespace keras {

class Layer;
class Metric;
class MetricRef;
class LayerImpl;
class LayerRef;
void retain(LayerImpl*) noexcept;
void release(LayerImpl*) noexcept;

namespace layer_copies {
// How objects of a class are copied; null where the class forbids it.
struct CopyLayer {
  std::shared_ptr<Layer> (*copy)(const Layer&) = nullptr;
  void (*assign)(Layer& to, const Layer& from) = nullptr;
};
bool know_copy(const std::type_info& type, const CopyLayer& copy);
template <class L>
bool note_copy() {
  const L* const object = nullptr;
  check_overrides(object, object);  // those of Layer, or of Model
  CopyLayer c;
  if constexpr (std::is_copy_constructible_v<L>)
    c.copy = [](const Layer& l) -> std::shared_ptr<Layer> {
      return std::make_shared<L>(static_cast<const L&>(l));
    };
  if constexpr (std::is_copy_assignable_v<L>)
    c.assign = [](Layer& to, const Layer& from) {
      static_cast<L&>(to) = static_cast<const L&>(from);
    };
  return know_copy(typeid(L), c);
}
// Of a class of the library, whose objects are handles without data.
using CopyHandle = std::shared_ptr<Layer> (*)(const Layer&);
template <class L>
std::shared_ptr<Layer> copy_handle(const Layer& l) {
  return std::make_shared<L>(static_cast<const L&>(l));
}
// Known before main, for every class that the program puts into a container, tracks or registers.
template <class L>
inline const bool copy_known = note_copy<L>();
}  // namespace layer_copies

// What a call tells a layer.
struct CallContext {
  bool training = false;
  Tensor mask = {};                // of the (first) input: false where a step does not count
  std::vector<Tensor> masks = {};  // of each input, where there are several; may be undefined
  std::vector<Tensor> initial_state = {};  // of recurrent layers
  std::vector<Tensor> constants = {};      // the same at every step: for user-defined cells
  Config arguments = {};                   // see CallOptions
};
// The states given to a recurrent layer: a list, or the one that there is.
class StateList : public std::vector<Tensor> {
 public:
  using std::vector<Tensor>::vector;
  StateList() = default;
  StateList(std::vector<Tensor> list) : std::vector<Tensor>(std::move(list)) {}
  StateList(const Tensor& one) : std::vector<Tensor>{one} {}
};
// What a caller may say. training -1: as the layer around it was called, else inference.
struct CallOptions {
  int training = -1;
  Tensor mask = {};  // of the (first) input
  StateList initial_state = {};
  std::vector<Tensor> constants = {};  // that a recurrent layer gives to its cell at every step
  std::vector<Tensor> masks = {};      // of each input, instead of mask; may be undefined
  // Further arguments of the call of this layer: {"use_causal_mask": true}.
  Config arguments = {};
};

// The keyword arguments that every layer takes.
struct LayerOptions {
  TensorShape input_shape = {};  // of one sample; a model that starts with it is built at once
  TensorShape batch_input_shape = {};  // the same with the batch in front
  std::string name = {};               // "dense_1", from the class, when empty
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};  // the first values, in the order of weights(); no others
  // What get_config wrote of them.
  static LayerOptions from_config(const Config& config);
};

struct AddWeightOptions {
  DType dtype = {};              // the layer's, when not given
  Initializer initializer = {};  // glorot_uniform for floats, else zeros
  Regularizer regularizer = {};
  bool trainable = true;
  Constraint constraint = {};
};

struct LoraOptions {
  std::optional<double> lora_alpha = {};  // the rank, when not given
  Initializer a_initializer = "he_uniform", b_initializer = "zeros";
};

// A computation with weights. A reference, as in Python: copies share weights, name and
// everything that is in them.
//
// A user-defined layer derives from it, makes its weights in build and computes in call:
//
//   struct Linear : keras::layers::Layer {
//     int units;
//     tf::Variable w, b;
//     explicit Linear(int units) : units(units) {}
//     void build(const tf::TensorShape& s) override {
//       w = add_weight("w", {s[-1], units}, "zeros");
//       b = add_weight("b", {units}, "zeros");
//     }
//     Tensor call(const Tensor& x, const keras::CallContext&) override {
//       return tf::matmul(x, w) + b;
//     }
//   };
//
// Layers and variables that are members and not made by add_weight are registered by
// track("name", member) in the constructor. build runs once for all copies, at the first call;
// a copy that was made before that learns its members when it is first called.
//
// A container holds one copy of the object, the same in all containers, with the fields that the
// object had when it was last put into one; an object made by std::make_shared is held as it is. A
// model that is drawn on keras::Input calls the object itself while it lives, then the copy. Of a
// class that the program never puts into a container, tracks or registers, no copy can be made:
// there the model keeps the call as graphs.
class Layer : public std::enable_shared_from_this<Layer> {
 public:
  virtual ~Layer();
  Layer(const Layer&);
  Layer(Layer&&) noexcept;
  Layer& operator=(const Layer&);
  Layer& operator=(Layer&&) noexcept;

  // Builds at the first call, then calls. On a tensor of keras::Input it adds to the model
  // that is being drawn instead. Of several results:
  //
  //   auto [y, state] = layer(x).unpack<2>();   // or layer(x)[1], or a loop over them
  Tensor operator()(const Operand& x, CallOptions options = {}) const;
  Tensor operator()(std::initializer_list<Tensor> xs, CallOptions options = {}) const;
  // Several inputs, or a ragged or sparse one.
  template <class N>
  requires(std::is_same_v<N, Nest> || std::is_same_v<N, std::vector<Tensor>> || Composite<N>) Nest
  operator()(const N& inputs, CallOptions options = {}) const {
    return apply(Nest(inputs), std::move(options));
  }
  // Any structure in, any structure out: several inputs, several results.
  Nest apply(const Nest& inputs, CallOptions options = {}) const;
  Nest call_all(const Nest& inputs, CallOptions options = {}) const {
    return apply(inputs, std::move(options));
  }

  // ---- for a user-defined class
  // Makes the weights for this shape of the (first) input. The base makes those of a layer or model
  // of the library, and lets a user-defined model make its layers by a call.
  virtual void build(const TensorShape& input_shape);
  virtual void build_all(const std::vector<TensorShape>& input_shapes);  // calls build
  virtual Tensor call(const Tensor& x, const CallContext& context);
  // For layers with several inputs or results; calls call when there is one input.
  virtual Nest call_nest(const Nest& inputs, const CallContext& context);
  // The shape of the result; found by tracing call, so that few need to write it.
  virtual TensorShape compute_output_shape(const TensorShape& input_shape);
  // The mask of the result; by default that of the input where supports_masking is set.
  virtual Tensor compute_mask(const Nest& inputs, const Tensor& mask);
  // name, trainable, dtype; a class adds its own arguments.
  virtual Config get_config() const;
  // The name of the class, where C++ does not know it: of an object that is made of a table of
  // functions, or by another language. Empty: the C++ class.
  virtual std::string run_time_class() const;

  // ---- state
  std::string name() const;
  std::string class_name() const;
  bool built() const;
  bool trainable() const;
  void set_trainable(bool trainable);  // of this layer and all in it
  void trainable(bool yes) { set_trainable(yes); }
  // Low-rank adaptation of Dense, EinsumDense and Embedding, once they are built: the kernel W is
  // frozen, and the layer computes with W + lora_alpha / rank * A B, of which A [.., rank] and B
  // [rank, n] train. They become the last of weights(). Model files hold the sum in the place of W.
  // Compile after it. InvalidArgument for other layers, and where W has a constraint;
  // FailedPrecondition where the layer is not built, or adapted already.
  void enable_lora(std::int64_t rank, LoraOptions options = {});
  bool lora_enabled() const;
  DType dtype() const;  // of the weights
  DType compute_dtype() const;
  bool stateful() const;
  void reset_states();  // of recurrent layers that keep their state
  std::vector<Variable> variables() const { return weights(); }
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> trainable_weights() const { return trainable_variables(); }
  std::vector<Variable> non_trainable_variables() const;
  std::vector<Variable> non_trainable_weights() const { return non_trainable_variables(); }
  std::int64_t count_params() const;  // FailedPrecondition before it is built
  // Values in the order of weights().
  std::vector<Tensor> get_weights() const;
  // InvalidArgument, and no change, when counts or shapes differ.
  void set_weights(const std::vector<Tensor>& values) const;
  // What add_loss and the regularizers give, of this layer and all in it.
  std::vector<Tensor> losses() const;
  // The layers that this one holds.
  std::vector<Layer> sublayers() const;
  // Where it is in a drawn model: what its first call there took and gave; of a model, what
  // it was made of. Empty where there is none.
  std::vector<Tensor> inputs() const;
  std::vector<Tensor> outputs() const;
  // The only one of them. FailedPrecondition where there is none or are several, or where calls
  // have had several shapes.
  Tensor input() const;
  Tensor output() const;
  // Those of one call there, by its number from 0: a tensor, or a list of them. FailedPrecondition
  // where the layer has not been called so often. A model is call 0 of itself.
  Nest get_input_at(int node_index) const;
  Nest get_output_at(int node_index) const;
  TensorShape get_input_shape_at(int node_index) const;  // of the first
  TensorShape get_output_shape_at(int node_index) const;
  TensorShape input_shape() const;
  TensorShape output_shape() const;

  Ref<TrackableNode> trackable() const;  // what checkpoints hold
  LayerImpl& impl() const { return *impl_; }

 protected:
  Layer();
  explicit Layer(LayerOptions options);
  // name, trainable and dtype as get_config wrote them: super().__init__(**config).
  template <class C>
  requires std::is_same_v<C, Config>
  explicit Layer(const C& config) : Layer(LayerOptions::from_config(config)) {}
  // A handle on what others made.
  explicit Layer(Ref<LayerImpl> impl);
  // A layer of the library: `this` says its class, which any other class derives from. `base`: a
  // class between.
  template <class L>
  Layer(const L*, LayerImpl* impl, const std::type_info& base = typeid(Layer))
      : Layer(impl, typeid(L), base, &layer_copies::copy_handle<L>) {}

  // Makes a member known: its weights are the layer's, and checkpoints find it by this name.
  template <class L>
  requires std::is_base_of_v<Layer, L>
  void track(std::string_view name, L& layer) {
    if (!layer_copies::copy_known<L>) layer_copies::note_copy<L>();  // before main
    track_one(name, layer);
  }
  void track(std::string_view name, Variable& v);
  // A metric: fit and evaluate reset it, and metrics() of the model lists it.
  template <class M>
  requires std::is_base_of_v<Metric, M>
  void track(std::string_view name, M& metric) { track_metric(name, MetricRef(metric)); }
  // All of a list, or of a map by its keys, as they are now. Files of Keras hold them as "blocks/0"
  // and so on. Once more after a change: the list is the new one.
  template <class L>
  requires std::is_base_of_v<Layer, L>
  void track(std::string_view name, std::vector<L>& list) {
    std::vector<Layer*> layers;
    for (L& layer : list) layers.push_back(&layer);
    if (!layer_copies::copy_known<L>) layer_copies::note_copy<L>();
    track_all(name, layers, {});
  }
  void track(std::string_view name, const std::vector<LayerRef>& list);
  template <class Map>
  requires std::is_base_of_v<Layer, typename Map::mapped_type>
  void track(std::string_view name, Map& map) {
    std::vector<Layer*> layers;
    std::vector<std::string> keys;
    for (auto& [key, layer] : map) {
      keys.emplace_back(key);
      layers.push_back(&layer);
    }
    track_all(name, layers, keys);
  }
  // A weight, made once; the layer's copies share it.
  Variable add_weight(std::string_view name, const TensorShape& shape,
                      const Initializer& initializer = {});
  Variable add_weight(std::string_view name, const TensorShape& shape, AddWeightOptions options);
  Variable add_variable(std::string_view name, const TensorShape& shape,
                        const Initializer& initializer = {}) {
    return add_weight(name, shape, initializer);
  }
  // In call: adds a scalar to the loss that fit trains on.
  void add_loss(const Tensor& loss) const;
  // In call: a mean that fit and evaluate show under this name.
  void add_metric(const Tensor& value, std::string_view name) const;
  void set_supports_masking(bool yes);

  // The weight of that name, "kernel". FailedPrecondition before it is built, NotFound where there
  // is none.
  Variable weight_named(std::string_view name) const;

  Ref<LayerImpl> impl_;

 private:
  Layer(LayerImpl* impl, const std::type_info& type, const std::type_info& base,
        layer_copies::CopyHandle copy);
  void track_one(std::string_view name, Layer& layer);
  void track_metric(std::string_view name, const MetricRef& metric);
  void track_all(std::string_view name, const std::vector<Layer*>& layers,
                 const std::vector<std::string>& keys);
  friend class LayerRef;
  friend class LayerImpl;
  friend class LayerObjects;
  friend class LayerCalls;
  // The object of a user's class that this is a handle on; it lives as long.
  std::shared_ptr<Layer> object_;
  bool handle_ = false;
  // This object's members are those of the built weights: it ran build, or is a copy of one that
  // did.
  mutable bool bound_ = false;
};

// Functions of a user-defined class that hide those of Layer instead of overriding them stop the
// compiler, where the class is first put into a container, tracked or registered.
template <class L>
constexpr void check_overrides(const Layer*, const L*) {
  RILL_CHECK_OVERRIDES(L, Layer, build);
  RILL_CHECK_OVERRIDES(L, Layer, call);
  RILL_CHECK_OVERRIDES(L, Layer, call_nest);
  RILL_CHECK_OVERRIDES(L, Layer, compute_output_shape);
  RILL_CHECK_OVERRIDES(L, Layer, compute_mask);
  RILL_CHECK_OVERRIDES(L, Layer, get_config);
}

// A layer as an object of the class L. Null where it is of another one; -> and * are then an
// InvalidArgument that names both.
template <class L>
class LayerAs : public std::shared_ptr<L> {
 public:
  LayerAs(std::shared_ptr<L> object, std::shared_ptr<Layer> layer)
      : std::shared_ptr<L>(std::move(object)), layer_(std::move(layer)) {}
  L& operator*() const { return *checked(); }
  L* operator->() const { return checked(); }

 private:
  L* checked() const;
  std::shared_ptr<Layer> layer_;
};

// A layer in a container. Of a user-defined class it holds the copy that all containers share, or
// the object itself where it is given as a shared_ptr.
class LayerRef {
 public:
  LayerRef() = default;
  template <class L>
  requires std::is_base_of_v<Layer, std::remove_cvref_t<L>> LayerRef(L&& layer) {
    using C = std::remove_cvref_t<L>;
    if constexpr (std::is_constructible_v<C, L&&>) {
      if (!layer_copies::copy_known<C>) layer_copies::note_copy<C>();
      layer_ = shared(layer);
      if (!layer_ && typeid(layer) == typeid(C))
        hold(std::make_shared<C>(std::forward<L>(layer)));
      else if (!layer_)
        hold_copy(layer);
    } else {
      static_assert(std::is_constructible_v<C, L&&>,
                    "A container holds a copy of its layers, and this class cannot be copied. Make "
                    "the layer with std::make_shared<YourLayer>(...) and pass the pointer.");
    }
  }
  template <class L>
  requires std::is_base_of_v<Layer, L> LayerRef(const std::shared_ptr<L>& layer) { hold(layer); }
  // The layer of keras::Input(..), which may be first in a Sequential model. InvalidArgument for
  // any other tensor.
  LayerRef(const Tensor& input);
  bool defined() const { return static_cast<bool>(layer_); }
  // FailedPrecondition where there is no layer.
  Layer& operator*() const { return *operator->(); }
  Layer* operator->() const {
    if (!layer_) fail_undefined();
    return layer_.get();
  }
  // What programs ask a layer most, so that get_layer("x").weights() is a line.
  std::string name() const { return (*this)->name(); }
  std::string class_name() const { return (*this)->class_name(); }
  bool built() const { return (*this)->built(); }
  bool trainable() const { return (*this)->trainable(); }
  void trainable(bool yes) const { (*this)->set_trainable(yes); }
  void set_trainable(bool yes) const { (*this)->set_trainable(yes); }
  DType dtype() const { return (*this)->dtype(); }
  std::vector<Variable> variables() const { return (*this)->weights(); }
  std::vector<Variable> weights() const { return (*this)->weights(); }
  std::vector<Variable> trainable_variables() const { return (*this)->trainable_variables(); }
  std::vector<Variable> trainable_weights() const { return (*this)->trainable_variables(); }
  std::vector<Variable> non_trainable_variables() const {
    return (*this)->non_trainable_variables();
  }
  std::vector<Variable> non_trainable_weights() const { return (*this)->non_trainable_variables(); }
  std::int64_t count_params() const { return (*this)->count_params(); }
  std::vector<Tensor> get_weights() const { return (*this)->get_weights(); }
  void set_weights(const std::vector<Tensor>& values) const { (*this)->set_weights(values); }
  std::vector<Tensor> losses() const { return (*this)->losses(); }
  std::vector<Tensor> inputs() const { return (*this)->inputs(); }
  std::vector<Tensor> outputs() const { return (*this)->outputs(); }
  Tensor input() const { return (*this)->input(); }
  Tensor output() const { return (*this)->output(); }
  TensorShape input_shape() const { return (*this)->input_shape(); }
  TensorShape output_shape() const { return (*this)->output_shape(); }
  Config get_config() const { return (*this)->get_config(); }
  Tensor operator()(const Operand& x, CallOptions options = {}) const {
    return (**this)(x, std::move(options));
  }
  Tensor operator()(std::initializer_list<Tensor> xs, CallOptions options = {}) const {
    return (**this)(xs, std::move(options));
  }
  Nest apply(const Nest& inputs, CallOptions options = {}) const {
    return (*this)->apply(inputs, std::move(options));
  }
  // The object, null where it has another class.
  //
  //   model.get_layer("s").as<keras::layers::Dense>()->kernel();
  template <class L>
  LayerAs<L> as() const {
    std::shared_ptr<L> object = std::dynamic_pointer_cast<L>(layer_);
    if (!object) object = std::dynamic_pointer_cast<L>(of_its_class());
    return {std::move(object), layer_};
  }
  const std::shared_ptr<Layer>& object() const { return layer_; }

 private:
  friend class LayerObjects;
  template <class L>
  friend class LayerAs;
  [[noreturn]] static void fail_undefined();
  [[noreturn]] static void fail_other_class(const Layer* layer, const std::type_info& asked);
  std::shared_ptr<Layer> of_its_class() const;               // null where nothing can make it
  static std::shared_ptr<Layer> shared(const Layer& layer);  // by another container, or the program
  void hold(std::shared_ptr<Layer> layer);
  void hold_copy(const Layer& layer);  // of an object whose own class only it knows
  std::shared_ptr<Layer> layer_;
};
template <class L>
L* LayerAs<L>::checked() const {
  if (!this->get()) LayerRef::fail_other_class(layer_.get(), typeid(L));
  return this->get();
}

// The layers of a model by number, from the end where it is negative: layers()[-1].
class Layers : public std::vector<LayerRef> {
 public:
  using std::vector<LayerRef>::vector;
  Layers(std::vector<LayerRef> layers) : std::vector<LayerRef>(std::move(layers)) {}
  // OutOfRange where there is none.
  template <std::integral I>
  LayerRef& operator[](I i) {
    return data()[place(static_cast<std::ptrdiff_t>(i))];
  }
  template <std::integral I>
  const LayerRef& operator[](I i) const {
    return data()[place(static_cast<std::ptrdiff_t>(i))];
  }

 private:
  std::size_t place(std::ptrdiff_t i) const;
};

namespace layers {
using keras::Layer;
}

namespace backend {
// Forgets the numbers of automatic names: the next Dense is "dense" again.
void clear_session();
inline void reset_uids() { clear_session(); }
}  // namespace backend

}  // namespace keras
}  // namespace RILL_API
