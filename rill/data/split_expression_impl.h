#pragma once
#include <map>
#include <string>
#include <vector>

#include "rill/data/prepared_datasets.h"

namespace rill::data {

// Some examples of a split.
struct SplitRange {
  std::string split;
  std::int64_t begin = 0, end = 0;
};

// What an expression of tensorflow_datasets names: "train[:80%]+test". InvalidArgument for one that
// is none, or names another split.
std::vector<SplitRange> split_ranges(const std::string& expression,
                                     const std::map<std::string, datasets::SplitInfo>& splits);

}  // namespace rill::data
