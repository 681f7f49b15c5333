#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/lambda.h"
#include "rill/keras/layers/preprocessing/string_lookup_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/string_ops.h"

namespace rill::keras {
namespace {

constexpr const char* kPunctuation = R"([!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\'])";

// By the name of a step, or of a registered function.
struct StepField {
  static constexpr bool reads_null = true;
  static Config write(const layers::TextStep& step) {
    RILL_CHECK(!step.function(), failed_precondition,
               "[TextVectorization] a function without a name cannot be saved: register it with "
               "keras::utils::register_keras_function(\"name\", f), and give the name");
    return step.name().empty() ? Config() : Config(step.name());
  }
  static void read(const Config& c, layers::TextStep& step) {
    // Keras writes a function as {"class_name": "function", "config": "name", ..}.
    const Config& name = c.is_dict() ? c.get("config") : c;
    step = layers::TextStep(name.is_null() ? std::string() : name.as_string());
  }
};
struct NgramsField {
  static Config write(const layers::NgramWidths& n) {
    if (!n.given().empty()) return Config::list_of(n.given());
    return n.up_to() > 0 ? Config(n.up_to()) : Config();
  }
  static void read(const Config& c, layers::NgramWidths& n) {
    if (!c.is_list()) {
      n = static_cast<int>(c.as_int());
      return;
    }
    std::vector<int> each;
    for (const Config& i : c.items()) each.push_back(static_cast<int>(i.as_int()));
    n = layers::NgramWidths(std::move(each));
  }
};
struct ModeField {
  static constexpr bool reads_null = true;
  static Config write(const std::string& v) { return v.empty() ? Config() : Config(v); }
  static void read(const Config& c, std::string& v) { v = c.is_null() ? "" : c.as_string(); }
};
struct TextVectorizationFields {
  using Options = layers::TextVectorizationOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("max_tokens", o.max_tokens, NullBelow<1>());
    f("standardize", o.standardize, StepField());
    f("split", o.split, StepField());
    f("ngrams", o.ngrams, NgramsField());
    f("output_mode", o.output_mode, ModeField());
    f("output_sequence_length", o.output_sequence_length, NullBelow<1>());
    f("pad_to_max_tokens", o.pad_to_max_tokens);
    f("sparse", o.sparse);
    f("ragged", o.ragged);
    f("vocabulary", o.vocabulary, ListOrNull<std::string>());
    f("idf_weights", o.idf_weights, ListOrNull<double>());
    f("encoding", o.encoding);
  }
};

// What a name says, or a function registered under it; none: `known` is done elsewhere.
layers::TextStep::Function step_function(const layers::TextStep& step,
                                         std::initializer_list<std::string_view> known) {
  if (step.function()) return step.function();
  for (const std::string_view name : known)
    if (step.name() == name) return {};
  const LayerFunction f = utils::get_registered_function(step.name());
  return [f](const Tensor& x) { return f(Nest(x), Config::dict()); };
}

class TextVectorizationLayer : public LayerImpl, public LayerFiles {
 public:
  explicit TextVectorizationLayer(const layers::TextVectorizationOptions& o)
      : LayerImpl("TextVectorization", as_strings(o)),
        o_(o),
        mode_(output_mode_of("TextVectorization", o.output_mode,
                             {OutputMode::integers, OutputMode::multi_hot, OutputMode::count,
                              OutputMode::tf_idf, OutputMode::none})),
        standardize_(step_function(
            o.standardize, {"lower_and_strip_punctuation", "lower", "strip_punctuation", ""})),
        split_(step_function(o.split, {"whitespace", "character", ""})) {
    autocast = false;
    const bool integers = mode_ == OutputMode::integers;
    RILL_CHECK(integers || o.output_sequence_length == 0, invalid_argument,
               "[TextVectorization] output_sequence_length is {} with output_mode \"{}\"; expected "
               "it with \"int\" alone",
               o.output_sequence_length, o.output_mode);
    RILL_CHECK(!o.ragged || (integers && o.output_sequence_length == 0), invalid_argument,
               "[TextVectorization] ragged rows need output_mode \"int\" and no "
               "output_sequence_length; got \"{}\" and {}",
               o.output_mode, o.output_sequence_length);
    lookup_ = Ref<LayerImpl>(new StringLookupLayer(
        {.max_tokens = o.max_tokens,
         .mask_token = "",
         .vocabulary = o.vocabulary,
         .vocabulary_file = o.vocabulary_file,
         .idf_weights = o.idf_weights,
         .encoding = o.encoding,
         .output_mode = mode_ == OutputMode::none ? "int" : output_mode_name(mode_),
         .sparse = o.sparse,
         .pad_to_max_tokens = o.pad_to_max_tokens,
         .name = "string_lookup"}));
    track_layer("_lookup_layer", lookup_);
    if (!o_.vocabulary_file.empty())  // a configuration stands alone
      o_.vocabulary = lookup().vocabulary(false).to_vector<std::string>();
  }
  IndexLookupLayer& lookup() const { return static_cast<IndexLookupLayer&>(*lookup_); }

