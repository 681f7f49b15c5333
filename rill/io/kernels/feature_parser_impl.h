#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/tensor_impl.h"
#include "rill/io/wire_impl.h"

// Features of serialized Examples as tensors, without objects of the protobuf library: one pass
// over the bytes of each.
namespace rill::io {

// Field numbers of Feature: which list it holds. Each list has its values in field 1.
enum class ListKind : std::uint32_t { none = 0, bytes = 1, floats = 2, integers = 3 };
constexpr std::uint32_t kListValue = 1;

inline ListKind list_kind_of(DType d) {
  return d == string ? ListKind::bytes : d == float32 ? ListKind::floats : ListKind::integers;
}
inline const char* name_of(ListKind k) {
  constexpr const char* kNames[] = {"no list", "bytes_list", "float_list", "int64_list"};
  return kNames[static_cast<int>(k)];
}
// Which list a Feature holds, and its bytes: the last of several. False: damaged.
inline bool list_of_feature(std::string_view feature, ListKind* kind, std::string_view* list) {
  WireReader in(feature);
  while (in.next()) {
    if (in.field() >= 1 && in.field() <= 3 && in.type() == WireType::bytes) {
      *kind = static_cast<ListKind>(in.field());
      *list = in.bytes();
    } else {
      in.skip();
    }
  }
  return in.good();
}

// ListValues that grow at their end.
struct ListValues {
  std::vector<std::string> texts;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
};

// A feature that is looked for.
struct FeatureColumn {
  std::string_view key;
  ListKind kind;
  std::int64_t seen_in = -1;  // the last example that had it
  // Dense ones of a fixed shape are written in place; all others grow.
  bool fixed = false;
  std::int64_t size = 0;  // of the fixed ones, per example
  void* out = nullptr;
  ListValues values;
  std::vector<std::int64_t> ends;  // where the values of each example end
};

// Gives `take` each value of a list in turn; false where the bytes are damaged. `T` is what `take`
// gets: string_view, float or int64.
template <class T, class F>
bool for_values(std::string_view list, F take) {
  WireReader in(list);
  while (in.next()) {
    if (in.field() != kListValue) {
      in.skip();
      continue;
    }
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (in.type() != WireType::bytes) return false;
      const std::string_view v = in.bytes();
      if (in.good()) take(v);
    } else if (in.type() == WireType::bytes) {
      WireReader packed(in.bytes());
      while (!packed.at_end()) {
        T v;
        if constexpr (std::is_same_v<T, float>)
          v = packed.fixed<float>();
        else
          v = static_cast<T>(packed.varint());
        if (!packed.good()) return false;
        take(v);
      }
    } else if (std::is_same_v<T, float> ? in.type() == WireType::fixed32
                                        : in.type() == WireType::varint) {
      if constexpr (std::is_same_v<T, float>)
        take(in.fixed<float>());
      else
        take(static_cast<T>(in.varint()));
    } else {
      return false;
    }
  }
  return in.good();
}

// Where an op has what FeatureParser reads and writes: names of attributes, numbers of inputs and
// outputs.
struct FeatureLayout {
  const char *sparse_types, *ragged_types, *split_types, *dense_shapes;
  int sparse_keys, dense_keys, ragged_keys, first_default;
  const char *message, *single;  // for errors: "Example", and the function for one of them
};

// The features of Examples, or of the contexts of SequenceExamples. The outputs are the first of
// the op: places, values and shapes of sparse ones, dense ones, values and splits of ragged ones.
class FeatureParser {
 public:
  FeatureParser(KernelContext& c, const FeatureLayout& layout)
      : c_(c),
        at_(layout),
        sparse_(c.attr(layout.sparse_types).as_types().size()),
        dense_(c.attr(layout.dense_shapes).as_shapes().size()),
        ragged_(c.attr(layout.ragged_types).as_types().size()),
        batch_(c.in_shape(0).rank() == 1),
        examples_(c.in(0).size) {}

  // False where the kernel has failed.
  bool run() {
    if (!make_columns()) return false;
    const auto* serialized = c_.in<std::string>(0);
    for (example_ = 0; example_ < examples_; ++example_) {
      if (!parse(serialized[example_]) || !finish_example()) return false;
    }
    write_sparse();
    write_dense();
    write_ragged();
    return !c_.failed();
  }
  int outputs() const { return static_cast<int>(3 * sparse_ + dense_ + 2 * ragged_); }

