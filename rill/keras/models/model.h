#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/data/dataset.h"
#include "rill/keras/engine/layer.h"
#include "rill/keras/losses/loss.h"
#include "rill/keras/metrics/metric.h"
#include "rill/keras/models/callback.h"
#include "rill/keras/models/logs.h"
#include "rill/keras/models/sequence.h"
#include "rill/keras/optimizers/optimizer.h"

namespace rill RILL_API {
namespace keras {

class ModelImpl;

// An optimizer by name, or as an object; those of compat::v1 too.
class OptimizerRef {
 public:
  OptimizerRef() = default;
  template <StringLike S>
  OptimizerRef(const S& name) : OptimizerRef(optimizers::get(std::string_view(name))) {}
  OptimizerRef(const Optimizer& o) : optimizer_(std::make_shared<Optimizer>(o)) {}
  template <class O>
  requires(!StringLike<O> && !std::is_base_of_v<Optimizer, O> &&
           std::is_convertible_v<const O&, Optimizer>) OptimizerRef(const O& o)
      : OptimizerRef(static_cast<Optimizer>(o)) {}
  bool defined() const { return static_cast<bool>(optimizer_); }
  Optimizer& operator*() const { return *optimizer_; }
  Optimizer* operator->() const { return optimizer_.get(); }

 private:
  std::shared_ptr<Optimizer> optimizer_;
};

// One loss for all outputs, one each, or by the names of the outputs.
class LossArg {
 public:
  LossArg() = default;
  template <class L>
  requires std::is_constructible_v<LossRef, const L&> LossArg(const L& loss)
      : list_{{std::string(), LossRef(loss)}} {}
  LossArg(std::nullptr_t) {}
  LossArg(BinaryFn f) : list_{{std::string(), LossRef(f)}} {}
  LossArg(std::initializer_list<LossRef> each) : kind_(Kind::each) {
    for (const LossRef& l : each) list_.emplace_back(std::string(), l);
  }
  LossArg(std::initializer_list<std::pair<std::string, LossRef>> by_name)
      : kind_(Kind::named), list_(by_name) {}
  enum class Kind : unsigned char { one, each, named };
  // As it is in a file; names are used by `named` alone.
  LossArg(Kind kind, std::vector<std::pair<std::string, LossRef>> list)
      : kind_(kind), list_(std::move(list)) {}
  Kind kind() const { return kind_; }
  bool defined() const { return !list_.empty(); }
  const std::vector<std::pair<std::string, LossRef>>& list() const { return list_; }

 private:
  Kind kind_ = Kind::one;
  std::vector<std::pair<std::string, LossRef>> list_;
};

// A metric, "mae", or a list of them, {"mae", "mse"}.
class MetricList {
 public:
  MetricList() = default;  // of none
  template <class M>
  requires std::is_constructible_v<MetricRef, const M&> MetricList(const M& metric)
      : list_{MetricRef(metric)}, is_list_(false) {}
  MetricList(BinaryFn f) : list_{MetricRef(f)}, is_list_(false) {}
  MetricList(std::initializer_list<MetricRef> list) : list_(list) {}
  MetricList(std::vector<MetricRef> list) : list_(std::move(list)) {}
  const std::vector<MetricRef>& list() const { return list_; }
  bool is_list() const { return is_list_; }

