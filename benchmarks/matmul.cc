// Matrix products against dnnl_sgemm called directly, and the 200 products of P21.
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <string>
#include <vector>

#include "benchmarks/budget.h"
#include "rill/base/parallel.h"
#include "rill/rill.h"

namespace tf = rill;

namespace {

void square(int n, bool ta, bool tb, int threads) {
  const tf::ComputeWidthScope width(threads);
  const auto a = tf::random::uniform({n, n}), b = tf::random::uniform({n, n});
  std::vector<float> c(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const float *pa = a.data<float>().data(), *pb = b.data<float>().data();
  const int calls = std::max(1, 512 * 512 * 512 / (n * n) / n);
  const budget::Pair p = budget::best_of_both(
      [&] { tf::matmul(a, b, {.transpose_a = ta, .transpose_b = tb}); },
      [&] {
        omp_set_num_threads(threads);
        dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', n, n, n, 1.f, pa, n, pb, n, 0.f, c.data(), n);
      },
      calls, n > 1024 ? 7 : 30);
  const std::string what = tf::format("matmul {}^3 {}{}, {} thread{}", n, ta ? 'T' : 'N',
                                      tb ? 'T' : 'N', threads, threads > 1 ? "s" : "");
  budget::speed_row(what.c_str(), p, threads > 1 ? 0.93 : 0.97, 1.0);
}

}  // namespace

int main() {
  for (int threads = 1; threads <= std::min(2, tf::compute_width()); ++threads)
    for (int n : {128, 256, 512, 1024, 2048})
      for (int t = 0; t < 4; ++t) square(n, t & 2, t & 1, threads);

  const auto x = tf::random::normal({1000, 1000});
  std::vector<float> y(1000 * 1000);
  const float* px = x.data<float>().data();
  omp_set_num_threads(tf::compute_width());
  budget::multiple_row("200 x matmul(1000 x 1000) (P21)",
                       budget::best_of_both([&] { tf::matmul(x, x); },
                                            [&] {
                                              dnnl_sgemm('N', 'N', 1000, 1000, 1000, 1.f, px, 1000,
                                                         px, 1000, 0.f, y.data(), 1000);
                                            },
                                            200, 3),
                       1.07, 1.03);
}
