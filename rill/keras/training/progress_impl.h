#pragma once
#include <optional>

#include "rill/core/trackable.h"
#include "rill/keras/training/batches_impl.h"
#include "rill/keras/training/trainer_impl.h"

namespace rill::keras {

// How far a fit has come: epoch and step, the place in the data, the sums of the metrics and the
// random streams. As part of a checkpoint, beside the model and its optimizer, it lets a new
// process go on as if nothing had happened.
class FitProgress final : public TrackableNode {
 public:
  FitProgress(Trainer& trainer, Batches& batches, Batches* validation);

  int epoch = 0;          // the next step's
  std::int64_t step = 0;  // steps done of that epoch
  Nest results;           // what the last step gave
  bool resumed = false;   // a checkpoint was restored, and is not yet gone on from
  bool stepped = false;   // a step was taken since: all that was restored is there

  Ref<TrackableNode> trackable() const;
  std::vector<SavedValue> saved_values() override;
  std::vector<std::string> saved_keys() override;
  // DataLoss for a damaged state, InvalidArgument for that of another pipeline; nothing changes.
  void restore_value(std::string_view key, const Tensor& value) override;

 private:
  Trainer& trainer_;
  Batches& batches_;
  Batches* validation_;  // null: none
};

}  // namespace rill::keras
