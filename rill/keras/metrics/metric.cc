#include <mutex>
#include <unordered_set>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/metrics/metric_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/metrics/named_metrics_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/keras/registry/registered_functions_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

void retain(MetricImpl* m) noexcept { m->refs.retain(); }
void release(MetricImpl* m) noexcept {
  if (m->refs.release()) delete m;
}

// ---- which variables are metrics'
namespace {

struct MetricStates {
  std::mutex mutex;
  std::unordered_set<std::uint64_t> ids;
};
MetricStates& metric_states() {
  static auto* states = new MetricStates;
  return *states;
}

}  // namespace

MetricImpl::~MetricImpl() {
  MetricStates& all = metric_states();
  const std::lock_guard lock(all.mutex);
  for (const State& s : state) all.ids.erase(s.variable.id());
}
bool is_metric_state(const Variable& v) {
  MetricStates& all = metric_states();
  const std::lock_guard lock(all.mutex);
  return all.ids.contains(v.id());
}

Metric::Metric(MetricOptions o) : impl_(new MetricImpl) {
  impl_->name = std::move(o.name);
  impl_->dtype = o.dtype.defined() ? o.dtype : float32;
}
Metric::~Metric() = default;
Metric::Metric(const Metric&) = default;
Metric& Metric::operator=(const Metric&) = default;

void Metric::update_state(const Tensor&, const Tensor&, const Tensor&) {
  RILL_FAIL(unimplemented,
            "[{}] the class {} has no update_state: override void update_state(const Tensor& "
            "y_true, const Tensor& y_pred, const Tensor& sample_weight)",
            name(), class_name());
}
Tensor Metric::result() {
  RILL_FAIL(unimplemented, "[{}] the class {} has no result()", name(), class_name());
}
void Metric::reset_state() {
  for (const MetricImpl::State& s : impl_->state)
    s.variable.assign(zeros(s.variable.shape(), s.variable.dtype()));
}
void Metric::merge_state(const std::vector<MetricRef>& metrics) {
  const std::vector<Variable> own = variables();
  std::vector<std::vector<Variable>> all;
  for (const MetricRef& m : metrics) {
    RILL_CHECK(m.defined(), invalid_argument,
               "[merge_state] \"{}\" is a name; expected a metric that has counted", m.name());
    all.push_back(m->variables());
    bool alike = all.back().size() == own.size();
    for (std::size_t i = 0; alike && i < own.size(); ++i)
      alike = all.back()[i].dtype() == own[i].dtype() &&
              all.back()[i].shape().is_compatible_with(own[i].shape());
    RILL_CHECK(alike, invalid_argument,
               "[merge_state] the variables of {} \"{}\" are not like those of {} \"{}\"; "
               "expected metrics of one class and arguments, which have counted the same outputs",
               m->class_name(), m->name(), class_name(), name());
  }
  for (const std::vector<Variable>& theirs : all)
    for (std::size_t i = 0; i < own.size(); ++i) own[i].assign_add(theirs[i].value());
}
Tensor Metric::operator()(const Operand& y_true, const Operand& y_pred) {
  update_state(to_tensor(y_true), to_tensor(y_pred), Tensor());
  return result();
}
Tensor Metric::operator()(const Operand& y_true, const Operand& y_pred,
                          const Operand& sample_weight) {
  const bool none =
      sample_weight.kind() == Operand::Kind::tensor && !sample_weight.tensor().defined();
  update_state(to_tensor(y_true), to_tensor(y_pred), none ? Tensor() : to_tensor(sample_weight));
  return result();
}
std::string Metric::class_name() const { return class_name_of(typeid(*this)); }
std::string Metric::name() const {
  return impl_->name.empty() ? snake_case(class_name()) : impl_->name;
}
Config Metric::get_config() const {
  return Config::dict({{"name", name()}, {"dtype", impl_->dtype.name()}});
}
DType Metric::dtype() const { return impl_->dtype; }
std::vector<Variable> Metric::variables() const {
  std::vector<Variable> list;
  for (const MetricImpl::State& s : impl_->state) list.push_back(s.variable);
  return list;
}
Ref<TrackableNode> Metric::trackable() const {
  retain(impl_.get());
  return Ref<TrackableNode>(impl_.get());
}
Variable Metric::add_weight(std::string_view name, DType dtype, const TensorShape& shape,
                            const Initializer& initializer) {
  const EagerScope eager;
  const Variable v(initializer(shape, dtype.defined() ? dtype : impl_->dtype),
                   {.trainable = false, .name = std::string(name)});
  impl_->state.push_back({std::string(name), v});
  {
    MetricStates& all = metric_states();
    const std::lock_guard lock(all.mutex);
    all.ids.insert(v.id());
  }
  TrackableNode* node = v.handle().impl()->resource.get();
  rill::retain(node);
  impl_->track(name, Ref<TrackableNode>(node));
  return v;
}

