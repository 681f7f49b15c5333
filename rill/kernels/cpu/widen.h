#pragma once
#include <type_traits>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/observer.h"
#include "rill/kernels/cpu/simd_loop.h"

// Half types are computed in float: kernels that are not element loops widen
// their inputs into scratch memory first and narrow their outputs at the end.
// For other types these are the tensors themselves. Null: no memory, reported.
namespace rill::cpu {

template <class T>
using Wide = std::conditional_t<functors::is_half_v<T>, float, T>;

template <class T>
const Wide<T>* widened(KernelContext& c, int i) {
  if constexpr (functors::is_half_v<T>) {
    note_widened();
    const T* from = c.in<T>(i);
    float* to = c.scratch<float>(c.in(i).size);
    if (to)
      parallel_for(c.in(i).size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
        unary_loop<functors::Convert<float>, T, float>(from + begin, to + begin, end - begin);
      });
    return to;
  } else {
    return c.in<T>(i);
  }
}

template <class T>
Wide<T>* wide_output(KernelContext& c, int i) {
  if constexpr (functors::is_half_v<T>)
    return c.scratch<float>(c.out(i).size);
  else
    return c.out<T>(i);
}

template <class T>
void narrow_output(KernelContext& c, int i, const Wide<T>* from) {
  if constexpr (functors::is_half_v<T>) {
    T* to = c.out<T>(i);
    parallel_for(c.out(i).size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      unary_loop<functors::Convert<T>, float, T>(from + begin, to + begin, end - begin);
    });
  }
}

}  // namespace rill::cpu
