#pragma once
#include <random>

#include "rill/core/kernel.h"
#include "rill/kernels/functors/random.h"
#include "rill/ops/random/seeds.h"

// Where the generator of a call comes from: its attributes, a seed, or a key
// with a counter. All of them are read on the host.
namespace rill::functors {

// `elements`: how many numbers this run draws; -1: one for each of the output.
inline Philox from_attrs(KernelContext& c, std::int64_t groups_per_element,
                         std::int64_t elements = -1) {
  std::int64_t seed = c.int_attr("seed"), seed2 = c.int_attr("seed2");
  if (seed == 0 && seed2 == 0) {  // TensorFlow's sign for 'no seed'
    std::random_device entropy;
    seed = entropy();
    seed2 = entropy() | 1;
  }
  Philox gen = stateful_generator(seed, seed2);
  const std::int64_t offset = c.int_attr(kRandomOffset);
  const std::int64_t start = start_of_run(offset, elements < 0 ? c.out().size : elements);
  if (start < 0) {
    c.fail(Code::invalid_argument,
           format("[{}] attribute {} is {}, which names no random stream of this process", c.tag(),
                  kRandomOffset, offset));
    return gen;
  }
  gen.skip(static_cast<std::uint64_t>(start) * static_cast<std::uint64_t>(groups_per_element));
  return gen;
}
inline std::int64_t seed_at(const TensorView& v, std::int64_t i) {
  return v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                          : static_cast<const std::int32_t*>(v.data)[i];
}
inline Philox from_seed(KernelContext& c, int input) {
  return stateless_generator(seed_at(c.in(input), 0), seed_at(c.in(input), 1));
}
inline Philox from_key(KernelContext& c) {
  const std::int32_t alg = *c.in<std::int32_t>(3);
  if (alg != 1 && alg != 3)
    c.fail(
        Code::unimplemented,
        format("[{}] algorithm {} is not implemented; use Philox (1) or auto (3)", c.tag(), alg));
  const std::uint64_t* counter = c.in<std::uint64_t>(2);
  return Philox(*c.in<std::uint64_t>(1), counter[0], counter[1]);
}

}  // namespace rill::functors
