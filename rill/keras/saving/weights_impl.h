#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rill/io/hdf5.h"
#include "rill/io/zip.h"
#include "rill/keras/models/model_impl.h"

// Weights in HDF5, in the two layouts that Keras has: by layer and name (Keras 2), and by the
// place of an object in the model (Keras 3 and .keras archives).
namespace rill::keras {

// What a file holds for a model: checked while it is gathered, given out when all is well.
class WeightPlan {
 public:
  // InvalidArgument, with both shapes, when the value does not fit. `where` names layer and file.
  void add(const Variable& weight, const Tensor& value, const std::string& where);
  void add(TrackableNode& variable, const Tensor& value, const std::string& where);
  void add(WeightPlan&& other);
  void apply() const;

 private:
  std::vector<std::pair<Variable, Tensor>> weights_;
  std::vector<std::pair<Ref<TrackableNode>, Tensor>> others_;
};

// Plans something, and tells whether it was left out: what does not fit is an error, with
// `skip_mismatch` a warning.
bool is_skipped(bool skip_mismatch, const std::function<void()>& plan_it);

// FailedPrecondition unless the weights are there.
void require_built(const Model& model, const std::string& path);
// FailedPrecondition where a model that is to be saved by `what` has made none of its weights.
void require_weights(const Model& model, const char* what);

// ---- low-rank adaptation
// A or B of the adaptation, which may be null.
bool is_factor(const Lora* lora, const Variable& weight);
// What a file that knows no adaptation holds for a weight of the layer or of one in it: the sum in
// the place of the weight that is adapted.
Tensor merged_value(const LayerImpl& layer, const Variable& weight);
// W becomes what the file has, so B becomes 0. Keras sets A to 0, too, and then neither learns any
// more; here A stays.
void plan_without_adaptation(const Lora& lora, WeightPlan& plan);

// ---- Keras 2: GROUP/<layer>/<weight name>
// For Keras 2, adapted weights are merged; Keras 3 has their factors.
void write_named_weights(const Model& model, io::Hdf5Writer& file, const std::string& group,
                         int keras_version);
void plan_named_weights(const Model& model, const io::Hdf5Reader& file, const std::string& group,
                        const LoadWeightsOptions& options, WeightPlan& plan);
// The state of an optimizer as a list, below "optimizer_weights".
void write_named_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file, int keras_version);
void plan_named_optimizer(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan);

// ---- Keras 3: <place>/vars/0, 1, ...
// Where that Keras looks for them, and by second names, where it can be, where the other one does.
void write_placed_weights(const Model& model, io::Hdf5Writer& file, int keras_version);
void plan_placed_weights(const Model& model, const io::Hdf5Reader& file, bool skip_mismatch,
                         WeightPlan& plan);
// What layers keep besides, as vocabularies: files of an archive, by their names there.
std::vector<std::pair<std::string, std::string>> placed_files(const Model& model,
                                                              int keras_version);
void read_placed_files(const Model& model, const io::Hdf5Reader& weights,
                       const io::ZipReader& archive);
// The state of the model's optimizer, at "optimizer". A file without one changes nothing.
void write_placed_optimizer(const Optimizer& optimizer, io::Hdf5Writer& file, int keras_version);
void plan_placed_optimizer(const Model& model, const io::Hdf5Reader& file, WeightPlan& plan);
// Whether a file of Keras 3 holds an optimizer that adapts the scale of the loss.
bool holds_scale(const io::Hdf5Reader& file);
// The scale of the loss, and the good steps since it changed, where the optimizer adapts one.
void plan_scale(const Optimizer& optimizer, const Tensor& good_steps, const Tensor& scale,
                WeightPlan& plan);

}  // namespace rill::keras
