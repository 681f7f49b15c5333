#pragma once
#include "rill/keras/training/trainer_impl.h"
#include "rill/ops/random/seeds.h"

namespace rill::keras {

// The steps of a fit that was given on_nan: what a step changes is kept until the next one, so
// that a step which makes the loss or a weight infinite or NaN can be undone and looked into.
class NanWatch {
 public:
  NanWatch(Model& model, Trainer& trainer) : model_(model), trainer_(trainer) {}
  // The step of batch `number` of an epoch, both counted from 0. InvalidArgument with the report.
  Nest step(const Nest& batch, int epoch, std::int64_t number);

 private:
  struct Kept {
    std::vector<std::pair<Variable, Tensor>> values;
    std::vector<std::int64_t> random, streams;
  };
  void prepare(const Nest& batch);
  Kept keep(const Nest& batch) const;
  static void put_back(const Kept& kept);
  // What is wrong after a step; empty: nothing.
  std::string fault(const Nest& results) const;
  std::string replay(const Nest& batch, const Kept& before) const;

  Model& model_;
  Trainer& trainer_;
};

}  // namespace rill::keras