bool Metric::has_weight(std::string_view name) const {
  for (const MetricImpl::State& s : impl_->state)
    if (s.name == name) return true;
  return false;
}
Variable Metric::weight_once(std::string_view name, const TensorShape& shape, DType dtype) {
  for (const MetricImpl::State& s : impl_->state)
    if (s.name == name) return s.variable;
  return add_weight(name, dtype, shape);
}

// ---- by name and by function
namespace {

// "name" of "package>name".
std::string bare_name(const std::string& registered) {
  return registered.substr(registered.find('>') + 1);
}

// A user's function goes by the name under which it was registered.
MetricRef of_users_function(LossFunction f) {
  const std::string registered = registered_function_name(f);
  return metrics::MeanMetricWrapper(
      std::move(f), {.name = registered.empty() ? "metric" : bare_name(registered)});
}

}  // namespace

MetricRef MetricRef::by_pointer(BinaryFn f) {
  const std::string name = library_function_name(f);
  if (name.empty()) return of_users_function(f);
  return metrics::MeanMetricWrapper(f, {.name = name});
}
MetricRef MetricRef::by_function(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return of_users_function(std::move(f));
}

MetricRef MetricRef::resolved(const TensorShape& y_true, const TensorShape& y_pred) const {
  if (metric_) return *this;
  const auto of = [](BinaryFn f, std::string name) -> MetricRef {
    return metrics::MeanMetricWrapper(f, {.name = std::move(name)});
  };
  // "accuracy" and "crossentropy" mean what fits labels and predictions.
  const bool accuracy = name_ == "accuracy" || name_ == "acc";
  if (accuracy || name_ == "crossentropy" || name_ == "ce") {
    const bool known = y_true.has_rank() && y_pred.has_rank();
    const bool binary = known && y_pred.rank() > 0 && y_pred.dim(-1) == 1;
    const bool sparse =
        known && !binary &&
        (y_true.rank() < y_pred.rank() || (y_true.dim(-1) == 1 && y_pred.dim(-1) > 1));
    if (binary)
      return of(
          accuracy ? BinaryFn(metrics::binary_accuracy) : BinaryFn(losses::binary_crossentropy),
          name_);
    if (sparse)
      return of(accuracy ? BinaryFn(metrics::sparse_categorical_accuracy)
                         : BinaryFn(losses::sparse_categorical_crossentropy),
                name_);
    return of(accuracy ? BinaryFn(metrics::categorical_accuracy)
                       : BinaryFn(losses::categorical_crossentropy),
              name_);
  }
  for (const NamedMetric& n : named_metrics())
    if (n.goes_by(name_)) return of(n.function, name_);
  for (const NamedLoss& n : named_losses())
    if (n.goes_by(name_)) return of(n.function, name_);
  for (const MetricClass& m : metric_classes())
    if (name_ == m.class_name || name_ == snake_case(m.class_name)) return m.make(Config::dict());
  if (LossFunction own = registered_function(name_))
    return metrics::MeanMetricWrapper(std::move(own), {.name = bare_name(name_)});
  RILL_FAIL(invalid_argument, "[metric] unknown metric \"{}\".{}", name_,
            did_you_mean(name_, metric_names()));
}

const metrics::MeanMetricWrapper* mean_of_function(const Metric& m) {
  if (m.class_name() != "MeanMetricWrapper") return nullptr;
  return dynamic_cast<const metrics::MeanMetricWrapper*>(&m);
}

std::string library_function_name(const std::function<Tensor(const Tensor&, const Tensor&)>& f) {
  const BinaryFn* pointer = f.target<BinaryFn>();
  if (!pointer) return {};
  for (const NamedMetric& n : named_metrics())
    if (n.function == *pointer) return n.name;
  for (const NamedLoss& n : named_losses())
    if (n.function == *pointer) return n.name;
  return {};
}

MetricRef MetricRef::anew() const {
  if (!metric_) return *this;
  const std::string class_name = metric_->class_name();
  for (const MetricClass& c : metric_classes())
    if (class_name == c.class_name && class_name != "MeanMetricWrapper")
      return c.make(metric_->get_config());
  if (const auto* mean = mean_of_function(*metric_))
    return metrics::MeanMetricWrapper(mean->function(),
                                      {.name = metric_->name(), .dtype = metric_->dtype()});
  const Config config = metric_->get_config();
  MetricRef made = registered_metric(saved_class_name(*metric_), config);
  if (!made.defined() && make_) made = make_(config);
  RILL_CHECK(made.defined(), invalid_argument,
             "[compile] the metric \"{}\" of class {} would count for several outputs, and there "
             "is no way to make another; expected {}(const Config&), a static from_config, or an "
             "object for each output: .metrics = {{{{\"a\", {{{}(..)}}}}, ..}}",
             metric_->name(), class_name, class_name, class_name);
  const Ref<TrackableNode> node = made->trackable();
  static_cast<MetricImpl&>(*node).name = metric_->name();
  return made;
}

