#include "rill/ops/print.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(print) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  row("StringFormat")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            rill::strings::format("{}", in[0]),
            rill::strings::format("<%>", in[0], {.placeholder = "%", .summarize = 1}),
            rill::strings::format("{}", in[0], {.summarize = -1})};
      })
      .tf("[tf.strings.format('{}', [x0]), tf.strings.format('<%>', [x0], placeholder='%', "
          "summarize=1), tf.strings.format('{}', [x0], summarize=-1)]")
      .sample({x({}, {7})})
      .sample({x({10}, 0, 100)})
      .sample({x({6}, -100, 100)})
      .sample({x({8, 8}, 0, 100)})
      .sample({x({2, 2, 2}, 0, 100)})
      .sample({x({8, 1, 7}, 0, 100)})
      .sample({values(float32, {0}, {})})
      .sample({values(float32, {7}, {1 / 3., 0.1, 1e10, 1e-7, inf, nan, -0.})})
      .sample({values(float64, {4}, {1 / 3., 0.1, 1e22, 123456789.123})})
      .sample({values(float32, {4}, {123456789, 16777216, 100000, 0.00012345678})})
      .sample(
          {strings({2, 2}, {"a", "b c", "it's \"q\"\\", std::string("\n\t\r\x01\x7f\xc3\xbc")})})
      .sample({strings({}, {"a"})})
      .dtypes((kRealTypes | TypeSet{bool_}));
  row("Assert")
      .sample({bools({}, {1}), x({3}), strings({}, {"text"}), values(int32, {2}, {1, 2})}, {}, 0)
      .sample({bools({}, {1})}, {}, 0)
      .dtypes({float32})
      .not_in_tensorflow("gives nothing back")
      .error({bools({}, {0}), x({4}, {1, 2.5, -1, 7}), strings({}, {"text"})}, {{"summarize", 1}},
             "assertion failed: \\[\\[1 ... 7\\]\\] \\[text\\]")
      .error({bools({1}, {0})}, {}, "condition must have rank 0, got shape \\[1\\]");
  row("PrintV2")
      .sample({strings({}, {"text"})}, {{"output_stream", "file:///dev/null"}})
      .dtypes({float32})
      .not_in_tensorflow("writes and gives nothing back")
      .error({strings({1}, {"text"})}, {}, "input must have rank 0")
      .error({strings({}, {"text"})}, {{"output_stream", "printer"}},
             "output_stream is \"printer\"");
}

}  // namespace rill::conformance
