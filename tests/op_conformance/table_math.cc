#include "row.h"

namespace rill::conformance {

RILL_ROWS(math) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  row("AddV2")
      .sample({x({2, 3}), x({2, 3})})
      .sample({x({2, 3}), x({3})})
      .sample({x({2, 1, 2}), x({3, 1})})
      .sample({x({}), x({2})})
      .sample({x({0, 3}), x({3})})
      .dtypes(kNumericTypes)
      .error({x({2, 3}), x({2})}, {}, "\\[add\\] shapes \\[2, 3\\] and \\[2\\] cannot be broadcast")
      .error({x({2}), values(int32, {2}, {1, 2})}, {},
             "x is float32 and y is int32: dtypes are not promoted. Write tf::cast");
  row("Add").sample({x({2, 3}), x({3})}).sample({strings({2}, {"a", "b"}), strings({}, {"!"})});
  row("Sub").sample({x({2, 3}), x({2, 3})}).sample({x({2, 3}), x({2, 1})}).dtypes(kNumericTypes);
  row("Mul").sample({x({2, 3}), x({2, 3})}).sample({x({4}), x({3, 1})}).dtypes(kNumericTypes);
  row("RealDiv")
      .sample({x({2, 3}), x({2, 3}, 1, 3)})
      .sample({x({2, 3}), x({3}, 1, 3)})
      .sample({x({4}, {1, -1, 0, inf}), x({4}, {0, 0, 0, inf})})
      .dtypes(kFloatTypes | kComplexTypes);
  row("Maximum").sample({x({2, 3}), x({2, 3}, -1, 3)}).sample({x({3}), x({})}).dtypes(kRealTypes);
  row("Minimum").sample({x({2, 3}), x({2, 3}, -1, 3)}).sample({x({3}), x({})}).dtypes(kRealTypes);
  row("GreaterEqual")
      .sample({x({2, 3}), x({2, 3})})
      .sample({x({2}, {nan, 1}), x({2}, {1, 1})})
      .dtypes(kRealTypes);
  row("Neg")
      .sample({x({2, 3})})
      .sample({x({})})
      .sample({x({0})})
      .dtypes(kFloatTypes | kSignedTypes | kComplexTypes);
  row("Square").sample({x({2, 3})}).sample({x({3}, {inf, -inf, nan})}).dtypes(kNumericTypes);
  row("Conj").sample({x({2, 3})}).dtypes(kComplexTypes);
  row("Exp")
      .sample({x({2, 3})})
      .sample({x({5}, {inf, -inf, nan, 100, -110})})
      .dtypes(kFloatTypes | kComplexTypes);
  row("Log")
      .sample({x({2, 3}, 0.5, 4)})
      .sample({x({5}, {inf, 0, nan, -1, 1})})
      .dtypes(kFloatTypes | kComplexTypes);

  for (const char* name : {"Sum", "Mean"}) {
    row(name)
        .sample({x({2, 3}), i32({0, 1})})
        .sample({x({2, 3}), i32({1})})
        .sample({x({2, 3}), i32({-2})}, {{"keep_dims", true}})
        .sample({x({2, 3, 2, 2}), i32({0, 2})})
        .sample({x({2, 3}), i32({})})
        .sample({x({}), i32({})})
        .dtypes(kNumericTypes)
        .error({x({2, 3}), i32({2})}, {},
               "axis 2 is out of range for rank 2: expected a value in \\[-2, 2\\)")
        .error({x({2, 3}), i32({0, -2})}, {}, "axis 0 is given twice");
  }

  row("MatMul")
      .sample({x({2, 3}), x({3, 4})})
      .sample({x({3, 2}), x({3, 4})}, {{"transpose_a", true}})
      .sample({x({2, 3}), x({4, 3})}, {{"transpose_b", true}})
      .sample({x({3, 2}), x({4, 3})}, {{"transpose_a", true}, {"transpose_b", true}})
      .sample({x({2, 0}), x({0, 3})})
      .dtypes(kNumericTypes)
      .error({x({2, 3}), x({4, 3})}, {},
             "\\[matmul\\] inner dimensions differ: a has shape \\[2, 3\\].*Did you mean "
             "transpose_b=true")
      .error({x({2, 3, 1}), x({3, 4})}, {}, "a must have rank 2, got shape \\[2, 3, 1\\]");
  row("BatchMatMulV2")
      .sample({x({2, 2, 3}), x({2, 3, 2})})
      .sample({x({2, 1, 3, 2}), x({3, 3, 2})}, {{"adj_x", true}})
      .sample({x({2, 3}), x({2, 4, 3})}, {{"adj_y", true}})
      .dtypes(kNumericTypes);
}

}  // namespace rill::conformance
