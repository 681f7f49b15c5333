#include "rill/kernels/cpu/reduce.h"

namespace rill::cpu {

ReducePlan plan_reduce(const TensorShape& in, const TensorView& axes) {
  SmallVector<char, 8> reduced(in.size(), 0);
  for (std::int64_t i = 0; i < axes.size; ++i) {
    const std::int64_t a = axes.dtype == int64 ? static_cast<const std::int64_t*>(axes.data)[i]
                                               : static_cast<const std::int32_t*>(axes.data)[i];
    reduced[static_cast<std::size_t>(a < 0 ? a + in.rank() : a)] = 1;
  }
  ReducePlan p;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::int64_t d = in.dims()[i];
    if (d == 1) continue;
    if (!p.dims.empty() && p.reduced.back() == reduced[i]) {
      p.dims.back() *= d;
    } else {
      p.dims.push_back(d);
      p.reduced.push_back(reduced[i]);
    }
  }
  if (p.dims.empty()) {
    p.dims.push_back(1);
    p.reduced.push_back(1);
  }
  return p;
}

}  // namespace rill::cpu
