#pragma once
#include <cstdint>
#include <numeric>
#include <vector>

#include "rill/data/dataset.h"

namespace rill::testing {

using List = std::vector<std::int64_t>;

// All numbers of all elements, one after the other.
inline List values(const data::Dataset& dataset) {
  List out;
  for (const Nest& e : dataset)
    for (const Tensor& t : e.flatten())
      for (std::int64_t v : t.to_vector<std::int64_t>()) out.push_back(v);
  return out;
}

// 0, 1, ... n - 1.
inline List counted(std::int64_t n) {
  List v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

}  // namespace rill::testing
