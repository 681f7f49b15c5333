#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/layers/normalization/normalization_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct LayerNormalizationFields {
  using Options = layers::LayerNormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axis", o.axis, AxisField());
    visit_scale(f, o);
    visit_penalties(f, o);
    f.written_if(o.rms_scaling, "rms_scaling", o.rms_scaling);
  }
};

class LayerNormalizationLayer : public LayerImpl {
 public:
  explicit LayerNormalizationLayer(const layers::LayerNormalizationOptions& o)
      : LayerImpl("LayerNormalization", common(o)), o_(o), scale_and_shift_(used(o)) {
    RILL_CHECK(!o_.axis.list().empty(), invalid_argument, "[LayerNormalization] axis is empty");
    supports_masking = true;
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    axes_ = axes_of(name(), o_.axis, input.rank());
    TensorShape sizes = TensorShape::scalar();
    for (int a : axes_) sizes.push_back(input.dim(a));
    scale_and_shift_.build(*this, sizes, {});
    // The last axes in their order are what the op knows.
    const int first = input.rank() - static_cast<int>(axes_.size());
    are_last_ = true;
    for (int i = 0; i < static_cast<int>(axes_.size()); ++i)
      are_last_ = are_last_ && axes_[static_cast<std::size_t>(i)] == first + i;
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    const DType d = policy.compute_dtype();
    const Tensor x = given.dtype() == d ? given : cast(given, d);
    if (o_.rms_scaling) {
      const Tensor in = widened(x);
      const auto [mean, variance] = nn::moments(in, axes_, {.keepdims = true});
      const Tensor size = rsqrt(variance + o_.epsilon);
      const Tensor y = in * size * placed(scale_and_shift_.gamma(in.dtype()), in);
      return y.dtype() == d ? y : cast(y, d);
    }
    if (are_last_)
      return nn::layer_norm(x, scale_and_shift_.gamma_or_ones(d), scale_and_shift_.beta_or_zeros(d),
                            {.begin_axis = -static_cast<int>(axes_.size()), .epsilon = o_.epsilon});
    const Tensor wide = widened(x);
    const auto [mean, variance] = nn::moments(wide, axes_, {.keepdims = true});
    const Tensor y = nn::batch_normalization(
        wide, mean, variance, placed(scale_and_shift_.beta(wide.dtype()), x),
        placed(scale_and_shift_.gamma(wide.dtype()), x), o_.epsilon);
    return y.dtype() == d ? y : cast(y, d);
  }
  void add_config(Config& c) const override {
    write_fields<LayerNormalizationFields>(with_axes(o_, axes_), c);
  }

 private:
  static layers::LayerNormalizationOptions used(layers::LayerNormalizationOptions o) {
    if (o.rms_scaling) o.scale = true, o.center = false;
    return o;
  }
  // With sizes of 1 between, so that it broadcasts with x.
  Tensor placed(const Tensor& v, const Tensor& x) const {
    if (!v.defined()) return v;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.ndim()), 1);
    for (int a : axes_) sizes[static_cast<std::size_t>(a)] = x.shape().dim(a);
    return reshape(v, constant(sizes));
  }
  layers::LayerNormalizationOptions o_;
  ScaleAndShift scale_and_shift_;
  std::vector<int> axes_;
  bool are_last_ = false;
};

struct GroupNormalizationFields {
  using Options = layers::GroupNormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("groups", o.groups);
    f("axis", o.axis);
    visit_scale(f, o);
    visit_penalties(f, o);
  }
};

class GroupNormalizationLayer : public LayerImpl {
 public:
  explicit GroupNormalizationLayer(const layers::GroupNormalizationOptions& o)
      : LayerImpl("GroupNormalization", common(o)), o_(o), scale_and_shift_(o) {
    RILL_CHECK(o_.groups == -1 || o_.groups > 0, invalid_argument,
               "[GroupNormalization] groups is {}; expected a positive number, or -1 for one "
               "group a channel",
               o_.groups);
    supports_masking = true;
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    axis_ = axes_of(name(), o_.axis, input.rank())[0];
    channels_ = input.dim(axis_);
    RILL_CHECK(axis_ > 0, invalid_argument,
               "[{}] axis is {}, the batch; expected that of the channels", name(), o_.axis);
    RILL_CHECK(channels_ >= 0, invalid_argument,
               "[{}] axis {} of the input of shape {} must have a size that is known", name(),
               o_.axis, input);
    if (o_.groups == -1) o_.groups = channels_;
    RILL_CHECK(channels_ >= o_.groups && channels_ % o_.groups == 0, invalid_argument,
               "[{}] the {} channels of the input of shape {} do not divide into {} groups", name(),
               channels_, input, o_.groups);
    input_spec.ndim = input.rank();
    input_spec.axes = {{axis_, channels_}};
    scale_and_shift_.build(*this, {channels_}, {});
  }
  Tensor call(const Tensor& given, const CallContext& context) override {
    const Tensor x = grouped(widened(given));
    std::vector<int> over;
    for (int i = 1; i < x.ndim(); ++i)
      if (i != axis_) over.push_back(i);
    const auto [mean, variance] =
        context.mask.defined()
            ? nn::weighted_moments(
                  x, over, grouped(broadcast_to(cast(context.mask, x.dtype()), shape(given))),
                  {.keepdims = true})
            : nn::moments(x, over, {.keepdims = true});
    const Tensor y =
        nn::batch_normalization(x, mean, variance, placed(scale_and_shift_.beta(x.dtype()), x),
                                placed(scale_and_shift_.gamma(x.dtype()), x), o_.epsilon);
    const Tensor flat = reshape_to(y, given.shape(), given);
    return flat.dtype() == given.dtype() ? flat : cast(flat, given.dtype());
  }
  void add_config(Config& c) const override { write_fields<GroupNormalizationFields>(o_, c); }

