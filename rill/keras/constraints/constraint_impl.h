#pragma once
#include "rill/core/resource.h"
#include "rill/keras/constraints/constraint.h"

namespace rill::keras {

// A variable keeps its constraint itself, so that whoever updates it finds it.
class ConstraintImpl : public Projection {
 public:
  Tensor project(const Tensor& value) const override { return f(value); }
  std::string class_name;
  Config config;
  std::function<Tensor(const Tensor&)> f;
};

}  // namespace rill::keras
