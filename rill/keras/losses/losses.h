#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Losses as functions of tensors: one number a sample, with the last axis
// reduced. Labels take the dtype of the predictions, and broadcast with them. Names, arguments and
// numbers are Keras's; what may be passed as a loss has no default argument but
// a second overload. While a function is traced, a crossentropy of what a softmax
// or a sigmoid gave is computed from their logits: exact where probabilities saturate.
namespace rill RILL_API {
namespace keras {
namespace losses {

// ---- classes
struct CrossentropyOptions {
  bool from_logits = false;  // y_pred is unscaled; else it holds probabilities
  double label_smoothing = 0;
  int axis = -1;  // of the classes
};
// y_true: a distribution a sample. Probabilities are scaled to sum 1 and kept
// 1e-7 away from 0 and 1.
Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred);
Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                CrossentropyOptions options);
// As categorical_crossentropy, with alpha * (1 - p)^gamma for every class: what is easy counts
// for little.
struct CategoricalFocalOptions {
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred);
Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                      CategoricalFocalOptions options);
struct SparseCrossentropyOptions {
  bool from_logits = false;
  int axis = -1;                                  // of the classes
  std::optional<std::int64_t> ignore_class = {};  // samples of this class have loss 0
};
// y_true: a class number a sample, of any numeric dtype; [batch] or [batch, 1].
Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred);
Tensor sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                       SparseCrossentropyOptions options);
// Yes or no, each element for itself; the mean over the axis.
Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred);
Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred,
                           CrossentropyOptions options);
// As binary_crossentropy, times (1 - p)^gamma where p is the probability of the truth.
struct BinaryFocalOptions {
  bool apply_class_balancing = false;  // alpha for yes, 1 - alpha for no
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};
Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred);
Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                 BinaryFocalOptions options);
Tensor kl_divergence(const Operand& y_true, const Operand& y_pred);
// Margins: labels are -1 and 1; 0 and 1 are taken for them.
Tensor hinge(const Operand& y_true, const Operand& y_pred);
Tensor squared_hinge(const Operand& y_true, const Operand& y_pred);
Tensor categorical_hinge(const Operand& y_true, const Operand& y_pred);

// ---- numbers
Tensor mean_squared_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_absolute_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_absolute_percentage_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_squared_logarithmic_error(const Operand& y_true, const Operand& y_pred);
Tensor huber(const Operand& y_true, const Operand& y_pred);  // delta 1
Tensor huber(const Operand& y_true, const Operand& y_pred, double delta);
Tensor log_cosh(const Operand& y_true, const Operand& y_pred);
Tensor poisson(const Operand& y_true, const Operand& y_pred);
// -1 for the same direction, 1 for the opposite.
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred);
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis);

// ---- of Keras 3
// What two regions lack of covering each other, 0 to 1: over the axes (none: all).
Tensor dice(const Operand& y_true, const Operand& y_pred);
Tensor dice(const Operand& y_true, const Operand& y_pred, const std::vector<int>& axis);
struct TverskyFunctionOptions {
  double alpha = 0.5, beta = 0.5;  // weights of what lacks in y_pred, and of what is too much
  std::vector<int> axis = {};
};
Tensor tversky(const Operand& y_true, const Operand& y_pred);
Tensor tversky(const Operand& y_true, const Operand& y_pred, const TverskyFunctionOptions& options);
// Class numbers [batch] and embeddings [batch, dim] of length 1: how far each is from those of its
// class, and how near to the others.
Tensor circle(const Operand& y_true, const Operand& y_pred);
struct CircleFunctionOptions {
  // Against which each is held: the batch itself, when not given.
  Tensor ref_labels = {}, ref_embeddings = {};
  bool remove_diagonal = true;  // not against itself
  double gamma = 80, margin = 0.4;
};
Tensor circle(const Operand& y_true, const Operand& y_pred, const CircleFunctionOptions& options);

// Other names of some of these.
Tensor mse(const Operand& y_true, const Operand& y_pred);
Tensor mae(const Operand& y_true, const Operand& y_pred);
Tensor mape(const Operand& y_true, const Operand& y_pred);
Tensor msle(const Operand& y_true, const Operand& y_pred);
Tensor kld(const Operand& y_true, const Operand& y_pred);

}  // namespace losses
}  // namespace keras
}  // namespace RILL_API
