#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct MaskingFields {
  using Options = layers::MaskingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("mask_value", o.mask_value);
  }
};

class MaskingLayer : public LayerImpl {
 public:
  explicit MaskingLayer(layers::MaskingOptions o)
      : LayerImpl("Masking", common(o)), o_(std::move(o)) {
    supports_masking = true;
    input_spec.min_ndim = 1;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return x * cast(expand_dims(counts(x), -1), x.dtype());
  }
  Tensor compute_mask(const Nest& inputs, const Tensor&) override {
    return counts(inputs.as_tensor());
  }
  void add_config(Config& c) const override { write_fields<MaskingFields>(o_, c); }

 private:
  // True where a step is not all mask_value.
  Tensor counts(const Tensor& x) const {
    return reduce_any(not_equal(x, cast(constant(o_.mask_value), x.dtype())), -1);
  }

  layers::MaskingOptions o_;
};

const RegisterFields<MaskingFields, layers::Masking> registered_masking("Masking");

}  // namespace

layers::Masking::Masking() : Masking(MaskingOptions{}) {}
layers::Masking::Masking(MaskingOptions o) : Layer(this, new MaskingLayer(std::move(o))) {}
layers::Masking::Masking(double mask_value, MaskingOptions o)
    : Masking((o.mask_value = mask_value, std::move(o))) {}

}  // namespace rill::keras
