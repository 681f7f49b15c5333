#pragma once
#include <memory>
#include <optional>

#include "rill/keras/engine/layer.h"

namespace rill::keras {

// The low-rank adaptation of a layer that can have one: W + alpha / rank * A B, of which A and B
// train and W does not. W is [.., n], A [.., rank] and B [rank, n].
struct Lora {
  std::string weight;  // the name of W
  bool constrained;    // W has a constraint
  std::int64_t& rank;  // as the options of the layer have it; 0: not asked for
  std::optional<double>& alpha;
  Variable w = {}, a = {}, b = {};

  bool enabled() const { return a.defined(); }
  double scale() const { return *alpha / static_cast<double>(rank); }
  // The whole of it, in the dtype of W.
  Tensor merged() const;
  // The same of parts in one dtype.
  Tensor merged(const Tensor& w_value, const Tensor& a_value, const Tensor& b_value) const;
};

// Of a layer that is being constructed: `rank` and `alpha` are fields of the options that it keeps.
// InvalidArgument for a rank below 0.
std::unique_ptr<Lora> make_lora(const LayerImpl& layer, const char* weight,
                                const Constraint& constraint, std::int64_t& rank,
                                std::optional<double>& alpha);

// How often layers were adapted in this process. Functions that were traced before compute as
// without it.
std::int64_t adapted_layers();

// The adaptations of a layer and of all in it.
std::vector<const Lora*> loras_in(const LayerImpl& layer);

}  // namespace rill::keras
