// The optimizers' updates: each one fused kernel over a variable and its slots,
// dense or by rows.
#include "rill/ops/state/apply.h"

namespace rill {
namespace {

void apply_shape(ShapeContext& c) {
  const Op& op = c.op();
  TensorShape var;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const std::string& name = op.inputs[static_cast<std::size_t>(i)].name;
    const Tensor* value = c.input_value(i);
    if (op.inputs[static_cast<std::size_t>(i)].type_attr < 0) {  // a variable
      if (!value) continue;
      const TensorShape shape = value_shape(*value);
      if (i == 0) var = shape;
      RILL_CHECK(var.is_compatible_with(shape), invalid_argument,
                 "[{}] slot \"{}\" has shape {}, the variable has shape {}", c.tag(), name, shape,
                 var);
    } else if (name == "grad" || name == "delta") {
      const bool sparse = op.find_input("indices") >= 0;
      if (!sparse) {
        RILL_CHECK(var.is_compatible_with(c.input(i)), invalid_argument,
                   "[{}] the variable has shape {}, its gradient has shape {}", c.tag(), var,
                   c.input(i));
      } else if (var.has_rank() && c.input(i).has_rank()) {
        Dims rows = var.dims();
        RILL_CHECK(!rows.empty(), invalid_argument, "[{}] a scalar variable has no rows to update",
                   c.tag());
        rows[0] = -1;
        RILL_CHECK(TensorShape(rows).is_compatible_with(c.input(i)), invalid_argument,
                   "[{}] the variable has shape {}, rows of its gradient {}", c.tag(), var,
                   c.input(i));
      }
    } else if (name == "indices") {
      require_rank(c, i, 1, "indices");
      const TensorShape& grad = c.input(op.find_input("grad"));
      if (grad.has_rank() && c.input(i).has_rank())
        merge_dims(grad.dim(0), c.input(i).dim(0), c.tag(), "numbers of rows and of indices");
    } else {
      require_rank(c, i, 0, name);
    }
  }
}

}  // namespace

OpBuilder apply_op(std::string_view name, std::string_view tag,
                   std::initializer_list<const char*> slots,
                   std::initializer_list<const char*> inputs) {
  OpBuilder b(name, tag);
  for (const char* s : slots) b.input(std::string(s) + ": resource");
  for (const char* i : inputs)
    b.input(std::string(i) + (std::string_view(i) == "indices" ? ": Tindices" : ": T"));
  b.attr("use_locking: bool = false")
      .type("T", kFloatTypes)
      .shape(apply_shape)
      .no_gradient()
      .variable(VariableUse::update);
  for (const char* i : inputs) {
    const std::string_view input = i;
    if (input == "indices")
      b.type("Tindices", kIndexTypes);
    else if (input != "grad" && input != "delta")
      b.host(input);  // the step's numbers
  }
  return b;
}

