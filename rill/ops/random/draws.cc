// Random ops of distributions with parameters: gamma, Poisson, binomial, normal between bounds.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/random_helpers.h"
#include "rill/ops/random/seeds.h"
#include "rill/ops/random/stateless.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

constexpr TypeSet kCountTypes = kFloatTypes | kIndexTypes;

// The shape that the parameters from input `first` on broadcast to is the end of the output's,
// which input `sizes` holds.
void require_end(ShapeContext& c, int sizes, int first) {
  TensorShape end = c.input(first);
  for (int i = first + 1; i < c.num_inputs(); ++i) end = broadcast_shapes(end, c.input(i), c.tag());
  const TensorShape out = c.input_as_shape(sizes);
  if (c.input_value(sizes)) checked_num_elements(out.dims(), c.tag());
  c.set_output(0, out);
  if (!out.has_rank() || !end.has_rank()) return;
  bool fits = end.rank() <= out.rank();
  for (int k = 1; fits && k <= end.rank(); ++k)
    fits = out.dim(-k) < 0 || end.dim(-k) < 0 || out.dim(-k) == end.dim(-k);
  RILL_CHECK(fits, invalid_argument,
             "[{}] the shape {} must end with that of the parameters, {}: broadcast them, or add "
             "axes in front of the shape",
             c.tag(), out, end);
}
// The samples of each parameter: shape + parameter.shape.
void appended_shape(ShapeContext& c) {
  sizes_shape(c);
  TensorShape out = c.input_as_shape(0);
  if (!out.has_rank() || !c.input(1).has_rank()) return c.set_output(0, TensorShape());
  for (std::int64_t d : c.input(1).dims()) out.push_back(d);
  if (out.is_fully_defined()) checked_num_elements(out.dims(), c.tag());
  c.set_output(0, out);
}
void seeded_parameter_shape(ShapeContext& c) {
  require_two_words(c, 1);
  require_end(c, 0, 2);
}

// ---- gamma
const Op& gamma_slope_op =
    OpBuilder("RandomGammaGrad", "random.gamma_grad")
        .input("alpha: T")
        .input("sample: T")
        .output("output: T")
        .type("T", kRealFloatTypes)
        .doc("How a gamma variable changes with its parameter at the same quantile.")
        .shape(broadcast_shape)
        .no_gradient()
        .define();
// Figurnov et al., "Implicit reparameterization gradients": a sample stays at its quantile.
void gamma_gradient(GradContext& g, int alpha) {
  const DType d = g.dy().dtype();
  const bool narrow = d != float64 && d != float32;
  const auto wide = [&](const Tensor& t) { return narrow ? cast(t, float32) : t; };
  const Tensor slope = execute(gamma_slope_op, {wide(g.input(alpha)), wide(g.output())});
  set_reduced(g, alpha, g.dy() * (narrow ? cast(slope, d) : slope));
}

const Op& gamma_op = OpBuilder("RandomGamma", "random.gamma")
                         .input("shape: S")
                         .input("alpha: T")
                         .output("output: T")
                         .attr("seed: int = 0")
                         .attr("seed2: int = 0")
                         .attr("_offset: int = 0")
                         .type("S", kIndexTypes)
                         .type("T", kFloatTypes)
                         .doc("Gamma variables of rate 1.")
                         .shape(appended_shape)
                         .gradient([](GradContext& g) { gamma_gradient(g, 1); }, "alpha output")
                         .random()
                         .host("shape")
                         .define();
[[maybe_unused]] const Op& seeded_gamma_op =
    OpBuilder("StatelessRandomGammaV2", "random.stateless_gamma")
        .input("shape: T")
        .input("seed: Tseed")
        .input("alpha: dtype")
        .output("output: dtype")
        .type("dtype", kFloatTypes)
        .type("T", kIndexTypes)
        .type("Tseed", kIndexTypes, int64)
        .doc("Gamma variables of rate 1, from a seed.")
        .shape(seeded_parameter_shape)
        .gradient([](GradContext& g) { gamma_gradient(g, 2); }, "alpha output")
        .host("shape seed")
        .define();
void keyed_gamma_shape(ShapeContext& c) {
  require_key_and_counter(c);
  require_end(c, 0, 4);
}
const Op& keyed_gamma_op =
    OpBuilder("StatelessRandomGammaV3", "random.stateless_gamma")
        .input("shape: shape_dtype")
        .input("key: uint64")
        .input("counter: uint64")
        .input("alg: int32")
        .input("alpha: dtype")
        .output("output: dtype")
        .type("dtype", kFloatTypes)
        .type("shape_dtype", kIndexTypes, int32)
        .doc("Gamma variables of rate 1, from key and counter.")
        .shape(keyed_gamma_shape)
        .gradient([](GradContext& g) { gamma_gradient(g, 4); }, "alpha output")
        .host("shape key counter alg")
        .define();