 private:
  std::vector<MetricRef> list_;
  bool is_list_ = true;
};

// Metrics of every output: {"mae", "mse"}; a list for each of them: {{"mae"}, {"mse"}}; or by the
// names of the outputs: {{"a", {"mae"}}, {"b", {"mse"}}}.
class MetricsArg {
 public:
  MetricsArg() = default;
  // A template, so that what may be read as names and lists is.
  template <int = 0>
  MetricsArg(std::initializer_list<MetricList> list) : MetricsArg(std::vector<MetricList>(list)) {}
  MetricsArg(std::vector<MetricRef> list) : all_(std::move(list)) {}
  template <StringLike S>
  MetricsArg(const S& name) : all_{MetricRef(name)} {}
  MetricsArg(const std::vector<MetricList>& list);
  template <class L>
  requires std::is_same_v<L, std::vector<MetricRef>> MetricsArg(std::vector<L> each)
      : each_(std::move(each)) {}
  MetricsArg(std::initializer_list<std::pair<std::string, std::vector<MetricRef>>> by_name)
      : named_(by_name) {}
  explicit MetricsArg(std::vector<std::pair<std::string, std::vector<MetricRef>>> by_name)
      : named_(std::move(by_name)) {}
  // One of the three at most is not empty.
  const std::vector<MetricRef>& all() const { return all_; }
  const std::vector<std::vector<MetricRef>>& each() const { return each_; }
  const std::vector<std::pair<std::string, std::vector<MetricRef>>>& named() const {
    return named_;
  }
  bool empty() const { return all_.empty() && each_.empty() && named_.empty(); }

 private:
  std::vector<MetricRef> all_;
  std::vector<std::vector<MetricRef>> each_;
  std::vector<std::pair<std::string, std::vector<MetricRef>>> named_;
};

// Numbers for outputs: in their order, or by name.
class LossWeights {
 public:
  LossWeights() = default;
  LossWeights(std::initializer_list<double> each) : each_(each) {}
  LossWeights(std::vector<double> each) : each_(std::move(each)) {}
  LossWeights(std::initializer_list<std::pair<std::string, double>> by_name) : named_(by_name) {}
  explicit LossWeights(std::vector<std::pair<std::string, double>> by_name)
      : named_(std::move(by_name)) {}
  const std::vector<double>& each() const { return each_; }
  const std::vector<std::pair<std::string, double>>& named() const { return named_; }

 private:
  std::vector<double> each_;
  std::vector<std::pair<std::string, double>> named_;
};

struct CompileOptions {
  OptimizerRef optimizer = "rmsprop";
  LossArg loss = {};
  MetricsArg metrics = {};
  LossWeights loss_weights = {};
  MetricsArg weighted_metrics = {};
  bool run_eagerly = false;              // plain C++ at each step: breakpoints work
  std::int64_t steps_per_execution = 1;  // steps between calls of the hooks of batches
};

// "auto" (1, or 2 if the output is not a terminal), 0 silent, 1 progress bar, 2 one line per epoch.
class Verbose {
 public:
  Verbose(int v) : v_(v) {}
  template <StringLike S>
  Verbose(const S& text) : v_(parse(std::string_view(text))) {}
  int value() const { return v_; }  // -1: auto

 private:
  static int parse(std::string_view text);
  int v_;
};

class ValidationData {
 public:
  ValidationData() = default;
  ValidationData(const Nest& x, const Nest& y) : x_(x), y_(y), kind_(Kind::arrays) {}
  ValidationData(const Nest& x, const Nest& y, const Nest& sample_weight)
      : x_(x), y_(y), weight_(sample_weight), kind_(Kind::arrays) {}
  ValidationData(const Tensor& x) : x_(x), kind_(Kind::arrays) {}  // of a model without labels
  // tf::tuple(x, y), tf::tuple(x, y, sample_weight), or x alone: a tuple of it, or a dict.
  // InvalidArgument for anything else.
  template <class N>
  requires std::is_same_v<N, Nest> ValidationData(const N& tuple) { take(tuple); }
  ValidationData(const data::Dataset& d)
      : dataset_(std::make_shared<data::Dataset>(d)), kind_(Kind::dataset) {}
  ValidationData(utils::Sequence& s) : sequence_(&s), kind_(Kind::sequence) {}  // lives as long
  enum class Kind : unsigned char { none, arrays, dataset, sequence };
  Kind kind() const { return kind_; }
  const Nest& x() const { return x_; }
  const Nest& y() const { return y_; }
  const Nest& sample_weight() const { return weight_; }
  const data::Dataset& dataset() const { return *dataset_; }
  utils::Sequence& sequence() const { return *sequence_; }

