#include "rill/keras/training/trainer_impl.h"

#include <algorithm>
#include <optional>
#include <set>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/base/nearest.h"
#include "rill/core/call_context.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/function/function_impl.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/metrics/metric_impl.h"
#include "rill/keras/metrics/named_metrics_impl.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/training/batches_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random/seeds.h"

namespace rill::keras {

BatchParts parts_of(const Nest& batch) {
  BatchParts p;
  if (batch.is_tensor() || batch.is_dict() || batch.is_composite()) {
    p.x = batch;
    return p;
  }
  RILL_CHECK(batch.size() >= 1 && batch.size() <= 3, invalid_argument,
             "[fit] a batch has {} parts; expected x, (x, y) or (x, y, sample_weight)",
             batch.size());
  p.x = batch[0];
  if (batch.size() > 1) {
    p.y = batch[1];
    p.has_y = true;
  }
  if (batch.size() > 2) p.sample_weight = batch[2];
  return p;
}

Trainer::Trainer(CompileOptions o)
    : options(std::move(o)), loss_mean_(MetricOptions{.name = "loss"}) {
  RILL_CHECK(options.steps_per_execution >= 1, invalid_argument,
             "[compile] steps_per_execution is {}; expected at least 1",
             options.steps_per_execution);
  std::vector<MetricRef> all;
  for (const MetricsArg* arg : {&options.metrics, &options.weighted_metrics}) {
    all.insert(all.end(), arg->all().begin(), arg->all().end());
    for (const auto& list : arg->each()) all.insert(all.end(), list.begin(), list.end());
    for (const auto& [output, list] : arg->named()) all.insert(all.end(), list.begin(), list.end());
  }
  std::set<const TrackableNode*> seen;
  for (const MetricRef& m : all)
    RILL_CHECK(!m.defined() || seen.insert(m->trackable().get()).second, invalid_argument,
               "[compile] the metric \"{}\" is given twice, and would count every batch twice; "
               "expected an object for each place",
               m->name());
  number_metrics(all);
}

MetricsArg::MetricsArg(const std::vector<MetricList>& given) {
  bool nested = false;
  for (const MetricList& l : given) nested = nested || l.is_list();
  for (const MetricList& l : given)
    if (nested)
      each_.push_back(l.list());
    else
      all_.insert(all_.end(), l.list().begin(), l.list().end());
}

namespace {
// {{"kind", "accuracy"}} is a list of metrics to C++, and a dict of one output to who wrote it: it
// is one where each list is the name of an output, which no metric has, and metrics behind it.
MetricsArg named_metrics(const MetricsArg& arg, const std::vector<std::string>& keys,
                         const std::vector<std::string>& known) {
  std::vector<std::pair<std::string, std::vector<MetricRef>>> named;
  for (const std::vector<MetricRef>& list : arg.each()) {
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), list[0].name()) != names.end();
    };
    if (list.size() < 2 || list[0].defined() || !is_in(keys) || is_in(known)) return arg;
    named.emplace_back(list[0].name(), std::vector<MetricRef>(list.begin() + 1, list.end()));
  }
  return named.empty() ? arg : MetricsArg(std::move(named));
}
}  // namespace

void forget_functions(Trainer& trainer) { trainer.forget_functions(); }
void Trainer::forget_functions() {
  for (auto& f : functions_) f.reset();
  traced_.clear();
}

// ---- the planned step
namespace {
// Of a mode; also how many of all modes a checkpoint knows.
constexpr std::size_t kMostTraces = 8;

template <class F>
void for_each_layer(LayerImpl& l, const F& f) {
  f(l);
  for (const Ref<LayerImpl>& c : l.children) for_each_layer(*c, f);
}

// Layers are trainable as they were at compile, as Keras has it, while this lives: a
// discriminator that is frozen within a larger model still trains by itself.
class TrainableAsCompiled {
 public:
  TrainableAsCompiled(LayerImpl& model, const std::map<const LayerImpl*, bool>& compiled) {
    for_each_layer(model, [&](LayerImpl& l) {
      const auto at = compiled.find(&l);
      if (at == compiled.end() || at->second == l.trainable) return;
      changed_.push_back(&l);
      l.trainable = at->second;
    });
  }
  ~TrainableAsCompiled() {
    for (LayerImpl* l : changed_) l->trainable = !l->trainable;
  }
  TrainableAsCompiled(const TrainableAsCompiled&) = delete;

