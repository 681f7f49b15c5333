#include "rill/ops/array_ops.h"
#include "rill/ops/lookup_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/string/hashed_cross_impl.h"
#include "row.h"

namespace rill::conformance {
namespace {

using lookup::experimental::DenseHashTable;
using lookup::experimental::MutableHashTable;
using List = std::vector<Tensor>;

// A table is made for each call, of keys, values and what is looked up.
constexpr const char* kMutable = "tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)";
std::string then(const std::string& table, const std::string& steps) {
  return "(lambda t, x0, x1, x2: [" + steps + "])(" + table + ", x0, x1, x2)[-1]";
}
std::vector<Input> words() {
  return {strings({4}, {"b", "a", "", "b"}), values(int64, {4}, {5, 6, 7, 8}),
          strings({2, 2}, {"b", "nothing", "", "a"})};
}
MutableHashTable filled(const List& in) {
  const MutableHashTable table(string, int64, -1);
  table.insert(in[0], in[1]);
  return table;
}
lookup::KeyValueTensorInitializer pairs(const List& in) { return {in[0], in[1]}; }

}  // namespace

RILL_ROWS(lookup) {
  const auto composite = [](const char* name, Call call, const std::string& tf) {
    row(name).sample(words()).call(std::move(call)).tf(tf).dtypes({float32});
  };
  const std::string found = then(kMutable, "t.insert(x0, x1), t.lookup(x2)");
  composite(
      "LookupTableFindV2", [](const List& in) { return List{filled(in).lookup(in[2])}; }, found);
  composite(
      "LookupTableInsertV2", [](const List& in) { return List{filled(in).lookup(in[2])}; }, found);
  composite(
      "MutableHashTableV2", [](const List& in) { return List{filled(in).size()}; },
      then(kMutable, "t.insert(x0, x1), t.size()"));
  composite(
      "LookupTableSizeV2", [](const List& in) { return List{filled(in).size()}; },
      then(kMutable, "t.insert(x0, x1), t.size()"));
  composite(
      "LookupTableRemoveV2",
      [](const List& in) {
        const MutableHashTable table = filled(in);
        table.remove(in[2]);
        return List{table.size()};
      },
      then(kMutable, "t.insert(x0, x1), t.remove(x2), t.size()"));
  // The order of what is exported is a table's own.
  composite(
      "LookupTableExportV2",
      [](const List& in) { return List{reduce_sum(filled(in).export_().second)}; },
      then(kMutable, "t.insert(x0, x1), tf.reduce_sum(t.export()[1])"));
  composite(
      "MutableDenseHashTableV2",
      [](const List& in) {
        const DenseHashTable table(string, int64, -1, "$", "#", {.initial_num_buckets = 4});
        table.insert(in[0], in[1]);
        return List{table.lookup(reshape(in[2], {-1}))};
      },
      // TensorFlow's takes lists alone.
      then("tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, '$', '#', "
           "initial_num_buckets=4)",
           "t.insert(x0, x1), t.lookup(tf.reshape(x2, [-1]))"));
  composite(
      "MutableHashTableOfTensorsV2",
      [](const List& in) {
        const MutableHashTable table(string, int64, constant({-1, -2}, int64));
        table.insert(in[0], stack({in[1], in[1] + 1}, 1));
        return List{table.lookup(in[2])};
      },
      then("tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [-1, -2])",
           "t.insert(x0, tf.stack([x1, x1 + 1], 1)), t.lookup(x2)"));

  const std::vector<Input> fixed_words = {strings({3}, {"b", "a", ""}),
                                          values(int64, {3}, {5, 6, 7}),
                                          strings({2, 2}, {"b", "nothing", "", "a"})};
  const std::string fixed =
      "tf.lookup.StaticHashTable("
      "tf.lookup.KeyValueTensorInitializer(x0, x1), -1)";
  for (const char* name : {"HashTableV2", "InitializeTableV2"})
    row(name)
        .sample(fixed_words)
        .call([](const List& in) {
          return List{lookup::StaticHashTable(pairs(in), -1).lookup(in[2])};
        })
        .tf(fixed + ".lookup(x2)")
        .dtypes({float32});
  row("_HashedCross")
      .sample({strings({3, 1}, {"a", "b", ""}), values(int64, {3, 1}, {5, -6, 7}),
               strings({3, 1}, {"x", "y", "\xff"})})
      .call([](const List& in) { return List{hashed_cross(in, 1000)}; })
      .tf("tf.sparse.to_dense(tf.sparse.cross_hashed([x0, x1, x2], 1000))")
      .dtypes({float32});
  row("StaticVocabularyTable")
      .sample({strings({3}, {"b", "a", ""}), values(int64, {3}, {0, 1, 2}),
               strings({7}, {"b", "nothing", "", "a", "x", "y", "\xff"})})
      .call([](const List& in) {
        const lookup::StaticVocabularyTable table(pairs(in), 5);
        return List{table.lookup(in[2]), table.size()};
      })
      .tf("(lambda t, x2: [t.lookup(x2), t.size()])(tf.lookup.StaticVocabularyTable("
          "tf.lookup.KeyValueTensorInitializer(x0, x1), 5), x2)")
      .dtypes({float32});
}

}  // namespace rill::conformance
