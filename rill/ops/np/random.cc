// Numbers of one generator that all threads share.
#include <mutex>
#include <random>

#include "rill/ops/array_ops.h"
#include "rill/ops/np.h"
#include "rill/ops/np/legacy_generator_impl.h"
#include "rill/ops/op_helpers.h"

namespace rill::np::random {
namespace {

struct State : LegacyGenerator {
  State() : LegacyGenerator(std::random_device{}()) {}
  std::mutex mutex;
};
State& state() {
  static auto* s = new State;
  return *s;
}

TensorShape sizes(const Operand& size, const char* what) {
  if (size.kind() == Operand::Kind::shape)
    return checked_num_elements(size.shape().dims(), what), size.shape();
  const Tensor t = to_tensor(size, sizes_dtype(size));
  const Dims dims = as_dims(t, what);
  checked_num_elements(dims, what);
  return TensorShape(dims);
}

template <class T, class F>
Tensor fill_with(const TensorShape& shape, DType dtype, F draw) {
  Tensor t = make_tensor(dtype, shape);
  std::lock_guard lock(state().mutex);
  for (std::int64_t i = 0; i < t.size(); ++i) mutable_data<T>(t)[i] = draw();
  return t;
}

}  // namespace

void seed(std::uint32_t seed) {
  std::lock_guard lock(state().mutex);
  state().seed(seed);
}

Tensor random(const Operand& size) {
  return fill_with<double>(sizes(size, "np.random.random"), float64,
                           [] { return state().number(); });
}
Tensor uniform(UniformOptions o) {
  return fill_with<double>(sizes(o.size, "np.random.uniform"), float64,
                           [&] { return o.low + (o.high - o.low) * state().number(); });
}
Tensor randint(std::int64_t high, RandintOptions o) { return randint(0, high, o.size); }
Tensor randint(std::int64_t low, std::int64_t high, const Operand& size) {
  RILL_CHECK(low < high, invalid_argument, "[np.random.randint] low {} must be below high {}", low,
             high);
  const auto max = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
  return fill_with<std::int64_t>(sizes(size, "np.random.randint"), int64, [&] {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + state().up_to(max));
  });
}

Tensor choice(std::int64_t n, ChoiceOptions o) {
  RILL_CHECK(n > 0, invalid_argument, "[np.random.choice] n is {}; expected 1 or more", n);
  if (!o.p.defined()) return randint(0, n, o.size);
  RILL_CHECK(o.p.ndim() == 1 && o.p.size() == n, invalid_argument,
             "[np.random.choice] p has shape {}; expected one probability for each of {}",
             o.p.shape(), n);
  std::vector<double> cdf = o.p.to_vector<double>();
  double total = 0;
  for (double& v : cdf) {
    RILL_CHECK(v >= 0, invalid_argument,
               "[np.random.choice] a probability is {}; expected 0 or more", v);
    v = total += v;
  }
  RILL_CHECK(std::abs(total - 1) < (o.p.dtype() == float64 ? 1.5e-8 : 1e-3), invalid_argument,
             "[np.random.choice] the probabilities sum to {}; expected 1", total);
  for (double& v : cdf) v /= total;
  return fill_with<std::int64_t>(sizes(o.size, "np.random.choice"), int64, [&] {
    return std::min<std::int64_t>(
        std::upper_bound(cdf.begin(), cdf.end(), state().number()) - cdf.begin(), n - 1);
  });
}

void shuffle(Tensor& a) {
  RILL_CHECK(a.defined() && a.ndim() > 0, invalid_argument,
             "[np.random.shuffle] expected an array of rank 1 or more");
  std::vector<std::int64_t> order;
  {
    std::lock_guard lock(state().mutex);
    order = state().shuffled(static_cast<std::size_t>(a.shape().dim(0)));
  }
  a = gather(a, constant(order));
}

}  // namespace rill::np::random
