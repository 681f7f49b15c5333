#pragma once
#include <cstdint>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// The few functions of NumPy that programs make their data with. Results are
// tensors in host memory; their dtypes are NumPy's: float64 and int64 where
// TensorFlow would make float32 and int32.
namespace rill RILL_API {
namespace np {

Tensor array(const Operand& value, DType dtype = {});
Tensor array(std::initializer_list<Operand> value, DType dtype = {});
template <class T>
Tensor array(const std::vector<T>& value, DType dtype = {});  // of the vector's own element type
Tensor zeros(const Operand& shape, DType dtype = float64);
Tensor ones(const Operand& shape, DType dtype = float64);
Tensor arange(const Operand& stop);
Tensor arange(const Operand& start, const Operand& stop, const Operand& step = 1);
Tensor linspace(double start, double stop, std::int64_t num = 50);

TensorShape shape(const Operand& a);
Tensor reshape(const Operand& a, const Operand& shape);
Tensor expand_dims(const Operand& a, int axis);
Tensor concatenate(const TensorList& arrays, int axis = 0);
Tensor astype(const Operand& a, DType dtype);           // a.astype(dtype)
Tensor take(const Operand& a, const Operand& indices);  // a[indices]: rows in that order; also
                                                        // a[indices], where indices is a tensor

// Over all elements, or along an axis.
Tensor min(const Operand& a);
Tensor max(const Operand& a);
Tensor sum(const Operand& a);
Tensor mean(const Operand& a);
Tensor min(const Operand& a, int axis);
Tensor max(const Operand& a, int axis);
Tensor sum(const Operand& a, int axis);
Tensor mean(const Operand& a, int axis);
// int64: where the largest element stands, of equal ones the first, NaN being
// the largest; without an axis in the array made flat.
Tensor argmax(const Operand& a);
Tensor argmax(const Operand& a, int axis);
Tensor multiply(const Operand& a, const Operand& b);
// a / b of arrays: integers of every size make float64. (Tensors of bytes make float32.)
Tensor divide(const Operand& a, const Operand& b);
Tensor matmul(const Operand& a, const Operand& b);  // a vector counts as a row, or as a column
Tensor dot(const Operand& a, const Operand& b);     // of vectors: the sum of products; else matmul
// |a - b| <= atol + rtol |b| everywhere; shapes broadcast.
bool allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8);

// Numbers of the legacy generator: after seed(n) they are NumPy's own.
namespace random {
void seed(std::uint32_t seed);
Tensor random(const Operand& size = TensorShape::scalar());  // [0, 1), float64
template <class... D>
Tensor rand(D... sizes) {
  return random(TensorShape({Dim(sizes)...}));
}
struct UniformOptions {
  double low = 0, high = 1;
  TensorShape size = TensorShape::scalar();
};
Tensor uniform(UniformOptions options = {});
struct RandintOptions {
  TensorShape size = TensorShape::scalar();
};
// Integers in [0, high), or [low, high): int64.
Tensor randint(std::int64_t high, RandintOptions options = {});
Tensor randint(std::int64_t low, std::int64_t high, const Operand& size = TensorShape::scalar());
struct ChoiceOptions {
  TensorShape size = TensorShape::scalar();
  Tensor p = {};  // probabilities that sum to 1; equal ones when not given
};
Tensor choice(std::int64_t n, ChoiceOptions options = {});  // numbers of range(n), int64
// The rows of a in random order, in its place.
void shuffle(Tensor& a);
}  // namespace random

}  // namespace np
}  // namespace RILL_API
