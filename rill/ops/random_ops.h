#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Random numbers. All come from a counter, never from a thread or from timing:
// with a seed a program gives the same numbers every time, on any number of
// threads. The stateless forms give TensorFlow's own numbers, bit for bit.
namespace rill RILL_API {

namespace random {

struct Options {
  DType dtype = float32;
  std::int64_t seed = -1;  // -1: none
};

// Seeds all of the following ops of the program and starts their streams again.
// Without an op seed the n-th op after it gets the n-th stream. With an op seed
// each op of that seed has its own stream that continues from call to call.
// Eager ops then draw TensorFlow's numbers, with an op seed or without. Traced ops without one draw
// the same numbers in every run of the program, but not TensorFlow's, which depend on how many
// nodes its graph has.
void set_seed(std::int64_t seed);

// Half-open [minval, maxval). Integer dtypes need maxval: the form with bounds.
Tensor uniform(const Operand& shape, double minval = 0, double maxval = 1, Options options = {});
Tensor uniform(const Operand& shape, int minval, int maxval, Options options);
Tensor normal(const Operand& shape, double mean = 0, double stddev = 1, Options options = {});
// Options right behind the shape. (Templates, so that {} is a number.)
template <int = 0>
Tensor uniform(const Operand& shape, Options options) {
  return uniform(shape, 0., 1., std::move(options));
}
template <int = 0>
Tensor normal(const Operand& shape, Options options) {
  return normal(shape, 0., 1., std::move(options));
}
// Drawn again while more than two deviations from the mean.
Tensor truncated_normal(const Operand& shape, double mean = 0, double stddev = 1,
                        Options options = {});
// Rows in random order.
struct ShuffleOptions {
  std::int64_t seed = -1;  // -1: none
};
Tensor shuffle(const Operand& value, std::int64_t seed = -1);
Tensor shuffle(const Operand& value, ShuffleOptions options);
// [batch, classes] unnormalised log-probabilities -> [batch, num_samples] classes.
Tensor categorical(const Operand& logits, const Operand& num_samples, DType dtype = int64,
                   std::int64_t seed = -1);
struct CategoricalOptions {
  DType dtype = int64;
  std::int64_t seed = -1;
};
Tensor categorical(const Operand& logits, const Operand& num_samples, CategoricalOptions options);
// Samples of each alpha (and rate beta, which broadcast): shape + alpha.shape. The gradients by
// alpha and beta keep each sample at its quantile.
Tensor gamma(const Operand& shape, const Operand& alpha, const Operand& beta = 1,
             Options options = {});
// Samples of each rate: shape + lam.shape, floating-point or int32 or int64.
Tensor poisson(const Operand& shape, const Operand& lam, Options options = {});

// `seed`: two integers. A pure function of its arguments.
Tensor stateless_uniform(const Operand& shape, const Operand& seed, double minval = 0,
                         double maxval = 1, DType dtype = float32);
Tensor stateless_uniform_int(const Operand& shape, const Operand& seed, const Operand& minval,
                             const Operand& maxval, DType dtype = int32);
// All integers of int32, int64, uint32 or uint64 alike.
Tensor stateless_uniform_full_int(const Operand& shape, const Operand& seed, DType dtype = uint64);
Tensor stateless_normal(const Operand& shape, const Operand& seed, double mean = 0,
                        double stddev = 1, DType dtype = float32);
Tensor stateless_truncated_normal(const Operand& shape, const Operand& seed, double mean = 0,
                                  double stddev = 1, DType dtype = float32);
Tensor stateless_categorical(const Operand& logits, const Operand& num_samples, const Operand& seed,
                             DType dtype = int64);
// Of distributions with parameters, to whose shape, broadcast, `shape` must end. Those of
// floating-point parameters have gradients: each sample stays at its quantile.
Tensor stateless_gamma(const Operand& shape, const Operand& seed, const Operand& alpha,
                       const Operand& beta = 1, DType dtype = float32);
Tensor stateless_poisson(const Operand& shape, const Operand& seed, const Operand& lam,
                         DType dtype = int32);
Tensor stateless_binomial(const Operand& shape, const Operand& seed, const Operand& counts,
                          const Operand& probs, DType output_dtype = int32);
// Normal numbers between bounds, of which one may be infinite.
Tensor stateless_parameterized_truncated_normal(const Operand& shape, const Operand& seed,
                                                const Operand& means = 0,
                                                const Operand& stddevs = 1,
                                                const Operand& minvals = -2,
                                                const Operand& maxvals = 2);
// Rows in random order.
Tensor stateless_shuffle(const Operand& value, const Operand& seed);

// A stream of its own, whose state is a variable that can be saved. Streams
// made from one seed are TensorFlow's.
class Generator;
Generator get_global_generator();
void set_global_generator(const Generator& generator);

class Generator {
 public:
  static Generator from_seed(std::int64_t seed);
  static Generator from_state(const Operand& state);  // int64 [3]: counter, key
  static Generator from_key_counter(const Operand& key, const Operand& counter);
  static Generator from_non_deterministic_state();

  Tensor uniform(const Operand& shape, double minval = 0, double maxval = 1,
                 DType dtype = float32) const;
  struct UniformOptions;
  // Of integers, too: all of them, unless maxval is given.
  Tensor uniform(const Operand& shape, const UniformOptions& options) const;
  Tensor uniform_int(const Operand& shape, const Operand& minval, const Operand& maxval,
                     DType dtype = int32) const;
  Tensor normal(const Operand& shape, double mean = 0, double stddev = 1,
                DType dtype = float32) const;
  Tensor truncated_normal(const Operand& shape, double mean = 0, double stddev = 1,
                          DType dtype = float32) const;
  // All integers of int32, int64, uint32 or uint64 alike.
  Tensor uniform_full_int(const Operand& shape, DType dtype = uint64) const;
  // `shape` must end with that of counts and probs, broadcast.
  Tensor binomial(const Operand& shape, const Operand& counts, const Operand& probs,
                  DType dtype = int32) const;
  // Seeds for stateless ops: int64 [2, count].
  Tensor make_seeds(std::int64_t count = 1) const;
  // Generators independent of each other and of this one.
  std::vector<Generator> split(std::int64_t count = 1) const;
  void skip(std::int64_t delta) const;
  void reset(const Operand& state) const;
  void reset_from_seed(std::int64_t seed) const;
  void reset_from_key_counter(const Operand& key, const Operand& counter) const;
  Tensor state() const;
  Tensor key() const;  // a scalar
  const Tensor& state_handle() const { return state_; }

 private:
  friend Generator get_global_generator();
  explicit Generator(const Tensor& state);
  std::vector<Tensor> take(const Operand& shape) const;  // key, counter
  Tensor state_;                                         // resource of a variable
};

struct Generator::UniformOptions {
  double minval = 0;
  std::optional<double> maxval = {};  // not given: 1, and of integers the end of their range
  DType dtype = float32;
};

}  // namespace random

// The names of TensorFlow 1.
Tensor random_uniform(const Operand& shape, double minval = 0, double maxval = 1,
                      DType dtype = float32, std::int64_t seed = -1);
Tensor random_normal(const Operand& shape, double mean = 0, double stddev = 1,
                     DType dtype = float32, std::int64_t seed = -1);
Tensor truncated_normal(const Operand& shape, double mean = 0, double stddev = 1,
                        DType dtype = float32, std::int64_t seed = -1);
Tensor random_shuffle(const Operand& value, std::int64_t seed = -1);
void set_random_seed(std::int64_t seed);

}  // namespace RILL_API
