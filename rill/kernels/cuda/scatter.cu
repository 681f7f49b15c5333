// Elements and slices picked and put by coordinates, and rows of variables by index.
#include "rill/kernels/cuda/runs.h"
#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {
namespace {

// The place (in slices) of each coordinate; one outside is reported and becomes -1.
template <class I>
struct CoordinateBody {
  const I* index;
  std::int64_t* place;
  std::int64_t whole[kMaxRank];
  int k;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t r) const {
    std::int64_t at = 0;
    for (int i = 0; i < k; ++i) {
      const auto v = static_cast<std::int64_t>(index[r * k + i]);
      if (v < 0 || v >= whole[i]) {
        report(reporter.error, reporter.op, Finding::out_of_range, reporter.what, r * k + i, v,
               whole[i]);
        place[r] = -1;
        return;
      }
      at = at * whole[i] + v;
    }
    place[r] = at;
  }
};

struct Places {
  std::int64_t* place = nullptr;
  std::int64_t n = 1, inner = 1, limit = 1;
};
bool make_places(KernelContext& c, const TensorView& indices, const Dims& whole, Places& p) {
  const auto k = static_cast<std::size_t>(indices.shape->dim(-1));
  for (int i = 0; i + 1 < indices.shape->rank(); ++i) p.n *= indices.shape->dim(i);
  for (std::size_t i = 0; i < whole.size(); ++i) (i < k ? p.limit : p.inner) *= whole[i];
  if (k > kMaxRank) {
    c.fail(Code::unimplemented,
           format("[{}] got coordinates of {} axes; on a GPU at most {}", c.tag(), k, kMaxRank));
    return false;
  }
  p.place = c.scratch<std::int64_t>(std::max<std::int64_t>(p.n, 1));
  if (!p.place) return false;
  dispatch_types<std::int32_t, std::int64_t>(indices.dtype, [&]<class I>() {
    CoordinateBody<I> body{static_cast<const I*>(indices.data),
                           p.place,
                           {},
                           static_cast<int>(k),
                           {gpu_of(c).kernel_error(), &c.op(), "indices"}};
    for (std::size_t i = 0; i < k; ++i) body.whole[i] = whole[i];
    launch_elements(c, p.n, body);
  });
  return !c.failed();
}

template <class T>
struct TakeBody {
  const T* in;
  const std::int64_t* place;
  T* out;
  std::int64_t inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t p = place[i / inner];
    out[i] = p < 0 ? T{} : in[p * inner + i % inner];
  }
};
void gather_nd_cuda(KernelContext& c) noexcept {
  Places p;
  if (!make_places(c, c.in(1), c.in_shape(0).dims(), p)) return;
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, TakeBody<T>{c.in<T>(0), p.place, c.out<T>(), p.inner});
  });
}
RILL_KERNEL("GatherNd", gpu, kPlainTypes, gather_nd_cuda);

// Coordinates that were reported go nowhere.
template <class F, class T>
void put(KernelContext& c, const TensorView& indices, const T* updates) {
  Places p;
  if (!make_places(c, indices, c.out_shape().dims(), p) || p.inner == 0) return;
  Runs runs;
  if (make_runs(c, p.place, p.n, p.limit, Outside::drop_negative, "indices", runs))
    join_runs<F, T>(c, runs, updates, c.out<T>(), p.inner);
}
std::size_t bytes_of(const TensorView& v) {
  return static_cast<std::size_t>(v.size) * v.dtype.itemsize();
}

void scatter_nd_cuda(KernelContext& c) noexcept {
  cudaMemsetAsync(c.out().data, 0, bytes_of(c.out()), gpu_of(c).stream());
  dispatch_reals(c.out().dtype, [&]<class T>() { put<Plus, T>(c, c.in(0), c.in<T>(1)); });
}
RILL_KERNEL("ScatterNd", gpu, kRealTypes, scatter_nd_cuda);

