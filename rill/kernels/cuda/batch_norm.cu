// Normalisation of channels. The moments of a channel are summed in double in one pass.
#include "rill/kernels/cuda/reduce.h"

namespace rill::cuda {
namespace {

// A tensor as [outer, channels, inner].
struct Channels {
  std::int64_t outer = 1, channels = 1, inner = 1;
  bool wide = false;
  Channels(const KernelContext& c, const TensorShape& s) {
    const int axis = c.string_attr("data_format").starts_with("NC") ? 1 : s.rank() - 1;
    for (int i = 0; i < s.rank(); ++i)
      (i < axis ? outer : i == axis ? channels : inner) *= s.dim(i);
    wide = outer * channels * inner > INT32_MAX;
  }
  std::int64_t count() const { return outer * inner; }  // elements of a channel
  RILL_HOST_DEVICE std::int64_t channel(std::int64_t i) const {
    if (wide) return i / inner % channels;
    // Divisions of 64 bits are slow.
    const auto k = static_cast<std::uint32_t>(i), n = static_cast<std::uint32_t>(channels);
    return (inner == 1 ? k : k / static_cast<std::uint32_t>(inner)) % n;
  }
};

template <class F>
void channel_sums(KernelContext& c, const Channels& s, const F& f, Two* sums) {
  reduce<SumTwo, Two>(c, Lazy<F>{f}, sums, Dims{s.outer, s.channels, s.inner}, {1, 0, 1},
                      Same<Two>{});
}

template <class T>
struct MomentsOf {
  const T* x;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    const auto v = static_cast<double>(static_cast<Computed<T>>(x[i]));
    return {v, v * v};
  }
};

// What the channels' outputs and the pass over the elements need.
template <class U>
struct ForwardChannelBody {
  const Two* sums;  // null: inference
  const U *scale, *old_mean, *old_variance;
  U *mean_out, *variance_out, *saved_mean, *saved_variance, *unused;
  double *mean, *factor;
  double count, epsilon, weight;
  __device__ __forceinline__ void operator()(std::int64_t j) const {
    const double n = count > 1 ? count : 1;
    double m, v;
    if (sums) {
      m = sums[j].a / n;
      v = sums[j].b / n - m * m;
      v = v < 0 ? 0 : v;
      // The variance that is given out estimates that of the whole: N - 1.
      const double whole = v * (count / (count > 2 ? count - 1 : 1));
      const bool fresh = weight == 1;
      mean_out[j] = static_cast<U>(fresh ? m : (1 - weight) * old_mean[j] + weight * m);
      variance_out[j] =
          static_cast<U>(fresh ? whole : (1 - weight) * old_variance[j] + weight * whole);
    } else {
      m = static_cast<double>(old_mean[j]), v = static_cast<double>(old_variance[j]);
      mean_out[j] = old_mean[j], variance_out[j] = old_variance[j];
    }
    saved_mean[j] = static_cast<U>(m), saved_variance[j] = static_cast<U>(v);
    mean[j] = m;
    factor[j] = static_cast<double>(scale[j]) / sqrt(v + epsilon);
    if (j == 0) *unused = static_cast<U>(0);
  }
};
template <class T, class U>
struct NormalBody {
  Channels s;
  const T* x;
  const double *mean, *factor;
  const U* offset;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const std::int64_t j = s.channel(i);
    y[i] = static_cast<T>((static_cast<W>(x[i]) - static_cast<W>(mean[j])) *
                              static_cast<W>(factor[j]) +
                          static_cast<W>(offset[j]));
  }
};