 private:
  std::vector<LayerImpl*> changed_;
};
}  // namespace

void Trainer::remember_trainable(LayerImpl& model) {
  for_each_layer(model, [&](LayerImpl& l) { trainable_.emplace(&l, l.trainable); });
}

Nest Trainer::run(Model& model, Mode mode, const Nest& data) {
  if (mode == Mode::test) return model.test_step(data);
  if (mode == Mode::predict) return model.predict_step(data);
  const TrainableAsCompiled state(model.impl(), trainable_);
  return model.train_step(data);
}

Nest Trainer::step(Model& model, Mode mode, const Nest& batch) {
  if (runs_eagerly()) return run(model, mode, batch);
  return planned(model, mode, batch)(batch.flatten());
}

// The step of a model, which the function traces.
class Trainer::Step : public rill::detail::Traceable {
 public:
  Step(Trainer& trainer, Mode mode) : trainer_(trainer), mode_(mode) {}
  Nest call(const rill::detail::Argument* args) override {
    return trainer_.traced_step(mode_, args[0].nest);
  }

 private:
  Trainer& trainer_;
  Mode mode_;
};

ConcreteFunction Trainer::planned(Model& model, Mode mode, const Nest& batch) {
  if (adapted_layers_ != adapted_layers()) forget_functions();
  adapted_layers_ = adapted_layers();
  std::optional<rill::detail::AnyFunction>& f = functions_[static_cast<std::size_t>(mode)];
  if (!f) {
    static const char* names[] = {"train_function", "test_function", "predict_function"};
    f.emplace(new Step(*this, mode), FunctionOptions{.name = names[static_cast<int>(mode)]});
    // The number of samples is left open, so that the last, smaller batch is the same trace.
    // Batches of many shapes, sentences of all lengths say: after some of them the axes in
    // which they differ are left open too.
    f->impl().policy = {.any_batch_size = true,
                        .shapes_apart = 3,
                        .most_traces = kMostTraces,
                        .later_variables = true};
  }
  // A step has lines of the user's program where the user wrote it; none else is at work here,
  // and that of the last op before is not the one that went wrong.
  const CallSiteScope site;
  CallSiteScope::put();
  model_ = &model;
  const int before = f->trace_count();
  const rill::detail::Argument argument(batch);
  ConcreteFunction c = f->concrete(&argument, 1);
  if (f->trace_count() != before) {
    restore_metrics();
    if (mode == Mode::train) warn_of_unheld(model, c);
  }
  return c;
}

Nest Trainer::traced_step(Mode mode, const Nest& batch) {
  Traced t{mode, traced_ops(), graph_streams(), 0};
  const auto saved = std::find_if(restored_.streams.begin(), restored_.streams.end(),
                                  [&](const Progress::Streams& s) { return s.mode == mode; });
  Nest results;
  if (saved == restored_.streams.end()) {
    results = run(*model_, mode, batch);
  } else {
    // In the place of the one that was traced before the process was stopped.
    const std::vector<std::int64_t> now = random_state();
    t.streams_before = saved->before;
    set_traced_ops(t.streams_before);
    results = run(*model_, mode, batch);
    set_random_state(now);
    if (graph_streams() - t.first_stream == saved->counts.size())
      set_graph_stream_counts(t.first_stream, saved->counts);
    restored_.streams.erase(saved);
  }
  t.last_stream = graph_streams();
  if (traced_.size() >= kMostTraces) traced_.erase(traced_.begin());
  traced_.push_back(t);
  return results;
}

// ---- progress
std::vector<Metric*> Trainer::all_metrics() const {
  std::vector<Metric*> list{const_cast<metrics::Mean*>(&loss_mean_)};
  for (const Output& o : outputs_) {
    if (o.loss_mean) list.push_back(o.loss_mean.get());
    for (const MetricRef& m : o.metrics) list.push_back(&*m);
    for (const MetricRef& m : o.weighted_metrics) list.push_back(&*m);
  }
  for (const std::string& name : layer_metric_names_) list.push_back(layer_metrics_.at(name).get());
  return list;
}

