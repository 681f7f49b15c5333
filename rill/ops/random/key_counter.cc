// From seeds to the keys and counters that the V2 forms of the stateless ops take, and all bits of
// integers.
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/random_helpers.h"
#include "rill/ops/random/stateless.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

void key_counter_shape(ShapeContext& c) {
  require_two_words(c, 0);
  c.set_output(0, TensorShape({1}));
  c.set_output(1, TensorShape({2}));
}
const Op& key_counter_op = OpBuilder("StatelessRandomGetKeyCounter", "random.get_key_counter")
                               .input("seed: Tseed")
                               .output("key: uint64")
                               .output("counter: uint64")
                               .type("Tseed", kIndexTypes, int64)
                               .doc("The key and the counter that a seed stands for.")
                               .shape(key_counter_shape)
                               .no_gradient()
                               .host("seed")
                               .define();
[[maybe_unused]] const Op& alg_op = OpBuilder("StatelessRandomGetAlg", "random.get_alg")
                                        .output("alg: int32")
                                        .doc("The generator of this device: 1, Philox.")
                                        .shape(scalar_shape)
                                        .no_gradient()
                                        .define();

constexpr TypeSet kWords{int32, int64, uint32, uint64};
void seeded_bits_shape(ShapeContext& c) {
  require_two_words(c, 1);
  sizes_shape(c);
}
const Op& bits_op = OpBuilder("StatelessRandomUniformFullInt", "random.stateless_uniform_full_int")
                        .input("shape: T")
                        .input("seed: Tseed")
                        .output("output: dtype")
                        .type("dtype", kWords, uint64)
                        .type("T", kIndexTypes, int32)
                        .type("Tseed", kIndexTypes, int64)
                        .doc("All integers of the dtype alike, from a seed.")
                        .shape(seeded_bits_shape)
                        .no_gradient()
                        .host("shape seed")
                        .define();
void keyed_bits_shape(ShapeContext& c) {
  require_key_and_counter(c);
  sizes_shape(c);
}
const Op& bits_v2 =
    OpBuilder("StatelessRandomUniformFullIntV2", "random.stateless_uniform_full_int")
        .input("shape: Tshape")
        .input("key: uint64")
        .input("counter: uint64")
        .input("alg: int32")
        .output("output: dtype")
        .type("dtype", kWords, uint64)
        .type("Tshape", kIndexTypes, int32)
        .doc("All integers of the dtype alike, from key and counter.")
        .shape(keyed_bits_shape)
        .no_gradient()
        .host("shape key counter alg")
        .define();

}  // namespace

Tensor keyed_full_int(const Operand& shape, const Tensor& key, const Tensor& counter, DType dtype) {
  return execute(bits_v2, {sizes_of(shape), key, counter, to_tensor(kPhilox)}, {{"dtype", dtype}});
}
std::vector<Tensor> key_and_counter(const Operand& seed) {
  return execute_all(key_counter_op, {Arg(seed)});
}
Tensor random::stateless_uniform_full_int(const Operand& shape, const Operand& seed, DType dtype) {
  return execute(bits_op, {sizes_of(shape), Arg(seed)}, {{"dtype", dtype}});
}

}  // namespace rill
