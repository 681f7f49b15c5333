#include "rill/ops/array_ops.h"
#include "rill/ops/nn_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

using Ints = std::vector<std::int64_t>;
const Ints one{1, 1, 1, 1}, two{1, 2, 2, 1}, three{1, 3, 3, 1}, uneven{1, 2, 3, 1},
    one3{1, 1, 1, 1, 1}, two3{1, 2, 2, 2, 1}, uneven3{1, 1, 2, 3, 1};
const Ints around{0, 0, 1, 0, 0, 1, 0, 0}, too_much{0, 0, 2, 0, 0, 0, 0, 0}, deep{1, 1, 1, 2};

}  // namespace

RILL_ROWS(nn_pool) {
  constexpr double nan = __builtin_nan("");
  row("MaxPool")
      .sample({x({1, 4, 4, 2}, -40, 40)}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({fixed(x({2, 5, 4, 3}, -40, 40))},
              {{"ksize", three}, {"strides", two}, {"padding", "SAME"}})
      .sample({fixed(x({1, 4, 5, 1}, -40, 40))}, {{"ksize", uneven},
                                                  {"strides", one},
                                                  {"padding", "EXPLICIT"},
                                                  {"explicit_paddings", around}})
      .sample({fixed(x({2, 5, 5, 70}, -40, 40))},
              {{"ksize", two}, {"strides", one}, {"padding", "SAME"}})
      .sample({x({1, 1, 8, 1}, {nan, 1, 2, nan, 3, 4, 0, 0})},
              {{"ksize", uneven}, {"strides", two}, {"padding", "SAME"}})
      .sample({x({0, 4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .dtypes(kRealTypes)
      .error({x({4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}},
             "\\[max_pool\\] input must have rank 4, got shape \\[4, 4, 2\\]")
      .error({x({1, 1, 4, 2})}, {{"ksize", three}, {"strides", one}, {"padding", "VALID"}},
             "a window of 3 elements does not fit an axis of 1")
      .error({x({1, 4, 4, 2})}, {{"ksize", deep}, {"strides", one}, {"padding", "VALID"}},
             "ksize of batch and channels are 1 and 2; expected 1")
      .error({x({1, 4, 4, 2})},
             {{"ksize", two},
              {"strides", two},
              {"padding", "EXPLICIT"},
              {"explicit_paddings", too_much}},
             "padding 2 and 0 must be smaller than the window of 2")
      .error({x({1, 4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "FULL"}},
             "padding is \"FULL\"");
  // The second input is what max_pool gives for the first: the op may rely on it.
  row("MaxPoolGrad")
      .sample(
          {x({1, 2, 4, 1}, {1, 2, 5, 3, 4, 0, 5, -1}), x({1, 1, 2, 1}, {4, 5}), x({1, 1, 2, 1})},
          {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({x({1, 2, 3, 1}, {1, 7, 5, 3, 4, 0}), x({1, 2, 3, 1}, {7, 7, 5, 4, 4, 0}),
               x({1, 2, 3, 1})},
              {{"ksize", two}, {"strides", one}, {"padding", "SAME"}})
      .sample({x({1, 1, 2, 2}, {3, 3, 3, 4}), x({1, 2, 3, 2}, {3, 3, 3, 4, 3, 4, 3, 3, 3, 4, 3, 4}),
               x({1, 2, 3, 2})},
              {{"ksize", Ints{1, 2, 2, 1}},
               {"strides", one},
               {"padding", "EXPLICIT"},
               {"explicit_paddings", Ints{0, 0, 1, 1, 1, 1, 0, 0}}})
      .dtypes(kRealTypes)
      .no_gradient_check("the first inputs step; nn.max_pool checks first and second order")
      .error({x({1, 4, 4, 2}), x({1, 2, 3, 2}), x({1, 2, 2, 2})},
             {{"ksize", two}, {"strides", two}, {"padding", "VALID"}},
             "orig_output has shape \\[1, 2, 3, 2\\]; expected \\[1, 2, 2, 2\\]")
      .error({x({1, 4, 4, 2}), x({1, 2, 2, 2}), x({1, 2, 3, 2})},
             {{"ksize", two}, {"strides", two}, {"padding", "VALID"}}, "grad has shape");
  row("MaxPoolGradGrad")
      .sample(
          {x({1, 2, 4, 1}, {1, 2, 5, 3, 4, 0, 5, -1}), x({1, 1, 2, 1}, {4, 5}), x({1, 2, 4, 1})},
          {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({x({1, 2, 3, 1}, {1, 7, 5, 3, 4, 0}), x({1, 2, 3, 1}, {7, 7, 5, 4, 4, 0}),
               x({1, 2, 3, 1})},
              {{"ksize", two}, {"strides", one}, {"padding", "SAME"}})
      .dtypes(kRealTypes)
      .no_gradient_check("the first inputs step; nn.max_pool checks first and second order")
      .error({x({1, 4, 4, 2}), x({1, 2, 2, 2}), x({1, 4, 3, 2})},
             {{"ksize", two}, {"strides", two}, {"padding", "VALID"}}, "grad has shape");
  row("MaxPoolWithArgmax")
      .sample({x({2, 4, 4, 2}, -40, 40)}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({fixed(x({2, 5, 4, 3}, -40, 40))}, {{"ksize", three},
                                                  {"strides", two},
                                                  {"padding", "SAME"},
                                                  {"include_batch_in_index", true},
                                                  {"Targmax", int32}})
      .sample({fixed(x({1, 3, 3, 70}, -40, 40))},
              {{"ksize", two}, {"strides", one}, {"padding", "SAME"}})
      .dtypes(kRealTypes)
      .error({x({4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}},
             "input must have rank 4");
  row("AvgPool")
      .sample({x({1, 4, 4, 1})}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({x({2, 5, 4, 2})}, {{"ksize", three}, {"strides", two}, {"padding", "SAME"}})
      .sample({x({2, 5, 5, 20})}, {{"ksize", uneven}, {"strides", one}, {"padding", "SAME"}})
      .sample({x({0, 4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .dtypes(kFloatTypes)
      .error({x({1, 4, 4, 2})}, {{"ksize", two}, {"strides", two}, {"padding", "EXPLICIT"}},
             "padding is \"EXPLICIT\"; expected \"SAME\" or \"VALID\"");
  row("AvgPoolGrad")
      .sample({i32({1, 4, 4, 1}), x({1, 2, 2, 1})},
              {{"ksize", two}, {"strides", two}, {"padding", "VALID"}})
      .sample({i32({2, 5, 4, 2}), x({2, 3, 2, 2})},
              {{"ksize", three}, {"strides", two}, {"padding", "SAME"}})
      .sample({i32({1, 5, 5, 20}), x({1, 5, 5, 20})},
              {{"ksize", uneven}, {"strides", one}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .error({i32({1, 4, 4, 1}), x({1, 2, 3, 1})},
             {{"ksize", two}, {"strides", two}, {"padding", "VALID"}},
             "grad has shape \\[1, 2, 3, 1\\]; expected \\[1, 2, 2, 1\\]")
      .error({i32({1, 4, 4}), x({1, 2, 2, 1})},
             {{"ksize", two}, {"strides", two}, {"padding", "VALID"}}, "input must have rank 4");
  row("MaxPool3D")
      .sample({x({1, 2, 4, 4, 2}, -40, 40)},
              {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}})
      .sample({fixed(x({2, 3, 3, 4, 2}, -40, 40))},
              {{"ksize", uneven3}, {"strides", two3}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .error({x({1, 4, 4, 2})}, {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}},
             "\\[max_pool3d\\] input must have rank 5");
  // Of equals TensorFlow gives each the gradient here, but not with two axes; the first alone is
  // right.
  row("MaxPool3DGrad")
      .sample({x({1, 1, 2, 4, 1}, {1, 2, 5, 3, 4, 0, 2, -1}), x({1, 1, 1, 2, 1}, {4, 5}),
               x({1, 1, 1, 2, 1})},
              {{"ksize", Ints{1, 1, 2, 2, 1}}, {"strides", two3}, {"padding", "VALID"}})
      .dtypes(kFloatTypes)
      .no_gradient_check("the first inputs step; nn.max_pool3d checks first and second order")
      .error({x({1, 2, 4, 4, 2}), x({1, 1, 2, 3, 2}), x({1, 1, 2, 2, 2})},
             {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}}, "orig_output has shape");
  row("MaxPool3DGradGrad")
      .sample({x({1, 1, 2, 4, 1}, {1, 2, 5, 3, 4, 0, 5, -1}), x({1, 1, 1, 2, 1}, {4, 5}),
               x({1, 1, 2, 4, 1})},
              {{"ksize", Ints{1, 1, 2, 2, 1}}, {"strides", two3}, {"padding", "VALID"}})
      .dtypes(kFloatTypes)
      // No kernel for CPUs: the places are those of 4 and of the first 5.
      .tf("tf.reshape(tf.stack([x2[0, 0, 1, 0, 0], x2[0, 0, 0, 2, 0]]), [1, 1, 1, 2, 1])")
      .no_gradient_check("the first inputs step; nn.max_pool3d checks first and second order")
      .error({x({1, 2, 4, 4, 2}), x({1, 1, 2, 2, 2}), x({1, 1, 2, 2, 2})},
             {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}}, "grad has shape");
  row("AvgPool3D")
      .sample({x({1, 2, 4, 4, 1})}, {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}})
      .sample({x({2, 3, 3, 4, 2})}, {{"ksize", uneven3}, {"strides", two3}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .error({x({1, 2, 4, 4, 1})},
             {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}, {"data_format", "NHWC"}},
             "expected \"NDHWC\" or \"NCDHW\"");
  row("AvgPool3DGrad")
      .sample({i32({1, 2, 4, 4, 1}), x({1, 1, 2, 2, 1})},
              {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}})
      .sample({i32({2, 3, 3, 4, 2}), x({2, 2, 2, 2, 2})},
              {{"ksize", uneven3}, {"strides", two3}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .error({i32({1, 2, 4, 4, 1}), x({1, 1, 2, 3, 1})},
             {{"ksize", two3}, {"strides", two3}, {"padding", "VALID"}}, "grad has shape");
}

RILL_ROWS(nn_pool_functions) {
  row("nn.max_pool")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::max_pool(in[0], 2, 2, "SAME"),
            nn::max_pool2d(in[0], {2, 3}, 1, "VALID"),
            nn::max_pool2d(in[0], {1, 2, 2, 1}, {1, 2, 1, 1}, {{0, 0}, {1, 0}, {0, 1}, {0, 0}}),
            nn::pool(in[0], 2, "MAX", {.strides = {2, 1}, .padding = "SAME"}),
            nn::pool(in[0], 2, "MAX", {.dilations = 2}),
            nn::max_pool_with_argmax(in[0], 2, 2, "SAME").t[0]};
      })
      .tf("[tf.nn.max_pool(x0, 2, 2, 'SAME'), tf.nn.max_pool2d(x0, [2, 3], 1, 'VALID'),"
          " tf.nn.max_pool2d(x0, [1, 2, 2, 1], [1, 2, 1, 1], [[0, 0], [1, 0], [0, 1], [0, 0]]),"
          " tf.nn.pool(x0, [2, 2], 'MAX', strides=[2, 1], padding='SAME'), tf.nn.pool(x0, [2, 2], "
          "'MAX', dilations=[2, 2]),"
          " tf.nn.max_pool_with_argmax(x0, 2, 2, 'SAME')[0]]")
      .sample({x({1, 5, 5, 1}, {3,  14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26, 43,
                                83, 27, 95, 2,  88, 41, 97, 16, 93, 99, 37, 51})})
      .error({x({5, 5})}, {}, "input has shape \\[5, 5\\]; expected rank 3, 4 or 5");
  row("nn.avg_pool")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::avg_pool(in[0], 2, 2, "SAME"), nn::avg_pool2d(in[0], {2, 3}, 1, "VALID"),
            nn::pool(in[0], {2, 3}, "AVG", {.strides = {2, 1}, .padding = "SAME"}),
            nn::pool(in[0], 2, "AVG", {.dilations = {2, 1}})};
      })
      .tf("[tf.nn.avg_pool(x0, 2, 2, 'SAME'), tf.nn.avg_pool2d(x0, [2, 3], 1, 'VALID'), "
          "tf.nn.pool(x0, [2, 3], 'AVG', strides=[2, 1], padding='SAME'),"
          " tf.nn.pool(x0, [2, 2], 'AVG', dilations=[2, 1])]")
      .sample({x({1, 5, 4, 2})});
  row("nn.pool_channels_first")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::max_pool2d(in[0], 2, {2, 1}, "SAME", {.data_format = "NCHW"}),
            nn::avg_pool2d(in[0], {1, 1, 2, 3}, 2, "SAME", {.data_format = "NCHW"})};
      })
      .tf("[tf.transpose(tf.nn.max_pool2d(tf.transpose(x0, [0, 2, 3, 1]), 2, [2, 1], 'SAME'), [0, "
          "3, 1, 2]),"
          " tf.transpose(tf.nn.avg_pool2d(tf.transpose(x0, [0, 2, 3, 1]), [2, 3], 2, 'SAME'), [0, "
          "3, 1, 2])]")
      .sample({x({1, 2, 3, 4}, {3,  14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26,
                                43, 83, 27, 95, 2,  88, 41, 97, 16, 93, 99, 37})});
  row("nn.pool1d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::max_pool1d(in[0], 2, 2, "SAME"), nn::avg_pool1d(in[0], 3, 1, "VALID"),
            nn::pool(in[0], 2, "AVG", {.padding = "SAME"}), nn::max_pool(in[0], 3, 2, "SAME")};
      })
      .tf("[tf.nn.max_pool1d(x0, 2, 2, 'SAME'), tf.nn.avg_pool1d(x0, 3, 1, 'VALID'), "
          "tf.nn.pool(x0, [2], 'AVG', padding='SAME'), tf.nn.max_pool(x0, 3, 2, 'SAME')]")
      .sample({x({1, 5, 2}, {3, 14, 15, 92, 65, 35, 89, 79, 32, 38})})
      .error({x({5, 2})}, {}, "\\[max_pool1d\\] input must have rank 3");
  row("nn.max_pool3d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::max_pool3d(in[0], 2, {1, 2, 1}, "SAME"),
                                   nn::avg_pool3d(in[0], {1, 2, 2}, 1, "VALID"),
                                   nn::max_pool(in[0], 2, 2, "VALID")};
      })
      .tf("[tf.nn.max_pool3d(x0, 2, [1, 2, 1], 'SAME'), tf.nn.avg_pool3d(x0, [1, 2, 2], 1, "
          "'VALID'), tf.nn.max_pool(x0, 2, 2, 'VALID')]")
      .sample({x({1, 2, 3, 4, 1}, {3,  14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26,
                                   43, 83, 27, 95, 2,  88, 41, 97, 16, 93, 99, 37})})
      .dtypes(TypeSet{float32});
  row("nn.max_pool3d_gradient")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::max_pool3d(in[0], 2, {1, 2, 1}, "SAME")};
      })
      .not_in_tensorflow("there is no float64 kernel; the values are checked in float32")
      .sample({x({1, 2, 3, 4, 1}, {3,  14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26,
                                   43, 83, 27, 95, 2,  88, 41, 97, 16, 93, 99, 37})})
      .dtypes(TypeSet{float64});
}

}  // namespace rill::conformance
