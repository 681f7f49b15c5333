// Serialized SequenceExamples as tensors: their contexts as features of Examples are, then their
// lists of features.
#include "rill/io/kernels/feature_parser_impl.h"

namespace rill::io {
namespace {

constexpr FeatureLayout kContext{.sparse_types = "context_sparse_types",
                                 .ragged_types = "context_ragged_value_types",
                                 .split_types = "context_ragged_split_types",
                                 .dense_shapes = "context_dense_shapes",
                                 .sparse_keys = 2,
                                 .dense_keys = 3,
                                 .ragged_keys = 4,
                                 .first_default = 9,
                                 .message = "a SequenceExample",
                                 .single = "io.parse_single_sequence_example"};
constexpr int kSparseKeys = 5, kDenseKeys = 6, kRaggedKeys = 7, kMissingAllowed = 8;

// A list of features that is looked for. Its values stand one step after the other, the steps of an
// example after those of the one before.
struct ListColumn {
  std::string_view key;
  ListKind kind;
  std::int64_t size = -1;  // values in a step of a dense one
  std::int64_t seen_in = -1;
  ListValues values;
  std::vector<std::int64_t> ends;   // where the values of each step end
  std::vector<std::int64_t> steps;  // how many steps there are up to the end of each example

  std::size_t grown() const {
    return kind == ListKind::bytes    ? values.texts.size()
           : kind == ListKind::floats ? values.floats.size()
                                      : values.integers.size();
  }
  std::int64_t first_step(std::size_t example) const {
    return example == 0 ? 0 : steps[example - 1];
  }
  std::int64_t begin_of(std::int64_t step) const {
    return step == 0 ? 0 : ends[static_cast<std::size_t>(step - 1)];
  }
  std::int64_t most_steps() const {
    std::int64_t most = 0;
    for (std::size_t e = 0; e < steps.size(); ++e) most = std::max(most, steps[e] - first_step(e));
    return most;
  }
  // Takes back what is after the last whole example: of two lists of one key the last counts.
  void forget() {
    const std::int64_t kept = steps.empty() ? 0 : steps.back();
    ends.resize(static_cast<std::size_t>(kept));
    const auto n = static_cast<std::size_t>(begin_of(kept));
    if (kind == ListKind::bytes) values.texts.resize(n);
    if (kind == ListKind::floats) values.floats.resize(n);
    if (kind == ListKind::integers) values.integers.resize(n);
  }
  // f(values), a vector of strings, float32 or int64.
  template <class F>
  void with_values(F f) {
    if (kind == ListKind::bytes) f(values.texts);
    if (kind == ListKind::floats) f(values.floats);
    if (kind == ListKind::integers) f(values.integers);
  }
};

class FeatureListParser {
 public:
  FeatureListParser(KernelContext& c, int first_output)
      : c_(c),
        out_(first_output),
        sparse_(c.attr("feature_list_sparse_types").as_types().size()),
        dense_(c.attr("feature_list_dense_types").as_types().size()),
        ragged_(c.attr("feature_list_ragged_value_types").as_types().size()),
        batch_(c.in_shape(0).rank() == 1),
        examples_(c.in(0).size) {}

  void run() {
    if (!make_columns()) return;
    const auto* serialized = c_.in<std::string>(0);
    for (example_ = 0; example_ < examples_; ++example_)
      if (!parse(serialized[example_]) || !finish_example()) return;
    write_sparse();
    write_dense();
    write_ragged();
  }

 private:
  bool fail(std::string what) {
    c_.fail(Code::invalid_argument, batch_ ? format("[{}] example {}: {}", c_.tag(), example_, what)
                                           : format("[{}] {}", kContext.single, what));
    return false;
  }
  bool damaged() { return fail(format("the bytes are not {}", kContext.message)); }

