// Datasets that depend on symbolic tensors.
#include <algorithm>

#include "rill/data/dataset_impl.h"
#include "rill/graph/function/py_function.h"
#include "rill/graph/ir/graph.h"
#include "rill/ops/array_ops.h"

namespace rill::data {
namespace {

// What a symbolic tensor stands for, while its graph may be gone: pointers into the graph are
// compared, and followed only in one that is there.
class RecipeSymbol final : public Symbol {
 public:
  explicit RecipeSymbol(const GraphSymbol& of)
      : name_(of.name()), description_(of.describe()), graph_(of.graph.get()), at_(of.at) {
    first_handle_ = of.at.node->handle_ids[static_cast<std::size_t>(of.at.index)];
  }
  std::string name() const override { return name_; }
  std::string describe() const override { return description_; }
  // Of a graph that is being traced, which therefore is there.
  Tensor in_its_graph() const {
    for (Graph* g = TracingScope::current(); g; g = g->outer)
      if (g == graph_ && is_part_of(*g)) return g->recorded_tensor(at_);
    RILL_FAIL(failed_precondition,
              "[dataset] it depends on {}, whose function is not being traced: a symbolic tensor "
              "lives only while its own function is traced. Use the dataset there",
              description_);
  }

 private:
  // Another graph may have the address of one that is gone, but none of its tensors the identity.
  bool is_part_of(const Graph& g) const {
    for (const auto& n : g.nodes())
      if (n.get() == at_.node) {
        const auto index = static_cast<std::size_t>(at_.index);
        return index < n->handle_ids.size() && n->handle_ids[index] == first_handle_;
      }
    return false;
  }

