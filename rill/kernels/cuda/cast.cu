#include "rill/kernels/functors/cast.h"

#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

template <class From, class To>
struct CastBody {
  const From* x;
  To* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = functors::convert<To>(x[i]);
  }
};

template <class F>
void by_type(DType dtype, F body) {
  if (dtype == bool_)
    dispatch_types<bool>(dtype, body);
  else
    dispatch_reals(dtype, body);
}

void cast_cuda(KernelContext& c) noexcept {
  if (c.out().dtype.is_complex())
    return c.fail(Code::unimplemented,
                  format("[{}] from {} to {} on a GPU; cast on the host: x.cpu()", c.tag(),
                         c.in(0).dtype, c.out().dtype));
  by_type(c.in(0).dtype, [&]<class From>() {
    by_type(c.out().dtype, [&]<class To>() {
      launch_elements(c, c.out().size, CastBody<From, To>{c.in<From>(0), c.out<To>()});
    });
  });
}
RILL_KERNEL("Cast", gpu, (kRealTypes | TypeSet{bool_}), cast_cuda);

}  // namespace
}  // namespace rill::cuda
