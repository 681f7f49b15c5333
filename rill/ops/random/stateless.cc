// Random ops as pure functions of a seed (first forms) or of key and counter (V2).
#include "rill/ops/random/stateless.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/random_helpers.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

void seeded_shape(ShapeContext& c) {
  require_two_words(c, 1);
  sizes_shape(c);
}
void keyed_shape(ShapeContext& c) {
  require_key_and_counter(c);
  sizes_shape(c);
}

OpBuilder seeded(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.input("shape: T")
      .input("seed: Tseed")
      .output("output: dtype")
      .type("dtype", kFloatTypes, float32)
      .type("T", kIndexTypes, int32)
      .type("Tseed", kIndexTypes, int64)
      .shape(seeded_shape)
      .no_gradient()
      .host("shape seed");
  return b;
}
OpBuilder keyed(const char* name, const char* tag) {
  OpBuilder b(name, tag);
  b.input("shape: Tshape")
      .input("key: uint64")
      .input("counter: uint64")
      .input("alg: int32")
      .output("output: dtype")
      .type("dtype", kFloatTypes, float32)
      .type("Tshape", kIndexTypes, int32)
      .shape(keyed_shape)
      .no_gradient()
      .host("shape key counter alg");
  return b;
}
const Op& stateless_uniform_op = seeded("StatelessRandomUniform", "random.stateless_uniform")
                                     .doc("Uniform in [0, 1), from a seed.")
                                     .define();
const Op& stateless_normal_op = seeded("StatelessRandomNormal", "random.stateless_normal")
                                    .doc("Standard normal, from a seed.")
                                    .define();
const Op& stateless_truncated_op =
    seeded("StatelessTruncatedNormal", "random.stateless_truncated_normal")
        .doc("Truncated standard normal, from a seed.")
        .define();
const Op& uniform_v2 = keyed("StatelessRandomUniformV2", "random.stateless_uniform")
                           .doc("Uniform in [0, 1), from key and counter.")
                           .define();
const Op& normal_v2 = keyed("StatelessRandomNormalV2", "random.stateless_normal")
                          .doc("Standard normal, from key and counter.")
                          .define();
const Op& truncated_v2 = keyed("StatelessTruncatedNormalV2", "random.stateless_truncated_normal")
                             .doc("Truncated standard normal, from key and counter.")
                             .define();

const Op& stateless_uniform_int_op =
    OpBuilder("StatelessRandomUniformInt", "random.stateless_uniform")
        .input("shape: T")
        .input("seed: Tseed")
        .input("minval: dtype")
        .input("maxval: dtype")
        .output("output: dtype")
        .type("dtype", kIndexTypes)
        .type("T", kIndexTypes)
        .type("Tseed", kIndexTypes, int64)
        .doc("Uniform integers in [minval, maxval), from a seed.")
        .shape(seeded_shape)
        .no_gradient()
        .host("shape seed")
        .define();
const Op& uniform_int_v2 = OpBuilder("StatelessRandomUniformIntV2", "random.stateless_uniform")
                               .input("shape: Tshape")
                               .input("key: uint64")
                               .input("counter: uint64")
                               .input("alg: int32")
                               .input("minval: dtype")
                               .input("maxval: dtype")
                               .output("output: dtype")
                               .type("dtype", kIndexTypes)
                               .type("Tshape", kIndexTypes, int32)
                               .doc("Uniform integers in [minval, maxval), from key and counter.")
                               .shape(keyed_shape)
                               .no_gradient()
                               .host("shape key counter alg")
                               .define();

const Op& stateless_multinomial_op =
    OpBuilder("StatelessMultinomial", "random.stateless_categorical")
        .input("logits: T")
        .input("num_samples: int32")
        .input("seed: Tseed")
        .output("output: output_dtype")
        .type("T", kFloatTypes)
        .type("Tseed", kIndexTypes, int64)
        .type("output_dtype", kIndexTypes, int64)
        .doc("Classes drawn by their unnormalised log-probabilities, from a seed.")
        .shape(multinomial_shape)
        .no_gradient()
        .host("num_samples seed")
        .define();

}  // namespace

namespace random {

Tensor stateless_uniform(const Operand& shape, const Operand& seed, double lo, double hi,
                         DType dtype) {
  return affine(execute(stateless_uniform_op, {sizes_of(shape), Arg(seed)}, {{"dtype", dtype}}),
                hi - lo, lo);
}
Tensor stateless_uniform_int(const Operand& shape, const Operand& seed, const Operand& lo,
                             const Operand& hi, DType dtype) {
  return execute(stateless_uniform_int_op,
                 {sizes_of(shape), Arg(seed), Arg(lo, dtype), Arg(hi, dtype)});
}
Tensor stateless_normal(const Operand& shape, const Operand& seed, double mean, double stddev,
                        DType dtype) {
  return affine(execute(stateless_normal_op, {sizes_of(shape), Arg(seed)}, {{"dtype", dtype}}),
                stddev, mean);
}
Tensor stateless_truncated_normal(const Operand& shape, const Operand& seed, double mean,
                                  double stddev, DType dtype) {
  return affine(execute(stateless_truncated_op, {sizes_of(shape), Arg(seed)}, {{"dtype", dtype}}),
                stddev, mean);
}
Tensor stateless_categorical(const Operand& logits, const Operand& num_samples, const Operand& seed,
                             DType dtype) {
  return execute(stateless_multinomial_op, {Arg(logits), Arg(num_samples, int32), Arg(seed)},
                 {{"output_dtype", dtype}});
}

}  // namespace random

Tensor keyed_uniform(const Operand& shape, const Tensor& key, const Tensor& counter, double lo,
                     double hi, DType dtype) {
  return affine(
      execute(uniform_v2, {sizes_of(shape), key, counter, to_tensor(kPhilox)}, {{"dtype", dtype}}),
      hi - lo, lo);
}
Tensor keyed_uniform_int(const Operand& shape, const Tensor& key, const Tensor& counter,
                         const Tensor& lo, const Tensor& hi) {
  return execute(uniform_int_v2, {sizes_of(shape), key, counter, to_tensor(kPhilox), lo, hi});
}
Tensor keyed_normal(const Operand& shape, const Tensor& key, const Tensor& counter, double mean,
                    double stddev, DType dtype) {
  return affine(
      execute(normal_v2, {sizes_of(shape), key, counter, to_tensor(kPhilox)}, {{"dtype", dtype}}),
      stddev, mean);
}
Tensor keyed_truncated_normal(const Operand& shape, const Tensor& key, const Tensor& counter,
                              double mean, double stddev, DType dtype) {
  return affine(execute(truncated_v2, {sizes_of(shape), key, counter, to_tensor(kPhilox)},
                        {{"dtype", dtype}}),
                stddev, mean);
}

}  // namespace rill
