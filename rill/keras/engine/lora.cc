// Low-rank adaptation (LoRA) of a weight.
#include "rill/keras/engine/lora_impl.h"

#include <algorithm>
#include <atomic>

#include "rill/base/check.h"
#include "rill/core/call_context.h"
#include "rill/graph/ir/graph.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

std::atomic<std::int64_t> adapted = 0;

void check_rank(const LayerImpl& l, std::int64_t rank, std::int64_t least) {
  RILL_CHECK(rank >= least, invalid_argument, "[{}] lora_rank is {}; expected {}", l.name(), rank,
             least == 0 ? "a positive number, or 0 for no adaptation" : "a positive number");
}

}  // namespace

std::int64_t adapted_layers() { return adapted; }

std::unique_ptr<Lora> make_lora(const LayerImpl& layer, const char* weight,
                                const Constraint& constraint, std::int64_t& rank,
                                std::optional<double>& alpha) {
  check_rank(layer, rank, 0);
  if (rank > 0 && !alpha) alpha = static_cast<double>(rank);
  return std::unique_ptr<Lora>(new Lora{weight, constraint.defined(), rank, alpha});
}

Tensor Lora::merged(const Tensor& w_value, const Tensor& a_value, const Tensor& b_value) const {
  const TensorShape& shape = w_value.shape();
  Tensor product = shape.rank() == 2
                       ? matmul(a_value, b_value)
                       : reshape(matmul(reshape(a_value, {-1, rank}), b_value), shape);
  return w_value + product * scale();
}
Tensor Lora::merged() const {
  const DType dtype = w.dtype();
  const auto value = [&](const Variable& v) {
    return v.dtype() == dtype ? v.value() : cast(v.value(), dtype);
  };
  return enabled() ? merged(w.value(), value(a), value(b)) : w.value();
}

Tensor LayerImpl::adapted_in_compute_dtype(const Variable& weight) const {
  const Tensor value = in_compute_dtype(weight);
  return lora->enabled() ? lora->merged(value, in_compute_dtype(lora->a), in_compute_dtype(lora->b))
                         : value;
}

void LayerImpl::begin_lora() {
  if (lora && lora->rank > 0 && !lora->enabled())
    enable_lora(lora->rank, {.lora_alpha = lora->alpha});
}

void LayerImpl::enable_lora(std::int64_t rank, LoraOptions o) {
  RILL_CHECK(lora, invalid_argument,
             "[{}] enable_lora: a {} has no low-rank adaptation; Dense, EinsumDense, Embedding, "
             "Conv1D, Conv2D and Conv3D have. Call it for such layers inside: "
             "model.get_layer(name)->enable_lora(rank)",
             name(), class_name());
  RILL_CHECK(
      !lora->constrained, invalid_argument,
      "[{}] enable_lora: the weight \"{}\" has a constraint, which would not hold for the sum "
      "that the layer computes with. Leave out {}_constraint",
      name(), lora->weight, lora->weight);
  RILL_CHECK(built || build_under_way, failed_precondition,
             "[{}] enable_lora: the layer has not made its weights yet. Call it on data, or "
             "build(shape), first; or give lora_rank to the constructor",
             name());
  RILL_CHECK(!lora->enabled(), failed_precondition,
             "[{}] enable_lora: it is enabled already, with rank {}; a layer is adapted once",
             name(), lora->rank);
  check_rank(*this, rank, 1);
  const auto at =
      std::find_if(own.begin(), own.end(), [&](const Weight& w) { return w.name == lora->weight; });
  RILL_INTERNAL_CHECK(at != own.end());
  const Variable w = at->variable;
  const Regularizer regularizer = at->regularizer;
  const EagerScope eager;  // weights have values, also when a function is being traced
  TensorShape in = w.shape();
  const std::int64_t out = in.dim(in.rank() - 1);
  in.set_dim(in.rank() - 1, rank);
  // In float32 also beside a W of half precision: the steps of training would be lost in less.
  const Variable a = add_weight(
      "lora_" + lora->weight + "_a", in,
      {.dtype = float32, .initializer = std::move(o.a_initializer), .regularizer = regularizer});
  const Variable b = add_weight(
      "lora_" + lora->weight + "_b", {rank, out},
      {.dtype = float32, .initializer = std::move(o.b_initializer), .regularizer = regularizer});
  for (Weight& each : own)
    if (each.name == lora->weight) {
      each.frozen = true;
      each.regularizer = {};
    }
  lora->rank = rank;
  lora->alpha = o.lora_alpha.value_or(static_cast<double>(rank));
  lora->w = w, lora->a = a, lora->b = b;
  ++adapted;
}

std::vector<const Lora*> loras_in(const LayerImpl& layer) {
  std::vector<const Lora*> all;
  if (layer.lora && layer.lora->enabled()) all.push_back(layer.lora.get());
  for (const Ref<LayerImpl>& c : layer.children)
    for (const Lora* l : loras_in(*c))
      if (std::find(all.begin(), all.end(), l) == all.end()) all.push_back(l);
  return all;
}

void Layer::enable_lora(std::int64_t rank, LoraOptions options) {
  LayerObjects::introduce(*this);
  const NameStack names(impl_->name());
  impl_->enable_lora(rank, std::move(options));
}
bool Layer::lora_enabled() const { return impl_->lora && impl_->lora->enabled(); }

}  // namespace rill::keras
