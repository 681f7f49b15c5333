// Random numbers of distributions with parameters.
#include "rill/kernels/functors/random_draws.h"

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/incomplete.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cpu {
namespace {

using functors::as_count;
using functors::from_attrs;
using functors::from_key;
using functors::from_seed;
using functors::own_stream;

// Where a parameter is for number i of the last axes of the output, to which it broadcasts.
class BroadcastPlace {
 public:
  BroadcastPlace(const TensorShape& parameter, const TensorShape& output) {
    std::int64_t stride = 1;
    for (int k = 1; k <= parameter.rank(); ++k) {
      const std::int64_t n = parameter.dim(-k);
      axes_.push_back({output.dim(-k), n == 1 ? 0 : stride});
      stride *= n;
    }
  }
  std::int64_t operator()(std::int64_t i) const {
    std::int64_t at = 0;
    for (const auto& [size, stride] : axes_) at += i % size * stride, i /= size;
    return at;
  }

 private:
  struct Axis {
    std::int64_t size, stride;
  };
  SmallVector<Axis, 6> axes_;
};

// The order of TensorFlow: all samples of a parameter, then those of the next; in the output the
// parameters are the last axes. `sample(p, index)` is sample number `index`, of parameter p.
template <class T, class F>
void draw_each(KernelContext& c, std::int64_t parameters, F sample) {
  T* out = c.out<T>();
  const std::int64_t samples = parameters ? c.out().size / parameters : 0;
  parallel_for(c.out().size, 1 << 9, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / samples;
      out[i % samples * parameters + p] = sample(p, static_cast<std::uint64_t>(i));
    }
  });
}
// ---- gamma
void fill_gamma(KernelContext& c, const Philox& gen, int alpha_input) {
  dispatch_floats(c.out().dtype, [&]<class T>() {
    const T* alpha = c.in<T>(alpha_input);
    draw_each<T>(c, c.in(alpha_input).size, [&](std::int64_t p, std::uint64_t i) {
      const auto x = functors::sample_gamma(static_cast<double>(alpha[p]), own_stream(gen, i));
      return static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(x));
    });
  });
}
void gamma_cpu(KernelContext& c) noexcept { fill_gamma(c, from_attrs(c, kReservedPerNumber), 1); }
void seeded_gamma_cpu(KernelContext& c) noexcept { fill_gamma(c, from_seed(c, 1), 2); }
void keyed_gamma_cpu(KernelContext& c) noexcept {
  const Philox gen = from_key(c);
  if (!c.failed()) fill_gamma(c, gen, 4);
}
RILL_KERNEL("RandomGamma", cpu, kFloatTypes, gamma_cpu);
RILL_KERNEL("StatelessRandomGammaV2", cpu, kIndexTypes, seeded_gamma_cpu);
RILL_KERNEL("StatelessRandomGammaV3", cpu, kIndexTypes, keyed_gamma_cpu);
const BinaryKernels<functors::GammaSlope, float, double> gamma_slope("RandomGammaGrad");

// ---- counts
// float, double, the half types and two integers.
template <class F>
void dispatch_counts(DType dtype, F&& body) {
  dispatch_types<float, double, half, bfloat16_t, std::int32_t, std::int64_t>(dtype, body);
}

void fill_poisson(KernelContext& c, const Philox& gen, int rate_input) {
  dispatch_counts(c.in(rate_input).dtype, [&]<class R>() {
    const R* rate = c.in<R>(rate_input);
    dispatch_counts(c.out().dtype, [&]<class T>() {
      draw_each<T>(c, c.in(rate_input).size, [&](std::int64_t p, std::uint64_t i) {
        return as_count<T>(
            functors::sample_poisson(static_cast<double>(rate[p]), own_stream(gen, i)));
      });
    });
  });
}
void poisson_cpu(KernelContext& c) noexcept {
  fill_poisson(c, from_attrs(c, kReservedPerNumber), 1);
}
void seeded_poisson_cpu(KernelContext& c) noexcept { fill_poisson(c, from_seed(c, 1), 2); }
RILL_KERNEL("RandomPoissonV2", cpu, kIndexTypes, poisson_cpu);
RILL_KERNEL("StatelessRandomPoisson", cpu, kIndexTypes, seeded_poisson_cpu);

