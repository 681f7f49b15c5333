#pragma once
#include <cstdint>
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
// Drawn again while more than two deviations from the mean.
Tensor truncated_normal(const Operand& shape, double mean = 0, double stddev = 1,
                        Options options = {});
// Rows in random order.
Tensor shuffle(const Operand& value, std::int64_t seed = -1);
// [batch, classes] unnormalised log-probabilities -> [batch, num_samples] classes.
Tensor categorical(const Operand& logits, const Operand& num_samples, DType dtype = int64,
                   std::int64_t seed = -1);

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

// A stream of its own, whose state is a variable that can be saved. Streams
// made from one seed are TensorFlow's.
class Generator;
Generator get_global_generator();
void set_global_generator(const Generator& generator);

class Generator {
 public:
  static Generator from_seed(std::int64_t seed);
  static Generator from_state(const Operand& state);  // int64 [3]: counter, key
  static Generator from_non_deterministic_state();

  Tensor uniform(const Operand& shape, double minval = 0, double maxval = 1,
                 DType dtype = float32) const;
  Tensor uniform_int(const Operand& shape, const Operand& minval, const Operand& maxval,
                     DType dtype = int32) const;
  Tensor normal(const Operand& shape, double mean = 0, double stddev = 1,
                DType dtype = float32) const;
  Tensor truncated_normal(const Operand& shape, double mean = 0, double stddev = 1,
                          DType dtype = float32) const;
  // Seeds for stateless ops: int64 [2, count].
  Tensor make_seeds(std::int64_t count = 1) const;
  void skip(std::int64_t delta) const;
  void reset_from_seed(std::int64_t seed) const;
  Tensor state() const;
  const Tensor& state_handle() const { return state_; }

 private:
  friend Generator get_global_generator();
  explicit Generator(const Tensor& state);
  std::vector<Tensor> take(const Operand& shape) const;  // key, counter
  Tensor state_;                                         // resource of a variable
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
