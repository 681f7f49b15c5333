// Layers of random numbers, and the penalty on activities.
#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/regularization.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"

namespace rill::keras {

namespace {

void check_rate(std::string_view class_name, double rate) {
  RILL_CHECK(rate >= 0 && rate <= 1, invalid_argument,
             "[{}] rate is {}; expected the share to drop, from 0 to 1", class_name, rate);
}
Config seed_config(std::int64_t seed) { return seed < 0 ? Config() : Config(seed); }
// The sizes of x, known ones without a read.
Tensor sizes_of(const Tensor& x) {
  return x.shape().is_fully_defined() ? constant(x.shape().as_list()) : shape(x);
}

class SpatialDropoutLayer : public LayerImpl {
 public:
  SpatialDropoutLayer(int axes, const layers::SpatialDropoutOptions& o)
      : LayerImpl(format("SpatialDropout{}D", axes), common(o)),
        rate_(o.rate),
        seed_(o.seed),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    check_rate(class_name(), rate_);
    supports_masking = true;
    input_spec.ndim = axes + 2;
    shared_ = TensorShape::unknown_dims(axes + 2);
    for (int i = 0; i < axes; ++i) shared_.set_dim(i + (channels_first_ ? 2 : 1), 1);
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || rate_ == 0) return x;
    if (rate_ == 1) return zeros_like(x);
    return nn::dropout(x, rate_, {.noise_shape = shared_, .seed = seed_});
  }
  void add_config(Config& c) const override {
    c.set("rate", rate_);
    c.set("noise_shape", {});
    c.set("seed", seed_config(seed_));
    // Keras writes nothing of it, but reads it.
    if (channels_first_) c.set("data_format", "channels_first");
  }

 private:
  double rate_;
  std::int64_t seed_;
  bool channels_first_;
  TensorShape shared_;  // 1 where one decision stands for the axis
};

class GaussianNoiseLayer : public LayerImpl {
 public:
  explicit GaussianNoiseLayer(const layers::GaussianNoiseOptions& o)
      : LayerImpl("GaussianNoise", common(o)), stddev_(o.stddev), seed_(o.seed) {
    RILL_CHECK(stddev_ >= 0, invalid_argument, "[GaussianNoise] stddev is {}; expected 0 or more",
               stddev_);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training) return x;
    return x + random::normal(sizes_of(x), 0, stddev_, {.dtype = x.dtype(), .seed = seed_});
  }
  void add_config(Config& c) const override {
    c.set("stddev", stddev_);
    c.set("seed", seed_config(seed_));
  }

 private:
  double stddev_;
  std::int64_t seed_;
};

class GaussianDropoutLayer : public LayerImpl {
 public:
  explicit GaussianDropoutLayer(const layers::GaussianDropoutOptions& o)
      : LayerImpl("GaussianDropout", common(o)), rate_(o.rate), seed_(o.seed) {
    check_rate("GaussianDropout", rate_);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || rate_ <= 0 || rate_ >= 1) return x;
    const double stddev = std::sqrt(rate_ / (1 - rate_));
    return x * random::normal(sizes_of(x), 1, stddev, {.dtype = x.dtype(), .seed = seed_});
  }
  void add_config(Config& c) const override {
    c.set("rate", rate_);
    c.set("seed", seed_config(seed_));
  }

 private:
  double rate_;
  std::int64_t seed_;
};

class AlphaDropoutLayer : public LayerImpl {
 public:
  explicit AlphaDropoutLayer(const layers::DropoutOptions& o)
      : LayerImpl("AlphaDropout", common(o)),
        rate_(o.rate),
        noise_shape_(o.noise_shape),
        seed_(o.seed) {
    check_rate("AlphaDropout", rate_);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || rate_ <= 0 || rate_ >= 1) return x;
    // What selu gives for minus infinity takes the place of what is dropped; a and b bring mean
    // and variance back.
    const double low = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
    const double a = 1 / std::sqrt((1 - rate_) * (1 + rate_ * low * low)), b = -a * low * rate_;
    const Tensor kept = random::uniform(noise_sizes(x), 0, 1, {.seed = seed_}) >= rate_;
    return where(kept, x, constant(low, x.dtype())) * a + b;
  }
  void add_config(Config& c) const override {
    c.set("rate", rate_);
    c.set("seed", seed_config(seed_));
    if (noise_shape_.has_rank()) c.set("noise_shape", noise_shape_);
  }

 private:
  Tensor noise_sizes(const Tensor& x) const {
    if (!noise_shape_.has_rank()) return sizes_of(x);
    std::vector<Tensor> parts;
    const Tensor sizes = shape(x);
    for (int i = 0; i < noise_shape_.rank(); ++i)
      parts.push_back(noise_shape_.dim(i) < 0 ? sizes[i]
                                              : constant(static_cast<int>(noise_shape_.dim(i))));
    return stack(parts);
  }
  double rate_;
  TensorShape noise_shape_;
  std::int64_t seed_;
};

