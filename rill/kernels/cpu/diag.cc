// Diagonals and bands of matrices.
#include "rill/core/diagonal.h"

#include <cstring>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

Diagonals diagonals(const KernelContext& c, int k_input, const TensorShape& matrices) {
  const TensorView& k = c.in(k_input);
  const auto* v = static_cast<const std::int32_t*>(k.data);
  return {v[0], v[k.size - 1], matrices.dim(-2), matrices.dim(-1), c.string_attr("align")};
}
std::int64_t batch_of(const TensorShape& matrices) {
  std::int64_t n = 1;
  for (int i = 0; i + 2 < matrices.rank(); ++i) n *= matrices.dim(i);
  return n;
}

// visit(place in the matrix, place in the table of diagonals) for each element on them.
template <class F>
void for_diagonals(const Diagonals& d, F visit) {
  const std::int64_t width = d.max_length();
  for (std::int64_t k = d.high(); k >= d.low(); --k) {
    const std::int64_t row = std::max<std::int64_t>(-k, 0), col = std::max<std::int64_t>(k, 0);
    const std::int64_t at = (d.high() - k) * width + d.offset(k);
    for (std::int64_t i = 0; i < d.length(k); ++i) visit((row + i) * d.cols() + col + i, at + i);
  }
}

template <class T>
void fill(const KernelContext& c, T value) {
  T* out = c.out<T>();
  parallel_for(c.out().size, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin, out + end, value);
  });
}

void diag_cpu(KernelContext& c) noexcept {
  const Diagonals d = diagonals(c, 1, c.out_shape());
  const std::int64_t matrix = d.rows() * d.cols(), table = d.count() * d.max_length(),
                     batch = batch_of(c.out_shape());
  dispatch_width(c.out().dtype, [&]<class T>() {
    fill(c, *c.in<T>(4));
    for (std::int64_t b = 0; b < batch; ++b)
      for_diagonals(d, [&](std::int64_t m, std::int64_t t) {
        c.out<T>()[b * matrix + m] = c.in<T>(0)[b * table + t];
      });
  });
}
RILL_KERNEL("MatrixDiagV3", cpu, kPlainTypes, diag_cpu);

void diag_part_cpu(KernelContext& c) noexcept {
  const Diagonals d = diagonals(c, 1, c.in_shape(0));
  const std::int64_t matrix = d.rows() * d.cols(), table = d.count() * d.max_length(),
                     batch = batch_of(c.in_shape(0));
  dispatch_width(c.out().dtype, [&]<class T>() {
    fill(c, *c.in<T>(2));
    for (std::int64_t b = 0; b < batch; ++b)
      for_diagonals(d, [&](std::int64_t m, std::int64_t t) {
        c.out<T>()[b * table + t] = c.in<T>(0)[b * matrix + m];
      });
  });
}
RILL_KERNEL("MatrixDiagPartV3", cpu, kPlainTypes, diag_part_cpu);

void set_diag_cpu(KernelContext& c) noexcept {
  const Diagonals d = diagonals(c, 2, c.out_shape());
  const std::int64_t matrix = d.rows() * d.cols(), table = d.count() * d.max_length(),
                     batch = batch_of(c.out_shape());
  std::memcpy(c.out().data, c.in(0).data,
              static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  dispatch_width(c.out().dtype, [&]<class T>() {
    for (std::int64_t b = 0; b < batch; ++b)
      for_diagonals(d, [&](std::int64_t m, std::int64_t t) {
        c.out<T>()[b * matrix + m] = c.in<T>(1)[b * table + t];
      });
  });
}
RILL_KERNEL("MatrixSetDiagV3", cpu, kPlainTypes, set_diag_cpu);

std::int64_t int_at(const TensorView& v) {
  return v.dtype == int64 ? *static_cast<const std::int64_t*>(v.data)
                          : *static_cast<const std::int32_t*>(v.data);
}

void band_part_cpu(KernelContext& c) noexcept {
  const std::int64_t rows = c.out_shape().dim(-2), cols = c.out_shape().dim(-1),
                     lower = int_at(c.in(1)), upper = int_at(c.in(2));
  if (c.out().size == 0) return;
  dispatch_width(c.out().dtype, [&]<class T>() {
    parallel_for(
        c.out().size / cols, std::max<std::int64_t>(1, (1 << 15) / cols),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t i = r % rows;
            const std::int64_t from = lower < 0 ? 0 : std::clamp<std::int64_t>(i - lower, 0, cols);
            const std::int64_t to = upper < 0 || upper >= cols
                                        ? cols
                                        : std::clamp<std::int64_t>(i + upper + 1, from, cols);
            const T* in = c.in<T>(0) + r * cols;
            T* out = c.out<T>() + r * cols;
            std::fill(out, out + from, T{});
            std::copy(in + from, in + to, out + from);
            std::fill(out + to, out + cols, T{});
          }
        });
  });
}
RILL_KERNEL("MatrixBandPart", cpu, kPlainTypes, band_part_cpu);

void tensor_diag_cpu(KernelContext& c) noexcept {
  std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  const std::int64_t n = c.in(0).size;
  dispatch_width(c.out().dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < n; ++i) c.out<T>()[i * n + i] = c.in<T>(0)[i];
  });
}
RILL_KERNEL("Diag", cpu, kFloatTypes | kComplexTypes | kIndexTypes, tensor_diag_cpu);
void tensor_diag_part_cpu(KernelContext& c) noexcept {
  const std::int64_t n = c.out().size;
  dispatch_width(c.out().dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < n; ++i) c.out<T>()[i] = c.in<T>(0)[i * n + i];
  });
}
RILL_KERNEL("DiagPart", cpu, kFloatTypes | kComplexTypes | kIndexTypes, tensor_diag_part_cpu);

}  // namespace
}  // namespace rill::cpu