  // The words of texts, a ragged axis behind theirs; or as they are where they are not split.
  Nest words(const Nest& given) const {
    Nest x = given;
    RILL_CHECK(!x.is_tensor() || x.dtype() == string, invalid_argument,
               "[{}] the input is {}; expected strings", name(), x.dtype());
    const std::string& how = o_.standardize.name();
    if (standardize_) {
      x = standardize_(x.as_tensor());
    } else if (!how.empty()) {
      if (how.starts_with("lower"))
        x = map_values(x, [](const Tensor& t) { return strings::lower(t); });
      if (how.ends_with("punctuation"))
        x = map_values(x,
                       [](const Tensor& t) { return strings::regex_replace(t, kPunctuation, ""); });
    }
    if (split_ || !o_.split.name().empty()) {
      RILL_CHECK(!x.is_composite(), invalid_argument,
                 "[{}] the texts are {}; expected a tensor of texts, or split = \"\" for words",
                 name(), x.to_string());
      Tensor texts = x.as_tensor();
      if (texts.ndim() > 1) {
        RILL_CHECK(texts.shape().dim(-1) == 1, invalid_argument,
                   "[{}] the texts have shape {}; expected [batch] or [batch, 1]", name(),
                   texts.shape());
        texts = squeeze(texts, -1);
      }
      if (split_)
        x = split_(texts);
      else
        x = o_.split.name() == "character" ? Nest(strings::unicode_split(texts, "UTF-8"))
                                           : Nest(strings::split(texts));
    }
    const std::vector<int> widths = o_.ngrams.list();
    if (widths.empty()) return x;
    if (x.composite_kind() == "ragged") return strings::ngrams(x.as_ragged(), widths);
    return strings::ngrams(RaggedTensor::from_tensor(x.as_tensor()), widths);
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    // One text is a batch of one.
    if (inputs.is_tensor() && inputs.as_tensor().ndim() == 0) {
      const Nest one = call_nest(reshape(inputs.as_tensor(), {1}), context);
      if (one.composite_kind() == "ragged") return one.as_ragged()[0];
      return one.as_tensor()[0];
    }
    const Nest split = words(inputs);
    if (mode_ == OutputMode::none) return split;
    const Nest out = lookup().call_nest(split, context);
    if (mode_ != OutputMode::integers || o_.ragged) return out;
    const std::int64_t length = o_.output_sequence_length;
    if (out.composite_kind() == "ragged") {
      const RaggedTensor rows = out.as_ragged();
      if (length == 0) return rows.to_tensor(std::int64_t{0});
      TensorShape shape = TensorShape::unknown_dims(rows.shape().rank());
      shape.set_dim(-1, length);
      const Tensor padded = rows.to_tensor(std::int64_t{0}, shape);
      if (padded.is_symbolic()) padded.set_shape(shape);
      return padded;
    }
    const Tensor dense = out.as_tensor();
    if (length == 0) return dense;
    const Tensor more = pad(dense, paddings(dense.ndim(), length));
    const Tensor cut = more(ellipsis, slice(None, length));
    TensorShape known = dense.shape();
    known.set_dim(-1, length);
    cut.set_shape(known);
    return cut;
  }
  void add_config(Config& c) const override {
    write_fields<TextVectorizationFields>(o_, c);
    c.set("vocabulary_size", lookup().vocabulary_size());
  }

