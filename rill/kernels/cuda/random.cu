// Random numbers by the counter: uniform ones have the CPU's bits, normal ones
// differ by what logarithm and sine differ.
#include <new>
#include <span>
#include <vector>

#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/random_element.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cuda {
namespace {

// Groups of four words make four floats, or two numbers of 64 bits.
template <class T>
inline constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;

struct Uniform {
  static constexpr std::uint64_t kStride = 1;
  template <class T>
  static __device__ void make(Philox gen, T* out) {
    const Philox::Group x = gen();
    if constexpr (std::is_same_v<T, double>) {
      for (int i = 0; i < 2; ++i) out[i] = functors::unit_double(x[2 * i], x[2 * i + 1]);
    } else {
      for (int i = 0; i < 4; ++i) {
        if constexpr (std::is_same_v<T, half>)
          out[i] = half(static_cast<float>(x[i] & 0x3ff) * 0x1p-10f);
        else if constexpr (std::is_same_v<T, bfloat16_t>)
          out[i] = bfloat16_t(static_cast<float>(x[i] & 0x7f) * 0x1p-7f);
        else
          out[i] = functors::unit_float(x[i]);
      }
    }
  }
};

struct Normal {
  static constexpr std::uint64_t kStride = 1;
  template <class T>
  static __device__ void make(Philox gen, T* out) {
    const Philox::Group x = gen();
    if constexpr (std::is_same_v<T, double>) {
      const auto a = functors::box_muller(x[0], x[1], x[2], x[3]);
      out[0] = a[0], out[1] = a[1];
    } else {
      const auto a = functors::box_muller(x[0], x[1]), b = functors::box_muller(x[2], x[3]);
      out[0] = T(a[0]), out[1] = T(a[1]), out[2] = T(b[0]), out[3] = T(b[1]);
    }
  }
};

// Drawn again while 2 or more away from 0; each element has 256 words to itself.
struct Truncated {
  static constexpr std::uint64_t kStride = 256;
  template <class T>
  static __device__ void make(Philox gen, T* out) {
    for (int count = 0; count < kGroup<T>;) {
      const Philox::Group x = gen();
      if constexpr (std::is_same_v<T, double>) {
        const auto a = functors::box_muller(x[0], x[1], x[2], x[3]);
        for (int i = 0; i < 2 && count < 2; ++i)
          if (std::fabs(a[i]) < 2) out[count++] = a[i];
      } else {
        const auto a = functors::box_muller(x[0], x[1]), b = functors::box_muller(x[2], x[3]);
        const float drawn[4] = {a[0], a[1], b[0], b[1]};
        for (int i = 0; i < 4 && count < 4; ++i)
          if (std::fabs(drawn[i]) < 2) out[count++] = T(drawn[i]);
      }
    }
  }
};

template <class D, class T>
struct FillBody {
  Philox gen;
  T* out;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t group) const {
    constexpr std::uint64_t stride =
        std::is_same_v<T, double> && D::kStride > 1 ? D::kStride / 2 : D::kStride;
    Philox g = gen;
    g.skip(static_cast<std::uint64_t>(group) * stride);
    T values[kGroup<T>];
    D::template make<T>(g, values);
    for (int i = 0; i < kGroup<T>; ++i)
      if (group * kGroup<T> + i < n) out[group * kGroup<T> + i] = values[i];
  }
};

template <class D>
void fill(KernelContext& c, const Philox& gen) {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_elements(c, (c.out().size + kGroup<T> - 1) / kGroup<T>,
                    FillBody<D, T>{gen, c.out<T>(), c.out().size});
  });
}

template <class D>
void stateful_cuda(KernelContext& c) noexcept {
  fill<D>(c, functors::from_attrs(c, kReservedPerNumber));
}
template <class D>
void seeded_cuda(KernelContext& c) noexcept {
  fill<D>(c, functors::from_seed(c, 1));
}
template <class D>
void keyed_cuda(KernelContext& c) noexcept {
  const Philox gen = functors::from_key(c);
  if (!c.failed()) fill<D>(c, gen);
}
RILL_KERNEL("RandomUniform", gpu, kIndexTypes, stateful_cuda<Uniform>);
RILL_KERNEL("RandomStandardNormal", gpu, kIndexTypes, stateful_cuda<Normal>);
RILL_KERNEL("TruncatedNormal", gpu, kIndexTypes, stateful_cuda<Truncated>);
RILL_KERNEL("StatelessRandomUniform", gpu, kIndexTypes, seeded_cuda<Uniform>);
RILL_KERNEL("StatelessRandomNormal", gpu, kIndexTypes, seeded_cuda<Normal>);
RILL_KERNEL("StatelessTruncatedNormal", gpu, kIndexTypes, seeded_cuda<Truncated>);
RILL_KERNEL("StatelessRandomUniformV2", gpu, kIndexTypes, keyed_cuda<Uniform>);
RILL_KERNEL("StatelessRandomNormalV2", gpu, kIndexTypes, keyed_cuda<Normal>);
RILL_KERNEL("StatelessTruncatedNormalV2", gpu, kIndexTypes, keyed_cuda<Truncated>);

