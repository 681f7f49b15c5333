#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/apply_many.h"
#include "rill/kernels/cpu/isa.h"
#include "rill/kernels/functors/optimizers.h"

// One loop behind every optimizer (functors/optimizers.h has the rules). The
// same rule serves dense gradients and rows by index; half types are computed
// in float.
namespace rill::cpu {

#define RILL_UPDATE_LOOP(Name, target)                                         \
  template <class Rule, class T, class C, std::size_t... K>                    \
  target void Name(const Rule& r, T* const* slots, const T* g, std::int64_t n, \
                   std::index_sequence<K...>) {                                \
    const Rule rule = r;                                                       \
    T* const s[] = {slots[K]...};                                              \
    _Pragma("omp simd") for (std::int64_t i = 0; i < n; ++i) {                 \
      C e[] = {static_cast<C>(s[K][i])...};                                    \
      rule.apply(e[K]..., static_cast<C>(g[i]));                               \
      ((s[K][i] = static_cast<T>(e[K])), ...);                                 \
    }                                                                          \
  }
RILL_UPDATE_LOOP(update_plain, )
#if RILL_X86_VARIANTS
RILL_UPDATE_LOOP(update_avx2, RILL_TARGET_AVX2)
RILL_UPDATE_LOOP(update_avx512, RILL_TARGET_AVX512)
#endif

template <class Rule, class T, class C, std::size_t N>
void update(const Rule& rule, T* const* slots, const T* g, std::int64_t n) {
  constexpr auto all = std::make_index_sequence<N>{};
#if RILL_X86_VARIANTS
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (isa() == Isa::avx512) return update_avx512<Rule, T, C>(rule, slots, g, n, all);
    if (isa() == Isa::avx2) return update_avx2<Rule, T, C>(rule, slots, g, n, all);
  }
#endif
  update_plain<Rule, T, C>(rule, slots, g, n, all);
}

inline int gradient_input(const Op& update) {
  const int grad = update.find_input("grad");
  return grad >= 0 ? grad : update.find_input("delta");
}

// N: the variable and its slots, the first N inputs.
template <template <class> class Rule, std::size_t N>
void update_cpu(KernelContext& c) noexcept {
  const int grad = gradient_input(c.op()), index = c.op().find_input("indices");
  dispatch_floats(c.in(grad).dtype, [&]<class T>() {
    using C = std::conditional_t<sizeof(T) == 2, float, T>;
    const Rule<C> rule(c, functors::rules::Scalars<T, C>{c});
    const T* g = c.in<T>(grad);
    T* base[N];
    for (std::size_t k = 0; k < N; ++k) base[k] = c.var<T>(static_cast<int>(k));
    if (index < 0) {
      parallel_for(c.in(0).size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        T* at[N];
        for (std::size_t k = 0; k < N; ++k) at[k] = base[k] + begin;
        update<Rule<C>, T, C, N>(rule, at, g + begin, end - begin);
      });
      return;
    }
    const std::int64_t rows = c.in_shape(0).dim(0), inner = rows ? c.in(0).size / rows : 0,
                       n = c.in(index).size;
    dispatch_types<std::int32_t, std::int64_t>(c.in(index).dtype, [&]<class I>() {
      const I* row = c.in<I>(index);
      for (std::int64_t i = 0; i < n; ++i)
        if (row[i] < 0 || row[i] >= rows)
          return c.fail(Code::invalid_argument,
                        format("[{}] indices[{}] = {} is not in [0, {})", c.tag(), i,
                               static_cast<std::int64_t>(row[i]), rows));
      // Rows in order: an index may come twice.
      for (std::int64_t i = 0; i < n; ++i) {
        T* at[N];
        for (std::size_t k = 0; k < N; ++k) at[k] = base[k] + row[i] * inner;
        update<Rule<C>, T, C, N>(rule, at, g + i * inner, inner);
      }
    });
  });
}

// The same for many variables with dense gradients; the inputs of one update after the other.
template <template <class> class Rule, std::size_t N>
void update_many_cpu(KernelContext& c, const Op& op) noexcept {
  const int each = static_cast<int>(op.inputs.size()), grad = gradient_input(op);
  // Whether two updates make the same rule: its numbers are the same scalars.
  auto alike = [&](int a, int b) {
    for (int i = static_cast<int>(N); i < each; ++i)
      if (i != grad && c.in(a * each + i).data != c.in(b * each + i).data) return false;
    return true;
  };
  dispatch_floats(c.type_attr("T"), [&]<class T>() {
    using C = std::conditional_t<sizeof(T) == 2, float, T>;
    for_elements_of_many(c, each, [&](auto&& parts) {
      std::optional<Rule<C>> rule;
      int made_for = -1;
      parts([&](int k, std::int64_t begin, std::int64_t end) {
        if (made_for < 0 || !alike(made_for, k)) {
          OneOfMany one(op, c, k);
          rule.emplace(one, functors::rules::Scalars<T, C>{one});
          made_for = k;
        }
        T* at[N];
        for (std::size_t i = 0; i < N; ++i)
          at[i] = c.var<T>(k * each + static_cast<int>(i)) + begin;
        update<Rule<C>, T, C, N>(*rule, at, c.in<T>(k * each + grad) + begin, end - begin);
      });
    });
  });
}

}  // namespace rill::cpu
