#include "rill/kernels/cuda/matmul_plans.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "rill/base/format.h"
#include "rill/base/logging.h"
#include "rill/kernels/cuda/choices_file.h"
#include "rill/kernels/cuda/recording.h"

namespace rill::cuda {
namespace {

// More shapes than that are not a steady state: all are forgotten.
constexpr std::size_t kMostPlans = 1024;

#define RILL_RETURN_STATUS(call)                                                              \
  do {                                                                                        \
    if (const cublasStatus_t failed = (call); failed != CUBLAS_STATUS_SUCCESS) return failed; \
  } while (false)

// Below that a product takes no longer than its launch.
constexpr double kFewestProducts = 1 << 20;
constexpr int kTries = 16;

// RILL_CUBLAS_TUNING=0: what cuBLASLt would choose, nothing is timed.
bool tuning_is_on() {
  static const bool on = [] {
    const char* value = std::getenv("RILL_CUBLAS_TUNING");
    return !value || std::string_view(value) != "0";
  }();
  return on;
}

// An algorithm is eight words that mean the same to every process with this version of cuBLASLt.
std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const std::uint64_t word : algorithm.data) text += format("{:x}.", word);
  return text;
}
bool from_text(const std::string& text, cublasLtMatmulAlgo_t& algorithm) {
  const char* at = text.c_str();
  for (auto& word : algorithm.data) {
    char* end = nullptr;
    word = std::strtoull(at, &end, 16);
    if (end == at || *end != '.') return false;
    at = end + 1;
  }
  return *at == 0;
}

std::string key_of(const MatmulPlans::Shape& s) {
  return format("{},{},{},{},{},{},{},{},{},{}", static_cast<int>(s.type), int{s.transpose_a},
                int{s.transpose_b}, s.m, s.n, s.k, s.alignment, static_cast<int>(s.after),
                int{s.add}, int{s.rounds});
}

// Two points of a stream, and the time between them.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    ok_ = cudaEventCreate(&begin_) == cudaSuccess && cudaEventCreate(&end_) == cudaSuccess;
  }
  Stopwatch(const Stopwatch&) = delete;
  ~Stopwatch() {
    for (cudaEvent_t e : {begin_, end_})
      if (e) cudaEventDestroy(e);
  }
  // Milliseconds of one of `runs` calls; negative: one failed.
  template <class F>
  float time(int runs, F call) {
    if (!ok_) return -1;
    cudaEventRecord(begin_, stream_);
    bool all = true;
    for (int i = 0; i < runs && all; ++i) all = call();
    cudaEventRecord(end_, stream_);
    float ms = -1;
    if (cudaEventSynchronize(end_) != cudaSuccess || !all) return -1;
    cudaEventElapsedTime(&ms, begin_, end_);
    return ms / static_cast<float>(runs);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  bool ok_;
};

// The best of a few rounds, each as long as a third of a millisecond; one round alone of what is
// nowhere near `best_yet`, if that is positive.
template <class F>
float best_time(Stopwatch& watch, float best_yet, F call) {
  if (watch.time(1, call) < 0) return -1;  // loads its code
  float best = watch.time(1, call);
  if (best < 0 || (best_yet > 0 && best > 3 * best_yet)) return best;
  const int runs = std::clamp(static_cast<int>(0.3f / std::max(best, 1e-3f)), 1, 20);
  for (int round = 0; round < 3; ++round) {
    const float ms = watch.time(runs, call);
    if (ms < 0) return -1;
    best = std::min(best, ms);
  }
  return best;
}

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

MatmulPlans::MatmulPlans(int ordinal) : ordinal_(ordinal) {}
MatmulPlans::~MatmulPlans() = default;

