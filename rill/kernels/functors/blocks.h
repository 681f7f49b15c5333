#pragma once
#include <algorithm>

#include "rill/kernels/functors/moves.h"

// Blocks of pixels moved into channels or batch entries, and back, for every device: copies
// with the right strides (moves.h says what a Copy is).
namespace rill::moves {

// Walks [n, h, i, w, j, c] of the image and of the deep tensor alike.
template <class Copy>
void move_blocks(KernelContext& c, const TensorShape& image, bool to_depth) {
  const std::int64_t b = c.int_attr("block_size");
  const bool nhwc = c.string_attr("data_format") == "NHWC";
  const std::int64_t n = image.dim(0), rows = image.dim(nhwc ? 1 : 2),
                     cols = image.dim(nhwc ? 2 : 3), channels = image.dim(nhwc ? 3 : 1);
  const Dims dims{n, rows / b, b, cols / b, b, channels};
  // Strides of rows, columns and channels on each side.
  const std::int64_t size = rows * cols * channels, deep = channels * b * b;
  const std::int64_t ir = nhwc ? cols * channels : cols, ic = nhwc ? channels : 1,
                     ik = nhwc ? 1 : rows * cols;
  const std::int64_t dr = nhwc ? cols / b * deep : cols / b, dc = nhwc ? deep : 1,
                     dk = nhwc ? 1 : rows / b * (cols / b);
  const Dims in_image{size, b * ir, ir, b * ic, ic, ik},
      in_deep{size, dr, b * channels * dk, dc, channels * dk, dk};
  Copy::copy(c, c.out().dtype, c.in(0).data, c.out().data,
             {dims, to_depth ? in_image : in_deep, to_depth ? in_deep : in_image});
}
template <class Copy>
void space_to_depth(KernelContext& c) noexcept {
  move_blocks<Copy>(c, c.in_shape(0), true);
}
template <class Copy>
void depth_to_space(KernelContext& c) noexcept {
  move_blocks<Copy>(c, c.out_shape(), false);
}

// Element e of block o along an axis is element e * block + o - border of the
// image, where that is inside. One copy a place in the block.
template <class Copy>
void move_batches(KernelContext& c, const TensorView& image, const TensorView& batches,
                  bool to_batch) {
  const std::int64_t m = c.in(1).size;
  const Dims is = row_major(image.shape->dims()), bs = row_major(batches.shape->dims());
  const std::int64_t n = image.shape->dim(0);
  std::int64_t blocks = 1;
  for (std::int64_t i = 0; i < m; ++i) blocks *= int_at(c.in(1), i);
  for (std::int64_t place = 0; place < blocks; ++place) {
    std::int64_t rest = place, image_at = 0, batch_at = place * n * bs[0];
    StridedCopy copy{image.shape->dims(), is, bs};
    for (std::int64_t i = m; i-- > 0;) {
      const auto axis = static_cast<std::size_t>(i + 1);
      const std::int64_t block = int_at(c.in(1), i), border = int_at(c.in(2), 2 * i),
                         o = rest % block;
      rest /= block;
      const std::int64_t size = image.shape->dims()[axis], count = batches.shape->dims()[axis];
      const std::int64_t first =
          border > o ? (border - o + block - 1) / block : 0;  // smallest e inside
      const std::int64_t end =
          std::min(count, size + border > o ? (size + border - o + block - 1) / block
                                            : 0);  // first e beyond
      copy.dims[axis] = std::max<std::int64_t>(0, end - first);
      copy.in_strides[axis] = is[axis] * block;
      image_at += (first * block + o - border) * is[axis];
      batch_at += first * bs[axis];
    }
    bool empty = false;
    for (std::int64_t d : copy.dims) empty = empty || d == 0;
    if (empty) continue;
    if (to_batch)
      Copy::copy(c, image.dtype, at(image, image_at), at(batches, batch_at), copy);
    else
      Copy::copy(c, image.dtype, at(batches, batch_at), at(image, image_at),
                 {copy.dims, copy.out_strides, copy.in_strides});
  }
}
template <class Copy>
void space_to_batch(KernelContext& c) noexcept {
  Copy::zero(c, c.out());
  move_batches<Copy>(c, c.in(0), c.out(), true);
}
template <class Copy>
void batch_to_space(KernelContext& c) noexcept {
  move_batches<Copy>(c, c.out(), c.in(0), false);
}

// Registers them all: RILL_BLOCK_MOVES(cpu, OnHost);
#define RILL_BLOCK_MOVES(device, Copy)                                                     \
  RILL_KERNEL("SpaceToDepth", device, kPlainTypes, ::rill::moves::space_to_depth<Copy>);   \
  RILL_KERNEL("DepthToSpace", device, kPlainTypes, ::rill::moves::depth_to_space<Copy>);   \
  RILL_KERNEL("SpaceToBatchND", device, kPlainTypes, ::rill::moves::space_to_batch<Copy>); \
  RILL_KERNEL("BatchToSpaceND", device, kPlainTypes, ::rill::moves::batch_to_space<Copy>)

}  // namespace rill::moves