// ---- integers in [lo, hi). The bounds lie on the device.

template <class T>
struct FillIntsBody {
  Philox gen;
  T* out;
  std::int64_t n;
  const T *lo, *hi;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t group) const {
    constexpr int kSize = 16 / sizeof(T);
    using U = std::make_unsigned_t<T>;
    const U base = static_cast<U>(*lo), range = static_cast<U>(*hi) - base;
    if (*lo >= *hi) {
      if (group == 0)
        report(reporter.error, reporter.op, Finding::not_below, reporter.what, 0,
               static_cast<long long>(*lo), static_cast<long long>(*hi));
      return;
    }
    Philox g = gen;
    g.skip(static_cast<std::uint64_t>(group));
    const Philox::Group x = g();
    for (int i = 0; i < kSize; ++i) {
      U word;
      if constexpr (sizeof(T) == 8)
        word = x[2 * i] | static_cast<U>(x[2 * i + 1]) << 32;
      else
        word = x[i];
      if (group * kSize + i < n) out[group * kSize + i] = static_cast<T>(base + word % range);
    }
  }
};
void fill_ints(KernelContext& c, const Philox& gen, int bounds) {
  dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class T>() {
    constexpr std::int64_t kSize = 16 / sizeof(T);
    launch_elements(c, (c.out().size + kSize - 1) / kSize,
                    FillIntsBody<T>{gen,
                                    c.out<T>(),
                                    c.out().size,
                                    c.in<T>(bounds),
                                    c.in<T>(bounds + 1),
                                    {gpu_of(c).kernel_error(), &c.op(), "minval"}});
  });
}
void uniform_int_cuda(KernelContext& c) noexcept {
  fill_ints(c, functors::from_attrs(c, kReservedPerNumber), 1);
}
void seeded_uniform_int_cuda(KernelContext& c) noexcept {
  fill_ints(c, functors::from_seed(c, 1), 2);
}
void keyed_uniform_int_cuda(KernelContext& c) noexcept {
  const Philox gen = functors::from_key(c);
  if (!c.failed()) fill_ints(c, gen, 4);
}
RILL_KERNEL("RandomUniformInt", gpu, kIndexTypes, uniform_int_cuda);
RILL_KERNEL("StatelessRandomUniformInt", gpu, kIndexTypes, seeded_uniform_int_cuda);
RILL_KERNEL("StatelessRandomUniformIntV2", gpu, kIndexTypes, keyed_uniform_int_cuda);

// All values of the type; signed integers by reinterpretation.
struct Words {
  static constexpr std::uint64_t kStride = 1;
  template <class T>
  static __device__ void make(Philox gen, T* out) {
    const Philox::Group x = gen();
    for (int i = 0; i < kGroup<T>; ++i) {
      if constexpr (sizeof(T) == 8)
        out[i] = x[2 * i] | static_cast<T>(x[2 * i + 1]) << 32;
      else
        out[i] = x[i];
    }
  }
};
void fill_words(KernelContext& c, const Philox& gen) {
  const auto fill_as = [&]<class T>() {
    launch_elements(c, (c.out().size + kGroup<T> - 1) / kGroup<T>,
                    FillBody<Words, T>{gen, c.out<T>(), c.out().size});
  };
  if (c.out().dtype.itemsize() == 4)
    fill_as.operator()<std::uint32_t>();
  else
    fill_as.operator()<std::uint64_t>();
}
void seeded_words_cuda(KernelContext& c) noexcept { fill_words(c, functors::from_seed(c, 1)); }
void keyed_words_cuda(KernelContext& c) noexcept {
  const Philox gen = functors::from_key(c);
  if (!c.failed()) fill_words(c, gen);
}
RILL_KERNEL("StatelessRandomUniformFullInt", gpu, kIndexTypes, seeded_words_cuda);
RILL_KERNEL("StatelessRandomUniformFullIntV2", gpu, kIndexTypes, keyed_words_cuda);

// ---- draws of classes, and shuffled rows

