#include "rill/keras/saving/compile_config_impl.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/base/nearest.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/metrics/metrics.h"
#include "rill/keras/metrics/named_metrics_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/keras/registry/registered_functions_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"

namespace rill::keras {

namespace {

// A user-defined function, of which Keras's files hold this much.
constexpr const char* kNameless = "<lambda>";

// How a function that a file names is registered.
std::string function_advice(std::string_view name) {
  const std::string_view bare = name.substr(name.find('>') + 1);
  return format(
      "Register a user-defined function first: "
      "keras::utils::register_keras_serializable(\"{}\", {})",
      bare, bare);
}

// A record of an object as archives hold it: by the module of the library, or, of a user's class,
// as registered, or by its bare name.
Config placed(Config record, const char* module, CompileForm form, bool of_library) {
  if (form != CompileForm::archive || !record.is_dict()) return record;
  const std::string name = record["class_name"].as_string();
  const bool own = !of_library || name.find('>') != std::string::npos;
  record.set("class_name", name.substr(name.find('>') + 1));
  record.set("module", own ? Config() : Config(module));
  record.set("registered_name", own ? Config(name) : Config());
  return record;
}

// A file is written all the same, as by Keras: load_model with compile = false reads it.
void warn_of_lost(const std::string& what, const std::string& how) {
  RILL_LOG(
      warning,
      "[save] {}, which load_model will not find: it needs {{.compile = false}} then. Register "
      "it before: {}",
      what, how);
}
constexpr const char* kAnyFunction =
    "keras::utils::register_keras_serializable(\"NAME\", FUNCTION)";
void warn_unless_registered(const char* kind, const std::string& class_name,
                            const std::vector<std::string>& registered) {
  if (std::find(registered.begin(), registered.end(), class_name) != registered.end()) return;
  warn_of_lost(format("the {} is of the class {}", kind, class_name), registering_call(class_name));
}

// ---- losses
Config loss_config(const LossRef& loss, CompileForm form) {
  const bool nameless = loss.defined() && name_for_files(loss) == std::string();
  if (nameless) warn_of_lost("the loss is a user-defined function without a name", kAnyFunction);
  if (loss.defined() && !name_for_files(loss) && !is_library_loss(*loss))
    warn_unless_registered("loss", saved_class_name(*loss), registered_loss_names());
  return nameless ? Config(kNameless)
                  : placed(loss.serialize(), "keras.losses", form,
                           loss.defined() && is_library_loss(*loss));
}
Config losses_config(const LossArg& loss, CompileForm form) {
  if (!loss.defined()) return {};
  if (loss.kind() == LossArg::Kind::one) return loss_config(loss.list()[0].second, form);
  const bool each = loss.kind() == LossArg::Kind::each;
  Config c = each ? Config::list() : Config::dict();
  for (const auto& [name, l] : loss.list())
    each ? c.push_back(loss_config(l, form)) : c.set(name, loss_config(l, form));
  return c;
}

bool is_loss(std::string_view name) {
  for (const NamedLoss& l : named_losses())
    if (l.goes_by(name) || name == l.class_name) return true;
  return false;
}

LossRef loss_by_name(const std::string& name) {
  RILL_CHECK(
      name != kNameless, not_found,
      "[load_model] the loss is a user-defined function without a name, which no file holds; "
      "one registered with keras::utils::register_keras_serializable(\"NAME\", "
      "FUNCTION) would come back");
  RILL_CHECK(is_loss(name) || registered_function(name), not_found,
             "[load_model] unknown loss \"{}\".{} {}", name, did_you_mean(name, loss_names()),
             function_advice(name));
  return LossRef::deserialize(name);
}

LossRef read_loss(const Config& given) {
  if (given.is_null()) return {};
  if (!given.is_dict()) return loss_by_name(given.as_string());
  const std::string& class_name = class_of_record(given);
  // Keras's records of a function: its name, or its code, stands as the configuration.
  if (class_name == "function") return loss_by_name(given["config"].as_string());
  if (class_name == "__lambda__") return loss_by_name(kNameless);
  LossRef loss = registered_loss(class_name, given["config"]);
  if (!loss.defined()) {
    RILL_CHECK(is_loss(class_name), not_found,
               "[load_model] unknown loss class \"{}\".{} Register a user-defined class "
               "first: {}",
               class_name, did_you_mean(class_name, loss_class_names()),
               registering_call(class_name));
    loss = LossRef::deserialize(given);
  }
  // An argument that got lost would make another loss of it.
  const Config has = loss->get_config(), &wanted = given["config"];
  for (const std::string& key : wanted.keys()) {
    if (key == "name" || key == "reduction" || key == "dtype" || key == "fn") continue;
    const Config& value = wanted[key];
    const bool plain = value.is_null() || value == Config(0) || value == Config(false);
    RILL_CHECK(has.contains(key) ? has[key] == value : plain || key == "axis" || key == "delta",
               unimplemented, "[load_model] the loss {} has {} = {}, which Rill does not read",
               class_name, key, value.to_json());
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
    if (m.goes_by(name)) return true;
  for (const MetricClass& m : metric_classes())
    if (name == m.class_name) return true;
  return is_loss(name);
}

// A function that goes by a name, with the name that it has itself.
Config function_metric(const std::string& name, CompileForm form) {
  if (form == CompileForm::archive) return name;
  std::string function;
  for (const NamedMetric& m : named_metrics())
    if (m.function && name == m.name) function = m.name;
  for (const NamedLoss& l : named_losses())
    if (l.goes_by(name)) function = l.name;
  if (function.empty()) return name;  // "accuracy", or a class
  return Config::dict(
      {{"class_name", "MeanMetricWrapper"},
       {"config", Config::dict({{"name", name}, {"dtype", "float32"}, {"fn", function}})}});
}

Config metric_config(const MetricRef& m, CompileForm form) {
  if (!m.defined()) return function_metric(m.name(), form);
  Config config = m->get_config();
  if (const auto* mean = mean_of_function(*m)) {
    const std::string own = registered_function_name(mean->function());
    const std::string library = library_function_name(mean->function());
    if (own.empty() && !library.empty() && is_name(m->name()))
      return function_metric(m->name(), form);
    config.set("fn", !own.empty() ? own : library.empty() ? kNameless : library);
    if (own.empty() && library.empty())
      warn_of_lost(format("the metric \"{}\" is a user-defined function without a name", m->name()),
                   kAnyFunction);
  } else if (!is_library_metric(*m)) {
    warn_unless_registered("metric", saved_class_name(*m), registered_metric_names());
  }
  return placed(Config::dict({{"class_name", saved_class_name(*m)}, {"config", config}}),
                "keras.metrics", form, is_library_metric(*m));
}
Config metrics_config(const MetricsArg& metrics, CompileForm form) {
  if (metrics.empty()) return {};
  const auto config_of = [&](const std::vector<MetricRef>& list) {
    Config of = Config::list();
    for (const MetricRef& m : list) of.push_back(metric_config(m, form));
    return of;
  };
  if (!metrics.all().empty()) return config_of(metrics.all());
  Config c;
  for (const std::vector<MetricRef>& list : metrics.each()) c.push_back(config_of(list));
  for (const auto& [output, list] : metrics.named()) c.set(output, config_of(list));
  return c;
}

[[noreturn]] void nameless_metric(const std::string& name) {
  RILL_FAIL(
      not_found,
      "[load_model] the metric \"{}\" is a user-defined function without a name, which no file "
      "holds; one registered with keras::utils::register_keras_serializable(\"NAME\", "
      "FUNCTION) would come back",
      name);
}
MetricRef metric_by_name(const std::string& name) {
  if (name == kNameless) nameless_metric(name);
  // An unknown one says so now, and not when it is used.
  try {
    static_cast<void>(metrics::get(name));
  } catch (const errors::InvalidArgument& e) {
    RILL_FAIL(not_found, "{} {}", e.message(), function_advice(name));
  }
  return MetricRef(name);
}

MetricRef read_metric(const Config& c, const std::string& output) {
  if (c.is_text()) return metric_by_name(c.as_string());
  const std::string& class_name = class_of_record(c);
  const Config& config = c["config"];
  if (class_name == "function") return metric_by_name(config.as_string());
  if (class_name == "__lambda__") nameless_metric(kNameless);
  std::string name = config.get("name", "");
  // Of several outputs, each has its name in front.
  if (!output.empty() && name.starts_with(output + "_")) name = name.substr(output.size() + 1);
  Config own = config;
  if (!name.empty()) own.set("name", name);
  if (const Config& fn = config.get("fn"); is_record(fn)) own.set("fn", fn["config"]);
  for (const MetricClass& m : metric_classes())
    if (class_name == m.class_name && class_name != "MeanMetricWrapper") return m.make(own);
  if (MetricRef users = registered_metric(class_name, own); users.defined()) return users;
  if (own.get("fn") == Config(kNameless)) nameless_metric(name);
  if (MetricRef users = registered_function_metric(own); users.defined()) return users;
  // A mean of a function: by the name that is shown where that says which, else by the function.
  if (is_name(name)) return MetricRef(name);
  if (const MetricRef mean = library_function_metric(own); mean.defined()) return mean;
  if (const Config& fn = own.get("fn"); fn.is_text() && is_name(fn.as_string()))
    return MetricRef(fn.as_string());
  if (is_name(class_name)) return MetricRef(class_name);
  RILL_CHECK(class_name != "MeanMetricWrapper" || !own.get("fn").is_text(), not_found,
             "[load_model] unknown metric \"{}\". {}", own["fn"].as_string(),
             function_advice(own["fn"].as_string()));
  std::vector<std::string> known = registered_metric_names();
  for (const MetricClass& m : metric_classes()) known.push_back(m.class_name);
  RILL_FAIL(not_found,
            "[load_model] unknown metric {} \"{}\".{} Register a user-defined class first: "
            "{}",
            class_name, name, did_you_mean(class_name, known), registering_call(class_name));
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
  if (c.is_dict() && !is_record(c)) {
    std::vector<std::pair<std::string, std::vector<MetricRef>>> by_output;
    for (const std::string& key : c.keys())
      by_output.emplace_back(key, read_metric_list(c[key], key));
    return MetricsArg(std::move(by_output));
  }
  const bool nested = c.is_list() && std::any_of(c.items().begin(), c.items().end(),
                                                 [](const Config& i) { return i.is_list(); });
  if (!nested) return MetricsArg(read_metric_list(c, {}));
  if (c.size() == 1) return MetricsArg(read_metric_list(c[0], {}));
  const std::vector<std::string> outputs = model.output_names();
  RILL_CHECK(outputs.size() == c.size(), invalid_argument,
             "[load_model] the file has {} lists of metrics for {} outputs", c.size(),
             outputs.size());
  std::vector<std::vector<MetricRef>> each;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    each.push_back(c[i].is_null() ? std::vector<MetricRef>() : read_metric_list(c[i], outputs[i]));
  return MetricsArg(std::move(each));
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
  try {
    return Config::dict({{optimizer_key(form), serialize_optimizer(*o.optimizer)},
                         {"loss", losses_config(o.loss, form)},
                         {"metrics", metrics_config(o.metrics, form)},
                         {"loss_weights", weights_config(o.loss_weights)},
                         {"weighted_metrics", metrics_config(o.weighted_metrics, form)}});
  } catch (errors::Error& e) {
    e.add_context(
        "while saving the settings of compile; save with {.include_optimizer = false} to leave it "
        "out");
    throw;
  }
}

CompileOptions compile_options(const Config& c, CompileForm form, const Model& model,
                               bool scaled) try {
  CompileOptions o;
  const BehaviourScope behaviour(model.impl().behaves_as);
  // Archives that do not name one are compiled as a program that does not.
  if (form == CompileForm::hdf5 || c.contains(optimizer_key(form)))
    o.optimizer = deserialize_optimizer(c[optimizer_key(form)], scaled);
  o.loss = read_losses(c.get("loss"));
  o.metrics = read_metrics(c.get("metrics"), model);
  o.loss_weights = read_weights(c.get("loss_weights"));
  o.weighted_metrics = read_metrics(c.get("weighted_metrics"), model);
  o.run_eagerly = c.get("run_eagerly", false);
  const Config& steps = c.get("steps_per_execution");
  o.steps_per_execution = steps.is_number() ? steps.as_int() : 1;
  return o;
} catch (errors::Error& e) {
  e.add_context(
      "while reading the settings of compile; load with {.compile = false}, and compile again");
  throw;
}

}  // namespace rill::keras