 private:
  bool fail(std::string what) {
    c_.fail(Code::invalid_argument, batch_ ? format("[{}] example {}: {}", c_.tag(), example_, what)
                                           : format("[{}] {}", at_.single, what));
    return false;
  }
  bool damaged() { return fail(format("the bytes are not {}", at_.message)); }

  bool make_columns() {
    for (int which : {at_.sparse_keys, at_.dense_keys, at_.ragged_keys}) {
      const std::size_t wanted = which == at_.sparse_keys  ? sparse_
                                 : which == at_.dense_keys ? dense_
                                                           : ragged_;
      if (static_cast<std::size_t>(c_.in(which).size) != wanted) {
        c_.fail(Code::invalid_argument,
                format("[{}] it has {} keys for {} features", c_.tag(), c_.in(which).size, wanted));
        return false;
      }
    }
    columns_.resize(sparse_ + dense_ + ragged_);
    const std::span<const DType> sparse_types = c_.attr(at_.sparse_types).as_types(),
                                 ragged_types = c_.attr(at_.ragged_types).as_types();
    for (std::size_t i = 0; i < sparse_; ++i)
      columns_[i] = {.key = c_.in<std::string>(at_.sparse_keys)[i],
                     .kind = list_kind_of(sparse_types[i])};
    for (std::size_t i = 0; i < dense_; ++i) {
      FeatureColumn& column = columns_[sparse_ + i];
      const int input = at_.first_default + static_cast<int>(i), output = dense_output(i);
      const TensorShape& shape = c_.attr(at_.dense_shapes).as_shapes()[i];
      column.key = c_.in<std::string>(at_.dense_keys)[i];
      column.kind = list_kind_of(c_.in(input).dtype);
      column.fixed = shape.is_fully_defined();
      const std::int64_t given = c_.in(input).size;
      if (column.fixed) {
        column.size = shape.num_elements();
        column.out = c_.out(output).data;
        if (!column.out) column.out = c_.allocate_output(output, dense_shape(shape, 0));
        if (c_.failed()) return false;
        if (given != 0 && given != column.size) {
          c_.fail(Code::invalid_argument,
                  format("[{}] the default of feature \"{}\" has {} values; expected {}", c_.tag(),
                         column.key, given, column.size));
          return false;
        }
      } else {
        column.size = row_size(shape);
        if (given != 1) {
          c_.fail(Code::invalid_argument,
                  format("[{}] the default of feature \"{}\", of any length, has {} values; "
                         "expected 1",
                         c_.tag(), column.key, given));
          return false;
        }
      }
    }
    for (std::size_t i = 0; i < ragged_; ++i)
      columns_[sparse_ + dense_ + i] = {.key = c_.in<std::string>(at_.ragged_keys)[i],
                                        .kind = list_kind_of(ragged_types[i])};
    return true;
  }

  // Examples of a file mostly have their features in one order: a feature is first taken for
  // the one that stood there last time.
  FeatureColumn* find(std::string_view key, std::size_t place) {
    if (place < order_.size()) {
      const std::size_t guess = order_[place];
      if (guess != kNobody && columns_[guess].key == key) return &columns_[guess];
    }
    const std::size_t column =
        place < columns_.size() && columns_[place].key == key ? place : search(key);
    if (place < kRemembered) {
      if (place >= order_.size()) order_.resize(place + 1, kNobody);
      order_[place] = column;
    }
    return column == kNobody ? nullptr : &columns_[column];
  }

