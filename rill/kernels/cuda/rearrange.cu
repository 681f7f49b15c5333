// Elements taken from a place that their axes decide one by one: mirrored borders, shifts,
// sequences; and ranges.
#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {
namespace {

std::int64_t int_at(const TensorView& v, std::int64_t i) {
  return v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                          : static_cast<const std::int32_t*>(v.data)[i];
}

struct Axis {
  std::int64_t n, stride;       // of the tensor that is read
  std::int64_t out;             // the size here
  std::int64_t before, offset;  // how i is mapped
};
struct Axes {
  Axis axis[kMaxRank];
  int rank = 0;
};
bool fits(KernelContext& c, const TensorShape& shape) {
  if (shape.rank() <= kMaxRank) return true;
  c.fail(Code::unimplemented,
         format("[{}] got {} axes; on a GPU at most {}", c.tag(), shape.rank(), kMaxRank));
  return false;
}

struct Mirror {
  static __device__ __forceinline__ std::int64_t from(const Axis& a, std::int64_t i) {
    i -= a.before;
    return i < 0 ? -i - 1 + a.offset : i >= a.n ? 2 * a.n - i - 1 - a.offset : i;
  }
};
struct Shift {
  static __device__ __forceinline__ std::int64_t from(const Axis& a, std::int64_t i) {
    return i >= a.before ? i - a.before : i - a.before + a.n;
  }
};

template <class Map, class T>
struct TakeBody {
  const T* in;
  T* out;
  Axes axes;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t rest = i, at = 0;
    for (int d = axes.rank; d-- > 0; rest /= axes.axis[d].out)
      at += Map::from(axes.axis[d], rest % axes.axis[d].out) * axes.axis[d].stride;
    out[i] = in[at];
  }
};
template <class Map>
void take(KernelContext& c, const Axes& axes) {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, TakeBody<Map, T>{c.in<T>(0), c.out<T>(), axes});
  });
}

Axes mirror_axes(const KernelContext& c, const TensorShape& inner, const TensorShape& padded) {
  const std::int64_t offset = c.string_attr("mode") == "REFLECT" ? 1 : 0;
  const Dims strides = row_major(inner.dims());
  Axes axes;
  for (axes.rank = 0; axes.rank < inner.rank(); ++axes.rank)
    axes.axis[axes.rank] = {inner.dim(axes.rank), strides[static_cast<std::size_t>(axes.rank)],
                            padded.dim(axes.rank), int_at(c.in(1), 2 * axes.rank), offset};
  return axes;
}
void mirror_pad_cuda(KernelContext& c) noexcept {
  if (fits(c, c.out_shape())) take<Mirror>(c, mirror_axes(c, c.in_shape(0), c.out_shape()));
}
RILL_KERNEL("MirrorPad", gpu, kPlainTypes, mirror_pad_cuda);

// Each element collects the up to three places of each axis that mirror it, the first first.
template <class T>
struct MirrorSumBody {
  const T* in;
  T* out;
  Axes axes;  // n, stride: of the result; out: of what is read
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t index[kMaxRank], combinations = 1;
    std::int64_t rest = i;
    for (int d = axes.rank; d-- > 0; rest /= axes.axis[d].n) {
      index[d] = rest % axes.axis[d].n;
      combinations *= 3;
    }
    T sum = static_cast<T>(0);
    for (std::int64_t k = 0; k < combinations; ++k) {
      std::int64_t at = 0, step = 1, which = k;
      bool there = true;
      for (int d = axes.rank; d-- > 0 && there; which /= 3) {
        const Axis& a = axes.axis[d];
        const std::int64_t o = index[d];
        const std::int64_t p = which % 3 == 0   ? a.offset - 1 - o
                               : which % 3 == 1 ? o
                                                : 2 * a.n - 1 - a.offset - o;
        there = which % 3 == 0   ? p < 0 && p >= -a.before
                : which % 3 == 1 ? true
                                 : p >= a.n && p < a.out - a.before;
        at += (p + a.before) * step;
        step *= a.out;
      }
      if (there)
        sum = static_cast<T>(static_cast<Computed<T>>(sum) + static_cast<Computed<T>>(in[at]));
    }
    out[i] = sum;
  }
};
void mirror_pad_grad_cuda(KernelContext& c) noexcept {
  if (!fits(c, c.out_shape())) return;
  const Axes axes = mirror_axes(c, c.out_shape(), c.in_shape(0));
  dispatch_reals(c.out().dtype, [&]<class T>() {
    launch_loops(c, c.out().size, MirrorSumBody<T>{c.in<T>(0), c.out<T>(), axes});
  });
}
RILL_KERNEL("MirrorPadGrad", gpu, kRealTypes, mirror_pad_grad_cuda);

