#pragma once
#include "rill/data/dataset_impl.h"

// Ragged and sparse tensors as tables of rows: cut, and put together again.
namespace rill::data {

bool holds_composite(const Nest& nest);
// How many rows a component (a tensor, ragged or sparse) has; InvalidArgument, naming `stage`, for
// one that has none, or where components differ.
std::int64_t count_rows(const Nest& element, const char* stage);
Nest cut_row(const Nest& element, std::int64_t row);
// n rows of a composite as one. REQUIRES: composites of one kind.
Nest stack_composites(const std::vector<Nest>& rows, const char* stage);
// Of rows, and of n of them (-1: not known).
ElementSpec row_spec(const ElementSpec& table);
ElementSpec table_spec(const ElementSpec& row, std::int64_t n);

// f(component) for each component, in the same structure; a composite is one.
template <class F>
ElementSpec map_components(const ElementSpec& spec, const F& f) {
  if (spec.is_leaf() || spec.is_composite()) return f(spec);
  std::vector<ElementSpec> items;
  for (std::size_t i = 0; i < spec.size(); ++i)
    items.push_back(map_components(spec[static_cast<int>(i)], f));
  if (!spec.is_dict()) return ElementSpec::tuple(std::move(items));
  std::vector<std::pair<std::string, ElementSpec>> named;
  for (std::size_t i = 0; i < items.size(); ++i) named.emplace_back(spec.keys()[i], items[i]);
  return ElementSpec::dict(std::move(named));
}

}  // namespace rill::data
