#include "rill/keras/layers/pooling.h"

#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"

namespace rill::keras {

namespace {

using layers::PoolingKind;

class PoolingLayer : public LayerImpl {
 public:
  PoolingLayer(PoolingKind kind, int axes, const layers::PoolingOptions& o)
      : LayerImpl(format("{}Pooling{}D", kind == PoolingKind::max ? "Max" : "Average", axes),
                  common(o)),
        kind_(kind),
        axes_(axes),
        pool_size_(per_axis(class_name(), "pool_size", o.pool_size, axes)),
        strides_(o.strides.list().empty() ? pool_size_
                                          : per_axis(class_name(), "strides", o.strides, axes)),
        padding_(checked_padding(class_name(), o.padding)),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    input_spec.ndim = axes + 2;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    static const char* const formats[] = {"NWC", "NHWC", "NDHWC", "NCW", "NCHW", "NCDHW"};
    const nn::PoolOptions o{.data_format = formats[axes_ - 1 + (channels_first_ ? 3 : 0)]};
    const char* padding = padding_ == "same" ? "SAME" : "VALID";
    const bool max = kind_ == PoolingKind::max;
    const auto pool = axes_ == 1   ? (max ? nn::max_pool1d : nn::avg_pool1d)
                      : axes_ == 2 ? (max ? nn::max_pool2d : nn::avg_pool2d)
                                   : (max ? nn::max_pool3d : nn::avg_pool3d);
    return pool(x, pool_size_, strides_, padding, o);
  }
  void add_config(Config& c) const override {
    c.set("pool_size", Config::list_of(pool_size_));
    c.set("padding", padding_);
    c.set("strides", Config::list_of(strides_));
    c.set("data_format", data_format_name(channels_first_));
  }

 private:
  PoolingKind kind_;
  int axes_;
  std::vector<int> pool_size_, strides_;
  std::string padding_;
  bool channels_first_;
};

template <PoolingKind kind, int axes>
LayerRef from_config(const Config& c) {
  auto o = from_common<layers::PoolingOptions>(c);
  o.pool_size = sizes_from(c["pool_size"]);
  o.strides = sizes_from(c.get("strides"));
  o.padding = c.get("padding", "valid");
  o.data_format = c.get("data_format", "channels_last");
  return layers::Pooling<kind, axes>(std::move(o));
}
constexpr PoolingKind kMax = PoolingKind::max, kAverage = PoolingKind::average;
const RegisterLayer max1("MaxPooling1D", from_config<kMax, 1>),
    max2("MaxPooling2D", from_config<kMax, 2>), max3("MaxPooling3D", from_config<kMax, 3>),
    average1("AveragePooling1D", from_config<kAverage, 1>),
    average2("AveragePooling2D", from_config<kAverage, 2>),
    average3("AveragePooling3D", from_config<kAverage, 3>);

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
