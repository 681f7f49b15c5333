// Fourier transforms by cuFFT over the last one, two or three axes. All is computed in double, as
// on the CPU.
#include "rill/kernels/cuda/cufft.h"

#if RILL_WITH_CUFFT
#include <map>
#include <mutex>
#include <vector>

#include "rill/base/format.h"
#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

using Number = cufftDoubleComplex;

// As std::complex<R> lies in memory.
template <class R>
struct Pair {
  R re, im;
};

// `count` blocks of the sizes dims[0..axes), each block's elements `stride` apart and the blocks
// `step`; stride 0: packed.
struct Problem {
  cufftType type;
  int axes;
  long long dims[3], count, stride, step;
  std::vector<long long> key(int device) const {
    return {device, type, axes, dims[0], dims[1], dims[2], count, stride, step};
  }
};

struct Plan {
  cufftHandle handle = 0;
  std::size_t workspace = 0;
};
// Never given back: recordings go on reading their tables.
struct Plans {
  std::mutex mutex;
  std::map<std::vector<long long>, Plan> all;
};
Plans& plans() {
  static auto* kept = new Plans;
  return *kept;
}

cufftResult make_plan(const Cufft& lib, const Problem& p, Plan& plan) {
  if (const cufftResult e = lib.create(&plan.handle); e != CUFFT_SUCCESS) return e;
  cufftResult e = lib.set_auto_allocation(plan.handle, 0);
  auto* dims = const_cast<long long*>(p.dims);
  if (e == CUFFT_SUCCESS)
    e = lib.make_plan(plan.handle, p.axes, dims, p.stride ? dims : nullptr, p.stride, p.step,
                      p.stride ? dims : nullptr, p.stride, p.step, p.type, p.count,
                      &plan.workspace);
  if (e != CUFFT_SUCCESS) lib.destroy(plan.handle);
  return e;
}

// Complex numbers in place, or from real numbers to the half spectrum.
bool transform(KernelContext& c, const Problem& p, void* from, Number* to, bool inverse) {
  const std::string* why = nullptr;
  const Cufft* lib = cufft(&why);
  if (!lib) {
    c.fail(Code::unimplemented, format("[{}] {}", c.tag(), *why));
    return false;
  }
  if (is_refreshing()) return true;
  GpuDevice& gpu = gpu_of(c);
  Plans& kept = plans();
  std::lock_guard lock(kept.mutex);
  const std::vector<long long> key = p.key(gpu.index());
  cufftResult e = CUFFT_SUCCESS;
  auto found = kept.all.find(key);
  if (found == kept.all.end()) {
    Plan plan;
    e = make_plan(*lib, p, plan);
    if (e == CUFFT_SUCCESS) found = kept.all.emplace(key, plan).first;
  }
  if (e == CUFFT_SUCCESS) {
    const Plan& plan = found->second;
    void* room = plan.workspace ? c.scratch(plan.workspace) : nullptr;
    if (c.failed()) return false;
    e = lib->set_stream(plan.handle, gpu.stream());
    if (e == CUFFT_SUCCESS && room) e = lib->set_work_area(plan.handle, room);
    if (e == CUFFT_SUCCESS)
      e = p.type == CUFFT_Z2Z ? lib->complex_to_complex(plan.handle, static_cast<Number*>(from), to,
                                                        inverse ? CUFFT_INVERSE : CUFFT_FORWARD)
                              : lib->real_to_complex(plan.handle, static_cast<double*>(from), to);
  }
  if (e != CUFFT_SUCCESS)
    c.fail(e == CUFFT_ALLOC_FAILED ? Code::resource_exhausted : Code::internal,
           format("[{}] cuFFT refused a transform of shape {} on {}: error {}", c.tag(),
                  c.in_shape(0), c.device().name(), static_cast<int>(e)));
  return !c.failed();
}

std::int64_t leading(const TensorShape& s, int axes) {
  std::int64_t n = 1;
  for (int i = 0; i < s.rank() - axes; ++i) n *= s.dim(i);
  return n;
}

