#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/eager/context.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/behaviour_impl.h"
#include "rill/keras/optimizers/keras_optimizer_impl.h"
#include "rill/keras/optimizers/loss_scale_optimizer_impl.h"
#include "rill/keras/registry/class_registry_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

constexpr double kFirstScale = 32768;  // 2^15
constexpr std::int64_t kGrowthSteps = 2000;
constexpr float kMultiplier = 2, kLeast = 1;

std::optional<std::int64_t> growth_of(const mixed_precision::LossScaleOptions& o) {
  if (!o.dynamic) return {};
  return o.dynamic_growth_steps.value_or(kGrowthSteps);
}

Tensor all_finite(const GradientsAndVariables& pairs) {
  Tensor all;
  for (const auto& [g, v] : pairs) {
    if (!g.defined()) continue;
    const Tensor one = reduce_all(is_finite(g.is_sparse() ? g.slices().values : g.tensor()));
    all = all.defined() ? logical_and(all, one) : one;
  }
  return all;
}

}  // namespace

LossScaleOptimizerImpl::LossScaleOptimizerImpl(Ref<OptimizerImpl> around,
                                               const mixed_precision::LossScaleOptions& o)
    : OptimizerImpl(around->name, around->iterations),
      inner(std::move(around)),
      behaves_as(keras_behaviour()),
      initial_scale(o.initial_scale.value_or(kFirstScale)),
      growth_steps(growth_of(o)) {
  share_edges();
  if (!growth_steps) return;
  // On the host wherever the optimizer is made: every step asks whether it is one.
  const DeviceScope host("/cpu:0");
  scale = Variable(constant(static_cast<float>(initial_scale)),
                   {.trainable = false, .name = "current_loss_scale"});
  good_steps = Variable(constant(0, int64), {.trainable = false, .name = "good_steps"});
  const Ref<TrackableNode> state(new TrackableNode);
  state->track("current_loss_scale", node_of(scale));
  state->track("good_steps", node_of(good_steps));
  track("loss_scale", state);
}

// The state of the inner optimizer is found here, as if there were no optimizer around it.
void LossScaleOptimizerImpl::share_edges() {
  for (const Edge& e : inner->edges()) track(e.name, e.child);
}

void LossScaleOptimizerImpl::build(const std::vector<Variable>& vars) {
  inner->build(vars);
  share_edges();
}

std::vector<Variable> LossScaleOptimizerImpl::variables() const {
  std::vector<Variable> all = inner->variables();
  if (growth_steps) all.insert(all.end(), {scale, good_steps});
  return all;
}

Tensor LossScaleOptimizerImpl::loss_scale() const {
  return growth_steps ? scale.value() : constant(static_cast<float>(initial_scale));
}

Tensor LossScaleOptimizerImpl::scaled_loss(const Tensor& loss) {
  scaled_ = true;
  return loss * cast(loss_scale(), loss.dtype());
}

Gradients LossScaleOptimizerImpl::unscaled_gradients(const Gradients& gradients) {
  unscaled_ = true;
  const Tensor factor = 1.f / loss_scale();
  const auto divided = [&](const Tensor& t) { return t * cast(factor, t.dtype()); };
  Gradients out;
  for (const Gradient& g : gradients) {
    if (g.is_sparse()) {
      const IndexedSlices& s = g.slices();
      out.push_back(IndexedSlices{divided(s.values), s.indices, s.dense_shape});
    } else {
      out.push_back(g.defined() ? Gradient(divided(g.tensor())) : g);
    }
  }
  return out;
}

// Twice the scale after enough finite steps, unless that would be infinite; half of it after
// gradients that were not finite, in Keras 2 at least 1.
void LossScaleOptimizerImpl::adapt_scale(const Tensor& finite) {
  const Tensor now = scale.value(), count = good_steps.value() + 1;
  const Tensor grows = count >= *growth_steps, twice = now * kMultiplier;
  const Tensor grown = where(logical_and(grows, is_finite(twice)), twice, now);
  const Tensor half = now / kMultiplier;
  scale.assign(where(finite, grown, behaves_as == 3 ? half : maximum(half, kLeast)));
  good_steps.assign(where(logical_and(finite, logical_not(grows)), count, constant(0, int64)));
}

void LossScaleOptimizerImpl::apply(const GradientsAndVariables& pairs,
                                   const Variable& global_step) {
  if (scaled_ != unscaled_ && !warned_) {
    warned_ = true;
    RILL_LOG(warning,
             "[LossScaleOptimizer] {}. Differentiate get_scaled_loss(loss), and apply "
             "get_unscaled_gradients(gradients)",
             scaled_ ? "the loss was scaled, but the gradients were not divided by the scale"
                     : "the gradients were divided by the scale, but the loss was not scaled");
  }
  std::vector<Variable> vars;
  for (const auto& [g, v] : pairs)
    if (g.defined()) vars.push_back(v);
  if (!growth_steps || vars.empty()) {  // the inner one says that there is nothing to apply
    inner->apply(pairs, global_step);
    return share_edges();
  }
  StopRecordingScope no_tape;
  // State is there after a step that was left out too.
  build(vars);
  const Tensor finite = all_finite(pairs);
  cond(
      finite,
      [&] {
        inner->apply(pairs, global_step);
        return constant(true);
      },
      [&] {
        if (behaves_as == 2 && !gathers_gradients()) iterations.assign_add(1);
        return constant(false);
      });
  share_edges();
  adapt_scale(finite);
}

