#pragma once
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/normalization.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/keras/layers/window_impl.h"

namespace rill::keras {

// Axes counted from the front. InvalidArgument for those that the rank does not have, and for
// one that comes twice.
std::vector<int> axes_of(std::string_view layer, const nn::Sizes& given, int rank);
// As Keras writes it: a number as long as it counts from the end, a list once it is built.
Config axis_config(const nn::Sizes& given, const std::vector<int>& built);

inline bool is_half(DType d) { return d == float16 || d == bfloat16; }
// In what half types are normalised.
Tensor widened(const Tensor& x);

// scale and shift after normalisation; either may be left out.
class ScaleAndShift {
 public:
  template <class O>
  explicit ScaleAndShift(const O& o)
      : center_(o.center),
        scale_(o.scale),
        beta_{.initializer = o.beta_initializer,
              .regularizer = o.beta_regularizer,
              .constraint = o.beta_constraint},
        gamma_{.initializer = o.gamma_initializer,
               .regularizer = o.gamma_regularizer,
               .constraint = o.gamma_constraint} {}
  void build(LayerImpl& layer, const TensorShape& shape, DType dtype);
  // Undefined where there is none.
  Tensor gamma(DType dtype) const;
  Tensor beta(DType dtype) const;
  // Ones and zeros where there is none.
  Tensor gamma_or_ones(DType dtype) const;
  Tensor beta_or_zeros(DType dtype) const;

 private:
  bool center_, scale_;
  AddWeightOptions beta_, gamma_;
  TensorShape shape_;
  Variable beta_weight_, gamma_weight_;
};

template <class O>
void add_scale_config(const O& o, Config& c) {
  c.set("epsilon", o.epsilon);
  c.set("center", o.center);
  c.set("scale", o.scale);
  c.set("beta_initializer", serialize(o.beta_initializer));
  c.set("gamma_initializer", serialize(o.gamma_initializer));
}
template <class O>
void add_penalty_config(const O& o, Config& c) {
  c.set("beta_regularizer", o.beta_regularizer.serialize());
  c.set("gamma_regularizer", o.gamma_regularizer.serialize());
  c.set("beta_constraint", o.beta_constraint.serialize());
  c.set("gamma_constraint", o.gamma_constraint.serialize());
}
template <class O>
void read_scale(O& o, const Config& c) {
  o.epsilon = c.get("epsilon", o.epsilon);
  o.center = c.get("center", true);
  o.scale = c.get("scale", true);
  o.beta_initializer = deserialize_initializer(c.get("beta_initializer"), o.beta_initializer);
  o.gamma_initializer = deserialize_initializer(c.get("gamma_initializer"), o.gamma_initializer);
  o.beta_regularizer = Regularizer::deserialize(c.get("beta_regularizer"));
  o.gamma_regularizer = Regularizer::deserialize(c.get("gamma_regularizer"));
  o.beta_constraint = Constraint::deserialize(c.get("beta_constraint"));
  o.gamma_constraint = Constraint::deserialize(c.get("gamma_constraint"));
}

}  // namespace rill::keras
