#include <unistd.h>

#include <cmath>
#include <iostream>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/training/on_nan_impl.h"
#include "rill/keras/training/progress_impl.h"
#include "rill/keras/utils/progbar.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

// fit, evaluate and predict: the loops around the planned steps.
namespace rill::keras {

namespace {

using Callbacks = std::vector<CallbackRef>;

constexpr std::int64_t kBatch = 32;

// Arrays that are to make a number of steps are cut for it, unless a size is given.
std::int64_t batch_size(std::int64_t given, std::int64_t steps, std::int64_t samples) {
  if (given > 0) return given;
  return steps > 0 ? (samples + steps - 1) / steps : kBatch;
}

void check_sizes(const char* what, std::int64_t batch_size, std::int64_t steps) {
  RILL_CHECK(batch_size >= 1 || batch_size == kDefaultBatchSize, invalid_argument,
             "[{}] batch_size is {}; expected at least 1", what, batch_size);
  RILL_CHECK(steps >= 0, invalid_argument,
             "[{}] steps is {}; expected a number of batches, or 0 for all", what, steps);
}

int shown(const Verbose& v) {
  RILL_CHECK(v.value() >= -1 && v.value() <= 2, invalid_argument,
             "[verbose] got {}; expected \"auto\", 0, 1 or 2", v.value());
  if (v.value() >= 0) return v.value();
  return isatty(STDOUT_FILENO) ? 1 : 2;
}

bool any_wants_batches(const Callbacks& list) {
  for (const CallbackRef& c : list)
    if (c->wants_batches()) return true;
  return false;
}

Logs logs_of(const Nest& results) {
  Logs logs;
  RILL_CHECK(results.is_dict() || (!results.is_tensor() && results.size() == 0), invalid_argument,
             "[fit] a step returned {}; expected a dict of scalars, such as compute_metrics gives",
             results.to_string());
  if (!results.is_dict()) return logs;
  const std::vector<std::string> names = results.keys();
  const std::vector<Tensor> values = results.flatten();
  // A metric of several numbers (F1Score without average) shows their mean, as Keras's bar does.
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tensor& v = values[i];
    logs.set(names[i], (v.size() == 1 ? v : reduce_mean(cast(v, float64))).item<double>());
  }
  return logs;
}

void prepare(const Callbacks& list, Model& model, int epochs, std::int64_t steps, int verbose) {
  for (const CallbackRef& c : list) {
    c->set_model(model);
    c->params = {.epochs = epochs, .steps = steps, .verbose = verbose};
  }
}

Logs run_test(Model& model, Batches& batches, const Callbacks& callbacks, int verbose,
              const char* what = "[evaluate] the data") {
  Trainer& t = compiled_trainer(model, "evaluate");
  const std::shared_ptr<Trainer> kept = model.model_impl().trainer;  // a callback may compile
  model.reset_metrics();
  for (const CallbackRef& c : callbacks) c->on_test_begin({});
  const bool hooks = any_wants_batches(callbacks);
  utils::Progbar bar(batches.steps(), {.verbose = verbose});
  Nest batch, results;
  std::int64_t step = 0;
  batches.begin_epoch();
  while (batches.next(&batch)) {
    if (hooks)
      for (const CallbackRef& c : callbacks) c->on_test_batch_begin(step, {});
    results = t.step(model, Trainer::Mode::test, batch);
    ++step;
    if (hooks) {
      const Logs logs = logs_of(results);
      for (const CallbackRef& c : callbacks) c->on_test_batch_end(step - 1, logs);
    }
    if (bar.due(step) && step != batches.steps()) bar.update(step, logs_of(results));
  }
  batches.end_epoch();
  RILL_CHECK(step > 0, invalid_argument, "{} gave no batch", what);
  const Logs logs = logs_of(results);
  bar.update(step, logs, true);
  for (const CallbackRef& c : callbacks) c->on_test_end(logs);
  return logs;
}

// Lets callbacks see how far the fit of a model has come.
class RunningFit {
 public:
  RunningFit(Model& model, Trainer& t, Batches& batches, std::optional<Batches>& validation)
      : model_(model.model_impl()),
        progress_(new FitProgress(t, batches, validation ? &*validation : nullptr)) {
    model_.progress = progress_.get();
  }
  ~RunningFit() { model_.progress = nullptr; }
  RunningFit(const RunningFit&) = delete;
  FitProgress& progress() const { return *progress_; }

