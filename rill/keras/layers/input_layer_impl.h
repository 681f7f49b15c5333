#pragma once
#include "rill/keras/engine/symbolic_impl.h"
#include "rill/keras/layers/core.h"

namespace rill::keras {

class InputLayerImpl : public LayerImpl {
 public:
  explicit InputLayerImpl(const layers::InputLayerOptions& options);
  Tensor call(const Tensor& x, const CallContext&) override { return x; }
  void add_config(Config& config) const override;
  // Its symbolic value, a tensor or a composite, always of the same node.
  Nest symbol();
  // Such a value as arguments of a graph.
  Nest argument(Graph& graph) const;
  bool is_sparse() const { return sparse_; }
  bool is_ragged() const { return ragged_; }

 private:
  const bool sparse_, ragged_;
  static std::string next_input_name();
  Config config() const;
};

}  // namespace rill::keras
