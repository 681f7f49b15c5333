#include "rill/kernels/cuda/finish_rows.h"

#include "rill/base/format.h"
#include "rill/kernels/cuda/launch.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

struct Same {
  template <class T>
  static __host__ __device__ T apply(T x) {
    return x;
  }
};

template <class F, class T>
struct RowsBody {
  T* y;
  const T* bias;  // null: none
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = F::apply(bias ? y[i] + bias[i % n] : y[i]);
  }
};

}  // namespace

void finish_rows(KernelContext& c, bool bias, const std::string& activation) {
  dispatch_types<float, double>(c.out().dtype, [&]<class T>() {
    auto run = [&]<class F>(F) {
      launch_elements(c, c.out().size,
                      RowsBody<F, T>{c.out<T>(), bias ? c.in<T>(2) : nullptr, c.in(2).size});
    };
    if (activation.empty())
      run(Same{});
    else if (activation == "Relu")
      run(functors::Relu{});
    else if (activation == "Tanh")
      run(functors::Tanh{});
    else if (activation == "Sigmoid")
      run(functors::Sigmoid{});
    else
      c.fail(Code::unimplemented, format("[{}] no activation \"{}\"", c.tag(), activation));
  });
}

}  // namespace rill::cuda
