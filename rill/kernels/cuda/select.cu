#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {
namespace {

template <class T>
struct SelectBody {
  const bool* condition;
  const T *x, *y;
  T* out;
  Walk<3> walk;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    std::int64_t place[3];
    walk.at(i, place);
    out[i] = condition[place[0]] ? x[place[1]] : y[place[2]];
  }
};

void select_cuda(KernelContext& c) noexcept {
  Walk<3> walk;
  const TensorShape& out = c.out_shape();
  if (!make_walk<3>(c, out.dims(),
                    {broadcast_strides(c.in_shape(0), out), broadcast_strides(c.in_shape(1), out),
                     broadcast_strides(c.in_shape(2), out)},
                    walk))
    return;
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size,
                    SelectBody<T>{c.in<bool>(0), c.in<T>(1), c.in<T>(2), c.out<T>(), walk});
  });
}
RILL_KERNEL("SelectV2", gpu, kPlainTypes, select_cuda);

}  // namespace
}  // namespace rill::cuda
