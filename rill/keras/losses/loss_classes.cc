#include "rill/keras/losses/loss_classes.h"

#include "rill/base/check.h"
#include "rill/keras/losses/named_losses_impl.h"
#include "rill/keras/losses/ranks_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace losses {

Tensor loss_of_one_rank(BinaryFn f, const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return f(t, p);
}

Huber::Huber(HuberOptions o) : Loss({o.reduction, std::move(o.name)}), delta_(o.delta) {}
Tensor Huber::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return huber(t, p, delta_);
}
Config Huber::get_config() const {
  Config c = Loss::get_config();
  c.set("delta", delta_);
  return c;
}

CosineSimilarity::CosineSimilarity(CosineSimilarityOptions o)
    : Loss({o.reduction, std::move(o.name)}), axis_(o.axis) {}
Tensor CosineSimilarity::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return cosine_similarity(t, p, axis_);
}
Config CosineSimilarity::get_config() const {
  Config c = Loss::get_config();
  c.set("axis", axis_);
  return c;
}

namespace {

// The arguments that the crossentropies of distributions share.
template <class Options>
void set_crossentropy(Config& c, const Options& o) {
  c.set("from_logits", o.from_logits);
  c.set("label_smoothing", o.label_smoothing);
  c.set("axis", o.axis);
}

}  // namespace

BinaryCrossentropy::BinaryCrossentropy(CrossentropyLossOptions o)
    : Loss({o.reduction, std::move(o.name)}), own_{o.from_logits, o.label_smoothing, o.axis} {}
Tensor BinaryCrossentropy::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return binary_crossentropy(t, p, own_);
}
Config BinaryCrossentropy::get_config() const {
  Config c = Loss::get_config();
  set_crossentropy(c, own_);
  return c;
}

CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyLossOptions o)
    : Loss({o.reduction, std::move(o.name)}), own_{o.from_logits, o.label_smoothing, o.axis} {}
Tensor CategoricalCrossentropy::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return categorical_crossentropy(t, p, own_);
}
Config CategoricalCrossentropy::get_config() const {
  Config c = Loss::get_config();
  set_crossentropy(c, own_);
  return c;
}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions o)
    : Loss({o.reduction, std::move(o.name)}),
      own_{.from_logits = o.from_logits, .ignore_class = o.ignore_class} {}
Tensor SparseCategoricalCrossentropy::call(const Tensor& y_true, const Tensor& y_pred) {
  return sparse_categorical_crossentropy(y_true, y_pred, own_);
}
Tensor SparseCategoricalCrossentropy::counted(const Tensor& y_true, const Tensor& y_pred) const {
  if (!own_.ignore_class) return {};
  return class_numbers(cast(y_true, int64), y_pred) != *own_.ignore_class;
}
Config SparseCategoricalCrossentropy::get_config() const {
  Config c = Loss::get_config();
  c.set("from_logits", own_.from_logits);
  c.set("ignore_class", own_.ignore_class ? Config(*own_.ignore_class) : Config());
  return c;
}

BinaryFocalCrossentropy::BinaryFocalCrossentropy(BinaryFocalCrossentropyOptions o)
    : Loss({o.reduction, std::move(o.name)}),
      own_{o.apply_class_balancing, o.alpha, o.gamma, o.from_logits, o.label_smoothing, o.axis} {}
Tensor BinaryFocalCrossentropy::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return binary_focal_crossentropy(t, p, own_);
}
Config BinaryFocalCrossentropy::get_config() const {
  Config c = Loss::get_config();
  c.set("apply_class_balancing", own_.apply_class_balancing);
  c.set("alpha", own_.alpha);
  c.set("gamma", own_.gamma);
  set_crossentropy(c, own_);
  return c;
}

CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(CategoricalFocalCrossentropyOptions o)
    : Loss({o.reduction, std::move(o.name)}),
      own_{o.alpha, o.gamma, o.from_logits, o.label_smoothing, o.axis} {}
Tensor CategoricalFocalCrossentropy::call(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = squeezed_ranks(y_true, y_pred);
  return categorical_focal_crossentropy(t, p, own_);
}
Config CategoricalFocalCrossentropy::get_config() const {
  Config c = Loss::get_config();
  c.set("alpha", own_.alpha);
  c.set("gamma", own_.gamma);
  set_crossentropy(c, own_);
  return c;
}

LossRef get(std::string_view name) { return LossRef(name); }
Config serialize(const LossRef& loss) { return loss.serialize(); }
LossRef deserialize(const Config& config) { return LossRef::deserialize(config); }

}  // namespace losses

