#include "rill/base/check.h"
#include "rill/keras/layers/normalization/normalization_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct BatchNormalizationFields {
  using Options = layers::BatchNormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axis", o.axis, AxisField());
    f("momentum", o.momentum);
    visit_scale(f, o);
    f("moving_mean_initializer", o.moving_mean_initializer);
    f("moving_variance_initializer", o.moving_variance_initializer);
    visit_penalties(f, o);
    f.for_keras3([](Config& c) {  // which takes one axis
      if (c.get("axis").is_list() && c["axis"].size() == 1) c.set("axis", Config(c["axis"][0]));
    });
  }
};

class BatchNormalizationLayer : public LayerImpl {
 public:
  explicit BatchNormalizationLayer(const layers::BatchNormalizationOptions& o)
      : LayerImpl("BatchNormalization", common(o)), o_(o), scale_and_shift_(o) {
    RILL_CHECK(!o_.axis.list().empty(), invalid_argument, "[BatchNormalization] axis is empty");
    supports_masking = true;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    axes_ = axes_of(name(), o_.axis, input.rank());
    // One axis: a vector. Several: sizes of 1 elsewhere, so that they broadcast.
    TensorShape sizes = TensorShape::scalar();
    input_spec.ndim = input.rank();
    for (int a : axes_) input_spec.axes.emplace_back(a, input.dim(a));
    for (int i = 0; i < input.rank(); ++i)
      if (is_channel(i))
        sizes.push_back(input.dim(i));
      else if (axes_.size() > 1)
        sizes.push_back(1);
    for (const auto& [axis, size] : input_spec.axes)
      RILL_CHECK(size >= 0, invalid_argument,
                 "[{}] axis {} of the input of shape {} must have a size that is known", name(),
                 axis, input);
    format_ = fused_format(input.rank());
    const DType dtype = is_half(policy.variable_dtype()) ? float32 : policy.variable_dtype();
    scale_and_shift_.build(*this, sizes, dtype);
    moving_mean_ =
        add_weight("moving_mean", sizes,
                   {.dtype = dtype, .initializer = o_.moving_mean_initializer, .trainable = false});
    moving_variance_ = add_weight(
        "moving_variance", sizes,
        {.dtype = dtype, .initializer = o_.moving_variance_initializer, .trainable = false});
  }

  Tensor call(const Tensor& given, const CallContext& context) override {
    const Tensor x =
        given.dtype() == policy.compute_dtype() ? given : cast(given, policy.compute_dtype());
    const bool training = context.training && trains_in_call();
    // The op knows no mask; Keras 2 does not count it there.
    const bool masked = behaves_as == 3 && training && context.mask.defined();
    return format_.empty() || masked ? plain(x, training, context.mask) : fused(x, training);
  }

  void add_config(Config& c) const override {
    write_fields<BatchNormalizationFields>(with_axes(o_, axes_), c);
  }

 private:
  bool is_channel(int axis) const {
    for (int a : axes_)
      if (a == axis) return true;
    return false;
  }
  // How the op calls images with these channels; empty where it knows none.
  std::string fused_format(int rank) const {
    if (axes_.size() != 1 || rank < 4 || rank > 5 || policy.compute_dtype() == float64) return {};
    if (axes_[0] == rank - 1) return rank == 4 ? "NHWC" : "NDHWC";
    if (axes_[0] == 1) return rank == 4 ? "NCHW" : "NCDHW";
    return {};
  }

  Tensor fused(const Tensor& x, bool training) {
    const auto [y, mean, variance] = nn::fused_batch_norm(
        x, scale_and_shift_.gamma_or_ones(float32), scale_and_shift_.beta_or_zeros(float32),
        {.mean = moving_mean_.value(),
         .variance = moving_variance_.value(),
         .epsilon = o_.epsilon,
         .data_format = format_,
         .is_training = training,
         .exponential_avg_factor = training ? 1 - o_.momentum : 1});
    if (training) {
      moving_mean_.assign(mean);
      moving_variance_.assign(behaves_as == 3 ? of_population(variance, x) : variance);
    }
    return y;
  }

  // The op moves towards the variance of a sample, n / (n - 1) times that of the batch, which Keras
  // 3 takes.
  Tensor of_population(const Tensor& moved, const Tensor& x) {
    const Tensor kept = moving_variance_.value() * o_.momentum;
    const Tensor n = cast(size(x), float32) / cast(size(moved), float32);
    return kept + (moved - kept) * (maximum(n - 1, 1.f) / n);
  }

  Tensor plain(const Tensor& given, bool training, const Tensor& mask) {
    const Tensor x = widened(given);
    Tensor mean = moving_mean_.value(), variance = moving_variance_.value();
    if (training) {
      std::tie(mean, variance) = batch_moments(x, mask);
      const double step = 1 - o_.momentum;
      moving_mean_.assign_sub((moving_mean_ - stop_gradient(mean)) * step);
      moving_variance_.assign_sub((moving_variance_ - stop_gradient(variance)) * step);
    }
    const Tensor y = nn::batch_normalization(
        x, placed(mean, x), placed(variance, x), placed(scale_and_shift_.beta(x.dtype()), x),
        placed(scale_and_shift_.gamma(x.dtype()), x), o_.epsilon);
    return y.dtype() == given.dtype() ? y : cast(y, given.dtype());
  }
  std::pair<Tensor, Tensor> batch_moments(const Tensor& x, const Tensor& mask) const {
    std::vector<int> over;
    for (int i = 0; i < x.ndim(); ++i)
      if (!is_channel(i)) over.push_back(i);
    const nn::MomentsOptions o{.keepdims = axes_.size() > 1};
    const auto [mean, variance] =
        mask.defined() ? nn::weighted_moments(x, over, expand_dims(cast(mask, x.dtype()), -1), o)
                       : nn::moments(x, over, o);
    return {mean, variance};
  }
  // A vector over the channels, so that it broadcasts with x.
  Tensor placed(const Tensor& v, const Tensor& x) const {
    if (!v.defined() || axes_.size() > 1 || axes_[0] == x.ndim() - 1) return v;
    std::vector<int> sizes(static_cast<std::size_t>(x.ndim()), 1);
    sizes[static_cast<std::size_t>(axes_[0])] = -1;
    return reshape(v, constant(sizes));
  }

  layers::BatchNormalizationOptions o_;
  ScaleAndShift scale_and_shift_;
  std::vector<int> axes_;
  std::string format_;
  Variable moving_mean_, moving_variance_;
};

const RegisterFields<BatchNormalizationFields, layers::BatchNormalization>
    registered_batch_normalization("BatchNormalization");

}  // namespace

layers::BatchNormalization::BatchNormalization()
    : BatchNormalization(BatchNormalizationOptions{}) {}
layers::BatchNormalization::BatchNormalization(BatchNormalizationOptions o)
    : Layer(this, new BatchNormalizationLayer(o)) {}

}  // namespace rill::keras
