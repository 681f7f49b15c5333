#pragma once
#include <cublasLt.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rill/base/choice_store.h"

namespace rill::cuda {

// Products of two matrices by cuBLASLt, planned once per shape and kept: for small
// matrices, choosing an algorithm again costs more than the product. What cuBLASLt thinks
// fastest often is not: algorithms are timed once per shape, and the choice is stored, so that
// other processes have the same bits. Not for several callers at a time.
class MatmulPlans {
 public:
  explicit MatmulPlans(int ordinal);  // CUDA's number of the device
  MatmulPlans(const MatmulPlans&) = delete;
  ~MatmulPlans();

  // In the order of cuBLAS: matrices are columns after columns. y [m, n] =
  // op(a) [m, k] x op(b) [k, n].
  struct Shape {
    cudaDataType_t type;
    bool transpose_a, transpose_b;
    int m, n, k;
    int alignment;  // of the three addresses, bytes: 256, 16, or that of an element
    // What happens to the product before it is stored.
    enum class After : unsigned char { nothing, bias, bias_relu } after = After::nothing;
    bool add = false;     // to what y holds
    bool rounds = false;  // operands of float32 to TF32
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  // `bias`: one number for each of the m rows.
  cublasStatus_t run(const Shape& shape, const void* a, const void* b, void* y, const void* bias,
                     void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

 private:
  struct Plan;
  struct Hash {
    std::size_t operator()(const Shape& s) const;
  };
  struct Operands {
    const void *a, *b;
    void* y;
    const void* bias;
    void* workspace;
    std::size_t workspace_bytes;
    cudaStream_t stream;
  };
  cublasStatus_t make(const Shape& shape, const Operands& on, Plan& plan);
  cublasStatus_t launch(const Shape& shape, const Operands& on, const Plan& plan, void* to) const;
  bool take_stored(const Shape& shape, const Operands& on, Plan& plan);
  void tune(const Shape& shape, const Operands& on,
            const std::vector<cublasLtMatmulHeuristicResult_t>& candidates, Plan& plan);

  int ordinal_;
  std::unique_ptr<ChoiceStore> choices_;
  cublasLtHandle_t handle_ = nullptr;
  std::unordered_map<Shape, std::unique_ptr<Plan>, Hash> plans_;
};

}  // namespace rill::cuda
