#include "rill/keras/layers/pooling.h"
#include "rill/keras/layers/fields_impl.h"

#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

namespace {

using layers::PoolingKind;

struct PoolingFields {
  using Options = layers::PoolingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("pool_size", o.pool_size);
    f("padding", o.padding);
    f("strides", o.strides);
    f("data_format", o.data_format);
  }
};

class PoolingLayer : public LayerImpl {
 public:
  PoolingLayer(PoolingKind kind, int axes, const layers::PoolingOptions& o)
      : LayerImpl(format("{}Pooling{}D", kind == PoolingKind::max ? "Max" : "Average", axes),
                  common(o)),
        kind_(kind),
        axes_(axes),
        o_(o),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    o_.pool_size = per_axis(class_name(), "pool_size", o.pool_size, axes);
    o_.strides = o.strides.list().empty()
                     ? o_.pool_size
                     : nn::Sizes(per_axis(class_name(), "strides", o.strides, axes));
    o_.padding = checked_padding(class_name(), o.padding);
    o_.data_format = data_format_name(channels_first_);
    input_spec.ndim = axes + 2;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    static const char* const formats[] = {"NWC", "NHWC", "NDHWC", "NCW", "NCHW", "NCDHW"};
    const nn::PoolOptions o{.data_format = formats[axes_ - 1 + (channels_first_ ? 3 : 0)]};
    const char* padding = o_.padding == "same" ? "SAME" : "VALID";
    const bool max = kind_ == PoolingKind::max;
    const auto pool = axes_ == 1   ? (max ? nn::max_pool1d : nn::avg_pool1d)
                      : axes_ == 2 ? (max ? nn::max_pool2d : nn::avg_pool2d)
                                   : (max ? nn::max_pool3d : nn::avg_pool3d);
    return pool(x, o_.pool_size, o_.strides, padding, o);
  }
  void add_config(Config& c) const override { write_fields<PoolingFields>(o_, c); }

 private:
  PoolingKind kind_;
  int axes_;
  layers::PoolingOptions o_;
  bool channels_first_;
};

constexpr PoolingKind kMax = PoolingKind::max, kAverage = PoolingKind::average;
template <PoolingKind kind, int axes>
using RegisterPooling = RegisterFields<PoolingFields, layers::Pooling<kind, axes>>;
const RegisterPooling<kMax, 1> max1("MaxPooling1D");
const RegisterPooling<kMax, 2> max2("MaxPooling2D");
const RegisterPooling<kMax, 3> max3("MaxPooling3D");
const RegisterPooling<kAverage, 1> average1("AveragePooling1D");
const RegisterPooling<kAverage, 2> average2("AveragePooling2D");
const RegisterPooling<kAverage, 3> average3("AveragePooling3D");

}  // namespace

template <layers::PoolingKind kind, int axes>
layers::Pooling<kind, axes>::Pooling(PoolingOptions o)
    : Layer(this, new PoolingLayer(kind, axes, o)) {}
template class layers::Pooling<kMax, 1>;
template class layers::Pooling<kMax, 2>;
template class layers::Pooling<kMax, 3>;
template class layers::Pooling<kAverage, 1>;
template class layers::Pooling<kAverage, 2>;
template class layers::Pooling<kAverage, 3>;

}  // namespace rill::keras
