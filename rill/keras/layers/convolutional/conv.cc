#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"

namespace rill::keras {

namespace {

class PlainConv : public ConvLayer {
 public:
  PlainConv(int axes, const layers::ConvOptions& o)
      : ConvLayer(format("Conv{}D", axes), axes, o, axes == 1), o_(o) {
    check_filters(class_name(), o_.filters);
    RILL_CHECK(o_.groups >= 1 && o_.filters % o_.groups == 0, invalid_argument,
               "[{}] filters is {} and groups {}; expected a number of filters that groups divides",
               class_name(), o_.filters, o_.groups);
    input_spec.ndim = -1;
    input_spec.min_ndim = axes + 2;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = take_channels(shapes[0]);
    RILL_CHECK(in % o_.groups == 0, invalid_argument,
               "[{}] the input of shape {} has {} channels, which do not divide into {} groups",
               name(), shapes[0], in, o_.groups);
    kernel_ = add_weight("kernel", kernel_shape(in / o_.groups, o_.filters),
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    add_bias(o_.filters);
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    return finish(nn::convolution(as_image(x), as_image_filter(kernel_), op_sizes(strides_),
                                  op_padding(), op_options()));
  }

  void add_config(Config& c) const override {
    c.set("filters", o_.filters);
    add_window_config(c, o_.groups);
    c.set("kernel_initializer", serialize(o_.kernel_initializer));
    c.set("bias_initializer", serialize(o_.bias_initializer));
    c.set("kernel_regularizer", o_.kernel_regularizer.serialize());
    c.set("bias_regularizer", o_.bias_regularizer.serialize());
    c.set("activity_regularizer", o_.activity_regularizer.serialize());
    c.set("kernel_constraint", o_.kernel_constraint.serialize());
    c.set("bias_constraint", o_.bias_constraint.serialize());
  }

 private:
  layers::ConvOptions o_;
  Variable kernel_;
};

template <int axes>
LayerRef from_config(const Config& c) {
  auto o = from_common<layers::ConvOptions>(c);
  read_conv(o, c);
  read_kernel(o, c);
  o.groups = c.get("groups", 1);
  return layers::Conv<axes>(std::move(o));
}
const RegisterLayer conv1d("Conv1D", from_config<1>), conv2d("Conv2D", from_config<2>),
    conv3d("Conv3D", from_config<3>);
// As older files name them.
const RegisterLayer convolution1d("Convolution1D", from_config<1>),
    convolution2d("Convolution2D", from_config<2>), convolution3d("Convolution3D", from_config<3>);

}  // namespace

template <int axes>
layers::Conv<axes>::Conv(ConvOptions o) : Layer(this, new PlainConv(axes, o)) {}
template class layers::Conv<1>;
template class layers::Conv<2>;
template class layers::Conv<3>;

}  // namespace rill::keras
