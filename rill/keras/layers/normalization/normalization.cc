#include <algorithm>

#include "rill/base/check.h"
#include "rill/data/dataset.h"
#include "rill/keras/layers/normalization/normalization_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

// A tensor as nested lists, and back.
Config listed(const Tensor& t) {
  if (!t.defined()) return {};
  if (t.ndim() == 0)
    return t.dtype().is_floating() ? Config(cast(t, float64).item<double>())
                                   : Config(cast(t, int64).item<std::int64_t>());
  Config c = Config::list();
  for (const Tensor& part : unstack(t)) c.push_back(listed(part));
  return c;
}
Tensor unlisted(const Config& c) {
  if (c.is_null()) return {};
  if (!c.is_list()) return constant(c.as_double(), float64);
  std::vector<Tensor> parts;
  for (const Config& i : c.items()) parts.push_back(unlisted(i));
  return stack(parts);
}

struct TensorField {
  static Config write(const Tensor& t) { return listed(t); }
  static void read(const Config& c, Tensor& t) { t = unlisted(c); }
};
// A list always; null for none.
struct AxisList {
  static constexpr bool reads_null = true;
  static Config write(const nn::Sizes& v) { return Config::list_of(v.list()); }
  static void read(const Config& c, nn::Sizes& v) { v = sizes_from(c); }
};
struct NormalizationFields {
  using Options = layers::NormalizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("axis", o.axis, AxisList());
    f("invert", o.invert);
    f("mean", o.mean, TensorField());
    f("variance", o.variance, TensorField());
  }
};

class NormalizationLayer : public LayerImpl {
 public:
  explicit NormalizationLayer(const layers::NormalizationOptions& o)
      : LayerImpl("Normalization", common(o)), o_(o) {
    RILL_CHECK(o_.mean.defined() == o_.variance.defined(), invalid_argument,
               "[Normalization] only the {} is given; expected both mean and variance, or none",
               o_.mean.defined() ? "mean" : "variance");
  }
  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& input = shapes[0];
    kept_ = axes_of(name(), o_.axis, input.rank());
    std::sort(kept_.begin(), kept_.end());
    TensorShape sizes = TensorShape::scalar();
    over_.clear(), broadcast_.clear();  // a build before may have failed half-way
    for (int i = 0; i < input.rank(); ++i)
      if (std::find(kept_.begin(), kept_.end(), i) == kept_.end()) {
        over_.push_back(i);
        broadcast_.push_back(1);
      } else {
        RILL_CHECK(input.dim(i) >= 0, invalid_argument,
                   "[{}] axis {} of the input of shape {} must have a size that is known", name(),
                   i, input);
        sizes.push_back(input.dim(i));
        broadcast_.push_back(input.dim(i));
      }
    const DType d = policy.compute_dtype();
    if (o_.mean.defined()) {
      given_mean_ = spread(o_.mean, sizes);
      given_variance_ = spread(o_.variance, sizes);
      return;
    }
    mean_ = add_weight("mean", sizes, {.dtype = d, .initializer = "zeros", .trainable = false});
    variance_ =
        add_weight("variance", sizes, {.dtype = d, .initializer = "ones", .trainable = false});
    count_ = add_weight("count", TensorShape::scalar(),
                        {.dtype = int64, .initializer = "zeros", .trainable = false});
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    const DType d = policy.compute_dtype();
    const Tensor x = given.dtype() == d ? given : cast(given, d);
    const Tensor deviation = maximum(sqrt(variance()), backend::epsilon());
    return o_.invert ? mean() + x * deviation : (x - mean()) / deviation;
  }
  // REQUIRES: it is built.
  Tensor mean() const {
    return o_.mean.defined() ? given_mean_ : reshape(mean_.value(), constant(broadcast_));
  }
  Tensor variance() const {
    return o_.mean.defined() ? given_variance_ : reshape(variance_.value(), constant(broadcast_));
  }
  void add_config(Config& c) const override { write_fields<NormalizationFields>(o_, c); }

  void reset() {
    RILL_CHECK(!o_.mean.defined(), failed_precondition,
               "[{}] adapt: the layer was given its mean and variance; make it without them",
               name());
    if (!built) return;
    mean_.assign(zeros_like(mean_));
    variance_.assign(ones_like(variance_));
    count_.assign(zeros_like(count_));
  }
  // Adds the statistics of data to those of before, by the numbers of elements.
  void update(const Tensor& data) {
    const DType d = policy.compute_dtype();
    const Tensor x = cast(data, d);
    const auto [mean, variance] = nn::moments(x, over_, {});
    std::int64_t n = 1;
    for (int i : over_) n *= x.shape().dim(i);
    const std::int64_t before = count_.item<std::int64_t>();
    const double weight = static_cast<double>(n) / static_cast<double>(before + n);
    const Tensor old_mean = mean_.value();
    const Tensor total = old_mean * (1 - weight) + mean * weight;
    variance_.assign((variance_ + square(old_mean - total)) * (1 - weight) +
                     (variance + square(mean - total)) * weight);
    mean_.assign(total);
    count_.assign(before + n);
  }

 private:
  Tensor spread(const Tensor& t, const TensorShape& sizes) const {
    return reshape(broadcast_to(cast(t, policy.compute_dtype()), constant(sizes.as_list(), int64)),
                   constant(broadcast_));
  }
  layers::NormalizationOptions o_;
  std::vector<int> kept_, over_;
  std::vector<std::int64_t> broadcast_;
  Tensor given_mean_, given_variance_;
  Variable mean_, variance_, count_;
};