void copy_tensor(KernelContext& c) {
  cudaMemcpyAsync(c.out().data, c.in(0).data, bytes_of(c.out()), cudaMemcpyDeviceToDevice,
                  gpu_of(c).stream());
}
template <class F>
void tensor_scatter_cuda(KernelContext& c) noexcept {
  copy_tensor(c);
  dispatch_reals(c.out().dtype, [&]<class T>() { put<F, T>(c, c.in(1), c.in<T>(2)); });
}
void tensor_update_cuda(KernelContext& c) noexcept {
  copy_tensor(c);
  by_width(c.out().dtype, [&]<class T>() { put<Last, T>(c, c.in(1), c.in<T>(2)); });
}
RILL_KERNEL("TensorScatterUpdate", gpu, kPlainTypes, tensor_update_cuda);
RILL_KERNEL("TensorScatterAdd", gpu, kRealTypes, tensor_scatter_cuda<Plus>);
RILL_KERNEL("TensorScatterSub", gpu, kRealTypes, tensor_scatter_cuda<Minus>);
RILL_KERNEL("TensorScatterMax", gpu, kRealTypes, tensor_scatter_cuda<Larger>);
RILL_KERNEL("TensorScatterMin", gpu, kRealTypes, tensor_scatter_cuda<Smaller>);

// ---- rows of variables

// The smallest integer over -1 stays what it is. A zero divisor is reported.
struct Over {
  template <class A>
  RILL_FORCE_INLINE static A join(A a, A b) {
    if constexpr (std::is_integral_v<A>) {
      if (b == A(0)) return a;
      if constexpr (std::is_signed_v<A>)
        if (b == A(-1)) return static_cast<A>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
    }
    return static_cast<A>(a / b);
  }
};
template <class T>
struct FindZeroBody {
  const T* x;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (x[i] == T(0))
      report(reporter.error, reporter.op, Finding::no_integer_result, reporter.what, i, 0, 0);
  }
};

template <class F, class T>
void update_rows(KernelContext& c, const Runs& runs, std::int64_t inner) {
  if constexpr (std::is_same_v<F, Over> && std::is_integral_v<T>)
    launch_elements(c, c.in(2).size,
                    FindZeroBody<T>{c.in<T>(2), {gpu_of(c).kernel_error(), &c.op(), "updates"}});
  join_runs<F, T>(c, runs, c.in<T>(2), c.var<T>(0), inner, false, c.in_shape(2).rank() == 0);
}
template <class F>
void resource_scatter_cuda(KernelContext& c) noexcept {
  const std::int64_t rows = c.in_shape(0).dim(0), inner = rows ? c.in(0).size / rows : 0;
  Runs runs;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class I>() {
    make_runs(c, c.in<I>(1), c.in(1).size, rows, Outside::report, "indices", runs);
  });
  if (c.failed() || inner == 0) return;
  if constexpr (std::is_same_v<F, Last>)
    by_width(c.in(2).dtype, [&]<class T>() { update_rows<F, T>(c, runs, inner); });
  else
    dispatch_reals(c.in(2).dtype, [&]<class T>() { update_rows<F, T>(c, runs, inner); });
}
RILL_KERNEL("ResourceScatterUpdate", gpu, kNumericTypes, resource_scatter_cuda<Last>);
RILL_KERNEL("ResourceScatterAdd", gpu, kRealTypes, resource_scatter_cuda<Plus>);
RILL_KERNEL("ResourceScatterSub", gpu, kRealTypes, resource_scatter_cuda<Minus>);
RILL_KERNEL("ResourceScatterMul", gpu, kRealTypes, resource_scatter_cuda<Times>);
RILL_KERNEL("ResourceScatterDiv", gpu, kRealTypes, resource_scatter_cuda<Over>);
RILL_KERNEL("ResourceScatterMax", gpu, kRealTypes, resource_scatter_cuda<Larger>);
RILL_KERNEL("ResourceScatterMin", gpu, kRealTypes, resource_scatter_cuda<Smaller>);

}  // namespace
}  // namespace rill::cuda