void roll_cuda(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  if (c.out().size == 0 || !fits(c, shape)) return;
  const Dims strides = row_major(shape.dims());
  Axes axes;
  for (axes.rank = 0; axes.rank < shape.rank(); ++axes.rank) {
    const std::int64_t n = shape.dim(axes.rank);
    axes.axis[axes.rank] = {n, strides[static_cast<std::size_t>(axes.rank)], n, 0, 0};
  }
  for (std::int64_t i = 0; i < c.in(1).size; ++i) {
    const std::int64_t a = int_at(c.in(2), i);
    Axis& axis = axes.axis[a < 0 ? a + shape.rank() : a];
    axis.before = (axis.before + int_at(c.in(1), i) % axis.n + axis.n) % axis.n;
  }
  take<Shift>(c, axes);
}
RILL_KERNEL("Roll", gpu, kPlainTypes, roll_cuda);

template <class T, class I>
struct ReverseSequenceBody {
  const T* in;
  const I* lengths;
  T* out;
  std::int64_t n, stride, batch, batch_stride;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t b = i / batch_stride % batch, k = i / stride % n;
    const auto length = static_cast<std::int64_t>(lengths[b]);
    if (length < 0 || length > n)
      report(reporter.error, reporter.op, Finding::out_of_range, reporter.what, b, length, n + 1);
    const std::int64_t from = k < length && length <= n ? length - 1 - k : k;
    out[i] = in[i + (from - k) * stride];
  }
};
void reverse_sequence_cuda(KernelContext& c) noexcept {
  const TensorShape& shape = c.in_shape(0);
  const Dims strides = row_major(shape.dims());
  const auto axis = [&](std::string_view name) {
    const std::int64_t a = c.int_attr(name);
    return static_cast<std::size_t>(a < 0 ? a + shape.rank() : a);
  };
  const std::size_t seq = axis("seq_dim"), batch = axis("batch_dim");
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    by_width(c.out().dtype, [&]<class T>() {
      launch_elements(
          c, c.out().size,
          ReverseSequenceBody<T, I>{c.in<T>(0),
                                    c.in<I>(1),
                                    c.out<T>(),
                                    shape.dims()[seq],
                                    strides[seq],
                                    shape.dims()[batch],
                                    strides[batch],
                                    {gpu_of(c).kernel_error(), &c.op(), "seq_lengths"}});
    });
  });
}
RILL_KERNEL("ReverseSequence", gpu, kPlainTypes, reverse_sequence_cuda);

template <class T>
struct RangeBody {
  T* out;
  T start, delta;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if constexpr (std::is_integral_v<T>)
      out[i] = static_cast<T>(static_cast<std::uint64_t>(start) +
                              static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
    else
      out[i] = static_cast<T>(start + static_cast<T>(static_cast<float>(i)) * delta);
  }
};
void range_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, RangeBody<T>{c.out<T>(), *c.in<T>(0), *c.in<T>(2)});
  });
}
RILL_KERNEL("Range", gpu, kFloatTypes | kSignedTypes | (TypeSet{uint16, uint32}), range_cuda);

template <class T>
struct LinSpaceBody {
  T* out;
  T start, stop, step;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    out[i] = n > 1 && i == n - 1
                 ? stop
                 : static_cast<T>(start + step * static_cast<T>(static_cast<float>(i)));
  }
};
void linspace_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    const T start = *c.in<T>(0), stop = *c.in<T>(1);
    const std::int64_t n = c.out().size;
    const T step = n > 1
                       ? static_cast<T>((stop - start) / static_cast<T>(static_cast<float>(n - 1)))
                       : static_cast<T>(0);
    launch_elements(c, n, LinSpaceBody<T>{c.out<T>(), start, stop, step, n});
  });
}
RILL_KERNEL("LinSpace", gpu, kFloatTypes, linspace_cuda);

}  // namespace
}  // namespace rill::cuda
