// Rows of diagonals, blocks, bit casts, and sums on shapes.
#include "rill/ops/array_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(array_blocks) {
  row("MatrixDiagV3")
      .sample({x({3}), i32_scalar(0), i32_scalar(-1), i32_scalar(-1), fixed(x({}, 0, 0))})
      .sample({x({2, 2}), i32_scalar(1), i32_scalar(-1), i32_scalar(-1), fixed(x({}))})
      .sample({x({2, 3}), i32({-1, 0}), i32_scalar(3), i32_scalar(3), fixed(x({}, 0, 0))})
      .sample({x({3, 3}), i32({-1, 1}), i32_scalar(-1), i32_scalar(-1), fixed(x({}))},
              {{"align", "LEFT_RIGHT"}})
      .sample({x({2}), i32_scalar(0), i32_scalar(2), i32_scalar(4), fixed(x({}, 0, 0))})
      .dtypes(kPlainTypes)
      .error({x({}), i32_scalar(0), i32_scalar(-1), i32_scalar(-1), x({})}, {}, "got a scalar")
      .error({x({3}), i32_scalar(0), i32_scalar(2), i32_scalar(-1), x({})}, {},
             "2 x -1 is too small for diagonals of length 3")
      .error({x({3}), i32({1, 0}), i32_scalar(-1), i32_scalar(-1), x({})}, {},
             "the first must not be larger");
  row("MatrixDiagPartV3")
      .sample({x({3, 3}), i32_scalar(0), fixed(x({}, 0, 0))})
      .sample({x({2, 3, 4}), i32_scalar(-1), fixed(x({}, 0, 0))})
      .sample({x({3, 4}), i32({-1, 2}), fixed(x({}))})
      .sample({x({3, 4}), i32({-2, 0}), fixed(x({}))}, {{"align", "LEFT_RIGHT"}})
      .sample({x({4, 3}), i32({-2, 2}), fixed(x({}))}, {{"align", "RIGHT_RIGHT"}})
      .sample({x({3, 3}), i32({-1, 1}), fixed(x({}))}, {{"align", "LEFT_LEFT"}})
      .dtypes(kPlainTypes)
      .error({x({3}), i32_scalar(0), x({})}, {}, "must be matrices")
      .error({x({2, 2}), i32_scalar(2), x({})}, {}, "outside a matrix of 2 x 2")
      .error({x({2, 2}), i32_scalar(0), x({})}, {{"align", "MIDDLE"}}, "align is \"MIDDLE\"");
  row("MatrixSetDiagV3")
      .sample({x({3, 3}), x({3}), i32_scalar(0)})
      .sample({x({2, 2, 3}), x({2, 2}), i32_scalar(1)})
      .sample({x({3, 3}), x({3, 3}), i32({-1, 1})})
      .dtypes(kPlainTypes)
      .error({x({3, 3}), x({2}), i32_scalar(0)}, {},
             "diagonal has shape \\[2\\]; matrices of shape \\[3, 3\\] need \\[3\\]");
  row("MatrixBandPart")
      .sample({x({3, 4}), i32_scalar(1), i32_scalar(-1)})
      .sample({x({2, 3, 3}), i32_scalar(0), i32_scalar(0)})
      .sample({x({3, 3}), i32_scalar(-1), i32_scalar(1)})
      .sample({x({0, 3}), i32_scalar(0), i32_scalar(1)})
      .dtypes(kPlainTypes)
      .error({x({3}), i32_scalar(0), i32_scalar(0)}, {}, "must be matrices")
      .error({x({2, 2}), i32_scalar(3), i32_scalar(0)}, {}, "num_lower is 3");
  row("Diag")
      .sample({x({3})})
      .sample({x({2, 2})})
      .dtypes(kFloatTypes | kComplexTypes | kIndexTypes)
      .error({x({})}, {}, "got a scalar");
  row("DiagPart")
      .sample({x({3, 3})})
      .sample({x({2, 2, 2, 2})})
      .dtypes(kFloatTypes | kComplexTypes | kIndexTypes)
      .error({x({2, 3})}, {}, "sizes of axes 0 and 1 differ: 2 and 3")
      .error({x({2})}, {}, "even rank");
  row("diag_part_options")
      .sample({x({3, 3})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{linalg::diag_part(in[0]),
                           linalg::diag_part(in[0], {.k = -1, .k_high = 1}),
                           linalg::diag(in[0], {.k = 1}), linalg::set_diag(in[0], in[0][0])};
      })
      .tf("[tf.linalg.diag_part(x0), tf.linalg.diag_part(x0, k=(-1, 1)), tf.linalg.diag(x0, k=1), "
          "tf.linalg.set_diag(x0, x0[0])]");

  row("SpaceToDepth")
      .sample({x({1, 4, 2, 3})}, {{"block_size", 2}})
      .sample({x({2, 3, 3, 1})}, {{"block_size", 3}})
      .dtypes(kPlainTypes)
      .error({x({1, 3, 2, 1})}, {{"block_size", 2}}, "block_size 2 does not divide")
      .error({x({1, 2, 2, 1})}, {{"block_size", 1}}, "block_size is 1");
  row("DepthToSpace")
      .sample({x({1, 2, 1, 12})}, {{"block_size", 2}})
      .sample({x({2, 1, 1, 9})}, {{"block_size", 3}})
      .dtypes(kPlainTypes)
      .error({x({1, 2, 2, 3})}, {{"block_size", 2}}, "3 channels");
  row("space_to_depth_nchw")
      .sample({x({1, 3, 4, 2})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{nn::space_to_depth(in[0], 2, "NCHW"),
                           nn::depth_to_space(nn::space_to_depth(in[0], 2, "NCHW"), 2, "NCHW")};
      })
      .tf("[tf.transpose(tf.nn.space_to_depth(tf.transpose(x0, [0, 2, 3, 1]), 2), [0, 3, 1, 2]), "
          "x0]");
  row("SpaceToBatchND")
      .sample({x({1, 4, 2, 1}), i32({2, 2}), values(int32, {2, 2}, {0, 0, 0, 0})})
      .sample({x({2, 3, 2}), i32({3}), values(int32, {1, 2}, {2, 1})})
      .sample({x({1, 2, 3}), i32({2, 2}), values(int32, {2, 2}, {1, 1, 0, 1})})
      .dtypes(kPlainTypes)
      .error({x({1, 3}), i32({2}), values(int32, {1, 2}, {0, 0})}, {},
             "block size 2 does not divide");
  row("BatchToSpaceND")
      .sample({x({4, 2, 1, 1}), i32({2, 2}), values(int32, {2, 2}, {0, 0, 0, 0})})
      .sample({x({6, 2, 2}), i32({3}), values(int32, {1, 2}, {2, 1})})
      .sample({x({4, 2, 3}), i32({2, 2}), values(int32, {2, 2}, {1, 0, 1, 2})})
      .dtypes(kPlainTypes)
      .error({x({3, 2}), i32({2}), values(int32, {1, 2}, {0, 0})}, {},
             "batch of 3 does not divide into 2")
      .error({x({2, 1}), i32({2}), values(int32, {1, 2}, {2, 1})}, {}, "crops 2 and 1 of axis 1");
  row("Bitcast")
      .sample({values(float32, {2}, {1, -2})}, {{"type", int32}})
      .sample({values(float32, {2}, {1, -2})}, {{"type", uint8}})
      .sample({values(uint8, {2, 4}, {0, 0, 128, 63, 0, 0, 0, 192})}, {{"type", float32}})
      .sample({values(int64, {2}, {1, -1})}, {{"type", float64}})
      .dtypes({float32})
      .error({values(uint8, {3}, {0, 0, 0})}, {{"type", int32}},
             "the last axis must have 4 elements");
  row("GuaranteeConst").sample({x({2})}).dtypes({float32, int32});
  row("identity_n")
      .sample({x({2}), x({})})
      .call([](const std::vector<Tensor>& in) {
        return identity_n({in[0], in[1]});
      })
      .tf("tf.identity_n([x0, x1])");
  row("BroadcastArgs")
      .sample({i32({2, 1}), i32({3})})
      .sample({i32({}), i32({3})})
      .sample({values(int64, {2}, {0, 1}), values(int64, {2}, {1, 4})})
      .dtypes({float32})
      .error({i32({2}), i32({3})}, {}, "incompatible shapes");
  row("BroadcastGradientArgs")
      .sample({i32({2, 1}), i32({3})})
      .sample({i32({2, 3}), i32({2, 3})})
      .sample({i32({}), i32({3, 1})})
      .sample({i32({1, 4, 1}), i32({5, 4, 1})})
      .sample({i32({1}), i32({1, 1})})
      .dtypes({float32})
      .error({i32({2}), i32({3})}, {}, "incompatible shapes");
  row("InvertPermutation")
      .sample({i32({2, 0, 1})})
      .sample({i32({})})
      .dtypes({float32})
      .error({i32({0, 3})}, {}, "x\\[1\\] = 3 is not in \\[0, 2\\)")
      .error({i32({0, 0})}, {}, "0 is twice in x");
}

}  // namespace rill::conformance
