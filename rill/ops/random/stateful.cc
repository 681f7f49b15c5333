// Random ops with seeds as attributes and a stream that continues.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/random_helpers.h"
#include "rill/ops/random/seeds.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

OpBuilder random_op(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.input("shape: T")
      .output("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("_offset: int = 0")
      .type("dtype", kFloatTypes)
      .type("T", kIndexTypes)
      .shape(sizes_shape)
      .no_gradient()
      .random()
      .host("shape");
  return b;
}
const Op& uniform_op =
    random_op("RandomUniform", "random.uniform").doc("Uniform in [0, 1).").define();
const Op& normal_op = random_op("RandomStandardNormal", "random.normal")
                          .doc("Normal with mean 0 and deviation 1.")
                          .define();
const Op& truncated_op = random_op("TruncatedNormal", "random.truncated_normal")
                             .doc("Normal, drawn again beyond two deviations.")
                             .define();

void int_shape(ShapeContext& c) {
  require_rank(c, 1, 0, "minval");
  require_rank(c, 2, 0, "maxval");
  sizes_shape(c);
}
const Op& uniform_int_op = OpBuilder("RandomUniformInt", "random.uniform")
                               .input("shape: T")
                               .input("minval: Tout")
                               .input("maxval: Tout")
                               .output("output: Tout")
                               .attr("seed: int = 0")
                               .attr("seed2: int = 0")
                               .attr("_offset: int = 0")
                               .type("Tout", kIndexTypes)
                               .type("T", kIndexTypes)
                               .doc("Uniform integers in [minval, maxval).")
                               .shape(int_shape)
                               .no_gradient()
                               .random()
                               .host("shape")
                               .define();

// The gradient goes back to where the rows came from: no closed form without
// the permutation, so none, as in TensorFlow.
const Op& shuffle_op = OpBuilder("RandomShuffle", "random.shuffle")
                           .input("value: T")
                           .output("output: T")
                           .attr("seed: int = 0")
                           .attr("seed2: int = 0")
                           .attr("_offset: int = 0")
                           .type("T", kAllTypes)
                           .doc("The rows of a tensor in random order.")
                           .shape(unchanged_shape)
                           .no_gradient()
                           .random()
                           .define();

const Op& multinomial_op = OpBuilder("Multinomial", "random.categorical")
                               .input("logits: T")
                               .input("num_samples: int32")
                               .output("output: output_dtype")
                               .attr("seed: int = 0")
                               .attr("seed2: int = 0")
                               .attr("_offset: int = 0")
                               .type("T", kFloatTypes)
                               .type("output_dtype", kIndexTypes, int64)
                               .doc("Classes drawn by their unnormalised log-probabilities.")
                               .shape(multinomial_shape)
                               .no_gradient()
                               .random()
                               .host("num_samples")
                               .define();

// The stream of a call that draws count() numbers.
template <class F>
RandomStream stream(std::int64_t seed, F count) {
  return call_context().executor ? graph_stream(seed) : next_stream(seed, count());
}

std::int64_t count(const Tensor& sizes) {
  std::int64_t n = 1;
  for (std::int64_t d : as_dims(sizes, "random"))
    if (__builtin_mul_overflow(n, std::max<std::int64_t>(d, 0), &n))
      return 0;  // the op will refuse such a shape
  return n;
}

Tensor draw(const Op& op, const Operand& shape, random::Options o) {
  const Tensor sizes = sizes_of(shape);
  const RandomStream s = stream(o.seed, [&] { return count(sizes); });
  return execute(op, {sizes},
                 {{"dtype", o.dtype}, {"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}});
}

}  // namespace

namespace random {

Tensor uniform(const Operand& shape, double minval, double maxval, Options o) {
  if (!o.dtype.is_integer()) return affine(draw(uniform_op, shape, o), maxval - minval, minval);
  RILL_CHECK(minval == static_cast<double>(static_cast<std::int64_t>(minval)) &&
                 maxval == static_cast<double>(static_cast<std::int64_t>(maxval)),
             invalid_argument,
             "[random.uniform] bounds {} and {} of an integer dtype must be whole", minval, maxval);
  RILL_CHECK(minval < maxval, invalid_argument,
             "[random.uniform] minval {} must be below maxval {} for dtype {}", minval, maxval,
             o.dtype);
  const Tensor sizes = sizes_of(shape);
  const RandomStream s = stream(o.seed, [&] { return count(sizes); });
  const Tensor lo = to_tensor(static_cast<std::int64_t>(minval), o.dtype),
               hi = to_tensor(static_cast<std::int64_t>(maxval), o.dtype);
  return execute(uniform_int_op, {sizes, lo, hi},
                 {{"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}});
}
Tensor uniform(const Operand& shape, int minval, int maxval, Options o) {
  return uniform(shape, static_cast<double>(minval), static_cast<double>(maxval), o);
}
Tensor normal(const Operand& shape, double mean, double stddev, Options o) {
  return affine(draw(normal_op, shape, o), stddev, mean);
}
Tensor truncated_normal(const Operand& shape, double mean, double stddev, Options o) {
  return affine(draw(truncated_op, shape, o), stddev, mean);
}
Tensor shuffle(const Operand& value, std::int64_t seed) {
  const Arg v(value);
  const RandomStream s =
      stream(seed, [&] { return v->ndim() > 0 ? groups_of_permutation(v->shape().dim(0)) : 0; });
  return execute(shuffle_op, {v}, {{"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}});
}
Tensor shuffle(const Operand& value, ShuffleOptions options) {
  return shuffle(value, options.seed);
}
Tensor categorical(const Operand& logits, const Operand& num_samples, CategoricalOptions o) {
  return categorical(logits, num_samples, o.dtype, o.seed);
}
Tensor categorical(const Operand& logits, const Operand& num_samples, DType dtype,
                   std::int64_t seed) {
  const Arg l(logits), n(num_samples, int32);
  const RandomStream s = stream(seed, [&] {
    return l->ndim() == 2 ? reserved_samples(l->shape().dim(0), n->item<std::int64_t>()) : 0;
  });
  return execute(
      multinomial_op, {l, n},
      {{"output_dtype", dtype}, {"seed", s.seed}, {"seed2", s.seed2}, {"_offset", s.offset}});
}

}  // namespace random

Tensor random_uniform(const Operand& shape, double minval, double maxval, DType dtype,
                      std::int64_t seed) {
  return random::uniform(shape, minval, maxval, {.dtype = dtype, .seed = seed});
}
Tensor random_normal(const Operand& shape, double mean, double stddev, DType dtype,
                     std::int64_t seed) {
  return random::normal(shape, mean, stddev, {.dtype = dtype, .seed = seed});
}
Tensor truncated_normal(const Operand& shape, double mean, double stddev, DType dtype,
                        std::int64_t seed) {
  return random::truncated_normal(shape, mean, stddev, {.dtype = dtype, .seed = seed});
}
Tensor random_shuffle(const Operand& value, std::int64_t seed) {
  return random::shuffle(value, seed);
}

}  // namespace rill