 private:
  // [.., channels, ..] as [.., groups, channels / groups, ..].
  Tensor grouped(const Tensor& x) const {
    std::vector<std::int64_t> to;
    int unknown = 0;
    for (int i = 0; i < x.ndim(); ++i) {
      if (i == axis_) to.push_back(o_.groups);
      to.push_back(i == axis_ ? channels_ / o_.groups : x.shape().dim(i));
      unknown += to.back() < 0;
    }
    if (unknown <= 1) return reshape(x, constant(to));
    const Tensor sizes = shape(x);
    std::vector<Tensor> parts;
    for (int i = 0; i < static_cast<int>(to.size()); ++i) {
      const std::int64_t n = to[static_cast<std::size_t>(i)];
      parts.push_back(n < 0 ? sizes[i > axis_ ? i - 1 : i] : constant(static_cast<int>(n)));
    }
    return reshape(x, stack(parts));
  }
  Tensor placed(const Tensor& v, const Tensor& x) const {
    if (!v.defined()) return v;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.ndim()), 1);
    sizes[static_cast<std::size_t>(axis_)] = o_.groups;
    sizes[static_cast<std::size_t>(axis_) + 1] = channels_ / o_.groups;
    return reshape(v, constant(sizes));
  }
  layers::GroupNormalizationOptions o_;
  ScaleAndShift scale_and_shift_;
  int axis_ = 0;
  std::int64_t channels_ = 0;
};

struct UnitNormalizationFields {
  using Options = layers::UnitNormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axis", o.axis, AxisField());
  }
};

class UnitNormalizationLayer : public LayerImpl {
 public:
  explicit UnitNormalizationLayer(const layers::UnitNormalizationOptions& o)
      : LayerImpl("UnitNormalization", common(o)), o_(o) {
    RILL_CHECK(!o_.axis.list().empty(), invalid_argument, "[UnitNormalization] axis is empty");
    supports_masking = true;
  }
  void build(const std::vector<TensorShape>& shapes) override {
    axes_ = axes_of(name(), o_.axis, shapes[0].rank());
    input_spec.min_ndim = *std::max_element(axes_.begin(), axes_.end()) + 1;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return nn::l2_normalize(cast(x, policy.compute_dtype()), axes_);
  }
  void add_config(Config& c) const override {
    write_fields<UnitNormalizationFields>(with_axes(o_, axes_), c);
  }

 private:
  layers::UnitNormalizationOptions o_;
  std::vector<int> axes_;
};

const RegisterFields<LayerNormalizationFields, layers::LayerNormalization> layer_norm(
    "LayerNormalization");
const RegisterFields<GroupNormalizationFields, layers::GroupNormalization> group_norm(
    "GroupNormalization");
const RegisterFields<UnitNormalizationFields, layers::UnitNormalization> unit_norm(
    "UnitNormalization");

}  // namespace

layers::LayerNormalization::LayerNormalization()
    : LayerNormalization(LayerNormalizationOptions{}) {}
layers::LayerNormalization::LayerNormalization(LayerNormalizationOptions o)
    : Layer(this, new LayerNormalizationLayer(o)) {}
layers::GroupNormalization::GroupNormalization()
    : GroupNormalization(GroupNormalizationOptions{}) {}
layers::GroupNormalization::GroupNormalization(GroupNormalizationOptions o)
    : Layer(this, new GroupNormalizationLayer(o)) {}
layers::GroupNormalization::GroupNormalization(std::int64_t groups, GroupNormalizationOptions o)
    : GroupNormalization((o.groups = groups, std::move(o))) {}
layers::UnitNormalization::UnitNormalization() : UnitNormalization(UnitNormalizationOptions{}) {}
layers::UnitNormalization::UnitNormalization(UnitNormalizationOptions o)
    : Layer(this, new UnitNormalizationLayer(o)) {}

}  // namespace rill::keras
