#include <algorithm>
#include <limits>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/functors/random_element.h"
#include "rill/kernels/functors/random_source.h"

namespace rill::cpu {
namespace {

// Where the cells of an axis begin, and its end: Graham, "Fractional max-pooling". The words are
// drawn from `gen` as TensorFlow draws them.
void cell_borders(Philox& gen, std::int64_t in, std::int64_t out, bool pseudo_random,
                  std::int64_t* border) {
  const std::int64_t k = in / out;
  border[0] = 0;
  if (!pseudo_random) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(out));
    functors::fill_permutation(gen, order);
    gen.skip(static_cast<std::uint64_t>((out + 3) / 4));
    for (std::int64_t i = 0; i < out; ++i)
      border[i + 1] = border[i] + k + (order[static_cast<std::size_t>(i)] < in % out);
    return;
  }
  const double alpha = static_cast<double>(in) / static_cast<double>(out);
  const double first = static_cast<double>(k + 2) / alpha - 1;
  const double last = static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1);
  const Philox::Group x = gen();
  const double u = functors::unit_double(x[0], x[1]) * std::min(first, last);
  for (std::int64_t i = 1; i < out; ++i)
    border[i] = static_cast<std::int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) - 1;
  border[out] = in;
}

// Calls f(cell, row, column begin, end, ..) for each cell of an image.
struct Cells {
  std::int64_t batch, rows, columns, channels;  // of the larger image
  std::int64_t cell_rows, cell_columns;
  const std::int64_t *row, *column;  // borders
  bool overlapping;

  // The last row or column of cell i, both ends included.
  std::int64_t end(const std::int64_t* border, std::int64_t i, std::int64_t size) const {
    return std::min(overlapping ? border[i + 1] : border[i + 1] - 1, size - 1);
  }
  template <class F>
  void each(F f) const {  // f(place of the cell's first channel, number of pixels, each pixel)
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t r = 0; r < cell_rows; ++r)
        for (std::int64_t s = 0; s < cell_columns; ++s) {
          const std::int64_t r1 = end(row, r, rows), s1 = end(column, s, columns);
          const auto pixels = [&, b, r, s](auto&& visit) {
            for (std::int64_t y = row[r]; y <= r1; ++y)
              for (std::int64_t x = column[s]; x <= s1; ++x)
                visit(((b * rows + y) * columns + x) * channels);
          };
          f(((b * cell_rows + r) * cell_columns + s) * channels,
            (r1 - row[r] + 1) * (s1 - column[s] + 1), pixels);
        }
  }
};
Cells cells_of(KernelContext& c, const TensorShape& image, const TensorShape& pooled,
               const std::int64_t* row, const std::int64_t* column) {
  return {image.dim(0), image.dim(1),  image.dim(2),
          image.dim(3), pooled.dim(1), pooled.dim(2),
          row,          column,        c.bool_attr("overlapping")};
}

template <bool largest>
void fractional_pool_cpu(KernelContext& c) noexcept {
  const bool pseudo_random = c.bool_attr("pseudo_random");
  const std::int64_t rows = c.out_shape().dim(1), columns = c.out_shape().dim(2);
  // Each axis takes a number of 32 bits a cell, or two.
  const std::int64_t groups = pseudo_random ? 2 : (rows + 3) / 4 + (columns + 3) / 4;
  Philox gen = c.bool_attr("deterministic")
                   ? functors::stateful_generator(c.int_attr("seed"), c.int_attr("seed2"))
                   : functors::from_attrs(c, 1, groups);
  if (c.failed()) return;
  cell_borders(gen, c.in_shape(0).dim(1), rows, pseudo_random, c.out<std::int64_t>(1));
  cell_borders(gen, c.in_shape(0).dim(2), columns, pseudo_random, c.out<std::int64_t>(2));
  const Cells cells =
      cells_of(c, c.in_shape(0), c.out_shape(), c.out<std::int64_t>(1), c.out<std::int64_t>(2));
  dispatch_types<float, double, std::int32_t, std::int64_t>(c.out().dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    T* out = c.out<T>();
    cells.each([&](std::int64_t cell, std::int64_t n, auto&& pixels) {
      T* y = out + cell;
      std::fill_n(y, cells.channels, largest ? std::numeric_limits<T>::lowest() : T(0));
      pixels([&](std::int64_t at) {
        for (std::int64_t k = 0; k < cells.channels; ++k)
          y[k] = largest ? std::max(y[k], in[at + k]) : static_cast<T>(y[k] + in[at + k]);
      });
      for (std::int64_t k = 0; !largest && k < cells.channels; ++k)
        y[k] = static_cast<T>(y[k] / static_cast<T>(n));
    });
  });
}