  bool make_columns() {
    const std::pair<int, std::size_t> wanted[] = {{kSparseKeys, sparse_},
                                                  {kDenseKeys, dense_},
                                                  {kRaggedKeys, ragged_},
                                                  {kMissingAllowed, dense_}};
    for (const auto& [input, n] : wanted)
      if (static_cast<std::size_t>(c_.in(input).size) != n) {
        c_.fail(Code::invalid_argument, format("[{}] it has {} values for {} lists of features",
                                               c_.tag(), c_.in(input).size, n));
        return false;
      }
    add_columns(kSparseKeys, c_.attr("feature_list_sparse_types").as_types());
    add_columns(kDenseKeys, c_.attr("feature_list_dense_types").as_types());
    add_columns(kRaggedKeys, c_.attr("feature_list_ragged_value_types").as_types());
    for (std::size_t i = 0; i < dense_; ++i)
      columns_[sparse_ + i].size = step_shape(i).num_elements();
    return true;
  }
  void add_columns(int keys, std::span<const DType> types) {
    for (std::size_t i = 0; i < types.size(); ++i)
      columns_.push_back({.key = c_.in<std::string>(keys)[i], .kind = list_kind_of(types[i])});
  }
  const TensorShape& step_shape(std::size_t i) const {
    return c_.attr("feature_list_dense_shapes").as_shapes()[i];
  }
  ListColumn* find(std::string_view key) {
    for (ListColumn& column : columns_)
      if (column.key == key) return &column;
    return nullptr;
  }

  bool parse(std::string_view serialized) {
    constexpr std::uint32_t kFeatureLists = 2, kEntry = 1, kKey = 1, kMapValue = 2;
    WireReader message(serialized);
    while (message.next()) {
      if (!message.is(kFeatureLists, WireType::bytes)) {
        message.skip();
        continue;
      }
      WireReader lists(message.bytes());
      while (lists.next()) {
        if (!lists.is(kEntry, WireType::bytes)) {
          lists.skip();
          continue;
        }
        WireReader entry(lists.bytes());
        std::string_view key, list;
        while (entry.next()) {
          if (entry.is(kKey, WireType::bytes))
            key = entry.bytes();
          else if (entry.is(kMapValue, WireType::bytes))
            list = entry.bytes();
          else
            entry.skip();
        }
        if (!entry.good()) return damaged();
        if (ListColumn* column = find(key))
          if (!take(*column, list)) return false;
      }
      if (!lists.good()) return damaged();
    }
    return message.good() || damaged();
  }

  bool take(ListColumn& column, std::string_view list) {
    if (column.seen_in == example_) column.forget();
    column.seen_in = example_;
    WireReader in(list);
    while (in.next()) {
      if (!in.is(1, WireType::bytes)) {
        in.skip();
        continue;
      }
      if (!take_step(column, in.bytes())) return false;
    }
    return in.good() || damaged();
  }
  bool take_step(ListColumn& column, std::string_view feature) {
    ListKind kind = ListKind::none;
    std::string_view list;
    if (!list_of_feature(feature, &kind, &list)) return damaged();
    const std::int64_t step =
        static_cast<std::int64_t>(column.ends.size()) - column.first_step(column.steps.size());
    if (kind != ListKind::none && kind != column.kind)
      return fail(format("step {} of list \"{}\" is a {}; expected a {}", step, column.key,
                         name_of(kind), name_of(column.kind)));
    const std::size_t before = column.grown();
    bool good = true;
    if (kind == ListKind::bytes)
      good = for_values<std::string_view>(
          list, [&](std::string_view v) { column.values.texts.emplace_back(v); });
    else if (kind == ListKind::floats)
      good = for_values<float>(list, [&](float v) { column.values.floats.push_back(v); });
    else if (kind == ListKind::integers)
      good = for_values<std::int64_t>(list,
                                      [&](std::int64_t v) { column.values.integers.push_back(v); });
    if (!good) return damaged();
    const auto n = static_cast<std::int64_t>(column.grown() - before);
    if (column.size >= 0 && n != column.size)
      return fail(format("step {} of list \"{}\" has {} values; expected {}", step, column.key, n,
                         column.size));
    column.ends.push_back(static_cast<std::int64_t>(column.grown()));
    return true;
  }

  bool finish_example() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      ListColumn& column = columns_[i];
      if (column.seen_in != example_ && i >= sparse_ && i < sparse_ + dense_ &&
          !c_.in<bool>(kMissingAllowed)[i - sparse_])
        return fail(
            format("list \"{}\" is missing. FixedLenSequenceFeature has allow_missing for "
                   "a list that need not be there",
                   column.key));
      column.steps.push_back(static_cast<std::int64_t>(column.ends.size()));
    }
    return true;
  }

