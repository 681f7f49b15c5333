#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/io/file.h"
#include "rill/io/zip.h"
#include "rill/keras/saving/optimizer_config_impl.h"
#include "rill/keras/saving/weights_impl.h"
#include "rill/saving/checkpoint.h"
#include "rill/saving/checkpoint_state.h"

namespace rill::keras {

namespace {

bool has_hdf5_suffix(const std::string& path) {
  return path.ends_with(".h5") || path.ends_with(".hdf5") || path.ends_with(".keras");
}

// A file of weights or of a whole model; of an archive, the weights in it.
io::Hdf5Reader open_weights(const std::string& path) {
  char first[4] = {};
  const std::size_t n = io::InputFile(path).read_some(0, first, sizeof first);
  if (std::string_view(first, n) != "PK\x03\x04") return io::Hdf5Reader(path);
  const std::string member = "model.weights.h5";
  return {io::ZipReader::open(path).read(member), path + ":" + member};
}

// Weights of a model that was trained by another optimizer are weights all the same.
void plan_optimizer_if_it_fits(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan) {
  if (!has_keras_state(model.optimizer())) return;
  WeightPlan state;
  try {
    plan_placed_optimizer(model, file, state);
  } catch (const errors::InvalidArgument& e) {
    RILL_LOG(warning, "[{}] load_weights: the optimizer starts again: {}", model.name(),
             e.message());
    return;
  }
  plan.add(std::move(state));
}

// A checkpoint may fit in part, which is seldom meant. Optimizers come and go.
void warn_of_the_rest(const Model& model, const std::string& path,
                      const train::CheckpointStatus& status) {
  const auto listed = [](const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& p : paths)
      if (!p.starts_with("optimizer/") && !p.starts_with("keras_api/") &&
          p.find(".OPTIMIZER_SLOT") == p.npos && p != "save_counter" &&
          !p.starts_with("save_counter/"))
        text += "\n  " + p;
    return text;
  };
  if (const std::string missing = listed(status.missing()); !missing.empty())
    RILL_LOG(warning,
             "[{}] load_weights: weights of the model that the checkpoint {} does not have; they "
             "stay as they are:{}",
             model.name(), path, missing);
  if (const std::string extra = listed(status.extra()); !extra.empty())
    RILL_LOG(warning,
             "[{}] load_weights: values of the checkpoint {} that the model has no place for:{}",
             model.name(), path, extra);
}

}  // namespace

void Model::save_weights(const std::string& path, SaveWeightsOptions o) const {
  RILL_CHECK(o.save_format.empty() || o.save_format == "tf" || o.save_format == "tensorflow" ||
                 o.save_format == "h5" || o.save_format == "hdf5" || o.save_format == "keras",
             invalid_argument,
             "[{}] save_weights: save_format is \"{}\"; expected \"tf\" or \"h5\"", name(),
             o.save_format);
  const bool hdf5 = o.save_format.empty() ? has_hdf5_suffix(path) : !o.save_format.starts_with("t");
  RILL_CHECK(hdf5 || !has_hdf5_suffix(path), invalid_argument,
             "[{}] save_weights: save_format is \"{}\", but the path {} has the suffix of an HDF5 "
             "file",
             name(), o.save_format, path);
  require_weights(*this, "save_weights");
  const std::string written = hdf5 ? path : path + ".index";
  RILL_CHECK(o.overwrite || !io::file_exists(written), already_exists,
             "[{}] save_weights: {} is there already, and overwrite is false", name(), written);
  if (!hdf5) {
    io::create_folders(io::folder_of(path));
    train::Checkpoint(*this).write(path);
    train::update_checkpoint_state(
        io::folder_of(path), {.model_checkpoint_path = path, .all_model_checkpoint_paths = {path}});
    return;
  }
  io::Hdf5Writer file;
  if (path.ends_with(".weights.h5")) {
    write_placed_weights(*this, file, 2);
    if (compiled() && has_keras_state(optimizer())) write_placed_optimizer(optimizer(), file, 2);
  } else {
    write_named_weights(*this, file, "", 2);
  }
  io::write_file_atomically(path, file.finish());
}

void Model::load_weights(const std::string& path, LoadWeightsOptions o) {
  const auto skip_by_name = [&] {
    RILL_CHECK(o.by_name || !o.skip_mismatch, invalid_argument,
               "[{}] load_weights: skip_mismatch of {} goes with by_name", name(), path);
  };
  if (!has_hdf5_suffix(path) && train::checkpoint_exists(path)) {
    RILL_CHECK(!o.by_name, unimplemented,
               "[{}] load_weights: by_name is for HDF5 files; {} is a TensorFlow checkpoint",
               name(), path);
    skip_by_name();
    const train::CheckpointStatus status = train::Checkpoint(*this).read(path).expect_partial();
    // Of a model that is not built the weights come later; some models have none.
    if (built() && !weights().empty()) {
      status.assert_nontrivial_match();
      warn_of_the_rest(*this, path, status);
    }
    return;
  }
  RILL_CHECK(io::file_exists(path), not_found,
             "[{}] load_weights: there is neither a file {} nor a checkpoint of that name", name(),
             path);
  require_built(*this, path);
  const io::Hdf5Reader file = open_weights(path);
  WeightPlan plan;
  if (file.has_texts("", "layer_names")) {
    skip_by_name();
    plan_named_weights(*this, file, "", o, plan);
  } else if (file.has_group("model_weights")) {
    skip_by_name();
    plan_named_weights(*this, file, "model_weights", o, plan);
  } else {
    RILL_CHECK(file.has_group("layers") || file.has_group("_layer_checkpoint_dependencies") ||
                   file.has_group("vars"),
               data_loss, "[{}] load_weights: {} is HDF5, but holds no weights of Keras", name(),
               path);
    RILL_CHECK(!o.by_name, unimplemented,
               "[{}] load_weights: {} has Keras 3's layout, which has no names", name(), path);
    plan_placed_weights(*this, file, o.skip_mismatch, plan);
    if (compiled()) plan_optimizer_if_it_fits(*this, file, plan);
  }
  plan.apply();
}

}  // namespace rill::keras
