#include "rill/compat/v1/nn.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"
#include "row.h"

namespace rill::conformance {
namespace {

using Ints = std::vector<std::int64_t>;
const Ints one{1, 1, 1, 1}, two{1, 2, 2, 1}, uneven{1, 2, 1, 1}, one3{1, 1, 1, 1, 1},
    mixed3{1, 1, 2, 2, 1};
const Ints around{0, 0, 1, 0, 0, 2, 0, 0}, around_first{0, 0, 0, 0, 1, 0, 0, 2};
const Ints bad_batch{2, 1, 1, 1}, too_few{1, 1}, zero{1, 0, 1, 1}, dilated{1, 2, 1, 1},
    dilated_first{1, 1, 2, 1};

}  // namespace

RILL_ROWS(nn_conv2d) {
  row("Conv2D")
      .sample({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}})
      .sample({x({2, 4, 3, 1}), x({3, 2, 1, 2})}, {{"strides", two}, {"padding", "SAME"}})
      .sample({x({1, 4, 3, 1}), x({2, 2, 1, 2})},
              {{"strides", one}, {"padding", "EXPLICIT"}, {"explicit_paddings", around}})
      .sample({x({1, 5, 3, 1}), x({2, 2, 1, 2})},
              {{"strides", one}, {"padding", "SAME"}, {"dilations", dilated}})
      .sample({x({1, 3, 3, 4}), x({2, 2, 2, 2})}, {{"strides", one}, {"padding", "VALID"}})
      .sample({x({1, 6, 5, 1}), x({2, 3, 1, 1})}, {{"strides", uneven}, {"padding", "VALID"}})
      .sample({x({3, 7, 6, 19}), x({3, 3, 19, 17})}, {{"strides", one}, {"padding", "SAME"}})
      .sample({x({0, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}})
      .sample({x({1, 2, 2, 1}), x({1, 1, 1, 2})}, {{"strides", one}, {"padding", "VALID"}})
      .dtypes(kFloatTypes | TypeSet{int32})
      .tolerance(2e-5)
      .error({x({3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "SAME"}},
             "\\[conv2d\\] input must have rank 4, got shape \\[3, 3, 2\\]")
      .error({x({1, 3, 3, 2}), x({2, 2, 2})}, {{"strides", one}, {"padding", "SAME"}},
             "filter must have rank 4")
      .error({x({1, 3, 3, 3}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "SAME"}},
             "input of shape \\[1, 3, 3, 3\\] has 3 channels, filter of shape \\[2, 2, 2, 3\\] is "
             "for 2; expected equal numbers")
      .error({x({1, 3, 3, 4}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "SAME"}},
             "do not divide into 2 groups")
      .error({x({1, 3, 3, 2}), x({5, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}},
             "a window of 5 elements does not fit an axis of 3")
      .error({x({1, 3, 3, 2}), x({0, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}},
             "a window has 0 elements along an axis")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "FULL"}},
             "padding is \"FULL\"; expected \"SAME\", \"VALID\" or \"EXPLICIT\"")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})},
             {{"strides", one}, {"padding", "SAME"}, {"explicit_paddings", around}},
             "expected \"EXPLICIT\"")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "EXPLICIT"}},
             "explicit_paddings has 0 entries; expected 8")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})},
             {{"strides", one}, {"padding", "EXPLICIT"}, {"explicit_paddings", around_first}},
             "batch and channels must be 0")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", bad_batch}, {"padding", "SAME"}},
             "strides of batch and channels are 2 and 1; expected 1")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", too_few}, {"padding", "SAME"}},
             "strides has 2 entries; expected 4")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", zero}, {"padding", "SAME"}},
             "an entry of strides is 0")
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 3})},
             {{"strides", one}, {"padding", "SAME"}, {"data_format", "CHWN"}},
             "data_format is \"CHWN\"");
  row("Conv2DBackpropInput")
      .sample({i32({1, 3, 3, 2}), x({2, 2, 2, 3}), x({1, 2, 2, 3})},
              {{"strides", one}, {"padding", "VALID"}})
      .sample({i32({2, 4, 3, 1}), x({3, 2, 1, 2}), x({2, 2, 2, 2})},
              {{"strides", two}, {"padding", "SAME"}})
      .sample({i32({1, 4, 3, 1}), x({2, 2, 1, 2}), x({1, 4, 4, 2})},
              {{"strides", one}, {"padding", "EXPLICIT"}, {"explicit_paddings", around}})
      .sample({i32({0, 3, 3, 2}), x({2, 2, 2, 3}), x({0, 2, 2, 3})},
              {{"strides", one}, {"padding", "VALID"}})
      .dtypes(kFloatTypes | TypeSet{int32})
      .tolerance(2e-5)
      .error({i32({1, 3, 3, 2}), x({2, 2, 2, 3}), x({1, 3, 2, 3})},
             {{"strides", one}, {"padding", "VALID"}},
             "out_backprop has shape \\[1, 3, 2, 3\\]; expected \\[1, 2, 2, 3\\]")
      .error({i32({1, 3, 3}), x({2, 2, 2, 3}), x({1, 2, 2, 3})},
             {{"strides", one}, {"padding", "VALID"}}, "input_sizes has 3 entries; expected 4")
      .error({i32({1, -1, 3, 2}), x({2, 2, 2, 3}), x({1, 2, 2, 3})},
             {{"strides", one}, {"padding", "VALID"}}, "input_sizes");
  row("Conv2DBackpropFilter")
      .sample({x({1, 3, 3, 2}), i32({2, 2, 2, 3}), x({1, 2, 2, 3})},
              {{"strides", one}, {"padding", "VALID"}})
      .sample({x({2, 4, 3, 1}), i32({3, 2, 1, 2}), x({2, 2, 2, 2})},
              {{"strides", two}, {"padding", "SAME"}})
      .sample({x({1, 4, 3, 1}), i32({2, 2, 1, 2}), x({1, 4, 4, 2})},
              {{"strides", one}, {"padding", "EXPLICIT"}, {"explicit_paddings", around}})
      .sample({x({0, 3, 3, 2}), i32({2, 2, 2, 3}), x({0, 2, 2, 3})},
              {{"strides", one}, {"padding", "VALID"}})
      .dtypes(kFloatTypes | TypeSet{int32})
      .tolerance(2e-5)
      .error({x({1, 3, 3, 2}), i32({2, 2, 2, 3}), x({1, 3, 2, 3})},
             {{"strides", one}, {"padding", "VALID"}}, "out_backprop has shape")
      .error({x({1, 3, 3, 2}), i32({2, 2, 2}), x({1, 2, 2, 3})},
             {{"strides", one}, {"padding", "VALID"}}, "filter_sizes has 3 entries; expected 4");
  row("nn.conv2d_backprops")  // many channels; TensorFlow sums half types in themselves
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            execute(find_op("Conv2DBackpropInput"), {constant({3, 7, 6, 19}), in[1], in[2]},
                    {{"strides", one}, {"padding", "SAME"}}),
            execute(find_op("Conv2DBackpropFilter"), {in[0], constant({3, 3, 19, 17}), in[2]},
                    {{"strides", one}, {"padding", "SAME"}})};
      })
      .tf("[tf.raw_ops.Conv2DBackpropInput(input_sizes=[3, 7, 6, 19], filter=x1, out_backprop=x2, "
          "strides=[1, 1, 1, 1], padding='SAME'),"
          " tf.raw_ops.Conv2DBackpropFilter(input=x0, filter_sizes=[3, 3, 19, 17], "
          "out_backprop=x2, strides=[1, 1, 1, 1], padding='SAME')]")
      .sample({x({3, 7, 6, 19}), x({3, 3, 19, 17}), x({3, 7, 6, 17})})
      .tolerance(2e-5);
  row("nn.conv2d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::conv2d(in[0], in[1], 1, "SAME"),
            nn::conv2d(in[0], in[1], {1, 2}, "VALID"),
            nn::conv2d(in[0], in[1], {1, 2, 1, 1}, {{0, 0}, {1, 0}, {0, 2}, {0, 0}},
                       {.dilations = {1, 2}}),
            nn::convolution(in[0], in[1]),
            nn::atrous_conv2d(in[0], in[1], 2, "SAME"),
            compat::v1::nn::conv2d(in[0], in[1], {1, 1, 1, 1}, "SAME",
                                   {.use_cudnn_on_gpu = false})};
      })
      .tf("[tf.nn.conv2d(x0, x1, 1, 'SAME'), tf.nn.conv2d(x0, x1, [1, 2], 'VALID'),"
          " tf.nn.conv2d(x0, x1, [1, 2, 1, 1], [[0, 0], [1, 0], [0, 2], [0, 0]], dilations=[1, "
          "2]), tf.nn.convolution(x0, x1),"
          " tf.nn.atrous_conv2d(x0, x1, 2, 'SAME'), tf.nn.conv2d(x0, x1, 1, 'SAME')]")
      .sample({x({1, 4, 5, 2}), x({2, 2, 2, 1})})
      .tolerance(2e-5)
      .error({x({1, 4, 5, 2}), x({2, 2, 3, 2})}, {}, "filter of shape");
  row("nn.conv2d_channels_first")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::conv2d(in[0], in[1], {2, 1}, "SAME", {.data_format = "NCHW"}),
            nn::conv2d(in[0], in[1], {1, 1, 2, 1}, {{0, 0}, {0, 0}, {1, 0}, {0, 2}},
                       {.data_format = "NCHW", .dilations = {1, 1, 1, 2}})};
      })
      .tf("[tf.transpose(tf.nn.conv2d(tf.transpose(x0, [0, 2, 3, 1]), x1, [2, 1], 'SAME'), [0, 3, "
          "1, 2]),"
          " tf.transpose(tf.nn.conv2d(tf.transpose(x0, [0, 2, 3, 1]), x1, [2, 1], [[0, 0], [1, 0], "
          "[0, 2], [0, 0]], dilations=[1, 2]), [0, 3, 1, 2])]")
      .sample({x({1, 2, 5, 3}), x({2, 2, 2, 3})})
      .sample({x({2, 18, 5, 6}), x({3, 2, 18, 16})})
      .tolerance(2e-5);
  row("nn.with_space_to_batch")
      .call([](const std::vector<Tensor>& in) {
        const auto window = [&](const Tensor& t, int, const nn::Padding& padding) {
          return nn::conv2d(t, in[1], 1, padding);
        };
        const auto twice = [](const Tensor& t, int axes, const nn::Padding&) {
          return multiply(t, axes);
        };
        return std::vector<Tensor>{
            nn::with_space_to_batch(in[0], {2, 3}, "SAME", window, {.filter_shape = {2, 2}}),
            nn::with_space_to_batch(in[0], {2, 2}, "VALID", window),
            nn::with_space_to_batch(in[0], {1, 2}, {{0, 0}, {1, 0}, {0, 2}, {0, 0}}, window),
            nn::with_space_to_batch(in[0], {1, 1}, "SAME", window),
            nn::with_space_to_batch(in[0], {2, 2}, "SAME", twice,
                                    {.filter_shape = {2, 3}, .spatial_dims = {1, 3}})};
      })
      .tf("(lambda x0, x1: (lambda w, t: ["
          "tf.nn.with_space_to_batch(x0, [2, 3], 'SAME', w, filter_shape=[2, 2]),"
          " tf.nn.with_space_to_batch(x0, [2, 2], 'VALID', w),"
          " tf.nn.with_space_to_batch(x0, [1, 2], [[0, 0], [1, 0], [0, 2], [0, 0]], w),"
          " tf.nn.with_space_to_batch(x0, [1, 1], 'SAME', w),"
          " tf.nn.with_space_to_batch(x0, [2, 2], 'SAME', t, filter_shape=[2, 3], "
          "spatial_dims=[1, 3])])"
          "(lambda t, n, p: tf.nn.conv2d(t, x1, 1, p), lambda t, n, p: t * n))(x0, x1)")
      .sample({x({2, 5, 6, 2}), x({2, 2, 2, 3})})
      .tolerance(2e-5)
      .error({x({2, 5}), x({2, 2, 2, 3})}, {},
             "the input has shape \\[2, 5\\]; expected rank 3 or more");
  row("nn.conv2d_transpose")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::conv2d_transpose(in[0], in[1], {1, 4, 4, 2}, 2),
            nn::conv2d_transpose(in[0], in[1], {1, 3, 4, 2}, {1, 2}, "VALID"),
            nn::atrous_conv2d_transpose(in[0], in[1], {1, 2, 2, 2}, 2, "SAME")};
      })
      .tf("[tf.nn.conv2d_transpose(x0, x1, [1, 4, 4, 2], 2), tf.nn.conv2d_transpose(x0, x1, [1, 3, "
          "4, 2], [1, 2], 'VALID'),"
          " tf.nn.atrous_conv2d_transpose(x0, x1, [1, 2, 2, 2], 2, 'SAME')]")
      .sample({x({1, 2, 2, 3}), x({2, 2, 2, 3})})
      .tolerance(2e-5)
      .error({x({1, 2, 3, 3}), x({2, 2, 2, 3})}, {},
             "out_backprop has shape \\[1, 2, 3, 3\\]; expected \\[1, 2, 2, 3\\]");
}

