#include "tests/keras_layer_contract/subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rill/core/tensor_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::testing {

void run_layer_test(const LayerTest& test) {
  const Subject s(test);
  check_shapes(s);
  check_weights(s);
  check_config(s);
  check_files(s);
  check_gradients(s);
  check_training(s);
  check_masks(s);
  check_precision(s);
  check_errors(s);
}

// ---- the layer and its inputs
PolicyScope::PolicyScope(const char* policy) : before_(keras::mixed_precision::global_policy()) {
  keras::mixed_precision::set_global_policy(policy);
}
PolicyScope::~PolicyScope() { keras::mixed_precision::set_global_policy(before_); }

keras::LayerRef Subject::built() const {
  keras::LayerRef layer = t.make();
  call(layer, inputs());
  randomize_weights(*layer);
  return layer;
}
keras::LayerRef Subject::built(const char* policy) const {
  const PolicyScope scope(policy);
  return built();
}

TensorShape Subject::input_shape(std::size_t i, std::int64_t batch) const {
  TensorShape shape = t.input_shapes[i];
  shape.set_dim(0, batch);
  return shape;
}
TensorShape Subject::output_shape(std::int64_t batch) const {
  TensorShape shape = t.expected_output_shape;
  shape.set_dim(0, batch);
  return shape;
}
std::vector<Tensor> Subject::inputs(std::int64_t batch, DType floats) const {
  constexpr int kMost = 3;
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < t.input_shapes.size(); ++i) {
    const Tensor sizes = constant(input_shape(i, kMost).as_list());
    const Tensor seed = constant({static_cast<int>(i) + 1, 5});
    const Tensor x = takes_indices() ? random::stateless_uniform_int(sizes, seed, 0, t.index_limit)
                                     : cast(random::stateless_uniform(sizes, seed, -1, 1), floats);
    all.push_back(x[slice(0, batch)]);
  }
  return all;
}
Nest Subject::argument(const std::vector<Tensor>& in) const {
  return in.size() == 1 ? Nest(in[0]) : Nest(in);
}
std::vector<Tensor> Subject::call(const keras::LayerRef& layer, const std::vector<Tensor>& in,
                                  keras::CallOptions options) const {
  return layer->apply(argument(in), std::move(options)).flatten();
}
std::vector<Tensor> Subject::symbols() const {
  std::vector<Tensor> all;
  for (const TensorShape& shape : t.input_shapes) {
    TensorShape one = TensorShape::scalar();
    for (int i = 1; i < shape.rank(); ++i) one.push_back(shape.dim(i));
    all.push_back(keras::Input(one, {.dtype = t.input_dtype}));
  }
  return all;
}

void randomize_weights(const keras::Layer& layer) {
  int seed = 0;
  for (const Variable& w : layer.weights()) {
    ++seed;
    if (!w.dtype().is_floating()) continue;
    const bool positive = w.name().find("variance") != std::string::npos;
    w.assign(cast(random::stateless_uniform(constant(w.shape().as_list(), int32), {seed, 9},
                                            positive ? 0.2 : -0.6, positive ? 1 : 0.6),
                  w.dtype()));
  }
}

// ---- comparing
std::vector<double> numbers(const Tensor& t) { return cast(t, float64).to_vector<double>(); }

Tensor carrying(const Tensor& x, const Tensor& mask) {
  const Tensor y = identity(x);
  retain(mask.impl());
  y.impl()->mask = Ref<TensorImpl>(mask.impl());
  return y;
}
Tensor mask_of(const Tensor& x) { return x.impl()->mask ? Tensor(x.impl()->mask) : Tensor(); }

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                 const std::string& what) {
  expect_close(got, want, 0, what);
}
void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape()) << what << ", tensor " << i;
    const std::vector<double> a = numbers(got[i]), b = numbers(want[i]);
    double largest = 0;
    for (const double v : b) largest = std::max(largest, std::abs(v));
    for (std::size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(a[k], b[k], tolerance * largest) << what << ", tensor " << i << ", element " << k;
  }
}

}  // namespace rill::testing
