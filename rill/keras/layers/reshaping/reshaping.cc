#include "rill/keras/layers/reshaping.h"
#include "rill/keras/layers/fields_impl.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

struct PermuteFields {
  using Options = layers::PermuteOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("dims", o.dims);
  }
};

class PermuteLayer : public LayerImpl {
 public:
  explicit PermuteLayer(const layers::PermuteOptions& o) : LayerImpl("Permute", common(o)), o_(o) {
    std::vector<int> sorted = o_.dims;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      RILL_CHECK(sorted[i] == static_cast<int>(i) + 1, invalid_argument,
                 "[Permute] dims contains {}; expected each number from 1 to {} once", sorted[i],
                 sorted.size());
    RILL_CHECK(!o_.dims.empty(), invalid_argument, "[Permute] dims is not given");
    input_spec.ndim = static_cast<int>(o_.dims.size()) + 1;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    std::vector<int> perm = o_.dims;
    perm.insert(perm.begin(), 0);
    return transpose(x, perm);
  }
  void add_config(Config& c) const override { write_fields<PermuteFields>(o_, c); }

 private:
  layers::PermuteOptions o_;
};

struct RepeatVectorFields {
  using Options = layers::RepeatVectorOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("n", o.n);
  }
};

class RepeatVectorLayer : public LayerImpl {
 public:
  explicit RepeatVectorLayer(const layers::RepeatVectorOptions& o)
      : LayerImpl("RepeatVector", common(o)), o_(o) {
    RILL_CHECK(o_.n > 0, invalid_argument, "[RepeatVector] n is {}; expected a positive number",
               o_.n);
    input_spec.ndim = 2;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return tile(expand_dims(x, 1), {1, o_.n, 1});
  }
  void add_config(Config& c) const override { write_fields<RepeatVectorFields>(o_, c); }

 private:
  layers::RepeatVectorOptions o_;
};

const RegisterFields<PermuteFields, layers::Permute> permute("Permute");
const RegisterFields<RepeatVectorFields, layers::RepeatVector> repeat_vector("RepeatVector");

}  // namespace

layers::Permute::Permute(PermuteOptions o) : Layer(this, new PermuteLayer(o)) {}
layers::RepeatVector::RepeatVector(RepeatVectorOptions o) : Layer(this, new RepeatVectorLayer(o)) {}
layers::RepeatVector::RepeatVector(std::int64_t n, RepeatVectorOptions o)
    : RepeatVector((o.n = n, std::move(o))) {}

}  // namespace rill::keras
