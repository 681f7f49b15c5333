// Elements and slices picked and put by coordinates.
#include <algorithm>
#include <cstring>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

// The place (in slices) of each coordinate; null, reported, when one is outside.
std::int64_t* places(KernelContext& c, const TensorView& indices, const Dims& whole,
                     std::int64_t& n, std::int64_t& inner) {
  const auto k = static_cast<std::size_t>(indices.shape->dim(-1));
  n = 1, inner = 1;
  for (int i = 0; i + 1 < indices.shape->rank(); ++i) n *= indices.shape->dim(i);
  for (std::size_t i = k; i < whole.size(); ++i) inner *= whole[i];
  auto* out = c.scratch<std::int64_t>(std::max<std::int64_t>(n, 1));
  if (!out) return nullptr;
  bool ok = true;
  dispatch_types<std::int32_t, std::int64_t>(indices.dtype, [&]<class I>() {
    const I* at = static_cast<const I*>(indices.data);
    for (std::int64_t r = 0; r < n && ok; ++r, at += k) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < k; ++i) {
        const std::int64_t v = at[i];
        if (v < 0 || v >= whole[i]) {
          std::string text;
          for (std::size_t j = 0; j < k; ++j) text += (j ? ", " : "") + std::to_string(at[j]);
          c.fail(Code::invalid_argument,
                 format("[{}] indices[{}] = [{}] does not index into shape {}", c.tag(), r, text,
                        TensorShape(whole)));
          ok = false;
          return;
        }
        place = place * whole[i] + v;
      }
      out[r] = place;
    }
  });
  return ok ? out : nullptr;
}

void gather_nd_cpu(KernelContext& c) noexcept {
  std::int64_t n, inner;
  const std::int64_t* place = places(c, c.in(1), c.in_shape(0).dims(), n, inner);
  if (!place || c.out().size == 0) return;
  dispatch_width(c.out().dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    parallel_for(n, std::max<std::int64_t>(1, (1 << 15) / inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     std::copy_n(in + place[i] * inner, inner, out + i * inner);
                 });
  });
}
RILL_KERNEL("GatherNd", cpu, kAllTypes, gather_nd_cpu);

// combine(to, from) for each element, updates in order; the inner axis is split
// among threads, so that the order of additions never changes.
template <class T, class F>
void scatter(KernelContext& c, const TensorView& indices, const T* updates, F combine) {
  std::int64_t n, inner;
  const std::int64_t* place = places(c, indices, c.out_shape().dims(), n, inner);
  if (!place || inner == 0) return;
  T* out = c.out<T>();
  parallel_for(inner, std::max<std::int64_t>(16, (1 << 15) / std::max<std::int64_t>(1, n)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = 0; i < n; ++i)
                   for (std::int64_t j = begin; j < end; ++j)
                     combine(out[place[i] * inner + j], updates[i * inner + j]);
               });
}

void scatter_nd_cpu(KernelContext& c) noexcept {
  std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(0), c.in<T>(1),
               [](T& to, const T& from) { to = static_cast<T>(to + from); });
  });
}
RILL_KERNEL("ScatterNd", cpu, kNumericTypes, scatter_nd_cpu);

void copy_tensor(KernelContext& c) {
  strided_copy(c.out().dtype, c.in(0).data, c.out().data, {{c.out().size}, {1}, {1}});
}

void update_cpu(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_width(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(1), c.in<T>(2), [](T& to, const T& from) { to = from; });
  });
}
RILL_KERNEL("TensorScatterUpdate", cpu, kAllTypes, update_cpu);
void add_cpu(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(1), c.in<T>(2),
               [](T& to, const T& from) { to = static_cast<T>(to + from); });
  });
}
RILL_KERNEL("TensorScatterAdd", cpu, kNumericTypes, add_cpu);
void sub_cpu(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_numeric(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(1), c.in<T>(2),
               [](T& to, const T& from) { to = static_cast<T>(to - from); });
  });
}
RILL_KERNEL("TensorScatterSub", cpu, kNumericTypes, sub_cpu);
void max_cpu(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_reals(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(1), c.in<T>(2), [](T& to, const T& from) { to = to < from ? from : to; });
  });
}
RILL_KERNEL("TensorScatterMax", cpu, kRealTypes, max_cpu);
void min_cpu(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_reals(c.out().dtype, [&]<class T>() {
    scatter<T>(c, c.in(1), c.in<T>(2), [](T& to, const T& from) { to = from < to ? from : to; });
  });
}
RILL_KERNEL("TensorScatterMin", cpu, kRealTypes, min_cpu);

}  // namespace
}  // namespace rill::cpu