std::size_t MatmulPlans::Hash::operator()(const Shape& s) const {
  std::size_t h = static_cast<std::size_t>(s.type) * 4 + s.transpose_a * 2 + s.transpose_b;
  for (int part :
       {s.m, s.n, s.k, s.alignment, static_cast<int>(s.after) * 4 + s.rounds * 2 + s.add})
    h = (h ^ static_cast<std::size_t>(part)) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

// y = op(a) op(b) to `to`; what is added is in y.
cublasStatus_t MatmulPlans::launch(const Shape& s, const Operands& on, const Plan& plan,
                                   void* to) const {
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool wide = s.type == CUDA_R_64F;
  const void *alpha = wide ? static_cast<const void*>(&one_double) : &one,
             *beta = s.add  ? alpha
                     : wide ? static_cast<const void*>(&zero_double)
                            : &zero;
  return cublasLtMatmul(handle_, plan.product, alpha, on.a, plan.a, on.b, plan.b, beta, on.y,
                        plan.y, to, plan.y, &plan.algorithm, on.workspace, on.workspace_bytes,
                        on.stream);
}

// What this or another process chose before.
bool MatmulPlans::take_stored(const Shape& s, const Operands& on, Plan& plan) {
  if (!choices_)
    choices_ = std::make_unique<ChoiceStore>(
        choices_file("cublas", static_cast<std::int64_t>(cublasLtGetVersion()), ordinal_));
  const std::optional<std::string> stored = choices_->find(key_of(s));
  cublasLtMatmulAlgo_t algorithm{};
  cublasLtMatmulHeuristicResult_t checked{};
  if (!stored || !from_text(*stored, algorithm) ||
      cublasLtMatmulAlgoCheck(handle_, plan.product, plan.a, plan.b, plan.y, plan.y, &algorithm,
                              &checked) != CUBLAS_STATUS_SUCCESS ||
      checked.workspaceSize > on.workspace_bytes)
    return false;
  plan.algorithm = algorithm;
  return true;
}

// Runs the candidates, and stores the fastest.
void MatmulPlans::tune(const Shape& s, const Operands& on,
                       const std::vector<cublasLtMatmulHeuristicResult_t>& candidates, Plan& plan) {
  // A sum that is added to may be added to once only.
  void* to = on.y;
  const std::size_t element = s.type == CUDA_R_64F ? 8 : s.type == CUDA_R_32F ? 4 : 2;
  if (s.add &&
      cudaMallocAsync(&to, element * static_cast<std::size_t>(s.m) * static_cast<std::size_t>(s.n),
                      on.stream) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  Stopwatch watch(on.stream);
  std::vector<float> times;
  float best = -1;
  for (const auto& candidate : candidates) {
    plan.algorithm = candidate.algo;
    times.push_back(
        best_time(watch, best, [&] { return launch(s, on, plan, to) == CUBLAS_STATUS_SUCCESS; }));
    if (times.back() >= 0 && (best < 0 || times.back() < best)) best = times.back();
  }
  if (to != on.y) cudaFreeAsync(to, on.stream);
  // The first within 2 % of the fastest: timing noise then rarely changes it.
  std::size_t chosen = 0;
  while (best >= 0 && (times[chosen] < 0 || times[chosen] > 1.02f * best)) ++chosen;
  plan.algorithm = candidates[chosen].algo;
  const std::string key = key_of(s);
  RILL_LOG(debug, "cuBLAS: algorithm {} of {} for {}: {} us, the first {}", chosen, times.size(),
           key, times[chosen] * 1e3f, times[0] * 1e3f);
  const auto kept = choices_->keep(key, text_of(plan.algorithm));
  if (!kept || *kept == text_of(plan.algorithm)) return;
  if (!take_stored(s, on, plan)) plan.algorithm = candidates[0].algo;
}

cublasStatus_t MatmulPlans::make(const Shape& s, const Operands& on, Plan& plan) {
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
  if (on.bias)
    RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(
        plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &on.bias, sizeof on.bias));
  const bool worth_it = tuning_is_on() && static_cast<double>(s.m) * static_cast<double>(s.n) *
                                                  static_cast<double>(s.k) >=
                                              kFewestProducts;
  if (worth_it && take_stored(s, on, plan)) return CUBLAS_STATUS_SUCCESS;
  cublasLtMatmulPreference_t preference = nullptr;
  RILL_RETURN_STATUS(cublasLtMatmulPreferenceCreate(&preference));
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &on.workspace_bytes, sizeof on.workspace_bytes);
  const auto alignment = static_cast<std::uint32_t>(s.alignment);
  for (auto side :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    cublasLtMatmulPreferenceSetAttribute(preference, side, &alignment, sizeof alignment);
  // Timed where it may wait, which a recording may not, and where the choice can be stored:
  // another process would make another one.
  const bool times = worth_it && choices_->can_keep() && !CudaRecording::current();
  std::vector<cublasLtMatmulHeuristicResult_t> found(times ? kTries : 1);
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, plan.product, plan.a, plan.b, plan.y, plan.y, preference,
      static_cast<int>(found.size()), found.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  RILL_RETURN_STATUS(status);
  found.resize(static_cast<std::size_t>(count));
  std::erase_if(found, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
  if (found.empty()) return CUBLAS_STATUS_NOT_SUPPORTED;
  plan.algorithm = found[0].algo;
  if (found.size() > 1) tune(s, on, found, plan);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatmulPlans::run(const Shape& s, const void* a, const void* b, void* y,
                                const void* bias, void* workspace, std::size_t workspace_bytes,
                                cudaStream_t stream) {
  const Operands on{a, b, y, bias, workspace, workspace_bytes, stream};
  auto found = plans_.find(s);
  if (found == plans_.end()) {
    if (!handle_) RILL_RETURN_STATUS(cublasLtCreate(&handle_));
    auto plan = std::make_unique<Plan>();
    RILL_RETURN_STATUS(make(s, on, *plan));
    if (plans_.size() >= kMostPlans) plans_.clear();
    found = plans_.emplace(s, std::move(plan)).first;
  }
  const Plan& plan = *found->second;
  if (bias)
    RILL_RETURN_STATUS(cublasLtMatmulDescSetAttribute(
        plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  return launch(s, on, plan, y);
}

}  // namespace rill::cuda
