#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct ConvTransposeFields {
  using Options = layers::ConvTransposeOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("filters", o.filters);
    visit_window(f, o);
    visit_kernel_and_bias(f, o);
    f("output_padding", o.output_padding);
  }
};

class TransposedConv : public ConvLayer {
 public:
  TransposedConv(int axes, const layers::ConvTransposeOptions& o)
      : ConvLayer(format("Conv{}DTranspose", axes), axes, o), o_(normalised(o)) {
    check_filters(class_name(), o_.filters);
    if (o_.output_padding.list().empty()) return;
    output_padding_ = per_axis(class_name(), "output_padding", o_.output_padding, axes, 0);
    o_.output_padding = output_padding_;
    for (std::size_t i = 0; i < output_padding_.size(); ++i)
      RILL_CHECK(output_padding_[i] < strides_[i], invalid_argument,
                 "[{}] output_padding is {} where strides is {}; expected less than the stride",
                 class_name(), output_padding_[i], strides_[i]);
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = take_channels(shapes[0]);
    kernel_ = add_weight("kernel", kernel_shape(o_.filters, in),
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    add_bias(o_.filters);
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    const Tensor image = as_image(x);
    const TensorShape sizes = output_sizes(image.shape());
    const Tensor y =
        nn::conv_transpose(image, as_image_filter(kernel_), as_tensor(sizes, image),
                           op_sizes(strides_), padding_ == "same" ? "SAME" : "VALID", op_options());
    if (!y.shape().is_fully_defined()) y.set_shape(sizes);
    return finish(y);
  }

  void add_config(Config& c) const override { write_fields<ConvTransposeFields>(o_, c); }

 private:
  // A size n of the i-th axis becomes n * stride plus this.
  std::int64_t growth(std::size_t i) const {
    const int reach = (kernel_size_[i] - 1) * dilation_rate_[i] + 1;
    if (output_padding_.empty()) return padding_ == "same" ? 0 : std::max(reach - strides_[i], 0);
    return reach - strides_[i] + output_padding_[i] - (padding_ == "same" ? reach / 2 * 2 : 0);
  }
  int image_axis(std::size_t i) const {
    return static_cast<int>(i) + (channels_first_ ? 2 : 1) + (axes_ == 1);
  }
  TensorShape output_sizes(TensorShape s) const {
    for (std::size_t i = 0; i < kernel_size_.size(); ++i)
      if (const int a = image_axis(i); s.dim(a) >= 0)
        s.set_dim(a, s.dim(a) * strides_[i] + growth(i));
    s.set_dim(channels_first_ ? 1 : s.rank() - 1, o_.filters);
    return s;
  }
  Tensor as_tensor(const TensorShape& sizes, const Tensor& image) const {
    if (sizes.is_fully_defined()) return cast(constant(sizes.as_list()), int32);
    const Tensor given = shape(image);
    std::vector<Tensor> parts;
    for (int i = 0; i < sizes.rank(); ++i)
      parts.push_back(sizes.dim(i) < 0 ? given[i] : constant(static_cast<int>(sizes.dim(i))));
    for (std::size_t i = 0; i < kernel_size_.size(); ++i)
      if (const int a = image_axis(i); sizes.dim(a) < 0) {
        Tensor& part = parts[static_cast<std::size_t>(a)];
        part = part * strides_[i] + static_cast<int>(growth(i));
      }
    return stack(parts);
  }

  layers::ConvTransposeOptions o_;
  std::vector<int> output_padding_;
  Variable kernel_;
};

const RegisterFields<ConvTransposeFields, layers::ConvTranspose<1>> conv1d_transpose(
    "Conv1DTranspose", "Convolution1DTranspose");
const RegisterFields<ConvTransposeFields, layers::ConvTranspose<2>> conv2d_transpose(
    "Conv2DTranspose", "Convolution2DTranspose");
const RegisterFields<ConvTransposeFields, layers::ConvTranspose<3>> conv3d_transpose(
    "Conv3DTranspose", "Convolution3DTranspose");

}  // namespace

template <int axes>
layers::ConvTranspose<axes>::ConvTranspose(ConvTransposeOptions o)
    : Layer(this, new TransposedConv(axes, o)) {}
template class layers::ConvTranspose<1>;
template class layers::ConvTranspose<2>;
template class layers::ConvTranspose<3>;

}  // namespace rill::keras
