// Rows by index, and one-hot rows.
#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

// params [batch, outer, limit, inner], indices [batch, count] -> [batch, outer, count, inner].
// An index out of range is reported, and its row is 0.
template <class T, class I>
struct GatherBody {
  const T* in;
  const I* index;
  T* out;
  std::int64_t outer, limit, inner, count;
  KernelError* error;
  const Op* op;
  const char* what;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t k = i / inner, row = k / count, place = row / outer * count + k % count;
    const auto from = static_cast<std::int64_t>(index[place]);
    const bool known = from >= 0 && from < limit;
    out[i] = known ? in[(row * limit + from) * inner + i % inner] : T{};
    if (!known) report(error, op, Finding::out_of_range, what, place, from, limit);
  }
};

void gather_cuda(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const TensorShape& shape = c.in_shape(0);
  std::int64_t axis = c.in(2).dtype == int64 ? *c.in<std::int64_t>(2) : *c.in<std::int32_t>(2);
  if (axis < 0) axis += shape.rank();
  std::int64_t batch_dims = c.int_attr("batch_dims");
  if (batch_dims < 0) batch_dims += c.in_shape(1).rank();
  std::int64_t batch = 1, outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i)
    (i < batch_dims ? batch : i < axis ? outer : inner) *= i == axis ? 1 : shape.dim(i);
  KernelError* error = gpu_of(c).kernel_error();
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    by_width(c.out().dtype, [&]<class T>() {
      launch_elements(c, c.out().size,
                      GatherBody<T, I>{c.in<T>(0), c.in<I>(1), c.out<T>(), outer,
                                       shape.dim(static_cast<int>(axis)), inner,
                                       c.in(1).size / batch, error, &c.op(), "indices"});
    });
  });
}
RILL_KERNEL("GatherV2", gpu, kPlainTypes, gather_cuda);

// indices [outer, inner] -> [outer, depth, inner]
template <class T, class I>
struct OneHotBody {
  const I* index;
  const T *on, *off;
  T* out;
  std::int64_t depth, inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t o = i / inner / depth, k = i / inner % depth;
    out[i] = static_cast<std::int64_t>(index[o * inner + i % inner]) == k ? *on : *off;
  }
};

void one_hot_cuda(KernelContext& c) noexcept {
  const std::int64_t axis = c.int_attr("axis"), depth = *c.in<std::int32_t>(1);
  std::int64_t inner = 1;
  if (axis >= 0)
    for (int i = static_cast<int>(axis); i < c.in_shape(0).rank(); ++i)
      inner *= c.in_shape(0).dim(i);
  dispatch_types<std::uint8_t, std::int8_t, std::int32_t, std::int64_t>(
      c.in(0).dtype, [&]<class I>() {
        by_width(c.out().dtype, [&]<class T>() {
          launch_elements(
              c, c.out().size,
              OneHotBody<T, I>{c.in<I>(0), c.in<T>(2), c.in<T>(3), c.out<T>(), depth, inner});
        });
      });
}
RILL_KERNEL("OneHot", gpu, kPlainTypes, one_hot_cuda);

}  // namespace
}  // namespace rill::cuda