class ActivityRegularizationLayer : public LayerImpl {
 public:
  explicit ActivityRegularizationLayer(const layers::ActivityRegularizationOptions& o)
      : LayerImpl("ActivityRegularization", common(o)), l1_(o.l1), l2_(o.l2) {
    supports_masking = true;
    activity_regularizer = regularizers::L1L2({.l1 = l1_, .l2 = l2_});
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x; }
  void add_config(Config& c) const override {
    c.set("l1", l1_);
    c.set("l2", l2_);
  }

 private:
  double l1_, l2_;
};

template <int axes>
LayerRef spatial_from_config(const Config& c) {
  auto o = from_common<layers::SpatialDropoutOptions>(c);
  o.rate = c["rate"].as_double();
  o.seed = c.get("seed", std::int64_t{-1});
  o.data_format = c.get("data_format", "channels_last");
  return layers::SpatialDropout<axes>(std::move(o));
}
const RegisterLayer spatial1("SpatialDropout1D", spatial_from_config<1>),
    spatial2("SpatialDropout2D", spatial_from_config<2>),
    spatial3("SpatialDropout3D", spatial_from_config<3>);
const RegisterLayer noise("GaussianNoise", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::GaussianNoiseOptions>(c);
  o.stddev = c["stddev"].as_double();
  o.seed = c.get("seed", std::int64_t{-1});
  return layers::GaussianNoise(std::move(o));
});
const RegisterLayer gaussian("GaussianDropout", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::GaussianDropoutOptions>(c);
  o.rate = c["rate"].as_double();
  o.seed = c.get("seed", std::int64_t{-1});
  return layers::GaussianDropout(std::move(o));
});
const RegisterLayer alpha("AlphaDropout", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::DropoutOptions>(c);
  o.rate = c["rate"].as_double();
  o.noise_shape = c.get("noise_shape").as_shape();
  o.seed = c.get("seed", std::int64_t{-1});
  return layers::AlphaDropout(std::move(o));
});
const RegisterLayer activity("ActivityRegularization", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::ActivityRegularizationOptions>(c);
  o.l1 = c.get("l1", 0.0);
  o.l2 = c.get("l2", 0.0);
  return layers::ActivityRegularization(std::move(o));
});

}  // namespace

template <int axes>
layers::SpatialDropout<axes>::SpatialDropout(SpatialDropoutOptions o)
    : Layer(this, new SpatialDropoutLayer(axes, o)) {}
template class layers::SpatialDropout<1>;
template class layers::SpatialDropout<2>;
template class layers::SpatialDropout<3>;
layers::GaussianNoise::GaussianNoise(GaussianNoiseOptions o)
    : Layer(this, new GaussianNoiseLayer(o)) {}
layers::GaussianNoise::GaussianNoise(double stddev, GaussianNoiseOptions o)
    : GaussianNoise((o.stddev = stddev, std::move(o))) {}
layers::GaussianDropout::GaussianDropout(GaussianDropoutOptions o)
    : Layer(this, new GaussianDropoutLayer(o)) {}
layers::GaussianDropout::GaussianDropout(double rate, GaussianDropoutOptions o)
    : GaussianDropout((o.rate = rate, std::move(o))) {}
layers::AlphaDropout::AlphaDropout(DropoutOptions o) : Layer(this, new AlphaDropoutLayer(o)) {}
layers::AlphaDropout::AlphaDropout(double rate, DropoutOptions o)
    : AlphaDropout((o.rate = rate, std::move(o))) {}
layers::ActivityRegularization::ActivityRegularization(ActivityRegularizationOptions o)
    : Layer(this, new ActivityRegularizationLayer(o)) {}

}  // namespace rill::keras
