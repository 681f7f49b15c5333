#pragma once
#include "rill/data/dataset_impl.h"

namespace rill::data {

struct ParallelMapOptions {
  int threads;
  bool ordered;            // results in the order of the elements
  AutotuneBudget* budget;  // for results that wait; null: no bound but their number
};
// The same elements as a cursor of map() has, worked on by several threads.
std::unique_ptr<Cursor> parallel_map_cursor(std::unique_ptr<Cursor> input, const detail::Fn& f,
                                            const UserCall& call,
                                            const ParallelMapOptions& options);

// What a function returns for elements as specified, by tracing it; false when it
// cannot be traced.
bool traced_spec(const detail::Fn& f, const ElementSpec& element, ElementSpec* result);
// The same of the elements of the dataset that a function returns.
bool traced_dataset_spec(const detail::Fn& f, const ElementSpec& element, ElementSpec* result);
// The function as a graph.
detail::Fn traced_function(const detail::Fn& f);

}  // namespace rill::data
