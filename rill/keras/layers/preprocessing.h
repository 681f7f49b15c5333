#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/keras/engine/layer.h"
#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

// Layers that make features of raw data: text, categories, numbers. Layers for images are in
// image_preprocessing.h. They stand in a model, or work on a dataset:
//
//   keras::layers::TextVectorization vectorize({.max_tokens = 10000, .output_sequence_length =
//   250}); vectorize.adapt(texts); auto batches = dataset.map([=](Nest x, Tensor y) { return
//   tf::tuple(vectorize(x), y); });
//
// adapt looks at all of the data once, and forgets what was learnt before. .keras files hold what
// was learnt; HDF5 cannot, as in Keras. They take tensors, ragged and sparse tensors, unless it
// says otherwise. `output_mode` is "int" (numbers), or says what becomes of the numbers of a
// sample, along the last axis: "one_hot" (each number apart, behind a new axis unless the last one
// has size 1), "multi_hot" (which of them come; "binary" is an old name), "count" (how often),
// "tf_idf" (how often, by inverse document frequency). With `sparse` those are sparse tensors.
namespace rill RILL_API {
namespace data {
class Dataset;
}
namespace keras {
namespace layers {

// ---- categories
struct StringLookupOptions {
  std::int64_t max_tokens = 0;       // of the vocabulary, with the tokens below; 0: any number
  std::int64_t num_oov_indices = 1;  // for what is not in the vocabulary, by hash; 0: an error
  std::optional<std::string> mask_token = {};  // index 0 in mode "int", left out in others
  std::string oov_token = "[UNK]";
  std::vector<std::string> vocabulary = {};  // instead of adapt; with or without the tokens above
  std::string vocabulary_file = {};          // the same, a line a word
  std::vector<double> idf_weights = {};      // one for each word of the vocabulary: "tf_idf"
  std::string encoding = "utf-8";
  bool invert = false;  // from indices to strings; InvalidArgument unless output_mode is "int"
  std::string output_mode = "int";
  bool sparse = false;
  bool pad_to_max_tokens = false;       // the width is max_tokens
  std::string oov_method = "floormod";  // of Keras 3: of integers; or "farmhash"
  std::vector<std::int64_t> salt = {};  // of Keras 3: a key of two numbers for the hash
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Strings as indices of a vocabulary: [mask_token] [oov_token ..] words, by how often they came.
// int64 in mode "int", else floats.
class StringLookup : public Layer {
 public:
  StringLookup();
  explicit StringLookup(StringLookupOptions options);
  // InvalidArgument where a vocabulary was given.
  void adapt(const Tensor& data) const;
  void adapt(const RaggedTensor& data) const;
  void adapt(const data::Dataset& batches) const;
  void set_vocabulary(const std::vector<std::string>& vocabulary,
                      const std::vector<double>& idf_weights = {}) const;
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
};

struct IntegerLookupOptions {
  std::int64_t max_tokens = 0;
  std::int64_t num_oov_indices = 1;
  std::optional<std::int64_t> mask_token = {};
  std::int64_t oov_token = -1;
  std::vector<std::int64_t> vocabulary = {};
  std::string vocabulary_file = {};
  DType vocabulary_dtype = int64;  // or int32
  std::vector<double> idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";
  bool sparse = false;
  bool pad_to_max_tokens = false;
  std::string oov_method = "floormod";
  std::vector<std::int64_t> salt = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The same of integers.
class IntegerLookup : public Layer {
 public:
  IntegerLookup();
  explicit IntegerLookup(IntegerLookupOptions options);
  void adapt(const Tensor& data) const;
  void adapt(const RaggedTensor& data) const;
  void adapt(const data::Dataset& batches) const;
  void set_vocabulary(const std::vector<std::int64_t>& vocabulary,
                      const std::vector<double>& idf_weights = {}) const;
  std::vector<std::int64_t> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
};

struct CategoryEncodingOptions {
  std::int64_t num_tokens = 0;
  std::string output_mode = "multi_hot";  // or "one_hot", "count"
  bool sparse = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Indices below num_tokens as rows of num_tokens numbers. InvalidArgument for other indices. A
// second input with "count": the weight of each index, which is added instead of 1.
class CategoryEncoding : public Layer {
 public:
  explicit CategoryEncoding(CategoryEncodingOptions options);
  explicit CategoryEncoding(std::int64_t num_tokens, CategoryEncodingOptions options = {});
};

struct HashingOptions {
  std::int64_t num_bins = 0;
  // A string or number that has bin 0 for itself.
  Config mask_value = {};
  std::vector<std::int64_t> salt = {};  // one number, or two: SipHash with this key; none: FarmHash
  std::string output_mode = "int";      // or "one_hot", "multi_hot", "count"
  bool sparse = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Strings or integers as one of num_bins buckets, the same in every program.
class Hashing : public Layer {
 public:
  explicit Hashing(HashingOptions options);
  explicit Hashing(std::int64_t num_bins, HashingOptions options = {});
};

struct HashedCrossingOptions {
  std::int64_t num_bins = 0;
  std::string output_mode = "int";  // or "one_hot"
  bool sparse = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Tuples of strings or integers, one of each of two or more inputs of shape [], [batch] or
// [batch, 1], as one of num_bins buckets.
class HashedCrossing : public Layer {
 public:
  explicit HashedCrossing(HashedCrossingOptions options);
  explicit HashedCrossing(std::int64_t num_bins, HashedCrossingOptions options = {});
};

// ---- numbers
struct DiscretizationOptions {
  std::vector<double> bin_boundaries = {};  // ascending; or num_bins and adapt
  std::int64_t num_bins = 0;
  double epsilon = 0.01;            // how exactly adapt finds quantiles
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count"
  bool sparse = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The number of the interval that a number is in: below the first boundary 0, at or above it 1, ..
// adapt makes intervals of equally many numbers.
class Discretization : public Layer {
 public:
  Discretization();
  explicit Discretization(DiscretizationOptions options);
  // A template, so that what may be read as options is.
  template <int = 0>
  explicit Discretization(const std::vector<double>& bin_boundaries,
                          DiscretizationOptions options = {})
      : Discretization((options.bin_boundaries = bin_boundaries, std::move(options))) {}
  void adapt(const Tensor& data) const;
  void adapt(const data::Dataset& batches) const;
  std::vector<double> bin_boundaries() const;  // given or found
};

// ---- text
// What is done to texts before they are split: "lower_and_strip_punctuation", "lower",
// "strip_punctuation", nothing (""), or a function of strings. A function is saved by name, as
// layers::Lambda is: keras::utils::register_keras_function("name", f), then "name" here.
class TextStep {
 public:
  using Function = std::function<Nest(const Tensor&)>;
  template <StringLike S>
  TextStep(const S& name) : name_(std::string_view(name)) {}
  template <class F>
  requires(!StringLike<F> && std::is_invocable_v<F&, Tensor>) TextStep(F f)
      : function_([f](const Tensor& x) mutable { return Nest(f(x)); }) {}
  const std::string& name() const { return name_; }
  const Function& function() const { return function_; }

