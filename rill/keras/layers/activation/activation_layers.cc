#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/activations/activation.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/activation.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

// Keras keeps these numbers as float32 and writes them as that.
double in_float32(double v) { return static_cast<double>(static_cast<float>(v)); }
// A number, also as newer files write NumPy's: {"class_name": "__numpy__", "config": {"value": 0}}.
double number(const Config& c, double otherwise) {
  if (c.is_null()) return otherwise;
  return c.is_dict() ? number(c["config"]["value"], otherwise) : c.as_double();
}
void check_not_negative(const char* class_name, const char* argument, double v) {
  RILL_CHECK(v >= 0, invalid_argument, "[{}] {} is {}; expected 0 or more", class_name, argument,
             v);
}

class SoftmaxLayer : public LayerImpl {
 public:
  explicit SoftmaxLayer(const layers::SoftmaxOptions& o)
      : LayerImpl("Softmax", common(o)), axis_(o.axis.list()) {
    RILL_CHECK(!axis_.empty(), invalid_argument, "[Softmax] axis is empty");
    supports_masking = true;
  }
  Tensor call(const Tensor& given, const CallContext& context) override {
    Tensor x = given;
    if (context.mask.defined()) {
      const double hidden = x.dtype() == float16 ? -65504.0 : -1e9;
      x = x + (1 - cast(context.mask, x.dtype())) * hidden;
    }
    if (axis_.size() == 1) return activations::softmax(x, axis_[0]);
    return exp(x - reduce_logsumexp(x, axis_, {.keepdims = true}));
  }
  void add_config(Config& c) const override {
    c.set("axis", axis_.size() == 1 ? Config(axis_[0]) : Config::list_of(axis_));
  }

 private:
  std::vector<int> axis_;
};

class ReLULayer : public LayerImpl {
 public:
  explicit ReLULayer(const layers::ReLUOptions& o)
      : LayerImpl("ReLU", common(o)),
        max_value_(o.max_value),
        negative_slope_(o.negative_slope),
        threshold_(o.threshold) {
    check_not_negative("ReLU", "max_value", max_value_);
    check_not_negative("ReLU", "negative_slope", negative_slope_);
    check_not_negative("ReLU", "threshold", threshold_);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    const bool six = max_value_ == 6 && threshold_ == 0 && negative_slope_ == 0;
    if (six) return nn::relu6(x);
    const Tensor y =
        activations::relu(x, {.negative_slope = negative_slope_, .threshold = threshold_});
    return std::isinf(max_value_) ? y : minimum(y, max_value_);
  }
  void add_config(Config& c) const override {
    c.set("max_value", std::isinf(max_value_) ? Config() : Config(in_float32(max_value_)));
    c.set("negative_slope", in_float32(negative_slope_));
    c.set("threshold", in_float32(threshold_));
  }

 private:
  double max_value_, negative_slope_, threshold_;
};

class LeakyReLULayer : public LayerImpl {
 public:
  explicit LeakyReLULayer(const layers::LeakyReLUOptions& o)
      : LayerImpl("LeakyReLU", common(o)), alpha_(in_float32(o.alpha)) {
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override { return nn::leaky_relu(x, alpha_); }
  void add_config(Config& c) const override { c.set("alpha", alpha_); }

 private:
  double alpha_;
};

class PReLULayer : public LayerImpl {
 public:
  explicit PReLULayer(const layers::PReLUOptions& o) : LayerImpl("PReLU", common(o)), o_(o) {
    supports_masking = true;
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    TensorShape sizes = TensorShape::scalar();
    for (int i = 1; i < input.rank(); ++i) sizes.push_back(input.dim(i));
    for (int a : o_.shared_axes) {
      RILL_CHECK(a >= 1 && a < input.rank(), invalid_argument,
                 "[{}] shared_axes contains {}; expected axes after the batch of an input of shape "
                 "{}",
                 name(), a, input);
      sizes.set_dim(a - 1, 1);
    }
    input_spec.ndim = input.rank();
    for (int i = 1; i < input.rank(); ++i)
      if (sizes.dim(i - 1) == input.dim(i) && !is_shared(i))
        input_spec.axes.emplace_back(i, input.dim(i));
    alpha_ = add_weight("alpha", sizes,
                        {.initializer = o_.alpha_initializer,
                         .regularizer = o_.alpha_regularizer,
                         .constraint = o_.alpha_constraint});
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return nn::relu(x) - in_compute_dtype(alpha_) * nn::relu(-x);
  }
  void add_config(Config& c) const override {
    c.set("alpha_initializer", serialize(o_.alpha_initializer));
    c.set("alpha_regularizer", o_.alpha_regularizer.serialize());
    c.set("alpha_constraint", o_.alpha_constraint.serialize());
    c.set("shared_axes", o_.shared_axes.empty() ? Config() : Config::list_of(o_.shared_axes));
  }

