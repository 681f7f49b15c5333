// Whole models: HDF5 as Keras 2 writes it, and .keras archives.
#include <ctime>
#include <filesystem>

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/saving/compile_config_impl.h"
#include "rill/keras/saving/model_config_impl.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/keras/saving/saving.h"
#include "rill/keras/saving/weights_impl.h"
#include "rill/keras/training/trainer_impl.h"

namespace rill::keras {

namespace {

constexpr const char* kWeights = "model.weights.h5";

// Of the layers of a model, the configurations without low-rank adaptation, which Keras 2 does not
// have.
Config without_lora(const Config& record) {
  if (record.is_list()) {
    Config out = Config::list();
    for (const Config& item : record.items()) out.push_back(without_lora(item));
    return out;
  }
  if (!record.is_dict()) return record;
  Config out = Config::dict();
  for (const std::string& key : record.keys()) out.set(key, without_lora(record[key]));
  const Config &name = record.get("class_name"), &config = out.get("config");
  if (name.is_text() && name.as_string().find('>') == std::string::npos &&
      config.get("lora_rank").is_number()) {
    Config plain = config;
    for (const char* key : {"lora_rank", "lora_alpha"}) plain.erase(key);
    out.set("config", plain);
  }
  return out;
}
bool is_adapted(const Model& model) { return !loras_in(model.impl()).empty(); }

Config record_of(const Model& model, int version) {
  const Config record = model_record(model);
  if (version == 3) return keras3_record(record);
  return is_adapted(model) ? without_lora(record) : record;
}
// Without its adaptation a model has other variables to train.
bool keeps_optimizer(const Model& model, int version) {
  if (version == 3 || !is_adapted(model)) return true;
  RILL_LOG(info,
           "[save] {}: Keras 2 has no low-rank adaptation, so the file has the sums of weights and "
           "adaptations, and no state of the optimizer. Save with .keras_version = 3 to adapt on",
           model.name());
  return false;
}
// Losses, of which Keras 3 has no reduction "auto".
Config keras3_losses(const Config& c) {
  Config out = c;
  if (c.is_list()) {
    out = Config::list();
    for (const Config& loss : c.items()) out.push_back(keras3_losses(loss));
  } else if (c.is_dict()) {
    for (const std::string& key : c.keys()) out.set(key, keras3_losses(c[key]));
    if (c.get("reduction") == Config("auto")) out.set("reduction", "sum_over_batch_size");
  }
  return out;
}

// Compiling the model makes its optimizer adapt the scale of the loss.
bool scales_loss(const Model& model) { return model.impl().policy.name() == "mixed_float16"; }

// ---- HDF5
std::string hdf5_bytes(const Model& model, bool with_training, int version) {
  io::Hdf5Writer file;
  file.set_text("", "keras_version", version == 3 ? kKeras3Version : kKerasVersion);
  file.set_text("", "backend", "tensorflow");
  file.set_text("", "model_config", record_of(model, version).to_json());
  write_named_weights(model, file, "model_weights", version);
  if (with_training) {
    const CompileOptions& o = model.model_impl().trainer->options;
    Config c = compile_config(o, CompileForm::hdf5);
    if (version == 3) {
      c = compile_config(o, CompileForm::archive);
      c.set("optimizer_config", keras3_optimizer(c["optimizer"], scales_loss(model)));
      c.set("loss", keras3_losses(c["loss"]));
      c.erase("optimizer");
    }
    file.set_text("", "training_config", c.to_json());
    if (keeps_optimizer(model, version)) write_named_optimizer(*o.optimizer, file, version);
  }
  return file.finish();
}

Model load_hdf5(const std::string& path, bool compile) {
  const io::Hdf5Reader file(path);
  RILL_CHECK(file.has_attribute("", "model_config"), invalid_argument,
             "[load_model] {} holds no configuration of a model; weights alone are loaded with "
             "load_weights",
             path);
  const bool tells = file.has_attribute("", "keras_version");
  Model model = model_of_record(Config::from_json(file.text("", "model_config")),
                                tells ? keras_of_version(file.text("", "keras_version")) : 2);
  WeightPlan plan;
  plan_named_weights(model, file, "model_weights", {}, plan);
  if (compile && file.has_attribute("", "training_config")) {
    const Config c = Config::from_json(file.text("", "training_config"));
    model.compile(compile_options(c, CompileForm::hdf5, model, scales_loss(model)));
    plan_named_optimizer(model, file, plan);
  }
  plan.apply();
  return model;
}

// ---- .keras
std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d@%H:%M:%S", &parts)};
}

std::string archive_bytes(const Model& model, bool with_training, int version) {
  Config record = with_modules(record_of(model, version));
  if (with_training) {
    const CompileOptions& o = model.model_impl().trainer->options;
    Config c = compile_config(o, CompileForm::archive);
    Config optimizer =
        version == 3 ? keras3_optimizer(c["optimizer"], scales_loss(model)) : c["optimizer"];
    const bool scales = optimizer["class_name"] == Config(kLossScaleOptimizer);
    optimizer.set("module",
                  scales ? "keras.src.mixed_precision.loss_scale_optimizer" : "keras.optimizers");
    optimizer.set("registered_name", scales ? Config(kLossScaleOptimizer) : Config());
    c.set("optimizer", optimizer);
    if (version == 3) c.set("loss", keras3_losses(c["loss"]));
    c.set("run_eagerly", o.run_eagerly);
    c.set("steps_per_execution", o.steps_per_execution);
    c.set("jit_compile", false);
    record.set("compile_config", c);
  }
  io::Hdf5Writer weights;
  write_placed_weights(model, weights, version);
  if (with_training && keeps_optimizer(model, version))
    write_placed_optimizer(model.optimizer(), weights, version);
  io::ZipWriter zip;
  zip.add("metadata.json",
          Config::dict({{"keras_version", version == 3 ? kKeras3Version : kKerasVersion},
                        {"date_saved", now_text()}})
              .to_json());
  zip.add("config.json", record.to_json());
  zip.add(kWeights, weights.finish());
  for (const auto& [name, text] : placed_files(model, version)) zip.add(name, text);
  return zip.finish();
}

Model load_archive(const std::string& path, bool compile) {
  const io::ZipReader zip = io::ZipReader::open(path);
  RILL_CHECK(zip.contains("config.json") && zip.contains(kWeights), data_loss,
             "[load_model] {} is a zip archive, but lacks {}; expected what Model::save wrote as "
             ".keras",
             path, zip.contains("config.json") ? kWeights : "config.json");
  const Config record = Config::from_json(zip.read("config.json"));
  const Config metadata =
      zip.contains("metadata.json") ? Config::from_json(zip.read("metadata.json")) : Config();
  const Config version = metadata.is_dict() ? metadata.get("keras_version") : Config();
  Model model = version.is_text() ? model_of_record(record, keras_of_version(version.as_string()))
                                  : models::model_from_config(record);
  const io::Hdf5Reader weights(zip.read(kWeights), path + ":" + kWeights);
  const Config& c = record.get("compile_config");
  const bool training = compile && c.is_dict() && c.size() > 0 &&
                        (!c.contains("optimizer") || !c["optimizer"].is_null());
  if (training) {
    // Of an optimizer that compile put into another one, Keras 3 writes the inner one's settings.
    const bool scales = scales_loss(model) || holds_scale(weights);
    CompileOptions options = compile_options(c, CompileForm::archive, model, scales);
    const BehaviourScope behaviour(model.impl().behaves_as);
    if (holds_scale(weights) && !loss_scale_optimizer(*options.optimizer))
      options.optimizer = mixed_precision::LossScaleOptimizer(*options.optimizer);
    model.compile(std::move(options));
  }
  WeightPlan plan;
  plan_placed_weights(model, weights, false, plan);
  if (training) plan_placed_optimizer(model, weights, plan);
  plan.apply();
  read_placed_files(model, weights, zip);
  return model;
}

[[noreturn]] void saved_model_unimplemented(const std::string& what, const std::string& path) {
  RILL_FAIL(unimplemented,
            "[{}] {}: Rill does not read or write Keras models as SavedModel folders yet. Use a "
            "path that ends with .keras or .h5",
            what, path);
}

}  // namespace

