#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct FlattenFields {
  using Options = layers::FlattenOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("data_format", o.data_format);
  }
};

class FlattenLayer : public LayerImpl {
 public:
  explicit FlattenLayer(layers::FlattenOptions o)
      : LayerImpl("Flatten", common(o)), o_(std::move(o)) {
    RILL_CHECK(o_.data_format == "channels_last" || o_.data_format == "channels_first",
               invalid_argument,
               "[Flatten] data_format is \"{}\"; expected \"channels_last\" or \"channels_first\"",
               o_.data_format);
    input_spec.min_ndim = 1;
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    Tensor x = given;
    if (o_.data_format == "channels_first" && x.ndim() > 2) {
      // The same order of elements as with channels last.
      std::vector<int> axes{0};
      for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
      axes.push_back(1);
      x = transpose(x, axes);
    }
    std::int64_t each = 1;
    for (int i = 1; i < x.ndim(); ++i)
      each = each < 0 || x.shape().dim(i) < 0 ? -1 : each * x.shape().dim(i);
    if (each >= 0 && x.shape().dim(0) >= 0) return reshape(x, {x.shape().dim(0), each});
    if (each >= 0) return reshape(x, {-1, each});
    const Tensor sizes = shape(x);  // and not -1, which an empty batch leaves open
    return reshape(x, stack(std::vector<Tensor>{sizes[0], reduce_prod(sizes[slice(1, None)])}));
  }
  void add_config(Config& c) const override { write_fields<FlattenFields>(o_, c); }

 private:
  layers::FlattenOptions o_;
};

const RegisterFields<FlattenFields, layers::Flatten> registered_flatten("Flatten");

}  // namespace

layers::Flatten::Flatten() : Flatten(FlattenOptions{}) {}
layers::Flatten::Flatten(FlattenOptions o) : Layer(this, new FlattenLayer(std::move(o))) {}

}  // namespace rill::keras
