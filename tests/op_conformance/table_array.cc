#include "row.h"

namespace rill::conformance {

RILL_ROWS(array) {
  row("Fill")
      .sample({i32({2, 3}), x({})})
      .sample({i32({}), x({})})
      .sample({i32({0, 2}), x({})})
      .dtypes(kPlainTypes)
      .error({i32({-1, 2}), x({})}, {}, "shape \\[\\?, 2\\] has a negative size");
  row("Identity").sample({x({2, 3})}).dtypes(kPlainTypes);
  row("StopGradient").sample({x({2, 3})}).dtypes(kPlainTypes);
  Row& cast =
      row("Cast").dtypes(kFloatTypes | TypeSet{int32, int64, uint8, int8, bool_, complex64});
  for (DType to :
       {float32, float64, int32, int64, uint8, bool_, float16, bfloat16, complex64, int8})
    cast.sample({x({2, 3}, 0, 9)}, {{"DstT", to}});
  row("Reshape")
      .sample({x({2, 3}), i32({3, 2})})
      .sample({x({2, 3}), i32({-1})})
      .sample({x({1}), i32({})})
      .sample({x({0, 3}), i32({0, 5})})
      .dtypes(kPlainTypes)
      .error({x({2, 3}), i32({4, 2})}, {},
             "cannot reshape \\[2, 3\\] \\(6 elements\\) to \\[4, 2\\] \\(8 elements\\)")
      .error({x({2, 3}), i32({-1, -1})}, {}, "only one size may be -1")
      .error({x({2, 3}), i32({-1, 4})}, {}, "do not divide");
  row("BroadcastTo")
      .sample({x({3}), i32({2, 3})})
      .sample({x({2, 1}), i32({2, 3})})
      .sample({x({}), i32({2})})
      .dtypes(kPlainTypes)
      .error({x({3}), i32({2})}, {}, "cannot be broadcast");
  row("Transpose")
      .sample({x({2, 3}), i32({1, 0})})
      .sample({x({2, 3, 4}), i32({2, 0, 1})})
      .sample({x({}), i32({})})
      .dtypes(kPlainTypes)
      .error({x({2, 3}), i32({0, 0})}, {}, "axis 0 is twice in perm")
      .error({x({2, 3}), i32({0})}, {}, "perm has 1 entries");
  row("ConcatV2")
      .sample({x({2, 3}), x({2, 1}), i32_scalar(1)})
      .sample({x({1, 3}), x({2, 3}), x({0, 3}), i32_scalar(-2)})
      .dtypes(kPlainTypes)
      .error({x({2, 3}), x({3, 1}), i32_scalar(1)}, {}, "only axis 1 may differ")
      .error({x({2, 3}), x({3}), i32_scalar(0)}, {}, "ranks must be equal");
  row("Pack")
      .sample({x({2, 3}), x({2, 3})}, {{"axis", 1}})
      .sample({x({}), x({})})
      .sample({x({2}), x({2})}, {{"axis", -1}})
      .dtypes(kPlainTypes)
      .error({x({2}), x({3})}, {}, "values\\[1\\] has shape \\[3\\], values\\[0\\] \\[2\\]");
  row("Unpack")
      .sample({x({2, 3})}, {{"num", 2}}, 2)
      .sample({x({2, 3})}, {{"num", 3}, {"axis", -1}}, 3)
      .dtypes(kPlainTypes);
  row("Slice")
      .sample({x({3, 4}), i32({1, 0}), i32({2, 3})})
      .sample({x({3, 4}), i32({0, 1}), i32({-1, -1})})
      .dtypes(kPlainTypes)
      .error({x({3}), i32({2}), i32({2})}, {},
             "begin 2 and size 2 of axis 0 reach outside shape \\[3\\]");
  row("Pad")
      .sample({x({2, 3}), values(int32, {2, 2}, {1, 0, 2, 1})})
      .sample({x({2}), values(int32, {1, 2}, {0, 0})})
      .dtypes(kPlainTypes)
      .error({x({2}), values(int32, {1, 2}, {-1, 0})}, {}, "paddings of axis 0 are -1 and 0");
  row("GatherV2")
      .sizes_must_be_known("its gradient moves axes by their number")
      .sample({x({4, 2}), values(int32, {3}, {2, 0, 2}), i32_scalar(0)})
      .sample({x({2, 4}), values(int64, {2, 2}, {3, 0, 1, 1}), i32_scalar(1)})
      .sample({x({2, 3}), values(int32, {}, {1}), i32_scalar(-1)})
      .dtypes(kPlainTypes)
      .error({x({4, 2}), values(int32, {1}, {4}), i32_scalar(0)}, {},
             "indices\\[0\\] = 4 is not in \\[0, 4\\)");
}

}  // namespace rill::conformance
