#pragma once
#include <cstdint>

namespace rill::cpu {

// c [m, n] = op(a) [m, k] x op(b) [k, n] + beta * c, row-major and dense; op
// transposes when its flag is set. float goes to oneDNN where it is there.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, T beta = T(0));

}  // namespace rill::cpu