// Borders come from files too.
bool valid_borders(KernelContext& c, int input, std::int64_t cells, std::int64_t size) {
  const std::int64_t* border = c.in<std::int64_t>(input);
  bool valid = c.in(input).size == cells + 1;
  for (std::int64_t i = 0; valid && i < cells; ++i)
    valid = border[i] >= 0 && border[i] < size && border[i + 1] > border[i];
  if (!valid)
    c.fail(Code::invalid_argument,
           format("[{}] {} must have {} growing numbers from 0 on, below {}", c.tag(),
                  c.op().inputs[static_cast<std::size_t>(input)].name, cells + 1, size));
  return valid;
}
template <bool largest>
void fractional_pool_grad_cpu(KernelContext& c) noexcept {
  const int dy_at = largest ? 2 : 1;
  const TensorShape &image = c.out_shape(), &pooled = c.in_shape(dy_at);
  if (pooled.dim(0) != image.dim(0) || pooled.dim(3) != image.dim(3))
    return c.fail(Code::invalid_argument,
                  format("[{}] out_backprop has shape {}, the input {}; expected the same batch "
                         "and channels",
                         c.tag(), pooled, image));
  if (!valid_borders(c, dy_at + 1, pooled.dim(1), image.dim(1)) ||
      !valid_borders(c, dy_at + 2, pooled.dim(2), image.dim(2)))
    return;
  const Cells cells =
      cells_of(c, image, pooled, c.in<std::int64_t>(dy_at + 1), c.in<std::int64_t>(dy_at + 2));
  dispatch_types<float, double, std::int32_t, std::int64_t>(c.out().dtype, [&]<class T>() {
    const T* dy = c.in<T>(dy_at);
    T* dx = c.out<T>();
    std::fill_n(dx, c.out().size, T(0));
    cells.each([&](std::int64_t cell, std::int64_t n, auto&& pixels) {
      for (std::int64_t k = 0; k < cells.channels; ++k) {
        const T g = dy[cell + k];
        if constexpr (largest) {  // the first of equals
          const T* in = c.in<T>(0);
          std::int64_t best = -1;
          pixels([&](std::int64_t at) {
            if (best < 0 || in[at + k] > in[best]) best = at + k;
          });
          dx[best] = static_cast<T>(dx[best] + g);
        } else {
          pixels([&](std::int64_t at) {
            dx[at + k] = static_cast<T>(dx[at + k] + g / static_cast<T>(n));
          });
        }
      }
    });
  });
}

constexpr TypeSet kPooledTypes{float32, float64, int32, int64};
RILL_KERNEL("FractionalMaxPool", cpu, kPooledTypes, fractional_pool_cpu<true>);
RILL_KERNEL("FractionalAvgPool", cpu, kPooledTypes, fractional_pool_cpu<false>);
RILL_KERNEL("FractionalMaxPoolGrad", cpu, kPooledTypes, fractional_pool_grad_cpu<true>);
RILL_KERNEL("FractionalAvgPoolGrad", cpu, kPooledTypes, fractional_pool_grad_cpu<false>);

}  // namespace
}  // namespace rill::cpu