void Model::save(const std::string& path, SaveOptions o) const {
  if (o.keras_version == 0) o.keras_version = impl().behaves_as;
  const std::string& f = o.save_format;
  const bool h5_suffix = path.ends_with(".h5") || path.ends_with(".hdf5");
  RILL_CHECK(
      f.empty() || f == "keras" || f == "h5" || f == "hdf5" || f == "tf" || f == "tensorflow",
      invalid_argument, "[save] save_format is \"{}\"; expected \"keras\" or \"h5\"", f);
  const bool archive = f.empty() ? path.ends_with(".keras") : f == "keras";
  const bool hdf5 = f.empty() ? h5_suffix : f.starts_with("h");
  if (!archive && !hdf5) saved_model_unimplemented("save", path);
  RILL_CHECK(o.overwrite || !io::file_exists(path), already_exists,
             "[save] {} is there already, and overwrite is false", path);
  RILL_CHECK(o.keras_version == 2 || o.keras_version == 3, invalid_argument,
             "[save] keras_version is {}; expected 2 or 3", o.keras_version);
  const bool with_training = o.include_optimizer && compiled();
  static_cast<void>(record_of(*this, o.keras_version));  // what cannot be saved says so first
  require_weights(*this, "save");
  io::write_file_atomically(path, archive ? archive_bytes(*this, with_training, o.keras_version)
                                          : hdf5_bytes(*this, with_training, o.keras_version));
}

Model models::load_model(const std::string& path, LoadModelOptions o) {
  if (std::filesystem::is_directory(path)) saved_model_unimplemented("load_model", path);
  char first[8] = {};
  std::size_t n = 0;
  {
    const io::InputFile file(path);
    n = file.read_some(0, first, sizeof first);
  }
  const std::string_view start(first, n);
  try {
    if (io::is_hdf5(start)) return load_hdf5(path, o.compile);
    if (start.starts_with("PK\x03\x04")) return load_archive(path, o.compile);
  } catch (errors::Error& e) {
    e.add_context(format("while loading {}", path));
    throw;
  }
  RILL_FAIL(
      data_loss,
      "[load_model] {} is neither HDF5 nor a .keras archive; expected a file that Model::save "
      "or Keras wrote",
      path);
}

}  // namespace rill::keras
