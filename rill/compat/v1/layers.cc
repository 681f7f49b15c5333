#include "rill/compat/v1/layers.h"

#include "rill/base/check.h"
#include "rill/compat/v1/variable_store_impl.h"
#include "rill/keras/engine/weight_source.h"

namespace rill::compat::v1::layers {
namespace {

namespace k = rill::keras::layers;

// Weights as variables of the scope.
class ScopedWeights final : public keras::WeightSource {
 public:
  explicit ScopedWeights(bool trainable) : trainable_(trainable) {}
  Variable weight(std::string_view name, const TensorShape& shape,
                  const keras::AddWeightOptions& o) override {
    GetVariableOptions options{.dtype = o.dtype,
                               .regularizer = o.regularizer,
                               .trainable = trainable_ && o.trainable,
                               .constraint = o.constraint};
    if (o.initializer.defined()) options.initializer = o.initializer;
    return get_variable(name, shape, options);
  }

 private:
  bool trainable_;
};

// The layer of `options`, called in the scope of its name with the variables that are there.
template <class L, class Options>
Tensor call_shared(const char* function, const char* class_name, const Operand& inputs,
                   const std::string& name, Reuse reuse, Options options, int training = -1) {
  const Ref<VariableStoreImpl> store = VariableStoreImpl::current();
  RILL_CHECK(store, failed_precondition,
             "[layers::{}] nothing would keep its weights: in eager execution call it in a "
             "make_template or under VariableStore::as_default(), or use the class layers::{}",
             function, class_name);
  const variable_scope scope(name, {.default_name = name.empty() ? function : "", .reuse = reuse});
  const std::string path = scope.name();
  options.name = path.substr(path.rfind('/') + 1);
  const ScopedWeights weights(options.trainable);
  const L layer(std::move(options));
  const Tensor y = layer(inputs, {.training = training});
  store->set_activity_losses(path, layer.losses());
  return y;
}

// The arguments that a function hands on to its layer under the same names.
template <class From, class To>
void copy_kernel(const From& o, To& t) {
  t.kernel_initializer = o.kernel_initializer;
  t.kernel_regularizer = o.kernel_regularizer;
  t.kernel_constraint = o.kernel_constraint;
}
template <class From, class To>
void copy_results(const From& o, To& t) {
  t.activation = o.activation;
  t.use_bias = o.use_bias;
  t.bias_initializer = o.bias_initializer;
  t.bias_regularizer = o.bias_regularizer;
  t.bias_constraint = o.bias_constraint;
  t.activity_regularizer = o.activity_regularizer;
  t.trainable = o.trainable;
}
template <class To, class From>
To of_windows(std::int64_t filters, const nn::Sizes& kernel_size, const From& o) {
  To t;
  t.filters = filters;
  t.kernel_size = kernel_size;
  t.strides = o.strides;
  t.padding = o.padding;
  t.data_format = o.data_format;
  copy_results(o, t);
  return t;
}

template <int axes>
Tensor conv(const char* function, const char* class_name, const Operand& inputs,
            std::int64_t filters, const nn::Sizes& kernel_size, const ConvOptions& o) {
  auto t = of_windows<k::ConvOptions>(filters, kernel_size, o);
  t.dilation_rate = o.dilation_rate;
  copy_kernel(o, t);
  return call_shared<k::Conv<axes>>(function, class_name, inputs, o.name, o.reuse, std::move(t));
}

template <int axes>
Tensor conv_transpose(const char* function, const char* class_name, const Operand& inputs,
                      std::int64_t filters, const nn::Sizes& kernel_size, const ConvOptions& o) {
  RILL_CHECK(o.dilation_rate.list() == std::vector<int>{1}, invalid_argument,
             "[layers::{}] takes no dilation_rate; use keras::layers::{}", function, class_name);
  auto t = of_windows<k::ConvTransposeOptions>(filters, kernel_size, o);
  copy_kernel(o, t);
  return call_shared<k::ConvTranspose<axes>>(function, class_name, inputs, o.name, o.reuse,
                                             std::move(t));
}

template <int axes>
Tensor separable_conv(const char* function, const char* class_name, const Operand& inputs,
                      std::int64_t filters, const nn::Sizes& kernel_size,
                      const SeparableConvOptions& o) {
  auto t = of_windows<k::SeparableConvOptions>(filters, kernel_size, o);
  t.dilation_rate = o.dilation_rate;
  t.depth_multiplier = o.depth_multiplier;
  t.depthwise_initializer = o.depthwise_initializer;
  t.pointwise_initializer = o.pointwise_initializer;
  t.depthwise_regularizer = o.depthwise_regularizer;
  t.pointwise_regularizer = o.pointwise_regularizer;
  t.depthwise_constraint = o.depthwise_constraint;
  t.pointwise_constraint = o.pointwise_constraint;
  return call_shared<k::SeparableConv<axes>>(function, class_name, inputs, o.name, o.reuse,
                                             std::move(t));
}

template <k::PoolingKind kind, int axes>
Tensor pooling(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
               const PoolingOptions& o) {
  return k::Pooling<kind, axes>(k::PoolingOptions{.pool_size = pool_size,
                                                  .strides = strides,
                                                  .padding = o.padding,
                                                  .data_format = o.data_format,
                                                  .name = o.name})(inputs);
}

}  // namespace

Tensor dense(const Operand& inputs, std::int64_t units, const DenseOptions& o) {
  k::DenseOptions t{.units = units};
  copy_kernel(o, t);
  copy_results(o, t);
  return call_shared<k::Dense>("dense", "Dense", inputs, o.name, o.reuse, std::move(t));
}

Tensor conv1d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& o) {
  return conv<1>("conv1d", "Conv1D", inputs, filters, kernel_size, o);
}
Tensor conv2d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& o) {
  return conv<2>("conv2d", "Conv2D", inputs, filters, kernel_size, o);
}
Tensor conv3d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
              const ConvOptions& o) {
  return conv<3>("conv3d", "Conv3D", inputs, filters, kernel_size, o);
}
Tensor conv2d_transpose(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const ConvOptions& o) {
  return conv_transpose<2>("conv2d_transpose", "Conv2DTranspose", inputs, filters, kernel_size, o);
}
Tensor conv3d_transpose(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const ConvOptions& o) {
  return conv_transpose<3>("conv3d_transpose", "Conv3DTranspose", inputs, filters, kernel_size, o);
}
Tensor separable_conv1d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const SeparableConvOptions& o) {
  return separable_conv<1>("separable_conv1d", "SeparableConv1D", inputs, filters, kernel_size, o);
}
Tensor separable_conv2d(const Operand& inputs, std::int64_t filters, const nn::Sizes& kernel_size,
                        const SeparableConvOptions& o) {
  return separable_conv<2>("separable_conv2d", "SeparableConv2D", inputs, filters, kernel_size, o);
}

