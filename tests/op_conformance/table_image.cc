#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

constexpr TypeSet kImageTypes = kFloatTypes | TypeSet{int8, uint8, int16, uint16, int32, int64};

Input grads(const TensorShape& shape) { return random(float32, shape, -2, 2); }

// What every op on images and a size is asked.
Row& resize_row(std::string name, bool centers) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  Row& r = row(std::move(name));
  r.sample({x({1, 2, 2, 1}, -40, 40), i32({4, 4})})
      .sample({x({2, 5, 7, 3}, -90, 90), i32({3, 4})})
      .sample({x({2, 3, 4, 2}, -40, 40), i32({7, 9})}, {align})
      .sample({x({1, 4, 3, 1}), i32({1, 1})}, {align})
      .sample({x({1, 1, 1, 3}), i32({3, 2})})
      .sample({fixed(x({3, 16, 15, 5}, -90, 90)), i32({11, 31})})
      .sample({x({2, 4, 4, 2}), i32({4, 4})})
      .sample({x({0, 4, 4, 2}), i32({2, 3})});
  if (centers)
    r.sample({x({1, 2, 2, 1}, -40, 40), i32({4, 4})}, {half})
        .sample({x({2, 5, 7, 3}, -90, 90), i32({3, 4})}, {half})
        .sample({fixed(x({2, 6, 5, 17}, -90, 90)), i32({13, 11})}, {half})
        .sample({x({1, 1, 2, 1}), i32({5, 5})}, {half})
        .error({x({1, 2, 2, 1}), i32({2, 2})}, {align, half},
               "align_corners and half_pixel_centers are both true");
  r.dtypes(kImageTypes)
      .error({x({2, 2, 1}), i32({2, 2})}, {}, "images must have rank 4, got shape \\[2, 2, 1\\]")
      .error({x({1, 2, 2, 1}), i32({2, 2, 1})}, {}, "size has 3 elements; expected 2")
      .error({x({1, 2, 2, 1}), i32_scalar(2)}, {}, "size must have rank 1")
      .error({x({1, 2, 2, 1}), i32({0, 2})}, {},
             "size is \\[0, 2\\]; output dimensions must be positive")
      .error({x({1, 2, 2, 1}), i32({3, -1})}, {}, "output dimensions must be positive")
      .error({x({1, 0, 2, 1}), i32({2, 2})}, {}, "shape \\[1, 0, 2, 1\\]; images must be of non-zero")
      .error({x({1, 2, 2, 0}), i32({2, 2})}, {}, "must have at least one channel");
  return r;
}
Row& resize_grad_row(std::string name) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  return row(std::move(name))
      .sample({grads({1, 4, 4, 1}), x({1, 2, 2, 1})})
      .sample({grads({2, 3, 4, 3}), x({2, 5, 7, 3})})
      .sample({grads({2, 7, 9, 2}), x({2, 3, 4, 2})}, {align})
      .sample({grads({2, 7, 9, 2}), x({2, 3, 4, 2})}, {half})
      .sample({grads({1, 3, 2, 5}), fixed(x({1, 16, 9, 5}))}, {half})
      .sample({grads({0, 4, 4, 1}), x({0, 2, 2, 1})})
      .error({grads({1, 4, 4}), x({1, 2, 2, 1})}, {}, "grads must have rank 4")
      .error({grads({1, 4, 4, 1}), x({2, 2, 1})}, {}, "original_image must have rank 4")
      .error({grads({1, 4, 4, 1}), x({2, 2, 2, 1})}, {}, "batches of grads and original_image")
      .error({grads({1, 4, 4, 1}), x({1, 2, 2, 3})}, {}, "channels of grads and original_image")
      .error({grads({1, 4, 4, 1}), x({1, 2, 2, 1})}, {align, half}, "are both true");
}

}  // namespace

// The gradients of those that give float32 are compared with the transpose of
// the op in image_ops_test.cc: finite differences need float64.
RILL_ROWS(image) {
  const Attr align{"align_corners", true}, half{"half_pixel_centers", true};
  resize_row("ResizeBilinear", true);
  resize_row("ResizeBicubic", true);
  resize_row("ResizeNearestNeighbor", true).tolerance(0);
  resize_row("ResizeArea", false);
  resize_grad_row("ResizeBilinearGrad").dtypes(kFloatTypes);
  resize_grad_row("ResizeBicubicGrad");
  row("ResizeNearestNeighborGrad")
      .sample({x({1, 4, 4, 1}), i32({2, 2})})
      .sample({x({2, 3, 4, 3}), i32({5, 7})})
      .sample({x({2, 7, 9, 2}), i32({3, 4})}, {align})
      .sample({x({2, 7, 9, 2}), i32({3, 4})}, {half})
      .sample({fixed(x({1, 3, 2, 5})), i32({16, 9})}, {half})
      .sample({x({0, 4, 4, 1}), i32({2, 2})})
      .dtypes(kFloatTypes | TypeSet{uint8, int8, int32})
      .error({x({1, 4, 4}), i32({2, 2})}, {}, "grads must have rank 4")
      .error({x({1, 4, 4, 1}), i32({2, 0})}, {}, "output dimensions must be positive")
      .error({x({1, 4, 4, 1}), i32({2})}, {}, "size has 1 elements; expected 2");
}

}  // namespace rill::conformance
