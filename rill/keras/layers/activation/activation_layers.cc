#include <cmath>

#include "rill/base/check.h"
#include "rill/keras/activations/activation.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/activation.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

double in_float32(double v) { return static_cast<double>(static_cast<float>(v)); }
void check_not_negative(const char* class_name, const char* argument, double v) {
  RILL_CHECK(v >= 0, invalid_argument, "[{}] {} is {}; expected 0 or more", class_name, argument,
             v);
}

struct SoftmaxFields {
  using Options = layers::SoftmaxOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axis", o.axis, NumberOrList());
  }
};

class SoftmaxLayer : public LayerImpl {
 public:
  explicit SoftmaxLayer(const layers::SoftmaxOptions& o) : LayerImpl("Softmax", common(o)), o_(o) {
    RILL_CHECK(!o_.axis.list().empty(), invalid_argument, "[Softmax] axis is empty");
    supports_masking = true;
  }
  Tensor call(const Tensor& given, const CallContext& context) override {
    Tensor x = given;
    if (context.mask.defined() && behaves_as == 3) {
      const Tensor counts = cast(context.mask, bool_);
      x = where(counts, x, x.dtype() == float16 ? -3e4 : -1e9);
      // All of a row may be hidden.
      return where(counts, over_axes(x), 0.0);
    }
    if (context.mask.defined()) {
      const double hidden = x.dtype() == float16 ? -65504.0 : -1e9;
      x = x + (1 - cast(context.mask, x.dtype())) * hidden;
    }
    return over_axes(x);
  }
  void add_config(Config& c) const override { write_fields<SoftmaxFields>(o_, c); }

 private:
  Tensor over_axes(const Tensor& x) const {
    const std::vector<int>& axis = o_.axis.list();
    if (axis.size() == 1) return activations::softmax(x, axis[0]);
    return exp(x - reduce_logsumexp(x, axis, {.keepdims = true}));
  }
  layers::SoftmaxOptions o_;
};

struct ReLUFields {
  using Options = layers::ReLUOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("max_value", o.max_value, InFloat32());
    f("negative_slope", o.negative_slope, InFloat32());
    f("threshold", o.threshold, InFloat32());
  }
};

class ReLULayer : public LayerImpl {
 public:
  explicit ReLULayer(const layers::ReLUOptions& o) : LayerImpl("ReLU", common(o)), o_(o) {
    check_not_negative("ReLU", "max_value", o_.max_value);
    check_not_negative("ReLU", "negative_slope", o_.negative_slope);
    check_not_negative("ReLU", "threshold", o_.threshold);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    const bool six = o_.max_value == 6 && o_.threshold == 0 && o_.negative_slope == 0;
    if (six) return nn::relu6(x);
    const Tensor y =
        activations::relu(x, {.negative_slope = o_.negative_slope, .threshold = o_.threshold});
    return std::isinf(o_.max_value) ? y : minimum(y, o_.max_value);
  }
  void add_config(Config& c) const override { write_fields<ReLUFields>(o_, c); }

 private:
  layers::ReLUOptions o_;
};

struct LeakyReLUFields {
  using Options = layers::LeakyReLUOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.renamed("alpha", "negative_slope", o.alpha, InFloat32());
  }
};

class LeakyReLULayer : public LayerImpl {
 public:
  explicit LeakyReLULayer(const layers::LeakyReLUOptions& o)
      : LayerImpl("LeakyReLU", common(o)), o_(o) {
    o_.alpha = in_float32(o.alpha);  // as Keras keeps it
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override { return nn::leaky_relu(x, o_.alpha); }
  void add_config(Config& c) const override { write_fields<LeakyReLUFields>(o_, c); }

 private:
  layers::LeakyReLUOptions o_;
};

struct PReLUFields {
  using Options = layers::PReLUOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("alpha_initializer", o.alpha_initializer);
    f("alpha_regularizer", o.alpha_regularizer);
    f("alpha_constraint", o.alpha_constraint);
    f("shared_axes", o.shared_axes);
  }
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
  void add_config(Config& c) const override { write_fields<PReLUFields>(o_, c); }

 private:
  bool is_shared(int axis) const {
    for (int a : o_.shared_axes)
      if (a == axis) return true;
    return false;
  }
  layers::PReLUOptions o_;
  Variable alpha_;
};

struct ELUFields {
  using Options = layers::ELUOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("alpha", o.alpha, InFloat32());
  }
};

class ELULayer : public LayerImpl {
 public:
  explicit ELULayer(const layers::ELUOptions& o) : LayerImpl("ELU", common(o)), o_(o) {
    o_.alpha = in_float32(o.alpha);  // as Keras keeps it
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return activations::elu(x, o_.alpha);
  }
  void add_config(Config& c) const override { write_fields<ELUFields>(o_, c); }

 private:
  layers::ELUOptions o_;
};

struct ThresholdedReLUFields {
  using Options = layers::ThresholdedReLUOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("theta", o.theta, InFloat32());
    f.for_keras3([](const Config& c) {
      RILL_FAIL(unimplemented,
                "[save] layer \"{}\" is a ThresholdedReLU, which Keras 3 does not have; save with "
                "keras_version = 2, or use ReLU with a threshold",
                c.get("name", ""));
    });
  }
};

class ThresholdedReLULayer : public LayerImpl {
 public:
  explicit ThresholdedReLULayer(const layers::ThresholdedReLUOptions& o)
      : LayerImpl("ThresholdedReLU", common(o)), o_(o) {
    o_.theta = in_float32(o.theta);  // as Keras keeps it
    check_not_negative("ThresholdedReLU", "theta", o_.theta);
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return x * cast(x > o_.theta, x.dtype());
  }
  void add_config(Config& c) const override { write_fields<ThresholdedReLUFields>(o_, c); }

 private:
  layers::ThresholdedReLUOptions o_;
};

const RegisterFields<SoftmaxFields, layers::Softmax> softmax("Softmax");
const RegisterFields<ReLUFields, layers::ReLU> relu("ReLU");
const RegisterFields<LeakyReLUFields, layers::LeakyReLU> leaky_relu("LeakyReLU");
const RegisterFields<PReLUFields, layers::PReLU> prelu("PReLU");
const RegisterFields<ELUFields, layers::ELU> elu("ELU");
const RegisterFields<ThresholdedReLUFields, layers::ThresholdedReLU> thresholded("ThresholdedReLU");

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
