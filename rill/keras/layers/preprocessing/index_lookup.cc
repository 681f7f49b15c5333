// A vocabulary and what becomes of its indices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "rill/base/check.h"
#include "rill/data/dataset.h"
#include "rill/io/file.h"
#include "rill/keras/layers/preprocessing/index_lookup_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/lookup/table_impl.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/string_ops.h"

namespace rill::keras {
namespace {

// Tokens as texts, to compare them.
std::vector<std::string> texts_of(const Tensor& tokens) {
  if (tokens.dtype() == string) return tokens.to_vector<std::string>();
  std::vector<std::string> out;
  for (const std::int64_t v : cast(tokens, int64).to_vector<std::int64_t>())
    out.push_back(std::to_string(v));
  return out;
}
Tensor empty_list(DType dtype) { return zeros({0}, dtype); }

// The counts of an adapt that runs, which Keras 2 keeps in checkpoints. It ends before anything is
// saved, so that they are always empty; the vocabulary is not there.
class NoCounts final : public TrackableNode {
 public:
  explicit NoCounts(DType key) : key_(key) {}
  std::vector<SavedValue> saved_values() override {
    return {{kKeys, empty_list(key_)}, {kValues, empty_list(int64)}};
  }
  std::vector<std::string> saved_keys() override { return {kKeys, kValues}; }
  void restore_value(std::string_view, const Tensor&) override {}