template <class R>
struct WidenBody {
  const Pair<R>* x;
  Number* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i].x = static_cast<double>(x[i].re), y[i].y = static_cast<double>(x[i].im);
  }
};
template <class R>
struct NarrowBody {
  const Number* x;
  Pair<R>* y;
  double divisor;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = {static_cast<R>(x[i].x / divisor), static_cast<R>(x[i].y / divisor)};
  }
};
template <class F>
void by_precision(DType complex_type, F body) {
  if (complex_type == complex128)
    body.template operator()<double>();
  else
    body.template operator()<float>();
}

template <int kAxes, bool kInverse>
void fft_cuda(KernelContext& c) noexcept try {
  const std::int64_t n = c.out().size;
  if (n == 0) return;
  Problem p{CUFFT_Z2Z, kAxes, {1, 1, 1}, leading(c.in_shape(0), kAxes), 0, 0};
  double size = 1;
  for (int i = 0; i < kAxes; ++i) {
    p.dims[i] = c.in_shape(0).dim(i - kAxes);
    size *= static_cast<double>(p.dims[i]);
  }
  auto* data = c.scratch<Number>(n);
  if (!data) return;
  by_precision(c.in(0).dtype, [&]<class R>() {
    launch_elements(c, n, WidenBody<R>{static_cast<const Pair<R>*>(c.in(0).data), data});
    if (transform(c, p, data, data, kInverse))
      launch_elements(
          c, n, NarrowBody<R>{data, static_cast<Pair<R>*>(c.out().data), kInverse ? size : 1});
  });
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted, format("[{}] no memory on the host", c.tag()));
}
RILL_KERNEL("FFT", gpu, kComplexTypes, (fft_cuda<1, false>));
RILL_KERNEL("FFT2D", gpu, kComplexTypes, (fft_cuda<2, false>));
RILL_KERNEL("FFT3D", gpu, kComplexTypes, (fft_cuda<3, false>));
RILL_KERNEL("IFFT", gpu, kComplexTypes, (fft_cuda<1, true>));
RILL_KERNEL("IFFT2D", gpu, kComplexTypes, (fft_cuda<2, true>));
RILL_KERNEL("IFFT3D", gpu, kComplexTypes, (fft_cuda<3, true>));

// An array of the sizes `to` from one of the sizes `from`, cut or filled up with zeros.
struct Fit {
  std::int64_t to[3], from[3];
  // The element of `from` at element i of `to`; -1: none.
  __device__ __forceinline__ std::int64_t operator()(std::int64_t i) const {
    std::int64_t at = 0, step = 1;
    for (int axis = 3; axis-- > 0;) {
      const std::int64_t k = i % to[axis];
      if (k >= from[axis]) return -1;
      at += k * step, step *= from[axis], i /= to[axis];
    }
    return at + i * step;
  }
};
// The sizes of the last axes of the input and of what is transformed.
template <int kAxes>
Fit fit_of(const KernelContext& c, const long long* dims) {
  Fit f{{1, 1, 1}, {1, 1, 1}};
  for (int i = 0; i < kAxes; ++i) {
    f.to[3 - kAxes + i] = dims[i];
    f.from[3 - kAxes + i] = c.in_shape(0).dim(i - kAxes);
  }
  return f;
}
template <class R>
struct RealBody {
  const R* x;
  double* y;
  Fit fit;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t at = fit(i);
    y[i] = at < 0 ? 0.0 : static_cast<double>(x[at]);
  }
};
// Of real numbers: the first half of the spectrum, which has all of it.
template <int kAxes>
void rfft_cuda(KernelContext& c) noexcept try {
  if (c.out().size == 0) return;
  Problem p{CUFFT_D2Z, kAxes, {1, 1, 1}, leading(c.in_shape(0), kAxes), 0, 0};
  std::int64_t n = p.count;
  for (int i = 0; i < kAxes; ++i) n *= p.dims[i] = c.in<std::int32_t>(1)[i];
  if (n == 0) {
    cudaMemsetAsync(c.out().data, 0,
                    static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                    gpu_of(c).stream());
    return check_launch(c);
  }
  auto* real = c.scratch<double>(n);
  auto* data = c.scratch<Number>(c.out().size);
  if (!real || !data) return;
  by_precision(c.out().dtype, [&]<class R>() {
    launch_elements(c, n, RealBody<R>{c.in<R>(0), real, fit_of<kAxes>(c, p.dims)});
    if (transform(c, p, real, data, false))
      launch_elements(c, c.out().size, NarrowBody<R>{data, static_cast<Pair<R>*>(c.out().data), 1});
  });
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted, format("[{}] no memory on the host", c.tag()));
}
RILL_KERNEL("RFFT", gpu, kRealFloatTypes, rfft_cuda<1>);
RILL_KERNEL("RFFT2D", gpu, kRealFloatTypes, rfft_cuda<2>);
RILL_KERNEL("RFFT3D", gpu, kRealFloatTypes, rfft_cuda<3>);

