#pragma once
// What the kernels of whole sequences (LSTM, GRU) share.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/kernels/cpu/gemm.h"

namespace rill::cpu {

// Time, batch, features and units of a sequence x with the first state h.
struct SequenceSizes {
  SequenceSizes(const TensorShape& x, const TensorShape& h)
      : time(x.dim(0)), batch(x.dim(1)), features(x.dim(2)), units(h.dim(1)) {}
  std::int64_t time, batch, features, units;
  std::int64_t rows() const { return time * batch; }
  std::int64_t state() const { return batch * units; }
};

// Runs body(begin, end) for blocks of samples, which know nothing of each other: a thread takes a
// block through all steps, and no step waits for another thread. With fewer blocks than threads
// each product inside is for all threads instead. The blocks depend on the sizes alone, and so do
// the bits.
template <class F>
void for_blocks_of_samples(const SequenceSizes& s, F body) {
  constexpr std::int64_t kLeast = 16, kMost = 32;  // samples of a block; blocks
  const auto enough = static_cast<std::uint64_t>(std::max<std::int64_t>(1, s.batch / kLeast));
  const auto blocks =
      std::min<std::int64_t>(kMost, static_cast<std::int64_t>(std::bit_floor(enough)));
  const auto first = [&](std::int64_t block) { return s.batch * block / blocks; };
  if (blocks < compute_width()) {
    for (std::int64_t b = 0; b < blocks; ++b) body(first(b), first(b + 1));
    return;
  }
  // A thread is worth half a million multiplications.
  const std::int64_t work = s.rows() / blocks * s.units * s.units;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 19) / std::max<std::int64_t>(1, work));
  parallel_for(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    const ComputeWidthScope one(1);
    for (std::int64_t b = begin; b < end; ++b) body(first(b), first(b + 1));
  });
}

// The same for the samples of a block at one step.
template <class F>
void for_samples(const SequenceSizes& s, std::int64_t begin, std::int64_t end, F body) {
  const std::int64_t grain = std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, s.units));
  parallel_for(end - begin, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t b = begin + from; b < begin + to; ++b) body(b);
  });
}

template <class T>
void repeat_rows(const T* row, std::int64_t n, T* to, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(row, n, to + i * n);
}

// The sums over the rows of x, which are `step` elements apart.
template <class T>
void sum_columns(const T* x, std::int64_t rows, std::int64_t n, std::int64_t step, T* sums) {
  parallel_for(n, 64, [&](std::int64_t begin, std::int64_t end) {
    std::fill(sums + begin, sums + end, T(0));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = begin; j < end; ++j) sums[j] += x[i * step + j];
  });
}

// The transpose of a matrix that every step of a sequence multiplies by: made once, the products
// read rows that lie one after the other. Null: no memory, reported.
template <class T>
struct TransposedMatrix {
  TransposedMatrix(KernelContext& c, const T* m, std::int64_t rows, std::int64_t columns)
      : step(spread_row_step(rows)), data(c.scratch<T>(std::max<std::int64_t>(1, columns * step))) {
    if (!m || !data) return;
    constexpr std::int64_t kTile = 16;  // of both, so that neither is read or written line by line
    parallel_for(columns, 8 * kTile, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j0 = begin; j0 < end; j0 += kTile)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = j0; j < std::min(end, j0 + kTile); ++j)
            data[j * step + i] = m[i * columns + j];
    });
  }
  std::int64_t step;
  T* data;
};

}  // namespace rill::cpu
