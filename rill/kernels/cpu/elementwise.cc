#include "rill/kernels/cpu/elementwise.h"

#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {

BroadcastPlan plan_broadcast(const TensorShape& a, const TensorShape& b, const TensorShape& out) {
  const std::size_t rank = out.size();
  auto strides_of = [&](const TensorShape& s) {
    const Dims own = row_major(s.dims());
    Dims full(rank, 0);
    for (std::size_t i = 0; i < s.size(); ++i)
      if (s.dims()[i] != 1) full[i + rank - s.size()] = own[i];
    return full;
  };
  const Dims sa = strides_of(a), sb = strides_of(b);
  // Axes that both sides walk as one become one.
  BroadcastPlan p;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t d = out.dims()[i];
    if (d == 1) continue;
    if (!p.outer.empty() && p.a_strides.back() == sa[i] * d && p.b_strides.back() == sb[i] * d) {
      p.outer.back() *= d;
      p.a_strides.back() = sa[i];
      p.b_strides.back() = sb[i];
    } else {
      p.outer.push_back(d);
      p.a_strides.push_back(sa[i]);
      p.b_strides.push_back(sb[i]);
    }
  }
  if (p.outer.empty()) return p;
  p.inner = p.outer.back();
  p.a_row = p.a_strides.back() != 0;
  p.b_row = p.b_strides.back() != 0;
  p.outer.pop_back();
  p.a_strides.pop_back();
  p.b_strides.pop_back();
  return p;
}

}  // namespace rill::cpu
