#pragma once
#include <cstdint>

namespace rill::cpu {

// From one row of a matrix in memory to the next, in elements.
struct RowSteps {
  std::int64_t a, b, c;
};

// c [m, n] = op(a) [m, k] x op(b) [k, n] + beta * c, row-major; op transposes when its flag is
// set. float goes to oneDNN where it is there.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, T beta, RowSteps steps);

// The same of dense matrices.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, T beta = T(0)) {
  gemm(transpose_a, transpose_b, m, n, k, a, b, c, beta,
       {transpose_a ? m : k, transpose_b ? k : n, n});
}

// A row step for n columns of scratch memory. Rows that are a multiple of 4 KB apart all fall
// into the same few places of the cache, where a product over them takes twice as long.
constexpr std::int64_t spread_row_step(std::int64_t n) { return n % 512 == 0 ? n + 16 : n; }

}  // namespace rill::cpu