void Trainer::save(data::StateWriter& out) const {
  out.put(static_cast<std::int64_t>(traced_.size()));
  for (const Traced& t : traced_) {
    out.put(static_cast<std::int64_t>(t.mode));
    out.put(t.streams_before);
    out.put(graph_stream_counts(t.first_stream, t.last_stream));
  }
  const std::vector<Metric*> list = all_metrics();
  out.put(static_cast<std::int64_t>(list.size()));
  for (Metric* m : list) {
    std::vector<Nest> values;
    for (const Variable& v : m->variables()) values.emplace_back(v.value());
    out.put(values);
  }
}

Trainer::Progress Trainer::read_progress(data::StateReader& in) {
  Progress p;
  for (std::int64_t n = in.integer(0, kMostTraces); n > 0; --n) {
    Progress::Streams s;
    s.mode = static_cast<Mode>(in.integer(0, 2));
    s.before = in.integer(0, INT64_MAX);
    s.counts = in.list();
    p.streams.push_back(std::move(s));
  }
  for (std::int64_t n = in.integer(0, 1 << 20); n > 0; --n) {
    std::vector<Tensor> values;
    for (const Nest& v : in.nests()) values.push_back(v.as_tensor());
    p.metrics.push_back(std::move(values));
  }
  return p;
}

void Trainer::restore(Progress progress) {
  forget_functions();
  restored_ = std::move(progress);
  if (resolved_) restore_metrics();
}

void Trainer::restore_metrics() {
  const std::vector<std::vector<Tensor>> saved = std::exchange(restored_.metrics, {});
  const std::vector<Metric*> list = all_metrics();
  if (saved.size() != list.size()) return;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<Variable> variables = list[i]->variables();
    for (std::size_t j = 0; j < variables.size() && j < saved[i].size(); ++j)
      if (variables[j].shape() == saved[i][j].shape() &&
          variables[j].dtype() == saved[i][j].dtype())
        variables[j].assign(saved[i][j]);
  }
}

// ---- losses and metrics
namespace {

// Labels beside predictions: [batch] becomes [batch, 1] where those have an axis more, and
// kinds of one family the same dtype.
Tensor matched(const Tensor& y, const Tensor& y_pred) {
  Tensor t = y;
  if (t.shape().has_rank() && y_pred.shape().has_rank() && t.ndim() == 1 && y_pred.ndim() == 2)
    t = expand_dims(t, -1);
  if (t.dtype() != y_pred.dtype() && ((t.dtype().is_floating() && y_pred.dtype().is_floating()) ||
                                      (t.dtype().is_integer() && y_pred.dtype().is_integer())))
    t = cast(t, y_pred.dtype());
  return t;
}

// Losses of several dtypes are added in the widest of them; the two of 16 bits in float32.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a + b;
  const std::size_t x = a.dtype().itemsize(), y = b.dtype().itemsize();
  const DType wide = x == y ? float32 : x > y ? a.dtype() : b.dtype();
  return cast(a, wide) + cast(b, wide);
}

// Weights of samples times the mask that layers sent along with the predictions.
Tensor masked(const Tensor& weight, const Tensor& y_pred) {
  if (!y_pred.impl()->mask) return weight;
  const Tensor mask = cast(Tensor(y_pred.impl()->mask), y_pred.dtype());
  if (!weight.defined()) return mask;
  Tensor w = weight.dtype() == mask.dtype() ? weight : cast(weight, mask.dtype());
  while (w.ndim() < mask.ndim()) w = expand_dims(w, -1);
  return w * mask;
}

}  // namespace

// An output is known by its key in what the model gives, or else by the name of its layer.
std::vector<std::string> Trainer::keys_of_outputs() const {
  std::vector<std::string> keys;
  for (const Output& o : outputs_) keys.push_back(o.key);
  return keys;
}

