// Matrix products by cuBLAS. float32 is computed in float32, and in TF32 only when the program
// asked for it: the values are the CPU's except for the order of sums. Half types add up in float.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "rill/base/format.h"
#include "rill/core/float32_math.h"
#include "rill/kernels/cuda/finish_rows.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/kernels/cuda/matmul_plans.h"
#include "rill/kernels/cuda/product.h"

namespace rill::cuda {
namespace {

struct Types {
  cudaDataType_t element;
  cublasComputeType_t compute;
};
Types types_of(DType d) {
  if (d == float64) return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
  if (d == float16) return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
  if (d == bfloat16) return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  return {CUDA_R_32F,
          tensor_float_32_allowed() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}
bool rounds(const Types& t) { return t.compute == CUBLAS_COMPUTE_32F_FAST_TF32; }

// What all three addresses are multiples of.
int alignment_of(DType dtype, const void* a, const void* b, const void* y) {
  const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b) |
                    reinterpret_cast<std::uintptr_t>(y);
  return bits % 256 == 0 ? 256 : bits % 16 == 0 ? 16 : static_cast<int>(dtype.itemsize());
}

// `count` products of [m, k] and [k, n], matrices a_step, b_step and m * n
// elements apart; a step of 0 repeats one.
struct Batch {
  std::int64_t count, a_step, b_step;
};
void multiply(KernelContext& c, const GpuDevice::Blas& blas, cudaStream_t stream, bool ta, bool tb,
              std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* y,
              Batch batch) {
  if (!blas.handle())
    return c.fail(Code::internal,
                  format("[{}] cuBLAS cannot start on {}", c.tag(), c.device().name()));
  const Types t = types_of(c.out().dtype);
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool wide = t.compute == CUBLAS_COMPUTE_64F;
  const void *alpha = wide ? static_cast<const void*>(&one_double) : &one,
             *beta = wide ? static_cast<const void*>(&zero_double) : &zero;
  // cuBLAS walks down columns: what it sees is y^T = b^T a^T.
  const auto op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N, op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), depth = static_cast<int>(k);
  const int ldb = tb ? depth : rows, lda = ta ? columns : depth;
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (batch.count == 1) {
    MatmulPlans::Shape shape{
        t.element, tb, ta, rows, columns, depth, alignment_of(c.out().dtype, a, b, y)};
    shape.rounds = rounds(t);
    status = blas.plans().run(shape, b, a, y, nullptr, blas.workspace(),
                              GpuDevice::Blas::kWorkspace, stream);
  }
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    status = cublasGemmStridedBatchedEx(
        blas.handle(), op_b, op_a, rows, columns, depth, alpha, b, t.element, ldb, batch.b_step, a,
        t.element, lda, batch.a_step, beta, y, t.element, rows, m * n,
        static_cast<int>(batch.count), t.compute, CUBLAS_GEMM_DEFAULT);
  if (status != CUBLAS_STATUS_SUCCESS)
    c.fail(Code::internal, format("[{}] cuBLAS refused a product of [{}, {}] and [{}, {}]: {}",
                                  c.tag(), m, k, k, n, cublasGetStatusString(status)));
}

// cuBLAS counts in 32 bits, and leaves the result alone when there is nothing to add up.
bool settled(KernelContext& c, GpuDevice& gpu, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (c.out().size == 0) return true;
  if (k == 0) {
    cudaMemsetAsync(c.out().data, 0,
                    static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                    gpu.stream());
    check_launch(c);
    return true;
  }
  if (m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX) return false;
  c.fail(Code::unimplemented,
         format("[{}] a matrix of more than {} rows or columns on a GPU", c.tag(), INT32_MAX));
  return true;
}

void matmul_cuda(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const std::int64_t m = c.out_shape().dim(0), n = c.out_shape().dim(1),
                     k = c.in_shape(0).dim(ta ? 0 : 1);
  GpuDevice& gpu = gpu_of(c);
  if (settled(c, gpu, m, n, k)) return;
  const GpuDevice::Blas blas(gpu);
  multiply(c, blas, gpu.stream(), ta, tb, m, n, k, c.in(0).data, c.in(1).data, c.out().data,
           {1, 0, 0});
}
RILL_KERNEL("MatMul", gpu, kFloatTypes, matmul_cuda);

// The product of inputs 0 and 1 with what comes after it; the status of cuBLAS.
cublasStatus_t product_with(KernelContext& c, MatmulPlans::Shape::After after, bool add,
                            const void* bias) {
  const bool ta = c.bool_attr("transpose_a"), tb = c.bool_attr("transpose_b");
  const int m = static_cast<int>(c.out_shape().dim(0)), n = static_cast<int>(c.out_shape().dim(1)),
            k = static_cast<int>(c.in_shape(0).dim(ta ? 0 : 1));
  GpuDevice& gpu = gpu_of(c);
  const GpuDevice::Blas blas(gpu);
  if (!blas.handle()) return CUBLAS_STATUS_NOT_INITIALIZED;
  const void *a = c.in(0).data, *b = c.in(1).data;
  void* y = c.out().data;
  const Types t = types_of(c.out().dtype);
  MatmulPlans::Shape shape{t.element, tb, ta, n, m, k, alignment_of(c.out().dtype, a, b, y)};
  shape.rounds = rounds(t);
  shape.after = after;
  shape.add = add;
  return blas.plans().run(shape, b, a, y, bias, blas.workspace(), GpuDevice::Blas::kWorkspace,
                          gpu.stream());
}
bool refused(KernelContext& c, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    c.fail(Code::internal,
           format("[{}] cuBLAS refused a product: {}", c.tag(), cublasGetStatusString(status)));
  return c.failed();
}

void matmul_add_cuda(KernelContext& c) noexcept {
  GpuDevice& gpu = gpu_of(c);
  const std::size_t bytes = static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize();
  if (c.out().data != c.in(2).data && bytes > 0) {
    cudaMemcpyAsync(c.out().data, c.in(2).data, bytes, cudaMemcpyDeviceToDevice, gpu.stream());
    check_launch(c);
  }
  if (bytes == 0 || c.in(0).size == 0 || c.failed()) return;
  refused(c, product_with(c, MatmulPlans::Shape::After::nothing, true, nullptr));
}
RILL_KERNEL("_MatMulAdd", gpu, kRealFloatTypes, matmul_add_cuda);

// Bias and relu by cuBLAS itself; other activations, and what it does not take, by a
// kernel over the rows.
void fused_matmul_cuda(KernelContext& c) noexcept {
  GpuDevice& gpu = gpu_of(c);
  const auto ops = c.attr("fused_ops").as_strings();
  const std::int64_t k = c.in_shape(0).dim(c.bool_attr("transpose_a") ? 0 : 1);
  if (c.out().size == 0) return;
  using After = MatmulPlans::Shape::After;
  const bool relu = ops.size() > 1 && ops[1] == "Relu", other = ops.size() > 1 && !relu;
  if (k > 0) {
    const cublasStatus_t status =
        product_with(c, relu ? After::bias_relu : After::bias, false, c.in(2).data);
    if (status == CUBLAS_STATUS_SUCCESS) {
      if (other) finish_rows(c, false, ops[1]);
      return;
    }
    if (refused(c, product_with(c, After::nothing, false, nullptr))) return;
  } else {
    settled(c, gpu, c.out_shape().dim(0), c.out_shape().dim(1), 0);
  }
  finish_rows(c, true, ops.size() > 1 ? ops[1] : std::string());
}
RILL_KERNEL("_FusedMatMul", gpu, kRealFloatTypes, fused_matmul_cuda);

// How many matrices of `s` further each batch axis of `out` leads; 0 where it is repeated.
Dims matrix_strides(const TensorShape& s, const TensorShape& out) {
  Dims strides(out.size() - 2, 0);
  std::int64_t step = 1;
  for (int i = 3; i <= s.rank(); ++i) {
    if (s.dim(-i) != 1) strides[out.size() - static_cast<std::size_t>(i)] = step;
    step *= s.dim(-i);
  }
  return strides;
}

// The batch axes that both sides walk evenly are one call; those before them
// are called one by one.
void batch_matmul_cuda(KernelContext& c) noexcept {
  const bool ta = c.bool_attr("adj_x"), tb = c.bool_attr("adj_y");
  const TensorShape& out = c.out_shape();
  const std::int64_t m = out.dim(-2), n = out.dim(-1), k = c.in_shape(0).dim(ta ? -2 : -1);
  GpuDevice& gpu = gpu_of(c);
  if (settled(c, gpu, m, n, k)) return;
  const Dims as = matrix_strides(c.in_shape(0), out), bs = matrix_strides(c.in_shape(1), out);
  std::size_t axis = as.size();  // axes from here on are in `batch`
  Batch batch{1, 0, 0};
  while (axis > 0) {
    const std::int64_t d = out.dim(static_cast<int>(axis) - 1);
    if (d != 1) {
      if (batch.count == 1) {
        batch = {d, as[axis - 1], bs[axis - 1]};
      } else if (as[axis - 1] == batch.a_step * batch.count &&
                 bs[axis - 1] == batch.b_step * batch.count) {
        batch.count *= d;
      } else {
        break;
      }
    }
    --axis;
  }
  std::int64_t calls = 1;
  for (std::size_t i = 0; i < axis; ++i) calls *= out.dim(static_cast<int>(i));
  const auto bytes = static_cast<std::int64_t>(c.out().dtype.itemsize());
  const GpuDevice::Blas blas(gpu);
  for (std::int64_t call = 0; call < calls && !c.failed(); ++call) {
    std::int64_t ia = 0, ib = 0, rest = call;
    for (std::size_t i = axis; i-- > 0; rest /= out.dim(static_cast<int>(i))) {
      ia += rest % out.dim(static_cast<int>(i)) * as[i];
      ib += rest % out.dim(static_cast<int>(i)) * bs[i];
    }
    multiply(c, blas, gpu.stream(), ta, tb, m, n, k, c.in<char>(0) + ia * m * k * bytes,
             c.in<char>(1) + ib * k * n * bytes, c.out<char>() + call * batch.count * m * n * bytes,
             {batch.count, batch.a_step * m * k, batch.b_step * k * n});
  }
}
RILL_KERNEL("BatchMatMulV2", gpu, kFloatTypes, batch_matmul_cuda);

}  // namespace

void product(KernelContext& c, DType dtype, const Product& p, const void* a, const void* b,
             void* y) {
  if (p.m == 0 || p.n == 0 || c.failed()) return;
  GpuDevice& gpu = gpu_of(c);
  if (p.k == 0) {
    if (!p.add)
      cudaMemsetAsync(y, 0, static_cast<std::size_t>(p.m * p.n) * dtype.itemsize(), gpu.stream());
    return check_launch(c);
  }
  const GpuDevice::Blas blas(gpu);
  cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
  if (blas.handle()) {
    const Types t = types_of(dtype);
    MatmulPlans::Shape shape{t.element,
                             p.transpose_b,
                             p.transpose_a,
                             static_cast<int>(p.n),
                             static_cast<int>(p.m),
                             static_cast<int>(p.k),
                             alignment_of(dtype, a, b, y)};
    shape.rounds = rounds(t);
    shape.add = p.add;
    status = blas.plans().run(shape, b, a, y, nullptr, blas.workspace(),
                              GpuDevice::Blas::kWorkspace, gpu.stream());
  }
  refused(c, status);
}

}  // namespace rill::cuda
