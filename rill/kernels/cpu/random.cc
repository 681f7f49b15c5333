#include "rill/kernels/functors/random.h"

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cpu {
namespace {

using functors::from_attrs;
using functors::from_key;
using functors::from_seed;

struct Uniform {
  template <class T>
  static void fill(Philox g, std::int64_t begin, std::span<T> out) {
    functors::fill_uniform(g, begin, out);
  }
};
struct Normal {
  template <class T>
  static void fill(Philox g, std::int64_t begin, std::span<T> out) {
    functors::fill_normal(g, begin, out);
  }
};
struct Truncated {
  template <class T>
  static void fill(Philox g, std::int64_t begin, std::span<T> out) {
    functors::fill_truncated_normal(g, begin, out);
  }
};

template <class D>
void fill(KernelContext& c, const Philox& gen) {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    T* out = c.out<T>();
    parallel_for(c.out().size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      D::template fill<T>(gen, begin,
                          std::span<T>(out + begin, static_cast<std::size_t>(end - begin)));
    });
  });
}

// One number takes at most one group (truncated: 64 groups of four words).
template <class D>
void stateful_cpu(KernelContext& c) noexcept {
  fill<D>(c, from_attrs(c, kReservedPerNumber));
}
template <class D>
void seeded_cpu(KernelContext& c) noexcept {
  fill<D>(c, from_seed(c, 1));
}
template <class D>
void keyed_cpu(KernelContext& c) noexcept {
  const Philox gen = from_key(c);
  if (!c.failed()) fill<D>(c, gen);
}
RILL_KERNEL("RandomUniform", cpu, kIndexTypes, stateful_cpu<Uniform>);
RILL_KERNEL("RandomStandardNormal", cpu, kIndexTypes, stateful_cpu<Normal>);
RILL_KERNEL("TruncatedNormal", cpu, kIndexTypes, stateful_cpu<Truncated>);
RILL_KERNEL("StatelessRandomUniform", cpu, kIndexTypes, seeded_cpu<Uniform>);
RILL_KERNEL("StatelessRandomNormal", cpu, kIndexTypes, seeded_cpu<Normal>);
RILL_KERNEL("StatelessTruncatedNormal", cpu, kIndexTypes, seeded_cpu<Truncated>);
RILL_KERNEL("StatelessRandomUniformV2", cpu, kIndexTypes, keyed_cpu<Uniform>);
RILL_KERNEL("StatelessRandomNormalV2", cpu, kIndexTypes, keyed_cpu<Normal>);
RILL_KERNEL("StatelessTruncatedNormalV2", cpu, kIndexTypes, keyed_cpu<Truncated>);

void fill_ints(KernelContext& c, const Philox& gen, int bounds) {
  dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class T>() {
    const T lo = *c.in<T>(bounds), hi = *c.in<T>(bounds + 1);
    if (c.out().size > 0 && lo >= hi)
      return c.fail(Code::invalid_argument,
                    format("[{}] minval {} must be below maxval {}", c.tag(),
                           static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)));
    T* out = c.out<T>();
    parallel_for(c.out().size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      functors::fill_uniform_int(gen, begin, lo, hi,
                                 std::span<T>(out + begin, static_cast<std::size_t>(end - begin)));
    });
  });
}
void uniform_int_cpu(KernelContext& c) noexcept {
  fill_ints(c, from_attrs(c, kReservedPerNumber), 1);
}
void seeded_uniform_int_cpu(KernelContext& c) noexcept { fill_ints(c, from_seed(c, 1), 2); }
void keyed_uniform_int_cpu(KernelContext& c) noexcept {
  const Philox gen = from_key(c);
  if (!c.failed()) fill_ints(c, gen, 4);
}
RILL_KERNEL("RandomUniformInt", cpu, kIndexTypes, uniform_int_cpu);
RILL_KERNEL("StatelessRandomUniformInt", cpu, kIndexTypes, seeded_uniform_int_cpu);
RILL_KERNEL("StatelessRandomUniformIntV2", cpu, kIndexTypes, keyed_uniform_int_cpu);