template <class R>
struct HalfBody {
  const Pair<R>* x;
  Number* y;
  Fit fit;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t at = fit(i);
    y[i].x = at < 0 ? 0.0 : static_cast<double>(x[at].re);
    y[i].y = at < 0 ? 0.0 : static_cast<double>(x[at].im);
  }
};
// Lines of n from their halves: what is beyond is the conjugate of what is before. The first number
// and, of an even n, the middle one count as real, whatever the input says.
struct WholeBody {
  const Number* half_lines;
  Number* y;
  std::int64_t n, half;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t k = i % n, mirrored = k < half ? k : n - k;
    Number v = half_lines[i / n * half + mirrored];
    if (k >= half) v.y = -v.y;
    if (k == 0 || 2 * k == n) v.y = 0;
    y[i] = v;
  }
};
template <class R>
struct RealPartBody {
  const Number* x;
  R* y;
  double divisor;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = static_cast<R>(x[i].x / divisor);
  }
};
template <int kAxes>
void irfft_cuda(KernelContext& c) noexcept try {
  if (c.out().size == 0) return;
  const std::int64_t n = c.out_shape().dim(-1), half = n / 2 + 1, lines = c.out().size / n,
                     blocks = leading(c.in_shape(0), kAxes);
  long long dims[3] = {1, 1, 1};
  double size = static_cast<double>(n);
  for (int i = 0; i + 1 < kAxes; ++i) {
    dims[i] = c.out_shape().dim(i - kAxes);
    size *= static_cast<double>(dims[i]);
  }
  dims[kAxes - 1] = half;
  auto *halves = c.scratch<Number>(lines * half), *whole = c.scratch<Number>(lines * n);
  if (!halves || !whole) return;
  by_precision(c.in(0).dtype, [&]<class R>() {
    launch_elements(
        c, lines * half,
        HalfBody<R>{static_cast<const Pair<R>*>(c.in(0).data), halves, fit_of<kAxes>(c, dims)});
    if constexpr (kAxes > 1) {
      // The axes before the last: `half` transforms in each block, beside each other.
      Problem p{CUFFT_Z2Z, kAxes - 1, {1, 1, 1}, half, half, 1};
      for (int i = 0; i + 1 < kAxes; ++i) p.dims[i] = dims[i];
      const std::int64_t block = lines / blocks * half;
      for (std::int64_t b = 0; b < blocks; ++b)
        if (!transform(c, p, halves + b * block, halves + b * block, true)) return;
    }
    launch_elements(c, lines * n, WholeBody{halves, whole, n, half});
    if (transform(c, {CUFFT_Z2Z, 1, {n, 1, 1}, lines, 0, 0}, whole, whole, true))
      launch_elements(c, lines * n, RealPartBody<R>{whole, c.out<R>(), size});
  });
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted, format("[{}] no memory on the host", c.tag()));
}
RILL_KERNEL("IRFFT", gpu, kComplexTypes, irfft_cuda<1>);
RILL_KERNEL("IRFFT2D", gpu, kComplexTypes, irfft_cuda<2>);
RILL_KERNEL("IRFFT3D", gpu, kComplexTypes, irfft_cuda<3>);

}  // namespace
}  // namespace rill::cuda
#endif
