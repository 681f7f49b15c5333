#pragma once
#include <string>
#include <string_view>

#include "rill/data/structure.h"

// What is known of elements as the bytes of a StructuredValue, which tf.data writes beside datasets
// that it saves.
namespace rill::data {

std::string spec_bytes(const ElementSpec& spec);
// DataLoss, in the name of `what`, for bytes that are none; Unimplemented for kinds of values that
// datasets do not have here.
ElementSpec spec_of_bytes(std::string_view bytes, std::string_view what);

}  // namespace rill::data