Tensor batch_normalization(const Operand& inputs, const BatchNormalizationOptions& o) {
  return call_shared<k::BatchNormalization>(
      "batch_normalization", "BatchNormalization", inputs, o.name, o.reuse,
      k::BatchNormalizationOptions{.axis = o.axis,
                                   .momentum = o.momentum,
                                   .epsilon = o.epsilon,
                                   .center = o.center,
                                   .scale = o.scale,
                                   .beta_initializer = o.beta_initializer,
                                   .gamma_initializer = o.gamma_initializer,
                                   .moving_mean_initializer = o.moving_mean_initializer,
                                   .moving_variance_initializer = o.moving_variance_initializer,
                                   .beta_regularizer = o.beta_regularizer,
                                   .gamma_regularizer = o.gamma_regularizer,
                                   .beta_constraint = o.beta_constraint,
                                   .gamma_constraint = o.gamma_constraint,
                                   .trainable = o.trainable},
      o.training);
}

Tensor dropout(const Operand& inputs, double rate, const DropoutOptions& o) {
  return k::Dropout(k::DropoutOptions{
      .rate = rate, .noise_shape = o.noise_shape, .seed = o.seed, .name = o.name})(
      inputs, {.training = o.training});
}
Tensor flatten(const Operand& inputs, const FlattenOptions& o) {
  return k::Flatten(k::FlattenOptions{.data_format = o.data_format, .name = o.name})(inputs);
}

Tensor max_pooling1d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& o) {
  return pooling<k::PoolingKind::max, 1>(inputs, pool_size, strides, o);
}
Tensor max_pooling2d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& o) {
  return pooling<k::PoolingKind::max, 2>(inputs, pool_size, strides, o);
}
Tensor max_pooling3d(const Operand& inputs, const nn::Sizes& pool_size, const nn::Sizes& strides,
                     const PoolingOptions& o) {
  return pooling<k::PoolingKind::max, 3>(inputs, pool_size, strides, o);
}
Tensor average_pooling1d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& o) {
  return pooling<k::PoolingKind::average, 1>(inputs, pool_size, strides, o);
}
Tensor average_pooling2d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& o) {
  return pooling<k::PoolingKind::average, 2>(inputs, pool_size, strides, o);
}
Tensor average_pooling3d(const Operand& inputs, const nn::Sizes& pool_size,
                         const nn::Sizes& strides, const PoolingOptions& o) {
  return pooling<k::PoolingKind::average, 3>(inputs, pool_size, strides, o);
}

}  // namespace rill::compat::v1::layers
