#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/merging.h"
#include "rill/keras/layers/merging/merging_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

Nest MergingLayer::call_nest(const Nest& inputs, const CallContext&) {
  RILL_CHECK(!inputs.is_tensor() && inputs.size() > 0, invalid_argument,
             "[{}] a {} layer should be called on a list of inputs, as layer({{a, b}}); got {}",
             name(), class_name(), inputs.is_tensor() ? "one tensor" : "an empty list");
  return merge(inputs.flatten());
}
Tensor MergingLayer::compute_mask(const Nest& inputs, const Tensor&) {
  const std::vector<Tensor> all = inputs.flatten();
  std::vector<Tensor> masks;
  bool any = false;
  for (const Tensor& x : all) {
    masks.push_back(x.impl()->mask ? Tensor(x.impl()->mask) : Tensor());
    any = any || masks.back().defined();
  }
  return any ? merge_masks(all, masks) : Tensor();
}
Tensor MergingLayer::merge_masks(const std::vector<Tensor>&,
                                 const std::vector<Tensor>& masks) const {
  Tensor all;
  // Keras 3: what counts in one of the inputs, if all have masks. Keras 2: what counts in each that
  // has one.
  for (const Tensor& m : masks) {
    if (behaves_as == 3 && !m.defined()) return {};
    if (!m.defined()) continue;
    all = !all.defined() ? m : behaves_as == 3 ? logical_or(all, m) : logical_and(all, m);
  }
  return all;
}
void MergingLayer::require_two(const std::vector<Tensor>& inputs) const {
  RILL_CHECK(inputs.size() == 2, invalid_argument,
             "[{}] a {} layer should be called on exactly 2 inputs; got {}", name(), class_name(),
             inputs.size());
}

namespace {

using layers::MergeKind;

const char* class_of(MergeKind kind) {
  switch (kind) {
    case MergeKind::add:
      return "Add";
    case MergeKind::subtract:
      return "Subtract";
    case MergeKind::multiply:
      return "Multiply";
    case MergeKind::average:
      return "Average";
    case MergeKind::maximum:
      return "Maximum";
    case MergeKind::minimum:
      return "Minimum";
  }
  return "";
}

class ElementwiseMerge : public MergingLayer {
 public:
  ElementwiseMerge(MergeKind kind, const layers::MergeOptions& o)
      : MergingLayer(class_of(kind), common(o)), kind_(kind) {}

  void build(const std::vector<TensorShape>& shapes) override {
    std::int64_t batch = -1;
    for (const TensorShape& s : shapes)
      if (s.has_rank() && s.rank() > 0 && s.dim(0) >= 0) {
        RILL_CHECK(batch < 0 || batch == s.dim(0), invalid_argument,
                   "[{}] cannot merge tensors with different batch sizes: {} and {}", name(), batch,
                   s.dim(0));
        batch = s.dim(0);
      }
  }

 protected:
  Tensor merge(const std::vector<Tensor>& given) const override {
    if (kind_ == MergeKind::subtract) require_two(given);
    const std::vector<Tensor> inputs = of_equal_rank(given);
    if (behaves_as == 3 && kind_ != MergeKind::add && kind_ != MergeKind::subtract &&
        kind_ != MergeKind::average)
      return merge_unmasked(inputs);
    Tensor y = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) y = merge(y, inputs[i]);
    return kind_ == MergeKind::average ? y / static_cast<double>(inputs.size()) : y;
  }

 private:
  Tensor merge(const Tensor& a, const Tensor& b) const {
    switch (kind_) {
      case MergeKind::subtract:
        return a - b;
      case MergeKind::multiply:
        return a * b;
      case MergeKind::maximum:
        return maximum(a, b);
      case MergeKind::minimum:
        return minimum(a, b);
      default:
        return a + b;
    }
  }
  // Products and extremes of Keras 3 leave out the steps that masks hide.
  Tensor merge_unmasked(const std::vector<Tensor>& inputs) const {
    Tensor y, counts;  // where y has met a value that counts; undefined: everywhere
    bool all_masked = true;
    for (const Tensor& input : inputs) {
      Tensor x = input, mask;
      if (input.impl()->mask)
        mask = broadcast_to(expand_dims(Tensor(input.impl()->mask), -1), shape(input));
      all_masked = all_masked && mask.defined();
      const bool first = !y.defined();
      if (kind_ == MergeKind::multiply) {
        if (mask.defined()) x = where(mask, x, ones_like(x));
        y = first ? x : y * x;
      } else if (first) {
        y = x;
      } else {
        if (mask.defined()) x = where(mask, x, y);
        if (counts.defined()) y = where(counts, y, x);
        y = merge(y, x);
      }
      counts = !all_masked ? Tensor() : first ? mask : logical_or(counts, mask);
    }
    // What counts in no factor is 0 and not the empty product.
    return kind_ == MergeKind::multiply && counts.defined() ? where(counts, y, zeros_like(y)) : y;
  }
  static std::vector<Tensor> of_equal_rank(std::vector<Tensor> inputs) {
    int rank = 0;
    for (const Tensor& x : inputs) rank = std::max(rank, x.shape().rank());
    for (Tensor& x : inputs)
      while (x.shape().has_rank() && x.ndim() > 0 && x.ndim() < rank) x = expand_dims(x, 1);
    return inputs;
  }
  MergeKind kind_;
};

template <MergeKind kind>
using RegisterMerge = RegisterFields<NoFields<layers::MergeOptions>, layers::Merge<kind>>;
const RegisterMerge<MergeKind::add> added("Add");
const RegisterMerge<MergeKind::subtract> subtracted("Subtract");
const RegisterMerge<MergeKind::multiply> multiplied("Multiply");
const RegisterMerge<MergeKind::average> averaged("Average");
const RegisterMerge<MergeKind::maximum> largest("Maximum");
const RegisterMerge<MergeKind::minimum> smallest("Minimum");

}  // namespace

template <layers::MergeKind kind>
layers::Merge<kind>::Merge(MergeOptions o) : Layer(this, new ElementwiseMerge(kind, o)) {}
template class layers::Merge<MergeKind::add>;
template class layers::Merge<MergeKind::subtract>;
template class layers::Merge<MergeKind::multiply>;
template class layers::Merge<MergeKind::average>;
template class layers::Merge<MergeKind::maximum>;
template class layers::Merge<MergeKind::minimum>;

namespace layers {

Tensor add(const std::vector<Tensor>& in, MergeOptions o) {
  return Add(std::move(o))(in).as_tensor();
}
Tensor subtract(const std::vector<Tensor>& in, MergeOptions o) {
  return Subtract(std::move(o))(in).as_tensor();
}
Tensor multiply(const std::vector<Tensor>& in, MergeOptions o) {
  return Multiply(std::move(o))(in).as_tensor();
}
Tensor average(const std::vector<Tensor>& in, MergeOptions o) {
  return Average(std::move(o))(in).as_tensor();
}
Tensor maximum(const std::vector<Tensor>& in, MergeOptions o) {
  return Maximum(std::move(o))(in).as_tensor();
}
Tensor minimum(const std::vector<Tensor>& in, MergeOptions o) {
  return Minimum(std::move(o))(in).as_tensor();
}

}  // namespace layers
}  // namespace rill::keras