 private:
  void take(const Nest& tuple);
  utils::Sequence* sequence_ = nullptr;
  Nest x_, y_, weight_;
  std::shared_ptr<data::Dataset> dataset_;
  Kind kind_ = Kind::none;
};

// What fit does about a batch that makes the loss, or a weight, infinite or NaN.
enum class OnNan : unsigned char {
  ignore,
  // Training ends with InvalidArgument. The batch is replayed op by op from the state before
  // it, and the error names the first op that made such a number of finite ones: its layer, the
  // line of the program, shapes, values. Weights, optimizer, metrics and random numbers are as
  // before the batch.
  report,
};

// What samples of each class count: {{0, 1.}, {1, 2.5}}, or a map.
class ClassWeight {
 public:
  ClassWeight() = default;
  ClassWeight(std::initializer_list<std::pair<int, double>> list) : list_(list) {}
  ClassWeight(std::vector<std::pair<int, double>> list) : list_(std::move(list)) {}
  template <class Map>
  requires requires { typename Map::mapped_type; }
  ClassWeight(const Map& map) {
    for (const auto& [number, weight] : map)
      list_.emplace_back(static_cast<int>(number), static_cast<double>(weight));
  }
  const std::vector<std::pair<int, double>>& list() const { return list_; }
  bool empty() const { return list_.empty(); }

 private:
  std::vector<std::pair<int, double>> list_;
};

inline constexpr std::int64_t kDefaultBatchSize = INT64_MIN;  // not given: 32

struct FitOptions {
  std::int64_t batch_size = kDefaultBatchSize;  // not with a dataset
  int epochs = 1;
  Verbose verbose = "auto";
  Callbacks callbacks = {};
  double validation_split = 0;  // the last part of the data, before shuffling
  ValidationData validation_data = {};
  bool shuffle = true;
  ClassWeight class_weight = {};
  Nest sample_weight = {};  // one tensor, or one for each output: a list, or a dict by name
  int initial_epoch = 0;
  std::int64_t steps_per_epoch = 0;  // 0: all of the data
  std::int64_t validation_steps = 0;
  std::int64_t validation_batch_size = kDefaultBatchSize;  // that of training
  int validation_freq = 1;
  OnNan on_nan = OnNan::ignore;  // anything else keeps what a step changes until the next
};
struct EvaluateOptions {
  std::int64_t batch_size = kDefaultBatchSize;
  Verbose verbose = "auto";
  Nest sample_weight = {};
  std::int64_t steps = 0;
  Callbacks callbacks = {};
};
struct TrainOnBatchOptions {
  Nest sample_weight = {};
  ClassWeight class_weight = {};
  bool reset_metrics = true;
};
struct TestOnBatchOptions {
  Nest sample_weight = {};
  bool reset_metrics = true;
};
struct PredictOptions {
  std::int64_t batch_size = kDefaultBatchSize;
  Verbose verbose = "auto";
  std::int64_t steps = 0;
  Callbacks callbacks = {};
};
struct SummaryOptions {
  int line_length = 0;  // 0: 65, or 98 where the table says what is connected with what
  bool expand_nested = false;
  bool show_trainable = false;
};

struct ModelOptions {
  std::string name = {};  // "model_1", when empty
  bool trainable = true;
};

struct SaveOptions {
  bool overwrite = true;  // false: AlreadyExists when there is such a file
  bool include_optimizer = true;
  std::string save_format = {};  // "keras" or "h5"; by the suffix of the path when empty
  // 2 or 3: the Keras that reads the file, and as which the model then behaves. Rill reads both.
  // 0: the Keras of the file that the model came from, 2 where it came from none.
  int keras_version = 0;
};
struct SaveWeightsOptions {
  bool overwrite = true;
  std::string save_format = {};  // "tf" or "h5"; by the suffix of the path when empty
};
struct LoadWeightsOptions {
  bool by_name = false;  // layers by their names instead of their order; HDF5 only
  // Leave alone what does not fit: single weights with by_name; of a .weights.h5 or .keras file
  // layers, from the first weight that does not fit.
  bool skip_mismatch = false;
};

// Layers that are trained together. Made of a graph of layers, of a stack (Sequential), or a
// user-defined class that overrides call. A reference, as all layers are.
class Model : public Layer {
 public:
  // What leads from keras::Input to outputs: one tensor, a list, or a dict of each.
  Model(const Nest& inputs, const Nest& outputs, ModelOptions options = {});
  template <StringLike S>
  Model(const Nest& inputs, const Nest& outputs, const S& name)
      : Model(inputs, outputs, ModelOptions{.name = std::string(std::string_view(name))}) {}

