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

void run_unary_kernel(KernelContext& c, std::int64_t in_bytes, std::int64_t out_bytes,
                      UnaryRun run) noexcept {
  const char* x = static_cast<const char*>(c.in(0).data);
  char* y = static_cast<char*>(c.out().data);
  parallel_for(c.out().size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    run(x + begin * in_bytes, y + begin * out_bytes, end - begin);
  });
}

void run_broadcast(KernelContext& c, const BroadcastPlan& p, std::int64_t in_bytes,
                   std::int64_t out_bytes, BinaryRun run) noexcept {
  const char *a = static_cast<const char*>(c.in(0).data),
             *b = static_cast<const char*>(c.in(1).data);
  char* y = static_cast<char*>(c.out().data);
  parallel_for(c.out().size / p.inner, std::max<std::int64_t>(1, kElementGrain / p.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for_runs(p, begin, end, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
                   run(a + ia * in_bytes, p.a_row, b + ib * in_bytes, p.b_row, y + at * out_bytes,
                       p.inner);
                 });
               });
}

void run_binary_kernel(KernelContext& c, std::int64_t in_bytes, std::int64_t out_bytes,
                       BinaryRun run) noexcept {
  const char *a = static_cast<const char*>(c.in(0).data),
             *b = static_cast<const char*>(c.in(1).data);
  char* y = static_cast<char*>(c.out().data);
  const std::int64_t na = c.in(0).size, nb = c.in(1).size, n = c.out().size;
  // Same shape, or one side a single element: no plan needed.
  if ((na == n || na == 1) && (nb == n || nb == 1)) {
    const bool a_row = na == n, b_row = nb == n;
    parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      run(a_row ? a + begin * in_bytes : a, a_row, b_row ? b + begin * in_bytes : b, b_row,
          y + begin * out_bytes, end - begin);
    });
    return;
  }
  run_broadcast(c, plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape()), in_bytes, out_bytes,
                run);
}

}  // namespace rill::cpu
