#pragma once
#include <memory>

#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/models/model.h"

namespace rill::keras {

class InputLayerImpl;
class Trainer;      // what compile and fit keep: training/trainer_impl.h
class FitProgress;  // training/progress_impl.h
// The layers of the model have changed: its steps are traced again.
void forget_functions(Trainer& trainer);

// Dicts by their keys, as Keras goes through them, at all depths.
Nest sorted_by_key(const Nest& nest);
// What a model is given beside what it expects: a last axis of 1 comes and goes, as in Keras.
Tensor fit_last_axis(const Tensor& x, const TensorShape& expected);
// As in Keras 2 the sizes are compared from the front, as far as both have them, without the batch
// and without a last axis of 1 on either side. InvalidArgument names the model's input.
void check_input_shape(const std::string& model, std::size_t number, const TensorShape& found,
                       const TensorShape& expected);
// In the dtype of the model's input. InvalidArgument where it is text on one side alone.
Tensor in_dtype_of_input(const std::string& model, std::size_t number, const Tensor& x,
                         DType wanted);

// What the handles of a model share.
class ModelImpl : public LayerImpl {
 public:
  explicit ModelImpl(std::string_view class_name, LayerOptions options = {});
  ~ModelImpl() override;
  bool is_model() const override { return true; }
  // The layers in the order of the model.
  virtual std::vector<LayerRef> layers() const;

  std::shared_ptr<Trainer> trainer;    // null before compile
  std::shared_ptr<Trainer> predictor;  // for predict before that
  FitProgress* progress = nullptr;     // of the fit that runs; null while none does
};

// A stack of layers.
class SequentialImpl : public ModelImpl {
 public:
  explicit SequentialImpl(std::string name);
  ~SequentialImpl() override;
  void add(LayerRef layer);
  void pop();
  // Builds all layers for inputs of this shape, batch first.
  void build_for(const TensorShape& input_shape, DType dtype);

  void build(const std::vector<TensorShape>& input_shapes) override;
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override;
  void add_config(Config& config) const override;
  TensorShape output_shape_of_layers(const TensorShape& input_shape) const override;
  std::vector<LayerRef> layers() const override { return layers_; }
  std::vector<Tensor> inputs() override;
  std::vector<Tensor> outputs() override;
  const TensorShape& known_input_shape() const { return known_input_shape_; }

 private:
  // What add may have to undo.
  struct Known {
    TensorShape input_shape;
    DType input_dtype;
    bool built = false;
    std::vector<TensorShape> built_for;
  };
  void draw();
  void forget_drawing();
  const InputLayerImpl* given_input() const;  // null: none was
  bool reshapes(const TensorShape& given) const;
  std::vector<LayerRef> layers_;
  LayerRef input_layer_;  // as it was given, or made of the first layer's input_shape
  TensorShape known_input_shape_;
  DType input_dtype_;
  std::vector<Tensor> inputs_, outputs_;  // drawn when somebody asks
  Tensor last_mask_;
};

// Layers as a graph from inputs to outputs.
class FunctionalImpl : public ModelImpl {
 public:
  // `listed`: the names of all layers in the order of a file, which its weights follow.
  FunctionalImpl(const Nest& inputs, const Nest& outputs, std::string name,
                 const std::vector<std::string>& listed = {});
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Tensor compute_mask(const Nest&, const Tensor&) override { return {}; }
  void add_config(Config& config) const override;
  std::vector<LayerRef> layers() const override { return layers_; }
  std::vector<Tensor> inputs() override { return input_leaves_; }
  std::vector<Tensor> outputs() override { return output_leaves_; }
  const std::vector<Ref<KerasNode>>& nodes() const { return nodes_; }
  const Nest& input_nest() const { return inputs_; }
  const Nest& output_nest() const { return outputs_; }
  // The calls that lead to these tensors belong to the model, though its outputs do not need them.
  void extend(const std::vector<Tensor>& ends, const std::vector<std::string>& listed = {});

 private:
  // Where the value of a symbolic tensor is kept while the model runs.
  struct Slot {
    int value = -1;  // number in the list of values; -1: a constant
    Tensor constant;
  };
  struct Step {
    Ref<KerasNode> node;
    std::vector<Slot> inputs;
    int first_output = 0;
  };
  Slot slot_of(const Tensor& t) const;
  void add_step(const Ref<KerasNode>& node);
  // Lists those layers of these calls that are not listed yet.
  void list_layers(const std::vector<Ref<KerasNode>>& nodes, const std::vector<Tensor>& outputs,
                   const std::vector<std::string>& listed);
  void begin_at_inputs(std::vector<Ref<KerasNode>>& order);

  Nest inputs_, outputs_;
  std::vector<Tensor> input_leaves_, output_leaves_;
  std::vector<Ref<KerasNode>> nodes_;  // inputs first, then in the order of running
  std::vector<LayerRef> layers_;
  std::map<std::pair<std::uint64_t, int>, int> numbers_;  // of values, by node and output
  std::vector<Step> steps_;
  std::vector<Slot> results_;
  int num_values_ = 0;
};

// A layer of Model::add_loss or add_metric.
bool adds_to_model(const LayerImpl& layer);

// A handle on a model of which only the state is known.
class ModelHandle : public Model {
 public:
  explicit ModelHandle(Ref<LayerImpl> impl) : Model(std::move(impl)) {}
};

// A model whose layers and order are those of a functional one or a stack: all but subclassed.
bool has_graph(const ModelImpl& model);

}  // namespace rill::keras