RILL_ROWS(nn_conv1d_and_3d) {
  row("nn.conv1d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv1d(in[0], in[1], 1, "SAME"),
                                   nn::conv1d(in[0], in[1], 2, "VALID"),
                                   nn::convolution(in[0], in[1], 1, "SAME", {.dilations = 2})};
      })
      .tf("[tf.nn.conv1d(x0, x1, 1, 'SAME'), tf.nn.conv1d(x0, x1, 2, 'VALID'), "
          "tf.nn.convolution(x0, x1, 1, 'SAME', dilations=2)]")
      .sample({x({2, 5, 2}), x({3, 2, 2})})
      .tolerance(2e-5)
      .error({x({2, 5}), x({3, 2, 2})}, {}, "input must have rank 3 or more")
      .error({x({2, 5, 2}), x({3, 2})}, {}, "filters must have rank 3");
  row("nn.conv1d_channels_first")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv1d(in[0], in[1], 2, "SAME", {.data_format = "NCW"})};
      })
      .tf("tf.transpose(tf.nn.conv1d(tf.transpose(x0, [0, 2, 1]), x1, 2, 'SAME'), [0, 2, 1])")
      .sample({x({2, 2, 5}), x({3, 2, 3})})
      .tolerance(2e-5);
  row("nn.conv1d_transpose")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv1d_transpose(in[0], in[1], {2, 5, 2}, 2)};
      })
      .tf("tf.nn.conv1d_transpose(x0, x1, [2, 5, 2], 2)")
      .sample({x({2, 3, 3}), x({2, 2, 3})})
      .tolerance(2e-5);
  row("nn.conv_batches")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv2d(in[0], in[1], 1, "SAME")};
      })
      .tf("tf.nn.conv2d(x0, x1, 1, 'SAME')")
      .sample({x({2, 1, 3, 3, 1}), x({2, 2, 1, 2})})
      .tolerance(2e-5);
  row("Conv3D")
      .sample({x({1, 2, 3, 3, 1}), x({2, 2, 2, 1, 2})}, {{"strides", one3}, {"padding", "VALID"}})
      .sample({x({2, 2, 3, 3, 2}), x({1, 2, 3, 2, 2})}, {{"strides", mixed3}, {"padding", "SAME"}})
      .sample({x({0, 2, 3, 3, 1}), x({2, 2, 2, 1, 2})}, {{"strides", one3}, {"padding", "VALID"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({x({1, 3, 3, 1}), x({2, 2, 2, 1, 2})}, {{"strides", one3}, {"padding", "SAME"}},
             "\\[conv3d\\] input must have rank 5")
      .error({x({1, 2, 3, 3, 1}), x({2, 2, 2, 1, 2})}, {{"strides", one3}, {"padding", "EXPLICIT"}},
             "expected \"SAME\" or \"VALID\"");
  row("Conv3DBackpropInputV2")
      .sample({i32({1, 2, 3, 3, 1}), x({2, 2, 2, 1, 2}), x({1, 1, 2, 2, 2})},
              {{"strides", one3}, {"padding", "VALID"}})
      .sample({values(int64, {5}, {2, 2, 3, 3, 2}), x({1, 2, 3, 2, 2}), x({2, 2, 2, 2, 2})},
              {{"strides", mixed3}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({i32({1, 2, 3, 3, 1}), x({2, 2, 2, 1, 2}), x({1, 1, 2, 3, 2})},
             {{"strides", one3}, {"padding", "VALID"}}, "out_backprop has shape");
  row("Conv3DBackpropFilterV2")
      .sample({x({1, 2, 3, 3, 1}), i32({2, 2, 2, 1, 2}), x({1, 1, 2, 2, 2})},
              {{"strides", one3}, {"padding", "VALID"}})
      .sample({x({2, 2, 3, 3, 2}), i32({1, 2, 3, 2, 2}), x({2, 2, 2, 2, 2})},
              {{"strides", mixed3}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({x({1, 2, 3, 3, 1}), i32({2, 2, 2, 1}), x({1, 1, 2, 2, 2})},
             {{"strides", one3}, {"padding", "VALID"}}, "filter_sizes has 4 entries; expected 5");
  row("nn.conv3d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::conv3d(in[0], in[1], {1, 1, 2}, "SAME"), nn::convolution(in[0], in[1], 1, "VALID"),
            nn::conv3d(in[0], in[1], 1, {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {0, 0}})};
      })
      .tf("[tf.nn.conv3d(x0, x1, [1, 1, 1, 2, 1], 'SAME'), tf.nn.convolution(x0, x1, 1, 'VALID'),"
          " tf.nn.conv3d(tf.pad(x0, [[0, 0], [1, 0], [0, 1], [2, 0], [0, 0]]), x1, [1, 1, 1, 1, "
          "1], 'VALID')]")
      .sample({x({1, 2, 3, 3, 1}), x({2, 2, 2, 1, 2})})
      .tolerance(2e-5);
  row("nn.conv3d_channels_first")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            nn::conv3d(in[0], in[1], {1, 1, 2}, "SAME", {.data_format = "NCDHW"})};
      })
      .tf("tf.transpose(tf.nn.conv3d(tf.transpose(x0, [0, 2, 3, 4, 1]), x1, [1, 1, 1, 2, 1], "
          "'SAME'), [0, 4, 1, 2, 3])")
      .sample({x({1, 2, 2, 3, 2}), x({2, 2, 2, 2, 1})})
      .tolerance(2e-5);
  row("nn.conv3d_transpose")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv3d_transpose(in[0], in[1], {1, 2, 4, 2, 2}, {1, 2, 1})};
      })
      .tf("tf.nn.conv3d_transpose(x0, x1, [1, 2, 4, 2, 2], [1, 2, 1])")
      .sample({x({1, 2, 2, 2, 1}), x({2, 2, 2, 2, 1})})
      .tolerance(2e-5);
}

