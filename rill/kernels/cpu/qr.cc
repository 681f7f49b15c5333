#include "rill/kernels/cpu/householder.h"

namespace rill::cpu {
namespace {

void qr_cpu(KernelContext& c) noexcept {
  const Stack a(c.in_shape(0)), q(c.out_shape(0)), r(c.out_shape(1));
  dispatch_matrix(c.in(0).dtype, [&]<class T>() {
    for_each_matrix(
        c, a.count, std::min(std::max(a.rows, a.cols), kBlockSize), "", [&](std::int64_t i) {
          std::vector<T> work(c.in<T>(0) + i * a.size(), c.in<T>(0) + (i + 1) * a.size()),
              scratch(static_cast<std::size_t>(q.cols));
          const std::vector<T> taus = qr_in_place(work.data(), a.rows, a.cols);
          T* to = c.out<T>(1) + i * r.size();
          for (std::int64_t k = 0; k < r.rows; ++k)
            for (std::int64_t j = 0; j < r.cols; ++j)
              to[k * r.cols + j] = j < k ? T(0) : work[static_cast<std::size_t>(k * a.cols + j)];
          write_q(c.out<T>(0) + i * q.size(), q.rows, q.cols, work.data(), a.cols + 1, a.cols, taus,
                  0, scratch.data());
          return true;
        });
  });
}
RILL_KERNEL("Qr", cpu, kMatrixTypes, qr_cpu);

}  // namespace
}  // namespace rill::cpu
