#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

namespace rill::keras {

namespace {

struct DenseFields {
  using Options = layers::DenseOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("units", o.units);
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    visit_kernel_and_bias(f, o);
    visit_lora(f, o);
  }
};

class DenseLayer : public LayerImpl {
 public:
  explicit DenseLayer(layers::DenseOptions o) : LayerImpl("Dense", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.units > 0, invalid_argument,
               "[Dense] units is {}; expected a positive number of outputs", o_.units);
    activity_regularizer = o_.activity_regularizer;
    lora = make_lora(*this, "kernel", o_.kernel_constraint, o_.lora_rank, o_.lora_alpha);
    input_spec.min_ndim = 2;
    supports_masking = true;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const std::int64_t in = shapes[0].has_rank() ? shapes[0].dim(-1) : -1;
    RILL_CHECK(in >= 0, invalid_argument,
               "[{}] the last dimension of the inputs to a Dense layer should be defined; got an "
               "input of shape {}",
               name(), shapes[0]);
    kernel_ = add_weight("kernel", {in, o_.units},
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    if (o_.use_bias)
      bias_ = add_weight("bias", {o_.units},
                         {.initializer = o_.bias_initializer,
                          .regularizer = o_.bias_regularizer,
                          .constraint = o_.bias_constraint});
    input_spec.axes = {{-1, in}};
    begin_lora();
  }

  Tensor call(const Tensor& given, const CallContext&) override {
    const Tensor x =
        given.dtype() == policy.compute_dtype() ? given : cast(given, policy.compute_dtype());
    const Tensor kernel = adapted_in_compute_dtype(kernel_);
    const bool flat = x.ndim() == 2;
    Tensor y = matmul(flat ? x : reshape(x, {-1, kernel.shape().dim(0)}), kernel);
    if (o_.use_bias) y = nn::bias_add(y, in_compute_dtype(bias_));
    if (!flat) y = restored(y, x);
    return o_.activation(y);
  }

  // Sparse rows are multiplied by the values that there are, ragged ones step by step.
  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    if (inputs.composite_kind() == "ragged") {
      const RaggedTensor x = inputs.as_ragged();
      RILL_CHECK(x.flat_values().ndim() >= 2, invalid_argument,
                 "[{}] the input has shape {}; expected features of one length behind the ragged "
                 "axes",
                 name(), x.shape());
      return x.with_flat_values(call(x.flat_values(), context));
    }
    if (inputs.composite_kind() != "sparse") return LayerImpl::call_nest(inputs, context);
    SparseTensor x = inputs.as_sparse();
    RILL_CHECK(!x.shape().has_rank() || x.shape().rank() == 2, invalid_argument,
               "[{}] the sparse input has shape {}; expected [batch, features]", name(), x.shape());
    if (x.dtype() != policy.compute_dtype()) x = cast(x, policy.compute_dtype());
    Tensor y = sparse::sparse_dense_matmul(x, adapted_in_compute_dtype(kernel_));
    if (o_.use_bias) y = nn::bias_add(y, in_compute_dtype(bias_));
    return Nest(o_.activation(y));
  }

  void add_config(Config& c) const override { write_fields<DenseFields>(o_, c); }

 private:
  // [rows, units] as [.., units] of x.
  Tensor restored(const Tensor& y, const Tensor& x) const {
    TensorShape to = x.shape();
    to.set_dim(to.rank() - 1, o_.units);
    return reshape_to(y, to, x);
  }

  layers::DenseOptions o_;
  Variable kernel_, bias_;
};

const RegisterFields<DenseFields, layers::Dense> registered_dense("Dense");

}  // namespace

namespace {
layers::DenseOptions with_shape(layers::DenseOptions o) {
  if (o.input_dim == 0) return o;
  RILL_CHECK(o.input_dim > 0, invalid_argument, "[Dense] input_dim is {}; expected at least 1",
             o.input_dim);
  if (!o.input_shape.has_rank()) o.input_shape = {o.input_dim};
  return o;
}
}  // namespace

layers::Dense::Dense(DenseOptions o) : Layer(this, new DenseLayer(with_shape(std::move(o)))) {}
layers::Dense::Dense(std::int64_t units, DenseOptions o) : Dense((o.units = units, std::move(o))) {}
layers::Dense::Dense(std::int64_t units, keras::Activation activation, DenseOptions o)
    : Dense(units, (o.activation = std::move(activation), std::move(o))) {}

}  // namespace rill::keras