 private:
  std::string name_;
  Function function_;
};
// Lengths of n-grams: 3 is 1, 2 and 3; {3} is 3 alone. 0: none.
class NgramWidths {
 public:
  NgramWidths(int up_to) : up_to_(up_to) {}
  NgramWidths(std::initializer_list<int> each) : each_(each) {}
  NgramWidths(std::vector<int> each) : each_(std::move(each)) {}
  int up_to() const { return up_to_; }
  const std::vector<int>& given() const { return each_; }
  std::vector<int> list() const;  // empty: none

 private:
  int up_to_ = 0;
  std::vector<int> each_;
};

struct TextVectorizationOptions {
  std::int64_t max_tokens = 0;  // of the vocabulary, with padding and [UNK]; 0: any number
  TextStep standardize = "lower_and_strip_punctuation";
  TextStep split = "whitespace";  // or "character", "" (not at all), a function that gives rows
  NgramWidths ngrams = 0;
  std::string output_mode = "int";          // or "multi_hot", "count", "tf_idf"; "": the strings
  std::int64_t output_sequence_length = 0;  // cut or padded to it, in mode "int"; 0: as the longest
  bool pad_to_max_tokens = false;
  std::vector<std::string> vocabulary = {};
  std::string vocabulary_file = {};
  std::vector<double> idf_weights = {};
  bool sparse = false;
  bool ragged = false;  // rows as long as they are, in mode "int"
  std::string encoding = "utf-8";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Texts [batch] or [batch, 1] as rows of indices, padded with 0, or as rows of the width of the
// vocabulary. Index 1 is a word that is not in the vocabulary ("[UNK]"); in other modes it is 0.
class TextVectorization : public Layer {
 public:
  TextVectorization();
  explicit TextVectorization(TextVectorizationOptions options);
  void adapt(const Operand& texts) const;
  void adapt(std::initializer_list<Operand> texts) const { adapt(Operand(texts)); }
  void adapt(const data::Dataset& texts) const;  // of texts, or batches of them
  void set_vocabulary(const std::vector<std::string>& vocabulary,
                      const std::vector<double>& idf_weights = {}) const;
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
