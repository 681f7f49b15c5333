#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

void check_multiplier(std::string_view class_name, std::int64_t depth_multiplier) {
  RILL_CHECK(depth_multiplier > 0, invalid_argument,
             "[{}] depth_multiplier is {}; expected a positive number of filters a channel",
             class_name, depth_multiplier);
}

struct DepthwiseFields {
  using Options = layers::DepthwiseConvOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    visit_window(f, o);
    f("bias_initializer", o.bias_initializer);
    f("bias_regularizer", o.bias_regularizer);
    f("activity_regularizer", o.activity_regularizer);
    f("bias_constraint", o.bias_constraint);
    f("depth_multiplier", o.depth_multiplier);
    f("depthwise_initializer", o.depthwise_initializer);
    f("depthwise_regularizer", o.depthwise_regularizer);
    f("depthwise_constraint", o.depthwise_constraint);
  }
};

class DepthwiseLayer : public ConvLayer {
 public:
  DepthwiseLayer(int axes, const layers::DepthwiseConvOptions& o)
      : ConvLayer(format("DepthwiseConv{}D", axes), axes, o), o_(normalised(o)) {
    check_multiplier(class_name(), o_.depth_multiplier);
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = take_channels(shapes[0]);
    kernel_ = add_weight("depthwise_kernel", kernel_shape(in, o_.depth_multiplier),
                         {.initializer = o_.depthwise_initializer,
                          .regularizer = o_.depthwise_regularizer,
                          .constraint = o_.depthwise_constraint});
    add_bias(in * o_.depth_multiplier);
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return finish(nn::depthwise_conv2d(as_image(x), as_image_filter(kernel_), op_sizes(strides_),
                                       op_padding(), op_options()));
  }
  void add_config(Config& c) const override { write_fields<DepthwiseFields>(o_, c); }

 private:
  layers::DepthwiseConvOptions o_;
  Variable kernel_;
};

struct SeparableFields {
  using Options = layers::SeparableConvOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("filters", o.filters);
    visit_window(f, o);
    // Keras 2 writes down a kernel that this layer does not have.
    f.always_in_keras2("kernel_initializer", serialize(Initializer("glorot_uniform")));
    f("bias_initializer", o.bias_initializer);
    f.always_in_keras2("kernel_regularizer", {});
    f("bias_regularizer", o.bias_regularizer);
    f("activity_regularizer", o.activity_regularizer);
    f.always_in_keras2("kernel_constraint", {});
    f("bias_constraint", o.bias_constraint);
    f("depth_multiplier", o.depth_multiplier);
    f("depthwise_initializer", o.depthwise_initializer);
    f("pointwise_initializer", o.pointwise_initializer);
    f("depthwise_regularizer", o.depthwise_regularizer);
    f("pointwise_regularizer", o.pointwise_regularizer);
    f("depthwise_constraint", o.depthwise_constraint);
    f("pointwise_constraint", o.pointwise_constraint);
  }
};

class SeparableLayer : public ConvLayer {
 public:
  SeparableLayer(int axes, const layers::SeparableConvOptions& o)
      : ConvLayer(format("SeparableConv{}D", axes), axes, o, axes == 1), o_(normalised(o)) {
    check_filters(class_name(), o_.filters);
    check_multiplier(class_name(), o_.depth_multiplier);
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = take_channels(shapes[0]);
    depthwise_ = add_weight("depthwise_kernel", kernel_shape(in, o_.depth_multiplier),
                            {.initializer = o_.depthwise_initializer,
                             .regularizer = o_.depthwise_regularizer,
                             .constraint = o_.depthwise_constraint});
    TensorShape point = kernel_shape(in * o_.depth_multiplier, o_.filters);
    for (int i = 0; i < axes_; ++i) point.set_dim(i, 1);
    pointwise_ = add_weight("pointwise_kernel", point,
                            {.initializer = o_.pointwise_initializer,
                             .regularizer = o_.pointwise_regularizer,
                             .constraint = o_.pointwise_constraint});
    add_bias(o_.filters);
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return finish(nn::separable_conv2d(as_image(x), as_image_filter(depthwise_),
                                       as_image_filter(pointwise_), op_sizes(strides_),
                                       op_padding(), op_options()));
  }
  void add_config(Config& c) const override { write_fields<SeparableFields>(o_, c); }

 private:
  layers::SeparableConvOptions o_;
  Variable depthwise_, pointwise_;
};

const RegisterFields<DepthwiseFields, layers::DepthwiseConv<1>> depthwise1d("DepthwiseConv1D");
const RegisterFields<DepthwiseFields, layers::DepthwiseConv<2>> depthwise2d("DepthwiseConv2D");
const RegisterFields<SeparableFields, layers::SeparableConv<1>> separable1d(
    "SeparableConv1D", "SeparableConvolution1D");
const RegisterFields<SeparableFields, layers::SeparableConv<2>> separable2d(
    "SeparableConv2D", "SeparableConvolution2D");

}  // namespace

template <int axes>
layers::DepthwiseConv<axes>::DepthwiseConv(DepthwiseConvOptions o)
    : Layer(this, new DepthwiseLayer(axes, o)) {}
template class layers::DepthwiseConv<1>;
template class layers::DepthwiseConv<2>;
template <int axes>
layers::SeparableConv<axes>::SeparableConv(SeparableConvOptions o)
    : Layer(this, new SeparableLayer(axes, o)) {}
template class layers::SeparableConv<1>;
template class layers::SeparableConv<2>;

}  // namespace rill::keras
