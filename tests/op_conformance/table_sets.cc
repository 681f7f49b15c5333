#include "row.h"

namespace rill::conformance {

RILL_ROWS(sets) {
  const TypeSet types{int8, int16, int32, int64, uint8, uint16};
  const auto at = values(int64, {4, 2}, {0, 1, 0, 2, 1, 0, 1, 3});
  const auto shape = values(int64, {2}, {2, 5});
  const auto outside = values(int64, {4, 2}, {0, 1, 0, 2, 1, 0, 2, 3}),
             disordered = values(int64, {4, 2}, {0, 2, 0, 1, 1, 0, 1, 3});
  Row &dense = row("DenseToDenseSetOperation"), &mixed = row("DenseToSparseSetOperation"),
      &sparse = row("SparseToSparseSetOperation");
  dense.error({x({2, 3}), x({3, 3})}, {{"set_operation", "union"}}, "expected equal axes")
      .error({x({2, 3}), x({2, 3})}, {{"set_operation", "or"}}, "set_operation is \"or\"")
      .error({x({3}), x({3})}, {{"set_operation", "union"}}, "expected two axes or more");
  mixed.error({x({2, 3}), outside, x({4}), shape}, {{"set_operation", "union"}},
              "coordinates 3 are not inside the shape");
  sparse.error({at, x({4}), shape, disordered, x({4}), shape}, {{"set_operation", "union"}},
               "coordinates 1 are out of order");
  for (const char* operation : {"union", "intersection", "a-b", "b-a"}) {
    const auto first = [] { return x({2, 3}, {1, 2, 2, 4, 5, 1}); };
    const auto second = [] { return x({4}, {2, 9, 5, 5}); };
    dense.sample({first(), x({2, 2}, {2, 9, 1, 1})}, {{"set_operation", operation}})
        .sample({x({0, 3}), x({0, 2})}, {{"set_operation", operation}})
        .dtypes(types);
    mixed.sample({first(), at, second(), shape}, {{"set_operation", operation}}).dtypes(types);
    sparse
        .sample({at, second(), shape, values(int64, {2, 2}, {0, 0, 0, 4}), x({2}, {9, 7}),
                 values(int64, {2}, {2, 9})},
                {{"set_operation", operation}})
        .dtypes(types);
  }
  dense.sample({strings({1, 3}, {"b", "a", "b"}), strings({1, 2}, {"c", "a"})},
               {{"set_operation", "union"}});
  row("SetSize")
      .sample({at, x({4}, {2, 9, 5, 5}), values(int64, {2}, {3, 5})})
      .dtypes(types)
      .error({outside, x({4}), shape}, {}, "not inside the shape");
}

}  // namespace rill::conformance
