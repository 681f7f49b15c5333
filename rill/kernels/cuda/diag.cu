// Diagonals and bands of matrices.
#include "rill/core/diagonal.h"
#include "rill/kernels/cuda/launch.h"

namespace rill::cuda {
namespace {

Diagonals diagonals(const KernelContext& c, int k_input, const TensorShape& matrices) {
  const TensorView& k = c.in(k_input);
  const auto* v = static_cast<const std::int32_t*>(k.data);
  return {v[0], v[k.size - 1], matrices.dim(-2), matrices.dim(-1), c.string_attr("align")};
}

// Elements of matrices: those on the diagonals from the table, others from `rest`.
template <class T>
struct PutBody {
  Diagonals d;
  const T *table, *rest;
  std::int64_t rest_step;  // 0: one element for all
  T* out;
  __device__ __forceinline__ void operator()(std::int64_t at) const {
    const std::int64_t col = at % d.cols(), row = at / d.cols() % d.rows(),
                       batch = at / d.cols() / d.rows(), k = col - row;
    if (k < d.low() || k > d.high()) {
      out[at] = rest[at * rest_step];
      return;
    }
    const std::int64_t i = k < 0 ? row + k : row, width = d.max_length();
    out[at] = table[(batch * d.count() + d.high() - k) * width + d.offset(k) + i];
  }
};
void diag_cuda(KernelContext& c) noexcept {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(
        c, c.out().size,
        PutBody<T>{diagonals(c, 1, c.out_shape()), c.in<T>(0), c.in<T>(4), 0, c.out<T>()});
  });
}
RILL_KERNEL("MatrixDiagV3", gpu, kPlainTypes, diag_cuda);
void set_diag_cuda(KernelContext& c) noexcept {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(
        c, c.out().size,
        PutBody<T>{diagonals(c, 2, c.out_shape()), c.in<T>(1), c.in<T>(0), 1, c.out<T>()});
  });
}
RILL_KERNEL("MatrixSetDiagV3", gpu, kPlainTypes, set_diag_cuda);

template <class T>
struct PartBody {
  Diagonals d;
  const T *in, *padding;
  T* out;
  __device__ __forceinline__ void operator()(std::int64_t at) const {
    const std::int64_t width = d.max_length(), k = d.high() - at / width % d.count(),
                       batch = at / width / d.count(), i = at % width - d.offset(k);
    const bool inside = i >= 0 && i < d.length(k);
    const std::int64_t row = (k < 0 ? -k : 0) + i, col = (k > 0 ? k : 0) + i;
    out[at] = inside ? in[(batch * d.rows() + row) * d.cols() + col] : *padding;
  }
};
void diag_part_cuda(KernelContext& c) noexcept {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(
        c, c.out().size,
        PartBody<T>{diagonals(c, 1, c.in_shape(0)), c.in<T>(0), c.in<T>(2), c.out<T>()});
  });
}
RILL_KERNEL("MatrixDiagPartV3", gpu, kPlainTypes, diag_part_cuda);

template <class T>
struct BandBody {
  const T* in;
  T* out;
  std::int64_t rows, cols, lower, upper;
  __device__ __forceinline__ void operator()(std::int64_t at) const {
    const std::int64_t k = at % cols - at / cols % rows;
    out[at] = (lower < 0 || -k <= lower) && (upper < 0 || k <= upper) ? in[at] : T{};
  }
};
void band_part_cuda(KernelContext& c) noexcept {
  const auto number = [&](int i) {
    return c.in(i).dtype == int64 ? *c.in<std::int64_t>(i) : *c.in<std::int32_t>(i);
  };
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size,
                    BandBody<T>{c.in<T>(0), c.out<T>(), c.out_shape().dim(-2),
                                c.out_shape().dim(-1), number(1), number(2)});
  });
}
RILL_KERNEL("MatrixBandPart", gpu, kPlainTypes, band_part_cuda);

template <class T>
struct TensorDiagBody {
  const T* in;
  T* out;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t at) const {
    out[at] = at / n == at % n ? in[at % n] : T{};
  }
};
template <class T>
struct TensorDiagPartBody {
  const T* in;
  T* out;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const { out[i] = in[i * n + i]; }
};
void tensor_diag_cuda(KernelContext& c) noexcept {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, TensorDiagBody<T>{c.in<T>(0), c.out<T>(), c.in(0).size});
  });
}
void tensor_diag_part_cuda(KernelContext& c) noexcept {
  by_width(c.out().dtype, [&]<class T>() {
    launch_elements(c, c.out().size, TensorDiagPartBody<T>{c.in<T>(0), c.out<T>(), c.out().size});
  });
}
constexpr TypeSet kDiagTypes = kFloatTypes | kComplexTypes | kIndexTypes;
RILL_KERNEL("Diag", gpu, kDiagTypes, tensor_diag_cuda);
RILL_KERNEL("DiagPart", gpu, kDiagTypes, tensor_diag_part_cuda);

}  // namespace
}  // namespace rill::cuda
