// What memory bounds: one op over 16 M floats against a copy loop, and a fused
// Adam over 3.27 M parameters against a hand-written one. All cores.
#include <cmath>
#include <vector>

#include "benchmarks/budget.h"
#include "rill/base/parallel.h"
#include "rill/rill.h"

namespace tf = rill;

namespace {

// The yardstick: a vectorised loop, not turned into memcpy, whose non-temporal
// stores would make it another thing.
[[gnu::noinline, gnu::optimize("no-tree-loop-distribute-patterns")]] void copy_part(
    const float* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}
void copy(const float* x, float* y, std::int64_t n) {
  rill::parallel_for(n, 1 << 15,
                     [&](std::int64_t b, std::int64_t e) { copy_part(x + b, y + b, e - b); });
}
// One read of everything, the limit of a sum.
[[gnu::noinline]] float read_part(const float* x, std::int64_t n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t i = 0; i < n; ++i) s += x[i];
  return s;
}

// `streams`: arrays moved, of which a copy moves two.
template <class F>
void against_copy(const char* what, int streams, const tf::Tensor& x, F&& op, double gate,
                  double goal) {
  static std::vector<float> y(static_cast<std::size_t>(x.size()));
  const float* px = x.data<float>().data();
  budget::Pair p = budget::best_of_both(
      op, [&] { copy(px, y.data(), x.size()); }, 1, 25);
  p.reference *= streams / 2.0;
  budget::speed_row(what, p, gate, goal);
}

[[gnu::noinline, gnu::target_clones("avx512f", "avx2", "default")]] void adam_floor(
    float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v,
    std::int64_t n, float c1, float c2) {
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const float mm = .9f * m[j] + .1f * g[j], vv = .999f * v[j] + .001f * g[j] * g[j];
    m[j] = mm;
    v[j] = vv;
    p[j] -= 1e-3f * (mm * c1) / (std::sqrt(vv * c2) + 1e-8f);
  }
}

}  // namespace

int main() {
  const int rows = 16384, columns = 1024;
  const auto x = tf::random::uniform({rows, columns}), y = tf::random::uniform({rows, columns});
  against_copy(
      "add over 16 M floats", 3, x, [&] { tf::add(x, y); }, 0.85, 0.95);
  against_copy(
      "multiply by a number over 16 M floats", 2, x, [&] { tf::multiply(x, 3.f); }, 0.85, 0.95);
  against_copy(
      "relu over 16 M floats", 2, x, [&] { tf::nn::relu(x); }, 0.85, 0.95);
  against_copy(
      "exp over 16 M floats", 2, x, [&] { tf::exp(x); }, 0.85, 0.95);
  against_copy(
      "tanh over 16 M floats", 2, x, [&] { tf::tanh(x); }, 0.85, 0.95);
  against_copy(
      "softmax of 16384 rows of 1024", 2, x, [&] { tf::nn::softmax(x); }, 0.7, 0.85);
  const auto gamma = tf::ones({columns}), beta = tf::zeros({columns});
  against_copy(
      "layer_norm of 16384 rows of 1024", 2, x, [&] { tf::nn::layer_norm(x, gamma, beta); }, 0.7,
      0.85);
  {
    const float* px = x.data<float>().data();
    budget::speed_row("sum over rows, 16 M floats, of one read",
                      budget::best_of_both(
                          [&] { tf::reduce_sum(x, 1); },
                          [&] {
                            rill::parallel_for(rows, 32, [&](std::int64_t b, std::int64_t e) {
                              volatile float keep = read_part(px + b * columns, (e - b) * columns);
                              static_cast<void>(keep);
                            });
                          },
                          1, 25),
                      0.7, 0.85);
  }
  {
    const int n = 3'270'000;
    tf::Variable v(tf::random::uniform({n}));
    const auto g = tf::random::uniform({n});
    tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
    const std::vector<tf::Variable> variables{v};
    const tf::Gradients gradients(std::vector<tf::Tensor>{g});
    std::vector<float> p(n, 1.f), m(n), w(n);
    const float* pg = g.data<float>().data();
    float t = 0;
    budget::multiple_row(
        "Adam on 3.27 M parameters",
        budget::best_of_both(
            [&] { adam.apply_gradients(gradients, variables); },
            [&] {
              ++t;
              const float c1 = 1 / (1 - std::pow(.9f, t)), c2 = 1 / (1 - std::pow(.999f, t));
              rill::parallel_for(n, 1 << 15, [&](std::int64_t b, std::int64_t e) {
                adam_floor(p.data() + b, pg + b, m.data() + b, w.data() + b, e - b, c1, c2);
              });
            },
            1, 40),
        1.25, 1.1);
  }
}
