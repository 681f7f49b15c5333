#include "rill/kernels/cuda/matmul_plans.h"

#include <utility>

namespace rill::cuda {
namespace {

// More shapes than that are not a steady state: all are forgotten.
constexpr std::size_t kMostPlans = 1024;

#define RILL_RETURN_STATUS(call)                                                              \
  do {                                                                                        \
    if (const cublasStatus_t failed = (call); failed != CUBLAS_STATUS_SUCCESS) return failed; \
  } while (false)

}  // namespace

struct MatmulPlans::Plan {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, y = nullptr;
  cublasLtMatmulAlgo_t algorithm;
  Plan() = default;
  Plan(const Plan&) = delete;
  ~Plan() {
    if (product) cublasLtMatmulDescDestroy(product);
    for (cublasLtMatrixLayout_t layout : {a, b, y})
      if (layout) cublasLtMatrixLayoutDestroy(layout);
  }
};

MatmulPlans::MatmulPlans() = default;
MatmulPlans::~MatmulPlans() = default;

std::size_t MatmulPlans::Hash::operator()(const Shape& s) const {
  std::size_t h = static_cast<std::size_t>(s.type) * 4 + s.transpose_a * 2 + s.transpose_b;
  for (int part :
       {s.m, s.n, s.k, s.alignment, static_cast<int>(s.after) * 4 + s.rounds * 2 + s.add})
    h = (h ^ static_cast<std::size_t>(part)) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

cublasStatus_t MatmulPlans::make(const Shape& s, std::size_t workspace_bytes, Plan& plan) {
  const bool wide = s.type == CUDA_R_64F;
  const cublasComputeType_t compute = wide       ? CUBLAS_COMPUTE_64F
                                      : s.rounds ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                 : CUBLAS_COMPUTE_32F;
  RILL_RETURN_STATUS(
      cublasLtMatmulDescCreate(&plan.product, compute, wide ? CUDA_R_64F : CUDA_R_32F));
  const cublasOperation_t op_a = s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                          op_b = s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(plan.product, CUBLASLT_MATMUL_DESC_TRANSA,
                                                    &op_a, sizeof op_a));
  RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(plan.product, CUBLASLT_MATMUL_DESC_TRANSB,
                                                    &op_b, sizeof op_b));
  if (s.after != Shape::After::nothing) {
    const cublasLtEpilogue_t epilogue =
        s.after == Shape::After::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_RELU_BIAS;
    RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                      &epilogue, sizeof epilogue));
  }
  const auto layout = [&](cublasLtMatrixLayout_t& to, int rows, int columns, bool turned) {
    if (turned) std::swap(rows, columns);
    return cublasLtMatrixLayoutCreate(&to, s.type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), rows);
  };
  RILL_RETURN_STATUS(layout(plan.a, s.m, s.k, s.transpose_a));
  RILL_RETURN_STATUS(layout(plan.b, s.k, s.n, s.transpose_b));
  RILL_RETURN_STATUS(layout(plan.y, s.m, s.n, false));
  cublasLtMatmulPreference_t preference = nullptr;
  RILL_RETURN_STATUS(cublasLtMatmulPreferenceCreate(&preference));
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &workspace_bytes, sizeof workspace_bytes);
  const auto alignment = static_cast<std::uint32_t>(s.alignment);
  for (auto side :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    cublasLtMatmulPreferenceSetAttribute(preference, side, &alignment, sizeof alignment);
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, plan.product, plan.a, plan.b, plan.y, plan.y, preference, 1, &found, &count);
  cublasLtMatmulPreferenceDestroy(preference);
  RILL_RETURN_STATUS(status);
  if (count == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  plan.algorithm = found.algo;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatmulPlans::run(const Shape& s, const void* a, const void* b, void* y,
                                const void* bias, void* workspace, std::size_t workspace_bytes,
                                cudaStream_t stream) {
  auto found = plans_.find(s);
  if (found == plans_.end()) {
    if (!handle_) RILL_RETURN_STATUS(cublasLtCreate(&handle_));
    auto plan = std::make_unique<Plan>();
    RILL_RETURN_STATUS(make(s, workspace_bytes, *plan));
    if (plans_.size() >= kMostPlans) plans_.clear();
    found = plans_.emplace(s, std::move(plan)).first;
  }
  const Plan& plan = *found->second;
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool wide = s.type == CUDA_R_64F;
  const void *alpha = wide ? static_cast<const void*>(&one_double) : &one,
             *beta = s.add  ? alpha
                     : wide ? static_cast<const void*>(&zero_double)
                            : &zero;
  if (bias)
    RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(
        plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  return cublasLtMatmul(handle_, plan.product, alpha, a, plan.a, b, plan.b, beta, y, plan.y, y,
                        plan.y, &plan.algorithm, workspace, workspace_bytes, stream);
}

}  // namespace rill::cuda
