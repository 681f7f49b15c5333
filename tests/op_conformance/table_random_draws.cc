#include <cmath>

#include "row.h"

namespace rill::conformance {

RILL_ROWS(random_draws) {
  const auto key = values(uint64, {1}, {77}), counter = values(uint64, {2}, {5, 9});
  const auto alphas = [] { return x({4}, {0.05, 0.6, 1, 7.5}); };
  const char* quantile = "a sample stays at its quantile, which the same seed does not hold it to";
  row("RandomGamma")
      .sample({i32({3, 5}), alphas()}, {{"seed", 3}, {"seed2", 5}})
      .sample({i32({6}), x({}, {2.5})}, {{"seed", 4}, {"seed2", 5}})
      .dtypes(kRealFloatTypes | TypeSet{float16})
      .no_gradient_check(quantile)
      .error({i32({-1}), alphas()}, {{"seed", 3}}, "has a negative size");
  row("StatelessRandomGammaV2")
      .sample({i32({3, 5, 4}), values(int64, {2}, {12, -5}), alphas()})
      .dtypes(kRealFloatTypes | TypeSet{float16})
      .no_gradient_check(quantile)
      .error({i32({5}), i32({1, 2}), alphas()}, {},
             "the shape \\[5\\] must end with that of the parameters, \\[4\\]");
  row("StatelessRandomGammaV3")
      .sample({i32({7, 4}), key, counter, i32_scalar(1), alphas()})
      .dtypes(kRealFloatTypes | TypeSet{float16})
      .no_gradient_check(quantile)
      .error({i32({4}), key, counter, i32_scalar(2), alphas()}, {},
             "algorithm 2 is not implemented");
  row("RandomGammaGrad")
      .sample({x({4, 1}, {0.05, 0.6, 1, 7.5}), x({4, 6}, 0.02, 9)})
      .sample({x({3}, {30, 200, 0.001}), x({3}, {25, 220, 1e-12})})
      .dtypes(kRealFloatTypes)
      .tolerance(1e-5);

  Row &stream = row("RandomPoissonV2").dtypes(kRealFloatTypes),
      &poisson = row("StatelessRandomPoisson"), &binomial = row("StatelessRandomBinomial");
  for (DType d : {float32, float64, int32, int64}) {
    stream.sample({i32({9}), x({4}, {0.3, 4, 11.5, 300})},
                  {{"dtype", d}, {"seed", 3}, {"seed2", 5}});
    poisson.sample({i32({9, 4}), i32({3, -5}), x({4}, {0.3, 4, 11.5, 300})}, {{"dtype", d}});
    binomial.sample({i32({9, 2, 3}), i32({3, -5}), x({2, 1}, {12, 90}), x({3}, {0.05, 0.4, 0.8})},
                    {{"dtype", d}});
  }
  poisson.dtypes(kRealFloatTypes)
      .error({i32({4, 9}), i32({3, 5}), x({4})}, {{"dtype", int32}}, "must end with that of");
  binomial
      .sample({i32({5}), i32({3, 5}), x({}, {40}), x({5}, {0, 0.2, 0.5, 1, -1})},
              {{"dtype", int32}})
      .dtypes(kRealFloatTypes)
      .error({i32({4}), i32({3, 5}), x({4}), x({3})}, {{"dtype", int32}}, "broadcast");
  Input state = variable({3}, {5, 9, 77});
  state.dtype = int64;
  row("StatefulRandomBinomial")
      .not_in_tensorflow(
          "it loses an update of a state that shares its memory; draws_test.cc has its numbers")
      .sample({state, values(int64, {}, {1}), i32({7, 3}), x({}, {30}), x({3}, {0.05, 0.4, 0.8})},
              {{"dtype", int32}})
      .dtypes(kRealFloatTypes)
      .error({state, values(int64, {}, {2}), i32({3}), x({}, {3}), x({}, {0.5})},
             {{"dtype", int32}}, "algorithm 2 is not implemented");

  row("RngReadAndSkip")
      .sample({state, i32_scalar(1), values(uint64, {}, {7})})
      .dtypes({float32})
      .error({state, i32_scalar(2), values(uint64, {}, {7})}, {}, "algorithm 2 is not implemented");

  row("StatelessParameterizedTruncatedNormal")
      .sample({i32({5, 2, 3}), i32({3, -5}), x({2, 1}, {0, 3}), x({3}, {0.5, 1, 2}), x({}, {-1}),
               x({}, {4})})
      .sample({i32({40}), i32({3, 5}), x({}, {0}), x({}, {1}), x({}, {2.5}), x({}, {INFINITY})})
      .sample({i32({9}), i32({3, 5}), x({}, {0}), x({}, {1}), x({}, {-INFINITY}), x({}, {0.5})})
      .sample({i32({9}), i32({3, 5}), x({}, {1}), x({}, {3}), x({}, {1.5}), x({}, {2})})
      .dtypes(kRealFloatTypes)
      .tolerance(1e-6)
      .no_gradient_check(quantile)
      .error({i32({2}), i32({3, 5}), x({}, {0}), x({}, {-1}), x({}, {0}), x({}, {1})}, {},
             "expected a positive stddev")
      .error({i32({2}), i32({3, 5}), x({}, {0}), x({}, {1}), x({}, {2}), x({}, {1})}, {},
             "minval below maxval");
  row("StatelessShuffle")
      .sample({x({5, 2}), key, counter, i32_scalar(1)})
      .sample({x({0, 2}), key, counter, i32_scalar(1)})
      .dtypes(kPlainTypes);
}

}  // namespace rill::conformance