RILL_ROWS(nn_depthwise) {
  row("DepthwiseConv2dNative")
      .sample({x({1, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}})
      .sample({x({2, 4, 3, 2}), x({3, 2, 2, 1})}, {{"strides", two}, {"padding", "SAME"}})
      .sample({x({1, 4, 3, 1}), x({2, 2, 1, 2})},
              {{"strides", one}, {"padding", "EXPLICIT"}, {"explicit_paddings", around}})
      .sample({x({2, 5, 5, 20}), x({3, 3, 20, 1})}, {{"strides", one}, {"padding", "SAME"}})
      .sample({x({0, 3, 3, 2}), x({2, 2, 2, 3})}, {{"strides", one}, {"padding", "VALID"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({x({1, 3, 3, 2}), x({2, 2, 3, 1})}, {{"strides", one}, {"padding", "SAME"}},
             "\\[depthwise_conv2d\\] input of shape \\[1, 3, 3, 2\\] has 2 channels, filter of "
             "shape \\[2, 2, 3, 1\\] is for 3");
  row("DepthwiseConv2dNativeBackpropInput")
      .sample({i32({1, 3, 3, 2}), x({2, 2, 2, 3}), x({1, 2, 2, 6})},
              {{"strides", one}, {"padding", "VALID"}})
      .sample({i32({2, 4, 3, 2}), x({3, 2, 2, 1}), x({2, 2, 2, 2})},
              {{"strides", two}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({i32({1, 3, 3, 2}), x({2, 2, 2, 3}), x({1, 2, 2, 5})},
             {{"strides", one}, {"padding", "VALID"}}, "out_backprop has shape");
  row("DepthwiseConv2dNativeBackpropFilter")
      .sample({x({1, 3, 3, 2}), i32({2, 2, 2, 3}), x({1, 2, 2, 6})},
              {{"strides", one}, {"padding", "VALID"}})
      .sample({x({2, 4, 3, 2}), i32({3, 2, 2, 1}), x({2, 2, 2, 2})},
              {{"strides", two}, {"padding", "SAME"}})
      .dtypes(kFloatTypes)
      .tolerance(2e-5)
      .error({x({1, 3, 3, 2}), i32({2, 2, 2, 3}), x({1, 2, 2, 5})},
             {{"strides", one}, {"padding", "VALID"}}, "out_backprop has shape");
  row("nn.depthwise_conv2d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::depthwise_conv2d(in[0], in[1], 1, "SAME"),
                                   nn::depthwise_conv2d(in[0], in[1], {1, 2, 2, 1}, "VALID"),
                                   nn::depthwise_conv2d(in[0], in[1], 1, "SAME", {.dilations = 2})};
      })
      .tf("[tf.nn.depthwise_conv2d(x0, x1, [1, 1, 1, 1], 'SAME'), tf.nn.depthwise_conv2d(x0, x1, "
          "[1, 2, 2, 1], 'VALID'),"
          " tf.nn.depthwise_conv2d(x0, x1, [1, 1, 1, 1], 'SAME', dilations=[2, 2])]")
      .sample({x({1, 4, 4, 2}), x({2, 2, 2, 2})})
      .tolerance(2e-5);
  row("nn.separable_conv2d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::separable_conv2d(in[0], in[1], in[2], 1, "SAME")};
      })
      .tf("tf.nn.separable_conv2d(x0, x1, x2, [1, 1, 1, 1], 'SAME')")
      .sample({x({1, 3, 3, 2}), x({2, 2, 2, 2}), x({1, 1, 4, 3})})
      .tolerance(2e-5)
      .error({x({1, 3, 3, 2}), x({2, 2, 2, 2}), x({2, 1, 4, 3})}, {},
             "pointwise_filter has shape \\[2, 1, 4, 3\\]; expected \\[1, 1, in, out\\]");
}

RILL_ROWS(nn_conv_by_hand) {
  row("nn.conv_transpose")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::conv_transpose(in[0], in[1], {1, 4, 4, 2}, 2)};
      })
      .tf("tf.nn.conv_transpose(x0, x1, [1, 4, 4, 2], 2)")
      .sample({x({1, 2, 2, 3}), x({2, 2, 2, 3})})
      .tolerance(2e-5)
      .error({x({1, 2}), x({2, 2})}, {},
             "\\[conv_transpose\\] filters have shape \\[2, 2\\]; expected rank 3, 4 or 5");
  row("nn.conv2d_backprop")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{
            compat::v1::nn::conv2d_backprop_input({1, 3, 4, 2}, in[1], in[2], {1, 1, 1, 1}, "SAME"),
            compat::v1::nn::conv2d_backprop_filter(in[0], {2, 2, 2, 4}, in[2], {1, 1, 1, 1},
                                                   "SAME"),
            nn::depthwise_conv2d_backprop_input({1, 3, 4, 2}, reshape(in[1], {4, 2, 2, 2}), in[2],
                                                1, "SAME"),
            nn::depthwise_conv2d_backprop_filter(in[0], {2, 1, 2, 2}, in[2], 1, "SAME")};
      })
      .tf("[tf.compat.v1.nn.conv2d_backprop_input([1, 3, 4, 2], x1, x2, [1, 1, 1, 1], 'SAME'),"
          " tf.compat.v1.nn.conv2d_backprop_filter(x0, [2, 2, 2, 4], x2, [1, 1, 1, 1], 'SAME'),"
          " tf.nn.depthwise_conv2d_backprop_input([1, 3, 4, 2], tf.reshape(x1, [4, 2, 2, 2]), x2, "
          "[1, 1, 1, 1], 'SAME'),"
          " tf.nn.depthwise_conv2d_backprop_filter(x0, [2, 1, 2, 2], x2, [1, 1, 1, 1], 'SAME')]")
      .sample({x({1, 3, 4, 2}), x({2, 2, 2, 4}), x({1, 3, 4, 4})})
      .tolerance(2e-5);
}

