#include "rill/keras/saving/compile_config_impl.h"

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/metrics/named_metrics_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"

namespace rill::keras {

namespace {

// ---- losses
Config loss_config(const LossArg& loss) {
  if (!loss.defined()) return {};
  if (loss.kind() == LossArg::Kind::one) return loss.list()[0].second.serialize();
  Config c = loss.kind() == LossArg::Kind::each ? Config::list() : Config::dict();
  for (const auto& [name, l] : loss.list())
    loss.kind() == LossArg::Kind::each ? c.push_back(l.serialize()) : c.set(name, l.serialize());
  return c;
}

LossRef read_loss(const Config& given) {
  if (!given.is_dict()) return LossRef::deserialize(given);
  // Keras's record of a function: its name stands as the configuration.
  if (given["class_name"] == Config("function")) return LossRef::deserialize(given["config"]);
  const LossRef loss = LossRef::deserialize(given);
  // An argument that got lost would make another loss of it.
  const Config has = loss->get_config(), &wanted = given["config"];
  for (const std::string& key : wanted.keys()) {
    if (key == "name" || key == "reduction" || key == "dtype" || key == "fn") continue;
    const Config& value = wanted[key];
    const bool plain = value.is_null() || value == Config(0) || value == Config(false);
    RILL_CHECK(has.contains(key) ? has[key] == value : plain || key == "axis" || key == "delta",
               unimplemented,
               "[load_model] the loss {} has {} = {}, which Rill does not read. Load with compile "
               "= false and compile anew",
               given["class_name"].as_string(), key, value.to_json());
  }
  return loss;
}
bool is_record(const Config& c) { return c.is_dict() && c.contains("class_name"); }

LossArg read_losses(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_text() || is_record(c)) return LossArg(read_loss(c));
  std::vector<std::pair<std::string, LossRef>> list;
  for (std::size_t i = 0; i < c.size(); ++i)
    list.emplace_back(c.is_dict() ? c.keys()[i] : std::string(), read_loss(c.items()[i]));
  if (list.empty()) return {};
  return LossArg(c.is_dict() ? LossArg::Kind::named : LossArg::Kind::each, std::move(list));
}

// ---- metrics
bool is_name(std::string_view name) {
  for (const char* any : {"accuracy", "acc", "crossentropy", "ce"})
    if (name == any) return true;
  for (const NamedMetric& m : named_metrics())
    if (name == m.name || (m.alias && name == m.alias)) return true;
  for (const MetricClass& m : metric_classes())
    if (name == m.class_name) return true;
  for (const NamedLoss& l : named_losses())
    if (name == l.name || (*l.alias && name == l.alias) || name == l.class_name) return true;
  return false;
}

// A function that goes by a name, with the name that it has itself.
Config function_metric(const std::string& name, CompileForm form) {
  if (form == CompileForm::archive) return name;
  std::string function;
  for (const NamedMetric& m : named_metrics())
    if (m.function && name == m.name) function = m.name;
  for (const NamedLoss& l : named_losses())
    if (name == l.name || (*l.alias && name == l.alias)) function = l.name;
  if (function.empty()) return name;  // "accuracy", or a class
  return Config::dict(
      {{"class_name", "MeanMetricWrapper"},
       {"config", Config::dict({{"name", name}, {"dtype", "float32"}, {"fn", function}})}});
}

Config metric_config(const MetricRef& m, CompileForm form) {
  if (!m.defined()) return function_metric(m.name(), form);
  if (m->class_name() == "MeanMetricWrapper" && is_name(m->name()))
    return function_metric(m->name(), form);
  RILL_CHECK(m->class_name() != "MeanMetricWrapper", unimplemented,
             "[save] the metric \"{}\" is a function of your own, which a file does not hold; save "
             "with include_optimizer = false, or without compile",
             m->name());
  return Config::dict({{"class_name", m->class_name()}, {"config", m->get_config()}});
}
Config metrics_config(const MetricsArg& metrics, CompileForm form) {
  if (metrics.empty()) return {};
  Config c;
  for (const MetricRef& m : metrics.all()) c.push_back(metric_config(m, form));
  for (const auto& [output, list] : metrics.named()) {
    Config of = Config::list();
    for (const MetricRef& m : list) of.push_back(metric_config(m, form));
    c.set(output, of);
  }
  return c;
}

MetricRef read_metric(const Config& c, const std::string& output) {
  if (c.is_text()) return MetricRef(c.as_string());
  const std::string& class_name = c["class_name"].as_string();
  const Config& config = c["config"];
  if (class_name == "function") return MetricRef(config.as_string());
  std::string name = config.get("name", "");
  // Of several outputs, each has its name in front.
  if (!output.empty() && name.starts_with(output + "_")) name = name.substr(output.size() + 1);
  for (const MetricClass& m : metric_classes())
    if (class_name == m.class_name && class_name != "MeanMetricWrapper") {
      Config own = config;
      if (!name.empty()) own.set("name", name);
      return m.make(own);
    }
  // A mean of a function: by the name that is shown where that says which, else by the function.
  if (is_name(name)) return MetricRef(name);
  if (const Config& fn = config.get("fn"); fn.is_text() && is_name(fn.as_string()))
    return MetricRef(fn.as_string());
  if (is_name(class_name)) return MetricRef(class_name);
  std::vector<std::string> known;
  for (const MetricClass& m : metric_classes()) known.push_back(m.class_name);
  RILL_FAIL(not_found,
            "[load_model] unknown metric {} \"{}\".{} Load with compile = false and compile anew",
            class_name, name, did_you_mean(class_name, known));
}

std::vector<MetricRef> read_metric_list(const Config& c, const std::string& output) {
  std::vector<MetricRef> list;
  if (!c.is_list()) return {read_metric(c, output)};
  for (const Config& m : c.items())
    if (!m.is_null()) list.push_back(read_metric(m, output));
  return list;
}

MetricsArg read_metrics(const Config& c, const Model& model) {
  if (c.is_null()) return {};
  std::vector<std::pair<std::string, std::vector<MetricRef>>> by_output;
  if (c.is_dict() && !is_record(c)) {
    for (const std::string& key : c.keys())
      by_output.emplace_back(key, read_metric_list(c[key], key));
    return MetricsArg(std::move(by_output));
  }
  const bool nested = c.is_list() && c.size() > 0 && c[0].is_list();
  if (!nested) return MetricsArg(read_metric_list(c, {}));
  if (c.size() == 1) return MetricsArg(read_metric_list(c[0], {}));
  const std::vector<std::string> outputs = model.output_names();
  RILL_CHECK(outputs.size() == c.size(), invalid_argument,
             "[load_model] the file has {} lists of metrics for {} outputs", c.size(),
             outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    by_output.emplace_back(outputs[i], read_metric_list(c[i], outputs[i]));
  return MetricsArg(std::move(by_output));
}

// ---- weights of losses
Config weights_config(const LossWeights& w) {
  Config c;
  for (const double v : w.each()) c.push_back(v);
  for (const auto& [name, v] : w.named()) c.set(name, v);
  return c;
}
LossWeights read_weights(const Config& c) {
  if (c.is_dict()) {
    std::vector<std::pair<std::string, double>> named;
    for (const std::string& key : c.keys()) named.emplace_back(key, c[key].as_double());
    return LossWeights(std::move(named));
  }
  std::vector<double> each;
  if (c.is_number()) each.push_back(c.as_double());
  for (const Config& v : c.items()) each.push_back(v.as_double());
  return LossWeights(std::move(each));
}

const char* optimizer_key(CompileForm form) {
  return form == CompileForm::hdf5 ? "optimizer_config" : "optimizer";
}

}  // namespace

Config compile_config(const CompileOptions& o, CompileForm form) {
  return Config::dict({{optimizer_key(form), serialize_optimizer(*o.optimizer)},
                       {"loss", loss_config(o.loss)},
                       {"metrics", metrics_config(o.metrics, form)},
                       {"loss_weights", weights_config(o.loss_weights)},
                       {"weighted_metrics", metrics_config(o.weighted_metrics, form)}});
}

CompileOptions compile_options(const Config& c, CompileForm form, const Model& model) {
  CompileOptions o;
  o.optimizer = deserialize_optimizer(c[optimizer_key(form)]);
  o.loss = read_losses(c.get("loss"));
  o.metrics = read_metrics(c.get("metrics"), model);
  o.loss_weights = read_weights(c.get("loss_weights"));
  o.weighted_metrics = read_metrics(c.get("weighted_metrics"), model);
  o.run_eagerly = c.get("run_eagerly", false);
  const Config& steps = c.get("steps_per_execution");
  o.steps_per_execution = steps.is_number() ? steps.as_int() : 1;
  return o;
}

}  // namespace rill::keras
