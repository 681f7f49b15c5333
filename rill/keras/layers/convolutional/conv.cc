#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"

namespace rill::keras {

namespace {

struct ConvFields {
  using Options = layers::ConvOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("filters", o.filters);
    visit_window(f, o);
    visit_kernel_and_bias(f, o);
    visit_lora(f, o);
  }
};

class PlainConv : public ConvLayer {
 public:
  PlainConv(int axes, const layers::ConvOptions& o)
      : ConvLayer(format("Conv{}D", axes), axes, o, axes == 1), o_(normalised(o)) {
    check_filters(class_name(), o_.filters);
    RILL_CHECK(o_.groups >= 1 && o_.filters % o_.groups == 0, invalid_argument,
               "[{}] filters is {} and groups {}; expected a number of filters that groups divides",
               class_name(), o_.filters, o_.groups);
    lora = make_lora(*this, "kernel", o_.kernel_constraint, o_.lora_rank, o_.lora_alpha);
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
    begin_lora();
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    return finish(nn::convolution(as_image(x), as_image_filter(adapted_in_compute_dtype(kernel_)),
                                  op_sizes(strides_), op_padding(), op_options()));
  }

  void add_config(Config& c) const override { write_fields<ConvFields>(o_, c); }

 private:
  layers::ConvOptions o_;
  Variable kernel_;
};

// Older files name them otherwise.
const RegisterFields<ConvFields, layers::Conv<1>> conv1d("Conv1D", "Convolution1D");
const RegisterFields<ConvFields, layers::Conv<2>> conv2d("Conv2D", "Convolution2D");
const RegisterFields<ConvFields, layers::Conv<3>> conv3d("Conv3D", "Convolution3D");

}  // namespace

template <int axes>
layers::Conv<axes>::Conv(ConvOptions o) : Layer(this, new PlainConv(axes, o)) {}
template class layers::Conv<1>;
template class layers::Conv<2>;
template class layers::Conv<3>;

}  // namespace rill::keras
