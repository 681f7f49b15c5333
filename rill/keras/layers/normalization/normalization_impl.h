#pragma once
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/normalization.h"

namespace rill::keras {

// Axes counted from the front. InvalidArgument for those that the rank does not have, and for
// one that comes twice.
std::vector<int> axes_of(std::string_view layer, const nn::Sizes& given, int rank);

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

// A number as long as it counts from the end, else a list.
struct AxisField : PlainField {
  static Config write(const nn::Sizes& v) {
    const bool one = v.list().size() == 1 && v.list()[0] < 0;
    return one ? Config(v.list()[0]) : Config::list_of(v.list());
  }
};
// Keras writes the axes that a built layer found.
template <class O>
O with_axes(O o, const std::vector<int>& built) {
  if (!built.empty()) o.axis = built;
  return o;
}
template <class F, class O>
void visit_scale(F& f, O& o) {
  f("epsilon", o.epsilon);
  f("center", o.center);
  f("scale", o.scale);
  f("beta_initializer", o.beta_initializer);
  f("gamma_initializer", o.gamma_initializer);
}
template <class F, class O>
void visit_penalties(F& f, O& o) {
  f("beta_regularizer", o.beta_regularizer);
  f("gamma_regularizer", o.gamma_regularizer);
  f("beta_constraint", o.beta_constraint);
  f("gamma_constraint", o.gamma_constraint);
}

}  // namespace rill::keras
