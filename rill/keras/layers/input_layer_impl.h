#pragma once
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/layers/core.h"

namespace rill::keras {

class InputLayerImpl : public LayerImpl {
 public:
  explicit InputLayerImpl(const layers::InputLayerOptions& options);
  Tensor call(const Tensor& x, const CallContext&) override { return x; }
  void add_config(Config& config) const override;
  // Its symbolic tensor, always of the same node.
  Tensor symbol();

 private:
  static std::string next_input_name();
  Config config() const;
};

}  // namespace rill::keras
