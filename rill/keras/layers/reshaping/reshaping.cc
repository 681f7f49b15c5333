#include "rill/keras/layers/reshaping.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/layer_impl.h"
#include "rill/keras/layers/registry.h"
#include "rill/keras/layers/weight_config_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

class PermuteLayer : public LayerImpl {
 public:
  explicit PermuteLayer(const layers::PermuteOptions& o)
      : LayerImpl("Permute", common(o)), dims_(o.dims) {
    std::vector<int> sorted = dims_;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      RILL_CHECK(sorted[i] == static_cast<int>(i) + 1, invalid_argument,
                 "[Permute] dims contains {}; expected each number from 1 to {} once", sorted[i],
                 sorted.size());
    RILL_CHECK(!dims_.empty(), invalid_argument, "[Permute] dims is not given");
    input_spec.ndim = static_cast<int>(dims_.size()) + 1;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    std::vector<int> perm = dims_;
    perm.insert(perm.begin(), 0);
    return transpose(x, perm);
  }
  void add_config(Config& c) const override { c.set("dims", Config::list_of(dims_)); }

 private:
  std::vector<int> dims_;
};

class RepeatVectorLayer : public LayerImpl {
 public:
  explicit RepeatVectorLayer(const layers::RepeatVectorOptions& o)
      : LayerImpl("RepeatVector", common(o)), n_(o.n) {
    RILL_CHECK(n_ > 0, invalid_argument, "[RepeatVector] n is {}; expected a positive number", n_);
    input_spec.ndim = 2;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return tile(expand_dims(x, 1), {1, n_, 1});
  }
  void add_config(Config& c) const override { c.set("n", n_); }

 private:
  std::int64_t n_;
};

const RegisterLayer permute("Permute", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::PermuteOptions>(c);
  for (std::int64_t i : c["dims"].as_ints()) o.dims.push_back(static_cast<int>(i));
  return layers::Permute(std::move(o));
});
const RegisterLayer repeat_vector("RepeatVector", [](const Config& c) -> LayerRef {
  auto o = from_common<layers::RepeatVectorOptions>(c);
  o.n = c["n"].as_int();
  return layers::RepeatVector(std::move(o));
});

}  // namespace

layers::Permute::Permute(PermuteOptions o) : Layer(this, new PermuteLayer(o)) {}
layers::RepeatVector::RepeatVector(RepeatVectorOptions o) : Layer(this, new RepeatVectorLayer(o)) {}
layers::RepeatVector::RepeatVector(std::int64_t n, RepeatVectorOptions o)
    : RepeatVector((o.n = n, std::move(o))) {}

}  // namespace rill::keras
