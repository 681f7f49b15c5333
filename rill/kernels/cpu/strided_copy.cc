#include "rill/kernels/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "rill/base/parallel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

constexpr std::int64_t kGrainElements = 1 << 15;

// Drops axes of size 1 and joins axes that both sides walk as one.
void simplify(StridedCopy& c) {
  StridedCopy out;
  for (std::size_t i = 0; i < c.dims.size(); ++i) {
    if (c.dims[i] == 1) continue;
    if (!out.dims.empty() && out.in_strides.back() == c.in_strides[i] * c.dims[i] &&
        out.out_strides.back() == c.out_strides[i] * c.dims[i]) {
      out.dims.back() *= c.dims[i];
      out.in_strides.back() = c.in_strides[i];
      out.out_strides.back() = c.out_strides[i];
    } else {
      out.dims.push_back(c.dims[i]);
      out.in_strides.push_back(c.in_strides[i]);
      out.out_strides.push_back(c.out_strides[i]);
    }
  }
  if (out.dims.empty()) out = {{1}, {1}, {1}};
  c = out;
}

template <class T>
void copy_row(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride,
              std::int64_t n) {
  if (in_stride == 1 && out_stride == 1)
    std::copy_n(in, n, out);
  else if (in_stride == 0 && out_stride == 1)
    std::fill_n(out, n, *in);
  else
    for (std::int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
}

// Two inner axes of which each side walks another one fast: square tiles, so
// that both stay in cache.
template <class T>
void copy_plane(const T* in, T* out, const StridedCopy& c, std::size_t a, std::size_t b) {
  constexpr std::int64_t kTile = 32;
  const std::int64_t m = c.dims[a], n = c.dims[b];
  for (std::int64_t i0 = 0; i0 < m; i0 += kTile)
    for (std::int64_t j0 = 0; j0 < n; j0 += kTile)
      for (std::int64_t i = i0; i < std::min(m, i0 + kTile); ++i)
        copy_row(in + i * c.in_strides[a] + j0 * c.in_strides[b], c.in_strides[b],
                 out + i * c.out_strides[a] + j0 * c.out_strides[b], c.out_strides[b],
                 std::min(kTile, n - j0));
}

template <class T>
void copy_typed(const T* in, T* out, const StridedCopy& c) {
  const std::size_t rank = c.dims.size();
  const bool plane = rank >= 2 && c.in_strides[rank - 1] != 1 && c.in_strides[rank - 1] != 0 &&
                     c.out_strides[rank - 1] == 1 && c.dims[rank - 2] > 1;
  const std::size_t inner = plane ? 2 : 1;
  std::int64_t outer = 1, row = 1;
  for (std::size_t i = 0; i + inner < rank; ++i) outer *= c.dims[i];
  for (std::size_t i = rank - std::min(rank, inner); i < rank; ++i) row *= c.dims[i];
  parallel_for(outer, std::max<std::int64_t>(1, kGrainElements / std::max<std::int64_t>(1, row)),
               [&](std::int64_t begin, std::int64_t end) {
                 SmallVector<std::int64_t, 8> index(rank, 0);
                 std::int64_t rest = begin, at_in = 0, at_out = 0;
                 for (std::size_t i = rank - inner; i-- > 0;) {
                   index[i] = rest % c.dims[i];
                   rest /= c.dims[i];
                   at_in += index[i] * c.in_strides[i];
                   at_out += index[i] * c.out_strides[i];
                 }
                 for (std::int64_t k = begin; k < end; ++k) {
                   if (plane)
                     copy_plane(in + at_in, out + at_out, c, rank - 2, rank - 1);
                   else
                     copy_row(in + at_in, c.in_strides[rank - 1], out + at_out,
                              c.out_strides[rank - 1], c.dims[rank - 1]);
                   for (std::size_t i = rank - inner; i-- > 0;) {
                     at_in += c.in_strides[i];
                     at_out += c.out_strides[i];
                     if (++index[i] < c.dims[i]) break;
                     at_in -= c.in_strides[i] * c.dims[i];
                     at_out -= c.out_strides[i] * c.dims[i];
                     index[i] = 0;
                   }
                 }
               });
}

}  // namespace

void strided_copy(DType dtype, const void* in, void* out, StridedCopy c) {
  for (std::int64_t d : c.dims)
    if (d == 0) return;
  simplify(c);
  // One long row: split it, so that threads share the work.
  if (c.dims.size() == 1 && c.dims[0] > 2 * kGrainElements) {
    const std::int64_t rows = c.dims[0] / kGrainElements, tail = rows * kGrainElements;
    StridedCopy last{{c.dims[0] - tail}, c.in_strides, c.out_strides};
    dispatch_width(dtype, [&]<class T>() {
      if (last.dims[0] > 0)
        copy_typed(static_cast<const T*>(in) + tail * c.in_strides[0],
                   static_cast<T*>(out) + tail * c.out_strides[0], last);
    });
    c = {{rows, kGrainElements},
         {kGrainElements * c.in_strides[0], c.in_strides[0]},
         {kGrainElements * c.out_strides[0], c.out_strides[0]}};
  }
  dispatch_width(
      dtype, [&]<class T>() { copy_typed(static_cast<const T*>(in), static_cast<T*>(out), c); });
}

}  // namespace rill::cpu
