#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/string_lookup_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {
namespace {

struct OptionalInteger {
  static constexpr bool reads_null = true;
  static Config write(const std::optional<std::int64_t>& v) { return v ? Config(*v) : Config(); }
  static void read(const Config& c, std::optional<std::int64_t>& v) {
    if (c.is_null())
      v.reset();
    else
      v = c.as_int();
  }
};
struct DTypeName {
  static Config write(DType v) { return Config(v.name()); }
  static void read(const Config& c, DType& v) { v = DType::from_name(c.as_string()); }
};
struct IntegerLookupFields {
  using Options = layers::IntegerLookupOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("invert", o.invert);
    f("max_tokens", o.max_tokens, NullBelow<1>());
    f("num_oov_indices", o.num_oov_indices);
    f("oov_token", o.oov_token);
    f("mask_token", o.mask_token, OptionalInteger());
    f("output_mode", o.output_mode);
    f("sparse", o.sparse);
    f("pad_to_max_tokens", o.pad_to_max_tokens);
    f("vocabulary_dtype", o.vocabulary_dtype, DTypeName());
    f("idf_weights", o.idf_weights, ListOrNull<double>());
    visit_vocabulary(f, o);
    visit_oov_method(f, o);
  }
};

IndexLookupLayer::Spec integer_spec(const layers::IntegerLookupOptions& o) {
  const DType key = o.vocabulary_dtype;
  RILL_CHECK(key == int64 || key == int32, invalid_argument,
             "[IntegerLookup] vocabulary_dtype is {}; expected int64 or int32", key);
  RILL_CHECK(o.oov_method == "floormod" || o.oov_method == "farmhash", invalid_argument,
             "[IntegerLookup] oov_method is \"{}\"; expected \"floormod\" or \"farmhash\"",
             o.oov_method);
  return {.max_tokens = o.max_tokens,
          .num_oov_indices = o.num_oov_indices,
          .mask_token = o.mask_token ? constant(*o.mask_token, key) : Tensor(),
          .oov_token = constant(o.oov_token, key),
          .vocabulary = o.vocabulary.empty()
                            ? Tensor()
                            : cast(reshape(constant(o.vocabulary, int64), {-1}), key),
          .vocabulary_file = o.vocabulary_file,
          .idf_weights = o.idf_weights,
          .key_dtype = key,
          .invert = o.invert,
          .sparse = o.sparse,
          .pad_to_max_tokens = o.pad_to_max_tokens,
          .mode = lookup_mode("IntegerLookup", o.output_mode),
          .farmhash = o.oov_method == "farmhash",
          .salt = o.salt};
}

class IntegerLookupLayer final : public IndexLookupLayer {
 public:
  explicit IntegerLookupLayer(const layers::IntegerLookupOptions& o)
      : IndexLookupLayer("IntegerLookup",
                         integers_or_floats(o, lookup_mode("IntegerLookup", o.output_mode)),
                         integer_spec(o)),
        o_(o) {
    if (!o_.vocabulary_file.empty())  // a configuration stands alone
      o_.vocabulary = cast(vocabulary(false), int64).to_vector<std::int64_t>();
  }
  void add_config(Config& c) const override {
    write_fields<IntegerLookupFields>(o_, c);
    c.set("vocabulary_size", vocabulary_size());
  }

 private:
  layers::IntegerLookupOptions o_;
};

const RegisterWithFields<IntegerLookupFields> integer_lookup(
    "IntegerLookup", lookup_of<IntegerLookupFields, layers::IntegerLookup>);

}  // namespace

layers::IntegerLookup::IntegerLookup() : IntegerLookup(IntegerLookupOptions{}) {}
layers::IntegerLookup::IntegerLookup(IntegerLookupOptions o)
    : Layer(this, new IntegerLookupLayer(o)) {}
void layers::IntegerLookup::adapt(const Tensor& data) const { adapt_index(*this, Nest(data)); }
void layers::IntegerLookup::adapt(const RaggedTensor& data) const {
  adapt_index(*this, Nest(data));
}
void layers::IntegerLookup::adapt(const data::Dataset& batches) const {
  adapt_index(*this, batches);
}
void layers::IntegerLookup::set_vocabulary(const std::vector<std::int64_t>& vocabulary,
                                           const std::vector<double>& idf_weights) const {
  index_of(*this).set_vocabulary(reshape(constant(vocabulary, int64), {-1}), idf_weights);
}
std::vector<std::int64_t> layers::IntegerLookup::get_vocabulary(bool special) const {
  return cast(index_of(*this).vocabulary(special), int64).to_vector<std::int64_t>();
}
std::int64_t layers::IntegerLookup::vocabulary_size() const {
  return index_of(*this).vocabulary_size();
}

}  // namespace rill::keras