 private:
  ModelImpl& model_;
  Ref<FitProgress> progress_;
};

History run_fit(Model& model, Batches& batches, std::optional<Batches>& validation,
                const FitOptions& o) {
  Trainer& t = compiled_trainer(model, "fit");
  const int verbose = shown(o.verbose);
  prepare(o.callbacks, model, o.epochs, batches.steps(), verbose);
  History history;
  history.params = {.epochs = o.epochs, .steps = batches.steps(), .verbose = verbose};
  const bool hooks = any_wants_batches(o.callbacks);
  std::optional<NanWatch> watch;
  if (o.on_nan != OnNan::ignore) watch.emplace(model, t);
  const std::int64_t every = t.options.steps_per_execution;
  model.stop_training = false;
  Logs logs;
  const RunningFit running(model, t, batches, validation);
  FitProgress& progress = running.progress();
  progress.epoch = o.initial_epoch;
  for (const CallbackRef& c : o.callbacks) c->on_train_begin({});
  const int first_epoch = progress.epoch;
  for (int epoch = first_epoch; epoch < o.epochs && !model.stop_training; ++epoch) {
    // A backup may have been made in the middle of an epoch.
    const bool midway = std::exchange(progress.resumed, false) && progress.step > 0;
    if (!midway) model.reset_metrics();
    for (const CallbackRef& c : o.callbacks) c->on_epoch_begin(epoch, {});
    if (verbose > 0) std::cout << "Epoch " << epoch + 1 << '/' << o.epochs << '\n';
    utils::Progbar bar(batches.steps(), {.verbose = verbose});
    Nest batch;
    Nest& results = progress.results;
    std::int64_t step = midway ? progress.step : 0;
    if (!midway) batches.begin_epoch();
    while (!model.stop_training && batches.next(&batch)) {
      if (hooks && step % every == 0)
        for (const CallbackRef& c : o.callbacks) c->on_train_batch_begin(step, {});
      results =
          watch ? watch->step(batch, epoch, step) : t.step(model, Trainer::Mode::train, batch);
      progress.step = ++step;
      progress.stepped = true;
      if (hooks && (step % every == 0 || step == batches.steps())) {
        const Logs now = logs_of(results);
        for (const CallbackRef& c : o.callbacks) c->on_train_batch_end(step - 1, now);
      }
      if (bar.due(step) && step != batches.steps()) bar.update(step, logs_of(results));
    }
    batches.end_epoch();
    if (step == 0) {
      RILL_CHECK(batches.ran_out() && epoch > first_epoch, invalid_argument,
                 "[fit] the data gave no batch");
      break;
    }
    logs = logs_of(results);
    if (validation && (epoch + 1) % o.validation_freq == 0) {
      const Logs val = run_test(model, *validation, o.callbacks, 0, "[fit] validation_data");
      for (const auto& [name, value] : val.items()) logs.set("val_" + name, value);
    }
    progress.epoch = epoch + 1;
    progress.step = 0;
    for (const CallbackRef& c : o.callbacks) {
      c->on_epoch_end(epoch, logs);
      for (const auto& [name, value] : c->extra.items()) logs.set(name, value);
    }
    bar.update(step, logs, true);  // with what callbacks have added, and below what they print
    history.add(epoch, logs);
    if (batches.ran_out()) {
      RILL_LOG(warning,
               "[fit] the input ran out of data: the dataset gave fewer than steps_per_epoch * "
               "epochs batches. Training ends; use repeat() for more");
      model.stop_training = true;
    }
  }
  // An optimizer that keeps averages (use_ema) gives them to the variables now.
  t.options.optimizer->finalize_variable_values(model.trainable_variables());
  for (const CallbackRef& c : o.callbacks) c->on_train_end(logs);
  return history;
}

std::optional<Batches> validation_batches(const FitOptions& o) {
  const ValidationData& v = o.validation_data;
  const std::int64_t batch = o.validation_batch_size > 0 ? o.validation_batch_size
                             : o.batch_size > 0          ? o.batch_size
                                                         : kBatch;
  if (v.kind() == ValidationData::Kind::arrays)
    return Batches(Arrays("validation_data", v.x(), &v.y(), v.sample_weight()),
                   {.batch_size = batch, .steps = o.validation_steps});
  if (v.kind() == ValidationData::Kind::dataset)
    return Batches("validation_data", v.dataset(), o.validation_steps);
  if (v.kind() == ValidationData::Kind::sequence)
    return Batches("validation_data", v.sequence(), o.validation_steps);
  return std::nullopt;
}

void check_fit(const FitOptions& o) {
  RILL_CHECK(o.epochs >= 0 && o.initial_epoch >= 0, invalid_argument,
             "[fit] epochs is {} and initial_epoch {}; expected none below 0", o.epochs,
             o.initial_epoch);
  RILL_CHECK(o.validation_freq >= 1, invalid_argument,
             "[fit] validation_freq is {}; expected at least 1", o.validation_freq);
  RILL_CHECK(o.validation_split >= 0 && o.validation_split < 1, invalid_argument,
             "[fit] validation_split is {}; expected a share from 0 to below 1",
             o.validation_split);
  check_sizes("fit", o.batch_size, 0);
  RILL_CHECK(o.validation_batch_size >= 1 || o.validation_batch_size == kDefaultBatchSize,
             invalid_argument, "[fit] validation_batch_size is {}; expected at least 1",
             o.validation_batch_size);
  RILL_CHECK(o.steps_per_epoch >= 0 && o.validation_steps >= 0, invalid_argument,
             "[fit] steps_per_epoch is {} and validation_steps {}; expected none below 0",
             o.steps_per_epoch, o.validation_steps);
}

History fit_arrays(Model& model, const Nest& x, const Nest* y, const FitOptions& o) {
  check_fit(o);
  Arrays train("fit", x, y, o.sample_weight);
  const std::int64_t batch = batch_size(o.batch_size, o.steps_per_epoch, train.samples());
  std::optional<Batches> validation = validation_batches(o);
  if (o.validation_split > 0 && !validation) {
    // The last samples, before any shuffling.
    const auto split = static_cast<std::int64_t>(
        std::floor(static_cast<double>(train.samples()) * (1 - o.validation_split)));
    RILL_CHECK(split > 0 && split < train.samples(), invalid_argument,
               "[fit] {} samples are not enough for a validation_split of {}", train.samples(),
               o.validation_split);
    validation.emplace(
        train.part(split, train.samples()),
        Batches::Options{
            .batch_size = o.validation_batch_size > 0 ? o.validation_batch_size : batch,
            .steps = o.validation_steps});
    train = train.part(0, split);
  }
  train.weigh_classes(o.class_weight);  // validation counts every class the same
  Batches batches(
      train,
      {.batch_size = batch, .shuffle = o.shuffle, .steps = o.steps_per_epoch, .epochs = o.epochs});
  return run_fit(model, batches, validation, o);
}

}  // namespace

