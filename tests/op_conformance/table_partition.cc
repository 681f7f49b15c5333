// Rows sent here and there, places in sorted rows, checks, quantisation, keys of random streams.
#include "rill/eager/gradient_tape.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "rill/ops/random_ops.h"
#include "rill/ops/string_ops.h"
#include "row.h"

namespace rill::conformance {
using PartitionList = std::vector<Tensor>;

RILL_ROWS(partition) {
  constexpr double nan = __builtin_nan(""), inf = __builtin_inf();
  row("DynamicPartition")
      .sample({x({5, 2}), values(int32, {5}, {1, 0, 1, 1, 0})}, {{"num_partitions", 2}}, 2)
      .sample({x({2, 3}), values(int32, {2, 3}, {2, 0, 1, 1, 0, 2})}, {{"num_partitions", 4}}, 4)
      .sample({x({3}), i32_scalar(1)}, {{"num_partitions", 2}}, 2)
      .sample({x({0, 3}), values(int32, {0}, {})}, {{"num_partitions", 2}}, 2)
      .dtypes(kPlainTypes);
  row("dynamic_partition")
      .call([](const PartitionList& in) {
        PartitionList out = dynamic_partition(in[0], {1, 0, 1}, 2);
        out.push_back(dynamic_stitch({constant({0, 2}), constant(1)}, {in[1], in[2]}));
        out.push_back(dynamic_stitch({constant({{0, 3}, {1, 2}}), constant({4})}, {in[3], in[4]}));
        return out;
      })
      .tf("[*tf.dynamic_partition(x0, [1, 0, 1], 2), tf.dynamic_stitch([[0, 2], 1], [x1, x2]), "
          "tf.dynamic_stitch([[[0, 3], [1, 2]], [4]], [x3, x4])]")
      .sample({x({3, 2}), x({2, 3}), x({3}), x({2, 2}), x({1})});
  row("dynamic_partition_errors")
      .call([](const PartitionList& in) {
        return in.size() == 1 ? dynamic_partition(in[0], {0, 2}, 2)
                              : PartitionList{dynamic_stitch({constant({0, -1})}, {in[1]})};
      })
      .not_in_tensorflow("errors only")
      .error({x({2})}, {}, "partitions\\[1\\] = 2 is not in \\[0, 2\\)")
      .error({x({3})}, {}, "sizes of axis 0 of data and partitions")
      .error({x({2}), x({2})}, {}, "indices\\[0\\] holds -1; expected 0 or more");
  for (const char* name : {"DynamicStitch", "ParallelDynamicStitch"})
    row(name)
        .sample(
            {values(int32, {2}, {0, 3}), values(int32, {1, 2}, {2, 1}), x({2, 2}), x({1, 2, 2})})
        .sample({i32_scalar(0), x({3})})
        .dtypes(kPlainTypes)
        .error({values(int32, {2}, {0, 1}), x({3, 2})}, {},
               "indices\\[0\\] has shape \\[2\\], data\\[0\\] \\[3, 2\\]; expected the first axes");

  for (const char* name : {"LowerBound", "UpperBound"})
    row(name)
        .sample({x({2, 4}, {1, 2, 2, 3, 0, 5, 6, 7}), x({2, 3}, {2, 0, 9, 5, 5.5, 6})})
        .sample({x({1, 3}, {1, 2, 3}), x({1, 0})})
        .sample({x({1, 0}), x({1, 2})})
        .sample({x({1, 3}, {1, 2, 3}), x({1, 2}, {2, 4})}, {{"out_type", int64}})
        .dtypes(kRealTypes)
        .error({x({2, 4}), x({3, 4})}, {}, "the numbers of rows of sorted_inputs and values")
        .error({x({4}), x({4})}, {}, "sorted_inputs must have rank 2");
  row("searchsorted")
      .call([](const PartitionList& in) {
        const Tensor s = sort(in[0]);
        return PartitionList{searchsorted(s, in[1]), searchsorted(s, in[1], "right", int64)};
      })
      .tf("[tf.searchsorted(tf.sort(x0), x1), tf.searchsorted(tf.sort(x0), x1, 'right', tf.int64)]")
      .sample({x({5}), x({4})})
      .sample({x({2, 2, 5}), x({2, 2, 3})})
      .no_gradient_check("there is none");
  row("HistogramFixedWidth")
      .sample({x({5}, {-1, 0, 1.5, 2, 5}), x({2}, {0, 5}), i32_scalar(5)})
      .sample({x({2, 9}), x({2}, {-1, 1}), i32_scalar(7)}, {{"dtype", int64}})
      .sample({x({0}), x({2}, {-1, 1}), i32_scalar(3)})
      .dtypes({float32, float64, int32, int64})
      .error({x({3}), x({2}, {1, 1}), i32_scalar(3)}, {}, "expected the lower number first")
      .error({x({3}), x({2}, {0, 1}), i32_scalar(0)}, {}, "nbins is 0; expected 1 or more")
      .error({x({3}), x({3}), i32_scalar(2)}, {}, "value_range has shape \\[3\\]");
  row("histogram_fixed_width")
      .call([](const PartitionList& in) {
        return PartitionList{histogram_fixed_width(in[0], {-1., 1.}, 8),
                             histogram_fixed_width_bins(in[0], {-1., 1.}, 8)};
      })
      .tf("[tf.histogram_fixed_width(x0, tf.constant([-1., 1.], x0.dtype), 8), "
          "tf.histogram_fixed_width_bins(x0, tf.constant([-1., 1.], x0.dtype), 8)]")
      .sample({x({3, 11})})
      .no_gradient_check("there is none");
  row("confusion_matrix")
      .call([](const PartitionList& in) {
        return PartitionList{
            math::confusion_matrix(in[0], in[1]),
            math::confusion_matrix(in[0], in[1], {.num_classes = 6}),
            math::confusion_matrix(in[0], in[1], {.weights = in[2], .dtype = in[2].dtype()})};
      })
      .tf("[tf.math.confusion_matrix(x0, x1), tf.math.confusion_matrix(x0, x1, 6), "
          "tf.math.confusion_matrix(x0, x1, weights=x2, dtype=x2.dtype)]")
      .sample({values(int32, {4}, {1, 2, 4, 1}), values(int32, {4}, {2, 2, 4, 1}), x({4})})
      .error({values(int32, {2}, {1, -1}), values(int32, {2}, {0, 0}), x({2})}, {},
             "confusion_matrix: labels")
      .error({values(int32, {2}, {1, 7}), values(int32, {2}, {0, 0}), x({2})}, {},
             "labels and num_classes")
      .error({values(int32, {3}, {1, 1, 1}), values(int32, {2}, {0, 0}), x({2})}, {},
             "labels have shape \\[3\\], predictions \\[2\\]");

  row("CumulativeLogsumexp")
      .sample({x({3, 4}), i32_scalar(0)})
      .sample({x({3, 4}), i32_scalar(-1)}, {{"reverse", true}})
      .sample({fixed(x({2, 3, 2})), i32_scalar(1)}, {{"exclusive", true}})
      .sample({fixed(x({5})), i32_scalar(0)}, {{"exclusive", true}, {"reverse", true}})
      .sample({fixed(x({4}, {80, -80, inf, 1})), i32_scalar(0)})
      .sample({fixed(x({3}, {-inf, 1, 2})), i32_scalar(0)})
      .sample({x({0, 2}), i32_scalar(0)})
      .dtypes(kFloatTypes)
      .tolerance(4e-6)
      .error({x({2}), i32_scalar(1)}, {}, "axis 1 is out of range for rank 1");

  row("cumulative_logsumexp")  // exclusive, without the -inf
      .call([](const PartitionList& in) {
        return PartitionList{
            math::cumulative_logsumexp(in[0], 0, {.exclusive = true})(slice(1, None)),
            math::cumulative_logsumexp(in[0], 1, {.exclusive = true, .reverse = true})(
                all, slice(0, -1))};
      })
      .tf("[tf.math.cumulative_logsumexp(x0, 0, True)[1:], "
          "tf.math.cumulative_logsumexp(x0, 1, True, True)[:, :-1]]")
      .sample({x({3, 4})})
      .tolerance(4e-6);

  row("CheckNumerics")
      .sample({x({2, 3})}, {{"message", "m"}})
      .sample({x({0})}, {{"message", "m"}})
      .dtypes(kFloatTypes)
      .error({x({2}, {1, nan})}, {{"message", "my text"}}, "my text : Tensor had NaN values")
      .error({x({2}, {1, -inf})}, {{"message", "m"}}, "m : Tensor had Inf values")
      .error({x({2}, {nan, inf})}, {{"message", "m"}}, "m : Tensor had Inf and NaN values");

  row("EncodeBase64")
      .dtypes({float32})
      .sample({strings({5}, {"", "a", "ab", "abc", std::string("\xff\xfe\x00\x80", 4)})})
      .sample({strings({2, 2}, {"", "a", "ab", "hello"})}, {{"pad", true}});
  row("DecodeBase64")
      .dtypes({float32})
      .sample({strings({6}, {"", "YQ", "YQ==", "YWI", "YWJj", "__4AgA"})})
      .error({strings({1}, {"a*b"})}, {}, "element 0, \"a\\*b\", is not base64")
      .error({strings({1}, {"abcde"})}, {}, "is not base64");

  const auto steps = x({9}, {-7, -6, -0.03, 0, 0.02, 1.27, 5.99, 6, 9});
  const char* const kStraight = "the gradient goes straight through the steps";
  row("FakeQuantWithMinMaxArgs")
      .dtypes({float32})
      .sample({steps})
      .sample({steps}, {{"min", -0.5}, {"max", 3.1}, {"num_bits", 4}, {"narrow_range", true}})
      .sample({steps}, {{"min", 0.3}, {"max", 3.1}})
      .no_gradient_check(kStraight)
      .error({steps}, {{"num_bits", 1}}, "num_bits is 1; expected 2 to 16")
      .error({steps}, {{"min", 2.}, {"max", 1.}}, "expected min below max");
  row("FakeQuantWithMinMaxArgsGradient")
      .dtypes({float32})
      .sample({x({9}), steps})
      .sample({x({9}), steps}, {{"min", -0.5}, {"max", 3.1}, {"num_bits", 4}});
  row("FakeQuantWithMinMaxVars")
      .dtypes({float32})
      .sample({steps, x({}, {-2.}), x({}, {3.3})})
      .sample({steps, x({}, {-0.1}), x({}, {0.9})}, {{"num_bits", 3}, {"narrow_range", true}})
      .sample({steps, x({}, {0.}), x({}, {0.})})
      .no_gradient_check(kStraight);
  row("FakeQuantWithMinMaxVarsGradient")
      .dtypes({float32})
      .sample({x({9}), steps, x({}, {-2.}), x({}, {3.3})})
      .sample({x({9}), steps, x({}, {0.}), x({}, {0.})});
  row("FakeQuantWithMinMaxVarsPerChannel")
      .dtypes({float32})
      .sample({x({4, 3}, -4, 4), x({3}, {-1, -2, 0.5}), x({3}, {1, 0.5, 3})})
      .sample({x({3}, -4, 4), x({3}, {-1, -2, 0.5}), x({3}, {1, 0.5, 3})})
      .no_gradient_check(kStraight)
      .error({x({4, 3}), x({2}), x({3})}, {}, "sizes of min or max and of the last axis");
  row("FakeQuantWithMinMaxVarsPerChannelGradient")
      .dtypes({float32})
      .sample({x({4, 3}), x({4, 3}, -4, 4), x({3}, {-1, -2, 0.5}), x({3}, {1, 0.5, 3})});
  row("fake_quant_gradients")
      .call([](const PartitionList& in) {
        GradientTape tape;
        for (const Tensor& t : in) tape.watch(t);
        const Tensor y = 3 * quantization::fake_quant_with_min_max_vars(in[0], in[1], in[2]) +
                         quantization::fake_quant_with_min_max_args(in[0], {.min = -1, .max = 2});
        const Gradients g = tape.gradient(y * y, {in[0], in[1], in[2]});
        return PartitionList{y, g[0].tensor(), g[1].tensor(), g[2].tensor()};
      })
      .tf("(lambda t, x0, x1, x2: [[t.__enter__(), t.watch([x0, x1, x2])] and "
          "(y := 3 * tf.quantization.fake_quant_with_min_max_vars(x0, x1, x2) + "
          "tf.quantization.fake_quant_with_min_max_args(x0, -1, 2)), "
          "*t.gradient(y * y, [x0, x1, x2])])(tf.GradientTape(), x0, x1, x2)")
      .dtypes({float32})
      .sample({x({3, 5}, -4, 4), x({}, {-2.}), x({}, {3.3})})
      .no_gradient_check(kStraight);

  row("StatelessRandomGetKeyCounter")
      .dtypes({int32, int64})
      .sample({x({2}, {12, -5})})
      .error({x({3}, {1, 2, 3})}, {}, "seed must be two integers");
  row("StatelessRandomGetAlg").dtypes({float32}).sample({});
  row("StatelessRandomUniformFullInt")
      .dtypes({int32, int64})
      .sample({i32({3, 5}), x({2}, {12, -5})}, {{"dtype", int32}})
      .sample({i32({7}), x({2}, {12, -5})}, {{"dtype", uint64}})
      .sample({i32({7}), x({2}, {12, -5})}, {{"dtype", int64}})
      .sample({i32({0}), x({2}, {12, -5})}, {{"dtype", uint32}});
  row("StatelessRandomUniformFullIntV2")
      .dtypes({float32})
      .sample({i32({3, 5}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(1)},
              {{"dtype", uint32}})
      .sample({i32({5}), values(uint64, {1}, {77}), values(uint64, {2}, {5, 9}), i32_scalar(1)},
              {{"dtype", int64}})
      .error({i32({5}), values(uint64, {2}, {7, 7}), values(uint64, {2}, {5, 9}), i32_scalar(1)},
             {{"dtype", int64}}, "key must have shape \\[1\\]");
}

}  // namespace rill::conformance
