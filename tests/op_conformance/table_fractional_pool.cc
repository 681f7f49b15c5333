#include "row.h"

namespace rill::conformance {

RILL_ROWS(fractional_pool) {
  const std::vector<double> ratio{1, 1.44, 1.73, 1}, deep{1, 1.5, 1.5, 2}, less{1, 0.5, 2, 1};
  const auto seq = [](std::vector<double> v) {
    const auto n = static_cast<std::int64_t>(v.size());
    return values(int64, {n}, std::move(v));
  };
  for (const char* name : {"FractionalMaxPool", "FractionalAvgPool"}) {
    Row& r = row(name).dtypes({float32, float64, int32, int64}).first_order();
    for (const bool pseudo : {false, true})
      for (const bool over : {false, true})
        r.sample({fixed(x({2, 7, 9, 2}, -40, 40))},
                 {{"pooling_ratio", std::span<const double>(ratio)},
                  {"pseudo_random", pseudo},
                  {"overlapping", over},
                  {"deterministic", true},
                  {"seed", 3},
                  {"seed2", 5}});
    // Without equal numbers.
    r.sample({x({1, 4, 5, 1},
                {3, 17, -8, 29, 11, -23, 6, 38, -14, 21, -35, 9, 26, -2, 32, 14, -19, 1, 35, -29})},
             {{"pooling_ratio", std::span<const double>(ratio)},
              {"overlapping", true},
              {"deterministic", true},
              {"seed", 1},
              {"seed2", 2}});
    r.error({x({2, 7, 9, 2})},
            {{"pooling_ratio", std::span<const double>(deep)}, {"deterministic", true}},
            "must be 1 for the batch and the channels")
        .error({x({2, 7, 9, 2})},
               {{"pooling_ratio", std::span<const double>(less)}, {"deterministic", true}},
               "pooling_ratio is 0.5; expected 1 or more")
        .error({x({7, 9, 2})}, {{"pooling_ratio", std::span<const double>(ratio)}},
               "value must have rank 4");
  }
  Row &largest = row("FractionalMaxPoolGrad"), &mean = row("FractionalAvgPoolGrad");
  for (const bool over : {false, true}) {
    largest.sample({x({2, 5, 4, 2}, -40, 40), x({2, 3, 2, 2}), x({2, 3, 2, 2}), seq({0, 2, 3, 5}),
                    seq({0, 1, 4})},
                   {{"overlapping", over}});
    mean.sample({seq({2, 5, 4, 2}), x({2, 3, 2, 2}), seq({0, 2, 3, 5}), seq({0, 1, 4})},
                {{"overlapping", over}});
  }
  largest.not_in_tensorflow("it refuses an orig_output that is not of orig_input")
      .error({x({2, 5, 4, 2}), x({2, 3, 2, 2}), x({2, 3, 2, 2}), seq({0, 2, 3}), seq({0, 1, 4})},
             {}, "row_pooling_sequence must have 4 growing numbers");
  mean.sizes_must_be_known("the shape is an argument")
      .error({seq({2, 5, 4, 2}), x({2, 3, 2, 2}), seq({0, 2, 1, 5}), seq({0, 1, 4})}, {},
             "row_pooling_sequence must have 4 growing numbers");
}

}  // namespace rill::conformance
