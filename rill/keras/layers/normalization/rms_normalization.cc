#include "rill/base/check.h"
#include "rill/keras/layers/normalization/normalization_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct RmsNormalizationFields {
  using Options = layers::RMSNormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axis", o.axis, AxisField());
    f("epsilon", o.epsilon);
  }
};

class RmsNormalizationLayer : public LayerImpl {
 public:
  explicit RmsNormalizationLayer(const layers::RMSNormalizationOptions& o)
      : LayerImpl("RMSNormalization", common(o)), o_(o) {
    RILL_CHECK(!o_.axis.list().empty(), invalid_argument, "[RMSNormalization] axis is empty");
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    axes_ = axes_of(name(), o_.axis, input.rank());
    TensorShape sizes = TensorShape::scalar();
    for (int a : axes_) {
      sizes.push_back(input.dim(a));
      input_spec.axes.emplace_back(a - input.rank(), input.dim(a));
    }
    scale_ = add_weight("scale", sizes, {.initializer = "ones"});
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    const Tensor x = widened(given);
    const Tensor size = rsqrt(reduce_mean(square(x), axes_, {.keepdims = true}) + o_.epsilon);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.ndim()), 1);
    for (int a : axes_) sizes[static_cast<std::size_t>(a)] = x.shape().dim(a);
    const Tensor y = x * size * cast(reshape(scale_.value(), constant(sizes)), x.dtype());
    return y.dtype() == policy.compute_dtype() ? y : cast(y, policy.compute_dtype());
  }
  void add_config(Config& c) const override {
    write_fields<RmsNormalizationFields>(with_axes(o_, axes_), c);
  }

 private:
  layers::RMSNormalizationOptions o_;
  std::vector<int> axes_;
  Variable scale_;
};

const RegisterFields<RmsNormalizationFields, layers::RMSNormalization> rms_norm("RMSNormalization");

}  // namespace

layers::RMSNormalization::RMSNormalization() : RMSNormalization(RMSNormalizationOptions{}) {}
layers::RMSNormalization::RMSNormalization(RMSNormalizationOptions o)
    : Layer(this, new RmsNormalizationLayer(o)) {}

}  // namespace rill::keras
