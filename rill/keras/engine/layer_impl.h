#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <typeinfo>

#include "rill/core/tensor_impl.h"
#include "rill/core/trackable.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/engine/layer.h"
#include "rill/keras/engine/lora_impl.h"
#include "rill/keras/metrics/metric.h"

namespace rill::keras {

class KerasNode;

// What the inputs of a layer must look like; -1 where it does not matter.
struct InputSpec {
  int ndim = -1, min_ndim = -1, max_ndim = -1;
  std::vector<std::pair<int, std::int64_t>> axes = {};  // sizes that are fixed, by axis
  bool first_only = false;  // it speaks of the first input; the others are states and so on
};

struct Weight {
  std::string name;  // "kernel"
  Variable variable;
  bool trainable = true;
  Regularizer regularizer = {};
  // Its layer stopped it from training; it keeps its place among the weights.
  bool frozen = false;
};

// A list or a map of layers as a member of one: an object of checkpoints, though no layer.
class LayerList final : public TrackableNode {};

// The object of a user-defined class, which has the behaviour of a layer.
struct UsersObject {
  const std::type_info* type = nullptr;  // null: a layer of the library, or not used yet
  bool class_at_run_time = false;        // its name is not that of the type
  bool own_call = false;               // it computes something else than the class it derives from
  std::weak_ptr<Layer> held;           // what containers hold
  std::atomic<Layer*> live = nullptr;  // the first one that was called, while it lives
};

// A build that is under way.
struct BuildUnderWay {
  // A copy learns its members: weights are given, not made.
  bool again = false;
  // What the program had made before, by its own call of build: it is taken, not made once more.
  std::size_t weights = 0, edges = 0;
};

// What all handles of a layer share. The layers of the library derive from it and are behind a
// facade without data; of a user-defined class it holds the state, and the object the behaviour.
class LayerImpl : public TrackableNode {
 public:
  // An empty class name: the user's class, which is known at the first use.
  explicit LayerImpl(std::string_view class_name, LayerOptions options = {});
  ~LayerImpl() override;

  // ---- the behaviour of a built-in layer
  virtual void build(const std::vector<TensorShape>& input_shapes);
  virtual Tensor call(const Tensor& x, const CallContext& context);
  virtual Nest call_nest(const Nest& inputs, const CallContext& context);  // calls call
  virtual Tensor compute_mask(const Nest& inputs, const Tensor& mask);
  virtual void add_config(Config& config) const;  // after name, trainable and dtype
  virtual void reset_states();
  // Calls will have this many constants. InvalidArgument unless overridden.
  virtual void expect_constants(std::size_t count);
  virtual bool is_model() const { return false; }
  // The shape of the result, where it follows from others without building; unknown rank: not.
  virtual TensorShape output_shape_of_layers(const TensorShape&) const { return {}; }
  // Of a model that knows its inputs: the symbolic tensors of its drawing; else empty.
  virtual std::vector<Tensor> inputs() { return {}; }
  virtual std::vector<Tensor> outputs() { return {}; }
  // A name for summaries: "Dense", "Functional".
  virtual std::string shown_class() const { return class_name(); }

  // ---- weights
  // Makes the weight, or gives the one of that name when another handle made it.
  Variable add_weight(std::string_view name, const TensorShape& shape, AddWeightOptions options);
  // A weight as call uses it: in the compute dtype.
  Tensor in_compute_dtype(const Variable& weight) const;
  // The same of one that may be adapted, by now.
  Tensor adapted_in_compute_dtype(const Variable& weight) const;
  void track_layer(std::string_view edge, const Ref<LayerImpl>& child);
  void track_variable(std::string_view edge, const Variable& v);
  // Under one edge, and there by their keys, or without keys as "0", "1", ...
  void track_list(std::string_view edge, const std::vector<Ref<LayerImpl>>& list,
                  const std::vector<std::string>& keys = {});