// ---- counts
const Op& poisson_op = OpBuilder("RandomPoissonV2", "random.poisson")
                           .input("shape: S")
                           .input("rate: R")
                           .output("output: dtype")
                           .attr("seed: int = 0")
                           .attr("seed2: int = 0")
                           .attr("_offset: int = 0")
                           .type("S", kIndexTypes)
                           .type("R", kCountTypes, float64)
                           .type("dtype", kCountTypes, int64)
                           .doc("Poisson variables.")
                           .shape(appended_shape)
                           .no_gradient()
                           .random()
                           .host("shape")
                           .define();
const Op& seeded_poisson_op = OpBuilder("StatelessRandomPoisson", "random.stateless_poisson")
                                  .input("shape: T")
                                  .input("seed: Tseed")
                                  .input("lam: Rtype")
                                  .output("output: dtype")
                                  .type("Rtype", kCountTypes)
                                  .type("dtype", kCountTypes)
                                  .type("T", kIndexTypes)
                                  .type("Tseed", kIndexTypes, int64)
                                  .doc("Poisson variables, from a seed.")
                                  .shape(seeded_parameter_shape)
                                  .no_gradient()
                                  .host("shape seed")
                                  .define();
const Op& seeded_binomial_op = OpBuilder("StatelessRandomBinomial", "random.stateless_binomial")
                                   .input("shape: S")
                                   .input("seed: Tseed")
                                   .input("counts: T")
                                   .input("probs: T")
                                   .output("output: dtype")
                                   .type("S", kIndexTypes)
                                   .type("Tseed", kIndexTypes, int64)
                                   .type("T", kCountTypes, float64)
                                   .type("dtype", kCountTypes, int64)
                                   .doc("Binomial variables, from a seed.")
                                   .shape(seeded_parameter_shape)
                                   .no_gradient()
                                   .host("shape seed")
                                   .define();
const Op& stateful_binomial_op = OpBuilder("StatefulRandomBinomial", "Generator.binomial")
                                     .input("resource: resource")
                                     .input("algorithm: int64")
                                     .input("shape: S")
                                     .input("counts: T")
                                     .input("probs: T")
                                     .output("output: dtype")
                                     .type("S", kIndexTypes)
                                     .type("T", kCountTypes, float64)
                                     .type("dtype", kCountTypes, int64)
                                     .doc("Binomial variables, from the state of a generator.")
                                     .shape([](ShapeContext& c) { require_end(c, 2, 3); })
                                     .no_gradient()
                                     .variable(VariableUse::update)
                                     .stateful()
                                     .host("algorithm shape")
                                     .define();

// ---- normal between bounds
// As for gamma. With standardised bounds l and h, and the quantile p of the sample z:
// dz/dh = p phi(h) / phi(z), dz/dl = (1 - p) phi(l) / phi(z).
void bounded_gradient(GradContext& g) {
  const Tensor &mean = g.input(2), &stddev = g.input(3);
  const Tensor low = (g.input(4) - mean) / stddev, high = (g.input(5) - mean) / stddev;
  const Tensor z = (g.output() - mean) / stddev;
  const auto below = [](const Tensor& x) { return 0.5 * erfc(x * -0.70710678118654752); };
  const double epsilon = z.dtype() == float64 ? 0x1p-52 : 0x1p-23;
  const double tiny = z.dtype() == float64 ? 0x1p-1022 : 0x1p-126;
  const Tensor p =
      clip_by_value((below(z) - below(low)) / (below(high) - below(low)), tiny, 1 - epsilon);
  const Tensor &dy = g.dy(), half_square = 0.5 * square(z);
  set_reduced(g, 2, dy);
  set_reduced(g, 3, dy * z);
  set_reduced(g, 4, dy * exp(half_square - 0.5 * square(low) + log1p(-p)));
  set_reduced(g, 5, dy * exp(half_square - 0.5 * square(high) + log(p)));
}
const Op& bounded_op = OpBuilder("StatelessParameterizedTruncatedNormal",
                                 "random.stateless_parameterized_truncated_normal")
                           .input("shape: S")
                           .input("seed: Tseed")
                           .input("means: dtype")
                           .input("stddevs: dtype")
                           .input("minvals: dtype")
                           .input("maxvals: dtype")
                           .output("output: dtype")
                           .type("dtype", kFloatTypes)
                           .type("S", kIndexTypes)
                           .type("Tseed", kIndexTypes, int64)
                           .doc("Normal variables between bounds, from a seed.")
                           .shape(seeded_parameter_shape)
                           .gradient(bounded_gradient, "means stddevs minvals maxvals output")
                           .host("shape seed")
                           .define();

// ---- rows in another order
void stateless_shuffle_shape(ShapeContext& c) {
  require_key_and_counter(c);
  c.set_output(0, c.input(0));
}
const Op& stateless_shuffle_op = OpBuilder("StatelessShuffle", "random.stateless_shuffle")
                                     .input("value: T")
                                     .input("key: uint64")
                                     .input("counter: uint64")
                                     .input("alg: int32")
                                     .output("output: T")
                                     .type("T", kAllTypes)
                                     .doc(
                                         "The rows of a tensor in random order, from key and "
                                         "counter.")
                                     .shape(stateless_shuffle_shape)
                                     .no_gradient()
                                     .host("key counter alg")
                                     .define();

