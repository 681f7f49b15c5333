#pragma once
#include <functional>

#include "rill/graph/function/function.h"

namespace rill::keras {

// A function of tensors traced once for these specs. The callable is used now and never again.
inline ConcreteFunction trace(const std::string& name, const std::vector<TensorSpec>& specs,
                              std::function<Nest(const std::vector<Tensor>&)> f) {
  class OfLeaves : public rill::detail::Traceable {
   public:
    OfLeaves(std::size_t n, std::function<Nest(const std::vector<Tensor>&)> body)
        : n_(n), body_(std::move(body)) {}
    Nest call(const rill::detail::Argument* args) override {
      std::vector<Tensor> leaves;
      for (std::size_t i = 0; i < n_; ++i) leaves.push_back(args[i].tensor);
      return body_(leaves);
    }

   private:
    std::size_t n_;
    std::function<Nest(const std::vector<Tensor>&)> body_;
  };
  const rill::detail::AnyFunction any(new OfLeaves(specs.size(), std::move(f)), {.name = name});
  return any.concrete(specs);
}

}  // namespace rill::keras