  // ---- training
  void compile(CompileOptions options = {});
  bool compiled() const;
  // x and y: tensors (or lists and dicts of them, for several inputs or outputs) with the
  // samples along axis 0, or a dataset of (x, y) or (x, y, sample_weight) in batches, or a source
  // that is asked for these by number.
  History fit(const Nest& x, const Nest& y, FitOptions options = {});
  // x alone is for models whose loss needs no labels: those of add_loss, and user-defined steps.
  History fit(const Nest& x, FitOptions options = {});
  History fit(const Nest& x, std::nullptr_t no_labels, FitOptions options = {});
  History fit(const data::Dataset& x, FitOptions options = {});
  History fit(utils::Sequence& x, FitOptions options = {});
  Logs evaluate(const Nest& x, const Nest& y, EvaluateOptions options = {});
  Logs evaluate(const Nest& x, EvaluateOptions options = {});
  Logs evaluate(const Nest& x, std::nullptr_t no_labels, EvaluateOptions options = {});
  Logs evaluate(const data::Dataset& x, EvaluateOptions options = {});
  Logs evaluate(utils::Sequence& x, EvaluateOptions options = {});
  // The result for all samples. A model with several outputs has predict_all, which gives them in
  // the structure of the model's result; predict is an InvalidArgument there.
  Tensor predict(const Nest& x, PredictOptions options = {});
  Tensor predict(const data::Dataset& x, PredictOptions options = {});
  Tensor predict(utils::Sequence& x, PredictOptions options = {});
  Nest predict_all(const Nest& x, PredictOptions options = {});
  Nest predict_all(const data::Dataset& x, PredictOptions options = {});
  Nest predict_all(utils::Sequence& x, PredictOptions options = {});
  // One batch. The numbers are its own, or with reset_metrics = false of all since the last reset.
  Logs train_on_batch(const Nest& x, const Nest& y = {}, const TrainOnBatchOptions& options = {});
  Logs test_on_batch(const Nest& x, const Nest& y = {}, const TestOnBatchOptions& options = {});
  Logs train_on_batch(const Nest& x, const Nest& y, const Tensor& sample_weight) {
    return train_on_batch(x, y, TrainOnBatchOptions{.sample_weight = sample_weight});
  }
  Logs test_on_batch(const Nest& x, const Nest& y, const Tensor& sample_weight) {
    return test_on_batch(x, y, TestOnBatchOptions{.sample_weight = sample_weight});
  }
  Nest predict_on_batch(const Nest& x);
  void reset_metrics();

  // What one step does with what the data gave; overridden for another kind of training. The
  // result is a dict of scalars, shown under their names.
  virtual Nest train_step(const Nest& data);
  virtual Nest test_step(const Nest& data);
  virtual Nest predict_step(const Nest& data);
  // For those: the loss with all that layers add, and the metrics updated.
  virtual Tensor compute_loss(const Nest& y, const Nest& y_pred, const Nest& sample_weight = {});
  Nest compute_metrics(const Nest& y, const Nest& y_pred, const Nest& sample_weight = {});

  Optimizer& optimizer() const;  // FailedPrecondition before compile
  std::vector<std::string> metrics_names() const;
  // The loss and what it shows beside it, in the order of metrics_names(). Those of compile are
  // there when the model has met data. Then those that the model and its layers track. fit and
  // evaluate reset all of them.
  virtual std::vector<MetricRef> metrics() const;
  bool stop_training = false;  // set by a callback: fit ends after the batch

