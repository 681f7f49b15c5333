#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing.h"
#include "rill/keras/layers/preprocessing/encode_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

struct CategoryEncodingFields {
  using Options = layers::CategoryEncodingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("num_tokens", o.num_tokens);
    f("output_mode", o.output_mode);
    f.in_keras2("sparse", o.sparse);
  }
};

class CategoryEncodingLayer : public LayerImpl {
 public:
  explicit CategoryEncodingLayer(const layers::CategoryEncodingOptions& o)
      : LayerImpl("CategoryEncoding", common(o)),
        o_(o),
        mode_(output_mode_of("CategoryEncoding", o.output_mode,
                             {OutputMode::multi_hot, OutputMode::one_hot, OutputMode::count})) {
    autocast = false;
    RILL_CHECK(o_.num_tokens >= 1, invalid_argument,
               "[CategoryEncoding] num_tokens is {}; expected 1 or more", o_.num_tokens);
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    // With weights: {indices, count_weights}.
    const bool weighted = !inputs.is_tensor() && !inputs.is_composite();
    RILL_CHECK(
        !weighted || (inputs.size() == 2 && mode_ == OutputMode::count), invalid_argument,
        "[{}] got {} inputs with output_mode \"{}\"; expected one, or with \"count\" indices "
        "and their weights",
        name(), inputs.size(), o_.output_mode);
    const Nest indices = weighted ? inputs.part(0) : inputs;
    static_cast<void>(map_values(indices, [&](const Tensor& given) {
      const Tensor ids = cast(given, int64);
      debugging::Assert(
          logical_and(reduce_all(greater_equal(ids, std::int64_t{0})),
                      reduce_all(less(ids, o_.num_tokens))),
          {constant(format("[{}] the indices must be at least 0 and below num_tokens = {}", name(),
                           o_.num_tokens)),
           ids});
      return ids;
    }));
    return encoded(indices, {.mode = mode_,
                             .depth = o_.num_tokens,
                             .dtype = policy.compute_dtype(),
                             .sparse = o_.sparse,
                             .weights = weighted ? weights_of(inputs.part(1)) : Tensor(),
                             .layer = class_name()});
  }
  void add_config(Config& c) const override { write_fields<CategoryEncodingFields>(o_, c); }

 private:
  static Tensor weights_of(const Nest& w) {
    return w.composite_kind() == "sparse" ? w.as_sparse().values : w.as_tensor();
  }
  layers::CategoryEncodingOptions o_;
  OutputMode mode_;
};

const RegisterFields<CategoryEncodingFields, layers::CategoryEncoding> category_encoding(
    "CategoryEncoding");

}  // namespace

layers::CategoryEncoding::CategoryEncoding(CategoryEncodingOptions o)
    : Layer(this, new CategoryEncodingLayer(o)) {}
layers::CategoryEncoding::CategoryEncoding(std::int64_t num_tokens, CategoryEncodingOptions o)
    : CategoryEncoding((o.num_tokens = num_tokens, std::move(o))) {}

}  // namespace rill::keras