struct PerChannelField {
  static Config write(const layers::PerChannel& p) {
    return p.is_list() ? Config::list_of(p.values()) : Config(p.values()[0]);
  }
  static void read(const Config& c, layers::PerChannel& p) {
    if (!c.is_list()) {
      p = c.as_double();
      return;
    }
    std::vector<double> each;
    for (const Config& i : c.items()) each.push_back(i.as_double());
    p = std::move(each);
  }
};
struct RescalingFields {
  using Options = layers::RescalingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("scale", o.scale, PerChannelField());
    f("offset", o.offset, PerChannelField());
  }
};

class RescalingLayer : public LayerImpl {
 public:
  explicit RescalingLayer(const layers::RescalingOptions& o)
      : LayerImpl("Rescaling", common(o)), o_(o) {}
  Tensor call(const Tensor& x, const CallContext&) override {
    const DType dtype = policy.compute_dtype();
    return cast(x, dtype) * tensor(o_.scale, dtype) + tensor(o_.offset, dtype);
  }
  void add_config(Config& c) const override { write_fields<RescalingFields>(o_, c); }

 private:
  static Tensor tensor(const layers::PerChannel& p, DType dtype) {
    return p.is_list() ? constant(p.values(), dtype) : constant(p.values()[0], dtype);
  }
  layers::RescalingOptions o_;
};

const RegisterFields<NormalizationFields, layers::Normalization> normalization("Normalization");
const RegisterFields<RescalingFields, layers::Rescaling> rescaling("Rescaling");

NormalizationLayer& ready_for(const Layer& layer, const TensorShape& shape) {
  auto& l = static_cast<NormalizationLayer&>(layer.impl());
  if (!l.built) LayerCalls::build(layer, {shape});
  return l;
}
const NormalizationLayer& built_layer(const Layer& layer) {
  const auto& l = static_cast<const NormalizationLayer&>(layer.impl());
  RILL_CHECK(l.built, failed_precondition,
             "[{}] there is no mean yet: call adapt, or the layer, first", l.name());
  return l;
}
TensorShape for_any_batch(TensorShape shape) {
  if (shape.rank() > 0) shape.set_dim(0, -1);
  return shape;
}
void require_data(const Layer& layer, bool is_there) {
  RILL_CHECK(is_there, invalid_argument,
             "[{}] adapt: there is no data; expected input data to be non-empty",
             layer.impl().name());
}

}  // namespace

layers::Normalization::Normalization() : Normalization(NormalizationOptions{}) {}
layers::Normalization::Normalization(NormalizationOptions o)
    : Layer(this, new NormalizationLayer(o)) {}
Tensor layers::Normalization::mean() const { return built_layer(*this).mean(); }
Tensor layers::Normalization::variance() const { return built_layer(*this).variance(); }
void layers::Normalization::adapt(const Tensor& data) const {
  static_cast<NormalizationLayer&>(impl()).reset();
  require_data(*this, data.ndim() > 0 && data.shape().dim(0) > 0);
  ready_for(*this, for_any_batch(data.shape())).update(data);
}
void layers::Normalization::adapt(const data::Dataset& batches) const {
  static_cast<NormalizationLayer&>(impl()).reset();
  bool any = false;
  for (const Nest& batch : batches) {
    const Tensor& data = batch.as_tensor();
    // A dataset need not be batched: it says which sizes vary, unless it does not know them.
    const data::ElementSpec& spec = batches.element_spec();
    const bool known = spec.is_leaf() && spec.leaf().shape().has_rank();
    ready_for(*this, known ? spec.leaf().shape() : for_any_batch(data.shape())).update(data);
    any = true;
  }
  require_data(*this, any);
}

layers::Rescaling::Rescaling(RescalingOptions o) : Layer(this, new RescalingLayer(o)) {}
layers::Rescaling::Rescaling(double scale, RescalingOptions o)
    : Rescaling((o.scale = scale, std::move(o))) {}
layers::Rescaling::Rescaling(double scale, double offset, RescalingOptions o)
    : Rescaling((o.scale = scale, o.offset = offset, std::move(o))) {}

}  // namespace rill::keras
