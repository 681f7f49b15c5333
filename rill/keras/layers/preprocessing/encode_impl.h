#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "rill/core/nest.h"
#include "rill/keras/config.h"
#include "rill/keras/dtype_policy.h"
#include "rill/keras/engine/layer_impl.h"

// What layers that make numbers of categories share.
namespace rill::keras {

enum class OutputMode { integers, one_hot, multi_hot, count, tf_idf, none };
// InvalidArgument, with those that the layer has, for another one. "binary" and "tf-idf" are old
// names. "" is `none`.
OutputMode output_mode_of(std::string_view layer, const std::string& name,
                          std::initializer_list<OutputMode> known);
std::string output_mode_name(OutputMode mode);

// The options that layers have in common, with int64 where they make integers; `floats`: files may
// say otherwise.
template <class O>
LayerOptions integers_or_floats(const O& o, OutputMode mode) {
  LayerOptions l = common(o);
  const bool whole = l.dtype.defined() && l.dtype.compute_dtype().is_integer();
  if (mode == OutputMode::integers && !whole) l.dtype = DTypePolicy(int64);
  if (mode != OutputMode::integers && whole) l.dtype = DTypePolicy(backend::floatx());
  return l;
}

struct EncodeOptions {
  OutputMode mode = OutputMode::integers;
  std::int64_t depth = 0;
  DType dtype = {};
  bool sparse = false;
  Tensor weights = {};  // of each index
  Tensor idf = {};      // of each place of the result
  std::string_view layer = {};
};
// Indices, a tensor or a ragged or sparse one, as the mode says. An index that is not below depth
// leaves no trace.
Nest encoded(const Nest& indices, const EncodeOptions& options);

// f of the values, in the structure that they came in: a tensor, or a ragged or sparse tensor.
template <class F>
Nest map_values(const Nest& x, F f);

// Of a configuration: null for an empty list, a number for one, else a list.
template <class T>
struct ListOrNull {
  static Config write(const std::vector<T>& v) { return v.empty() ? Config() : Config::list_of(v); }
  static void read(const Config& c, std::vector<T>& v) {
    v.clear();
    for (const Config& i : c.items()) {
      if constexpr (std::is_same_v<T, std::string>)
        v.push_back(i.as_string());
      else if constexpr (std::is_integral_v<T>)
        v.push_back(i.as_int());
      else
        v.push_back(i.as_double());
    }
  }
};

}  // namespace rill::keras

#include "rill/ops/ragged_ops.h"
#include "rill/ops/sparse_ops.h"

template <class F>
rill::Nest rill::keras::map_values(const Nest& x, F f) {
  if (x.composite_kind() == "ragged") {
    const RaggedTensor r = x.as_ragged();
    return r.with_flat_values(f(r.flat_values()));
  }
  if (x.composite_kind() == "sparse") {
    const SparseTensor s = x.as_sparse();
    return SparseTensor(s.indices, f(s.values), s.dense_shape);
  }
  return Nest(Tensor(f(x.as_tensor())));
}