void number_metrics(const std::vector<MetricRef>& metrics) {
  static const char* const kNumbered[] = {"AUC",
                                          "BinaryIoU",
                                          "FalseNegatives",
                                          "FalsePositives",
                                          "IoU",
                                          "MeanIoU",
                                          "MeanRelativeError",
                                          "OneHotIoU",
                                          "OneHotMeanIoU",
                                          "Precision",
                                          "PrecisionAtRecall",
                                          "Recall",
                                          "RecallAtPrecision",
                                          "SensitivityAtSpecificity",
                                          "SpecificityAtSensitivity",
                                          "TrueNegatives",
                                          "TruePositives"};
  const auto is_numbered = [](const std::string& class_name) {
    for (const char* n : kNumbered)
      if (class_name == n) return true;
    for (const MetricClass& c : metric_classes())
      if (class_name == c.class_name) return false;
    return class_name != "MeanMetricWrapper";
  };
  std::map<std::string, const TrackableNode*> taken;
  for (const MetricRef& m : metrics) {
    if (!m.defined()) continue;
    const Ref<TrackableNode> node = m->trackable();
    const std::string class_name = m->class_name(), base = snake_case(class_name);
    std::string name = m->name();
    if (name == base && is_numbered(class_name))
      for (int i = 1; taken.count(name) && taken[name] != node.get(); ++i)
        name = format("{}_{}", base, i);
    taken[name] = node.get();
    static_cast<MetricImpl&>(*node).name = name;
  }
}

Config MetricRef::serialize() const {
  if (!metric_) return name_.empty() ? Config() : Config(name_);
  Config config = metric_->get_config();
  if (const auto* mean = mean_of_function(*metric_)) {
    std::string name = registered_function_name(mean->function());
    if (name.empty()) name = library_function_name(mean->function());
    RILL_CHECK(!name.empty(), failed_precondition,
               "[metric] a user-defined function has no name that a file could hold; use one of "
               "keras::metrics, or keras::utils::register_keras_serializable(\"NAME\", FUNCTION)");
    config.set("fn", name);
  }
  return Config::dict({{"class_name", saved_class_name(*metric_)}, {"config", config}});
}
MetricRef MetricRef::deserialize(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_text()) return MetricRef(c.as_string());
  const std::string& class_name = c["class_name"].as_string();
  const Config config = c.get("config").is_dict() ? c["config"] : Config::dict();
  for (const MetricClass& m : metric_classes())
    if (class_name == m.class_name) return m.make(config);
  if (MetricRef own = registered_metric(class_name, config); own.defined()) return own;
  if (MetricRef own = registered_function_metric(config); own.defined()) return own;
  if (MetricRef mean = library_function_metric(config); mean.defined()) return mean;
  std::vector<std::string> names = registered_metric_names();
  for (const MetricClass& m : metric_classes()) names.push_back(m.class_name);
  RILL_FAIL(invalid_argument,
            "[metric] unknown class \"{}\".{} Register a user-defined "
            "class first: {}",
            class_name, did_you_mean(class_name, names), registering_call(class_name));
}

MetricRef library_function_metric(const Config& config) {
  if (!config.get("fn").is_text()) return {};
  const std::string& name = config["fn"].as_string();
  BinaryFn f = nullptr;
  for (const NamedLoss& n : named_losses())
    if (n.goes_by(name)) f = n.function;
  for (const NamedMetric& n : named_metrics())
    if (n.goes_by(name)) f = n.function;
  if (!f) return {};
  return metrics::MeanMetricWrapper(f, {.name = config.get("name", name.c_str())});
}

MetricRef registered_function_metric(const Config& config) {
  if (!config.get("fn").is_text()) return {};
  const std::string& name = config["fn"].as_string();
  LossFunction f = registered_function(name);
  if (!f) return {};
  return metrics::MeanMetricWrapper(std::move(f),
                                    {.name = config.get("name", bare_name(name).c_str())});
}

namespace metrics {
MetricRef get(std::string_view name) { return MetricRef(name).resolved({}, {}); }
Config serialize(const MetricRef& metric) { return metric.serialize(); }
MetricRef deserialize(const Config& config) {
  const MetricRef m = MetricRef::deserialize(config);
  return m.defined() || config.is_null() ? m : get(m.name());
}
}  // namespace metrics

}  // namespace rill::keras
