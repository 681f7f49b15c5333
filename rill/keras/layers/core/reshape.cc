#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

// A size that is left open is -1.
struct WithOpenSize : PlainField {
  static Config write(const TensorShape& v) {
    Config sizes = Config::list();
    for (int i = 0; i < v.rank(); ++i) sizes.push_back(v.dim(i));
    return sizes;
  }
};
struct ReshapeFields {
  using Options = layers::ReshapeOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("target_shape", o.target_shape, WithOpenSize());
  }
};

class ReshapeLayer : public LayerImpl {
 public:
  explicit ReshapeLayer(layers::ReshapeOptions o)
      : LayerImpl("Reshape", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.target_shape.has_rank(), invalid_argument, "[Reshape] target_shape is not given");
    for (int i = 0; i < o_.target_shape.rank(); ++i)
      if (o_.target_shape.dim(i) < 0) {
        RILL_CHECK(free_ < 0, invalid_argument,
                   "[Reshape] target_shape {} leaves more than one size open", o_.target_shape);
        free_ = i;
      } else {
        known_ *= o_.target_shape.dim(i);
      }
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    std::int64_t each = 1;
    for (int i = 1; i < x.ndim(); ++i)
      each = each < 0 || x.shape().dim(i) < 0 ? -1 : each * x.shape().dim(i);
    TensorShape to = TensorShape::scalar();
    to.push_back(x.shape().dim(0));
    for (int i = 0; i < o_.target_shape.rank(); ++i) to.push_back(o_.target_shape.dim(i));
    if (each >= 0) {
      const bool fits = free_ < 0 ? each == known_ : known_ > 0 && each % known_ == 0;
      RILL_CHECK(fits, invalid_argument,
                 "[{}] total size of new array must be unchanged, input_shape = {}, output_shape = "
                 "{}",
                 name(), x.shape().to_string(), o_.target_shape.to_string());
      if (free_ >= 0) to.set_dim(free_ + 1, each / known_);
      return reshape_to(x, to, x);
    }
    const Tensor given = shape(x);
    std::vector<Tensor> sizes{given[0]};
    for (int i = 0; i < o_.target_shape.rank(); ++i)
      sizes.push_back(i == free_
                          ? floordiv(reduce_prod(given[slice(1, None)]), static_cast<int>(known_))
                          : constant(static_cast<int>(o_.target_shape.dim(i))));
    const Tensor y = reshape(x, stack(sizes));
    y.set_shape(to);
    return y;
  }
  void add_config(Config& c) const override { write_fields<ReshapeFields>(o_, c); }

 private:
  layers::ReshapeOptions o_;
  int free_ = -1;
  std::int64_t known_ = 1;
};

const RegisterFields<ReshapeFields, layers::Reshape> registered_reshape("Reshape");

}  // namespace

TensorShape layers::Reshape::shape_of(const Dim* sizes, std::size_t n) {
  TensorShape shape = TensorShape::scalar();
  for (std::size_t i = 0; i < n; ++i) shape.push_back(sizes[i].known() ? sizes[i].value() : -1);
  return shape;
}
layers::Reshape::Reshape(ReshapeOptions o) : Layer(this, new ReshapeLayer(std::move(o))) {}

}  // namespace rill::keras
