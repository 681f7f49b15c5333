#pragma once
#include <map>
#include <optional>

#include "rill/data/state_impl.h"
#include "rill/graph/function/function.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/models/model.h"

namespace rill::keras {

// The scopes of what Model::train_step does around the model's call.
inline constexpr const char *kLossScope = "loss", *kGradientScope = "gradient_tape",
                            *kUpdateScope = "optimizer";

// What compile sets up and fit uses: losses and metrics by output, and the planned functions.
class Trainer {
 public:
  explicit Trainer(CompileOptions options);

  enum class Mode { train, test, predict };

  bool runs_eagerly() const { return options.run_eagerly || config::functions_run_eagerly(); }
  // A step on one batch, planned unless the model runs eagerly.
  Nest step(Model& model, Mode mode, const Nest& batch);
  // The function that steps on batches like this one, traced if there is none.
  ConcreteFunction planned(Model& model, Mode mode, const Nest& batch);
  Tensor compute_loss(Model& model, const Nest& y, const Nest& y_pred, const Nest& weight);
  Nest compute_metrics(Model& model, const Nest& y, const Nest& y_pred, const Nest& weight);
  void reset_metrics();
  // A variable that the model reads and does not hold is never trained. FailedPrecondition where
  // that leaves nothing to train, else a warning, once.
  void check_watched(const Model& model, const GradientTape& tape);
  // The same of a step that the user's class defines: what it trains while the model holds nothing
  // to train, and metrics that the model does not list. Warnings, once.
  void warn_of_unheld(const Model& model, const ConcreteFunction& step);
  std::vector<Variable> metric_variables() const;
  std::vector<std::string> metrics_names() const;
  std::vector<MetricRef> metrics() const;
  // Which layers are trainable counts as it is now, for every step of training.
  void remember_trainable(LayerImpl& model);
  // Functions are traced again: something that they depend on has changed.
  void forget_functions();

  // What a checkpoint in the middle of an epoch needs to know of the trainer.
  struct Progress {
    // Of the random ops in a planned function: how many streams were handed out before it was
    // traced, and how far its own have come.
    struct Streams {
      Mode mode;
      std::int64_t before = 0;
      std::vector<std::int64_t> counts;
    };
    std::vector<Streams> streams;
    std::vector<std::vector<Tensor>> metrics;  // the variables of each
  };
  void save(data::StateWriter& out) const;
  static Progress read_progress(data::StateReader& in);  // DataLoss
  // Functions are traced again, and draw what the saved ones would have drawn next. Metrics that
  // the first step makes are given their values then.
  void restore(Progress progress);

  CompileOptions options;

 private:
  bool watched_checked_ = false, unheld_checked_ = false;
  // One output of the model, with what compile says of it.
  struct Output {
    std::string name;  // in logs: that of its layer, as far as the model knows it
    std::string key;   // by which losses, labels and weights speak of it
    LossRef loss;
    double loss_weight = 1;
    std::vector<MetricRef> metrics, weighted_metrics;
    std::shared_ptr<metrics::Mean> loss_mean;  // where there are several outputs
  };
  // Labels, or weights, as one tensor for each output, undefined where an output has none.
  std::vector<Tensor> labels_by_output(const Nest& y, const Nest& y_pred) const {
    return by_output(y, y_pred, "labels");
  }
  std::vector<std::string> keys_of_outputs() const;
  std::vector<Tensor> weights_by_output(const Nest& weight, const Nest& y_pred) const;
  std::vector<Tensor> by_output(const Nest& given, const Nest& y_pred, const char* what) const;
  void resolve(Model& model, const Nest& y, const Nest& y_pred);
  std::string shown_name(const Output& o, const MetricRef& metric, bool weighted) const;

  Nest run(Model& model, Mode mode, const Nest& data);  // one step, as it is

  std::map<const LayerImpl*, bool> trainable_;  // at compile
  std::int64_t adapted_layers_ = 0;             // when the functions were traced
  bool resolved_ = false;
  std::vector<Output> outputs_;
  metrics::Mean loss_mean_;
  // Means that layers ask for by add_metric.
  std::map<std::string, std::shared_ptr<metrics::Mean>> layer_metrics_;
  std::vector<std::string> layer_metric_names_;

  class Step;
  Nest traced_step(Mode mode, const Nest& batch);
  std::vector<Metric*> all_metrics() const;
  void restore_metrics();
  std::optional<rill::detail::AnyFunction> functions_[3];  // by mode
  Model* model_ = nullptr;                                 // for the time of a trace
  // The random ops of a trace.
  struct Traced {
    Mode mode;
    std::int64_t streams_before = 0;  // see Progress::Streams
    std::size_t first_stream = 0, last_stream = 0;
  };
  std::vector<Traced> traced_;
  Progress restored_;  // what is not given back yet
};

// The trainer of a compiled model; FailedPrecondition, which names what was asked for, of another.
Trainer& compiled_trainer(const Model& model, const char* what);

// (x, y, sample_weight) of what a dataset gives: x, (x,), (x, y) or (x, y, sample_weight).
struct BatchParts {
  Nest x, y, sample_weight;
  bool has_y = false;
};
BatchParts parts_of(const Nest& batch);

}  // namespace rill::keras
