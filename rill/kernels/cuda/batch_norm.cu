// Normalisation of channels. The moments of a channel are summed in double in one pass.
#include "rill/kernels/cuda/pack.h"
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
template <class U, class W>
struct ForwardChannelBody {
  const Two* sums;  // null: inference
  const U *scale, *old_mean, *old_variance;
  U *mean_out, *variance_out, *saved_mean, *saved_variance, *unused;
  W *mean, *factor;  // as elements are computed in
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
    mean[j] = static_cast<W>(m);
    factor[j] = static_cast<W>(static_cast<double>(scale[j]) / sqrt(v + epsilon));
    if (j == 0 && unused) *unused = static_cast<U>(0);
  }
};
// N neighbouring elements: those of N channels, or one.
template <int N, class T, class U>
struct NormalBody {
  using W = Computed<T>;
  Channels s;
  const T* x;
  const W *mean, *factor;
  const U* offset;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t at = i * N, j = s.channel(at);
    const auto in = load_pack<N>(x + at);
    const auto m = load_pack<N>(mean + j), f = load_pack<N>(factor + j);
    const auto o = load_pack<N>(offset + j);
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; ++k)
      out.v[k] =
          static_cast<T>((static_cast<W>(in.v[k]) - m.v[k]) * f.v[k] + static_cast<W>(o.v[k]));
    store_pack(y + at, out);
  }
};
// The same, plus a side, through relu. Groups of 8 elements: a byte of signs.
template <int N, class T, class U>
struct ReluBody {
  using W = Computed<T>;
  Channels s;
  std::int64_t size;  // with packs a multiple of 8
  const T* x;
  const W *mean, *factor;
  const U* offset;
  const T* side;  // null: none
  T* y;
  std::uint8_t* signs;  // null: not wanted
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    unsigned bits = 0;
#pragma unroll
    for (int p = 0; p < 8; p += N) {
      const std::int64_t at = 8 * i + p;
      if (N == 1 && at >= size) break;
      const std::int64_t j = s.channel(at);
      const auto in = load_pack<N>(x + at);
      const auto m = load_pack<N>(mean + j), f = load_pack<N>(factor + j);
      const auto o = load_pack<N>(offset + j);
      Pack<T, N> out, more;
      if (side) more = load_pack<N>(side + at);
#pragma unroll
      for (int k = 0; k < N; ++k) {
        // Rounded as the ops that this stands for do.
        T v = static_cast<T>((static_cast<W>(in.v[k]) - m.v[k]) * f.v[k] + static_cast<W>(o.v[k]));
        if (side) v = static_cast<T>(static_cast<W>(v) + static_cast<W>(more.v[k]));
        if (static_cast<W>(v) <= W(0)) v = static_cast<T>(W(0));
        if (static_cast<W>(v) > W(0)) bits |= 1u << (p + k);
        out.v[k] = v;
      }
      store_pack(y + at, out);
    }
    if (signs) signs[i] = static_cast<std::uint8_t>(bits);
  }
};
// Calls run.operator()<N>() with the elements of a thread.
template <class T, class F>
void by_packs(const Channels& s, std::initializer_list<const void*> sides, F run) {
  if (s.inner == 1 && s.channels % kPack<T> == 0 && aligned(sides))
    run.template operator()<kPack<T>>();
  else
    run.template operator()<1>();
}

// `relu`: the sum with a side, if there is one, goes through it.
template <class T, class U>
void batch_norm(KernelContext& c, bool relu) {
  const Channels s(c, c.in_shape(0));
  const std::int64_t n = s.channels;
  Two* sums = nullptr;
  using W = Computed<T>;
  W *mean = c.scratch<W>(std::max<std::int64_t>(1, n)),
    *factor = c.scratch<W>(std::max<std::int64_t>(1, n));
  if (!mean || !factor) return;
  if (c.bool_attr("is_training")) {
    sums = c.scratch<Two>(std::max<std::int64_t>(1, n));
    if (!sums) return;
    channel_sums(c, s, MomentsOf<T>{c.in<T>(0)}, sums);
  }
  launch_elements(
      c, n,
      ForwardChannelBody<U, W>{sums, c.in<U>(1), c.in<U>(3), c.in<U>(4), c.out<U>(1), c.out<U>(2),
                               c.out<U>(3), c.out<U>(4), c.out(5).size ? c.out<U>(5) : nullptr,
                               mean, factor, static_cast<double>(s.count()),
                               c.float_attr("epsilon"), c.float_attr("exponential_avg_factor")});
  const T* x = c.in<T>(0);
  const U* offset = c.in<U>(2);
  T* y = c.out<T>(0);
  const std::int64_t size = c.in(0).size;
  if (!relu)
    return by_packs<T>(s, {x, mean, factor, offset, y}, [&]<int N>() {
      launch_loops(c, size / N, NormalBody<N, T, U>{s, x, mean, factor, offset, y});
    });
  const T* side = c.num_inputs() > 5 ? c.in<T>(5) : nullptr;
  std::uint8_t* signs = c.bool_attr("signs") ? static_cast<std::uint8_t*>(c.out(5).data) : nullptr;
  const auto run = [&]<int N>() {
    launch_loops(c, (size + 7) / 8,
                 ReluBody<N, T, U>{s, size, x, mean, factor, offset, side, y, signs});
  };
  if (size % 8 == 0)
    by_packs<T>(s, {x, mean, factor, offset, side, y}, run);
  else
    run.template operator()<1>();
}
template <bool relu>
void batch_norm_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(0).dtype, [&]<class T>() {
    dispatch_types<float, double>(c.in(1).dtype, [&]<class U>() { batch_norm<T, U>(c, relu); });
  });
}
RILL_KERNEL("FusedBatchNormV3", gpu, kFloatTypes, batch_norm_cuda<false>);
RILL_KERNEL("_BatchNormRelu", gpu, kFloatTypes, batch_norm_cuda<true>);