template <class T, class U>
void batch_norm(KernelContext& c) {
  const Channels s(c, c.in_shape(0));
  const std::int64_t n = s.channels;
  Two* sums = nullptr;
  double *mean = c.scratch<double>(std::max<std::int64_t>(1, n)),
         *factor = c.scratch<double>(std::max<std::int64_t>(1, n));
  if (!mean || !factor) return;
  if (c.bool_attr("is_training")) {
    sums = c.scratch<Two>(std::max<std::int64_t>(1, n));
    if (!sums) return;
    channel_sums(c, s, MomentsOf<T>{c.in<T>(0)}, sums);
  }
  launch_elements(
      c, n,
      ForwardChannelBody<U>{sums, c.in<U>(1), c.in<U>(3), c.in<U>(4), c.out<U>(1), c.out<U>(2),
                            c.out<U>(3), c.out<U>(4), c.out<U>(5), mean, factor,
                            static_cast<double>(s.count()), c.float_attr("epsilon"),
                            c.float_attr("exponential_avg_factor")});
  launch_elements(c, c.in(0).size,
                  NormalBody<T, U>{s, c.in<T>(0), mean, factor, c.in<U>(2), c.out<T>(0)});
}
void batch_norm_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    dispatch_types<float, double>(c.in(1).dtype, [&]<class U>() { batch_norm<T, U>(c); });
  });
}
RILL_KERNEL("FusedBatchNormV3", gpu, kFloatTypes, batch_norm_cuda);

// dx = scale r (dy - mean(dy) - (x - mean) r^2 mean(dy (x - mean))); without
// training the means over dy do not come in.
template <class T, class U>
struct SlopesOf {
  Channels s;
  const T *dy, *x;
  const U* mean;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    const auto d = static_cast<double>(static_cast<Computed<T>>(dy[i]));
    return {d, d * (static_cast<double>(static_cast<Computed<T>>(x[i])) -
                    static_cast<double>(mean[s.channel(i)]))};
  }
};
struct Slope {
  double factor, shift, tilt;
};
template <class U>
struct BackwardChannelBody {
  const Two* sums;
  const U *scale, *variance;
  U *dscale, *doffset;
  Slope* slope;
  double count, epsilon;
  bool training;
  __device__ __forceinline__ void operator()(std::int64_t j) const {
    const double r = 1 / sqrt(static_cast<double>(variance[j]) + epsilon);
    slope[j] = {static_cast<double>(scale[j]) * r, training ? sums[j].a / count : 0,
                training ? sums[j].b / count * r * r : 0};
    dscale[j] = static_cast<U>(sums[j].b * r);
    doffset[j] = static_cast<U>(sums[j].a);
  }
};
template <class T, class U>
struct BackwardBody {
  Channels s;
  const T *dy, *x;
  const U* mean;
  const Slope* slope;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const std::int64_t j = s.channel(i);
    const Slope f = slope[j];
    dx[i] =
        static_cast<T>(static_cast<W>(f.factor) *
                       (static_cast<W>(dy[i]) - static_cast<W>(f.shift) -
                        (static_cast<W>(x[i]) - static_cast<W>(mean[j])) * static_cast<W>(f.tilt)));
  }
};
template <class T, class U>
void batch_norm_grad(KernelContext& c) {
  const Channels s(c, c.in_shape(1));
  const std::int64_t n = s.channels;
  Two* sums = c.scratch<Two>(std::max<std::int64_t>(1, n));
  Slope* slope = c.scratch<Slope>(std::max<std::int64_t>(1, n));
  if (!sums || !slope) return;
  channel_sums(c, s, SlopesOf<T, U>{s, c.in<T>(0), c.in<T>(1), c.in<U>(3)}, sums);
  launch_elements(c, n,
                  BackwardChannelBody<U>{sums, c.in<U>(2), c.in<U>(4), c.out<U>(1), c.out<U>(2),
                                         slope, std::max(1.0, static_cast<double>(s.count())),
                                         c.float_attr("epsilon"), c.bool_attr("is_training")});
  launch_elements(c, c.in(1).size,
                  BackwardBody<T, U>{s, c.in<T>(0), c.in<T>(1), c.in<U>(3), slope, c.out<T>(0)});
}
void batch_norm_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() {
    dispatch_types<float, double>(c.in(2).dtype, [&]<class U>() { batch_norm_grad<T, U>(c); });
  });
}
RILL_KERNEL("FusedBatchNormGradV3", gpu, kFloatTypes, batch_norm_grad_cuda);

}  // namespace
}  // namespace rill::cuda
