#include "rill/base/check.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/string_lookup_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {
namespace {

struct OptionalText {
  static constexpr bool reads_null = true;
  static Config write(const std::optional<std::string>& v) { return v ? Config(*v) : Config(); }
  static void read(const Config& c, std::optional<std::string>& v) {
    if (c.is_null())
      v.reset();
    else
      v = c.as_string();
  }
};
struct StringLookupFields {
  using Options = layers::StringLookupOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("invert", o.invert);
    f("max_tokens", o.max_tokens, NullBelow<1>());
    f("num_oov_indices", o.num_oov_indices);
    f("oov_token", o.oov_token);
    f("mask_token", o.mask_token, OptionalText());
    f("output_mode", o.output_mode);
    f("sparse", o.sparse);
    f("pad_to_max_tokens", o.pad_to_max_tokens);
    f("idf_weights", o.idf_weights, ListOrNull<double>());
    visit_vocabulary(f, o);
    f("encoding", o.encoding);
    visit_oov_method(f, o);
  }
};

IndexLookupLayer::Spec spec_of(const layers::StringLookupOptions& o) {
  return {
      .max_tokens = o.max_tokens,
      .num_oov_indices = o.num_oov_indices,
      .mask_token = o.mask_token ? constant(*o.mask_token) : Tensor(),
      .oov_token = constant(o.oov_token),
      .vocabulary = o.vocabulary.empty() ? Tensor() : reshape(constant(o.vocabulary, string), {-1}),
      .vocabulary_file = o.vocabulary_file,
      .idf_weights = o.idf_weights,
      .key_dtype = string,
      .invert = o.invert,
      .sparse = o.sparse,
      .pad_to_max_tokens = o.pad_to_max_tokens,
      .mode = lookup_mode("StringLookup", o.output_mode),
      .farmhash = true,
      .salt = o.salt};
}

const RegisterWithFields<StringLookupFields> string_lookup(
    "StringLookup", lookup_of<StringLookupFields, layers::StringLookup>);

}  // namespace

StringLookupLayer::StringLookupLayer(const layers::StringLookupOptions& o)
    : IndexLookupLayer("StringLookup",
                       integers_or_floats(o, lookup_mode("StringLookup", o.output_mode)),
                       spec_of(o)),
      o_(o) {
  // A configuration stands alone.
  if (!o_.vocabulary_file.empty()) o_.vocabulary = vocabulary(false).to_vector<std::string>();
}
void StringLookupLayer::add_config(Config& c) const {
  write_fields<StringLookupFields>(o_, c);
  c.set("vocabulary_size", vocabulary_size());
}

layers::StringLookup::StringLookup() : StringLookup(StringLookupOptions{}) {}
layers::StringLookup::StringLookup(StringLookupOptions o) : Layer(this, new StringLookupLayer(o)) {}
void layers::StringLookup::adapt(const Tensor& data) const { adapt_index(*this, Nest(data)); }
void layers::StringLookup::adapt(const RaggedTensor& data) const { adapt_index(*this, Nest(data)); }
void layers::StringLookup::adapt(const data::Dataset& batches) const {
  adapt_index(*this, batches);
}
void layers::StringLookup::set_vocabulary(const std::vector<std::string>& vocabulary,
                                          const std::vector<double>& idf_weights) const {
  index_of(*this).set_vocabulary(reshape(constant(vocabulary, string), {-1}), idf_weights);
}
std::vector<std::string> layers::StringLookup::get_vocabulary(bool special) const {
  return index_of(*this).vocabulary(special).to_vector<std::string>();
}
std::int64_t layers::StringLookup::vocabulary_size() const {
  return index_of(*this).vocabulary_size();
}

}  // namespace rill::keras
