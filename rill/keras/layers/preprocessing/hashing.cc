#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing.h"
#include "rill/keras/layers/preprocessing/encode_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/string/hashed_cross_impl.h"
#include "rill/ops/string_ops.h"

namespace rill::keras {
namespace {

// Keras writes two numbers; one is both.
struct SaltField {
  static Config write(const std::vector<std::int64_t>& v) {
    if (v.size() == 1) return Config::list_of(std::vector<std::int64_t>{v[0], v[0]});
    return v.empty() ? Config() : Config::list_of(v);
  }
  static void read(const Config& c, std::vector<std::int64_t>& v) {
    if (c.is_list())
      ListOrNull<std::int64_t>::read(c, v);
    else
      v = {c.as_int()};
  }
};
struct HashingFields {
  using Options = layers::HashingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("num_bins", o.num_bins);
    f("salt", o.salt, SaltField());
    f("mask_value", o.mask_value);
    f("output_mode", o.output_mode);
    f("sparse", o.sparse);
  }
};
OutputMode hashing_mode(const std::string& name) {
  return output_mode_of(
      "Hashing", name,
      {OutputMode::integers, OutputMode::one_hot, OutputMode::multi_hot, OutputMode::count});
}

class HashingLayer : public LayerImpl {
 public:
  explicit HashingLayer(const layers::HashingOptions& o)
      : LayerImpl("Hashing", integers_or_floats(o, hashing_mode(o.output_mode))),
        o_(o),
        mode_(hashing_mode(o.output_mode)) {
    autocast = false;
    RILL_CHECK(o_.num_bins > 0, invalid_argument, "[Hashing] num_bins is {}; expected 1 or more",
               o_.num_bins);
    RILL_CHECK(o_.salt.size() <= 2, invalid_argument,
               "[Hashing] salt has {} numbers; expected one or two", o_.salt.size());
    RILL_CHECK(!o_.sparse || mode_ != OutputMode::integers, invalid_argument,
               "[Hashing] sparse with output_mode \"int\"; expected another one");
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    const Nest bins = map_values(inputs, [&](const Tensor& x) { return bins_of(x); });
    return encoded(bins, {.mode = mode_,
                          .depth = o_.num_bins,
                          .dtype = policy.compute_dtype(),
                          .sparse = o_.sparse,
                          .layer = class_name()});
  }
  void add_config(Config& c) const override { write_fields<HashingFields>(o_, c); }

 private:
  Tensor bins_of(const Tensor& x) const {
    RILL_CHECK(x.dtype() == string || x.dtype().is_integer(), invalid_argument,
               "[{}] the input is {}; expected strings or integers", name(), x.dtype());
    // The mask has bin 0 for itself.
    const bool masked = !o_.mask_value.is_null() && o_.num_bins > 1;
    const std::int64_t bins = o_.num_bins - (masked ? 1 : 0);
    const Tensor words = x.dtype() == string ? x : strings::as_string(x);
    Tensor out = o_.salt.empty()
                     ? strings::to_hash_bucket_fast(words, bins)
                     : strings::to_hash_bucket_strong(words, bins, {o_.salt[0], o_.salt.back()});
    if (!masked) return out;
    const Tensor mask = x.dtype() == string
                            ? constant(o_.mask_value.as_string())
                            : cast(constant(o_.mask_value.as_int(), int64), x.dtype());
    return where(equal(x, mask), zeros_like(out), out + std::int64_t{1});
  }
  layers::HashingOptions o_;
  OutputMode mode_;
};

struct HashedCrossingFields {
  using Options = layers::HashedCrossingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("num_bins", o.num_bins);
    f("output_mode", o.output_mode);
    f("sparse", o.sparse);
  }
};
OutputMode crossing_mode(const std::string& name) {
  return output_mode_of("HashedCrossing", name, {OutputMode::integers, OutputMode::one_hot});
}

class HashedCrossingLayer : public LayerImpl {
 public:
  explicit HashedCrossingLayer(const layers::HashedCrossingOptions& o)
      : LayerImpl("HashedCrossing", integers_or_floats(o, crossing_mode(o.output_mode))),
        o_(o),
        mode_(crossing_mode(o.output_mode)) {
    autocast = false;
    RILL_CHECK(o_.num_bins > 0, invalid_argument,
               "[HashedCrossing] num_bins is {}; expected 1 or more", o_.num_bins);
    RILL_CHECK(!o_.sparse || mode_ != OutputMode::integers, invalid_argument,
               "[HashedCrossing] sparse with output_mode \"int\"; expected \"one_hot\"");
  }
  Nest call_nest(const Nest& inputs, const CallContext&) override {
    const std::vector<Tensor> all = inputs.flatten();
    RILL_CHECK(all.size() >= 2, invalid_argument, "[{}] got {} inputs; expected two or more",
               name(), all.size());
    for (const Tensor& x : all) {
      const TensorShape& s = x.shape();
      RILL_CHECK(s.has_rank() && s.rank() <= 2 && (s.rank() < 2 || s.dim(1) == 1) &&
                     s.is_compatible_with(all[0].shape()),
                 invalid_argument,
                 "[{}] the inputs have shapes {} and {}; expected [], [batch] or [batch, 1] of all",
                 name(), all[0].shape(), s);
      RILL_CHECK(x.dtype() == string || x.dtype().is_integer(), invalid_argument,
                 "[{}] an input is {}; expected strings or integers", name(), x.dtype());
    }
    std::vector<Tensor> values;
    for (const Tensor& x : all) values.push_back(x.dtype() == string ? x : cast(x, int64));
    return encoded(hashed_cross(values, o_.num_bins), {.mode = mode_,
                                                       .depth = o_.num_bins,
                                                       .dtype = policy.compute_dtype(),
                                                       .sparse = o_.sparse,
                                                       .layer = class_name()});
  }
  void add_config(Config& c) const override { write_fields<HashedCrossingFields>(o_, c); }

 private:
  layers::HashedCrossingOptions o_;
  OutputMode mode_;
};

const RegisterFields<HashingFields, layers::Hashing> hashing("Hashing");
const RegisterFields<HashedCrossingFields, layers::HashedCrossing> hashed_crossing(
    "HashedCrossing");

}  // namespace

layers::Hashing::Hashing(HashingOptions o) : Layer(this, new HashingLayer(o)) {}
layers::Hashing::Hashing(std::int64_t num_bins, HashingOptions o)
    : Hashing((o.num_bins = num_bins, std::move(o))) {}
layers::HashedCrossing::HashedCrossing(HashedCrossingOptions o)
    : Layer(this, new HashedCrossingLayer(o)) {}
layers::HashedCrossing::HashedCrossing(std::int64_t num_bins, HashedCrossingOptions o)
    : HashedCrossing((o.num_bins = num_bins, std::move(o))) {}

}  // namespace rill::keras