 private:
  bool is_shared(int axis) const {
    for (int a : o_.shared_axes)
      if (a == axis) return true;
    return false;
  }
  layers::PReLUOptions o_;
  Variable alpha_;
};

class ELULayer : public LayerImpl {
 public:
  explicit ELULayer(const layers::ELUOptions& o)
      : LayerImpl("ELU", common(o)), alpha_(in_float32(o.alpha)) {
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override { return activations::elu(x, alpha_); }
  void add_config(Config& c) const override { c.set("alpha", alpha_); }

 private:
  double alpha_;
};

class ThresholdedReLULayer : public LayerImpl {
 public:
  explicit ThresholdedReLULayer(const layers::ThresholdedReLUOptions& o)
      : LayerImpl("ThresholdedReLU", common(o)), theta_(in_float32(o.theta)) {
    check_not_negative("ThresholdedReLU", "theta", theta_);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return x * cast(x > theta_, x.dtype());
  }
  void add_config(Config& c) const override { c.set("theta", theta_); }

 private:
  double theta_;
};

const RegisterLayer softmax("Softmax", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::SoftmaxOptions>(c);
  o.axis = sizes_from(c["axis"]);
  return layers::Softmax(std::move(o));
});
const RegisterLayer relu("ReLU", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::ReLUOptions>(c);
  o.max_value = number(c.get("max_value"), o.max_value);
  o.negative_slope = number(c.get("negative_slope"), 0);
  o.threshold = number(c.get("threshold"), 0);
  return layers::ReLU(std::move(o));
});
const RegisterLayer leaky_relu("LeakyReLU", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::LeakyReLUOptions>(c);
  // Keras 3 calls it negative_slope.
  o.alpha = number(c.get(c.contains("negative_slope") ? "negative_slope" : "alpha"), o.alpha);
  return layers::LeakyReLU(std::move(o));
});
const RegisterLayer prelu("PReLU", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::PReLUOptions>(c);
  o.alpha_initializer = deserialize_initializer(c.get("alpha_initializer"), o.alpha_initializer);
  o.alpha_regularizer = Regularizer::deserialize(c.get("alpha_regularizer"));
  o.alpha_constraint = Constraint::deserialize(c.get("alpha_constraint"));
  o.shared_axes = sizes_from(c.get("shared_axes")).list();
  return layers::PReLU(std::move(o));
});
const RegisterLayer elu("ELU", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::ELUOptions>(c);
  o.alpha = number(c.get("alpha"), o.alpha);
  return layers::ELU(std::move(o));
});
const RegisterLayer thresholded("ThresholdedReLU", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::ThresholdedReLUOptions>(c);
  o.theta = number(c.get("theta"), o.theta);
  return layers::ThresholdedReLU(std::move(o));
});

}  // namespace

layers::Softmax::Softmax() : Softmax(SoftmaxOptions{}) {}
layers::Softmax::Softmax(SoftmaxOptions o) : Layer(this, new SoftmaxLayer(o)) {}
layers::ReLU::ReLU() : ReLU(ReLUOptions{}) {}
layers::ReLU::ReLU(ReLUOptions o) : Layer(this, new ReLULayer(o)) {}
layers::ReLU::ReLU(double max_value, ReLUOptions o) : ReLU((o.max_value = max_value, o)) {}
layers::LeakyReLU::LeakyReLU() : LeakyReLU(LeakyReLUOptions{}) {}
layers::LeakyReLU::LeakyReLU(LeakyReLUOptions o) : Layer(this, new LeakyReLULayer(o)) {}
layers::LeakyReLU::LeakyReLU(double alpha, LeakyReLUOptions o)
    : LeakyReLU((o.alpha = alpha, std::move(o))) {}
layers::PReLU::PReLU() : PReLU(PReLUOptions{}) {}
layers::PReLU::PReLU(PReLUOptions o) : Layer(this, new PReLULayer(o)) {}
layers::ELU::ELU() : ELU(ELUOptions{}) {}
layers::ELU::ELU(ELUOptions o) : Layer(this, new ELULayer(o)) {}
layers::ELU::ELU(double alpha, ELUOptions o) : ELU((o.alpha = alpha, std::move(o))) {}
layers::ThresholdedReLU::ThresholdedReLU() : ThresholdedReLU(ThresholdedReLUOptions{}) {}
layers::ThresholdedReLU::ThresholdedReLU(ThresholdedReLUOptions o)
    : Layer(this, new ThresholdedReLULayer(o)) {}
layers::ThresholdedReLU::ThresholdedReLU(double theta, ThresholdedReLUOptions o)
    : ThresholdedReLU((o.theta = theta, std::move(o))) {}

}  // namespace rill::keras