std::vector<Tensor> Trainer::weights_by_output(const Nest& weight, const Nest& y_pred) const {
  const std::size_t n = y_pred.flatten().size();
  if (!is_given(weight)) return std::vector<Tensor>(n);
  if (weight.is_tensor()) return std::vector<Tensor>(n, weight.as_tensor());  // counts for all
  return by_output(weight, y_pred, "sample_weight");
}

std::vector<Tensor> Trainer::by_output(const Nest& y, const Nest& y_pred, const char* what) const {
  const std::size_t n = y_pred.flatten().size();
  if (!is_given(y)) return std::vector<Tensor>(n);
  if (y.is_dict()) {
    std::vector<Tensor> list(n);
    const std::vector<std::string> keys = keys_of_outputs();
    for (const std::string& key : y.keys()) {
      const auto at = std::find(keys.begin(), keys.end(), key);
      RILL_CHECK(at != keys.end(), invalid_argument,
                 "[fit] the {} have a key \"{}\"; the outputs of the model are {}", what, key,
                 quoted_list(keys));
      list[static_cast<std::size_t>(at - keys.begin())] = y[key].as_tensor();
    }
    return list;
  }
  RILL_CHECK(!y_pred.is_dict() || n == 1, invalid_argument,
             "[fit] the model gives a dict, and the {} are {}; expected a dict with the keys {}",
             what, y.is_tensor() ? "one tensor" : "a list", quoted_list(keys_of_outputs()));
  std::vector<Tensor> list = y.flatten();
  RILL_CHECK(list.size() == n, invalid_argument,
             "[fit] there are {} tensors of {} for {} outputs of the model", list.size(), what, n);
  return list;
}

void Trainer::resolve(Model& model, const Nest& y, const Nest& y_pred) {
  const std::vector<Tensor> predictions = y_pred.flatten();
  const std::size_t n = predictions.size();
  outputs_.resize(n);
  std::vector<std::string> names = has_graph(model.model_impl()) && model.outputs().size() == n
                                       ? model.output_names()
                                       : std::vector<std::string>();
  std::vector<std::string> keys;
  if (y_pred.is_dict() && y_pred.keys().size() == n) keys = y_pred.keys();
  for (std::size_t i = 0; i < n; ++i) {
    outputs_[i].name = i < names.size()  ? names[i]
                       : i < keys.size() ? keys[i]
                                         : format("output_{}", i + 1);
    outputs_[i].key = i < keys.size() ? keys[i] : outputs_[i].name;
  }
  keys = keys_of_outputs();
  const auto find = [&](const std::string& key, const char* what) -> Output& {
    const auto at = std::find(keys.begin(), keys.end(), key);
    RILL_CHECK(at != keys.end(), invalid_argument,
               "[compile] {} names the output \"{}\"; the outputs of the model are {}", what, key,
               quoted_list(keys));
    return outputs_[static_cast<std::size_t>(at - keys.begin())];
  };

  const LossArg& loss = options.loss;
  if (loss.kind() == LossArg::Kind::one) {
    for (Output& o : outputs_)
      if (loss.defined()) o.loss = loss.list()[0].second;
  } else if (loss.kind() == LossArg::Kind::each) {
    RILL_CHECK(loss.list().size() == n, invalid_argument,
               "[compile] got {} losses for {} outputs of the model", loss.list().size(), n);
    for (std::size_t i = 0; i < n; ++i) outputs_[i].loss = loss.list()[i].second;
  } else {
    for (const auto& [key, l] : loss.list()) find(key, "loss").loss = l;
  }
  const LossWeights& weights = options.loss_weights;
  RILL_CHECK(weights.each().empty() || weights.each().size() == n, invalid_argument,
             "[compile] got {} loss_weights for {} outputs of the model", weights.each().size(), n);
  for (std::size_t i = 0; i < weights.each().size(); ++i)
    outputs_[i].loss_weight = weights.each()[i];
  for (const auto& [key, w] : weights.named()) find(key, "loss_weights").loss_weight = w;

  const std::vector<Tensor> labels = labels_by_output(y, y_pred);
  const auto resolve_all = [&](MetricsArg& arg, std::vector<MetricRef> Output::*into) {
    arg = named_metrics(arg, keys, metric_names());
    const auto add = [&](Output& o, const MetricRef& m) {
      const auto i = static_cast<std::size_t>(&o - outputs_.data());
      if (!labels[i].defined()) return;
      const TensorShape t = matched(labels[i], predictions[i]).shape();
      (o.*into).push_back(m.resolved(t, predictions[i].shape()));
    };
    for (Output& o : outputs_)
      for (const MetricRef& m : arg.all()) add(o, &o == &outputs_[0] ? m : m.anew());
    RILL_CHECK(n == 1 || arg.each().empty() || arg.each().size() == n, invalid_argument,
               "[compile] got {} lists of metrics for {} outputs of the model", arg.each().size(),
               n);
    const std::vector<std::string> known = arg.each().empty() ? keys : metric_names();
    for (std::size_t i = 0; i < arg.each().size(); ++i)
      for (const MetricRef& m : arg.each()[i]) {
        RILL_CHECK(m.defined() || std::find(keys.begin(), keys.end(), m.name()) == keys.end() ||
                       std::find(known.begin(), known.end(), m.name()) != known.end(),
                   invalid_argument,
                   "[compile] the output \"{}\" is in a list of metrics; expected the metrics "
                   "of an output by name as a list: .metrics = {{{{\"{}\", {{\"mse\"}}}}, ..}}",
                   m.name(), m.name());
        add(outputs_[n == 1 ? 0 : i], m);
      }
    for (const auto& [key, list] : arg.named())
      for (const MetricRef& m : list) add(find(key, "metrics"), m);
  };
  resolve_all(options.metrics, &Output::metrics);
  resolve_all(options.weighted_metrics, &Output::weighted_metrics);
  if (n > 1)
    for (Output& o : outputs_)
      if (o.loss.defined())
        o.loss_mean = std::make_shared<metrics::Mean>(MetricOptions{.name = o.name + "_loss"});
  resolved_ = true;
  if (runs_eagerly()) restore_metrics();
}

