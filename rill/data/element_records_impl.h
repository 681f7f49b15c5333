#pragma once
#include <functional>
#include <string>

#include "rill/data/dataset_impl.h"

// Elements as records of a file, one for each component, as tf.data writes datasets that it saves.
namespace rill::data {

// f(record) for each component, in TensorFlow's order: dicts by their keys.
void write_element(const Nest& element, const std::function<void(std::string_view)>& f);
// The element of the records that `next` gives; false where there is none at all. `next` returns
// false at the end. DataLoss, in the name of `what`, for records that do not fit the spec.
bool read_element(const ElementSpec& spec, const std::function<bool(std::string*)>& next,
                  std::string_view what, Nest* element);
// The dtype of each record: variant where a component is ragged or sparse.
std::vector<DType> record_dtypes(const ElementSpec& spec);

}  // namespace rill::data
