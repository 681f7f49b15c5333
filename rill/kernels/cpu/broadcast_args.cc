#include <algorithm>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// Size i of a list of n, seen as one of `rank` with 1s in front.
template <class T>
T size_at(const T* list, std::int64_t n, std::int64_t rank, std::int64_t i) {
  return i < rank - n ? T{1} : list[i - (rank - n)];
}
template <class T>
bool compatible(KernelContext& c, std::int64_t rank) {
  for (std::int64_t i = 0; i < rank; ++i) {
    const T a = size_at(c.in<T>(0), c.in(0).size, rank, i),
            b = size_at(c.in<T>(1), c.in(1).size, rank, i);
    if (a == b || a == 1 || b == 1) continue;
    c.fail(Code::invalid_argument,
           format("[{}] incompatible shapes: size {} from the end is {} and {}", c.tag(), rank - i,
                  static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    return false;
  }
  return true;
}

void broadcast_args_cpu(KernelContext& c) noexcept {
  const std::int64_t rank = std::max(c.in(0).size, c.in(1).size);
  dispatch_types<std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class T>() {
    if (!compatible<T>(c, rank)) return;
    T* out = c.out().data ? c.out<T>() : nullptr;
    if (!c.out().shape || !c.out().shape->is_fully_defined())
      out = c.allocate<T>(0, TensorShape(Dims{rank}));
    for (std::int64_t i = 0; i < rank && out; ++i) {
      const T a = size_at(c.in<T>(0), c.in(0).size, rank, i),
              b = size_at(c.in<T>(1), c.in(1).size, rank, i);
      out[i] = a == 1 ? b : a;
    }
  });
}
RILL_KERNEL("BroadcastArgs", cpu, kIndexTypes, broadcast_args_cpu);

// An axis is summed for a side that has 1 there; none when the shapes are equal.
void broadcast_gradient_args_cpu(KernelContext& c) noexcept {
  const std::int64_t rank = std::max(c.in(0).size, c.in(1).size);
  dispatch_types<std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class T>() {
    if (!compatible<T>(c, rank)) return;
    const bool same =
        c.in(0).size == c.in(1).size && std::equal(c.in<T>(0), c.in<T>(0) + rank, c.in<T>(1));
    for (int side = 0; side < 2; ++side) {
      Dims axes;
      for (std::int64_t i = 0; i < rank; ++i) {
        const T mine = size_at(c.in<T>(side), c.in(side).size, rank, i);
        if (mine == 1 && !same) axes.push_back(i);
      }
      T* out = c.allocate<T>(side, TensorShape(Dims{static_cast<std::int64_t>(axes.size())}));
      for (std::size_t i = 0; i < axes.size() && out; ++i) out[i] = static_cast<T>(axes[i]);
    }
  });
}
RILL_KERNEL("BroadcastGradientArgs", cpu, kIndexTypes, broadcast_gradient_args_cpu);

void invert_permutation_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.in(0).size;
  dispatch_types<std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class T>() {
    const T* x = c.in<T>(0);
    T* y = c.out<T>();
    std::fill_n(y, n, T{-1});
    for (std::int64_t i = 0; i < n; ++i) {
      if (x[i] < 0 || x[i] >= n)
        return c.fail(Code::invalid_argument, format("[{}] x[{}] = {} is not in [0, {})", c.tag(),
                                                     i, static_cast<std::int64_t>(x[i]), n));
      if (y[x[i]] != -1)
        return c.fail(Code::invalid_argument,
                      format("[{}] {} is twice in x", c.tag(), static_cast<std::int64_t>(x[i])));
      y[x[i]] = static_cast<T>(i);
    }
  });
}
RILL_KERNEL("InvertPermutation", cpu, kIndexTypes, invert_permutation_cpu);

}  // namespace
}  // namespace rill::cpu