History Model::fit(const Nest& x, const Nest& y, FitOptions o) {
  return fit_arrays(*this, x, &y, o);
}
History Model::fit(const Nest& x, FitOptions o) { return fit_arrays(*this, x, nullptr, o); }
History Model::fit(const Nest& x, std::nullptr_t, FitOptions o) { return fit(x, std::move(o)); }

// What goes with neither datasets nor sequences.
static void check_fit_of_batches(const FitOptions& o, const char* source,
                                 const std::string& parts) {
  check_fit(o);
  RILL_CHECK(o.batch_size == kDefaultBatchSize, invalid_argument,
             "[fit] the batch_size argument must not be specified for a {}, {}", source, parts);
  RILL_CHECK(o.validation_split == 0, invalid_argument,
             "[fit] validation_split needs arrays; give a {} as validation_data", source);
  RILL_CHECK(!is_given(o.sample_weight), invalid_argument,
             "[fit] sample_weight comes as the third part of a {}'s elements", source);
}

History Model::fit(const data::Dataset& x, FitOptions o) {
  check_fit_of_batches(o, "dataset",
                       format("which is in batches already: use dataset.batch({})", o.batch_size));
  data::Dataset d = x;
  if (!o.class_weight.empty())
    d = d.map([weights = o.class_weight](const Nest& batch) {
      const BatchParts p = parts_of(batch);
      return Nest::make({p.x, p.y, Nest(times_class_weights(p.sample_weight, p.y, weights))});
    });
  Batches batches("fit", d, o.steps_per_epoch);
  std::optional<Batches> validation = validation_batches(o);
  return run_fit(*this, batches, validation, o);
}

