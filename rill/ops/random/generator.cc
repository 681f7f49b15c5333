// A random stream whose state is a variable: [counter low, counter high, key].
#include <mutex>
#include <random>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/stateless.h"
#include "rill/ops/random_ops.h"

namespace rill::random {
namespace {

const Op& read_and_skip_op = OpBuilder("RngReadAndSkip", "Generator.skip")
                                 .input("resource: resource")
                                 .input("alg: int32")
                                 .input("delta: uint64")
                                 .output("value: int64")
                                 .doc(
                                     "The state of a generator, which moves on behind delta "
                                     "numbers.")
                                 .shape([](ShapeContext& c) {
                                   require_rank(c, 1, 0, "alg");
                                   require_rank(c, 2, 0, "delta");
                                   c.set_output(0, TensorShape({3}));
                                 })
                                 .no_gradient()
                                 .variable(VariableUse::update)
                                 .stateful()
                                 .host("alg delta")
                                 .define();
Tensor read_and_skip(const Tensor& state, const Tensor& delta) {
  return execute(read_and_skip_op, {state, to_tensor(kPhilox), delta});
}

Tensor new_state(const std::vector<std::int64_t>& words) {
  auto* cell = new VariableCell;
  cell->name = "StateVar:0";
  cell->dtype = int64;
  cell->shape = TensorShape({3});
  cell->trainable = false;
  cell->assign(constant(words));
  return make_resource(Ref<Resource>(cell));
}

std::vector<std::int64_t> words_of(const Operand& state) {
  const Tensor t = to_tensor(state, state.is_literal() ? int64 : DType());
  RILL_CHECK((t.dtype() == int64 || t.dtype() == uint64) && t.shape() == TensorShape({3}),
             invalid_argument,
             "[Generator] a state is three int64: counter (2) and key; got {} of shape {}",
             t.dtype(), t.shape());
  return t.to_vector<std::int64_t>();
}
std::vector<std::int64_t> words_of(const Operand& key, const Operand& counter) {
  const Tensor k = to_tensor(key, key.is_literal() ? int64 : DType()),
               c = to_tensor(counter, counter.is_literal() ? int64 : DType());
  RILL_CHECK(k.ndim() == 0 && c.shape() == TensorShape({2}), invalid_argument,
             "[Generator] the key has shape {} and the counter {}; expected a scalar and two "
             "integers",
             k.shape(), c.shape());
  return words_of(concat({c, reshape(k, {1})}, 0));
}

// TensorFlow takes the seed as a wide number whose low word is the counter's: the words above it
// have its sign.
std::vector<std::int64_t> words_of_seed(std::int64_t seed) {
  const std::int64_t sign = seed < 0 ? -1 : 0;
  return {seed, sign, sign};
}

std::mutex global_mutex;
Tensor global_state;

}  // namespace

Generator::Generator(const Tensor& state) : state_(state) {}

Generator Generator::from_seed(std::int64_t seed) {
  return Generator(new_state(words_of_seed(seed)));
}
Generator Generator::from_state(const Operand& state) {
  return Generator(new_state(words_of(state)));
}
Generator Generator::from_key_counter(const Operand& key, const Operand& counter) {
  return Generator(new_state(words_of(key, counter)));
}
Generator Generator::from_non_deterministic_state() {
  std::random_device entropy;
  auto word = [&] { return static_cast<std::int64_t>(entropy()) << 32 | entropy(); };
  return Generator(new_state({word(), word(), word()}));
}

Tensor Generator::state() const { return variable_cell(state_).read(); }

void Generator::skip(std::int64_t delta) const {
  read_and_skip(state_, to_tensor(static_cast<std::uint64_t>(delta), uint64));
}

void Generator::reset_from_seed(std::int64_t seed) const {
  variable_cell(state_).assign(constant(words_of_seed(seed)));
}
void Generator::reset(const Operand& state) const {
  variable_cell(state_).assign(constant(words_of(state)));
}
void Generator::reset_from_key_counter(const Operand& key, const Operand& counter) const {
  variable_cell(state_).assign(constant(words_of(key, counter)));
}
Tensor Generator::key() const { return state()[2]; }

// An op, so that a traced function draws other numbers at every call.
std::vector<Tensor> Generator::take(const Operand& shape) const {
  const Tensor sizes = to_tensor(shape, sizes_dtype(shape));
  const Tensor count = value_known(sizes)
                           ? to_tensor(static_cast<std::uint64_t>(checked_num_elements(
                                           as_dims(sizes, "Generator"), "Generator")),
                                       uint64)
                           : cast(reduce_prod(cast(sizes, int64)), uint64);
  const Tensor before = bitcast(read_and_skip(state_, count), uint64);
  return {before(slice(2, 3)), before(slice(0, 2))};
}

Tensor Generator::uniform(const Operand& shape, double lo, double hi, DType dtype) const {
  const auto k = take(shape);
  return keyed_uniform(shape, k[0], k[1], lo, hi, dtype);
}
Tensor Generator::uniform_int(const Operand& shape, const Operand& lo, const Operand& hi,
                              DType dtype) const {
  const auto k = take(shape);
  return keyed_uniform_int(shape, k[0], k[1], to_tensor(lo, dtype), to_tensor(hi, dtype));
}
Tensor Generator::normal(const Operand& shape, double mean, double stddev, DType dtype) const {
  const auto k = take(shape);
  return keyed_normal(shape, k[0], k[1], mean, stddev, dtype);
}
Tensor Generator::truncated_normal(const Operand& shape, double mean, double stddev,
                                   DType dtype) const {
  const auto k = take(shape);
  return keyed_truncated_normal(shape, k[0], k[1], mean, stddev, dtype);
}
Tensor Generator::uniform_full_int(const Operand& shape, DType dtype) const {
  const auto k = take(shape);
  return keyed_full_int(shape, k[0], k[1], dtype);
}
Tensor Generator::binomial(const Operand& shape, const Operand& counts, const Operand& probs,
                           DType dtype) const {
  return stateful_binomial(state_, shape, counts, probs, dtype);
}
Tensor Generator::make_seeds(std::int64_t count) const {
  const Tensor keys = uniform_full_int({count}, int64);
  return stack({keys, zeros_like(keys)});
}
std::vector<Generator> Generator::split(std::int64_t count) const {
  std::vector<Generator> all;
  for (std::int64_t key : uniform_full_int({count}, int64).to_vector<std::int64_t>())
    all.push_back(Generator(new_state({0, 0, key})));
  return all;
}

Generator get_global_generator() {
  std::lock_guard lock(global_mutex);
  if (!global_state.defined())
    global_state = Generator::from_non_deterministic_state().state_handle();
  return Generator(global_state);
}
void set_global_generator(const Generator& generator) {
  std::lock_guard lock(global_mutex);
  global_state = generator.state_handle();
}

}  // namespace rill::random
