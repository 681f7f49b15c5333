#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "rill/base/philox.h"
#include "rill/core/half.h"

namespace rill::functors {

// Random numbers as pure functions of a generator's state. For the same seed
// they have the values, bit for bit, of TensorFlow 2.15's stateless operations
// on the CPU.
//
// The fill_*() write elements [begin, begin + out.size()) of the endless stream
// that `gen` is at the start of. So work may be split over threads anywhere:
// each part gets the same `gen` and its own `begin`, and the bits do not depend
// on the split. Parts that begin at a multiple of kRandomGroup draw nothing
// twice.

inline constexpr std::int64_t kRandomGroup = 4;  // multiple of all distributions' group sizes

// ---- seeds ----

// The generator for a seed of two integers, as the stateless operations
// (StatelessRandomUniform and its kin) and StatelessRandomGetKeyCounter scramble
// it; 32-bit seeds are sign-extended first.
RILL_API Philox stateless_generator(std::int64_t seed0, std::int64_t seed1);

// The generator of the stateful operations (RandomUniform with the attributes
// seed and seed2) before their first value, when not both are 0.
RILL_API Philox stateful_generator(std::int64_t seed, std::int64_t seed2);

// The tensors that the V2 operations take: key has 1 element and counter 2.
struct KeyCounter {
  std::uint64_t key;
  std::array<std::uint64_t, 2> counter;
};
KeyCounter key_counter_of(const Philox& gen);  // StatelessRandomGetKeyCounter
Philox generator_of(std::uint64_t key, std::span<const std::uint64_t, 2> counter);

// The `alg` of the V2 operations. Only philox is served here; auto_select means
// philox on the CPU, and that is what StatelessRandomGetAlg answers.
enum class RandomAlgorithm : std::int32_t { philox = 1, threefry = 2, auto_select = 3 };

// ---- uniform ----

// In [0, 1), in steps of 2^-23, 2^-52, 2^-10 and 2^-7. For [lo, hi) TensorFlow
// computes x * (hi - lo) + lo afterwards, in the same type.
void fill_uniform(Philox gen, std::int64_t begin, std::span<float> out);
void fill_uniform(Philox gen, std::int64_t begin, std::span<double> out);
void fill_uniform(Philox gen, std::int64_t begin, std::span<half> out);
void fill_uniform(Philox gen, std::int64_t begin, std::span<bfloat16_t> out);

// In [lo, hi); lo < hi is the caller's to see to. As in TensorFlow by remainder,
// so slightly biased unless hi - lo is a power of two.
void fill_uniform_int(Philox gen, std::int64_t begin, std::int32_t lo, std::int32_t hi,
                      std::span<std::int32_t> out);
void fill_uniform_int(Philox gen, std::int64_t begin, std::int64_t lo, std::int64_t hi,
                      std::span<std::int64_t> out);

// All values of the type (StatelessRandomUniformFullInt; signed types by
// reinterpretation).
void fill_bits(Philox gen, std::int64_t begin, std::span<std::uint32_t> out);
void fill_bits(Philox gen, std::int64_t begin, std::span<std::uint64_t> out);

// ---- normal ----

// Mean 0 and deviation 1, by Box and Muller's transform, through the C library's
// log and sincos: equal to TensorFlow's with the same library on the same
// processor, else to the last bit or so.
void fill_normal(Philox gen, std::int64_t begin, std::span<float> out);
void fill_normal(Philox gen, std::int64_t begin, std::span<double> out);
void fill_normal(Philox gen, std::int64_t begin, std::span<half> out);
void fill_normal(Philox gen, std::int64_t begin, std::span<bfloat16_t> out);

// The same, drawn again while 2 or more away from 0. Each group of four (two
// for double) has 256 words of the stream per element to itself.
void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<float> out);
void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<double> out);
void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<half> out);
void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<bfloat16_t> out);

// ---- sampling ----

// StatelessMultinomial: for each row of `logits` (rows of `classes` elements,
// unnormalised log-probabilities) out.size() / rows draws of a class, by search
// in the cumulated distribution. Logits that are not finite have no probability;
// a row without finite logits yields `classes`. `first_row` is the index in the
// whole batch of the first row given, so that rows may be split over threads.
// The values are those of TensorFlow as long as it does not split the batch over
// its own threads, which changes them there: small batches, or one thread.
// Logit: float, double, half or bfloat16_t; Index: std::int32_t or std::int64_t.
template <typename Logit, typename Index>
void sample_categorical(Philox gen, std::int64_t first_row, std::int64_t classes,
                        std::span<const Logit> logits, std::span<Index> out);

// out[i] is the row of the input that a shuffle puts at place i: tf.random's
// stateless_shuffle, and RandomShuffle with the stateful generator. By Fisher
// and Yates' method from the front; not to be split.
RILL_API void fill_permutation(Philox gen, std::span<std::int64_t> out);

}  // namespace rill::functors
