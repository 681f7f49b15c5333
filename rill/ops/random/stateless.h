#pragma once
#include <vector>

#include "rill/core/operand.h"

// The V2 forms of the stateless ops, for Generator.
namespace rill {

inline constexpr int kPhilox = 1;  // the V2 ops' `alg`
Tensor keyed_uniform(const Operand& shape, const Tensor& key, const Tensor& counter, double lo,
                     double hi, DType dtype);
Tensor keyed_uniform_int(const Operand& shape, const Tensor& key, const Tensor& counter,
                         const Tensor& lo, const Tensor& hi);
Tensor keyed_normal(const Operand& shape, const Tensor& key, const Tensor& counter, double mean,
                    double stddev, DType dtype);
Tensor keyed_truncated_normal(const Operand& shape, const Tensor& key, const Tensor& counter,
                              double mean, double stddev, DType dtype);
Tensor keyed_full_int(const Operand& shape, const Tensor& key, const Tensor& counter, DType dtype);
// {key, counter} that a seed of two integers stands for.
std::vector<Tensor> key_and_counter(const Operand& seed);
// From the state of a Generator, which moves on.
Tensor stateful_binomial(const Tensor& state, const Operand& shape, const Operand& counts,
                         const Operand& probs, DType dtype);

}  // namespace rill