 private:
  static constexpr const char *kKeys = "table|-keys", *kValues = "table|-values";
  const DType key_;
};

}  // namespace

IndexLookupLayer::IndexLookupLayer(std::string_view class_name, const LayerOptions& options,
                                   Spec spec)
    : LayerImpl(class_name, options), spec_(std::move(spec)) {
  autocast = false;
  RILL_CHECK(spec_.max_tokens == 0 || spec_.max_tokens > 1, invalid_argument,
             "[{}] max_tokens is {}; expected 2 or more, or 0 for any number", class_name,
             spec_.max_tokens);
  RILL_CHECK(!spec_.pad_to_max_tokens || spec_.max_tokens > 0, invalid_argument,
             "[{}] pad_to_max_tokens needs max_tokens; expected a number of tokens", class_name);
  RILL_CHECK(spec_.num_oov_indices >= 0, invalid_argument,
             "[{}] num_oov_indices is {}; expected 0 or more", class_name, spec_.num_oov_indices);
  RILL_CHECK(!spec_.invert || spec_.mode == OutputMode::integers, invalid_argument,
             "[{}] invert with output_mode \"{}\"; expected \"int\"", class_name,
             output_mode_name(spec_.mode));
  RILL_CHECK(!spec_.sparse || spec_.mode != OutputMode::integers, invalid_argument,
             "[{}] sparse with output_mode \"int\"; expected another one", class_name);
  RILL_CHECK(spec_.salt.empty() || spec_.salt.size() == 2, invalid_argument,
             "[{}] salt has {} numbers; expected 2", class_name, spec_.salt.size());
  RILL_CHECK(spec_.idf_weights.empty() || spec_.mode == OutputMode::tf_idf, invalid_argument,
             "[{}] idf_weights with output_mode \"{}\"; expected \"tf_idf\"", class_name,
             output_mode_name(spec_.mode));
  const DType index = policy.compute_dtype().is_integer() ? policy.compute_dtype() : int64;
  const DType key = spec_.invert ? index : spec_.key_dtype,
              value = spec_.invert ? spec_.key_dtype : index;
  table_ = make_resource(Ref<Resource>(new lookup::LookupTable(
      "HashTableV2", key == int32 ? int32 : key, value, TensorShape::scalar(), "table")));
  lookup::table_of(table_, class_name).how_to_fill =
      format("the layer {}, a {}, has no vocabulary: call adapt on data, or give it one",
             this->name(), class_name);
  tokens_ = empty_list(spec_.key_dtype);
  if (!spec_.vocabulary_file.empty()) {
    RILL_CHECK(spec_.mode != OutputMode::tf_idf, invalid_argument,
               "[{}] a file of words has no idf_weights, which output_mode \"tf_idf\" needs; give "
               "the words as a list",
               class_name);
    const std::vector<std::string> lines = vocabulary_lines(spec_.vocabulary_file);
    Tensor tokens = reshape(constant(lines, string), {-1});
    if (spec_.key_dtype != string)
      tokens = cast(strings::to_number(tokens, int64), spec_.key_dtype);
    set_vocabulary(tokens, {});
    given_ = true;
  } else if (spec_.vocabulary.defined()) {
    set_vocabulary(spec_.vocabulary, spec_.idf_weights);
    given_ = true;
  }
  if (given_) return;
  track("token_counts", Ref<TrackableNode>(new NoCounts(spec_.key_dtype)));
  if (spec_.mode == OutputMode::tf_idf)
    track("token_document_counts", Ref<TrackableNode>(new NoCounts(spec_.key_dtype)));
}

Tensor IndexLookupLayer::special_tokens() const {
  std::vector<Tensor> all;
  if (oov_start() > 0) all.push_back(reshape(spec_.mask_token, {1}));
  if (spec_.num_oov_indices > 0) all.push_back(fill({spec_.num_oov_indices}, spec_.oov_token));
  return all.empty() ? empty_list(spec_.key_dtype) : concat(all, 0);
}

Tensor IndexLookupLayer::vocabulary(bool include_special_tokens) const {
  return include_special_tokens ? concat({special_tokens(), tokens_}, 0) : tokens_;
}

void IndexLookupLayer::use(const Tensor& tokens) {
  lookup::LookupTable& table = lookup::table_of(table_, name());
  const DType index = spec_.invert ? table.key_dtype : table.value_dtype;
  const Tensor indices = cast(range(token_start(), token_start() + tokens.size(), 1, int64), index);
  spec_.invert ? table.replace(indices, tokens, name()) : table.replace(tokens, indices, name());
  tokens_ = tokens;
}

void IndexLookupLayer::set_vocabulary(const Tensor& given, const std::vector<double>& idf) {
  RILL_CHECK(given.size() > 0, invalid_argument,
             "[{}] set_vocabulary: the vocabulary is empty; expected one word or more", name());
  RILL_CHECK(
      spec_.mode != OutputMode::tf_idf || idf.size() == static_cast<std::size_t>(given.size()),
      invalid_argument,
      "[{}] set_vocabulary: output_mode \"tf_idf\" needs a weight for each of the {} words, "
      "got {}",
      name(), given.size(), idf.size());
  // The special tokens may stand in front.
  const std::vector<std::string> special = texts_of(special_tokens()), all = texts_of(given);
  const bool found = all.size() >= special.size() && !special.empty() &&
                     std::equal(special.begin(), special.end(), all.begin());
  const Tensor tokens =
      found ? given(slice(static_cast<std::int64_t>(special.size()), None)) : given;
  std::set<std::string> seen;
  const std::string mask =
      spec_.mask_token.defined() ? texts_of(reshape(spec_.mask_token, {1}))[0] : "";
  const std::string oov =
      spec_.oov_token.defined() ? texts_of(reshape(spec_.oov_token, {1}))[0] : "";
  for (std::size_t i = found ? special.size() : 0; i < all.size(); ++i) {
    RILL_CHECK(seen.insert(all[i]).second, invalid_argument,
               "[{}] the vocabulary has \"{}\" twice; expected each word once", name(), all[i]);
    const bool reserved = (spec_.mask_token.defined() && all[i] == mask) ||
                          (spec_.invert && spec_.oov_token.defined() && all[i] == oov);
    RILL_CHECK(!reserved, invalid_argument,
               "[{}] \"{}\", at place {} of the vocabulary, is the mask or the token for unknown "
               "words; leave both out, or put all of them in front",
               name(), all[i], i);
  }
  const std::int64_t width = token_start() + tokens.size();
  RILL_CHECK(spec_.max_tokens == 0 || width <= spec_.max_tokens, invalid_argument,
             "[{}] the vocabulary has {} tokens with the special ones; expected at most max_tokens "
             "= {}",
             name(), width, spec_.max_tokens);
  use(cast(tokens, spec_.key_dtype));
  if (spec_.mode != OutputMode::tf_idf) return;
  std::vector<double> weights = idf;
  if (!found) {
    double sum = 0;
    for (const double w : idf) sum += w;
    weights.insert(weights.begin(), static_cast<std::size_t>(token_start()),
                   sum / static_cast<double>(idf.size()));
  }
  if (spec_.pad_to_max_tokens) weights.resize(static_cast<std::size_t>(spec_.max_tokens));
  idf_ = constant(weights, policy.compute_dtype());
}

// ---- adapt
void IndexLookupLayer::reset() {
  RILL_CHECK(!given_, invalid_argument,
             "[{}] adapt: the layer was given its vocabulary; make it without one", name());
  seen_ = {};
}

void IndexLookupLayer::count(const Tensor& values, std::map<std::string, std::int64_t>& texts,
                             std::map<std::int64_t, std::int64_t>& numbers) const {
  if (spec_.key_dtype == string)
    for (std::string& word : values.to_vector<std::string>()) ++texts[std::move(word)];
  else
    for (const std::int64_t number : cast(values, int64).to_vector<std::int64_t>())
      ++numbers[number];
}

void IndexLookupLayer::update(const Nest& data) {
  const auto check = [&](const Tensor& t) {
    RILL_CHECK((spec_.key_dtype == string) == (t.dtype() == string) &&
                   (t.dtype() == string || t.dtype().is_integer()),
               invalid_argument, "[{}] adapt: the data are {}; expected {}", name(), t.dtype(),
               spec_.key_dtype);
  };
  Tensor values;
  std::vector<Tensor> documents;
  if (data.composite_kind() == "ragged") {
    const RaggedTensor rows = data.as_ragged();
    values = rows.flat_values();
    if (spec_.mode == OutputMode::tf_idf)
      for (int i = 0; i < rows.nrows().item<int>(); ++i) documents.push_back(rows[i]);
  } else if (data.composite_kind() == "sparse") {
    values = data.as_sparse().values;
    if (spec_.mode == OutputMode::tf_idf)
      documents = unstack(sparse::to_dense(data.as_sparse(), ""));
  } else {
    values = data.as_tensor();
    if (spec_.mode == OutputMode::tf_idf) {
      // To Keras 2 a list is one document, to Keras 3 each element is one.
      if (values.ndim() < 2 && behaves_as != 3)
        documents = {values};
      else
        documents = unstack(values);
    }
  }
  check(values);
  count(values, seen_.texts, seen_.numbers);
  for (const Tensor& document : documents) {
    std::map<std::string, std::int64_t> texts;
    std::map<std::int64_t, std::int64_t> numbers;
    count(document, texts, numbers);
    for (const auto& [word, times] : texts) ++seen_.text_documents[word];
    for (const auto& [number, times] : numbers) ++seen_.number_documents[number];
    ++seen_.documents;
  }
}

void adapt_index(const Layer& layer, const Nest& data) {
  IndexLookupLayer& index = index_of(layer);
  index.reset();
  index.update(data);
  index.finish();
}
void adapt_index(const Layer& layer, const data::Dataset& batches) {
  IndexLookupLayer& index = index_of(layer);
  index.reset();
  for_each_element(batches, index.name(), [&](const Nest& x) { index.update(x); });
  index.finish();
}

void IndexLookupLayer::finish() {
  // By how often they came, then from the last to the first, as Keras has it.
  const auto sorted = [&]<class K>(std::map<K, std::int64_t>& counts,
                                   const std::map<K, std::int64_t>& documents, const Tensor& mask,
                                   const Tensor& oov) {
    for (const Tensor& t : {mask, oov})
      if (t.defined()) counts.erase(t.item<K>());
    std::vector<std::pair<K, std::int64_t>> list(counts.begin(), counts.end());
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first > b.first;
    });
    if (spec_.max_tokens > 0)
      list.resize(std::min(list.size(), static_cast<std::size_t>(std::max<std::int64_t>(
                                            0, spec_.max_tokens - token_start()))));
    std::vector<K> tokens;
    std::vector<double> idf;
    for (const auto& [token, times] : list) {
      tokens.push_back(token);
      const auto in = documents.find(token);
      const double n = in == documents.end() ? 0 : static_cast<double>(in->second);
      idf.push_back(std::log(1 + static_cast<double>(seen_.documents) / (1 + n)));
    }
    return std::pair(tokens, idf);
  };
  std::vector<double> idf;
  if (spec_.key_dtype == string) {
    auto [tokens, weights] =
        sorted(seen_.texts, seen_.text_documents, spec_.mask_token, spec_.oov_token);
    use(reshape(constant(tokens, string), {-1}));
    idf = weights;
  } else {
    auto [tokens, weights] =
        sorted(seen_.numbers, seen_.number_documents, spec_.mask_token, spec_.oov_token);
    use(cast(reshape(constant(tokens, int64), {-1}), spec_.key_dtype));
    idf = weights;
  }
  seen_ = {};
  if (spec_.mode != OutputMode::tf_idf) return;
  // Single precision, as Keras.
  const Tensor weights = cast(reshape(constant(idf, float64), {-1}), policy.compute_dtype());
  const Tensor front =
      fill({token_start()}, idf.empty() ? zeros({}, weights.dtype()) : reduce_mean(weights));
  std::vector<Tensor> parts{front, weights};
  if (spec_.pad_to_max_tokens)
    parts.push_back(zeros({spec_.max_tokens - vocabulary_size()}, weights.dtype()));
  idf_ = concat(parts, 0);
}