  enum class Which { all, trainable, non_trainable };
  // Of adapted layers: `apart`, what trains is A and B; `in_place`, W is where it was among what
  // trains; `merged`, and A and B are not there.
  enum class Adapted { apart, in_place, merged };
  std::vector<Variable> weights(Which which) const;
  std::vector<Variable> weights(Which which, Adapted adapted) const;
  void collect(Which which, bool frozen, Adapted adapted, std::vector<Variable>& out) const;
  void set_trainable(bool yes);
  // InvalidArgument where the layer cannot have it, FailedPrecondition where it is not built.
  void enable_lora(std::int64_t rank, LoraOptions options);
  // At the end of build: as the constructor asks for.
  void begin_lora();
  std::vector<Tensor> losses() const;
  std::vector<MetricRef> tracked_metrics() const;  // of this layer and all in it
  // Calls in several threads may add at once.
  void add_call_loss(const Tensor& loss);
  void add_call_metric(const Tensor& value, std::string_view name);
  void clear_call_losses();
  // `trainable`, for use in call: a graph of the call holds for this answer alone.
  bool trains_in_call() const;

  // ---- names and state
  const std::string& name() const { return name_; }
  const std::string& class_name() const { return class_name_; }
  bool named() const { return !name_.empty(); }
  // Gives the layer of a user-defined class its name. One that derives from a layer of the library
  // is named after itself, too, and a model keeps the class that its graph has.
  void name_by_class(const std::string& class_name);
  void set_name(std::string name) { name_ = std::move(name); }

  bool built = false;
  bool trainable = true;
  bool supports_masking = false;
  bool stateful = false;
  const BuildUnderWay* build_under_way = nullptr;
  bool autocast = true;  // float inputs take the compute dtype
  DTypePolicy policy;
  TensorShape batch_input_shape;  // as given to the constructor; unknown rank: not given
  InputSpec input_spec;
  Regularizer activity_regularizer;
  std::vector<Weight> own;
  std::unique_ptr<Lora> lora;  // null: it cannot be adapted
  std::vector<Ref<LayerImpl>> children;
  std::vector<MetricRef> metrics;   // that the class tracks
  std::vector<Tensor> call_losses;  // of the call under way
  struct CallMetric {
    std::string name;
    Tensor value;
  };
  std::vector<CallMetric> call_metrics;
  std::vector<KerasNode*> inbound;           // its calls on symbolic tensors, as long as they live
  std::vector<LayerImpl*> stacks;            // the Sequential models that it is a layer of
  std::vector<TensorShape> built_for;        // shapes of the inputs at build
  std::vector<Tensor> first_weights;         // what build sets them to, unless empty
  TensorShape last_output_shape;             // of the last call: for summaries
  const int behaves_as = keras_behaviour();  // 2 or 3: the Keras that its file is of
  const bool of_library;                     // it has its own behaviour: see above
  bool automatic_name = false;               // made of the class
  bool made_untracked =
      false;  // its weights were made in the call of a class that does not hold it
  bool told_untracked = false;

  UsersObject users;
  // The class of the library that made it, and one that this derives from.
  const std::type_info *library_class = &typeid(Layer), *library_base = &typeid(Layer);
  layer_copies::CopyHandle copy_handle = nullptr;  // of an object of library_class
  std::atomic<bool> handle_noted = false;          // handles of that class can be made

 private:
  std::string class_name_, name_;
};

// What calls leave in a layer and all in it is set aside, and comes back at the end: drawing a
// layer while a model runs must not touch what that run has added.
class CallResultsScope {
 public:
  explicit CallResultsScope(LayerImpl& layer);
  ~CallResultsScope();
  void add(LayerImpl& layer);  // another one
  CallResultsScope(const CallResultsScope&) = delete;

 private:
  struct Kept {
    std::vector<Tensor> losses;
    std::vector<LayerImpl::CallMetric> metrics;
  };
  std::vector<Ref<LayerImpl>> layers_;
  std::map<LayerImpl*, Kept> kept_;
};

// The layers whose `trainable` calls have asked for while this is the innermost of its kind.
class TrainableAsked {
 public:
  TrainableAsked();
  ~TrainableAsked();
  TrainableAsked(const TrainableAsked&) = delete;
  std::vector<LayerImpl*> asked;

