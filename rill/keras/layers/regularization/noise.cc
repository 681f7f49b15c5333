// Layers of random numbers, and the penalty on activities.
#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/regularization.h"
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
// The sizes of x, known ones without a read.
Tensor sizes_of(const Tensor& x) {
  return x.shape().is_fully_defined() ? constant(x.shape().as_list()) : shape(x);
}

struct SpatialDropoutFields {
  using Options = layers::SpatialDropoutOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("rate", o.rate);
    f.always_in_keras2("noise_shape", {});
    f("seed", o.seed, NullBelow<0>());
    // Keras writes nothing of it, but reads it.
    f.written_if(o.data_format == "channels_first", "data_format", o.data_format);
    // It has no weights, and Keras 3 does not take it.
    f.for_keras3([](Config& c) { c.erase("trainable"); });
  }
};

class SpatialDropoutLayer : public LayerImpl {
 public:
  SpatialDropoutLayer(int axes, const layers::SpatialDropoutOptions& o)
      : LayerImpl(format("SpatialDropout{}D", axes), common(o)),
        o_(o),
        channels_first_(is_channels_first(class_name(), o.data_format)) {
    check_rate(class_name(), o_.rate);
    supports_masking = true;
    input_spec.ndim = axes + 2;
    shared_ = TensorShape::unknown_dims(axes + 2);
    for (int i = 0; i < axes; ++i) shared_.set_dim(i + (channels_first_ ? 2 : 1), 1);
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || o_.rate == 0) return x;
    if (o_.rate == 1) return zeros_like(x);
    return nn::dropout(x, o_.rate, {.noise_shape = shared_, .seed = o_.seed});
  }
  void add_config(Config& c) const override { write_fields<SpatialDropoutFields>(o_, c); }

 private:
  layers::SpatialDropoutOptions o_;
  bool channels_first_;
  TensorShape shared_;  // 1 where one decision stands for the axis
};

struct GaussianNoiseFields {
  using Options = layers::GaussianNoiseOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("stddev", o.stddev);
    f("seed", o.seed, NullBelow<0>());
  }
};

class GaussianNoiseLayer : public LayerImpl {
 public:
  explicit GaussianNoiseLayer(const layers::GaussianNoiseOptions& o)
      : LayerImpl("GaussianNoise", common(o)), o_(o) {
    RILL_CHECK(o_.stddev >= 0, invalid_argument, "[GaussianNoise] stddev is {}; expected 0 or more",
               o_.stddev);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training) return x;
    return x + random::normal(sizes_of(x), 0, o_.stddev, {.dtype = x.dtype(), .seed = o_.seed});
  }
  void add_config(Config& c) const override { write_fields<GaussianNoiseFields>(o_, c); }

 private:
  layers::GaussianNoiseOptions o_;
};

struct GaussianDropoutFields {
  using Options = layers::GaussianDropoutOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("rate", o.rate);
    f("seed", o.seed, NullBelow<0>());
  }
};

class GaussianDropoutLayer : public LayerImpl {
 public:
  explicit GaussianDropoutLayer(const layers::GaussianDropoutOptions& o)
      : LayerImpl("GaussianDropout", common(o)), o_(o) {
    check_rate("GaussianDropout", o_.rate);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || o_.rate <= 0 || o_.rate >= 1) return x;
    const double stddev = std::sqrt(o_.rate / (1 - o_.rate));
    return x * random::normal(sizes_of(x), 1, stddev, {.dtype = x.dtype(), .seed = o_.seed});
  }
  void add_config(Config& c) const override { write_fields<GaussianDropoutFields>(o_, c); }

 private:
  layers::GaussianDropoutOptions o_;
};

struct AlphaDropoutFields {
  using Options = layers::DropoutOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("rate", o.rate);
    f("seed", o.seed, NullBelow<0>());
    f.written_if(o.noise_shape.has_rank(), "noise_shape", o.noise_shape);
  }
};

class AlphaDropoutLayer : public LayerImpl {
 public:
  explicit AlphaDropoutLayer(const layers::DropoutOptions& o)
      : LayerImpl("AlphaDropout", common(o)), o_(o) {
    check_rate("AlphaDropout", o_.rate);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext& context) override {
    if (!context.training || o_.rate <= 0 || o_.rate >= 1) return x;
    // What selu gives for minus infinity takes the place of what is dropped; a and b bring mean
    // and variance back.
    const double low = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
    const double a = 1 / std::sqrt((1 - o_.rate) * (1 + o_.rate * low * low)),
                 b = -a * low * o_.rate;
    const Tensor kept = random::uniform(noise_sizes(x), 0, 1, {.seed = o_.seed}) >= o_.rate;
    return where(kept, x, constant(low, x.dtype())) * a + b;
  }
  void add_config(Config& c) const override { write_fields<AlphaDropoutFields>(o_, c); }

 private:
  Tensor noise_sizes(const Tensor& x) const {
    if (!o_.noise_shape.has_rank()) return sizes_of(x);
    std::vector<Tensor> parts;
    const Tensor sizes = shape(x);
    for (int i = 0; i < o_.noise_shape.rank(); ++i)
      parts.push_back(
          o_.noise_shape.dim(i) < 0 ? sizes[i] : constant(static_cast<int>(o_.noise_shape.dim(i))));
    return stack(parts);
  }
  layers::DropoutOptions o_;
};

struct ActivityRegularizationFields {
  using Options = layers::ActivityRegularizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("l1", o.l1);
    f("l2", o.l2);
  }
};

class ActivityRegularizationLayer : public LayerImpl {
 public:
  explicit ActivityRegularizationLayer(const layers::ActivityRegularizationOptions& o)
      : LayerImpl("ActivityRegularization", common(o)), o_(o) {
    supports_masking = true;
    activity_regularizer = regularizers::L1L2({.l1 = o_.l1, .l2 = o_.l2});
  }
  Tensor call(const Tensor& x, const CallContext&) override { return x; }
  void add_config(Config& c) const override { write_fields<ActivityRegularizationFields>(o_, c); }

 private:
  layers::ActivityRegularizationOptions o_;
};

const RegisterFields<SpatialDropoutFields, layers::SpatialDropout<1>> spatial1("SpatialDropout1D");
const RegisterFields<SpatialDropoutFields, layers::SpatialDropout<2>> spatial2("SpatialDropout2D");
const RegisterFields<SpatialDropoutFields, layers::SpatialDropout<3>> spatial3("SpatialDropout3D");
const RegisterFields<GaussianNoiseFields, layers::GaussianNoise> noise("GaussianNoise");
const RegisterFields<GaussianDropoutFields, layers::GaussianDropout> gaussian("GaussianDropout");
const RegisterFields<AlphaDropoutFields, layers::AlphaDropout> alpha("AlphaDropout");
const RegisterFields<ActivityRegularizationFields, layers::ActivityRegularization> activity(
    "ActivityRegularization");

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