Config LossScaleOptimizerImpl::config() const {
  const std::string users = inner->registered_name();
  const Config of_inner = users.empty() ? Config::dict({{"module", "keras.optimizers"},
                                                        {"class_name", inner->class_name()},
                                                        {"config", inner->config()},
                                                        {"registered_name", Config()}})
                                        : users_record(users, inner->config());
  return Config::dict({{"inner_optimizer", of_inner},
                       {"dynamic", growth_steps.has_value()},
                       {"initial_scale", initial_scale},
                       {"dynamic_growth_steps", growth_steps ? Config(*growth_steps) : Config()}});
}

Ref<LossScaleOptimizerImpl> loss_scale_optimizer(const Optimizer& o) {
  const Ref<TrackableNode> node = o.trackable();
  auto* impl = dynamic_cast<LossScaleOptimizerImpl*>(node.get());
  if (impl) impl->refs.retain();
  return Ref<LossScaleOptimizerImpl>(impl);
}

namespace mixed_precision {

namespace {

Ref<OptimizerImpl> wrapped(const Optimizer& inner, const LossScaleOptions& o) {
  RILL_CHECK(!keras::loss_scale_optimizer(inner), invalid_argument,
             "[LossScaleOptimizer] cannot wrap another LossScaleOptimizer; give it the optimizer "
             "inside, inner_optimizer()");
  const Ref<TrackableNode> node = inner.trackable();
  auto* impl = dynamic_cast<KerasOptimizerImpl*>(node.get());
  RILL_CHECK(impl, invalid_argument,
             "[LossScaleOptimizer] got the optimizer \"{}\" of TensorFlow 1; expected one of "
             "keras::optimizers. A model of policy mixed_float16 needs one of those",
             inner.name());
  RILL_CHECK(o.dynamic || o.initial_scale, invalid_argument,
             "[LossScaleOptimizer] initial_scale must be specified if dynamic is false");
  RILL_CHECK(o.dynamic || !o.dynamic_growth_steps, invalid_argument,
             "[LossScaleOptimizer] dynamic_growth_steps is {} and dynamic is false; a fixed scale "
             "does not grow",
             o.dynamic_growth_steps.value_or(0));
  RILL_CHECK(o.initial_scale.value_or(1) > 0 && o.dynamic_growth_steps.value_or(1) >= 1,
             invalid_argument,
             "[LossScaleOptimizer] initial_scale is {} and dynamic_growth_steps {}; expected a "
             "scale above 0 and at least 1 step",
             o.initial_scale.value_or(kFirstScale), o.dynamic_growth_steps.value_or(kGrowthSteps));
  retain(static_cast<OptimizerImpl*>(impl));
  return Ref<OptimizerImpl>(
      new LossScaleOptimizerImpl(Ref<OptimizerImpl>(static_cast<OptimizerImpl*>(impl)), o));
}

// A handle on an optimizer of which only the state is known.
class OptimizerHandle : public Optimizer {
 public:
  explicit OptimizerHandle(const Ref<OptimizerImpl>& impl) : Optimizer(impl) {}
};

LossScaleOptimizerImpl& impl_of(const Ref<OptimizerImpl>& impl) {
  return static_cast<LossScaleOptimizerImpl&>(*impl);
}

}  // namespace

LossScaleOptimizer::LossScaleOptimizer(const Optimizer& inner, LossScaleOptions o)
    : Optimizer(wrapped(inner, o)) {}

LossScaleOptimizer LossScaleOptimizer::of(const Optimizer& optimizer) {
  const Ref<LossScaleOptimizerImpl> impl = keras::loss_scale_optimizer(optimizer);
  RILL_CHECK(impl, invalid_argument,
             "[LossScaleOptimizer] the optimizer is a {}, which scales no loss; compile wraps that "
             "of a model of policy mixed_float16",
             optimizer.class_name());
  retain(static_cast<OptimizerImpl*>(impl.get()));
  return LossScaleOptimizer(Ref<OptimizerImpl>(static_cast<OptimizerImpl*>(impl.get())));
}

Optimizer LossScaleOptimizer::inner_optimizer() const {
  return OptimizerHandle(impl_of(impl_).inner);
}
bool LossScaleOptimizer::dynamic() const { return impl_of(impl_).growth_steps.has_value(); }
Tensor LossScaleOptimizer::loss_scale() const { return impl_of(impl_).loss_scale(); }
double LossScaleOptimizer::initial_scale() const { return impl_of(impl_).initial_scale; }
std::optional<std::int64_t> LossScaleOptimizer::dynamic_growth_steps() const {
  return impl_of(impl_).growth_steps;
}
Variable LossScaleOptimizer::dynamic_counter() const { return impl_of(impl_).good_steps; }

Optimizer loss_scale_optimizer_of(const Config& c) {
  RILL_CHECK(c.get("inner_optimizer").is_dict(), invalid_argument,
             "[LossScaleOptimizer] the configuration has no \"inner_optimizer\"; expected {{\""
             "class_name\": .., \"config\": ..}} there");
  LossScaleOptions o;
  o.dynamic = c.get("dynamic", true);
  if (!c.get("initial_scale").is_null()) o.initial_scale = c["initial_scale"].as_double();
  if (!c.get("dynamic_growth_steps").is_null())
    o.dynamic_growth_steps = c["dynamic_growth_steps"].as_int();
  return LossScaleOptimizer(optimizers::deserialize(c["inner_optimizer"]), o);
}

}  // namespace mixed_precision
}  // namespace rill::keras
