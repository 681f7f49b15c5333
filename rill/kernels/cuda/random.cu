// Random numbers by the counter: uniform ones have the CPU's bits, normal ones
// differ by what logarithm and sine differ.
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/random_element.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cuda {
namespace {

// Groups of four words make four floats, or two doubles.
template <class T>
inline constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;

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
  fill<D>(c, functors::from_attrs(c, std::is_same_v<D, Truncated> ? 64 : 1));
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

}  // namespace
}  // namespace rill::cuda