  // ---- structure
  Layers layers() const;
  LayerRef get_layer(std::string_view name) const;  // NotFound with the nearest name
  LayerRef get_layer(int index) const;              // from the end where it is negative
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  void build_model(const TensorShape& input_shape);  // batch first
  // Of a functional model: a symbolic tensor that its inputs lead to, which is then part of the
  // loss, or a mean that fit and evaluate show. Files of Keras 2 hold them; Keras 3 has no such
  // thing. Of any other class: in call, as for a layer.
  void add_loss(const Tensor& loss) const;
  void add_metric(const Tensor& value, std::string_view name) const;
  void summary(SummaryOptions options = {}) const;  // to standard output
  void summary(int line_length) const { summary({.line_length = line_length}); }
  std::string summary_text(SummaryOptions options = {}) const;
  std::string summary_text(int line_length) const {
    return summary_text({.line_length = line_length});
  }

  // ---- files: those of Keras, both ways. keras/saving/saving.h has the readers.
  // The architecture without weights. Unimplemented for a user-defined class that is not
  // registered.
  std::string to_json(int indent = -1) const;
  std::string to_yaml() const;
  // Architecture, weights, the settings of compile and the state of the optimizer, by the suffix:
  // .keras (an archive), .h5 or .hdf5. The file appears whole or not at all.
  void save(const std::string& path, SaveOptions options = {}) const;
  // Weights alone: a TensorFlow checkpoint, HDF5 for .h5, .hdf5 and .keras, and Keras 3's
  // layout for .weights.h5.
  void save_weights(const std::string& path, SaveWeightsOptions options = {}) const;
  // What save_weights or save wrote, of Rill or Keras. Everything is checked before the first
  // weight changes. A checkpoint also fits a model that is not built yet, whose weights take
  // their values when they come to be; for HDF5 that is FailedPrecondition.
  void load_weights(const std::string& path, LoadWeightsOptions options = {});

  ModelImpl& model_impl() const;

 protected:
  Model();
  explicit Model(LayerOptions options);
  template <class C>
  requires std::is_same_v<C, Config>
  explicit Model(const C& config) : Model(LayerOptions::from_config(config)) {}
  template <class M>
  Model(const M* self, LayerImpl* impl) : Layer(self, impl, typeid(Model)) {}
  explicit Model(Ref<LayerImpl> impl) : Layer(std::move(impl)) {}
};

template <class M>
constexpr void check_overrides(const Model*, const M* object) {
  check_overrides(static_cast<const Layer*>(nullptr), object);
  RILL_CHECK_OVERRIDES(M, Model, train_step);
  RILL_CHECK_OVERRIDES(M, Model, test_step);
  RILL_CHECK_OVERRIDES(M, Model, predict_step);
  RILL_CHECK_OVERRIDES(M, Model, compute_loss);
  RILL_CHECK_OVERRIDES(M, Model, metrics);
}

// A stack of layers, one input and one output each. Built at once when the first layer knows
// its input_shape, else at the first call.
class Sequential : public Model {
 public:
  Sequential();
  explicit Sequential(std::initializer_list<LayerRef> layers, ModelOptions options = {});
  explicit Sequential(const std::vector<LayerRef>& layers, ModelOptions options = {});
  template <StringLike S>
  Sequential(std::initializer_list<LayerRef> layers, const S& name)
      : Sequential(layers, ModelOptions{.name = std::string(std::string_view(name))}) {}
  template <StringLike S>
  Sequential(const std::vector<LayerRef>& layers, const S& name)
      : Sequential(layers, ModelOptions{.name = std::string(std::string_view(name))}) {}
  void add(LayerRef layer);
  void pop();
};

namespace models {
using keras::Model;
using keras::Sequential;
}  // namespace models

}  // namespace keras
}  // namespace RILL_API
