// Special functions.
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(math_special) {
  constexpr double inf = __builtin_inf(), nan = __builtin_nan("");
  for (const char* name : {"BesselI0", "BesselI1", "BesselI0e", "BesselI1e"})
    row(name)
        .sample({x({2, 3}, -8, 8)})
        .sample({x({4}, {0.25, -3, 0.125, 5})})
        .sample({fixed(x({8}, {0, 29.5, 30.5, 60, -45, 12, nan, 80}))})
        .dtypes(kFloatTypes)
        .tolerance(4e-6);
  for (const char* name : {"BesselK0", "BesselK1", "BesselK0e", "BesselK1e"})
    row(name)
        .sample({x({2, 3}, 0.5, 6)})
        .sample({x({4}, {0.25, 1.75, 2.25, 20})})
        .sample({fixed(x({7}, {0.01, 29.5, 30.5, 60, 45, 1e-3, nan}))})
        .dtypes(kFloatTypes)
        .tolerance(4e-6);
  for (const char* name : {"BesselJ0", "BesselJ1"})
    row(name)
        .sample({x({2, 3}, -9, 9)})
        .sample({fixed(x({5}, {0, 1e-3, 30, -50, nan}))})
        .dtypes(kFloatTypes)
        .tolerance(4e-6);
  for (const char* name : {"BesselY0", "BesselY1"})
    row(name)
        .sample({x({2, 3}, 0.5, 9)})
        .sample({fixed(x({4}, {0.125, 1, 30, 50}))})
        .dtypes(kFloatTypes)
        .tolerance(4e-6);
  row("Dawsn")
      .sample({x({2, 3}, -3, 3)})
      .sample({x({4}, {-0.5, 1.5, 5, 11})})
      .sample({fixed(x({6}, {0, 1, 12.5, -40, nan, 6.25}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  row("Expint")
      .sample({x({2, 3}, 0.5, 6)})
      .sample({fixed(x({6}, {0.01, 0.375, 12, 39, 41, 60}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  for (const char* name : {"FresnelCos", "FresnelSin"})
    row(name)
        .sample({x({2, 3}, -4, 4)})
        .sample({fixed(x({9}, {0, 1.25, 1.5, 2.5, 3.75, 4, 5.5, -7, 20}))})
        .dtypes(kFloatTypes)
        .tolerance(4e-6);
  row("Spence")
      .sample({x({2, 3}, 0.25, 6)})
      .sample({fixed(x({8}, {0, 1, 0.5, 1.5, 2, 40, 0.01, -1}))})
      .dtypes(kFloatTypes)
      .tolerance(4e-6);
  for (const char* name : {"Igamma", "Igammac"})
    row(name)
        .sample({x({2, 3}, 0.5, 6), x({2, 3}, 0.5, 6)})
        .sample({x({3, 1}, {0.5, 2, 12}), x({4}, {0.25, 1.5, 6, 14})})
        .sample({fixed(x({8}, {1, 0.5, 100, 100, 30, 0.01, -1, nan})),
                 fixed(x({8}, {0, 40, 100, 140, 25, 0.5, 1, 1}))})
        .sample({fixed(x({2}, {2, 2})), fixed(x({2}, {inf, 1}))})
        .sample({fixed(x({10}, {0, 0, 0, -1, nan, inf, inf, inf, 1, 1})),
                 fixed(x({10}, {0, 1, inf, 0, 0, 0, 1, inf, 0, -1}))})
        .dtypes(kFloatTypes)
        .first_order()
        .tolerance(4e-6);
  row("IgammaGradA")
      .sample({x({2, 3}, 0.5, 6), x({2, 3}, 0.5, 6)})
      .sample({fixed(x({4}, {0.5, 30, 30, 2})), fixed(x({4}, {3, 25, 40, 0.25}))})
      .sample(
          {fixed(x({7}, {0, 0, -1, nan, inf, inf, 1})), fixed(x({7}, {0, 1, 0, 0, 1, inf, -1}))})
      .tolerance(8e-6);
  row("Betainc")
      .sample({fixed(x({2, 3}, 0.5, 6)), fixed(x({2, 3}, 0.5, 6)), x({2, 3}, 0.125, 0.875)})
      .sample({fixed(x({}, {2.5})), fixed(x({}, {0.75})), x({4}, {0.125, 0.5, 0.75, 0.9375})})
      .sample({fixed(x({5}, {1, 2, 40, 3, -1})), fixed(x({5}, {1, 3, 60, 2, 1})),
               fixed(x({5}, {0, 1, 0.375, 1.5, 0.5}))})
      .tolerance(4e-6)
      .error({x({2}), x({3}), x({2})}, {}, "expected equal shapes, or scalars");
  row("lbeta")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{math::lbeta(in[0]), math::igamma(in[0], 1.5),
                                   math::betainc(in[0], 2., 0.25)};
      })
      .tf("[tf.math.lbeta(x0), tf.math.igamma(x0, tf.constant(1.5, x0.dtype)), "
          "tf.math.betainc(x0, tf.constant(2., x0.dtype), tf.constant(.25, x0.dtype))]")
      .sample({fixed(x({2, 3}, 0.5, 4))})
      .tolerance(4e-6);
}

}  // namespace rill::conformance
