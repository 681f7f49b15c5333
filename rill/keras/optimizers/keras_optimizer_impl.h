#pragma once
#include <vector>

#include "rill/keras/config.h"
#include "rill/keras/optimizers/optimizer_impl.h"

namespace rill::keras {

// State of which every variable has one.
struct SlotList {
  const char* slot;  // "m"
  const char* edge;  // "_momentums": the list in a checkpoint; empty edges are not saved
  double initial = 0;
};
// Lists that are made together: for each variable all of them, before those of the next group.
using SlotGroup = std::vector<SlotList>;

// Keras's optimizers, and how their state stands in a checkpoint of Keras 2.15:
//   _iterations, _learning_rate (_current_learning_rate of a schedule)
//   _variables/0           the iterations once more
//   _variables/1, 2, ...   the slots in the order of their making
//   _momentums/0, 1, ...   the same slots by their kind
// The order is decided at the first step, which makes the slots of all its variables; so
// a restore that came before gives them their values then.
class KerasOptimizerImpl : public OptimizerImpl {
 public:
  KerasOptimizerImpl(std::string optimizer_name, optimizers::LearningRate rate,
                     std::vector<SlotGroup> groups);
  ~KerasOptimizerImpl() override;
  // {"class_name": "Adam", "config": {..}}, for files.
  virtual Config config() const = 0;
  bool has_schedule() const { return rate().is_schedule(); }

 protected:
  void prepare(const std::vector<Variable>& variables) override;
  void slot_made(const Variable& var, const char* what, const Variable& slot) override;
  void state_made(const char* what, const Variable& value) override;

 private:
  class RateNode;
  void restore_rate(double rate);
  std::vector<SlotGroup> groups_;
  Ref<TrackableNode> variables_;
  Ref<TrackableNode> rate_node_;
};

}  // namespace rill::keras
