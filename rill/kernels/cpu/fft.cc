// Fourier transforms over the last one, two or three axes. All is computed in double.
#include "rill/kernels/cpu/fft.h"

#include <atomic>
#include <new>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

using Number = Fft::Number;

// What is transformed: `count` blocks of the sizes dims[0..axes), as complex numbers.
struct Blocks {
  int axes = 1;
  std::int64_t count = 1, dims[3] = {1, 1, 1};
  std::int64_t size() const { return dims[0] * dims[1] * dims[2]; }
};
std::int64_t leading(const TensorShape& s, int axes) {
  std::int64_t n = 1;
  for (int i = 0; i < s.rank() - axes; ++i) n *= s.dim(i);
  return n;
}

// Runs body(line, in, out) with room for a line of n numbers on both sides.
template <class F>
void for_lines(std::int64_t lines, std::int64_t n, std::atomic<bool>& no_memory, F body) {
  parallel_for(lines, std::max<std::int64_t>(1, (1 << 12) / (n + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 try {
                   std::vector<Number> in(static_cast<std::size_t>(n)), out(in.size());
                   for (std::int64_t i = begin; i < end; ++i) body(i, in.data(), out.data());
                 } catch (const std::bad_alloc&) {
                   no_memory = true;
                 }
               });
}

// Transforms along one axis, in place.
void transform_axis(Number* data, const Blocks& b, int axis, bool inverse,
                    std::atomic<bool>& no_memory) {
  const std::int64_t n = b.dims[axis];
  if (n <= 1) return;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < b.axes; ++i) inner *= b.dims[i];
  const Fft fft(n, inverse);
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  for_lines(b.count * b.size() / n, n, no_memory, [&](std::int64_t line, Number* in, Number* out) {
    Number* first = data + line / inner * n * inner + line % inner;
    for (std::int64_t k = 0; k < n; ++k) in[k] = first[k * inner];
    fft.run(in, out);
    for (std::int64_t k = 0; k < n; ++k) first[k * inner] = out[k] * scale;
  });
}

template <class F>
void guarded(KernelContext& c, F body) {
  std::atomic<bool> no_memory{false};
  try {
    body(no_memory);
  } catch (const std::bad_alloc&) {
    no_memory = true;
  }
  if (no_memory)
    c.fail(Code::resource_exhausted,
           format("[{}] no memory for transforms of shape {}", c.tag(), c.in_shape(0)));
}

template <int kAxes, bool kInverse>
void fft_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.out().size;
  if (n == 0) return;
  guarded(c, [&](std::atomic<bool>& no_memory) {
    Blocks b;
    b.axes = kAxes, b.count = leading(c.in_shape(0), kAxes);
    for (int i = 0; i < kAxes; ++i) b.dims[i] = c.in_shape(0).dim(i - kAxes);
    dispatch_types<std::complex<float>, std::complex<double>>(c.in(0).dtype, [&]<class T>() {
      std::vector<Number> data(c.in<T>(0), c.in<T>(0) + n);
      for (int axis = kAxes; axis-- > 0;) transform_axis(data.data(), b, axis, kInverse, no_memory);
      for (std::int64_t i = 0; i < n; ++i)
        c.out<T>()[i] = static_cast<T>(data[static_cast<std::size_t>(i)]);
    });
  });
}
RILL_KERNEL("FFT", cpu, kComplexTypes, (fft_cpu<1, false>));
RILL_KERNEL("FFT2D", cpu, kComplexTypes, (fft_cpu<2, false>));
RILL_KERNEL("FFT3D", cpu, kComplexTypes, (fft_cpu<3, false>));
RILL_KERNEL("IFFT", cpu, kComplexTypes, (fft_cpu<1, true>));
RILL_KERNEL("IFFT2D", cpu, kComplexTypes, (fft_cpu<2, true>));
RILL_KERNEL("IFFT3D", cpu, kComplexTypes, (fft_cpu<3, true>));

// The line of the input that stands at line `i` of blocks b, whose last axis is apart; -1: none, it
// is filled up with zeros.
std::int64_t source_line(const KernelContext& c, const Blocks& b, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (int axis = b.axes - 1; axis-- > 0;) {
    const std::int64_t k = i % b.dims[axis], size = c.in_shape(0).dim(axis - b.axes);
    if (k >= size) return -1;
    at += k * step, step *= size, i /= b.dims[axis];
  }
  return at + i * step;
}

