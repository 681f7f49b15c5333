#include "rill/compat/v1/math.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "row.h"

namespace rill::conformance {

static Input scalar(double v) { return x({}, std::vector<double>{v}); }

RILL_ROWS(math_clip) {
  row("ClipByValue")
      .sample({x({2, 3}), scalar(-1), scalar(0.75)})
      .sample({x({2, 3}), x({2, 3}, -1, 0), x({2, 3}, 1, 1.5)})
      .sample({x({4}, {-3, 3, 1.5, 0}), scalar(1), scalar(2)})
      .sample({scalar(3), scalar(0), scalar(2)})
      .sample({x({0}), scalar(0), scalar(1)})
      .dtypes(kRealTypes)
      .tolerance(0)
      .error({x({2, 3}), x({3}), scalar(1)}, {},
             "clip_value_min has shape \\[3\\], t has shape \\[2, 3\\]; expected a scalar or the "
             "same shape");
  row("clip_by_value")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{clip_by_value(in[0], in[1], in[2]), clip_by_value(in[0], -1, 1),
                                   clip_by_value(in[0], in[1], 1)};
      })
      .tf("[tf.clip_by_value(x0, x1, x2), tf.clip_by_value(x0, -1, 1), tf.clip_by_value(x0, x1, "
          "1)]")
      .sample({x({2, 3}), x({3}, -1, 0), x({2, 1}, 0.5, 1)})
      .sample({x({2, 3}), scalar(-0.51), x({1}, std::vector<double>{0.49})})
      .dtypes(kFloatTypes | TypeSet{int32, int64})
      .tolerance(0)
      .error({x({3}), x({2, 3}, -1, 0), scalar(1)}, {},
             "t has shape \\[3\\], with its limits broadcast \\[2, 3\\]; limits must not be larger "
             "than t");
  row("clip_by_norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{clip_by_norm(in[0], in[1]), clip_by_norm(in[0], 100),
                                   clip_by_norm(in[0], 0.5, {1}), clip_by_norm(in[0], 1, {-2, -1})};
      })
      .tf("[tf.clip_by_norm(x0, x1), tf.clip_by_norm(x0, 100), tf.clip_by_norm(x0, 0.5, [1]), "
          "tf.clip_by_norm(x0, 1, [-2, -1])]")
      .sample({x({2, 3}), scalar(1.25)})
      .sample({x({2, 3}, {0, 0, 0, 0, 0, 0}), scalar(1.25)})
      .dtypes(kFloatTypes)
      .error({values(int32, {2}, {1, 2}), scalar(1)}, {},
             "t is int32; expected a floating-point dtype");
  row("clip_by_average_norm")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{compat::v1::clip_by_average_norm(in[0], 0.125),
                                   compat::v1::clip_by_average_norm(in[0], 10)};
      })
      .tf("[tf.compat.v1.clip_by_average_norm(x0, 0.125), tf.compat.v1.clip_by_average_norm(x0, "
          "10)]")
      .sample({x({2, 3})})
      .dtypes({float32});
  row("clip_by_global_norm")
      .call([](const std::vector<Tensor>& in) {
        const auto [clipped, norm] = clip_by_global_norm({in[0], {}, in[1]}, 1.5f);
        const auto [free, same] = clip_by_global_norm({in[0], in[1]}, 100);
        const auto [by, given] = clip_by_global_norm({in[0]}, 2, in[2]);
        return std::vector<Tensor>{clipped[0], clipped[2], norm,
                                   free[0],    free[1],    same,
                                   by[0],      given,      global_norm({in[1], Gradient()})};
      })
      .tf("(lambda a, b, c: [a[0][0], a[0][2], a[1], b, c])(tf.clip_by_global_norm([x0, None, x1], "
          "1.5), tf.clip_by_global_norm([x0, x1], 100.), "
          "[tf.clip_by_global_norm([x0], 2., x2), tf.linalg.global_norm([x1, None])])")
      .sample({x({2, 3}), x({2}), scalar(3)})
      .sample({x({1}, std::vector<double>{__builtin_inf()}), x({2}), scalar(__builtin_inf())});
  row("AddN")
      .sample({x({2, 3}), x({2, 3})})
      .sample({x({2}), x({2}), x({2})})
      .sample({x({})})
      .sample({x({0, 2}), x({0, 2})})
      .dtypes(kNumericTypes)
      .error({x({2, 3}), x({3})}, {},
             "inputs\\[1\\] has shape \\[3\\], those before it \\[2, 3\\]; all must be equal");
  row("add_n")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            add_n({in[0], in[1]}), add_n(in), math::accumulate_n({in[0], in[1], in[1]}, {2}),
            add_n({in[0]}),
            add_n(
                Gradients{Gradient(in[0]), Gradient(IndexedSlices{in[1], constant({1, 0}), {2}})})};
      })
      .tf("[tf.add_n([x0, x1]), tf.add_n([x0, x1]), tf.math.accumulate_n([x0, x1, x1]), "
          "tf.add_n([x0]), "
          "tf.add_n([x0, tf.IndexedSlices(x1, tf.constant([1, 0]), tf.constant([2]))])]")
      .sample({x({2}), x({2})});
}

}  // namespace rill::conformance