History Model::fit(utils::Sequence& x, FitOptions o) {
  check_fit_of_batches(o, "sequence", "which gives batches already");
  Batches batches("fit", x, o.steps_per_epoch, o.shuffle, o.class_weight);
  std::optional<Batches> validation = validation_batches(o);
  return run_fit(*this, batches, validation, o);
}

static Logs evaluate_arrays(Model& model, const Nest& x, const Nest* y, const EvaluateOptions& o) {
  check_sizes("evaluate", o.batch_size, o.steps);
  const Arrays arrays("evaluate", x, y, o.sample_weight);
  Batches batches(arrays, {.batch_size = batch_size(o.batch_size, o.steps, arrays.samples()),
                           .steps = o.steps});
  prepare(o.callbacks, model, 1, batches.steps(), shown(o.verbose));
  return run_test(model, batches, o.callbacks, shown(o.verbose));
}
Logs Model::evaluate(const Nest& x, const Nest& y, EvaluateOptions o) {
  return evaluate_arrays(*this, x, &y, o);
}
Logs Model::evaluate(const Nest& x, EvaluateOptions o) {
  return evaluate_arrays(*this, x, nullptr, o);
}
Logs Model::evaluate(const Nest& x, std::nullptr_t, EvaluateOptions o) {
  return evaluate(x, std::move(o));
}
static void check_evaluate_of_batches(const EvaluateOptions& o, const char* source) {
  RILL_CHECK(o.batch_size == kDefaultBatchSize, invalid_argument,
             "[evaluate] the batch_size argument must not be specified for a {}", source);
  check_sizes("evaluate", o.batch_size, o.steps);
  RILL_CHECK(!is_given(o.sample_weight), invalid_argument,
             "[evaluate] sample_weight comes as the third part of a {}'s elements", source);
}
Logs Model::evaluate(utils::Sequence& x, EvaluateOptions o) {
  check_evaluate_of_batches(o, "sequence");
  Batches batches("evaluate", x, o.steps);
  prepare(o.callbacks, *this, 1, batches.steps(), shown(o.verbose));
  return run_test(*this, batches, o.callbacks, shown(o.verbose));
}
Logs Model::evaluate(const data::Dataset& x, EvaluateOptions o) {
  check_evaluate_of_batches(o, "dataset");
  Batches batches("evaluate", x, o.steps);
  prepare(o.callbacks, *this, 1, batches.steps(), shown(o.verbose));
  return run_test(*this, batches, o.callbacks, shown(o.verbose));
}

// ---- predict
namespace {

// Batches of results as one.
class Collected {
 public:
  void add(const Nest& results) {
    if (parts_.empty()) structure_ = results;
    const std::vector<Nest> values = values_of(results);
    parts_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) parts_[i].push_back(values[i]);
  }
  Nest all() const {
    std::vector<Tensor> leaves;
    for (const std::vector<Nest>& p : parts_)
      for (const Tensor& t : (p.size() == 1 ? p[0] : joined(p)).flatten()) leaves.push_back(t);
    return structure_.is_tensor() ? Nest(leaves[0]) : structure_.with_leaves(leaves);
  }

 private:
  static Nest joined(const std::vector<Nest>& batches) {
    if (batches[0].composite_kind() == "ragged") {
      std::vector<RaggedTensor> list;
      for (const Nest& b : batches) list.push_back(b.as_ragged());
      return Nest(concat(list, 0));
    }
    if (batches[0].composite_kind() == "sparse") {
      std::vector<SparseTensor> list;
      for (const Nest& b : batches) list.push_back(b.as_sparse());
      return Nest(sparse::concat(0, list));
    }
    std::vector<Tensor> list;
    for (const Nest& b : batches) list.push_back(b.as_tensor());
    return Nest(concat(list, 0));
  }
  Nest structure_;
  std::vector<std::vector<Nest>> parts_;
};

// A model may predict before it is compiled.
std::shared_ptr<Trainer> any_trainer(Model& model) {
  ModelImpl& m = model.model_impl();
  if (m.trainer) return m.trainer;
  if (!m.predictor) m.predictor = std::make_shared<Trainer>(CompileOptions());
  return m.predictor;
}

