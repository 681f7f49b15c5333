#include "row.h"

namespace rill::conformance {

RILL_ROWS(random) {
  for (const char* name : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    Row& r =
        row(name).dtypes({float32}).error({i32({-1})}, {{"dtype", float32}}, "has a negative size");
    for (DType d : {float32, float64, float16, bfloat16})
      r.sample({i32({3, 4})}, {{"dtype", d}, {"seed", 3}, {"seed2", 5}});
    // The last bit of the C library's logarithm depends on the processor.
    r.tolerance(1e-6);
  }
  for (const char* name :
       {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"}) {
    Row& r = row(name).dtypes({float32}).tolerance(1e-6).error(
        {i32({2}), i32({1, 2, 3})}, {{"dtype", float32}}, "seed must be two integers");
    for (DType d : {float32, float64, float16, bfloat16})
      r.sample({i32({3, 7}), values(int64, {2}, {12, -5})}, {{"dtype", d}});
    r.sample({i32({0, 2}), i32({1, 2})}, {{"dtype", float32}});
  }
  for (const char* name :
       {"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"})
    row(name)
        .dtypes({float32})
        .tolerance(1e-6)
        .sample(
            {i32({3, 4}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(1)},
            {{"dtype", float32}})
        .sample({i32({5}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(1)},
                {{"dtype", float64}})
        .error({i32({3}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(2)},
               {{"dtype", float32}}, "algorithm 2 is not implemented");
  row("RandomUniformInt")
      .dtypes({int32, int64})
      .sample({i32({3, 4}), x({}, std::vector<double>{-3}), x({}, std::vector<double>{9})},
              {{"seed", 3}, {"seed2", 5}})
      .error({i32({3}), x({}, std::vector<double>{3}), x({}, std::vector<double>{3})}, {},
             "minval 3 must be below maxval 3");
  row("StatelessRandomUniformInt")
      .dtypes({int32, int64})
      .sample({i32({3, 4}), i32({3, 5}), x({}, std::vector<double>{-3}),
               x({}, std::vector<double>{9})});
  row("StatelessRandomUniformIntV2")
      .dtypes({int32, int64})
      .sample({i32({3, 4}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(1),
               x({}, std::vector<double>{-3}), x({}, std::vector<double>{9})});
  row("RandomShuffle")
      .sample({x({5, 2})}, {{"seed", 3}, {"seed2", 5}})
      .sample({x({0, 2})}, {{"seed", 3}, {"seed2", 5}})
      .dtypes(kPlainTypes);
  row("Multinomial")
      .sample({x({3, 4}), i32_scalar(5)}, {{"seed", 3}, {"seed2", 5}})
      .dtypes(kFloatTypes)
      .not_in_tensorflow("its stateful kernel draws by another order of the stream than ours");
  row("StatelessMultinomial")
      .sample({x({3, 4}), i32_scalar(5), i32({3, 5})})
      .dtypes(kFloatTypes)
      .error({x({3}), i32_scalar(5), i32({3, 5})}, {}, "logits must have rank 2");
}

}  // namespace rill::conformance
