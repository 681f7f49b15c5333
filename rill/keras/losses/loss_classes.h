#pragma once
#include "rill/keras/losses/loss.h"

// Keras's losses as objects. Options hold a class's own arguments first, then reduction and name:
//
//   keras::losses::SparseCategoricalCrossentropy loss({.from_logits = true});
//   loss(y_true, y_pred)                  // the mean of the batch
//   loss(y_true, y_pred, sample_weight)
namespace rill RILL_API {
namespace keras {
namespace losses {

// What these classes do and the functions do not: of labels and predictions whose ranks differ by
// a last axis of size 1, one loses it. Functions broadcast.
Tensor loss_of_one_rank(BinaryFn f, const Tensor& y_true, const Tensor& y_pred);

// ---- without arguments of their own
template <BinaryFn f>
class FunctionLoss : public Loss {
 public:
  using Loss::Loss;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return loss_of_one_rank(f, y_true, y_pred);
  }
};
class MeanSquaredError : public FunctionLoss<mean_squared_error> {
 public:
  using FunctionLoss::FunctionLoss;
};
class MeanAbsoluteError : public FunctionLoss<mean_absolute_error> {
 public:
  using FunctionLoss::FunctionLoss;
};
class MeanAbsolutePercentageError : public FunctionLoss<mean_absolute_percentage_error> {
 public:
  using FunctionLoss::FunctionLoss;
};
class MeanSquaredLogarithmicError : public FunctionLoss<mean_squared_logarithmic_error> {
 public:
  using FunctionLoss::FunctionLoss;
};
class Poisson : public FunctionLoss<poisson> {
 public:
  using FunctionLoss::FunctionLoss;
};
class KLDivergence : public FunctionLoss<kl_divergence> {
 public:
  using FunctionLoss::FunctionLoss;
};
class Hinge : public FunctionLoss<hinge> {
 public:
  using FunctionLoss::FunctionLoss;
};
class SquaredHinge : public FunctionLoss<squared_hinge> {
 public:
  using FunctionLoss::FunctionLoss;
};
class CategoricalHinge : public FunctionLoss<categorical_hinge> {
 public:
  using FunctionLoss::FunctionLoss;
};
class LogCosh : public FunctionLoss<log_cosh> {
 public:
  using FunctionLoss::FunctionLoss;
};

// ---- with arguments
struct HuberOptions {
  double delta = 1;  // where squares become straight lines
  Reduction reduction = Reduction::AUTO;
  std::string name = "huber_loss";
};
class Huber : public Loss {
 public:
  explicit Huber(HuberOptions options = {});
  explicit Huber(double delta) : Huber(HuberOptions{.delta = delta}) {}
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  double delta_;
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = Reduction::AUTO;
  std::string name = {};
};
class CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(CosineSimilarityOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  int axis_;
};

struct CrossentropyLossOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::AUTO;
  std::string name = {};
};
class BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(CrossentropyLossOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  CrossentropyOptions own_;
};
class CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(CrossentropyLossOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  CrossentropyOptions own_;
};

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  Reduction reduction = Reduction::AUTO;
  std::string name = {};
};
class SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Tensor counted(const Tensor& y_true, const Tensor& y_pred) const override;
  Config get_config() const override;

 private:
  SparseCrossentropyOptions own_;
};

struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::AUTO;
  std::string name = {};
};
class BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(BinaryFocalCrossentropyOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  BinaryFocalOptions own_;
};

struct CategoricalFocalCrossentropyOptions {
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::AUTO;
  std::string name = {};
};
class CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(CategoricalFocalCrossentropyOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  CategoricalFocalOptions own_;
};

// ---- of Keras 3
struct DiceOptions {
  Reduction reduction = Reduction::AUTO;
  std::string name = "dice";
  std::vector<int> axis = {};  // over which regions are compared; none: all
};
class Dice : public Loss {
 public:
  explicit Dice(DiceOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  std::vector<int> axis_;
};

struct TverskyOptions {
  double alpha = 0.5, beta = 0.5;  // weights of what lacks in y_pred, and of what is too much
  Reduction reduction = Reduction::AUTO;
  std::string name = "tversky";
  std::vector<int> axis = {};
};
class Tversky : public Loss {
 public:
  explicit Tversky(TverskyOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Config get_config() const override;

 private:
  TverskyFunctionOptions own_;
};

struct CircleOptions {
  double gamma = 80, margin = 0.4;
  bool remove_diagonal = true;
  Reduction reduction = Reduction::AUTO;
  std::string name = "circle";
};
// Samples whose loss is 0 do not count in the mean.
class Circle : public Loss {
 public:
  explicit Circle(CircleOptions options = {});
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
  Tensor counted(const Tensor& y_true, const Tensor& y_pred) const override;
  Config get_config() const override;

 private:
  CircleFunctionOptions own_;
};

// The loss of that name; InvalidArgument, with the nearest name, when there is none.
LossRef get(std::string_view name);
// A name, or {"class_name": .., "config": ..}, as Keras saves it.
Config serialize(const LossRef& loss);
LossRef deserialize(const Config& config);

}  // namespace losses
}  // namespace keras
}  // namespace RILL_API
