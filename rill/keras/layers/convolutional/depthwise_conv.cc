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

class DepthwiseLayer : public ConvLayer {
 public:
  DepthwiseLayer(int axes, const layers::DepthwiseConvOptions& o)
      : ConvLayer(format("DepthwiseConv{}D", axes), axes, o), o_(o) {
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
  void add_config(Config& c) const override {
    add_window_config(c, 1);
    c.set("bias_initializer", serialize(o_.bias_initializer));
    c.set("bias_regularizer", o_.bias_regularizer.serialize());
    c.set("activity_regularizer", o_.activity_regularizer.serialize());
    c.set("bias_constraint", o_.bias_constraint.serialize());
    c.set("depth_multiplier", o_.depth_multiplier);
    c.set("depthwise_initializer", serialize(o_.depthwise_initializer));
    c.set("depthwise_regularizer", o_.depthwise_regularizer.serialize());
    c.set("depthwise_constraint", o_.depthwise_constraint.serialize());
  }

 private:
  layers::DepthwiseConvOptions o_;
  Variable kernel_;
};

class SeparableLayer : public ConvLayer {
 public:
  SeparableLayer(int axes, const layers::SeparableConvOptions& o)
      : ConvLayer(format("SeparableConv{}D", axes), axes, o, axes == 1), o_(o) {
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
  void add_config(Config& c) const override {
    c.set("filters", o_.filters);
    add_window_config(c, 1);
    // Keras writes down a kernel that this layer does not have.
    c.set("kernel_initializer", serialize(Initializer("glorot_uniform")));
    c.set("bias_initializer", serialize(o_.bias_initializer));
    c.set("kernel_regularizer", {});
    c.set("bias_regularizer", o_.bias_regularizer.serialize());
    c.set("activity_regularizer", o_.activity_regularizer.serialize());
    c.set("kernel_constraint", {});
    c.set("bias_constraint", o_.bias_constraint.serialize());
    c.set("depth_multiplier", o_.depth_multiplier);
    c.set("depthwise_initializer", serialize(o_.depthwise_initializer));
    c.set("pointwise_initializer", serialize(o_.pointwise_initializer));
    c.set("depthwise_regularizer", o_.depthwise_regularizer.serialize());
    c.set("pointwise_regularizer", o_.pointwise_regularizer.serialize());
    c.set("depthwise_constraint", o_.depthwise_constraint.serialize());
    c.set("pointwise_constraint", o_.pointwise_constraint.serialize());
  }

 private:
  layers::SeparableConvOptions o_;
  Variable depthwise_, pointwise_;
};

template <int axes>
LayerRef depthwise_from_config(const Config& c) {
  auto o = from_common<layers::DepthwiseConvOptions>(c);
  read_conv(o, c);
  read_depthwise(o, c);
  return layers::DepthwiseConv<axes>(std::move(o));
}
template <int axes>
LayerRef separable_from_config(const Config& c) {
  auto o = from_common<layers::SeparableConvOptions>(c);
  read_conv(o, c);
  read_depthwise(o, c);
  o.filters = c["filters"].as_int();
  o.pointwise_initializer =
      deserialize_initializer(c.get("pointwise_initializer"), o.pointwise_initializer);
  o.pointwise_regularizer = Regularizer::deserialize(c.get("pointwise_regularizer"));
  o.pointwise_constraint = Constraint::deserialize(c.get("pointwise_constraint"));
  return layers::SeparableConv<axes>(std::move(o));
}
const RegisterLayer depthwise1d("DepthwiseConv1D", depthwise_from_config<1>),
    depthwise2d("DepthwiseConv2D", depthwise_from_config<2>),
    separable1d("SeparableConv1D", separable_from_config<1>),
    separable2d("SeparableConv2D", separable_from_config<2>),
    separable_convolution1d("SeparableConvolution1D", separable_from_config<1>),
    separable_convolution2d("SeparableConvolution2D", separable_from_config<2>);

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