// Signed integers by reinterpretation.
void fill_words(KernelContext& c, const Philox& gen) {
  auto fill_as = [&]<class T>() {
    T* out = c.out<T>();
    parallel_for(c.out().size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      functors::fill_bits(gen, begin,
                          std::span<T>(out + begin, static_cast<std::size_t>(end - begin)));
    });
  };
  if (c.out().dtype.itemsize() == 4)
    fill_as.operator()<std::uint32_t>();
  else
    fill_as.operator()<std::uint64_t>();
}
void seeded_words_cpu(KernelContext& c) noexcept { fill_words(c, from_seed(c, 1)); }
void keyed_words_cpu(KernelContext& c) noexcept {
  const Philox gen = from_key(c);
  if (!c.failed()) fill_words(c, gen);
}
RILL_KERNEL("StatelessRandomUniformFullInt", cpu, kIndexTypes, seeded_words_cpu);
RILL_KERNEL("StatelessRandomUniformFullIntV2", cpu, kIndexTypes, keyed_words_cpu);

void key_counter_cpu(KernelContext& c) noexcept {
  const functors::KeyCounter k = functors::key_counter_of(from_seed(c, 0));
  *c.out<std::uint64_t>(0) = k.key;
  std::copy_n(k.counter.data(), 2, c.out<std::uint64_t>(1));
}
RILL_KERNEL("StatelessRandomGetKeyCounter", cpu, kIndexTypes, key_counter_cpu);
void alg_cpu(KernelContext& c) noexcept {
  *c.out<std::int32_t>() = static_cast<std::int32_t>(functors::RandomAlgorithm::philox);
}
RILL_KERNEL("StatelessRandomGetAlg", cpu, TypeSet{}, alg_cpu);

// `permute(order)` says which rows come.
template <class F>
void move_rows(KernelContext& c, F permute) {
  const std::int64_t rows = c.in_shape(0).rank() > 0 ? c.in_shape(0).dim(0) : 1,
                     inner = rows ? c.in(0).size / rows : 0;
  auto* order = c.scratch<std::int64_t>(rows);
  if (!order) return;
  if (c.in_shape(0).rank() == 0)
    order[0] = 0;
  else
    permute(std::span<std::int64_t>(order, static_cast<std::size_t>(rows)));
  dispatch_width(c.in(0).dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(c.in<T>(0) + order[i] * inner, inner, c.out<T>() + i * inner);
  });
}
void shuffle_cpu(KernelContext& c) noexcept {
  move_rows(c, [&](std::span<std::int64_t> order) {
    const auto rows = static_cast<std::int64_t>(order.size());
    functors::fill_permutation(from_attrs(c, 1, groups_of_permutation(rows)), order);
  });
}
void stateless_shuffle_cpu(KernelContext& c) noexcept {
  const Philox gen = from_key(c);
  if (!c.failed())
    move_rows(c, [&](std::span<std::int64_t> order) { functors::fill_permutation(gen, order); });
}
RILL_KERNEL("RandomShuffle", cpu, kAllTypes, shuffle_cpu);
RILL_KERNEL("StatelessShuffle", cpu, kAllTypes, stateless_shuffle_cpu);

void sample(KernelContext& c, const Philox& gen) {
  const std::int64_t rows = c.in_shape(0).dim(0), classes = c.in_shape(0).dim(1),
                     n = c.out_shape().dim(1);
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
      parallel_for(
          rows, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, classes + n)),
          [&](std::int64_t begin, std::int64_t end) {
            const auto u = [](std::int64_t v) { return static_cast<std::size_t>(v); };
            functors::sample_categorical<T, I>(
                gen, begin, classes,
                std::span<const T>(c.in<T>(0) + begin * classes, u((end - begin) * classes)),
                std::span<I>(c.out<I>() + begin * n, u((end - begin) * n)));
          });
    });
  });
}
void multinomial_cpu(KernelContext& c) noexcept {
  sample(c, from_attrs(c, 2 * kReservedPerNumber,
                       reserved_samples(c.in_shape(0).dim(0), c.out_shape().dim(-1))));
}
void stateless_multinomial_cpu(KernelContext& c) noexcept { sample(c, from_seed(c, 2)); }
RILL_KERNEL("Multinomial", cpu, kFloatTypes, multinomial_cpu);
RILL_KERNEL("StatelessMultinomial", cpu, kFloatTypes, stateless_multinomial_cpu);

}  // namespace
}  // namespace rill::cpu
