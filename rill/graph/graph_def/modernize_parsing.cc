// Ops that parse Examples, of the versions before those of TensorFlow 2: their keys are scalars or
// attributes, and they know no ragged features.
#include "rill/base/check.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

using Strings = std::vector<std::string>;

// The inputs of a node in turn, and vectors of keys made of them.
class OldInputs {
 public:
  OldInputs(Graph& graph, const proto::NodeDef& def, const std::vector<Endpoint>& inputs)
      : graph_(graph), def_(def), inputs_(inputs) {}

  Endpoint next() {
    RILL_CHECK(at_ < inputs_.size(), invalid_argument,
               "it has {} inputs; its attributes tell of more", inputs_.size());
    return inputs_[at_++];
  }
  // As many scalars as the list of types or shapes in this attribute is long.
  std::int64_t count(const char* attr) const {
    const auto it = def_.attr().find(attr);
    if (it == def_.attr().end()) return 0;
    const auto& list = it->second.list();
    return list.type_size() + list.shape_size();
  }
  Endpoint scalars(std::int64_t n) {
    std::vector<Tensor> keys;
    for (; n > 0; --n) keys.push_back(graph_.tensor(next()));
    if (keys.empty()) return names({});
    return graph_.endpoint(stack(keys));
  }
  Endpoint names(const Strings& list) { return constant_of(constant(list, string)); }
  Endpoint constant_of(const Tensor& t) { return graph_.add_constant(t, def_.name() + "/parts/c"); }
  Strings strings_attr(const char* attr) const {
    const auto it = def_.attr().find(attr);
    if (it == def_.attr().end()) return {};
    return {it->second.list().s().begin(), it->second.list().s().end()};
  }
  // For each of `keys`, whether it is one of `among`.
  Endpoint are_among(Endpoint keys, Endpoint among) {
    const Tensor same =
        equal(expand_dims(graph_.tensor(keys), 1), expand_dims(graph_.tensor(among), 0));
    return graph_.endpoint(reduce_any(same, 1));
  }
  void append_rest(std::vector<Endpoint>* out, std::int64_t n) {
    for (; n > 0; --n) out->push_back(next());
  }
  void done() const {
    RILL_CHECK(at_ == inputs_.size(), invalid_argument,
               "it has {} inputs; its attributes tell of {}", inputs_.size(), at_);
  }

 private:
  Graph& graph_;
  const proto::NodeDef& def_;
  const std::vector<Endpoint>& inputs_;
  std::size_t at_ = 0;
};

void rename_attr(proto::NodeDef* def, const char* before, const char* now) {
  auto& attrs = *def->mutable_attr();
  const auto it = attrs.find(before);
  if (it == attrs.end()) return;
  const proto::AttrValue value = it->second;
  attrs.erase(before);
  attrs[now] = value;
}
void erase_attrs(proto::NodeDef* def, std::initializer_list<const char*> names) {
  for (const char* name : names) def->mutable_attr()->erase(name);
}
void add_empty_lists(proto::NodeDef* def, std::initializer_list<const char*> names) {
  for (const char* name : names) (*def->mutable_attr())[name].mutable_list();
}
void add_count(proto::NodeDef* def, const char* name, std::int64_t n) {
  (*def->mutable_attr())[name].set_i(n);
}

// To serialized, names, sparse_keys, dense_keys, ragged_keys and the defaults.
std::vector<Endpoint> of_examples(OldInputs& in, bool one, proto::NodeDef* def) {
  std::vector<Endpoint> out{in.next()};
  const std::int64_t sparse = in.count("sparse_types"), dense = in.count("Tdense");
  if (one) {
    out.push_back(in.names({}));
    out.push_back(in.names(in.strings_attr("sparse_keys")));
    out.push_back(in.names(in.strings_attr("dense_keys")));
  } else {
    out.push_back(in.next());
    out.push_back(in.scalars(sparse));
    out.push_back(in.scalars(dense));
  }
  out.push_back(in.names({}));
  in.append_rest(&out, dense);
  if (!one) rename_attr(def, "Nsparse", "num_sparse");
  erase_attrs(def, {"Ndense", "sparse_keys", "dense_keys"});
  add_empty_lists(def, {"ragged_value_types", "ragged_split_types"});
  def->set_op("ParseExampleV2");
  return out;
}

// To serialized, debug_name, three lists of keys of the context, three of the lists, which lists
// may be missing, and the defaults.
std::vector<Endpoint> of_sequences(OldInputs& in, bool one, proto::NodeDef* def) {
  const Endpoint serialized = in.next();
  const std::int64_t sparse = in.count("context_sparse_types"), dense = in.count("Tcontext_dense"),
                     list_sparse = in.count("feature_list_sparse_types"),
                     list_dense = in.count("feature_list_dense_types");
  std::vector<Endpoint> defaults;
  Endpoint debug_name, missing, keys[4];
  if (one) {
    missing = in.next();
    int i = 0;
    for (const std::int64_t n : {sparse, dense, list_sparse, list_dense}) keys[i++] = in.scalars(n);
    in.append_rest(&defaults, dense);
    debug_name = in.next();
  } else {
    debug_name = in.next();
    in.append_rest(&defaults, dense);
    missing = in.names(in.strings_attr("feature_list_dense_missing_assumed_empty"));
    int i = 0;
    for (const char* attr : {"context_sparse_keys", "context_dense_keys",
                             "feature_list_sparse_keys", "feature_list_dense_keys"})
      keys[i++] = in.names(in.strings_attr(attr));
  }
  std::vector<Endpoint> out{serialized, debug_name,   keys[0],
                            keys[1],    in.names({}), keys[2],
                            keys[3],    in.names({}), in.are_among(keys[3], missing)};
  out.insert(out.end(), defaults.begin(), defaults.end());
  erase_attrs(def, {"Ncontext_dense", "context_sparse_keys", "context_dense_keys",
                    "feature_list_sparse_keys", "feature_list_dense_keys",
                    "feature_list_dense_missing_assumed_empty"});
  add_count(def, "Ncontext_sparse", sparse);
  add_count(def, "Nfeature_list_sparse", list_sparse);
  add_count(def, "Nfeature_list_dense", list_dense);
  add_empty_lists(def, {"context_ragged_value_types", "context_ragged_split_types",
                        "feature_list_ragged_value_types", "feature_list_ragged_split_types"});
  def->set_op("ParseSequenceExampleV2");
  return out;
}

}  // namespace

bool is_old_parser(std::string_view op) {
  return op == "ParseExample" || op == "ParseSingleExample" || op == "ParseSequenceExample" ||
         op == "ParseSingleSequenceExample";
}

void modernize_parser(Graph& graph, proto::NodeDef* def, std::vector<Endpoint>* inputs) {
  TracingScope tracing(graph);
  name_scope scope(def->name() + "/parts");
  const proto::NodeDef before = *def;
  OldInputs in(graph, before, *inputs);
  const bool one = before.op().starts_with("ParseSingle");
  std::vector<Endpoint> now = before.op().ends_with("SequenceExample") ? of_sequences(in, one, def)
                                                                       : of_examples(in, one, def);
  in.done();
  *inputs = std::move(now);
}

}  // namespace rill