// ---- calls
Tensor IndexLookupLayer::out_of_vocabulary(const Tensor& keys) const {
  const std::int64_t n = spec_.num_oov_indices;
  if (keys.dtype() != string && !spec_.farmhash) return cast(floormod(keys, n), int64);
  const Tensor words = keys.dtype() == string ? keys : strings::as_string(keys);
  return spec_.salt.empty() ? strings::to_hash_bucket_fast(words, n)
                            : strings::to_hash_bucket_strong(words, n, spec_.salt);
}

Tensor IndexLookupLayer::looked_up(const Tensor& keys) const {
  const lookup::LookupTable& table = lookup::table_of(table_, name());
  const DType values = table.value_dtype;
  if (spec_.invert) {
    Tensor found = lookup::find_in_table(table_, keys, spec_.oov_token);
    if (spec_.mask_token.defined())
      found = where(equal(keys, zeros_like(keys)), spec_.mask_token, found);
    return found;
  }
  const std::int64_t by_default = spec_.num_oov_indices == 1 ? oov_start() : -1;
  Tensor found = lookup::find_in_table(table_, keys, constant(by_default, values));
  if (spec_.num_oov_indices > 1)
    found = where(equal(found, constant(by_default, values)),
                  cast(out_of_vocabulary(keys) + oov_start(), values), found);
  if (spec_.mask_token.defined()) {
    // What is masked is left out of rows of numbers.
    const std::int64_t masked =
        spec_.mode == OutputMode::integers ? 0 : std::numeric_limits<std::int32_t>::max();
    found =
        where(equal(keys, cast(spec_.mask_token, keys.dtype())), constant(masked, values), found);
  }
  if (spec_.num_oov_indices == 0)
    debugging::Assert(reduce_all(greater_equal(found, zeros_like(found))),
                      {constant(format("[{}] some of the inputs are not in the vocabulary, and "
                                       "num_oov_indices is 0; with 1 they get an index",
                                       name())),
                       keys});
  return found;
}

