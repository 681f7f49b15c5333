#include "rill/kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>

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

namespace {

constexpr std::int64_t kShortRow = 64, kTile = 512;

// Whether one side is a short row that is taken again and again while the other runs on: the
// channels of pixels, a bias.
bool repeats_short_row(const BroadcastPlan& p) {
  if (p.outer.size() != 1 || p.inner > kShortRow || !p.a_row || !p.b_row) return false;
  const std::int64_t a = p.a_strides[0], b = p.b_strides[0];
  return (a == 0 && b == p.inner) || (b == 0 && a == p.inner);
}
// A loop over a few elements is mostly its beginning and end, so the row is written down many
// times, and the loop runs over all of these.
void run_short_rows(KernelContext& c, const BroadcastPlan& p, std::int64_t in_bytes,
                    std::int64_t out_bytes, BinaryRun run) noexcept {
  constexpr std::size_t kWidest = 16;
  const bool repeats_a = p.a_strides[0] == 0;
  const char *a = static_cast<const char*>(c.in(0).data),
             *b = static_cast<const char*>(c.in(1).data);
  char* y = static_cast<char*>(c.out().data);
  alignas(64) char tile[kTile * kWidest];
  const std::int64_t rows = kTile / p.inner, row_bytes = p.inner * in_bytes;
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(tile + i * row_bytes, repeats_a ? a : b, static_cast<std::size_t>(row_bytes));
  parallel_for(p.outer[0], std::max<std::int64_t>(1, kElementGrain / p.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; r += rows)
                   run(repeats_a ? tile : a + r * row_bytes, true,
                       repeats_a ? b + r * row_bytes : tile, true, y + r * p.inner * out_bytes,
                       std::min(rows, end - r) * p.inner);
               });
}

}  // namespace

void run_broadcast(KernelContext& c, const BroadcastPlan& p, std::int64_t in_bytes,
                   std::int64_t out_bytes, BinaryRun run) noexcept {
  if (repeats_short_row(p)) return run_short_rows(c, p, in_bytes, out_bytes, run);
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
