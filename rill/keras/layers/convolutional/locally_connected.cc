#include "rill/base/check.h"
#include "rill/keras/layers/convolutional/conv_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct LocallyConnectedFields {
  using Options = layers::LocallyConnectedOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("filters", o.filters);
    f.required("kernel_size", o.kernel_size);
    f("strides", o.strides);
    f("padding", o.padding);
    f("data_format", o.data_format);
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    visit_kernel_and_bias(f, o);
    f("implementation", o.implementation);
  }
};

class LocallyConnectedLayer : public LayerImpl {
 public:
  LocallyConnectedLayer(int axes, const layers::LocallyConnectedOptions& o)
      : LayerImpl(format("LocallyConnected{}D", axes), common(o)), axes_(axes), o_(o) {
    check_filters(class_name(), o_.filters);
    o_.kernel_size = per_axis(class_name(), "kernel_size", o.kernel_size, axes);
    o_.strides = per_axis(class_name(), "strides", o.strides, axes);
    o_.padding = checked_padding(class_name(), o.padding);
    channels_first_ = is_channels_first(class_name(), o.data_format);
    o_.data_format = data_format_name(channels_first_);
    RILL_CHECK(o_.implementation >= 1 && o_.implementation <= 3, invalid_argument,
               "[{}] implementation is {}; expected 1", class_name(), o_.implementation);
    RILL_CHECK(o_.implementation == 1, unimplemented,
               "[{}] implementation = {} keeps its weights in another shape; only 1 is there",
               class_name(), o_.implementation);
    RILL_CHECK(o_.padding == "valid", invalid_argument,
               "[{}] padding is \"{}\"; expected \"valid\": filters would hang over the border",
               class_name(), o_.padding);
    activity_regularizer = o.activity_regularizer;
    input_spec.ndim = axes + 2;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    const int channel_axis = channels_first_ ? 1 : axes_ + 1;
    const std::int64_t in = input.dim(channel_axis);
    RILL_CHECK(in >= 0, invalid_argument,
               "[{}] the channel dimension of the inputs should be defined; got an input of shape "
               "{}",
               name(), input);
    std::int64_t count = 1, taps = in;
    TensorShape bias = TensorShape::scalar();
    places_.clear();
    for (int i = 0; i < axes_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t n = input.dim(i + (channels_first_ ? 2 : 1)),
                         k = o_.kernel_size.list()[at];
      RILL_CHECK(n >= k, invalid_argument,
                 "[{}] the input has shape {}; expected images of a known size, at least {} along "
                 "axis {} of the image: there is a filter for each place",
                 name(), input, k, i);
      places_.push_back((n - k) / o_.strides.list()[at] + 1);
      input_spec.axes.emplace_back(i + (channels_first_ ? 2 : 1), n);
      count *= places_.back();
      taps *= k;
      bias.push_back(places_.back());
    }
    input_spec.axes.emplace_back(channel_axis, in);
    bias.push_back(o_.filters);
    kernel_ = add_weight("kernel", {count, taps, o_.filters},
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    if (o_.use_bias)
      bias_ = add_weight("bias", bias,
                         {.initializer = o_.bias_initializer,
                          .regularizer = o_.bias_regularizer,
                          .constraint = o_.bias_constraint});
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    // [places, batch, taps] x [places, taps, filters]
    const Tensor y = matmul(patches(x), in_compute_dtype(kernel_));
    std::vector<std::int64_t> sizes = places_;
    sizes.push_back(-1), sizes.push_back(o_.filters);
    std::vector<int> order{axes_};  // the batch in front
    if (channels_first_) order.push_back(axes_ + 1);
    for (int i = 0; i < axes_; ++i) order.push_back(i);
    if (!channels_first_) order.push_back(axes_ + 1);
    Tensor image = transpose(reshape(y, constant(sizes)), order);
    if (o_.use_bias) image = image + placed_bias();
    return o_.activation(image);
  }

  void add_config(Config& c) const override { write_fields<LocallyConnectedFields>(o_, c); }

 private:
  // What each place sees, [places, batch, taps]; taps in the order of the input's axes.
  Tensor patches(const Tensor& x) const {
    Tensor windows = x;  // each axis of the image becomes two: places, taps
    const int first = channels_first_ ? 2 : 1;
    for (int i = 0; i < axes_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::vector<int> index;
      for (std::int64_t p = 0; p < places_[at]; ++p)
        for (int k = 0; k < o_.kernel_size.list()[at]; ++k)
          index.push_back(static_cast<int>(p) * o_.strides.list()[at] + k);
      windows = gather(windows, reshape(constant(index), {static_cast<int>(places_[at]), -1}),
                       {.axis = first + 2 * i});
    }
    std::vector<int> order;
    for (int i = 0; i < axes_; ++i) order.push_back(first + 2 * i);
    order.push_back(0);
    if (channels_first_) order.push_back(1);
    for (int i = 0; i < axes_; ++i) order.push_back(first + 2 * i + 1);
    if (!channels_first_) order.push_back(2 * axes_ + 1);
    const TensorShape& k = kernel_.shape();
    return reshape(transpose(windows, order),
                   constant(std::vector<std::int64_t>{k.dim(0), -1, k.dim(1)}));
  }
  // Keras puts a bias [places.., filters] on channels that come first by its bytes, not by axes.
  Tensor placed_bias() const {
    const Tensor b = in_compute_dtype(bias_);
    if (!channels_first_) return b;
    std::vector<std::int64_t> sizes{o_.filters};
    sizes.insert(sizes.end(), places_.begin(), places_.end());
    return reshape(b, constant(sizes));
  }

  int axes_;
  layers::LocallyConnectedOptions o_;
  bool channels_first_ = false;
  std::vector<std::int64_t> places_;
  Variable kernel_, bias_;
};

const RegisterFields<LocallyConnectedFields, layers::LocallyConnected<1>> locally_connected1d(
    "LocallyConnected1D");
const RegisterFields<LocallyConnectedFields, layers::LocallyConnected<2>> locally_connected2d(
    "LocallyConnected2D");

}  // namespace

template <int axes>
layers::LocallyConnected<axes>::LocallyConnected(LocallyConnectedOptions o)
    : Layer(this, new LocallyConnectedLayer(axes, o)) {}
template class layers::LocallyConnected<1>;
template class layers::LocallyConnected<2>;

}  // namespace rill::keras