Nest IndexLookupLayer::call_nest(const Nest& inputs, const CallContext&) {
  const lookup::LookupTable& table = lookup::table_of(table_, name());
  const bool wide = spec_.mode == OutputMode::integers || spec_.pad_to_max_tokens;
  const bool known = tokens_.size() > 0 || given_;
  const bool drawn = inputs.flatten().at(0).is_symbolic() && expected_size_ > 0;
  RILL_CHECK(wide || known || drawn, failed_precondition,
             "[{}] output_mode \"{}\" needs a vocabulary; call adapt on data, or give one", name(),
             output_mode_name(spec_.mode));
  const Nest indices = map_values(inputs, [&](const Tensor& given) {
    const bool fits = (given.dtype() == string) == (table.key_dtype == string);
    RILL_CHECK(fits, invalid_argument, "[{}] the input is {}; expected {}", name(), given.dtype(),
               table.key_dtype);
    return looked_up(given.dtype() == table.key_dtype ? given : cast(given, table.key_dtype));
  });
  if (spec_.mode == OutputMode::integers) return indices;
  return encoded(indices, {.mode = spec_.mode,
                           .depth = spec_.pad_to_max_tokens ? spec_.max_tokens
                                    : known                 ? vocabulary_size()
                                                            : expected_size_,
                           .dtype = policy.compute_dtype(),
                           .sparse = spec_.sparse,
                           .idf = idf_,
                           .layer = class_name()});
}

// ---- files
bool IndexLookupLayer::vocabulary_file(std::string* text) const {
  if (given_) return false;
  text->clear();
  const std::vector<std::string> words = texts_of(vocabulary(true));
  for (std::size_t i = 0; i < words.size(); ++i) *text += (i ? "\n" : "") + words[i];
  return true;
}
void IndexLookupLayer::read_vocabulary_file(const std::string& text) {
  if (given_) return;
  std::vector<std::string> words;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find('\n', at);
    words.push_back(text.substr(at, end - at));
    if (end == text.npos) break;
    at = end + 1;
  }
  // Of a layer that was never adapted: the special tokens alone.
  if (static_cast<std::int64_t>(words.size()) <= token_start()) return;
  Tensor tokens = reshape(constant(words, string), {-1});
  if (spec_.key_dtype != string) tokens = cast(strings::to_number(tokens, int64), spec_.key_dtype);
  const Tensor idf = idf_;
  const std::vector<double> some(words.size());
  set_vocabulary(tokens, spec_.mode == OutputMode::tf_idf ? some : std::vector<double>());
  if (idf.defined()) idf_ = idf;  // read before
}
std::vector<std::pair<std::string, Tensor>> IndexLookupLayer::arrays() const {
  if (spec_.mode != OutputMode::tf_idf || !idf_.defined()) return {};
  return {{"idf_weights", idf_}};
}
void IndexLookupLayer::set_array(const std::string& array, const Tensor& value) {
  if (array == "idf_weights") idf_ = cast(value, policy.compute_dtype());
}

void for_each_element(const data::Dataset& dataset, std::string_view layer,
                      const std::function<void(const Nest&)>& use) {
  bool any = false;
  for (const Nest& element : dataset) {
    use(element);
    any = true;
  }
  RILL_CHECK(any, invalid_argument,
             "[{}] adapt: there is no data; expected input data to be non-empty", layer);
}
std::vector<std::string> vocabulary_lines(const std::string& path) {
  const std::string text = io::file_contents(path);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == text.npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

}  // namespace rill::keras
