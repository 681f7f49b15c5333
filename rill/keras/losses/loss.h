#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "rill/base/overrides.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/config.h"
#include "rill/keras/losses/losses.h"

namespace rill RILL_API {
namespace keras {

// What becomes of the losses of a batch: their mean (AUTO means that too), their sum, or nothing.
enum class Reduction : unsigned char { AUTO, SUM_OVER_BATCH_SIZE, SUM, NONE };

// As an option: Reduction::NONE, or the name that Keras writes: "none". InvalidArgument for
// another.
class ReductionArg {
 public:
  ReductionArg(Reduction r) : value_(r) {}
  template <StringLike S>
  ReductionArg(const S& name) : value_(by_name(std::string_view(name))) {}
  operator Reduction() const { return value_; }

 private:
  static Reduction by_name(std::string_view name);
  Reduction value_;
};

struct LossOptions {
  ReductionArg reduction = Reduction::AUTO;
  std::string name = {};
};

// A loss as an object: call gives a loss for each sample, operator() weighs and reduces them.
// A user-defined loss overrides call:
//
//   struct MeanSquaredError : keras::losses::Loss {
//     Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
//       return tf::reduce_mean(tf::square(y_pred - y_true));
//     }
//   };
class Loss {
 public:
  explicit Loss(LossOptions options = {}) : options_(std::move(options)) {}
  template <StringLike S>
  explicit Loss(const S& name) : Loss(LossOptions{.name = std::string(std::string_view(name))}) {}
  virtual ~Loss();

  Tensor operator()(const Operand& y_true, const Operand& y_pred) const;
  // sample_weight: a number, one a sample, or one for each loss that call gives.
  Tensor operator()(const Operand& y_true, const Operand& y_pred,
                    const Operand& sample_weight) const;

  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred);
  virtual std::string class_name() const;
  virtual Config get_config() const;  // name and reduction; a class adds its own arguments
  // Which of the losses count (bool); undefined: all. The mean is taken over these alone.
  virtual Tensor counted(const Tensor& y_true, const Tensor& y_pred) const;

  std::string name() const;
  Reduction reduction() const { return options_.reduction; }

 protected:
  LossOptions options_;
};

// Weighs and reduces the losses of samples, as Keras does. Undefined weights: all 1.
Tensor reduce_weighted_loss(const Tensor& losses, const Tensor& sample_weight, Reduction reduction);

using BinaryFn = Tensor (*)(const Operand&, const Operand&);

// A loss by name ("mse"), by function, or as an object, of which it keeps a copy.
class LossRef {
 public:
  LossRef() = default;  // none
  LossRef(std::nullptr_t) {}
  template <StringLike S>
  LossRef(const S& name) : LossRef(by_name(std::string_view(name))) {}
  LossRef(BinaryFn f) : LossRef(by_pointer(f)) {}
  template <class L>
  requires std::is_base_of_v<Loss, L> LossRef(const L& loss) : loss_(std::make_shared<L>(loss)) {
    RILL_CHECK_OVERRIDES(L, Loss, call);
    RILL_CHECK_OVERRIDES(L, Loss, get_config);
  }
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F&, Tensor, Tensor> && !std::is_base_of_v<Loss, F> &&
           !StringLike<F> && !std::is_convertible_v<F, BinaryFn> &&
           !std::is_same_v<std::remove_cvref_t<F>, LossRef>) LossRef(F f)
      : LossRef(by_function(std::move(f))) {}

  bool defined() const { return static_cast<bool>(loss_); }
  Loss& operator*() const { return *loss_; }
  Loss* operator->() const { return loss_.get(); }
  // What the user gave: "mse", or the name of the function or object.
  const std::string& given_name() const { return given_; }

  // For files: the name, or {"class_name": .., "config": ..}.
  Config serialize() const;
  static LossRef deserialize(const Config& config);

 private:
  static LossRef by_name(std::string_view name);
  static LossRef by_pointer(BinaryFn f);
  static LossRef by_function(std::function<Tensor(const Tensor&, const Tensor&)> f);
  std::shared_ptr<Loss> loss_;
  std::string given_;
};

namespace losses {
using keras::Loss;
using keras::Reduction;
}  // namespace losses

}  // namespace keras
}  // namespace RILL_API
