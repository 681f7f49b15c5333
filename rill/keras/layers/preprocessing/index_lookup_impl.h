#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rill/keras/engine/layer_files_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing.h"
#include "rill/keras/layers/preprocessing/encode_impl.h"

namespace rill::lookup {
class LookupTable;
}
namespace rill::keras {

// What StringLookup and IntegerLookup share: a vocabulary and what becomes of its indices. Tokens
// are tensors of the key's dtype.
class IndexLookupLayer : public LayerImpl, public LayerFiles {
 public:
  struct Spec {
    std::int64_t max_tokens = 0, num_oov_indices = 1;
    Tensor mask_token = {}, oov_token = {};  // a scalar; undefined: none
    Tensor vocabulary = {};                  // a list; undefined: none
    std::string vocabulary_file = {};
    std::vector<double> idf_weights = {};
    DType key_dtype = string;
    bool invert = false, sparse = false, pad_to_max_tokens = false;
    OutputMode mode = OutputMode::integers;
    bool farmhash = true;
    std::vector<std::int64_t> salt = {};
  };
  IndexLookupLayer(std::string_view class_name, const LayerOptions& options, Spec spec);

  Nest call_nest(const Nest& inputs, const CallContext&) override;

  // ---- adapt: what was seen is forgotten, added to, made a vocabulary
  void reset();
  void update(const Nest& data);  // a tensor, ragged or sparse; for tf_idf a row is a document
  void finish();

  void set_vocabulary(const Tensor& tokens, const std::vector<double>& idf_weights);
  // With the special tokens in front.
  Tensor vocabulary(bool include_special_tokens) const;
  std::int64_t vocabulary_size() const { return token_start() + tokens_.size(); }
  bool is_given() const { return given_; }
  // A file says so, and gives the vocabulary later.
  void expect_size(const Config& vocabulary_size) {
    if (vocabulary_size.is_number()) expected_size_ = vocabulary_size.as_int();
  }

  bool vocabulary_file(std::string* text) const override;
  void read_vocabulary_file(const std::string& text) override;
  std::vector<std::pair<std::string, Tensor>> arrays() const override;
  void set_array(const std::string& name, const Tensor& value) override;
  const char* not_in_hdf5() const override { return given_ ? nullptr : "its vocabulary"; }

 protected:
  Spec spec_;

 private:
  std::int64_t oov_start() const {
    return spec_.mask_token.defined() && spec_.mode == OutputMode::integers ? 1 : 0;
  }
  std::int64_t token_start() const { return oov_start() + spec_.num_oov_indices; }
  Tensor special_tokens() const;
  void use(const Tensor& tokens);
  Tensor looked_up(const Tensor& keys) const;
  Tensor out_of_vocabulary(const Tensor& keys) const;
  void count(const Tensor& values, std::map<std::string, std::int64_t>& texts,
             std::map<std::int64_t, std::int64_t>& numbers) const;

  std::int64_t expected_size_ = 0;
  bool given_ = false;  // by the constructor: adapt is an error
  Tensor tokens_;       // without the special ones
  Tensor idf_;          // of all of the width
  Tensor table_;
  struct Seen {
    std::map<std::string, std::int64_t> texts, text_documents;
    std::map<std::int64_t, std::int64_t> numbers, number_documents;
    std::int64_t documents = 0;
  } seen_;
};

inline IndexLookupLayer& index_of(const Layer& layer) {
  return static_cast<IndexLookupLayer&>(layer.impl());
}
// adapt of the layers with such a vocabulary: a tensor, ragged or sparse; the batches of a dataset.
void adapt_index(const Layer& layer, const Nest& data);
void adapt_index(const Layer& layer, const data::Dataset& batches);
// Such a layer of its configuration. What adapt found is in a file beside that, which tells its
// size.
template <class Fields, class Lookup>
LayerRef lookup_of(const Config& c) {
  const Lookup layer(read_fields<Fields>(c));
  index_of(layer).expect_size(c.get("vocabulary_size"));
  return layer;
}

// The elements of a dataset, one after the other; InvalidArgument when there is none.
void for_each_element(const data::Dataset& dataset, std::string_view layer,
                      const std::function<void(const Nest&)>& use);
// The lines of a file.
std::vector<std::string> vocabulary_lines(const std::string& path);

}  // namespace rill::keras