// The least normal number of a dtype: TensorFlow's samples of gamma variables are no smaller.
double least_normal(DType d) {
  return d == float64 ? 0x1p-1022 : d == float16 ? 0x1p-14 : 0x1p-126;
}
struct GammaArguments {
  GammaArguments(const Operand& a, const Operand& b, DType dtype)
      : beta(to_tensor(b, b.is_literal() ? dtype : DType())) {
    const Tensor given = to_tensor(a, a.is_literal() ? dtype : DType());
    RILL_CHECK(given.dtype() == dtype && beta.dtype() == dtype, invalid_argument,
               "[random.gamma] alpha is {} and beta {}; dtype is {}. Write tf::cast(alpha, tf::{})",
               given.dtype(), beta.dtype(), dtype, dtype);
    alpha = beta.ndim() == 0 ? given : given + zeros_like(beta);
  }
  Tensor scaled(const Tensor& samples) const {
    return maximum(samples / beta, to_tensor(least_normal(beta.dtype()), beta.dtype()));
  }
  Tensor alpha, beta;
};
// What n samples of each of the parameters take from a stream.
RandomStream parameter_stream(std::int64_t seed, const Tensor& sizes, const Tensor& parameter) {
  if (call_context().executor) return graph_stream(seed);
  std::int64_t n = parameter.size();
  for (std::int64_t d : as_dims(sizes, "random"))
    if (__builtin_mul_overflow(n, std::max<std::int64_t>(d, 0), &n)) n = 0;  // refused by the op
  return next_stream(seed, n);
}

}  // namespace

namespace random {

Tensor gamma(const Operand& shape, const Operand& alpha, const Operand& beta, Options o) {
  const GammaArguments a(alpha, beta, o.dtype);
  const Tensor sizes = sizes_of(shape);
  const RandomStream s = parameter_stream(o.seed, sizes, a.alpha);
  return a.scaled(execute(gamma_op, {sizes, a.alpha},
                          {{"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}}));
}
Tensor poisson(const Operand& shape, const Operand& lam, Options o) {
  const Arg rate(lam, lam.is_literal() ? float32 : DType());
  const Tensor sizes = sizes_of(shape);
  const RandomStream s = parameter_stream(o.seed, sizes, *rate);
  return execute(poisson_op, {sizes, rate},
                 {{"dtype", o.dtype}, {"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}});
}

Tensor stateless_gamma(const Operand& shape, const Operand& seed, const Operand& alpha,
                       const Operand& beta, DType dtype) {
  const GammaArguments a(alpha, beta, dtype);
  const std::vector<Tensor> key = key_and_counter(seed);
  return a.scaled(
      execute(keyed_gamma_op, {sizes_of(shape), key[0], key[1], to_tensor(kPhilox), a.alpha}));
}
Tensor stateless_poisson(const Operand& shape, const Operand& seed, const Operand& lam,
                         DType dtype) {
  return execute(seeded_poisson_op,
                 {sizes_of(shape), Arg(seed), Arg(lam, lam.is_literal() ? float32 : DType())},
                 {{"dtype", dtype}});
}
Tensor stateless_binomial(const Operand& shape, const Operand& seed, const Operand& counts,
                          const Operand& probs, DType output_dtype) {
  const Arg p(probs, probs.is_literal() ? float32 : DType());
  const Arg n(counts, counts.is_literal() ? p->dtype() : DType());
  return execute(seeded_binomial_op, {sizes_of(shape), Arg(seed), n, p}, {{"dtype", output_dtype}});
}
Tensor stateless_parameterized_truncated_normal(const Operand& shape, const Operand& seed,
                                                const Operand& means, const Operand& stddevs,
                                                const Operand& minvals, const Operand& maxvals) {
  DType d;
  for (const Operand* x : {&means, &stddevs, &minvals, &maxvals})
    if (!x->is_literal() && !d.defined()) d = to_tensor(*x).dtype();
  if (!d.defined()) d = float32;
  const auto as = [&](const Operand& x) { return to_tensor(x, x.is_literal() ? d : DType()); };
  return execute(bounded_op,
                 {sizes_of(shape), Arg(seed), as(means), as(stddevs), as(minvals), as(maxvals)});
}
Tensor stateless_shuffle(const Operand& value, const Operand& seed) {
  const std::vector<Tensor> key = key_and_counter(seed);
  return execute(stateless_shuffle_op, {Arg(value), key[0], key[1], to_tensor(kPhilox)});
}

}  // namespace random

Tensor stateful_binomial(const Tensor& state, const Operand& shape, const Operand& counts,
                         const Operand& probs, DType dtype) {
  const Arg p(probs, probs.is_literal() ? float32 : DType());
  const Arg n(counts, counts.is_literal() ? p->dtype() : DType());
  return execute(stateful_binomial_op,
                 {state, to_tensor(std::int64_t{kPhilox}, int64), sizes_of(shape), n, p},
                 {{"dtype", dtype}});
}

}  // namespace rill