// ---- from a configuration
namespace {

Reduction reduction_of(const Config& c) {
  const std::string text = c.get("reduction", "auto");
  if (text == "auto") return Reduction::AUTO;
  if (text == "sum_over_batch_size") return Reduction::SUM_OVER_BATCH_SIZE;
  if (text == "sum") return Reduction::SUM;
  if (text == "none") return Reduction::NONE;
  RILL_FAIL(invalid_argument,
            "[loss] reduction is \"{}\"; expected \"auto\", \"sum_over_batch_size\", \"sum\" or "
            "\"none\"",
            text);
}
// Options with what a configuration says of the fields that every loss has.
template <class Options>
Options common(const Config& c) {
  Options o;
  o.reduction = reduction_of(c);
  if (!c.get("name").is_null()) o.name = c["name"].as_string();
  return o;
}
template <class Options>
Options crossentropy(const Config& c) {
  Options o = common<Options>(c);
  o.from_logits = c.get("from_logits", false);
  o.label_smoothing = c.get("label_smoothing", 0.0);
  o.axis = static_cast<int>(c.get("axis", -1));
  return o;
}
// None, a number, a list, or a tuple as archives hold it.
std::vector<int> axes_of_config(const Config& c) {
  if (c.is_null()) return {};
  if (c.is_number()) return {static_cast<int>(c.as_int())};
  std::vector<int> axes;
  for (const Config& a : (c.is_dict() ? c["items"] : c).items())
    axes.push_back(static_cast<int>(a.as_int()));
  return axes;
}
template <class L>
LossRef plain(const Config& c) {
  return L(common<LossOptions>(c));
}
struct Maker {
  const char* class_name;
  LossRef (*make)(const Config&);
};
const Maker kMakers[] = {
    {"MeanSquaredError", plain<losses::MeanSquaredError>},
    {"MeanAbsoluteError", plain<losses::MeanAbsoluteError>},
    {"MeanAbsolutePercentageError", plain<losses::MeanAbsolutePercentageError>},
    {"MeanSquaredLogarithmicError", plain<losses::MeanSquaredLogarithmicError>},
    {"Poisson", plain<losses::Poisson>},
    {"KLDivergence", plain<losses::KLDivergence>},
    {"Hinge", plain<losses::Hinge>},
    {"SquaredHinge", plain<losses::SquaredHinge>},
    {"CategoricalHinge", plain<losses::CategoricalHinge>},
    {"LogCosh", plain<losses::LogCosh>},
    {"Huber",
     [](const Config& c) -> LossRef {
       auto o = common<losses::HuberOptions>(c);
       o.delta = c.get("delta", o.delta);
       return losses::Huber(o);
     }},
    {"CosineSimilarity",
     [](const Config& c) -> LossRef {
       auto o = common<losses::CosineSimilarityOptions>(c);
       o.axis = static_cast<int>(c.get("axis", o.axis));
       return losses::CosineSimilarity(o);
     }},
    {"BinaryCrossentropy",
     [](const Config& c) -> LossRef {
       return losses::BinaryCrossentropy(crossentropy<losses::CrossentropyLossOptions>(c));
     }},
    {"CategoricalCrossentropy",
     [](const Config& c) -> LossRef {
       return losses::CategoricalCrossentropy(crossentropy<losses::CrossentropyLossOptions>(c));
     }},
    {"SparseCategoricalCrossentropy",
     [](const Config& c) -> LossRef {
       auto o = common<losses::SparseCategoricalCrossentropyOptions>(c);
       o.from_logits = c.get("from_logits", false);
       if (!c.get("ignore_class").is_null()) o.ignore_class = c["ignore_class"].as_int();
       return losses::SparseCategoricalCrossentropy(o);
     }},
    {"BinaryFocalCrossentropy",
     [](const Config& c) -> LossRef {
       auto o = crossentropy<losses::BinaryFocalCrossentropyOptions>(c);
       o.apply_class_balancing = c.get("apply_class_balancing", false);
       o.alpha = c.get("alpha", o.alpha);
       o.gamma = c.get("gamma", o.gamma);
       return losses::BinaryFocalCrossentropy(o);
     }},
    {"CategoricalFocalCrossentropy",
     [](const Config& c) -> LossRef {
       auto o = crossentropy<losses::CategoricalFocalCrossentropyOptions>(c);
       o.alpha = c.get("alpha", o.alpha);
       o.gamma = c.get("gamma", o.gamma);
       return losses::CategoricalFocalCrossentropy(o);
     }},
    {"Dice",
     [](const Config& c) -> LossRef {
       auto o = common<losses::DiceOptions>(c);
       o.axis = axes_of_config(c.get("axis"));
       return losses::Dice(o);
     }},
    {"Tversky",
     [](const Config& c) -> LossRef {
       auto o = common<losses::TverskyOptions>(c);
       o.alpha = c.get("alpha", o.alpha);
       o.beta = c.get("beta", o.beta);
       o.axis = axes_of_config(c.get("axis"));
       return losses::Tversky(o);
     }},
    {"Circle",
     [](const Config& c) -> LossRef {
       auto o = common<losses::CircleOptions>(c);
       o.gamma = c.get("gamma", o.gamma);
       o.margin = c.get("margin", o.margin);
       o.remove_diagonal = c.get("remove_diagonal", o.remove_diagonal);
       return losses::Circle(o);
     }},
};

}  // namespace

bool is_library_loss(const Loss& loss) {
  const std::string name = saved_class_name(loss);
  for (const Maker& m : kMakers)
    if (name == m.class_name) return true;
  return false;
}

std::vector<std::string> loss_class_names() {
  std::vector<std::string> names = registered_loss_names();
  for (const Maker& m : kMakers) names.push_back(m.class_name);
  return names;
}

LossRef loss_from_config(const std::string& class_name, const Config& config) {
  const Config empty = Config::dict();
  for (const Maker& m : kMakers)
    if (class_name == m.class_name) return m.make(config.is_dict() ? config : empty);
  if (LossRef own = registered_loss(class_name, config); own.defined()) return own;
  return LossRef(class_name);  // a function by its name, or an error that tells the nearest
}

}  // namespace rill::keras