namespace {

#define RILL_APPLY(id, name, ...) const Op& id = apply_op(name, name, __VA_ARGS__)
// Declared in pairs: dense, then by rows.
RILL_APPLY(descent, "ResourceApplyGradientDescent", {"var"}, {"alpha", "delta"})
    .doc("var -= alpha * delta.")
    .define();

RILL_APPLY(momentum, "ResourceApplyMomentum", {"var", "accum"}, {"lr", "grad", "momentum"})
    .attr("use_nesterov: bool = false")
    .doc("accum = accum * momentum + grad; var -= lr * accum.")
    .define();
RILL_APPLY(sparse_momentum, "ResourceSparseApplyMomentum", {"var", "accum"},
           {"lr", "grad", "indices", "momentum"})
    .attr("use_nesterov: bool = false")
    .doc("The momentum update of some rows.")
    .define();
RILL_APPLY(keras_momentum, "ResourceApplyKerasMomentum", {"var", "accum"},
           {"lr", "grad", "momentum"})
    .attr("use_nesterov: bool = false")
    .doc("accum = accum * momentum - lr * grad; var += accum.")
    .define();
RILL_APPLY(sparse_keras_momentum, "ResourceSparseApplyKerasMomentum", {"var", "accum"},
           {"lr", "grad", "indices", "momentum"})
    .attr("use_nesterov: bool = false")
    .doc("Keras's momentum update of some rows.")
    .define();

RILL_APPLY(adagrad, "ResourceApplyAdagrad", {"var", "accum"}, {"lr", "grad"})
    .attr("update_slots: bool = true")
    .doc("accum += grad^2; var -= lr * grad / sqrt(accum).")
    .define();
RILL_APPLY(sparse_adagrad, "ResourceSparseApplyAdagrad", {"var", "accum"},
           {"lr", "grad", "indices"})
    .attr("update_slots: bool = true")
    .doc("The Adagrad update of some rows.")
    .define();
RILL_APPLY(adagrad_v2, "ResourceApplyAdagradV2", {"var", "accum"}, {"lr", "epsilon", "grad"})
    .attr("update_slots: bool = true")
    .doc("accum += grad^2; var -= lr * grad / (sqrt(accum) + epsilon).")
    .define();
RILL_APPLY(sparse_adagrad_v2, "ResourceSparseApplyAdagradV2", {"var", "accum"},
           {"lr", "epsilon", "grad", "indices"})
    .attr("update_slots: bool = true")
    .doc("The Adagrad update, with epsilon, of some rows.")
    .define();

RILL_APPLY(adadelta, "ResourceApplyAdadelta", {"var", "accum", "accum_update"},
           {"lr", "rho", "epsilon", "grad"})
    .doc("Steps scaled by the running sizes of gradients and of updates.")
    .define();
RILL_APPLY(sparse_adadelta, "ResourceSparseApplyAdadelta", {"var", "accum", "accum_update"},
           {"lr", "rho", "epsilon", "grad", "indices"})
    .doc("The Adadelta update of some rows.")
    .define();

RILL_APPLY(rmsprop, "ResourceApplyRMSProp", {"var", "ms", "mom"},
           {"lr", "rho", "momentum", "epsilon", "grad"})
    .doc("Steps divided by the running root mean square of gradients.")
    .define();
RILL_APPLY(sparse_rmsprop, "ResourceSparseApplyRMSProp", {"var", "ms", "mom"},
           {"lr", "rho", "momentum", "epsilon", "grad", "indices"})
    .doc("The RMSProp update of some rows.")
    .define();
RILL_APPLY(centered, "ResourceApplyCenteredRMSProp", {"var", "mg", "ms", "mom"},
           {"lr", "rho", "momentum", "epsilon", "grad"})
    .doc("RMSProp by the running variance of gradients.")
    .define();
RILL_APPLY(sparse_centered, "ResourceSparseApplyCenteredRMSProp", {"var", "mg", "ms", "mom"},
           {"lr", "rho", "momentum", "epsilon", "grad", "indices"})
    .doc("The centred RMSProp update of some rows.")
    .define();

RILL_APPLY(adam, "ResourceApplyAdam", {"var", "m", "v"},
           {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"})
    .attr("use_nesterov: bool = false")
    .doc("Adam: running mean and square of gradients, corrected for their start at zero.")
    .define();
RILL_APPLY(amsgrad, "ResourceApplyAdamWithAmsgrad", {"var", "m", "v", "vhat"},
           {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"})
    .doc("Adam by the largest running square so far.")
    .define();
RILL_APPLY(adamax, "ResourceApplyAdaMax", {"var", "m", "v"},
           {"beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"})
    .doc("Adam by the running largest gradient.")
    .define();
RILL_APPLY(ftrl, "ResourceApplyFtrl", {"var", "accum", "linear"},
           {"grad", "lr", "l1", "l2", "lr_power"})
    .attr("multiply_linear_by_lr: bool = false")
    .doc("Follow the regularised leader.")
    .define();
RILL_APPLY(sparse_ftrl, "ResourceSparseApplyFtrl", {"var", "accum", "linear"},
           {"grad", "indices", "lr", "l1", "l2", "lr_power"})
    .attr("multiply_linear_by_lr: bool = false")
    .doc("The Ftrl update of some rows.")
    .define();
RILL_APPLY(ftrl_v2, "ResourceApplyFtrlV2", {"var", "accum", "linear"},
           {"grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"})
    .attr("multiply_linear_by_lr: bool = false")
    .doc("Follow the regularised leader, with shrinkage.")
    .define();
RILL_APPLY(sparse_ftrl_v2, "ResourceSparseApplyFtrlV2", {"var", "accum", "linear"},
           {"grad", "indices", "lr", "l1", "l2", "l2_shrinkage", "lr_power"})
    .attr("multiply_linear_by_lr: bool = false")
    .doc("The Ftrl update, with shrinkage, of some rows.")
    .define();

// TensorFlow composes these of several ops; here they are one kernel each.
RILL_APPLY(nadam, "ResourceApplyNadam", {"var", "m", "v"},
           {"u_product", "u_product_next", "u", "u_next", "beta2_power", "lr", "beta1", "beta2",
            "epsilon", "grad"})
    .doc("Adam with Nesterov's momentum, on Keras's momentum schedule.")
    .define();
// Of beta = 0.999 a float keeps few digits of 1 - beta, so Keras hands it over worked out in double
// precision.
RILL_APPLY(adam_keras, "ResourceApplyAdamKeras", {"var", "m", "v"},
           {"beta1_power", "beta2_power", "lr", "rest1", "rest2", "epsilon", "grad"})
    .doc("Adam with rest1 = 1 - beta1 and rest2 = 1 - beta2 given.")
    .define();
RILL_APPLY(amsgrad_keras, "ResourceApplyAdamWithAmsgradKeras", {"var", "m", "v", "vhat"},
           {"beta1_power", "beta2_power", "lr", "rest1", "rest2", "epsilon", "grad"})
    .doc(
        "Adam by the largest running square so far, with rest1 = 1 - beta1 and rest2 = 1 - beta2 "
        "given.")
    .define();
RILL_APPLY(adagrad_keras, "ResourceApplyAdagradKeras", {"var", "accum"}, {"lr", "epsilon", "grad"})
    .doc("accum += grad^2; var -= lr * grad / sqrt(accum + epsilon).")
    .define();
RILL_APPLY(sparse_adagrad_keras, "ResourceSparseApplyAdagradKeras", {"var", "accum"},
           {"lr", "epsilon", "grad", "indices"})
    .doc("Keras's Adagrad update of some rows.")
    .define();

}  // namespace

void run_update(std::string_view op, const std::vector<Tensor>& inputs, AttrList attrs) {
  execute_all(find_op(op), as_inputs(inputs), attrs, 0);
}

void apply_gradient_descent(const Tensor& var, const Operand& alpha, const Operand& delta) {
  const DType d = variable_cell(var).dtype;
  execute_all(descent, {var, Arg(alpha, d), Arg(delta, d)});
}

}  // namespace rill
