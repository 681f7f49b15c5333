#pragma once
#include "rill/keras/engine/layer_impl.h"

namespace rill::keras {

// A layer that makes one tensor of several.
class MergingLayer : public LayerImpl {
 public:
  MergingLayer(std::string_view class_name, LayerOptions o) : LayerImpl(class_name, std::move(o)) {
    supports_masking = true;
  }
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override;

 protected:
  virtual Tensor merge(const std::vector<Tensor>& inputs) const = 0;
  // Of inputs of which at least one has a mask; undefined for those that have none.
  virtual Tensor merge_masks(const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& masks) const;
  void require_two(const std::vector<Tensor>& inputs) const;
};

}  // namespace rill::keras
