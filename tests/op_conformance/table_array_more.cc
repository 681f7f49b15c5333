// Rows of the ops that join, cut, repeat, pad, scatter and rearrange.
#include "rill/ops/array_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {
Input pads(std::vector<double> v) {
  const auto n = static_cast<std::int64_t>(v.size()) / 2;
  return values(int32, TensorShape({n, 2}), std::move(v));
}
Input coords(const TensorShape& shape, std::vector<double> v) {
  return values(int32, shape, std::move(v));
}
}  // namespace

RILL_ROWS(array_more) {
  row("Split")
      .sample({i32_scalar(1), x({2, 4})}, {{"num_split", 2}}, 2)
      .sample({i32_scalar(-2), x({3, 2})}, {{"num_split", 3}}, 3)
      .sample({i32_scalar(0), x({0, 2})}, {{"num_split", 2}}, 2)
      .dtypes(kPlainTypes);
  row("SplitV")
      .sample({x({5, 2}), i32({1, 4}), i32_scalar(0)}, {{"num_split", 2}}, 2)
      .sample({x({2, 6}), i32({2, -1, 0}), i32_scalar(-1)}, {{"num_split", 3}}, 3)
      .dtypes(kPlainTypes);
  row("split_equal")
      .sample({x({4})})
      .call([](const std::vector<Tensor>& in) { return split(in[0], 2); })
      .tf("tf.split(x0, 2)")
      .error({x({5})}, {}, "5 elements, which do not divide into 2 equal parts");
  row("split_sizes")
      .sample({x({2, 4})})
      .call([](const std::vector<Tensor>& in) {
        return split(in[0], {1, -1}, 1);
      })
      .tf("tf.split(x0, [1, -1], axis=1)")
      .error({x({2})}, {}, "axis 1 is out of range")
      .error({x({2, 0})}, {}, "sizes add up to 1, but axis 1 of shape \\[2, 0\\] has 0");
  row("GatherNd")
      .sample({x({3, 4}), coords({2, 2}, {0, 1, 2, 3})})
      .sample({x({3, 2}), coords({2, 1}, {2, 2})})
      .sample({x({2, 2}), coords({3, 0}, {})})
      .sample({x({2, 3, 2}), coords({2, 1, 2}, {1, 2, 0, 0})})
      .sample({x({3, 2}), coords({0, 1}, {})})
      .dtypes(kPlainTypes)
      .error({x({3, 4}), coords({1, 2}, {0, 4})}, {},
             "indices\\[0\\] = \\[0, 4\\] does not index into shape \\[3, 4\\]")
      .error({x({3}), coords({1, 2}, {0, 0})}, {}, "have 2 coordinates, but shape \\[3\\] has 1");
  row("gather_nd_batch")
      .sample({x({2, 3, 2}), coords({2, 2, 1}, {0, 2, 1, 1})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{gather_nd(in[0], in[1], {.batch_dims = 1})};
      })
      .tf("tf.gather_nd(x0, x1, batch_dims=1)");
  row("ScatterNd")
      .sample({coords({3, 1}, {1, 3, 1}), x({3, 2}), i32({4, 2})})
      .sample({coords({2, 2}, {0, 1, 1, 0}), x({2}), i32({2, 2})})
      .sample({coords({0, 1}, {}), x({0}), i32({3})})
      .dtypes(kNumericTypes)
      .error({coords({1, 1}, {4}), x({1}), i32({4})}, {}, "indices\\[0\\] = \\[4\\] does not index")
      .error(
          {coords({2, 1}, {1, 2}), x({3}), i32({4})}, {},
          "updates have shape \\[3\\]; indices of shape \\[2, 1\\] into shape \\[4\\] need \\[2\\]")
      .error({coords({2, 1}, {1, 2}), x({2}), i32({-4})}, {}, "negative size");
  for (const char* op : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub",
                         "TensorScatterMax", "TensorScatterMin"}) {
    const std::string name = op;
    Row& r = row(op)
                 .sample({x({4, 2}), coords({2, 1}, {3, 0}), x({2, 2})})
                 .sample({x({2, 3}), coords({2, 2}, {0, 1, 1, 2}), x({2})});
    if (name == "TensorScatterUpdate")
      r.dtypes(kPlainTypes);
    else
      r.dtypes(name.ends_with("Max") || name.ends_with("Min") ? kRealTypes : kNumericTypes);
    r.error({x({4}), coords({1, 1}, {-1}), x({1})}, {},
            "indices\\[0\\] = \\[-1\\] does not index into shape \\[4\\]");
  }
  row("gather_batch_dims")
      .sample({x({2, 3, 4, 2}), coords({2, 2}, {3, 0, 1, 1})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{gather(in[0], in[1], {.axis = 2, .batch_dims = 1})};
      })
      .tf("tf.gather(x0, x1, axis=2, batch_dims=1)");
  row("gather_all_batch")
      .sample({x({2, 3}), coords({2}, {2, 0})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{gather(in[0], in[1], {.axis = 1, .batch_dims = 1})};
      })
      .tf("tf.gather(x0, x1, axis=1, batch_dims=1)");
  row("PadV2")
      .sample({x({2, 3}), pads({1, 0, 2, 1}), x({})})
      .sample({x({2}), pads({0, 3}), x({})})
      .dtypes(kPlainTypes)
      .error({x({2}), pads({1, 1}), x({1})}, {}, "constant_values must have rank 0")
      .error({x({2}), pads({1, 1, 1, 1}), x({})}, {}, "paddings must have shape \\[1, 2\\]");
  row("MirrorPad")
      .sample({x({3, 4}), pads({1, 2, 3, 0})}, {{"mode", "REFLECT"}})
      .sample({x({2, 3}), pads({2, 1, 0, 3})}, {{"mode", "SYMMETRIC"}})
      .dtypes(kPlainTypes)
      .error({x({3}), pads({3, 0})}, {{"mode", "REFLECT"}},
             "paddings 3 and 0 of axis 0 are more than the 2 elements")
      .error({x({3}), pads({1, 0})}, {{"mode", "EDGE"}}, "mode is \"EDGE\"");
  row("MirrorPadGrad")
      .sample({x({4, 5}), pads({1, 0, 1, 1})}, {{"mode", "REFLECT"}})
      .sample({x({5}), pads({2, 1})}, {{"mode", "SYMMETRIC"}})
      .dtypes(kFloatTypes | TypeSet{int32, int64, complex64});
  row("pad_options")
      .sample({x({2, 2})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{pad(in[0], {{1, 0}, {0, 1}}, {.constant_values = 7}),
                           pad(in[0], {{1, 1}, {0, 0}}, {.mode = "reflect"}),
                           pad(in[0], {{1, 1}, {0, 0}}, {})};
      })
      .tf("[tf.pad(x0, [[1,0],[0,1]], constant_values=7), tf.pad(x0, [[1,1],[0,0]], 'REFLECT'), "
          "tf.pad(x0, [[1,1],[0,0]])]");
  row("Tile")
      .sample({x({2, 3}), i32({2, 1})})
      .sample({x({2}), i32({3})})
      .sample({x({1, 2}), i32({2, 0})})
      .sample({x({}), i32({})})
      .dtypes(kFloatTypes | kSignedTypes | kComplexTypes | TypeSet{uint8, uint32, uint64, bool_})
      .error({x({2}), i32({1, 1})}, {}, "multiples has 2 entries for shape \\[2\\]")
      .error({x({2}), i32({-1})}, {}, "multiples\\[0\\] is -1")
      .error({x({3}), values(int64, {1}, {4611686018427387904.0})}, {}, "more than 63 bits");
  for (const char* what : {"repeat", "repeat_list", "repeat_flat"}) {
    const std::string name = what;
    row(what)
        .sample({x({2, 3})})
        .call([name](const std::vector<Tensor>& in) {
          return std::vector{name == "repeat"        ? repeat(in[0], 2, -1)
                             : name == "repeat_list" ? repeat(in[0], {1, 3}, 0)
                                                     : repeat(in[0], 2)};
        })
        .tf(name == "repeat"        ? "tf.repeat(x0, 2, axis=-1)"
            : name == "repeat_list" ? "tf.repeat(x0, [1, 3], axis=0)"
                                    : "tf.repeat(x0, 2)");
  }
  row("OneHot")
      .sample({values(int32, {3}, {0, 2, -1}), i32_scalar(3), x({}, 1, 2), x({}, 0, 0)})
      .sample({values(int64, {2, 2}, {0, 2, 1, 5}), i32_scalar(3), x({}, 1, 2), x({}, -1, 0)},
              {{"axis", 1}})
      .sample({values(uint8, {2}, {1, 0}), i32_scalar(2), x({}, 1, 2), x({}, -1, 0)}, {{"axis", 0}})
      .sample({values(int32, {}, {1}), i32_scalar(2), x({}, 1, 2), x({}, 0, 0)})
      .sample({values(int32, {0}, {}), i32_scalar(2), x({}, 1, 2), x({}, 0, 0)})
      .dtypes(kPlainTypes)
      .error({values(int32, {2}, {1, 0}), i32_scalar(-1), x({}), x({})}, {}, "depth is -1")
      .error({values(int32, {2}, {1, 0}), i32_scalar(2), x({}), x({})}, {{"axis", 3}},
             "axis 3 is out of range");
  row("one_hot")
      .sample({values(int32, {3}, {0, 2, 1})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{one_hot(in[0], 3),
                           one_hot(in[0], 4, {.on_value = 5, .off_value = -1, .axis = 0}),
                           one_hot(in[0], 3, true, false),
                           one_hot(in[0], 3, {.on_value = true, .off_value = false}),
                           one_hot(in[0], 3, {.off_value = 2}),
                           one_hot(in[0], 3, {.on_value = 5, .off_value = -1, .dtype = float64})};
      })
      .tf("[tf.one_hot(x0, 3), tf.one_hot(x0, 4, on_value=5, off_value=-1, axis=0), tf.one_hot(x0, "
          "3, on_value=True, off_value=False), tf.one_hot(x0, 3, on_value=True, off_value=False), "
          "tf.one_hot(x0, 3, off_value=2), tf.one_hot(x0, 3, on_value=5, off_value=-1, "
          "dtype=tf.float64)]");
  row("ReverseV2")
      .sample({x({2, 3}), i32({1})})
      .sample({x({2, 3, 2}), i32({0, -1})})
      .sample({x({2}), i32({})})
      .sample({x({}), i32({})})
      .dtypes(kPlainTypes)
      .error({x({2}), i32({0, -1})}, {}, "axis 0 is listed twice")
      .error({x({2}), i32({1})}, {}, "axis 1 is out of range");
  row("Roll")
      .sample({x({5}), i32_scalar(2), i32_scalar(0)})
      .sample({x({2, 3}), i32({-1, 7}), i32({0, 1})})
      .sample({x({2, 3}), i32({1, 1}), i32({1, 1})})
      .sample({x({0, 3}), i32_scalar(2), i32_scalar(0)})
      .dtypes(kPlainTypes)
      .error({x({}), i32_scalar(2), i32_scalar(0)}, {}, "a scalar has no axis")
      .error({x({2}), i32({1, 2}), i32({0})}, {}, "one shift an axis");
  row("ReverseSequence")
      .sample({x({2, 4, 2}), values(int64, {2}, {3, 0})}, {{"seq_dim", 1}})
      .sample({x({3, 2}), values(int32, {2}, {1, 3})}, {{"seq_dim", 0}, {"batch_dim", 1}})
      .dtypes(kPlainTypes)
      .error({x({2, 3}), values(int32, {2}, {1, 4})}, {{"seq_dim", 1}},
             "seq_lengths\\[1\\] = 4 is not in \\[0, 3\\]")
      .error({x({2, 3}), values(int32, {2}, {1, 1})}, {{"seq_dim", 0}},
             "seq_axis and batch_axis are both 0");
  row("Range")
      .sample({x({}, {{1}}), x({}, {{8}}), x({}, {{3}})})
      .sample({x({}, {{0}}), x({}, {{0}}), x({}, {{1}})})
      .sample({x({}, {{0}}), x({}, {{40}}), x({}, {{1}})})
      .dtypes(kFloatTypes | kSignedTypes | TypeSet{uint16, uint32})
      .error({x({}, {{1}}), x({}, {{8}}), x({}, {{0}})}, {}, "delta is 0")
      .error({x({}, {{9}}), x({}, {{8}}), x({}, {{1}})}, {}, "start 9 is beyond limit 8");
  row("Range_of_fractions")
      .sample({x({}, {{0.1}}), x({}, {{2.05}}), x({}, {{0.15}})})
      .sample({x({}, {{3}}), x({}, {{-1}}), x({}, {{-0.7}})})
      .call([](const std::vector<Tensor>& in) { return std::vector{range(in[0], in[1], in[2])}; })
      .tf("tf.range(x0, x1, x2)")
      .no_gradient_check("a range has no gradient");
  row("range_dtypes")
      .sample({x({}, {{3}})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{range(5),
                           range(2, 9, 3),
                           range(1.5, 4),
                           range(0, in[0]),
                           range(5, 1, -2, int64),
                           range(3, 0, -1),
                           range(to_tensor(3, int64))};
      })
      .tf("[tf.range(5), tf.range(2, 9, 3), tf.range(1.5, 4), tf.range(0, x0), tf.range(5, 1, -2, "
          "dtype=tf.int64), tf.range(3, 0, -1), tf.range(tf.constant(3, tf.int64))]")
      .dtypes({float32, float64, int64, int32})
      .no_gradient_check("a range has no gradient");
  row("LinSpace")
      .sample({x({}, {{1}}), x({}, {{2}}), i32_scalar(10)})
      .sample({x({}, {{3}}), x({}, {{-2}}), i32_scalar(4)})
      .sample({x({}, {{3}}), x({}, {{5}}), i32_scalar(1)})
      .dtypes(kFloatTypes)
      .error({x({}), x({}), i32_scalar(0)}, {}, "num is 0");
  row("meshgrid")
      .sample({x({2}), x({3})})
      .call([](const std::vector<Tensor>& in) {
        auto out = meshgrid({in[0], in[1]});
        for (const Tensor& t : meshgrid({in[0], in[1]}, {.indexing = "ij"})) out.push_back(t);
        return out;
      })
      .tf("tf.meshgrid(x0, x1) + tf.meshgrid(x0, x1, indexing='ij')");
  row("sequence_mask")
      .sample({values(int32, {3}, {1, 3, 2})})
      .sample({values(int64, {2, 2}, {1, 0, 4, 2})})
      .call([](const std::vector<Tensor>& in) {
        return std::vector{sequence_mask(in[0]), sequence_mask(in[0], 5, float32),
                           sequence_mask(in[0], 2)};
      })
      .tf("[tf.sequence_mask(x0), tf.sequence_mask(x0, 5, tf.float32), tf.sequence_mask(x0, 2)]");
  row("eye")
      .sample({})
      .call([](const std::vector<Tensor>&) {
        return std::vector{eye(3), eye(2, 4, {.dtype = int32}), eye(3, 2, {.batch_shape = {2}}),
                           eye(0), eye(2, bool_)};
      })
      .tf("[tf.eye(3), tf.eye(2, 4, dtype=tf.int32), tf.eye(3, 2, batch_shape=[2]), tf.eye(0), "
          "tf.eye(2, dtype=tf.bool)]")
      .dtypes({float32});
}

}  // namespace rill::conformance