namespace {
std::string name_of_loss(const LossRef& loss) {
  const std::string name = loss.defined() ? loss->name() : std::string();
  return name.empty() ? name : format(", \"{}\"", name);
}
}  // namespace

Tensor Trainer::compute_loss(Model& model, const Nest& y, const Nest& given, const Nest& weight) {
  const Nest y_pred = sorted_by_key(given);
  if (!resolved_) resolve(model, y, y_pred);
  const std::vector<Tensor> predictions = y_pred.flatten();
  const std::vector<Tensor> labels = labels_by_output(y, y_pred),
                            weights = weights_by_output(weight, y_pred);
  Tensor total, batch;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Output& o = outputs_[i];
    if (!o.loss.defined()) continue;
    RILL_CHECK(is_given(y), invalid_argument,
               "[fit] target data is missing: compile was given a loss{}, and the data hold no "
               "labels. Give them, fit(x, y) or a dataset of (x, y); a model that is trained by "
               "add_loss alone is compiled without a loss",
               name_of_loss(o.loss));
    RILL_CHECK(labels[i].defined() || !y_pred.is_dict() || !y.is_dict(), invalid_argument,
               "[fit] there are no labels for the output \"{}\", for which compile was given a "
               "loss: the labels have the keys {}",
               o.key, quoted_list(y.keys()));
    if (!labels[i].defined()) continue;
    const Tensor t = matched(labels[i], predictions[i]);
    const Tensor& w = weights[i];  // the loss itself minds the mask
    const Tensor value =
        w.defined() ? (*o.loss)(t, predictions[i], w) : (*o.loss)(t, predictions[i]);
    if (!batch.defined()) batch = cast(shape(t)[0], float32);
    if (o.loss_mean) o.loss_mean->update_state(value, batch);
    const Tensor weighted = o.loss_weight == 1 ? value : value * o.loss_weight;
    total = total.defined() ? sum_of(total, weighted) : weighted;
  }
  for (const Tensor& extra : model.losses()) {
    // Keras 3 takes the sum of what is no scalar. In Keras 2 its gradient is that of the sum, and
    // the mean is shown; it takes no other loss beside it.
    const Tensor loss =
        model.impl().behaves_as == 3 && extra.ndim() > 0 ? reduce_sum(extra) : extra;
    RILL_CHECK(!total.defined() || total.ndim() == loss.ndim(), invalid_argument,
               "[fit] add_loss got a loss of shape {} beside one of shape {}; expected scalars. "
               "tf::reduce_mean makes it one",
               (loss.ndim() > 0 ? loss : total).shape(), (loss.ndim() > 0 ? total : loss).shape());
    total = total.defined() ? sum_of(total, loss) : loss;
  }
  RILL_CHECK(
      total.defined(), failed_precondition,
      "[fit] there is no loss to train on: give compile a loss, or call add_loss in a layer");
  if (!batch.defined()) batch = constant(1.f);
  loss_mean_.update_state(total, batch);
  return total;
}

