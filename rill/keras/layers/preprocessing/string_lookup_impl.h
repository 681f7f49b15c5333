#pragma once
#include "rill/keras/layers/preprocessing/index_lookup_impl.h"

namespace rill::keras {

class StringLookupLayer final : public IndexLookupLayer {
 public:
  explicit StringLookupLayer(const layers::StringLookupOptions& o);
  void add_config(Config& c) const override;

 private:
  layers::StringLookupOptions o_;
};

inline OutputMode lookup_mode(const std::string& layer, const std::string& name) {
  return output_mode_of(layer, name,
                        {OutputMode::integers, OutputMode::one_hot, OutputMode::multi_hot,
                         OutputMode::count, OutputMode::tf_idf});
}
// The words of a vocabulary; of a file, those that were read: a configuration stands alone.
template <class F, class O>
void visit_vocabulary(F& f, O& o) {
  using Word = typename std::remove_cvref_t<decltype(o.vocabulary)>::value_type;
  f("vocabulary", o.vocabulary, ListOrNull<Word>());
}
// Only Keras 3 has these.
template <class F, class O>
void visit_oov_method(F& f, O& o) {
  f.written_if(o.oov_method != "floormod", "oov_method", o.oov_method);
  f.written_if(!o.salt.empty(), "salt", o.salt, ListOrNull<std::int64_t>());
}

}  // namespace rill::keras