// Returns how many pairs of parameters there are.
std::int64_t fill_binomial(KernelContext& c, const Philox& gen, int first) {
  const TensorShape &counts = c.in_shape(first), &probs = c.in_shape(first + 1);
  const BroadcastPlace at_count(counts, c.out_shape()), at_prob(probs, c.out_shape());
  std::int64_t batches = 1;
  for (int k = 1; k <= std::max(counts.rank(), probs.rank()); ++k) batches *= c.out_shape().dim(-k);
  dispatch_counts(c.in(first).dtype, [&]<class P>() {
    const P *count = c.in<P>(first), *prob = c.in<P>(first + 1);
    dispatch_counts(c.out().dtype, [&]<class T>() {
      draw_each<T>(c, batches, [&](std::int64_t p, std::uint64_t i) {
        return as_count<T>(
            functors::sample_binomial<P>(count[at_count(p)], prob[at_prob(p)], gen, i));
      });
    });
  });
  return batches;
}
void seeded_binomial_cpu(KernelContext& c) noexcept { fill_binomial(c, from_seed(c, 1), 2); }
RILL_KERNEL("StatelessRandomBinomial", cpu, kFloatTypes | kIndexTypes, seeded_binomial_cpu);

// ---- the state of a Generator: [counter low, counter high, key]
bool is_state(KernelContext& c, std::int64_t algorithm) {
  if (algorithm != 1 && algorithm != 3)
    c.fail(Code::unimplemented,
           format("[{}] algorithm {} is not implemented; use Philox (1) or auto (3)", c.tag(),
                  algorithm));
  else if (c.in(0).dtype != int64 || c.in(0).size != 3)
    c.fail(Code::invalid_argument,
           format("[{}] a state is three int64: counter (2) and key; got {} {}", c.tag(),
                  c.in(0).dtype, c.in_shape(0)));
  return !c.failed();
}
// Behind so many numbers, of 256 groups each, on the counter of 128 bits.
void skip_numbers(std::int64_t* state, std::uint64_t numbers) {
  const std::uint64_t step = numbers << 8, low = static_cast<std::uint64_t>(state[0]) + step;
  const bool carry = low < step;
  state[0] = static_cast<std::int64_t>(low);
  state[1] =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(state[1]) + (numbers >> 56) + carry);
}
void read_and_skip_cpu(KernelContext& c) noexcept {
  if (!is_state(c, *c.in<std::int32_t>(1))) return;
  auto* state = c.var<std::int64_t>(0);
  std::copy_n(state, 3, c.out<std::int64_t>());
  skip_numbers(state, *c.in<std::uint64_t>(2));
}
RILL_KERNEL("RngReadAndSkip", cpu, TypeSet{}, read_and_skip_cpu);

void stateful_binomial_cpu(KernelContext& c) noexcept {
  if (!is_state(c, *c.in<std::int64_t>(1))) return;
  auto* state = c.var<std::int64_t>(0);
  const auto word = [&](int i) { return static_cast<std::uint64_t>(state[i]); };
  const std::int64_t batches = fill_binomial(c, Philox(word(2), word(0), word(1)), 3);
  const std::int64_t samples = batches ? c.out().size / batches : 0;
  skip_numbers(state, static_cast<std::uint64_t>(batches * 2 * 100 * (samples + 3) / 4));
}
RILL_KERNEL("StatefulRandomBinomial", cpu, kFloatTypes | kIndexTypes, stateful_binomial_cpu);

// ---- normal between bounds
// The samples share one generator, so they are drawn by one thread. The half types are computed in
// float.
void bounded_normal_cpu(KernelContext& c) noexcept {
  int rank = 0;
  for (int i = 2; i < 6; ++i) rank = std::max(rank, c.in_shape(i).rank());
  std::int64_t batches = 1;
  for (int k = 1; k <= rank; ++k) batches *= c.out_shape().dim(-k);
  const std::int64_t samples = batches ? c.out().size / batches : 0;
  Philox gen = from_seed(c, 1);
  dispatch_floats(c.out().dtype, [&]<class T>() {
    using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
    T* out = c.out<T>();
    const auto parameter = [&](int i, std::int64_t p) {
      return static_cast<Wide>(c.in<T>(i)[BroadcastPlace(c.in_shape(i), c.out_shape())(p)]);
    };
    for (std::int64_t p = 0; p < batches && samples > 0; ++p) {
      const functors::BoundedNormal<Wide> normal(parameter(2, p), parameter(3, p), parameter(4, p),
                                                 parameter(5, p));
      if (!normal.valid())
        return c.fail(
            Code::invalid_argument,
            format("[{}] mean {}, stddev {} and bounds [{}, {}]: expected a positive "
                   "stddev, minval below maxval, and one of them finite",
                   c.tag(), parameter(2, p), parameter(3, p), parameter(4, p), parameter(5, p)));
      if (!normal.draw(gen, samples,
                       [&](std::int64_t k, Wide x) { out[k * batches + p] = static_cast<T>(x); }))
        return c.fail(Code::internal,
                      format("[{}] 1000 draws in a row were rejected: the bounds [{}, {}] are too "
                             "far from the mean {}",
                             c.tag(), parameter(4, p), parameter(5, p), parameter(2, p)));
    }
  });
}
RILL_KERNEL("StatelessParameterizedTruncatedNormal", cpu, kIndexTypes, bounded_normal_cpu);

}  // namespace
}  // namespace rill::cpu
