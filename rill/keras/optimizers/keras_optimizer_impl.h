#pragma once
#include <vector>

#include "rill/keras/optimizers/optimizer_impl.h"
#include "rill/saving/slot_owner.h"

namespace rill::keras {

// State of which every variable has one.
struct SlotList {
  const char* slot;  // "m"
  const char* edge;  // "_momentums": the list in a checkpoint; empty edges are not saved
  double initial = 0;
  bool copy = false;  // made of the variable's value
};
// What Keras before 2.11 calls a slot of an optimizer.
std::string_view legacy_slot(std::string_view optimizer, std::string_view slot);
// Lists that are made together: for each variable all of them, before those of the next group.
using SlotGroup = std::vector<SlotList>;

// What every optimizer of Keras takes, beside its own arguments.
struct KerasSetup {
  const char* class_name;
  std::string name;
  optimizers::LearningRate rate;
  std::optional<double> weight_decay, clipnorm, clipvalue, global_clipnorm;
  bool use_ema;
  double ema_momentum;
  std::optional<int> ema_overwrite_frequency;
  std::optional<std::int64_t> gradient_accumulation_steps;
  double decay;
  Config own;  // its own arguments
};

// Keras's optimizers, and how a checkpoint of Keras 2.15 holds their state:
//   _iterations, _learning_rate (_current_learning_rate of a schedule)
//   _variables/0           the iterations once more
//   _variables/1, 2, ...   the slots in the order of their making
//   _momentums/0, 1, ...   the same slots by their kind
// The order is decided at the first step, which makes the slots of all its variables; so
// a restore that came before gives them their values then.
//
// The optimizers of Keras before 2.11 keep slots beside their variables instead, as those of
// TensorFlow 1 do: these are read.
class KerasOptimizerImpl : public RuleOptimizerImpl, public SlotOwner {
 public:
  KerasOptimizerImpl(KerasSetup setup, std::vector<SlotGroup> groups);
  ~KerasOptimizerImpl() override;
  std::string class_name() const override { return setup_.class_name; }
  Config config() const override;
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names) override;
  void finalize_variable_values(const std::vector<Variable>& variables) override;
  Variable steps_taken() const override;
  bool gathers_gradients() const override { return setup_.gradient_accumulation_steps.has_value(); }

  std::vector<SlotOwner::Slot> slot_variables() override { return {}; }  // it writes none
  void offer_slots(const Ref<SlotOffer>& offer) override;
  void take_slots() override;

 protected:
  // Whether a variable has this state; else a zero holds its place in the list.
  virtual bool has_slot(const Variable& /*var*/, std::string_view /*slot*/) const { return true; }
  virtual std::optional<double> weight_decay_of(const Variable& /*var*/) const {
    return setup_.weight_decay;
  }
  void prepare(const std::vector<Variable>& variables) override;
  void slot_made(const Variable& var, const char* what, const Variable& slot) override;
  void state_made(const char* what, const Variable& value) override;
  bool changes_gradients() const override;
  GradientsAndVariables changed(const GradientsAndVariables& pairs) override;
  Number changed_rate(const Number& rate, const Number& done) const override;
  void before_updates(const GradientsAndVariables& pairs, const Number& rate) override;
  void use_gradients(const GradientsAndVariables& pairs, const Tensor& calls) override;

 private:
  class RateNode;
  void restore_rate(double rate);
  void gather_or_step(const GradientsAndVariables& pairs, const Tensor& calls, const Tensor& done);
  void average(const GradientsAndVariables& pairs, const Tensor& done);
  bool decays(const Variable& v) const;
  void take(const SlotOwner::Slot& slot);
  std::vector<SlotOwner::Slot> made_;  // by their names before 2.11
  std::vector<Ref<SlotOffer>> offers_;
  KerasSetup setup_;
  std::vector<std::uint64_t> not_decayed_;
  std::vector<std::string> not_decayed_names_;
  bool stepped_ = false;
  std::vector<SlotGroup> groups_;
  Ref<TrackableNode> variables_;
  Ref<TrackableNode> rate_node_;
  std::vector<Variable> gathered_;
  Variable steps_;            // of several calls each; follows the count of calls
  const bool first_is_mean_;  // Keras 3: averages begin with the variables after the first step
};

}  // namespace rill::keras
