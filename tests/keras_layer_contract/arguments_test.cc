// The contract again, for arguments under which a layer takes another path through its code.
#include <gtest/gtest.h>

#include "rill/keras/layers/layers.h"
#include "rill/keras/models/model.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/keras_layer_contract/layer_test.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using tf::Tensor;
using tf::testing::kAll;
using tf::testing::Mask;
using tf::testing::run_layer_test;

namespace {

constexpr Mask kFirst = Mask::of_first_input;

// ---- core
TEST(LayerArguments, DenseOfSteps) {
  run_layer_test({.make = [] { return layers::Dense(3, {.use_bias = false}); },
                  .input_shapes = {{2, 5, 4}},
                  .expected_output_shape = {2, 5, 3},
                  .expected_num_trainable_weights = 1,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, FlattenChannelsFirst) {
  run_layer_test({.make = [] { return layers::Flatten({.data_format = "channels_first"}); },
                  .input_shapes = {{2, 3, 2, 2}},
                  .expected_output_shape = {2, 12}});
}
TEST(LayerArguments, ReshapeOfKnownSizes) {
  run_layer_test({.make =
                      [] {
                        return layers::Reshape({2, 2, 3});
                      },
                  .input_shapes = {{2, 4, 3}},
                  .expected_output_shape = {2, 2, 2, 3}});
}
TEST(LayerArguments, EmbeddingOfOneIndex) {
  run_layer_test({.make = [] { return layers::Embedding(5, 3, {.input_length = 1}); },
                  .input_shapes = {{2, 1}},
                  .input_dtype = tf::int32,
                  .expected_output_shape = {2, 1, 3},
                  .expected_num_trainable_weights = 1});
}
TEST(LayerArguments, EinsumDenseWithDots) {
  run_layer_test(
      {.make = [] { return layers::EinsumDense("...x,xy->...y", {5}, {.bias_axes = "y"}); },
       .input_shapes = {{2, 3, 4}},
       .expected_output_shape = {2, 3, 5},
       .expected_num_trainable_weights = 2});
}
TEST(LayerArguments, EinsumDenseOverTwoAxes) {
  run_layer_test(
      {.make = [] { return layers::EinsumDense("abc,bcd->ad", {5}, {.bias_axes = "d"}); },
       .input_shapes = {{2, 3, 4}},
       .expected_output_shape = {2, 5},
       .expected_num_trainable_weights = 2});
}

// ---- activations
TEST(LayerArguments, SoftmaxOverTwoAxes) {
  run_layer_test({.make =
                      [] {
                        return layers::Softmax({.axis = {1, 2}});
                      },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_mask = kFirst,
                  .mask_of_elements = true});
}
TEST(LayerArguments, SoftmaxOfSteps) {
  run_layer_test({.make = [] { return layers::Softmax({.axis = 1}); },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_mask = kFirst,
                  .mask_of_elements = true});
}
TEST(LayerArguments, PReLUShared) {
  run_layer_test({.make =
                      [] {
                        return layers::PReLU({.shared_axes = {1, 2}});
                      },
                  .input_shapes = {{2, 3, 4, 2}},
                  .expected_output_shape = {2, 3, 4, 2},
                  .expected_num_trainable_weights = 1,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, ReLUWithThreshold) {
  run_layer_test({.make = [] { return layers::ReLU({.max_value = 6, .threshold = 0.1}); },
                  .input_shapes = {{2, 4}},
                  .expected_output_shape = {2, 4},
                  .expected_mask = kFirst});
}

// ---- attention
TEST(LayerArguments, AttentionOfSums) {
  run_layer_test({.make = [] { return layers::Attention(true, {.score_mode = "concat"}); },
                  .input_shapes = {{2, 3, 4}, {2, 5, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_num_trainable_weights = 2,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, AttentionWithKeys) {
  run_layer_test({.make = [] { return layers::Attention(); },
                  .input_shapes = {{2, 3, 4}, {2, 5, 6}, {2, 5, 4}},
                  .expected_output_shape = {2, 3, 6},
                  .expected_mask = kFirst});
}
TEST(LayerArguments, AttentionWithDropout) {
  run_layer_test({.make = [] { return layers::Attention({.dropout = 0.3}); },
                  .input_shapes = {{2, 6, 4}, {2, 8, 4}},
                  .expected_output_shape = {2, 6, 4},
                  .expected_mask = kFirst,
                  .random_in_training = true});
}
TEST(LayerArguments, MultiHeadAttentionWithKeys) {
  run_layer_test({.make =
                      [] {
                        return layers::MultiHeadAttention(
                            2, 3, {.value_dim = 2, .use_bias = false, .output_shape = {7}});
                      },
                  .input_shapes = {{2, 3, 4}, {2, 5, 6}, {2, 5, 3}},
                  .expected_output_shape = {2, 3, 7},
                  .expected_num_trainable_weights = 4,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, MultiHeadAttentionOverImages) {
  run_layer_test({.make = [] { return layers::MultiHeadAttention(2, 2, {.attention_axes = {1}}); },
                  .input_shapes = {{2, 3, 2, 4}, {2, 5, 2, 4}},
                  .expected_output_shape = {2, 3, 2, 4},
                  .expected_num_trainable_weights = 8,
                  .expected_mask = kFirst});
}

// ---- recurrent
TEST(LayerArguments, LstmBackwardsUnrolled) {
  run_layer_test(
      {.make =
           [] {
             return layers::LSTM(
                 3, {.return_sequences = true, .go_backwards = true, .zero_output_for_mask = true});
           },
       .input_shapes = {{2, 5, 4}},
       .expected_output_shape = {2, 5, 3},
       .expected_num_trainable_weights = 3,
       .expected_mask = kFirst,
       .rejects = kAll});
}
TEST(LayerArguments, GruResetBefore) {
  run_layer_test({.make =
                      [] {
                        return layers::GRU(3, {.use_bias = false,
                                               .return_state = true,
                                               .reset_after = false,
                                               .implementation = 1});
                      },
                  .input_shapes = {{2, 5, 4}},
                  .expected_output_shape = {2, 3},
                  .expected_num_outputs = 2,
                  .expected_num_trainable_weights = 2,
                  .rejects = kAll});
}
TEST(LayerArguments, LstmWithDropout) {
  run_layer_test({.make =
                      [] {
                        return layers::LSTM(
                            4,
                            {.kernel_regularizer = "l2", .dropout = 0.3, .recurrent_dropout = 0.3});
                      },
                  .input_shapes = {{2, 3, 6}},
                  .expected_output_shape = {2, 4},
                  .expected_num_trainable_weights = 3,
                  .expected_num_losses = 1,
                  .rejects = kAll,
                  .random_in_training = true});
}
TEST(LayerArguments, RnnOfOneCellWithStates) {
  run_layer_test({.make =
                      [] {
                        return layers::RNN(layers::LSTMCell(3),
                                           {.return_sequences = true, .return_state = true});
                      },
                  .input_shapes = {{2, 5, 4}},
                  .expected_output_shape = {2, 5, 3},
                  .expected_num_outputs = 3,
                  .expected_num_trainable_weights = 3,
                  .expected_mask = kFirst,
                  .rejects = kAll});
}
TEST(LayerArguments, LstmWithStatesAsInputs) {
  run_layer_test({.make = [] { return layers::LSTM(3); },
                  .input_shapes = {{2, 5, 4}, {2, 3}, {2, 3}},
                  .expected_output_shape = {2, 3},
                  .expected_num_trainable_weights = 3,
                  .rejects = kAll});
}
TEST(LayerArguments, BidirectionalSum) {
  run_layer_test(
      {.make = [] { return layers::Bidirectional(layers::GRU(3), {.merge_mode = "sum"}); },
       .input_shapes = {{2, 5, 4}},
       .expected_output_shape = {2, 3},
       .expected_num_trainable_weights = 6,
       .rejects = kAll});
}
TEST(LayerArguments, BidirectionalApartWithStates) {
  run_layer_test({.make =
                      [] {
                        return layers::Bidirectional(
                            layers::LSTM(2, {.return_sequences = true, .return_state = true}),
                            {.merge_mode = ""});
                      },
                  .input_shapes = {{2, 5, 4}},
                  .expected_output_shape = {2, 5, 2},
                  .expected_num_outputs = 6,
                  .expected_num_trainable_weights = 6,
                  .expected_mask = kFirst,
                  .rejects = kAll});
}
TEST(LayerArguments, TimeDistributedConvolution) {
  run_layer_test({.make = [] { return layers::TimeDistributed(layers::Conv2D(3, 2)); },
                  .input_shapes = {{2, 3, 4, 4, 2}},
                  .expected_output_shape = {2, 3, 3, 3, 3},
                  .expected_num_trainable_weights = 2,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, TimeDistributedLstm) {
  run_layer_test({.make = [] { return layers::TimeDistributed(layers::LSTM(3)); },
                  .input_shapes = {{2, 3, 4, 2}},
                  .expected_output_shape = {2, 3, 3},
                  .expected_num_trainable_weights = 3,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, TimeDistributedEmbedding) {
  run_layer_test(
      {.make = [] { return layers::TimeDistributed(layers::Embedding(5, 3, {.mask_zero = true})); },
       .input_shapes = {{2, 3, 4}},
       .input_dtype = tf::int32,
       .expected_output_shape = {2, 3, 4, 3},
       .expected_num_trainable_weights = 1,
       .expected_own_mask = [](const auto& x, const auto&) { return tf::not_equal(x[0], 0); }});
}
TEST(LayerArguments, TimeDistributedMaskOfElements) {
  run_layer_test({.make = [] { return layers::TimeDistributed(layers::Flatten()); },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_own_mask =
                      [](const auto&, const auto& masks) { return tf::reduce_any(masks[0], 2); },
                  .mask_of_elements = true});
}
TEST(LayerArguments, TimeDistributedModel) {
  run_layer_test({.make =
                      [] {
                        return layers::TimeDistributed(
                            keras::Sequential({layers::Dense(4), layers::BatchNormalization()}));
                      },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_num_trainable_weights = 4,
                  .expected_num_non_trainable_weights = 2,
                  .expected_mask = kFirst});
}

// ---- normalization
TEST(LayerArguments, BatchNormalizationOfImages) {
  run_layer_test({.make = [] { return layers::BatchNormalization(); },
                  .input_shapes = {{2, 3, 2, 4}},
                  .expected_output_shape = {2, 3, 2, 4},
                  .expected_num_trainable_weights = 2,
                  .expected_num_non_trainable_weights = 2,
                  .expected_mask = kFirst,
                  .rejects = kAll});
}
TEST(LayerArguments, BatchNormalizationChannelsFirst) {
  run_layer_test({.make = [] { return layers::BatchNormalization({.axis = 1, .scale = false}); },
                  .input_shapes = {{2, 3, 2, 4}},
                  .expected_output_shape = {2, 3, 2, 4},
                  .expected_num_trainable_weights = 1,
                  .expected_num_non_trainable_weights = 2,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, LayerNormalizationOverTwoAxes) {
  run_layer_test({.make =
                      [] {
                        return layers::LayerNormalization({.axis = {1, 2}});
                      },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_num_trainable_weights = 2,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, LayerNormalizationOverTheFirstAxis) {
  run_layer_test({.make = [] { return layers::LayerNormalization({.axis = 1}); },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_num_trainable_weights = 2,
                  .expected_mask = kFirst});
}
TEST(LayerArguments, GroupNormalizationChannelsFirst) {
  run_layer_test({.make = [] { return layers::GroupNormalization(2, {.axis = 1}); },
                  .input_shapes = {{2, 4, 3, 2}},
                  .expected_output_shape = {2, 4, 3, 2},
                  .expected_num_trainable_weights = 2,
                  .expected_mask = kFirst,
                  .mask_of_elements = true});
}
TEST(LayerArguments, UnitNormalizationOverTwoAxes) {
  run_layer_test({.make =
                      [] {
                        return layers::UnitNormalization({.axis = {1, 2}});
                      },
                  .input_shapes = {{2, 3, 4}},
                  .expected_output_shape = {2, 3, 4},
                  .expected_mask = kFirst});
}
TEST(LayerArguments, NormalizationOfGivenStatistics) {
  run_layer_test({.make =
                      [] {
                        return layers::Normalization(
                            {.mean = tf::constant({0.5f, -1.f, 2.f, 0.f}),
                             .variance = tf::constant({0.25f, 4.f, 1.f, 2.f}),
                             .invert = true});
                      },
                  .input_shapes = {{2, 4}},
                  .expected_output_shape = {2, 4}});
}
TEST(LayerArguments, NormalizationByOneMean) {
  run_layer_test({.make = [] { return layers::Normalization({.axis = {}}); },
                  .input_shapes = {{2, 4}},
                  .expected_output_shape = {2, 4},
                  .expected_num_non_trainable_weights = 3,
                  .own_weights_in_compute_dtype = true});
}

// ---- reshaping and merging
TEST(LayerArguments, UpSamplingBilinear) {
  run_layer_test({.make = [] { return layers::UpSampling2D(2, {.interpolation = "bilinear"}); },
                  .input_shapes = {{2, 3, 2, 4}},
                  .expected_output_shape = {2, 6, 4, 4},
                  .computes_in_float32 = true});
}
TEST(LayerArguments, ZeroPaddingChannelsFirst) {
  run_layer_test({.make =
                      [] {
                        return layers::ZeroPadding2D({1, 2}, {.data_format = "channels_first"});
                      },
                  .input_shapes = {{2, 3, 2, 4}},
                  .expected_output_shape = {2, 3, 4, 8}});
}
TEST(LayerArguments, CroppingChannelsFirst) {
  run_layer_test({.make = [] { return layers::Cropping2D(1, {.data_format = "channels_first"}); },
                  .input_shapes = {{2, 3, 4, 5}},
                  .expected_output_shape = {2, 3, 2, 3}});
}
TEST(LayerArguments, AddThatBroadcasts) {
  run_layer_test({.make = [] { return layers::Add(); },
                  .input_shapes = {{2, 5, 4}, {2, 1, 4}, {2, 4}},
                  .expected_output_shape = {2, 5, 4},
                  .masks_fit = false});
}
TEST(LayerArguments, ConcatenateOfSteps) {
  run_layer_test(
      {.make = [] { return layers::Concatenate({.axis = 1}); },
       .input_shapes = {{2, 2, 4}, {2, 3, 4}},
       .expected_output_shape = {2, 5, 4},
       .expected_own_mask = [](const auto&, const auto& masks) { return tf::concat(masks, 1); }});
}
TEST(LayerArguments, DotOfVectors) {
  run_layer_test({.make = [] { return layers::Dot(-1, {.normalize = true}); },
                  .input_shapes = {{2, 4}, {2, 4}},
                  .expected_output_shape = {2, 1}});
}

// ---- convolutional and pooling
TEST(LayerArguments, ConvolutionCausal) {
  run_layer_test(
      {.make = [] { return layers::Conv1D(3, 2, {.padding = "causal", .dilation_rate = 2}); },
       .input_shapes = {{2, 6, 4}},
       .expected_output_shape = {2, 6, 3},
       .expected_num_trainable_weights = 2,
       .rejects = kAll});
}
TEST(LayerArguments, ConvolutionSameInGroups) {
  run_layer_test({.make =
                      [] {
                        return layers::Conv2D(
                            4, 3, 2, {.padding = "same", .groups = 2, .activation = "relu"});
                      },
                  .input_shapes = {{2, 5, 4, 2}},
                  .expected_output_shape = {2, 3, 2, 4},
                  .expected_num_trainable_weights = 2,
                  .rejects = kAll});
}
TEST(LayerArguments, ConvolutionChannelsFirst) {
  run_layer_test({.make = [] { return layers::Conv2D(4, 2, {.data_format = "channels_first"}); },
                  .input_shapes = {{2, 3, 4, 5}},
                  .expected_output_shape = {2, 4, 3, 4},
                  .expected_num_trainable_weights = 2});
}
TEST(LayerArguments, TransposeSame) {
  run_layer_test({.make = [] { return layers::Conv2DTranspose(3, 3, 2, {.padding = "same"}); },
                  .input_shapes = {{2, 2, 3, 2}},
                  .expected_output_shape = {2, 4, 6, 3},
                  .expected_num_trainable_weights = 2,
                  .rejects = kAll});
}
TEST(LayerArguments, SeparableSame) {
  run_layer_test({.make =
                      [] {
                        return layers::SeparableConv2D(
                            3, 3, {.padding = "same", .depth_multiplier = 2, .use_bias = false});
                      },
                  .input_shapes = {{2, 3, 4, 2}},
                  .expected_output_shape = {2, 3, 4, 3},
                  .expected_num_trainable_weights = 2,
                  .rejects = kAll});
}
TEST(LayerArguments, PoolingSame) {
  run_layer_test({.make = [] { return layers::MaxPooling2D(3, 2, {.padding = "same"}); },
                  .input_shapes = {{2, 5, 4, 2}},
                  .expected_output_shape = {2, 3, 2, 2}});
  run_layer_test({.make = [] { return layers::AveragePooling2D(3, 2, {.padding = "same"}); },
                  .input_shapes = {{2, 5, 4, 2}},
                  .expected_output_shape = {2, 3, 2, 2}});
}
TEST(LayerArguments, PoolingChannelsFirst) {
  run_layer_test({.make = [] { return layers::MaxPooling1D(2, {.data_format = "channels_first"}); },
                  .input_shapes = {{2, 3, 6}},
                  .expected_output_shape = {2, 3, 3}});
  run_layer_test(
      {.make = [] { return layers::AveragePooling3D(2, {.data_format = "channels_first"}); },
       .input_shapes = {{2, 2, 4, 2, 4}},
       .expected_output_shape = {2, 2, 2, 1, 2}});
}
TEST(LayerArguments, GlobalPoolingKeepsAxes) {
  run_layer_test({.make = [] { return layers::GlobalAveragePooling2D({.keepdims = true}); },
                  .input_shapes = {{2, 3, 4, 2}},
                  .expected_output_shape = {2, 1, 1, 2}});
  run_layer_test(
      {.make = [] { return layers::GlobalMaxPooling1D({.data_format = "channels_first"}); },
       .input_shapes = {{2, 3, 4}},
       .expected_output_shape = {2, 3}});
}

}  // namespace
