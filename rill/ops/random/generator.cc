// A random stream whose state is a variable: [counter low, counter high, key].
#include <mutex>
#include <random>

#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/random/stateless.h"
#include "rill/ops/random_ops.h"

namespace rill::random {
namespace {

Tensor new_state(const std::vector<std::int64_t>& words) {
  auto* cell = new VariableCell;
  cell->name = "StateVar:0";
  cell->dtype = int64;
  cell->shape = TensorShape({3});
  cell->trainable = false;
  cell->assign(constant(words));
  return make_resource(Ref<Resource>(cell));
}

std::mutex global_mutex;
Tensor global_state;

}  // namespace

Generator::Generator(const Tensor& state) : state_(state) {}

// TensorFlow puts the seed into the counter's low word.
Generator Generator::from_seed(std::int64_t seed) { return Generator(new_state({seed, 0, 0})); }
Generator Generator::from_state(const Operand& state) {
  const Tensor t = to_tensor(state, int64);
  RILL_CHECK(t.dtype() == int64 && t.shape() == TensorShape({3}), invalid_argument,
             "[Generator] a state is three int64: counter (2) and key; got {} of shape {}",
             t.dtype(), t.shape());
  return Generator(new_state(t.to_vector<std::int64_t>()));
}
Generator Generator::from_non_deterministic_state() {
  std::random_device entropy;
  auto word = [&] { return static_cast<std::int64_t>(entropy()) << 32 | entropy(); };
  return Generator(new_state({word(), word(), word()}));
}

Tensor Generator::state() const { return variable_cell(state_).read(); }

void Generator::skip(std::int64_t delta) const {
  VariableCell& cell = variable_cell(state_);
  auto words = cell.read().to_vector<std::int64_t>();
  // TensorFlow's step: 256 groups a number, on the 128-bit counter.
  const auto step = static_cast<std::uint64_t>(delta);
  const std::uint64_t low = static_cast<std::uint64_t>(words[0]) + (step << 8);
  const bool carry = low < step << 8;
  words[0] = static_cast<std::int64_t>(low);
  words[1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(words[1]) + (step >> 56) + carry);
  cell.assign(constant(words));
}

void Generator::reset_from_seed(std::int64_t seed) const {
  variable_cell(state_).assign(constant(std::vector<std::int64_t>{seed, 0, 0}));
}

std::vector<Tensor> Generator::take(const Operand& shape) const {
  const auto words = state().to_vector<std::int64_t>();
  skip(checked_num_elements(as_dims(to_tensor(shape, sizes_dtype(shape)), "Generator"),
                            "Generator"));
  const auto u = [](std::int64_t w) { return static_cast<std::uint64_t>(w); };
  return {constant(std::vector<std::uint64_t>{u(words[2])}),
          constant(std::vector<std::uint64_t>{u(words[0]), u(words[1])})};
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
Tensor Generator::make_seeds(std::int64_t count) const {
  return uniform_int({std::int64_t{2}, count}, INT64_MIN, INT64_MAX, int64);
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