  bool write_values(int output, ListColumn& column) {
    column.with_values([&]<class T>(std::vector<T>& values) {
      T* out = c_.allocate<T>(output, TensorShape(Dims{static_cast<std::int64_t>(values.size())}));
      if (out) std::move(values.begin(), values.end(), out);
    });
    return !c_.failed();
  }
  // Each of these begins where the one before ended.
  void write_sparse() {
    const auto n = static_cast<int>(sparse_);
    for (int i = 0; i < n && !c_.failed(); ++i) {
      ListColumn& column = columns_[static_cast<std::size_t>(i)];
      const std::int64_t width = batch_ ? 3 : 2;
      auto* at = c_.allocate<std::int64_t>(
          out_ + i, TensorShape(Dims{static_cast<std::int64_t>(column.grown()), width}));
      auto* shape = c_.allocate<std::int64_t>(out_ + 2 * n + i, TensorShape(Dims{width}));
      if (c_.failed()) return;
      std::int64_t widest = 0;
      for (std::size_t e = 0; e < column.steps.size(); ++e)
        for (std::int64_t s = column.first_step(e); s < column.steps[e]; ++s) {
          const std::int64_t begin = column.begin_of(s), count = column.begin_of(s + 1) - begin;
          for (std::int64_t k = 0; k < count; ++k) {
            if (batch_) *at++ = static_cast<std::int64_t>(e);
            *at++ = s - column.first_step(e);
            *at++ = k;
          }
          widest = std::max(widest, count);
        }
      if (batch_) *shape++ = examples_;
      *shape++ = column.most_steps();
      *shape = widest;
      if (!write_values(out_ + n + i, column)) return;
    }
    out_ += 3 * n;
  }
  void write_dense() {
    const auto n = static_cast<int>(dense_);
    for (int i = 0; i < n && !c_.failed(); ++i) {
      ListColumn& column = columns_[sparse_ + static_cast<std::size_t>(i)];
      const std::int64_t most = column.most_steps();
      Dims dims;
      if (batch_) dims.push_back(examples_);
      dims.push_back(most);
      for (std::int64_t d : step_shape(static_cast<std::size_t>(i)).dims()) dims.push_back(d);
      column.with_values([&]<class T>(std::vector<T>& values) {
        T* out = c_.allocate<T>(out_ + i, TensorShape(dims));
        for (std::size_t e = 0; out && e < column.steps.size(); ++e) {
          const std::int64_t first = column.begin_of(column.first_step(e)),
                             last = column.begin_of(column.steps[e]);
          out = std::move(values.begin() + first, values.begin() + last, out);
          out = std::fill_n(out, most * column.size - (last - first), T());
        }
      });
      auto* lengths = c_.allocate<std::int64_t>(
          out_ + n + i, batch_ ? TensorShape(Dims{examples_}) : TensorShape::scalar());
      if (c_.failed()) return;
      for (std::size_t e = 0; e < column.steps.size(); ++e)
        lengths[e] = column.steps[e] - column.first_step(e);
    }
    out_ += 2 * n;
  }
  void write_ragged() {
    const auto n = static_cast<int>(ragged_);
    for (int i = 0; i < n && !c_.failed(); ++i) {
      ListColumn& column = columns_[sparse_ + dense_ + static_cast<std::size_t>(i)];
      const DType type =
          c_.attr("feature_list_ragged_split_types").as_types()[static_cast<std::size_t>(i)];
      if (!write_values(out_ + i, column)) return;
      // One example has no rows of rows.
      write_splits(out_ + n + i, type, column.steps, batch_);
      write_splits(out_ + 2 * n + i, type, column.ends, true);
    }
  }
  void write_splits(int output, DType type, const std::vector<std::int64_t>& ends, bool any) {
    const auto write = [&]<class T>(T) {
      const auto size = any ? static_cast<std::int64_t>(ends.size()) + 1 : 0;
      T* out = c_.allocate<T>(output, TensorShape(Dims{size}));
      if (!out || !any) return;
      *out++ = 0;
      for (std::int64_t end : ends) *out++ = static_cast<T>(end);
    };
    if (type == int32)
      write(std::int32_t{});
    else
      write(std::int64_t{});
  }

  KernelContext& c_;
  int out_;  // the first output that is not written yet
  std::size_t sparse_, dense_, ragged_;
  bool batch_;
  std::int64_t examples_, example_ = 0;
  std::vector<ListColumn> columns_;  // sparse, dense, ragged
};

void parse_sequence_example_cpu(KernelContext& c) noexcept {
  FeatureParser context(c, kContext);
  if (context.run()) FeatureListParser(c, context.outputs()).run();
}
RILL_KERNEL("ParseSequenceExampleV2", cpu, TypeSet{}, parse_sequence_example_cpu);

}  // namespace
}  // namespace rill::io