  // Keras has it twice.
  bool vocabulary_file(std::string* text) const override { return lookup().vocabulary_file(text); }
  void read_vocabulary_file(const std::string& text) override {
    lookup().read_vocabulary_file(text);
  }
  std::vector<std::pair<std::string, Tensor>> arrays() const override { return lookup().arrays(); }
  void set_array(const std::string& array, const Tensor& value) override {
    lookup().set_array(array, value);
  }
  const char* not_in_hdf5() const override { return lookup().not_in_hdf5(); }

 private:
  static LayerOptions as_strings(const layers::TextVectorizationOptions& o) {
    LayerOptions l = common(o);
    l.dtype = DTypePolicy(string);
    return l;
  }
  static Tensor paddings(int rank, std::int64_t length) {
    std::vector<std::int64_t> each(static_cast<std::size_t>(2 * rank), 0);
    each.back() = length;
    return reshape(constant(each), {rank, 2});
  }
  layers::TextVectorizationOptions o_;
  OutputMode mode_;
  layers::TextStep::Function standardize_, split_;
  Ref<LayerImpl> lookup_;
};

TextVectorizationLayer& text_of(const Layer& layer) {
  return static_cast<TextVectorizationLayer&>(layer.impl());
}

// The vocabulary that adapt found is in a file beside the configuration, which tells its size.
const RegisterWithFields<TextVectorizationFields> text_vectorization(
    "TextVectorization", [](const Config& c) -> LayerRef {
      const layers::TextVectorization layer(read_fields<TextVectorizationFields>(c));
      text_of(layer).lookup().expect_size(c.get("vocabulary_size"));
      return layer;
    });

}  // namespace

std::vector<int> layers::NgramWidths::list() const {
  std::vector<int> all = each_;
  for (int i = 1; each_.empty() && i <= up_to_; ++i) all.push_back(i);
  for (const int width : all)
    RILL_CHECK(width > 0, invalid_argument,
               "[TextVectorization] ngrams has a width of {}; expected 1 or more", width);
  return all;
}

layers::TextVectorization::TextVectorization() : TextVectorization(TextVectorizationOptions{}) {}
layers::TextVectorization::TextVectorization(TextVectorizationOptions o)
    : Layer(this, new TextVectorizationLayer(o)) {}
void layers::TextVectorization::adapt(const Operand& texts) const {
  TextVectorizationLayer& l = text_of(*this);
  const Tensor data = convert_to_tensor(texts);
  l.lookup().reset();
  l.lookup().update(l.words(data.ndim() == 0 ? reshape(data, {1}) : data));
  l.lookup().finish();
}
void layers::TextVectorization::adapt(const data::Dataset& texts) const {
  TextVectorizationLayer& l = text_of(*this);
  l.lookup().reset();
  for_each_element(texts, name(), [&](const Nest& x) {
    const bool one = x.is_tensor() && x.as_tensor().ndim() == 0;
    l.lookup().update(l.words(one ? Nest(reshape(x.as_tensor(), {1})) : x));
  });
  l.lookup().finish();
}
void layers::TextVectorization::set_vocabulary(const std::vector<std::string>& vocabulary,
                                               const std::vector<double>& idf_weights) const {
  text_of(*this).lookup().set_vocabulary(reshape(constant(vocabulary, string), {-1}), idf_weights);
}
std::vector<std::string> layers::TextVectorization::get_vocabulary(bool special) const {
  return text_of(*this).lookup().vocabulary(special).to_vector<std::string>();
}
std::int64_t layers::TextVectorization::vocabulary_size() const {
  return text_of(*this).lookup().vocabulary_size();
}

}  // namespace rill::keras