std::string Trainer::shown_name(const Output& o, const MetricRef& metric, bool weighted) const {
  std::string name = metric->name();
  if (weighted)
    for (const MetricRef& m : o.metrics)
      if (m->name() == name) {
        name = "weighted_" + name;
        break;
      }
  return outputs_.size() > 1 ? o.name + "_" + name : name;
}

namespace {

// A second metric of one name gets a number: "accuracy_1".
std::string unique_in(const std::vector<std::pair<std::string, Nest>>& taken, std::string name) {
  const std::string base = name;
  for (int i = 1;
       std::any_of(taken.begin(), taken.end(), [&](const auto& t) { return t.first == name; }); ++i)
    name = format("{}_{}", base, i);
  return name;
}

void collect_call_metrics(LayerImpl& l, std::vector<LayerImpl::CallMetric>& out) {
  for (LayerImpl::CallMetric& m : l.call_metrics) out.push_back(m);
  for (const Ref<LayerImpl>& c : l.children) collect_call_metrics(*c, out);
}

}  // namespace

Nest Trainer::compute_metrics(Model& model, const Nest& y, const Nest& given, const Nest& weight) {
  const Nest y_pred = sorted_by_key(given);
  std::vector<std::pair<std::string, Nest>> results;
  results.emplace_back("loss", loss_mean_.result());
  for (Output& o : outputs_)
    if (o.loss_mean) results.emplace_back(o.name + "_loss", o.loss_mean->result());
  if (resolved_ && !outputs_.empty()) {
    const std::vector<Tensor> predictions = y_pred.flatten();
    const std::vector<Tensor> labels = labels_by_output(y, y_pred),
                              weights = weights_by_output(weight, y_pred);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      Output& o = outputs_[i];
      if (!labels[i].defined()) continue;
      const Tensor t = matched(labels[i], predictions[i]);
      const Tensor mask = masked({}, predictions[i]), w = masked(weights[i], predictions[i]);
      const auto update = [&](const std::vector<MetricRef>& list, const Tensor& by, bool weighted) {
        for (const MetricRef& m : list) {
          m->update_state(t, predictions[i], by);
          results.emplace_back(unique_in(results, shown_name(o, m, weighted)), m->result());
        }
      };
      update(o.metrics, mask, false);
      update(o.weighted_metrics, w, true);
    }
  }
  std::vector<LayerImpl::CallMetric> added;
  collect_call_metrics(model.impl(), added);
  for (const LayerImpl::CallMetric& m : added) {
    std::shared_ptr<metrics::Mean>& mean = layer_metrics_[m.name];
    if (!mean) {
      mean = std::make_shared<metrics::Mean>(MetricOptions{.name = m.name});
      layer_metric_names_.push_back(m.name);
    }
    mean->update_state(m.value);
    results.emplace_back(unique_in(results, m.name), mean->result());
  }
  return Nest(std::move(results));
}

void Trainer::check_watched(const Model& model, const GradientTape& tape) {
  if (std::exchange(watched_checked_, true)) return;
  const std::vector<Variable> held = model.variables();
  for (const Variable& v : tape.watched_variables()) {
    if (std::any_of(held.begin(), held.end(), [&](const Variable& h) { return h.id() == v.id(); }))
      continue;
    const std::string why = format(
        "[{}] the call reads the variable \"{}\" of shape {}, which the model does not hold: it "
        "is neither trained nor saved. Of a member, track(\"NAME\", member) in the constructor "
        "makes it a weight; add_weight in build does so too",
        model.name(), v.name(), v.shape());
    RILL_CHECK(!held.empty(), failed_precondition, "{}", why);
    RILL_LOG(warning, "{}. If that is meant, make it with {{.trainable = false}}", why);
  }
}