Nest run_predict(Model& model, Batches& batches, const PredictOptions& o) {
  const std::shared_ptr<Trainer> kept = any_trainer(model);  // a callback may compile
  Trainer& t = *kept;
  const int verbose = shown(o.verbose);
  prepare(o.callbacks, model, 1, batches.steps(), verbose);
  for (const CallbackRef& c : o.callbacks) c->on_predict_begin({});
  const bool hooks = any_wants_batches(o.callbacks);
  // Short work is not worth a line, unless somebody asked for it.
  const bool quiet = o.verbose.value() < 0 && verbose != 1;
  utils::Progbar bar(batches.steps(), {.verbose = quiet ? 0 : verbose});
  Collected collected;
  Nest batch;
  std::int64_t step = 0;
  batches.begin_epoch();
  while (batches.next(&batch)) {
    if (hooks)
      for (const CallbackRef& c : o.callbacks) c->on_predict_batch_begin(step, {});
    collected.add(t.step(model, Trainer::Mode::predict, batch));
    ++step;
    if (hooks)
      for (const CallbackRef& c : o.callbacks) c->on_predict_batch_end(step - 1, {});
    if (step != batches.steps()) bar.update(step);
  }
  batches.end_epoch();
  RILL_CHECK(step > 0, invalid_argument, "[predict] the data gave no batch");
  bar.update(step, {}, true);
  for (const CallbackRef& c : o.callbacks) c->on_predict_end({});
  return collected.all();
}

}  // namespace

Nest Model::predict_all(const Nest& x, PredictOptions o) {
  check_sizes("predict", o.batch_size, o.steps);
  const Arrays arrays("predict", x, nullptr, {});
  const std::int64_t batch = batch_size(o.batch_size, o.steps, arrays.samples());
  // One batch and nobody watching: straight to the step.
  if (arrays.samples() <= batch && o.callbacks.empty() && o.steps == 0 && o.verbose.value() <= 0)
    return any_trainer(*this)->step(*this, Trainer::Mode::predict, arrays.all());
  Batches batches(arrays, {.batch_size = batch, .steps = o.steps});
  return run_predict(*this, batches, o);
}
Nest Model::predict_all(const data::Dataset& x, PredictOptions o) {
  check_sizes("predict", kDefaultBatchSize, o.steps);
  Batches batches("predict", x, o.steps);
  return run_predict(*this, batches, o);
}
Nest Model::predict_all(utils::Sequence& x, PredictOptions o) {
  check_sizes("predict", kDefaultBatchSize, o.steps);
  Batches batches("predict", x, o.steps);
  return run_predict(*this, batches, o);
}
static Tensor only_output(const Model& model, const Nest& all) {
  const std::vector<Tensor> outputs = all.flatten();
  RILL_CHECK(outputs.size() == 1, invalid_argument,
             "[{}] predict: the model has {} outputs; predict_all gives them all, in the structure "
             "{}",
             model.name(), outputs.size(), all.to_string());
  return outputs[0];
}
Tensor Model::predict(const Nest& x, PredictOptions o) {
  return only_output(*this, predict_all(x, std::move(o)));
}
Tensor Model::predict(const data::Dataset& x, PredictOptions o) {
  return only_output(*this, predict_all(x, std::move(o)));
}

Tensor Model::predict(utils::Sequence& x, PredictOptions o) {
  return only_output(*this, predict_all(x, std::move(o)));
}

// ---- one batch
Logs Model::train_on_batch(const Nest& x, const Nest& y, const TrainOnBatchOptions& o) {
  Trainer& t = compiled_trainer(*this, "train_on_batch");
  Arrays batch("train_on_batch", x, &y, o.sample_weight);
  batch.weigh_classes(o.class_weight);
  if (o.reset_metrics) reset_metrics();
  return logs_of(t.step(*this, Trainer::Mode::train, batch.all()));
}
Logs Model::test_on_batch(const Nest& x, const Nest& y, const TestOnBatchOptions& o) {
  Trainer& t = compiled_trainer(*this, "test_on_batch");
  const Arrays batch("test_on_batch", x, &y, o.sample_weight);
  if (o.reset_metrics) reset_metrics();
  return logs_of(t.step(*this, Trainer::Mode::test, batch.all()));
}
Nest Model::predict_on_batch(const Nest& x) {
  return any_trainer(*this)->step(*this, Trainer::Mode::predict,
                                  Arrays("predict_on_batch", x, nullptr, {}).all());
}

}  // namespace rill::keras