// dx = scale r (dy - mean(dy) - (x - mean) r^2 mean(dy (x - mean))); without
// training the means over dy do not come in.
// Sums of dy and dy x; the mean of x comes in once per channel, which doubles bear. With signs, dy
// counts where they are set.
template <class T, bool kSigns>
struct SlopesOf {
  const T *dy, *x;
  const std::uint8_t* signs;
  __device__ __forceinline__ Two operator()(std::int64_t i) const {
    auto d = static_cast<double>(static_cast<Computed<T>>(dy[i]));
    if constexpr (kSigns)
      if (!(signs[i >> 3] >> (i & 7) & 1)) d = 0;
    return {d, d * static_cast<double>(static_cast<Computed<T>>(x[i]))};
  }
};
template <class U, class W>
struct BackwardChannelBody {
  const Two* sums;
  const U *scale, *mean, *variance;
  U *dscale, *doffset;
  W *factor, *shift, *tilt;
  double count, epsilon;
  bool training;
  __device__ __forceinline__ void operator()(std::int64_t j) const {
    const double r = 1 / sqrt(static_cast<double>(variance[j]) + epsilon),
                 across = sums[j].b - static_cast<double>(mean[j]) * sums[j].a;
    factor[j] = static_cast<W>(static_cast<double>(scale[j]) * r);
    shift[j] = static_cast<W>(training ? sums[j].a / count : 0);
    tilt[j] = static_cast<W>(training ? across / count * r * r : 0);
    dscale[j] = static_cast<U>(across * r);
    doffset[j] = static_cast<U>(sums[j].a);
  }
};
template <int N, class T, class U, bool kSigns>
struct BackwardBody {
  using W = Computed<T>;
  Channels s;
  const T *dy, *x;
  const U* mean;
  const W *factor, *shift, *tilt;
  const std::uint8_t* signs;
  T* dx;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t at = i * N, j = s.channel(at);
    auto grad = load_pack<N>(dy + at);
    const auto in = load_pack<N>(x + at);
    if constexpr (kSigns) {
      const unsigned bits = signs[at >> 3] >> (at & 7);
#pragma unroll
      for (int k = 0; k < N; ++k)
        if (!(bits >> k & 1)) grad.v[k] = static_cast<T>(W(0));
    }
    const auto m = load_pack<N>(mean + j);
    const auto f = load_pack<N>(factor + j), h = load_pack<N>(shift + j),
               t = load_pack<N>(tilt + j);
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; ++k)
      out.v[k] =
          static_cast<T>(f.v[k] * (static_cast<W>(grad.v[k]) - h.v[k] -
                                   (static_cast<W>(in.v[k]) - static_cast<W>(m.v[k])) * t.v[k]));
    store_pack(dx + at, out);
  }
};
template <class T, class U, bool kSigns>
void batch_norm_grad(KernelContext& c) {
  using W = Computed<T>;
  const Channels s(c, c.in_shape(1));
  const std::int64_t n = s.channels, room = (std::max<std::int64_t>(1, n) + 15) / 16 * 16;
  Two* sums = c.scratch<Two>(room);
  W* factor = c.scratch<W>(3 * room);
  if (!sums || !factor) return;
  W *shift = factor + room, *tilt = shift + room;
  const T *dy = c.in<T>(0), *x = c.in<T>(1);
  const U* mean = c.in<U>(3);
  const auto* signs = static_cast<const std::uint8_t*>(c.in(5).data);
  T* dx = c.out<T>(0);
  channel_sums(c, s, SlopesOf<T, kSigns>{dy, x, signs}, sums);
  launch_elements(
      c, n,
      BackwardChannelBody<U, W>{sums, c.in<U>(2), mean, c.in<U>(4), c.out<U>(1), c.out<U>(2),
                                factor, shift, tilt, std::max(1.0, static_cast<double>(s.count())),
                                c.float_attr("epsilon"), c.bool_attr("is_training")});
  by_packs<T>(s, {dy, x, mean, factor, dx}, [&]<int N>() {
    launch_loops(c, c.in(1).size / N,
                 BackwardBody<N, T, U, kSigns>{s, dy, x, mean, factor, shift, tilt, signs, dx});
  });
}
template <bool kSigns>
void batch_norm_grad_cuda(KernelContext& c) noexcept {
  dispatch_floats(c.in(1).dtype, [&]<class T>() {
    dispatch_types<float, double>(c.in(2).dtype,
                                  [&]<class U>() { batch_norm_grad<T, U, kSigns>(c); });
  });
}
RILL_KERNEL("FusedBatchNormGradV3", gpu, kFloatTypes, batch_norm_grad_cuda<false>);
RILL_KERNEL("_BatchNormReluGrad", gpu, kFloatTypes, batch_norm_grad_cuda<true>);

}  // namespace
}  // namespace rill::cuda
