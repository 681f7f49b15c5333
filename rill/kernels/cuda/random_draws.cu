// Random numbers of distributions with parameters: a thread a sample, each with the generator that
// it has on the CPU. Samples differ from the CPU's by what logarithm and sine differ.
#include "rill/kernels/functors/random_draws.h"

#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/incomplete.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cuda {
namespace {

// Where sample i goes: all samples of a parameter come first, in the output the parameters are
// the last axes.
struct SamplePlace {
  std::int64_t parameters, samples;
  SamplePlace(std::int64_t n, std::int64_t size) : parameters(n), samples(n ? size / n : 0) {}
  __device__ __forceinline__ std::int64_t parameter(std::int64_t i) const { return i / samples; }
  __device__ __forceinline__ std::int64_t to(std::int64_t i) const {
    return i % samples * parameters + i / samples;
  }
};

// ---- gamma
template <class T>
struct GammaBody {
  Philox gen;
  const T* alpha;
  T* out;
  SamplePlace place;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const auto a = static_cast<double>(static_cast<Computed<T>>(alpha[place.parameter(i)]));
    out[place.to(i)] = static_cast<T>(static_cast<Computed<T>>(
        functors::sample_gamma(a, functors::own_stream(gen, static_cast<std::uint64_t>(i)))));
  }
};
void fill_gamma(KernelContext& c, const Philox& gen, int alpha) {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    launch_loops(c, c.out().size,
                 GammaBody<T>{gen, c.in<T>(alpha), c.out<T>(), {c.in(alpha).size, c.out().size}});
  });
}
void gamma_cuda(KernelContext& c) noexcept {
  fill_gamma(c, functors::from_attrs(c, kReservedPerNumber), 1);
}
void seeded_gamma_cuda(KernelContext& c) noexcept { fill_gamma(c, functors::from_seed(c, 1), 2); }
void keyed_gamma_cuda(KernelContext& c) noexcept {
  const Philox gen = functors::from_key(c);
  if (!c.failed()) fill_gamma(c, gen, 4);
}
RILL_KERNEL("RandomGamma", gpu, kFloatTypes, gamma_cuda);
RILL_KERNEL("StatelessRandomGammaV2", gpu, kIndexTypes, seeded_gamma_cuda);
RILL_KERNEL("StatelessRandomGammaV3", gpu, kIndexTypes, keyed_gamma_cuda);
const BinaryKernels<functors::GammaSlope, float, double> gamma_slope("RandomGammaGrad");

// ---- counts. Their dtypes are looked up by the thread: what it computes takes far longer.
enum class Kind : int { f32, f64, f16, bf16, i32, i64 };
Kind kind_of(DType d) {
  return d == float64    ? Kind::f64
         : d == float16  ? Kind::f16
         : d == bfloat16 ? Kind::bf16
         : d == int32    ? Kind::i32
         : d == int64    ? Kind::i64
                         : Kind::f32;
}
template <class T>
__device__ __forceinline__ double number_at(const void* p, std::int64_t i) {
  return static_cast<double>(static_cast<Computed<T>>(static_cast<const T*>(p)[i]));
}
struct Numbers {
  const void* p;
  Kind kind;
  __device__ double at(std::int64_t i) const {
    switch (kind) {
      case Kind::f64:
        return number_at<double>(p, i);
      case Kind::f16:
        return number_at<half>(p, i);
      case Kind::bf16:
        return number_at<bfloat16_t>(p, i);
      case Kind::i32:
        return number_at<std::int32_t>(p, i);
      case Kind::i64:
        return number_at<std::int64_t>(p, i);
      default:
        return number_at<float>(p, i);
    }
  }
};
struct Counts {
  void* p;
  Kind kind;
  template <class T>
  __device__ __forceinline__ void put_as(std::int64_t i, double x) const {
    static_cast<T*>(p)[i] = functors::as_count<T>(x);
  }
  __device__ void put(std::int64_t i, double x) const {
    switch (kind) {
      case Kind::f64:
        return put_as<double>(i, x);
      case Kind::f16:
        return put_as<half>(i, x);
      case Kind::bf16:
        return put_as<bfloat16_t>(i, x);
      case Kind::i32:
        return put_as<std::int32_t>(i, x);
      case Kind::i64:
        return put_as<std::int64_t>(i, x);
      default:
        return put_as<float>(i, x);
    }
  }
};

struct PoissonBody {
  Philox gen;
  Numbers rate;
  Counts out;
  SamplePlace place;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    out.put(place.to(i),
            functors::sample_poisson(rate.at(place.parameter(i)),
                                     functors::own_stream(gen, static_cast<std::uint64_t>(i))));
  }
};
void fill_poisson(KernelContext& c, const Philox& gen, int rate) {
  launch_loops(c, c.out().size,
               PoissonBody{gen,
                           {c.in(rate).data, kind_of(c.in(rate).dtype)},
                           {c.out().data, kind_of(c.out().dtype)},
                           {c.in(rate).size, c.out().size}});
}
void poisson_cuda(KernelContext& c) noexcept {
  fill_poisson(c, functors::from_attrs(c, kReservedPerNumber), 1);
}
void seeded_poisson_cuda(KernelContext& c) noexcept {
  fill_poisson(c, functors::from_seed(c, 1), 2);
}
RILL_KERNEL("RandomPoissonV2", gpu, kIndexTypes, poisson_cuda);
RILL_KERNEL("StatelessRandomPoisson", gpu, kIndexTypes, seeded_poisson_cuda);

template <class P>
struct BinomialBody {
  Philox gen;
  const P *count, *prob;
  Counts out;
  SamplePlace place;
  Walk<2> walk;  // over the pairs of parameters
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t at[2];
    walk.at(place.parameter(i), at);
    out.put(place.to(i), functors::sample_binomial<P>(count[at[0]], prob[at[1]], gen,
                                                      static_cast<std::uint64_t>(i)));
  }
};
void seeded_binomial_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const TensorShape &counts = c.in_shape(2), &probs = c.in_shape(3);
  Dims pairs;
  for (int k = std::max(counts.rank(), probs.rank()); k > 0; --k)
    pairs.push_back(c.out_shape().dim(-k));
  const TensorShape all(pairs);
  Walk<2> walk;
  if (!make_walk<2>(c, pairs, {broadcast_strides(counts, all), broadcast_strides(probs, all)},
                    walk))
    return;
  const Philox gen = functors::from_seed(c, 1);
  dispatch_types<float, double, half, bfloat16_t, std::int32_t, std::int64_t>(
      c.in(2).dtype, [&]<class P>() {
        launch_loops(c, c.out().size,
                     BinomialBody<P>{gen,
                                     c.in<P>(2),
                                     c.in<P>(3),
                                     {c.out().data, kind_of(c.out().dtype)},
                                     {all.num_elements(), c.out().size},
                                     walk});
      });
}
RILL_KERNEL("StatelessRandomBinomial", gpu, kFloatTypes | kIndexTypes, seeded_binomial_cuda);

}  // namespace
}  // namespace rill::cuda