  const std::string name_, description_;
  const Graph* const graph_;
  const Endpoint at_;
  std::uint64_t first_handle_;
};
Tensor in_its_graph(const Tensor& t) {
  const auto* symbol = dynamic_cast<const RecipeSymbol*>(t.impl()->symbol.get());
  return symbol ? symbol->in_its_graph() : t;
}

void add_symbols(std::vector<Tensor>& all, const std::vector<Tensor>& more) {
  for (const Tensor& t : more)
    if (t.defined() && std::none_of(all.begin(), all.end(),
                                    [&](const Tensor& known) { return known.impl() == t.impl(); }))
      all.push_back(t);
}

}  // namespace

Size::Size(const Tensor& scalar) {
  RILL_CHECK(scalar.defined() && (scalar.dtype() == int64 || scalar.dtype() == int32) &&
                 (!scalar.shape().has_rank() || scalar.ndim() == 0),
             invalid_argument,
             "[dataset] a size is {}; expected a number, or an int64 or int32 scalar",
             scalar.defined() ? Nest(scalar).to_string() : "undefined");
  if (scalar.is_symbolic())
    tensor_ = without_graph(scalar);
  else
    value_ = scalar.item<std::int64_t>();
}
std::int64_t Size::value() const {
  RILL_CHECK(!is_symbolic(), failed_precondition,
             "[dataset] a size is a symbolic tensor, which has no value before the function runs");
  return value_;
}

Tensor without_graph(const Tensor& t) {
  if (!t.defined() || !t.is_symbolic()) return t;
  const auto* symbol = dynamic_cast<const GraphSymbol*>(t.impl()->symbol.get());
  if (!symbol) return t;
  return make_symbolic(t.dtype(), t.shape(), Ref<Symbol>(new RecipeSymbol(*symbol)));
}
Nest without_graph(const Nest& nest) {
  std::vector<Tensor> leaves = nest.flatten();
  for (Tensor& t : leaves) t = without_graph(t);
  return nest.with_leaves(leaves);
}

Bindings::Bindings(const std::vector<Tensor>& symbols, const std::vector<Tensor>& values)
    : symbols_(symbols), values_(values) {
  RILL_INTERNAL_CHECK(symbols.size() == values.size());
}
Tensor Bindings::of(const Tensor& t) const {
  if (!t.defined() || !t.is_symbolic()) return t;
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    if (symbols_[i].impl() == t.impl()) return values_[i];
  RILL_FAIL(failed_precondition, "[dataset] a symbolic tensor of the dataset has no value");
}
std::int64_t Bindings::of(const Size& size) const {
  return size.is_symbolic() ? Size(of(size.tensor())).value() : size.value();
}
Nest Bindings::of(const Nest& nest) const {
  std::vector<Tensor> leaves = nest.flatten();
  for (Tensor& t : leaves) t = of(t);
  return nest.with_leaves(leaves);
}
Dataset Bindings::of(const Dataset& dataset) const {
  const Recipe* recipe = as_recipe(dataset);
  if (!recipe) return dataset;
  for (const auto& [known, made] : made_)
    if (known == recipe) return made;
  Dataset made = recipe->instance(*this);
  made_.emplace_back(recipe, made);
  return made;
}

Recipe::Recipe(const Dataset& like, std::vector<Tensor> symbols,
               std::function<Dataset(const Bindings&)> make)
    : like_(like), symbols_(std::move(symbols)), make_(std::move(make)) {}
std::unique_ptr<Cursor> Recipe::make_cursor(Place) const {
  RILL_FAIL(failed_precondition,
            "[dataset] it depends on symbolic tensors, and has elements only when the function "
            "runs. In the function use reduce() or get_single_element(), or make the dataset "
            "outside of it");
}
Facts Recipe::facts() const {
  Facts facts = like_.impl().facts();
  facts.emplace_back("symbols", static_cast<std::int64_t>(symbols_.size()));
  return facts;
}

const Recipe* as_recipe(const Dataset& dataset) {
  return dynamic_cast<const Recipe*>(dataset.ref().get());
}
Dataset make_recipe(const Dataset& like, const std::vector<Dataset>& inputs,
                    const std::vector<Tensor>& given,
                    std::function<Dataset(const Bindings&)> make) {
  std::vector<Tensor> symbols;
  for (const Dataset& d : inputs)
    if (const Recipe* recipe = as_recipe(d)) add_symbols(symbols, recipe->symbols());
  add_symbols(symbols, given);
  return Dataset(Ref<DatasetImpl>(new Recipe(like, std::move(symbols), std::move(make))));
}
Nest run_recipe(const Dataset& dataset, const std::vector<Tensor>& more, const ElementSpec& result,
                std::function<Nest(const Dataset&, const Bindings&)> f) {
  std::vector<Tensor> symbols;
  if (const Recipe* recipe = as_recipe(dataset)) symbols = recipe->symbols();
  for (const Tensor& t : more)
    if (t.is_symbolic()) add_symbols(symbols, {t});
  std::vector<DType> dtypes;
  for (const TensorSpec& s : result.flatten()) dtypes.push_back(s.dtype());
  const auto run = [dataset, symbols, f = std::move(f)](const Nest& inputs) -> Nest {
    const std::vector<Tensor> values = inputs.flatten();
    const Bindings bindings(symbols, values);
    return Nest(f(bindings.of(dataset), bindings).flatten());
  };
  std::vector<Tensor> inputs;
  for (const Tensor& t : symbols) inputs.push_back(in_its_graph(t));
  const std::vector<Tensor> out =
      rill::detail::host_function(rill::detail::Fn::of(run), TensorList(inputs), dtypes, false);
  const std::vector<TensorSpec> specs = result.flatten();
  std::size_t i = 0;
  return nest_like(result, [&](const TensorSpec& s) {
    const Tensor t = out[i++];
    if (s.shape().has_rank()) t.set_shape(s.shape());
    return Nest(t);
  });
}
Dataset like_of(const Dataset& dataset) {
  const Recipe* recipe = as_recipe(dataset);
  return recipe ? recipe->like() : dataset;
}

namespace detail {
std::vector<Dataset> likes_of(const std::vector<Dataset>& list) {
  std::vector<Dataset> out;
  for (const Dataset& d : list) out.push_back(like_of(d));
  return out;
}
std::vector<Dataset> bound(const std::vector<Dataset>& list, const Bindings& b) {
  std::vector<Dataset> out;
  for (const Dataset& d : list) out.push_back(b.of(d));
  return out;
}
}  // namespace detail

}  // namespace rill::data