 private:
  TrainableAsked* before_;
};

// A handle on a layer of which only the state is known. Calls go to the user's object, if any.
class LayerHandle : public Layer {
 public:
  explicit LayerHandle(Ref<LayerImpl> impl) : Layer(std::move(impl)) {}
};
inline Ref<LayerImpl> share(LayerImpl& l) {
  retain(&l);
  return Ref<LayerImpl>(&l);
}

// "dense", then "dense_1": the next free automatic name.
std::string unique_layer_name(std::string_view base);

// Which object has the behaviour of a layer. Friend of Layer.
class LayerObjects {
 public:
  // This object is of a class that the library does not know.
  static bool is_users_class(const Layer& layer);
  // The object that behaves: the given one, or the one that it is a handle on.
  static const Layer& behind(const Layer& layer);
  // The same, null where it is the given one or the layer has the library's behaviour.
  static Layer* other_object(const Layer& layer);
  // The object, kept alive: itself where it is shared, else the copy that containers hold, made
  // now if there is none. Undefined where nothing says how to copy the class.
  static LayerRef hold(const Layer& layer);
  // An object of a class of the library is at hand: from now on others of it can be made.
  static void note_handle(const Layer& layer);
  // A new object of the layer's class of the library; null where none has been met.
  static std::shared_ptr<Layer> new_handle(LayerImpl& layer);
  // A layer to give out: its object where containers hold one, else a handle of its class.
  static LayerRef of(LayerImpl& layer);
  // Gives the object its class and name, at its first use.
  static void introduce(const Layer& layer);
  static Ref<LayerImpl> impl_of(const Layer& layer) { return layer.impl_; }
  // This object is one of a user-defined class and was called.
  static void note_live(const Layer& layer);
  static void note_drawn(const Layer& layer);  // the same, and models call this one
  // A copy was made that may be a handle alone, as a base class is.
  static void note_copied(const Layer& from, Layer& handle);
  static void note_moved(const Layer& from, Layer& to);
  static void forget_live(const Layer& layer);
};

// How layers are built and called. Friend of Layer.
class LayerCalls {
 public:
  static Nest apply(const Layer& layer, const Nest& inputs, CallOptions options);
  // The layer on concrete tensors, or on those of a graph being traced.
  static Nest run(const Layer& layer, const Nest& inputs, CallOptions options);
  static void build(const Layer& layer, const std::vector<TensorShape>& shapes);
  // The same when the program asks for it, outside a call.
  static void build_by_hand(Layer& layer, const std::vector<TensorShape>& shapes);

 private:
  // The call of a user-defined class.
  static Nest call_users(Layer& layer, const Nest& inputs, const CallContext& context);
};

// What a layer gives for inputs of these shapes, found by tracing it; builds it.
struct ValueSpec {
  DType dtype;
  TensorShape shape;
  bool masked = false;  // a mask of this dtype and shape goes with it
  DType mask_dtype = {};
  TensorShape mask_shape = {};
  TensorShape sizes = {};  // of a list of sizes: those that are known
};
// `structure` (may be null) becomes the structure of the result over placeholder leaves.
std::vector<ValueSpec> infer_outputs(const Layer& layer, const Nest& inputs,
                                     const CallOptions& options, Nest* structure = nullptr);

// x in another shape, of which the batch and other sizes may be unknown while a graph is traced.
// `like` gives the sizes that are unknown, axis by axis; at most one may lack there.
Tensor reshape_to(const Tensor& x, const TensorShape& to, const Tensor& like = {});

// What a call of the layer gives: the only result, or a tensor that stands for several.
Tensor result_of(const Layer& layer, const Nest& out);

// The options that built-in layers have in common, from the fields of their own structs.
template <class O>
LayerOptions common(const O& o) {
  return {.input_shape = o.input_shape,
          .batch_input_shape = o.batch_input_shape,
          .name = o.name,
          .dtype = o.dtype,
          .trainable = o.trainable,
          .weights = o.weights};
}

}  // namespace rill::keras