  std::size_t search(std::string_view key) {
    if (columns_.size() <= kFew) {
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].key == key) return i;
      return kNobody;
    }
    if (by_key_.empty())
      for (std::size_t i = 0; i < columns_.size(); ++i) by_key_.emplace(columns_[i].key, i);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? kNobody : found->second;
  }

  bool parse(std::string_view serialized) {
    WireReader example(serialized);
    std::size_t place = 0;
    while (example.next()) {
      if (!example.is(1, WireType::bytes)) {
        example.skip();
        continue;
      }
      WireReader features(example.bytes());
      while (features.next()) {
        if (!features.is(1, WireType::bytes)) {
          features.skip();
          continue;
        }
        WireReader entry(features.bytes());
        std::string_view key, feature;
        while (entry.next()) {
          if (entry.is(1, WireType::bytes))
            key = entry.bytes();
          else if (entry.is(2, WireType::bytes))
            feature = entry.bytes();
          else
            entry.skip();
        }
        if (!entry.good()) return damaged();
        if (FeatureColumn* column = find(key, place++))
          if (!take(*column, feature)) return false;
      }
      if (!features.good()) return damaged();
    }
    return example.good() || damaged();
  }

  bool take(FeatureColumn& column, std::string_view feature) {
    ListKind kind = ListKind::none;
    std::string_view list;
    if (!list_of_feature(feature, &kind, &list)) return damaged();
    if (kind == ListKind::none) return true;  // as if it were missing
    if (kind != column.kind)
      return fail(format("feature \"{}\" is a {}; expected a {}", column.key, name_of(kind),
                         name_of(column.kind)));
    // The last of two features of one key counts.
    if (column.seen_in == example_) forget(column);
    column.seen_in = example_;
    switch (kind) {
      case ListKind::bytes:
        return put<std::string, std::string_view>(column, list, column.values.texts);
      case ListKind::floats:
        return put<float, float>(column, list, column.values.floats);
      default:
        return put<std::int64_t, std::int64_t>(column, list, column.values.integers);
    }
  }
  template <class T, class V>
  bool put(FeatureColumn& column, std::string_view list, std::vector<T>& grown) {
    if (!column.fixed) {
      return for_values<V>(list, [&](V v) { grown.emplace_back(v); }) || damaged();
    }
    T* const out = static_cast<T*>(column.out) + example_ * column.size;
    std::int64_t n = 0;
    const bool good = for_values<V>(list, [&](V v) {
      if (n < column.size) out[n] = T(v);
      ++n;
    });
    if (!good) return damaged();
    return n == column.size ||
           fail(format("feature \"{}\" has {} values; expected {}", column.key, n, column.size));
  }
  static std::size_t grown(const FeatureColumn& column) {
    switch (column.kind) {
      case ListKind::bytes:
        return column.values.texts.size();
      case ListKind::floats:
        return column.values.floats.size();
      default:
        return column.values.integers.size();
    }
  }
  static void forget(FeatureColumn& column) {
    const auto n = column.ends.empty() ? 0 : static_cast<std::size_t>(column.ends.back());
    if (column.fixed) return;
    if (column.kind == ListKind::bytes) column.values.texts.resize(n);
    if (column.kind == ListKind::floats) column.values.floats.resize(n);
    if (column.kind == ListKind::integers) column.values.integers.resize(n);
  }

  // Features that the example does not have.
  bool finish_example() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      FeatureColumn& column = columns_[i];
      if (column.fixed) {
        if (column.seen_in == example_) continue;
        const TensorView& given = c_.in(at_.first_default + static_cast<int>(i - sparse_));
        if (given.size == 0 && column.size > 0)
          return fail(format("feature \"{}\" ({}) is missing, and has no default", column.key,
                             given.dtype));
        put_default(column, given);
      } else {
        const std::size_t end = grown(column);
        if (i >= sparse_ && i < sparse_ + dense_) {
          const auto begin = column.ends.empty() ? 0 : static_cast<std::size_t>(column.ends.back());
          if (column.size == 0 || (end - begin) % static_cast<std::size_t>(column.size) != 0)
            return fail(format("feature \"{}\" has {} values; expected a multiple of {}",
                               column.key, end - begin, column.size));
        }
        column.ends.push_back(static_cast<std::int64_t>(end));
      }
    }
    return true;
  }
  void put_default(FeatureColumn& column, const TensorView& given) const {
    const auto copy = [&]<class T>(const T* from) {
      std::copy_n(from, column.size, static_cast<T*>(column.out) + example_ * column.size);
    };
    if (column.kind == ListKind::bytes) copy(static_cast<const std::string*>(given.data));
    if (column.kind == ListKind::floats) copy(static_cast<const float*>(given.data));
    if (column.kind == ListKind::integers) copy(static_cast<const std::int64_t*>(given.data));
  }

  static std::int64_t longest(const FeatureColumn& column) {
    std::int64_t most = 0, begin = 0;
    for (std::int64_t end : column.ends) {
      most = std::max(most, end - begin);
      begin = end;
    }
    return most;
  }
  // All values of a column as output `i`.
  bool write_values(int i, FeatureColumn& column) {
    const auto n = static_cast<std::int64_t>(grown(column));
    const TensorShape shape(Dims{n});
    void* out = c_.allocate_output(i, shape);
    if (c_.failed()) return false;
    if (column.kind == ListKind::bytes)
      std::move(column.values.texts.begin(), column.values.texts.end(),
                static_cast<std::string*>(out));
    if (column.kind == ListKind::floats)
      std::copy(column.values.floats.begin(), column.values.floats.end(), static_cast<float*>(out));
    if (column.kind == ListKind::integers)
      std::copy(column.values.integers.begin(), column.values.integers.end(),
                static_cast<std::int64_t*>(out));
    return true;
  }
  void write_sparse() {
    const auto n = static_cast<int>(sparse_);
    for (int i = 0; i < n && !c_.failed(); ++i) {
      FeatureColumn& column = columns_[static_cast<std::size_t>(i)];
      const std::int64_t width = batch_ ? 2 : 1, total = static_cast<std::int64_t>(grown(column));
      auto* at = c_.allocate<std::int64_t>(i, TensorShape(Dims{total, width}));
      auto* shape = c_.allocate<std::int64_t>(2 * n + i, TensorShape(Dims{width}));
      if (c_.failed()) return;
      std::int64_t begin = 0;
      for (std::size_t e = 0; e < column.ends.size(); ++e) {
        for (std::int64_t k = begin; k < column.ends[e]; ++k) {
          if (batch_) *at++ = static_cast<std::int64_t>(e);
          *at++ = k - begin;
        }
        begin = column.ends[e];
      }
      if (batch_) *shape++ = examples_;
      *shape = longest(column);
      write_values(n + i, column);
    }
  }
  template <class T>
  static void pad(const FeatureColumn& column, const std::vector<T>& values, const T& filler,
                  std::int64_t width, T* out) {
    std::int64_t begin = 0;
    for (std::int64_t end : column.ends) {
      out = std::copy(values.begin() + begin, values.begin() + end, out);
      out = std::fill_n(out, width - (end - begin), filler);
      begin = end;
    }
  }
  void write_dense() {
    for (std::size_t i = 0; i < dense_ && !c_.failed(); ++i) {
      const FeatureColumn& column = columns_[sparse_ + i];
      if (column.fixed) continue;
      const TensorShape& shape = c_.attr(at_.dense_shapes).as_shapes()[i];
      const std::int64_t width = longest(column);
      void* out = c_.allocate_output(dense_output(i), dense_shape(shape, width / column.size));
      if (c_.failed()) return;
      const void* filler = c_.in(at_.first_default + static_cast<int>(i)).data;
      const auto fill = [&]<class T>(const std::vector<T>& values) {
        pad(column, values, *static_cast<const T*>(filler), width, static_cast<T*>(out));
      };
      if (column.kind == ListKind::bytes) fill(column.values.texts);
      if (column.kind == ListKind::floats) fill(column.values.floats);
      if (column.kind == ListKind::integers) fill(column.values.integers);
    }
  }
  void write_ragged() {
    const auto first = static_cast<int>(3 * sparse_ + dense_), n = static_cast<int>(ragged_);
    for (int i = 0; i < n && !c_.failed(); ++i) {
      FeatureColumn& column = columns_[sparse_ + dense_ + static_cast<std::size_t>(i)];
      if (!write_values(first + i, column)) return;
      // One example has no rows, as in TensorFlow.
      const std::int64_t rows = batch_ ? examples_ + 1 : 0;
      void* splits = c_.allocate_output(first + n + i, TensorShape(Dims{rows}));
      if (c_.failed()) return;
      const bool narrow = c_.attr(at_.split_types).as_types()[static_cast<std::size_t>(i)] == int32;
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t v = r == 0 ? 0 : column.ends[static_cast<std::size_t>(r - 1)];
        if (narrow)
          static_cast<std::int32_t*>(splits)[r] = static_cast<std::int32_t>(v);
        else
          static_cast<std::int64_t*>(splits)[r] = v;
      }
    }
  }

  int dense_output(std::size_t i) const { return static_cast<int>(3 * sparse_ + i); }
  static std::int64_t row_size(const TensorShape& shape) {
    std::int64_t n = 1;
    for (int d = 1; d < shape.rank(); ++d) n *= shape.dim(d);
    return n;
  }
  // Of an output; `length` is the first size where the feature may have any.
  TensorShape dense_shape(const TensorShape& shape, std::int64_t length) const {
    Dims dims;
    if (batch_) dims.push_back(examples_);
    for (std::int64_t d : shape.dims()) dims.push_back(d < 0 ? length : d);
    return TensorShape(dims);
  }

  static constexpr std::size_t kNobody = SIZE_MAX, kRemembered = 4096, kFew = 16;
  KernelContext& c_;
  const FeatureLayout at_;
  std::size_t sparse_, dense_, ragged_;
  bool batch_;
  std::int64_t examples_, example_ = 0;
  std::vector<FeatureColumn> columns_;  // sparse, dense, ragged
  std::unordered_map<std::string_view, std::size_t> by_key_;
  std::vector<std::size_t> order_;
};

}  // namespace rill::io
