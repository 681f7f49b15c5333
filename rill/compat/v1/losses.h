#pragma once
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// tf.losses of TensorFlow 1: scalars. Weights are a number, or broadcast over
// the losses; what remains is summed and divided by the number of weights that
// are not zero, unless another reduction is named.
namespace rill RILL_API {
namespace compat {
namespace v1 {
namespace losses {

enum class Reduction { NONE, SUM, SUM_OVER_BATCH_SIZE, SUM_BY_NONZERO_WEIGHTS };

Tensor compute_weighted_loss(const Operand& losses, const Operand& weights = 1.0,
                             Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
// labels: class numbers, one a row of logits.
Tensor sparse_softmax_cross_entropy(const Operand& labels, const Operand& logits,
                                    const Operand& weights = 1.0,
                                    Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor softmax_cross_entropy(const Operand& onehot_labels, const Operand& logits,
                             const Operand& weights = 1.0, double label_smoothing = 0,
                             Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor sigmoid_cross_entropy(const Operand& multi_class_labels, const Operand& logits,
                             const Operand& weights = 1.0, double label_smoothing = 0,
                             Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor mean_squared_error(const Operand& labels, const Operand& predictions,
                          const Operand& weights = 1.0,
                          Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor absolute_difference(const Operand& labels, const Operand& predictions,
                           const Operand& weights = 1.0,
                           Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor huber_loss(const Operand& labels, const Operand& predictions, const Operand& weights = 1.0,
                  double delta = 1.0, Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor hinge_loss(const Operand& labels, const Operand& logits, const Operand& weights = 1.0,
                  Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);
Tensor log_loss(const Operand& labels, const Operand& predictions, const Operand& weights = 1.0,
                double epsilon = 1e-7, Reduction reduction = Reduction::SUM_BY_NONZERO_WEIGHTS);

}  // namespace losses
}  // namespace v1
}  // namespace compat

namespace losses {
using namespace rill::compat::v1::losses;
}

}  // namespace RILL_API