RILL_ROWS(nn_dilation) {
  const std::vector<double> distinct{3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26, 43, 83, 27, 95};
  const std::vector<double> taps{1, 0, -1, 2};
  row("Dilation2D")
      .sample({x({1, 4, 4, 1}, distinct), x({2, 2, 1}, taps)},
              {{"strides", one}, {"rates", one}, {"padding", "SAME"}})
      .sample({fixed(x({2, 5, 4, 2})), fixed(x({2, 3, 2}))},
              {{"strides", two}, {"rates", dilated}, {"padding", "VALID"}})
      .sample({x({0, 4, 4, 1}), x({2, 2, 1})},
              {{"strides", one}, {"rates", one}, {"padding", "SAME"}})
      .dtypes(kRealTypes)
      .first_order()
      .error({x({4, 4, 1}), x({2, 2, 1})}, {{"strides", one}, {"rates", one}, {"padding", "SAME"}},
             "input must have rank 4")
      .error({x({1, 4, 4, 1}), x({2, 2})}, {{"strides", one}, {"rates", one}, {"padding", "SAME"}},
             "filter must have rank 3")
      .error({x({1, 4, 4, 1}), x({2, 2, 3})},
             {{"strides", one}, {"rates", one}, {"padding", "SAME"}},
             "has 1 channels, filter of shape \\[2, 2, 3\\] is for 3")
      .error({x({1, 4, 4, 1}), x({2, 2, 1})},
             {{"strides", one}, {"rates", zero}, {"padding", "SAME"}}, "an entry of rates is 0");
  for (const char* name : {"Dilation2DBackpropInput", "Dilation2DBackpropFilter"})
    row(name)
        .sample({x({1, 4, 4, 1}, distinct), x({2, 2, 1}, taps), x({1, 4, 4, 1})},
                {{"strides", one}, {"rates", one}, {"padding", "SAME"}})
        .sample({x({2, 5, 4, 2}), x({2, 3, 2}), x({2, 2, 1, 2})},
                {{"strides", two}, {"rates", dilated}, {"padding", "VALID"}})
        .dtypes(kRealTypes)
        .error({x({1, 4, 4, 1}), x({2, 2, 1}), x({1, 4, 3, 1})},
               {{"strides", one}, {"rates", one}, {"padding", "SAME"}}, "out_backprop has shape");
  row("nn.dilation2d")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{nn::dilation2d(in[0], in[1], 1, "SAME", "NHWC", 1),
                                   nn::erosion2d(in[0], in[1], {1, 1, 2, 1}, "VALID", "NHWC", 2)};
      })
      .tf("[tf.nn.dilation2d(x0, x1, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]), "
          "tf.nn.erosion2d(x0, x1, [1, 1, 2, 1], 'VALID', 'NHWC', [1, 2, 2, 1])]")
      .sample({x({1, 4, 4, 1}, distinct), x({2, 2, 1}, taps)})
      .first_order();
}

}  // namespace rill::conformance