void Trainer::warn_of_unheld(const Model& model, const ConcreteFunction& step) {
  if (!LayerObjects::is_users_class(LayerObjects::behind(model))) return;
  if (std::exchange(unheld_checked_, true)) return;
  std::vector<Variable> held = model.variables();
  const auto hold = [&](const std::vector<Variable>& more) {
    held.insert(held.end(), more.begin(), more.end());
  };
  hold(metric_variables());
  bool users_metric = false;  // it may hold others, and reset them
  for (const MetricRef& m : model.metrics()) {
    if (!m.defined()) continue;
    hold(m->variables());
    users_metric = users_metric || !is_library_metric(*m);
  }
  const bool trains_nothing = model.trainable_variables().empty();
  std::string trained, metrics;
  for (const Variable& v : step.variables()) {
    if (std::any_of(held.begin(), held.end(), [&](const Variable& h) { return h.id() == v.id(); }))
      continue;
    if (is_metric_state(v)) {
      if (metrics.empty() && !users_metric) metrics = v.name();
    } else if (v.trainable() && trained.empty() && trains_nothing) {
      trained = v.name();
    }
  }
  if (!metrics.empty())
    RILL_LOG(warning,
             "[{}] train_step uses a metric (its variable \"{}\") that metrics() of the model does "
             "not list: fit does not reset it, and its numbers run on over the epochs. "
             "track(\"NAME\", metric) in the constructor makes it known",
             model.name(), metrics);
  if (!trained.empty())
    RILL_LOG(warning,
             "[{}] train_step uses the variable \"{}\", and the model holds nothing that could be "
             "trained: what train_step trains is neither saved nor in summary(). Of a member, "
             "track(\"NAME\", member) in the constructor makes it known",
             model.name(), trained);
}

void Trainer::reset_metrics() {
  loss_mean_.reset_state();
  for (Output& o : outputs_) {
    if (o.loss_mean) o.loss_mean->reset_state();
    for (const MetricRef& m : o.metrics) m->reset_state();
    for (const MetricRef& m : o.weighted_metrics) m->reset_state();
  }
  for (const auto& [name, mean] : layer_metrics_) mean->reset_state();
}

std::vector<Variable> Trainer::metric_variables() const {
  std::vector<Variable> all;
  for (const Metric* m : all_metrics())
    for (Variable& v : m->variables()) all.push_back(std::move(v));
  return all;
}

std::vector<MetricRef> Trainer::metrics() const {
  std::vector<MetricRef> list{loss_mean_};
  for (const Output& o : outputs_)
    if (o.loss_mean) list.emplace_back(*o.loss_mean);
  for (const Output& o : outputs_) {
    list.insert(list.end(), o.metrics.begin(), o.metrics.end());
    list.insert(list.end(), o.weighted_metrics.begin(), o.weighted_metrics.end());
  }
  for (const std::string& n : layer_metric_names_) list.emplace_back(*layer_metrics_.at(n));
  return list;
}

std::vector<std::string> Trainer::metrics_names() const {
  std::vector<std::pair<std::string, Nest>> names;
  names.emplace_back("loss", Nest());
  for (const Output& o : outputs_)
    if (o.loss_mean) names.emplace_back(o.name + "_loss", Nest());
  for (const Output& o : outputs_) {
    for (const MetricRef& m : o.metrics)
      names.emplace_back(unique_in(names, shown_name(o, m, false)), Nest());
    for (const MetricRef& m : o.weighted_metrics)
      names.emplace_back(unique_in(names, shown_name(o, m, true)), Nest());
  }
  for (const std::string& n : layer_metric_names_) names.emplace_back(unique_in(names, n), Nest());
  std::vector<std::string> list;
  for (auto& n : names) list.push_back(std::move(n.first));
  return list;
}

}  // namespace rill::keras