// Row by row the running sums of exp(logit - largest); what is not finite has no weight.
template <class T>
struct CumulateBody {
  const T* logits;
  double* sums;
  std::int64_t classes;
  __device__ __forceinline__ void operator()(std::int64_t row) const {
    const T* x = logits + row * classes;
    double* to = sums + row * classes;
    double top = -1.7976931348623157e308, total = 0;
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto v = static_cast<double>(static_cast<Computed<T>>(x[j]));
      if (std::isfinite(v) && v > top) top = v;
    }
    for (std::int64_t j = 0; j < classes; ++j) {
      const auto v = static_cast<double>(static_cast<Computed<T>>(x[j]));
      if (std::isfinite(v)) total += exp(v - top);
      to[j] = total;
    }
  }
};
// Draw i takes the i-th uniform double of the stream, two a group.
template <class I>
struct DrawBody {
  Philox gen;
  const double* sums;
  I* out;
  std::int64_t classes, draws;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    Philox g = gen;
    g.skip(static_cast<std::uint64_t>(i / 2));
    const Philox::Group x = g();
    const int at = static_cast<int>(i % 2) * 2;
    const double* row = sums + i / draws * classes;
    const double wanted = functors::unit_double(x[at], x[at + 1]) * row[classes - 1];
    std::int64_t low = 0, high = classes;  // the first sum above what is wanted
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (row[middle] > wanted)
        high = middle;
      else
        low = middle + 1;
    }
    out[i] = static_cast<I>(low);
  }
};
void sample(KernelContext& c, const Philox& gen) {
  const std::int64_t rows = c.in_shape(0).dim(0), classes = c.in_shape(0).dim(1),
                     draws = c.out_shape().dim(1);
  if (c.out().size == 0) return;
  double* sums = c.scratch<double>(rows * classes);
  if (!sums) return;
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    launch_loops(c, rows, CumulateBody<T>{c.in<T>(0), sums, classes});
  });
  dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
    launch_loops(c, c.out().size, DrawBody<I>{gen, sums, c.out<I>(), classes, draws});
  });
}
void multinomial_cuda(KernelContext& c) noexcept {
  sample(c, functors::from_attrs(c, 2 * kReservedPerNumber,
                                 reserved_samples(c.in_shape(0).dim(0), c.out_shape().dim(-1))));
}
void stateless_multinomial_cuda(KernelContext& c) noexcept { sample(c, functors::from_seed(c, 2)); }
RILL_KERNEL("Multinomial", gpu, kFloatTypes, multinomial_cuda);
RILL_KERNEL("StatelessMultinomial", gpu, kFloatTypes, stateless_multinomial_cuda);

template <class T>
struct RowsBody {
  const T* in;
  const std::int64_t* order;
  T* out;
  std::int64_t inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    out[i] = in[order[i / inner] * inner + i % inner];
  }
};
// The order is made on the host: each swap depends on those before it. `permute(order)` makes it.
template <class F>
void move_rows(KernelContext& c, F permute) try {
  const std::int64_t rows = c.in_shape(0).rank() > 0 ? c.in_shape(0).dim(0) : 1,
                     inner = rows ? c.in(0).size / rows : 0;
  std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(1, rows)), 0);
  if (c.in_shape(0).rank() > 0) permute(std::span(order.data(), static_cast<std::size_t>(rows)));
  auto* on_device = c.scratch<std::int64_t>(static_cast<std::int64_t>(order.size()));
  if (!on_device || c.failed()) return;
  gpu_of(c).copy_from_host(on_device, order.data(), order.size() * sizeof(order[0]));
  by_width(c.in(0).dtype, [&]<class T>() {
    launch_elements(c, c.out().size, RowsBody<T>{c.in<T>(0), on_device, c.out<T>(), inner});
  });
} catch (const errors::Error& e) {
  c.fail(e.code(), std::string(e.message()));
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted, format("[{}] no memory for the order of {} rows", c.tag(),
                                          c.in_shape(0).rank() > 0 ? c.in_shape(0).dim(0) : 1));
}
void shuffle_cuda(KernelContext& c) noexcept {
  move_rows(c, [&](std::span<std::int64_t> order) {
    const auto rows = static_cast<std::int64_t>(order.size());
    functors::fill_permutation(functors::from_attrs(c, 1, groups_of_permutation(rows)), order);
  });
}
void stateless_shuffle_cuda(KernelContext& c) noexcept {
  const Philox gen = functors::from_key(c);
  if (!c.failed())
    move_rows(c, [&](std::span<std::int64_t> order) { functors::fill_permutation(gen, order); });
}
RILL_KERNEL("RandomShuffle", gpu, kPlainTypes, shuffle_cuda);
RILL_KERNEL("StatelessShuffle", gpu, kPlainTypes, stateless_shuffle_cuda);

}  // namespace
}  // namespace rill::cuda
