#pragma once
#include "rill/data/dataset_impl.h"

namespace rill::data {

// The same elements as a cursor of map() has, worked on by several threads.
// `ordered`: and in the same order.
std::unique_ptr<Cursor> parallel_map_cursor(std::unique_ptr<Cursor> input, const detail::Fn& f,
                                            const UserCall& call, int threads, bool ordered);

// What a function returns for elements as specified, by tracing it; false when it
// cannot be traced.
bool traced_spec(const detail::Fn& f, const ElementSpec& element, ElementSpec* result);
// The function as a graph.
detail::Fn traced_function(const detail::Fn& f);

}  // namespace rill::data