// Of real numbers: the first half of the spectrum, which has all of it.
template <int kAxes>
void rfft_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  guarded(c, [&](std::atomic<bool>& no_memory) {
    const std::int64_t n = c.in<std::int32_t>(1)[kAxes - 1], half = n / 2 + 1,
                       width = c.in_shape(0).dim(-1);
    Blocks b;
    b.axes = kAxes, b.count = leading(c.in_shape(0), kAxes);
    for (int i = 0; i < kAxes; ++i) b.dims[i] = c.out_shape().dim(i - kAxes);
    std::vector<Number> data(static_cast<std::size_t>(b.count * b.size()));
    dispatch_types<float, double>(c.in(0).dtype, [&]<class T>() {
      const Fft fft(n, false);
      for_lines(b.count * b.size() / half, n, no_memory,
                [&](std::int64_t line, Number* in, Number* out) {
                  const std::int64_t from = source_line(c, b, line);
                  if (from < 0) return;
                  const T* x = c.in<T>(0) + from * width;
                  for (std::int64_t k = 0; k < n; ++k)
                    in[k] = k < width ? static_cast<double>(x[k]) : 0.0;
                  fft.run(in, out);
                  std::copy_n(out, half, data.data() + line * half);
                });
      for (int axis = kAxes - 1; axis-- > 0;)
        transform_axis(data.data(), b, axis, false, no_memory);
      for (std::int64_t i = 0; i < c.out().size; ++i)
        c.out<std::complex<T>>()[i] =
            static_cast<std::complex<T>>(data[static_cast<std::size_t>(i)]);
    });
  });
}
RILL_KERNEL("RFFT", cpu, kRealFloatTypes, rfft_cpu<1>);
RILL_KERNEL("RFFT2D", cpu, kRealFloatTypes, rfft_cpu<2>);
RILL_KERNEL("RFFT3D", cpu, kRealFloatTypes, rfft_cpu<3>);

template <int kAxes>
void irfft_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  guarded(c, [&](std::atomic<bool>& no_memory) {
    const std::int64_t n = c.out_shape().dim(-1), half = n / 2 + 1, width = c.in_shape(0).dim(-1);
    Blocks b;
    b.axes = kAxes, b.count = leading(c.in_shape(0), kAxes);
    for (int i = 0; i < kAxes; ++i)
      b.dims[i] = i + 1 == kAxes ? half : c.out_shape().dim(i - kAxes);
    std::vector<Number> data(static_cast<std::size_t>(b.count * b.size()));
    dispatch_types<std::complex<float>, std::complex<double>>(c.in(0).dtype, [&]<class T>() {
      using R = typename T::value_type;
      const std::int64_t lines = b.count * b.size() / half;
      for (std::int64_t line = 0; line < lines; ++line)
        if (const std::int64_t from = source_line(c, b, line); from >= 0)
          std::copy_n(c.in<T>(0) + from * width, std::min(half, width), data.data() + line * half);
      for (int axis = 0; axis + 1 < kAxes; ++axis)
        transform_axis(data.data(), b, axis, true, no_memory);
      const Fft fft(n, true);
      for_lines(lines, n, no_memory, [&](std::int64_t line, Number* in, Number* out) {
        const Number* x = data.data() + line * half;
        for (std::int64_t k = 0; k < n; ++k) in[k] = k < half ? x[k] : std::conj(x[n - k]);
        in[0] = in[0].real();
        if (n % 2 == 0) in[n / 2] = in[n / 2].real();
        fft.run(in, out);
        for (std::int64_t k = 0; k < n; ++k)
          c.out<R>()[line * n + k] = static_cast<R>(out[k].real() / static_cast<double>(n));
      });
    });
  });
}
RILL_KERNEL("IRFFT", cpu, kComplexTypes, irfft_cpu<1>);
RILL_KERNEL("IRFFT2D", cpu, kComplexTypes, irfft_cpu<2>);
RILL_KERNEL("IRFFT3D", cpu, kComplexTypes, irfft_cpu<3>);

}  // namespace
}  // namespace rill::cpu
