#include "rill/keras/losses/loss.h"

#include <cstdlib>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/losses/ranks_impl.h"
#include "rill/keras/registry/class_name_impl.h"
#include "rill/keras/registry/registered_functions_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Loss::~Loss() = default;

Tensor Loss::call(const Tensor&, const Tensor&) {
  RILL_FAIL(unimplemented,
            "[loss] the class {} has no call: override Tensor call(const Tensor& "
            "y_true, const Tensor& y_pred)",
            class_name());
}
std::string Loss::class_name() const { return class_name_of(typeid(*this)); }
std::string Loss::name() const {
  return options_.name.empty() ? snake_case(class_name()) : options_.name;
}
Config Loss::get_config() const {
  static const char* names[] = {"auto", "sum_over_batch_size", "sum", "none"};
  return Config::dict(
      {{"reduction", names[static_cast<int>(options_.reduction)]}, {"name", name()}});
}

Tensor Loss::counted(const Tensor&, const Tensor&) const { return {}; }

namespace {

// Weights take the rank of the losses: [batch] beside [batch, steps] counts for every step.
Tensor fitted(const Tensor& weight, const Tensor& losses) {
  Tensor w = weight.dtype() == losses.dtype() ? weight : cast(weight, losses.dtype());
  const bool too_many =
      known_ranks(w, losses) && w.ndim() == losses.ndim() + 1 && std::abs(w.shape().dim(-1)) != 1;
  if (!too_many) w = in_rank_of(w, losses);
  if (!known_ranks(w, losses)) return w;
  bool fits = w.ndim() == 0 || w.ndim() == losses.ndim();
  for (int i = 0; fits && i < w.ndim(); ++i)
    fits = std::abs(w.shape().dim(i)) == 1 || std::abs(losses.shape().dim(i)) == 1 ||
           w.shape().dim(i) == losses.shape().dim(i);
  RILL_CHECK(
      fits, invalid_argument,
      "[loss] sample_weight has shape {}, and the losses {}; expected a number, one weight a "
      "sample, or one for each loss",
      weight.shape(), losses.shape());
  return w;
}

}  // namespace

Tensor reduce_weighted_loss(const Tensor& losses, const Tensor& sample_weight,
                            Reduction reduction) {
  const Tensor weighted = sample_weight.defined() ? losses * fitted(sample_weight, losses) : losses;
  switch (reduction) {
    case Reduction::NONE:
      return weighted;
    case Reduction::SUM:
      return reduce_sum(weighted);
    default:
      break;
  }
  if (weighted.shape().has_rank() && weighted.ndim() == 0) return weighted;
  // Of no samples 0, not NaN.
  if (weighted.shape().num_elements() == 0) return reduce_sum(weighted);
  const Tensor mean = reduce_mean(weighted);
  if (weighted.shape().is_fully_defined()) return mean;
  return where(size(weighted) == 0, zeros_like(mean), mean);
}

Tensor Loss::operator()(const Operand& y_true, const Operand& y_pred) const {
  return (*this)(y_true, y_pred, Tensor());
}
Tensor Loss::operator()(const Operand& y_true, const Operand& y_pred,
                        const Operand& sample_weight) const {
  const bool none =
      sample_weight.kind() == Operand::Kind::tensor && !sample_weight.tensor().defined();
  const Tensor labels = to_tensor(y_true), predictions = to_tensor(y_pred);
  const Tensor losses = const_cast<Loss*>(this)->call(labels, predictions);
  Tensor weight = none ? Tensor() : to_tensor(sample_weight);
  // What counts: what the layers' mask leaves of the predictions, and the loss of the labels.
  Tensor share;
  if (predictions.impl()->mask) share = cast(Tensor(predictions.impl()->mask), losses.dtype());
  if (const Tensor counts = counted(labels, predictions); counts.defined()) {
    const Tensor c = cast(counts, losses.dtype());
    share = share.defined() ? share * c : c;
  }
  if (share.defined()) {
    // A mean over all, with this weight, is a mean over those that count.
    if (options_.reduction == Reduction::AUTO ||
        options_.reduction == Reduction::SUM_OVER_BATCH_SIZE)
      share = share * (cast(size(share), losses.dtype()) / reduce_sum(share));
    share = fitted(share, losses);
    weight = none ? share : share * fitted(weight, losses);
  }
  return reduce_weighted_loss(losses, weight, options_.reduction);
}

// ---- by name and by function
namespace {

bool is_of_library(BinaryFn f) {
  for (const NamedLoss& n : named_losses())
    if (n.function == f) return true;
  return false;
}

// A function as a loss.
class FunctionLoss : public Loss {
 public:
  FunctionLoss(std::string name, std::function<Tensor(const Tensor&, const Tensor&)> f)
      : Loss(LossOptions{.name = std::move(name)}), f_(std::move(f)) {}
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    // As Keras calls any function. Class numbers have another rank anyway.
    const BinaryFn* f = f_.target<BinaryFn>();
    const bool numbers = f && *f == BinaryFn(losses::sparse_categorical_crossentropy),
               of_library = f && is_of_library(*f);
    const auto [t, p] = numbers      ? Matched{y_true, y_pred}
                        : of_library ? squeezed_ranks(y_true, y_pred)
                                     : matched_ranks(y_true, y_pred);
    return f_(t, p);
  }
  std::string class_name() const override { return "LossFunctionWrapper"; }
  const std::function<Tensor(const Tensor&, const Tensor&)>& function() const { return f_; }

 private:
  std::function<Tensor(const Tensor&, const Tensor&)> f_;
};

}  // namespace

LossRef LossRef::by_function(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  LossRef r;
  r.loss_ = std::make_shared<FunctionLoss>("loss", std::move(f));
  return r;
}
LossRef LossRef::by_pointer(BinaryFn f) {
  LossRef r;
  const char* known = nullptr;
  for (const NamedLoss& n : named_losses())
    if (n.function == f) {
      known = n.name;
      break;
    }
  r.loss_ = std::make_shared<FunctionLoss>(known ? known : "loss", f);
  if (known) r.given_ = known;
  return r;
}
LossRef LossRef::by_name(std::string_view name) {
  for (const NamedLoss& n : named_losses()) {
    if (!n.goes_by(name) && name != n.class_name) continue;
    LossRef r = by_pointer(n.function);
    r.given_ = name;
    return r;
  }
  if (LossFunction own = registered_function(name)) return by_function(std::move(own));
  RILL_FAIL(invalid_argument, "[loss] unknown loss \"{}\".{}", name,
            did_you_mean(name, loss_names()));
}

std::optional<std::string> name_for_files(const LossRef& loss) {
  if (!loss.given_name().empty()) return loss.given_name();
  const auto* function = dynamic_cast<const FunctionLoss*>(&*loss);
  if (!function) return {};
  return registered_function_name(function->function());
}

Config LossRef::serialize() const {
  if (!loss_) return {};
  if (const std::optional<std::string> name = name_for_files(*this)) {
    RILL_CHECK(!name->empty(), failed_precondition,
               "[loss] a user-defined function has no name that a file could hold; use one of "
               "keras::losses, or keras::utils::register_keras_serializable(\"NAME\", FUNCTION)");
    return *name;
  }
  return Config::dict({{"class_name", saved_class_name(*loss_)}, {"config", loss_->get_config()}});
}
LossRef LossRef::deserialize(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_text()) return by_name(c.as_string());
  return loss_from_config(c["class_name"].as_string(), c.get("config"));
}

}  // namespace rill::keras
