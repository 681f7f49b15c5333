#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/merging.h"
#include "rill/keras/layers/merging/merging_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct ConcatenateFields {
  using Options = layers::ConcatenateOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("axis", o.axis);
  }
};

class ConcatenateLayer : public MergingLayer {
 public:
  explicit ConcatenateLayer(const layers::ConcatenateOptions& o)
      : MergingLayer("Concatenate", common(o)), o_(o) {}
  void add_config(Config& c) const override { write_fields<ConcatenateFields>(o_, c); }

 protected:
  Tensor merge(const std::vector<Tensor>& inputs) const override { return concat(inputs, o_.axis); }
  Tensor merge_masks(const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& masks) const override {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& m = masks[i];
      // A mask of steps stands for all features of a step.
      const Tensor part = !m.defined() ? ones_like(inputs[i], bool_)
                          : m.ndim() < inputs[i].ndim()
                              ? logical_and(expand_dims(m, -1), ones_like(inputs[i], bool_))
                              : m;
      parts.push_back(part);
    }
    const Tensor wide = concat(parts, o_.axis);
    return behaves_as == 3 ? reduce_any(wide, -1) : reduce_all(wide, -1);
  }

 private:
  layers::ConcatenateOptions o_;
};

struct DotFields {
  using Options = layers::DotOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("axes", o.axes, NumberOrList());
    f("normalize", o.normalize);
  }
};

class DotLayer : public MergingLayer {
 public:
  explicit DotLayer(const layers::DotOptions& o)
      : MergingLayer("Dot", common(o)), axes_(o.axes.list()), o_(o) {
    RILL_CHECK(axes_.size() == 1 || axes_.size() == 2, invalid_argument,
               "[Dot] axes has {} entries; expected an axis of both inputs, or one of each",
               axes_.size());
  }
  void add_config(Config& c) const override { write_fields<DotFields>(o_, c); }
  Tensor compute_mask(const Nest&, const Tensor&) override { return {}; }

 protected:
  Tensor merge(const std::vector<Tensor>& inputs) const override {
    require_two(inputs);
    Tensor x = inputs[0], y = inputs[1];
    const int i = axis_of(x, axes_[0]), j = axis_of(y, axes_.back());
    RILL_CHECK(x.shape().dim(i) < 0 || y.shape().dim(j) < 0 || x.shape().dim(i) == y.shape().dim(j),
               invalid_argument,
               "[{}] inputs of shapes {} and {} have different sizes along the axes {} and {}; "
               "expected equal ones",
               name(), x.shape(), y.shape(), i, j);
    if (o_.normalize) {
      x = nn::l2_normalize(x, i);
      y = nn::l2_normalize(y, j);
    }
    // "abc,adc->abd": the batch is a, what is summed over is shared, the rest is kept.
    char next = 'a';
    std::string a, b, out(1, next);
    for (int k = 0; k < x.ndim(); ++k) a += next++;
    for (int k = 0; k < y.ndim(); ++k)
      b += k == 0 ? 'a' : k == j ? a[static_cast<std::size_t>(i)] : next++;
    for (int k = 1; k < x.ndim(); ++k)
      if (k != i) out += a[static_cast<std::size_t>(k)];
    for (int k = 1; k < y.ndim(); ++k)
      if (k != j) out += b[static_cast<std::size_t>(k)];
    const Tensor products = einsum(a + "," + b + "->" + out, {x, y});
    return out.size() == 1 ? expand_dims(products, 1) : products;
  }

 private:
  int axis_of(const Tensor& x, int axis) const {
    RILL_CHECK(x.shape().has_rank() && x.ndim() >= 2, invalid_argument,
               "[{}] an input has shape {}; expected a batch and at least one axis", name(),
               x.shape());
    const int at = axis < 0 ? axis + x.ndim() : axis;
    RILL_CHECK(at > 0 && at < x.ndim(), invalid_argument,
               "[{}] axis {} of an input of shape {}; expected one after the batch", name(), axis,
               x.shape());
    return at;
  }
  std::vector<int> axes_;
  layers::DotOptions o_;
};

const RegisterFields<ConcatenateFields, layers::Concatenate> concatenated("Concatenate");
const RegisterFields<DotFields, layers::Dot> dotted("Dot");

}  // namespace

layers::Concatenate::Concatenate() : Concatenate(ConcatenateOptions{}) {}
layers::Concatenate::Concatenate(ConcatenateOptions o) : Layer(this, new ConcatenateLayer(o)) {}
layers::Dot::Dot(DotOptions o) : Layer(this, new DotLayer(o)) {}
layers::Dot::Dot(int axes, DotOptions o) : Dot((o.axes = axes, std::move(o))) {}

Tensor layers::concatenate(const std::vector<Tensor>& in, ConcatenateOptions o) {
  return Concatenate(std::move(o))(in).as_tensor();
}
Tensor layers::dot(const std::vector<Tensor>& in, DotOptions o) {
  return Dot(std::move(o))(in).as_tensor();
}

}  // namespace rill::keras
