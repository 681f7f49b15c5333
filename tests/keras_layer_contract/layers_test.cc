// One call for each layer that files may name. What is expected is what Keras 2.15 does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "rill/keras/engine/registered_layers_impl.h"
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
using tf::testing::kRank;
using tf::testing::LayerTest;
using tf::testing::Mask;
using tf::testing::Rejects;
using tf::testing::run_layer_test;

namespace {

std::vector<std::string>& asked() {
  static std::vector<std::string> names;
  return names;
}

#define LAYER_TEST(Name, ...)                                    \
  const bool Name##_asked = (asked().emplace_back(#Name), true); \
  TEST(LayerContract, Name) {                                    \
    ASSERT_TRUE(Name##_asked);                                   \
    LayerTest test{__VA_ARGS__};                                 \
    if (!test.rejects) test.rejects = tf::testing::kNothing;     \
    EXPECT_EQ(test.make()->class_name(), #Name);                 \
    run_layer_test(test);                                        \
  }

// ---- core
LAYER_TEST(
    Dense,
    .make =
        [] {
          return layers::Dense(
              3, {.activation = "tanh", .kernel_regularizer = "l2", .activity_regularizer = "l1"});
        },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 3}, .expected_num_trainable_weights = 2,
    .expected_num_losses = 2, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    Activation, .make = [] { return layers::Activation("tanh"); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input)
LAYER_TEST(
    Identity, .make = [] { return layers::Identity(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input)
LAYER_TEST(
    Flatten, .make = [] { return layers::Flatten(); }, .input_shapes = {{2, 3, 4}},
    .expected_output_shape = {2, 12})
LAYER_TEST(
    Reshape,
    .make =
        [] {
          return layers::Reshape({3, -1});
        },
    .input_shapes = {{2, 7, 3}}, .expected_output_shape = {2, 3, 7},
    .rejects = Rejects{.lower_rank = true})
LAYER_TEST(
    Embedding, .make = [] { return layers::Embedding(5, 3, {.mask_zero = true}); },
    .input_shapes = {{2, 4}}, .input_dtype = tf::int32, .expected_output_shape = {2, 4, 3},
    .expected_num_trainable_weights = 1,
    .expected_own_mask = [](const auto& x, const auto&) { return tf::not_equal(x[0], 0); })
LAYER_TEST(
    Masking, .make = [] { return layers::Masking(0.); }, .input_shapes = {{2, 3, 4}},
    .expected_output_shape = {2, 3, 4},
    .expected_own_mask = [](const auto& x,
                            const auto&) { return tf::reduce_any(tf::not_equal(x[0], 0.f), -1); })
LAYER_TEST(
    EinsumDense,
    .make =
        [] {
          return layers::EinsumDense("abc,cd->abd", {tf::None, 5}, {.bias_axes = "d"});
        },
    .input_shapes = {{2, 3, 4}}, .expected_output_shape = {2, 3, 5},
    .expected_num_trainable_weights = 2, .rejects = kAll)
LAYER_TEST(
    Lambda,
    .make =
        [] {
          keras::utils::register_keras_function("twice", [](Tensor x) { return x * 2.f; });
          return layers::Lambda("twice");
        },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 4})
LAYER_TEST(
    Sequential,
    .make =
        [] {
          return keras::Sequential({layers::Dense(4), layers::Dense(3)});
        },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 3}, .expected_num_trainable_weights = 4,
    .expected_mask = Mask::of_first_input,
    .rejects = Rejects{.lower_rank = true, .more_features = true})
LAYER_TEST(
    Functional,
    .make =
        [] {
          const tf::DType floats = keras::mixed_precision::global_policy().variable_dtype();
          const Tensor x = keras::Input({4}, {.dtype = floats});
          const Tensor y = layers::Dense(4)(x);
          return keras::Model(x, layers::Dense(3)(layers::add({x, y})));
        },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 3}, .expected_num_trainable_weights = 4,
    .expected_mask = Mask::of_first_input,
    .rejects = Rejects{.lower_rank = true, .more_features = true})

// ---- activations
LAYER_TEST(
    Softmax, .make = [] { return layers::Softmax(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input,
    .mask_of_elements = true, .rejects = Rejects{.lower_rank = true})
LAYER_TEST(
    ReLU, .make = [] { return layers::ReLU({.max_value = 0.7, .negative_slope = 0.1}); },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 4},
    .expected_mask = Mask::of_first_input)
LAYER_TEST(
    LeakyReLU, .make = [] { return layers::LeakyReLU(0.2); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input)
LAYER_TEST(
    PReLU, .make = [] { return layers::PReLU(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_num_trainable_weights = 1,
    .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    ELU, .make = [] { return layers::ELU(0.5); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input)
LAYER_TEST(
    ThresholdedReLU, .make = [] { return layers::ThresholdedReLU(0.1); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input)

// ---- attention
LAYER_TEST(
    Attention, .make = [] { return layers::Attention(true); },
    .input_shapes = {{2, 3, 4}, {2, 5, 4}}, .expected_output_shape = {2, 3, 4},
    .expected_num_trainable_weights = 1, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    AdditiveAttention, .make = [] { return layers::AdditiveAttention(); },
    .input_shapes = {{2, 3, 4}, {2, 5, 4}}, .expected_output_shape = {2, 3, 4},
    .expected_num_trainable_weights = 1, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    MultiHeadAttention, .make = [] { return layers::MultiHeadAttention(2, 3); },
    .input_shapes = {{2, 3, 4}, {2, 5, 4}}, .expected_output_shape = {2, 3, 4},
    .expected_num_trainable_weights = 8, .expected_mask = Mask::of_first_input, .rejects = kAll)

LAYER_TEST(
    LocallyConnected1D, .make = [] { return layers::LocallyConnected1D(3, 2); },
    .input_shapes = {{2, 5, 2}}, .expected_output_shape = {2, 4, 3},
    .expected_num_trainable_weights = 2, .rejects = kAll)
LAYER_TEST(
    LocallyConnected2D,
    .make =
        [] {
          return layers::LocallyConnected2D(3, {2, 3});
        },
    .input_shapes = {{2, 4, 5, 2}}, .expected_output_shape = {2, 3, 3, 3},
    .expected_num_trainable_weights = 2, .rejects = kAll)

// ---- recurrent: cells take an input and the states, and give the output and the states
LAYER_TEST(
    SimpleRNNCell, .make = [] { return layers::SimpleRNNCell(3); },
    .input_shapes = {{2, 4}, {2, 3}}, .expected_output_shape = {2, 3}, .expected_num_outputs = 2,
    .expected_num_trainable_weights = 3, .rejects = kAll)
LAYER_TEST(
    GRUCell, .make = [] { return layers::GRUCell(3); }, .input_shapes = {{2, 4}, {2, 3}},
    .expected_output_shape = {2, 3}, .expected_num_outputs = 2, .expected_num_trainable_weights = 3,
    .rejects = kAll)
LAYER_TEST(
    LSTMCell, .make = [] { return layers::LSTMCell(3); }, .input_shapes = {{2, 4}, {2, 3}, {2, 3}},
    .expected_output_shape = {2, 3}, .expected_num_outputs = 3, .expected_num_trainable_weights = 3,
    .rejects = kAll)
LAYER_TEST(
    StackedRNNCells,
    .make =
        [] {
          return layers::StackedRNNCells({layers::GRUCell(3), layers::SimpleRNNCell(2)});
        },
    .input_shapes = {{2, 4}, {2, 3}, {2, 2}}, .expected_output_shape = {2, 2},
    .expected_num_outputs = 3, .expected_num_trainable_weights = 6, .rejects = kAll)
LAYER_TEST(
    RNN,
    .make =
        [] {
          return layers::RNN(std::vector<keras::LayerRef>{layers::GRUCell(3), layers::LSTMCell(2)},
                             {.return_sequences = true});
        },
    .input_shapes = {{2, 5, 4}}, .expected_output_shape = {2, 5, 2},
    .expected_num_trainable_weights = 6, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    SimpleRNN, .make = [] { return layers::SimpleRNN(3, {.return_sequences = true}); },
    .input_shapes = {{2, 5, 4}}, .expected_output_shape = {2, 5, 3},
    .expected_num_trainable_weights = 3, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    GRU, .make = [] { return layers::GRU(3); }, .input_shapes = {{2, 5, 4}},
    .expected_output_shape = {2, 3}, .expected_num_trainable_weights = 3, .rejects = kAll)
LAYER_TEST(
    LSTM, .make = [] { return layers::LSTM(3, {.return_state = true}); },
    .input_shapes = {{2, 5, 4}}, .expected_output_shape = {2, 3}, .expected_num_outputs = 3,
    .expected_num_trainable_weights = 3, .rejects = kAll)
LAYER_TEST(
    Bidirectional,
    .make = [] { return layers::Bidirectional(layers::LSTM(3, {.return_sequences = true})); },
    .input_shapes = {{2, 5, 4}}, .expected_output_shape = {2, 5, 6},
    .expected_num_trainable_weights = 6, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    TimeDistributed, .make = [] { return layers::TimeDistributed(layers::Dense(3)); },
    .input_shapes = {{2, 5, 4}}, .expected_output_shape = {2, 5, 3},
    .expected_num_trainable_weights = 2, .expected_mask = Mask::of_first_input, .rejects = kAll)

LAYER_TEST(
    ConvLSTM1D, .make = [] { return layers::ConvLSTM1D(3, 2, {.return_sequences = true}); },
    .input_shapes = {{2, 3, 6, 2}}, .expected_output_shape = {2, 3, 5, 3},
    .expected_num_trainable_weights = 3, .expected_mask = Mask::of_first_input,
    .mask_of_steps = true, .rejects = kAll)
LAYER_TEST(
    ConvLSTM2D,
    .make =
        [] {
          return layers::ConvLSTM2D(2, {2, 3}, {.padding = "same"});
        },
    .input_shapes = {{2, 3, 4, 5, 2}}, .expected_output_shape = {2, 4, 5, 2},
    .expected_num_trainable_weights = 3, .mask_of_steps = true, .rejects = kAll)
LAYER_TEST(
    ConvLSTM3D, .make = [] { return layers::ConvLSTM3D(2, 2, {.strides = 2}); },
    .input_shapes = {{1, 2, 4, 4, 4, 1}}, .expected_output_shape = {1, 2, 2, 2, 2},
    .expected_num_trainable_weights = 3, .mask_of_steps = true, .rejects = kAll)

// ---- normalization
LAYER_TEST(
    SpectralNormalization, .make = [] { return layers::SpectralNormalization(layers::Dense(3)); },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 3}, .expected_num_trainable_weights = 2,
    .expected_num_non_trainable_weights = 1, .expected_mask = Mask::of_first_input, .rejects = kAll,
    .updates_by_call = true)
LAYER_TEST(
    BatchNormalization, .make = [] { return layers::BatchNormalization(); },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 4}, .expected_num_trainable_weights = 2,
    .expected_num_non_trainable_weights = 2, .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    LayerNormalization, .make = [] { return layers::LayerNormalization(); },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 4}, .expected_num_trainable_weights = 2,
    .expected_mask = Mask::of_first_input, .rejects = kAll)
LAYER_TEST(
    GroupNormalization, .make = [] { return layers::GroupNormalization(2); },
    .input_shapes = {{2, 3, 4}}, .expected_output_shape = {2, 3, 4},
    .expected_num_trainable_weights = 2, .expected_mask = Mask::of_first_input,
    .mask_of_elements = true, .rejects = kAll)
LAYER_TEST(
    UnitNormalization, .make = [] { return layers::UnitNormalization(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_mask = Mask::of_first_input,
    .rejects = Rejects{.lower_rank = true})
LAYER_TEST(
    Normalization, .make = [] { return layers::Normalization(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_num_non_trainable_weights = 3,
    .rejects = Rejects{.lower_rank = true, .more_features = true},
    .own_weights_in_compute_dtype = true)
LAYER_TEST(
    Rescaling, .make = [] { return layers::Rescaling(0.5, 0.25); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4})

// ---- images
LAYER_TEST(
    Resizing, .make = [] { return layers::Resizing(3, 5); }, .input_shapes = {{2, 4, 6, 3}},
    .expected_output_shape = {2, 3, 5, 3}, .rejects = Rejects{.higher_rank = true},
    .computes_in_float32 = true)
LAYER_TEST(
    CenterCrop, .make = [] { return layers::CenterCrop(3, 2); }, .input_shapes = {{2, 4, 6, 3}},
    .expected_output_shape = {2, 3, 2, 3}, .rejects = Rejects{.higher_rank = true})

// ---- regularization
LAYER_TEST(
    Dropout, .make = [] { return layers::Dropout(0.25); }, .input_shapes = {{2, 8}},
    .expected_output_shape = {2, 8}, .expected_mask = Mask::of_first_input,
    .random_in_training = true)
LAYER_TEST(
    SpatialDropout1D, .make = [] { return layers::SpatialDropout1D(0.25); },
    .input_shapes = {{2, 3, 8}}, .expected_output_shape = {2, 3, 8},
    .expected_mask = Mask::of_first_input, .rejects = kRank, .random_in_training = true)
LAYER_TEST(
    SpatialDropout2D, .make = [] { return layers::SpatialDropout2D(0.25); },
    .input_shapes = {{2, 3, 2, 8}}, .expected_output_shape = {2, 3, 2, 8},
    .expected_mask = Mask::of_first_input, .rejects = kRank, .random_in_training = true)
LAYER_TEST(
    SpatialDropout3D, .make = [] { return layers::SpatialDropout3D(0.25); },
    .input_shapes = {{2, 2, 3, 2, 8}}, .expected_output_shape = {2, 2, 3, 2, 8},
    .expected_mask = Mask::of_first_input, .rejects = kRank, .random_in_training = true)
LAYER_TEST(
    GaussianNoise, .make = [] { return layers::GaussianNoise(0.1); }, .input_shapes = {{2, 8}},
    .expected_output_shape = {2, 8}, .expected_mask = Mask::of_first_input,
    .random_in_training = true)
LAYER_TEST(
    GaussianDropout, .make = [] { return layers::GaussianDropout(0.1); }, .input_shapes = {{2, 8}},
    .expected_output_shape = {2, 8}, .expected_mask = Mask::of_first_input,
    .random_in_training = true)
LAYER_TEST(
    AlphaDropout, .make = [] { return layers::AlphaDropout(0.1); }, .input_shapes = {{2, 8}},
    .expected_output_shape = {2, 8}, .expected_mask = Mask::of_first_input,
    .random_in_training = true)
LAYER_TEST(
    ActivityRegularization,
    .make = [] { return layers::ActivityRegularization({.l1 = 0.01, .l2 = 0.02}); },
    .input_shapes = {{2, 4}}, .expected_output_shape = {2, 4}, .expected_num_losses = 1,
    .expected_mask = Mask::of_first_input)

// ---- reshaping
LAYER_TEST(
    Permute,
    .make =
        [] {
          return layers::Permute({2, 1});
        },
    .input_shapes = {{2, 3, 4}}, .expected_output_shape = {2, 4, 3}, .rejects = kRank)
LAYER_TEST(
    RepeatVector, .make = [] { return layers::RepeatVector(3); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 3, 4}, .rejects = kRank)
LAYER_TEST(
    ZeroPadding1D,
    .make =
        [] {
          return layers::ZeroPadding1D({1, 2});
        },
    .input_shapes = {{2, 4, 3}}, .expected_output_shape = {2, 7, 3}, .rejects = kRank)
LAYER_TEST(
    ZeroPadding2D,
    .make =
        [] {
          return layers::ZeroPadding2D({{1, 0}, {2, 1}});
        },
    .input_shapes = {{2, 3, 4, 2}}, .expected_output_shape = {2, 4, 7, 2}, .rejects = kRank)
LAYER_TEST(
    ZeroPadding3D,
    .make =
        [] {
          return layers::ZeroPadding3D({1, 2, 0});
        },
    .input_shapes = {{2, 2, 3, 2, 2}}, .expected_output_shape = {2, 4, 7, 2, 2}, .rejects = kRank)
LAYER_TEST(
    Cropping1D,
    .make =
        [] {
          return layers::Cropping1D({1, 2});
        },
    .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 3, 3}, .rejects = kRank)
LAYER_TEST(
    Cropping2D,
    .make =
        [] {
          return layers::Cropping2D({{1, 0}, {2, 1}});
        },
    .input_shapes = {{2, 3, 5, 2}}, .expected_output_shape = {2, 2, 2, 2}, .rejects = kRank)
LAYER_TEST(
    Cropping3D, .make = [] { return layers::Cropping3D(1); }, .input_shapes = {{2, 3, 4, 3, 2}},
    .expected_output_shape = {2, 1, 2, 1, 2}, .rejects = kRank)
LAYER_TEST(
    UpSampling1D, .make = [] { return layers::UpSampling1D(3); }, .input_shapes = {{2, 3, 4}},
    .expected_output_shape = {2, 9, 4}, .rejects = kRank)
LAYER_TEST(
    UpSampling2D,
    .make =
        [] {
          return layers::UpSampling2D({2, 3});
        },
    .input_shapes = {{2, 3, 2, 4}}, .expected_output_shape = {2, 6, 6, 4}, .rejects = kRank)
LAYER_TEST(
    UpSampling3D, .make = [] { return layers::UpSampling3D(2); }, .input_shapes = {{2, 2, 3, 2, 2}},
    .expected_output_shape = {2, 4, 6, 4, 2}, .rejects = kRank)

// ---- merging
#define MERGE_TEST(Name)                                                                   \
  LAYER_TEST(                                                                              \
      Name, .make = [] { return layers::Name(); }, .input_shapes = {{2, 5, 4}, {2, 5, 4}}, \
      .expected_output_shape = {2, 5, 4}, .expected_mask = Mask::of_all_inputs, .rejects = kAll)
MERGE_TEST(Add)
MERGE_TEST(Subtract)
MERGE_TEST(Multiply)
MERGE_TEST(Average)
MERGE_TEST(Maximum)
MERGE_TEST(Minimum)
LAYER_TEST(
    Concatenate, .make = [] { return layers::Concatenate(); },
    .input_shapes = {{2, 5, 4}, {2, 5, 3}}, .expected_output_shape = {2, 5, 7},
    .expected_mask = Mask::of_all_inputs, .rejects = kRank)
LAYER_TEST(
    Dot, .make = [] { return layers::Dot(1); }, .input_shapes = {{2, 5, 4}, {2, 5, 3}},
    .expected_output_shape = {2, 4, 3})

// ---- convolutional
#define CONVOLUTION_TEST(Name, count, ...) \
  LAYER_TEST(Name, __VA_ARGS__, .expected_num_trainable_weights = count, .rejects = kAll)
CONVOLUTION_TEST(
    Conv1D, 2, .make = [] { return layers::Conv1D(3, 2); }, .input_shapes = {{2, 6, 4}},
    .expected_output_shape = {2, 5, 3})
CONVOLUTION_TEST(
    Conv2D, 2,
    .make =
        [] {
          return layers::Conv2D(3, {2, 3});
        },
    .input_shapes = {{2, 5, 4, 2}}, .expected_output_shape = {2, 4, 2, 3})
CONVOLUTION_TEST(
    Conv3D, 2, .make = [] { return layers::Conv3D(3, 2); }, .input_shapes = {{2, 3, 4, 3, 2}},
    .expected_output_shape = {2, 2, 3, 2, 3})
CONVOLUTION_TEST(
    Conv1DTranspose, 2, .make = [] { return layers::Conv1DTranspose(3, 2, 2); },
    .input_shapes = {{2, 4, 4}}, .expected_output_shape = {2, 8, 3})
CONVOLUTION_TEST(
    Conv2DTranspose, 2, .make = [] { return layers::Conv2DTranspose(3, 2, 2); },
    .input_shapes = {{2, 3, 4, 2}}, .expected_output_shape = {2, 6, 8, 3})
CONVOLUTION_TEST(
    Conv3DTranspose, 2, .make = [] { return layers::Conv3DTranspose(3, 2); },
    .input_shapes = {{2, 2, 3, 2, 2}}, .expected_output_shape = {2, 3, 4, 3, 3})
CONVOLUTION_TEST(
    DepthwiseConv1D, 2, .make = [] { return layers::DepthwiseConv1D(2, {.depth_multiplier = 2}); },
    .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 5, 6})
CONVOLUTION_TEST(
    DepthwiseConv2D, 2,
    .make =
        [] {
          return layers::DepthwiseConv2D({2, 3});
        },
    .input_shapes = {{2, 5, 4, 3}}, .expected_output_shape = {2, 4, 2, 3})
CONVOLUTION_TEST(
    SeparableConv1D, 3, .make = [] { return layers::SeparableConv1D(3, 2); },
    .input_shapes = {{2, 6, 4}}, .expected_output_shape = {2, 5, 3})
CONVOLUTION_TEST(
    SeparableConv2D, 3, .make = [] { return layers::SeparableConv2D(3, 2); },
    .input_shapes = {{2, 5, 4, 2}}, .expected_output_shape = {2, 4, 3, 3})

// ---- pooling
#define POOLING_TEST(Name, ...) \
  LAYER_TEST(                   \
      Name, .make = [] { return layers::Name(); }, __VA_ARGS__, .rejects = kRank)
POOLING_TEST(MaxPooling1D, .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 3, 3})
POOLING_TEST(MaxPooling2D, .input_shapes = {{2, 5, 4, 3}}, .expected_output_shape = {2, 2, 2, 3})
POOLING_TEST(MaxPooling3D, .input_shapes = {{2, 4, 2, 4, 2}},
             .expected_output_shape = {2, 2, 1, 2, 2})
POOLING_TEST(AveragePooling1D, .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 3, 3})
POOLING_TEST(AveragePooling2D, .input_shapes = {{2, 5, 4, 3}},
             .expected_output_shape = {2, 2, 2, 3})
POOLING_TEST(AveragePooling3D, .input_shapes = {{2, 4, 2, 4, 2}},
             .expected_output_shape = {2, 2, 1, 2, 2})
POOLING_TEST(GlobalMaxPooling1D, .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 3})
POOLING_TEST(GlobalMaxPooling2D, .input_shapes = {{2, 5, 4, 3}}, .expected_output_shape = {2, 3})
POOLING_TEST(GlobalMaxPooling3D, .input_shapes = {{2, 2, 3, 2, 3}}, .expected_output_shape = {2, 3})
POOLING_TEST(GlobalAveragePooling1D, .input_shapes = {{2, 6, 3}}, .expected_output_shape = {2, 3})
POOLING_TEST(GlobalAveragePooling2D, .input_shapes = {{2, 5, 4, 3}},
             .expected_output_shape = {2, 3})
POOLING_TEST(GlobalAveragePooling3D, .input_shapes = {{2, 2, 3, 2, 3}},
             .expected_output_shape = {2, 3})

// ---- of Keras 3
LAYER_TEST(
    RMSNormalization, .make = [] { return layers::RMSNormalization(); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_num_trainable_weights = 1,
    .rejects = Rejects{.lower_rank = true, .higher_rank = true, .more_features = true})

LAYER_TEST(
    GroupedQueryAttention, .make = [] { return layers::GroupQueryAttention(2, 4, 2); },
    .input_shapes = {{2, 5, 4}, {2, 3, 4}}, .expected_output_shape = {2, 5, 4},
    .expected_num_trainable_weights = 8, .expected_mask = Mask::of_first_input, .rejects = kAll)

// ---- of the applications
LAYER_TEST(
    CustomScaleLayer, .make = [] { return layers::CustomScaleLayer(0.25); },
    .input_shapes = {{2, 4}, {2, 4}}, .expected_output_shape = {2, 4}, .rejects = kAll)
LAYER_TEST(
    LayerScale, .make = [] { return layers::LayerScale(0.5, 4); }, .input_shapes = {{2, 4}},
    .expected_output_shape = {2, 4}, .expected_num_trainable_weights = 1,
    .rejects = Rejects{.lower_rank = true, .more_features = true})
LAYER_TEST(
    StochasticDepth, .make = [] { return layers::StochasticDepth(0.5); }, .input_shapes = {{8, 4}},
    .expected_output_shape = {8, 4}, .expected_mask = Mask::of_first_input,
    .random_in_training = true)

// ---- all of them
TEST(LayerContract, EveryLayerIsAsked) {
  // Second names of the same layers, as old files have them.
  const std::map<std::string, std::string> aliases = {
      {"Convolution1D", "Conv1D"},
      {"Convolution2D", "Conv2D"},
      {"Convolution3D", "Conv3D"},
      {"Convolution1DTranspose", "Conv1DTranspose"},
      {"Convolution2DTranspose", "Conv2DTranspose"},
      {"Convolution3DTranspose", "Conv3DTranspose"},
      {"SeparableConvolution1D", "SeparableConv1D"},
      {"SeparableConvolution2D", "SeparableConv2D"},
      {"Custom>CustomScaleLayer", "CustomScaleLayer"},
      {"GroupQueryAttention", "GroupedQueryAttention"},
      {"Model", "Functional"}};
  std::vector<std::string> missing;
  for (const std::string& name : keras::registered_layer_names()) {
    if (name == "InputLayer") continue;  // it computes nothing, and is in every model here
    // Layers of data, and of chance in images: tests/keras_preprocessing.
    static const std::set<std::string> preprocessing = {
        "TextVectorization", "StringLookup",   "IntegerLookup",     "CategoryEncoding",
        "Hashing",           "HashedCrossing", "Discretization",    "RandomCrop",
        "RandomFlip",        "RandomZoom",     "RandomTranslation", "RandomRotation",
        "RandomContrast",    "RandomHeight",   "RandomBrightness",  "RandomWidth"};
    if (preprocessing.count(name)) continue;
    // What add_loss and add_metric of a functional model put into its files (add_loss_test.cc).
    if (name == "AddLoss" || name == "AddMetric") continue;
    const auto alias = aliases.find(name);
    const std::string& meant = alias == aliases.end() ? name : alias->second;
    if (std::find(asked().begin(), asked().end(), meant) == asked().end()) missing.push_back(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "layers without a LAYER_TEST";
}

}  // namespace
