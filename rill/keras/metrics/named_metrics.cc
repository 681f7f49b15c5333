#include "rill/keras/metrics/named_metrics_impl.h"

#include <algorithm>

#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/registry/registered_functions_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

std::span<const NamedMetric> named_metrics() {
  using namespace metrics;
  static const NamedMetric all[] = {
      {"binary_accuracy", "", binary_accuracy},
      {"categorical_accuracy", "", categorical_accuracy},
      {"sparse_categorical_accuracy", "", sparse_categorical_accuracy},
      {"top_k_categorical_accuracy", "", top_k_categorical_accuracy},
      {"sparse_top_k_categorical_accuracy", "", sparse_top_k_categorical_accuracy},
      {"cosine_similarity", "cosine_proximity", cosine_similarity},
      {"cosine_similarity", "cosine", cosine_similarity},
  };
  return all;
}

namespace {

// Options with what a configuration says of the fields that every metric has.
template <class Options>
Options common(const Config& c) {
  Options o;
  if (!c.get("name").is_null()) o.name = c["name"].as_string();
  if (const Config& d = c.get("dtype"); !d.is_null()) {
    // A policy names itself; Keras writes one where a metric was given it.
    o.dtype = DType::from_name(d.is_text() ? d.as_string() : d["config"]["name"].as_string());
  }
  return o;
}
std::optional<int> optional_int(const Config& c, const char* key) {
  if (c.get(key).is_null()) return {};
  return static_cast<int>(c[key].as_int());
}
std::vector<double> numbers(const Config& c) {
  std::vector<double> list;
  for (const Config& i : c.items()) list.push_back(i.as_double());
  return list;
}
std::vector<int> class_ids(const Config& c) {
  std::vector<int> ids;
  for (std::int64_t i : c.as_ints()) ids.push_back(static_cast<int>(i));
  return ids;
}

template <class M>
MetricRef plain(const Config& c) {
  return M(common<MetricOptions>(c));
}
template <class M>
MetricRef top_k(const Config& c) {
  auto o = common<metrics::TopKOptions>(c);
  o.k = static_cast<int>(c.get("k", o.k));
  return M(o);
}
template <class M>
MetricRef confusion(const Config& c) {
  auto o = common<metrics::ConfusionOptions>(c);
  o.thresholds = metrics::Thresholds::from(c.get("thresholds"));
  return M(o);
}
template <class M>
MetricRef share(const Config& c) {
  auto o = common<metrics::PrecisionOptions>(c);
  o.thresholds = metrics::Thresholds::from(c.get("thresholds"));
  o.top_k = optional_int(c, "top_k");
  o.class_id = optional_int(c, "class_id");
  return M(o);
}
template <class M>
MetricRef trade_off(const Config& c, const char* argument) {
  auto o = common<metrics::TradeOffOptions>(c);
  o.num_thresholds = static_cast<int>(c.get("num_thresholds", o.num_thresholds));
  o.class_id = optional_int(c, "class_id");
  return M(c[argument].as_double(), o);
}
// What the intersections over union share.
template <class Options>
Options iou(const Config& c) {
  auto o = common<Options>(c);
  o.num_classes = static_cast<int>(c["num_classes"].as_int());
  o.ignore_class = optional_int(c, "ignore_class");
  o.sparse_y_pred = c.get("sparse_y_pred", o.sparse_y_pred);
  o.axis = static_cast<int>(c.get("axis", o.axis));
  return o;
}
template <class Options>
Options f_score(const Config& c) {
  auto o = common<Options>(c);
  o.average = c.get("average", "");
  if (!c.get("threshold").is_null()) o.threshold = c["threshold"].as_double();
  return o;
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names = registered_function_names();
  names.emplace_back("accuracy");
  const auto add = [&](const char* name) {
    if (*name && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const NamedMetric& n : named_metrics()) add(n.name);
  for (const NamedLoss& n : named_losses()) add(n.name);
  for (const NamedMetric& n : named_metrics()) add(n.alias);
  for (const NamedLoss& n : named_losses()) add(n.alias);
  for (const MetricClass& m : metric_classes()) add(m.class_name);
  return names;
}

bool is_library_metric(const Metric& metric) {
  const std::string name = saved_class_name(metric);
  for (const MetricClass& m : metric_classes())
    if (name == m.class_name) return true;
  return name == "MeanMetricWrapper";
}
std::span<const MetricClass> metric_classes() {
  using namespace metrics;
  static const MetricClass all[] = {
      {"Mean", plain<Mean>},
      {"Sum", plain<Sum>},
      {"Accuracy", plain<Accuracy>},
      {"CategoricalAccuracy", plain<CategoricalAccuracy>},
      {"SparseCategoricalAccuracy", plain<SparseCategoricalAccuracy>},
      {"MeanSquaredError", plain<MeanSquaredError>},
      {"RootMeanSquaredError", plain<RootMeanSquaredError>},
      {"MeanAbsoluteError", plain<MeanAbsoluteError>},
      {"MeanAbsolutePercentageError", plain<MeanAbsolutePercentageError>},
      {"MeanSquaredLogarithmicError", plain<MeanSquaredLogarithmicError>},
      {"LogCoshError", plain<LogCoshError>},
      {"Poisson", plain<Poisson>},
      {"KLDivergence", plain<KLDivergence>},
      {"Hinge", plain<Hinge>},
      {"SquaredHinge", plain<SquaredHinge>},
      {"CategoricalHinge", plain<CategoricalHinge>},
      {"TopKCategoricalAccuracy", top_k<TopKCategoricalAccuracy>},
      {"SparseTopKCategoricalAccuracy", top_k<SparseTopKCategoricalAccuracy>},
      {"TruePositives", confusion<TruePositives>},
      {"FalsePositives", confusion<FalsePositives>},
      {"TrueNegatives", confusion<TrueNegatives>},
      {"FalseNegatives", confusion<FalseNegatives>},
      {"Precision", share<Precision>},
      {"Recall", share<Recall>},
      {"SensitivityAtSpecificity",
       [](const Config& c) { return trade_off<SensitivityAtSpecificity>(c, "specificity"); }},
      {"SpecificityAtSensitivity",
       [](const Config& c) { return trade_off<SpecificityAtSensitivity>(c, "sensitivity"); }},
      {"PrecisionAtRecall",
       [](const Config& c) { return trade_off<PrecisionAtRecall>(c, "recall"); }},
      {"RecallAtPrecision",
       [](const Config& c) { return trade_off<RecallAtPrecision>(c, "precision"); }},
      {"MeanTensor",
       [](const Config& c) -> MetricRef {
         auto o = common<MeanTensorOptions>(c);
         if (!c.get("shape").is_null()) o.shape = c["shape"].as_shape();
         return MeanTensor(o);
       }},
      {"BinaryAccuracy",
       [](const Config& c) -> MetricRef {
         auto o = common<ThresholdOptions>(c);
         o.threshold = c.get("threshold", o.threshold);
         return BinaryAccuracy(o);
       }},
      {"MeanRelativeError",
       [](const Config& c) -> MetricRef {
         auto o = common<MeanRelativeErrorOptions>(c);
         const Config& n = c["normalizer"];
         o.normalizer = n.is_list() ? constant(numbers(n)) : constant(n.as_double());
         return MeanRelativeError(o);
       }},
      {"CosineSimilarity",
       [](const Config& c) -> MetricRef {
         auto o = common<CosineMetricOptions>(c);
         o.axis = static_cast<int>(c.get("axis", o.axis));
         return CosineSimilarity(o);
       }},
      {"BinaryCrossentropy",
       [](const Config& c) -> MetricRef {
         auto o = common<BinaryCrossentropyMetricOptions>(c);
         o.from_logits = c.get("from_logits", false);
         o.label_smoothing = c.get("label_smoothing", 0.0);
         return BinaryCrossentropy(o);
       }},
      {"CategoricalCrossentropy",
       [](const Config& c) -> MetricRef {
         auto o = common<CategoricalCrossentropyMetricOptions>(c);
         o.from_logits = c.get("from_logits", false);
         o.label_smoothing = c.get("label_smoothing", 0.0);
         o.axis = static_cast<int>(c.get("axis", o.axis));
         return CategoricalCrossentropy(o);
       }},
      {"SparseCategoricalCrossentropy",
       [](const Config& c) -> MetricRef {
         auto o = common<SparseCategoricalCrossentropyMetricOptions>(c);
         o.from_logits = c.get("from_logits", false);
         if (!c.get("ignore_class").is_null()) o.ignore_class = c["ignore_class"].as_int();
         o.axis = static_cast<int>(c.get("axis", o.axis));
         return SparseCategoricalCrossentropy(o);
       }},
      {"AUC",
       [](const Config& c) -> MetricRef {
         auto o = common<AUCOptions>(c);
         o.num_thresholds = static_cast<int>(c.get("num_thresholds", o.num_thresholds));
         o.curve = c.get("curve", "ROC");
         o.summation_method = c.get("summation_method", "interpolation");
         o.thresholds = numbers(c.get("thresholds"));
         o.multi_label = c.get("multi_label", false);
         o.num_labels = static_cast<int>(c.get("num_labels", 0));
         o.label_weights = numbers(c.get("label_weights"));
         o.from_logits = c.get("from_logits", false);
         return AUC(o);
       }},
      {"IoU",
       [](const Config& c) -> MetricRef {
         auto o = iou<IoUOptions>(c);
         o.target_class_ids = class_ids(c["target_class_ids"]);
         o.sparse_y_true = c.get("sparse_y_true", true);
         return IoU(o);
       }},
      {"MeanIoU",
       [](const Config& c) -> MetricRef {
         auto o = iou<MeanIoUOptions>(c);
         o.sparse_y_true = c.get("sparse_y_true", true);
         return MeanIoU(o);
       }},
      {"BinaryIoU",
       [](const Config& c) -> MetricRef {
         auto o = common<BinaryIoUOptions>(c);
         if (!c.get("target_class_ids").is_null())
           o.target_class_ids = class_ids(c["target_class_ids"]);
         o.threshold = c.get("threshold", o.threshold);
         return BinaryIoU(o);
       }},
      {"OneHotIoU",
       [](const Config& c) -> MetricRef {
         auto o = iou<OneHotIoUOptions>(c);
         o.target_class_ids = class_ids(c["target_class_ids"]);
         return OneHotIoU(o);
       }},
      {"OneHotMeanIoU",
       [](const Config& c) -> MetricRef { return OneHotMeanIoU(iou<OneHotMeanIoUOptions>(c)); }},
      {"FBetaScore",
       [](const Config& c) -> MetricRef {
         auto o = f_score<FBetaScoreOptions>(c);
         o.beta = c.get("beta", o.beta);
         return FBetaScore(o);
       }},
      {"F1Score", [](const Config& c) -> MetricRef { return F1Score(f_score<F1ScoreOptions>(c)); }},
      {"R2Score",
       [](const Config& c) -> MetricRef {
         auto o = common<R2ScoreOptions>(c);
         if (c.contains("class_aggregation")) o.class_aggregation = c.get("class_aggregation", "");
         o.num_regressors = static_cast<int>(c.get("num_regressors", 0));
         return R2Score(o);
       }},
  };
  return all;
}

}  // namespace rill::keras
