// Sums of lists; values within limits.
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/arithmetic.h"

namespace rill::cuda {
namespace {

// Some summands a launch: kernels take their arguments by value.
constexpr int kSummands = 16;
template <class T>
struct AddNBody {
  const T* from[kSummands];
  int count;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    auto sum = static_cast<Computed<T>>(from[0][i]);
    for (int k = 1; k < count; ++k)
      sum = functors::Add::apply(sum, static_cast<Computed<T>>(from[k][i]));
    y[i] = static_cast<T>(sum);
  }
};

void add_n_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    for (int next = 0; next < c.num_inputs();) {
      AddNBody<T> body{{}, 0, c.out<T>()};
      if (next > 0) body.from[body.count++] = c.out<T>();
      while (body.count < kSummands && next < c.num_inputs())
        body.from[body.count++] = c.in<T>(next++);
      launch_elements(c, c.out().size, body);
    }
  });
}
RILL_KERNEL("AddN", gpu, kRealTypes, add_n_cuda);

template <class T>
struct ClipBody {
  const T *x, *low, *high;
  std::int64_t low_step, high_step;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    using W = Computed<T>;
    const W v = static_cast<W>(x[i]), least = static_cast<W>(low[i * low_step]),
            most = static_cast<W>(high[i * high_step]);
    const W top = v > most ? most : v;
    y[i] = static_cast<T>(top < least ? least : top);
  }
};

void clip_by_value_cuda(KernelContext& c) noexcept {
  dispatch_reals(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size,
                    ClipBody<T>{c.in<T>(0), c.in<T>(1), c.in<T>(2), c.in(1).size == c.in(0).size,
                                c.in(2).size == c.in(0).size, c.out<T>()});
  });
}
RILL_KERNEL("ClipByValue", gpu, kRealTypes, clip_by_value_cuda);

}  // namespace
}  // namespace rill::cuda
