#pragma once
#include <cstddef>

#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// The largest or the mean of each window, over one, two or three axes of the input
// [batch, axes.., channels], or [batch, channels, axes..] with data_format "channels_first":
//   MaxPooling2D(), MaxPooling2D(2), MaxPooling2D({3, 2}), MaxPooling2D({2, 2}, {1, 1}),
//   MaxPooling2D(2, 2, {.padding = "same"}), MaxPooling2D({.pool_size = {2, 2}, .strides = 2}).
namespace rill RILL_API {
namespace keras {
namespace layers {

struct PoolingOptions {
  nn::Sizes pool_size = 2, strides = {};  // strides: those of pool_size, when empty
  std::string padding = "valid", data_format = "channels_last";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
enum class PoolingKind { max, average };

template <PoolingKind kind, int axes>
class Pooling : public Layer {
 public:
  Pooling() : Pooling(PoolingOptions{}) {}
  explicit Pooling(PoolingOptions options);
  explicit Pooling(int pool_size, PoolingOptions o = {})
      : Pooling((o.pool_size = pool_size, std::move(o))) {}
  Pooling(int pool_size, int strides, PoolingOptions o = {})
      : Pooling((o.pool_size = pool_size, o.strides = strides, std::move(o))) {}
  // Arrays and not lists: with a list {.pool_size = {2, 2}} would mean both this and options.
  template <std::size_t n>
  requires(n == axes && n > 1) explicit Pooling(const int (&pool_size)[n], PoolingOptions o = {})
      : Pooling((o.pool_size = list(pool_size), std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1)
      Pooling(const int (&pool_size)[n], int strides, PoolingOptions o = {})
      : Pooling((o.pool_size = list(pool_size), o.strides = strides, std::move(o))) {}
  template <std::size_t n, std::size_t m>
  requires(n == axes && m == axes && n > 1)
      Pooling(const int (&pool_size)[n], const int (&strides)[m], PoolingOptions o = {})
      : Pooling((o.pool_size = list(pool_size), o.strides = list(strides), std::move(o))) {}

 private:
  template <std::size_t n>
  static std::vector<int> list(const int (&sizes)[n]) {
    return {sizes, sizes + n};
  }
};
using MaxPooling1D = Pooling<PoolingKind::max, 1>;
using MaxPooling2D = Pooling<PoolingKind::max, 2>;
using MaxPooling3D = Pooling<PoolingKind::max, 3>;
using AveragePooling1D = Pooling<PoolingKind::average, 1>;
using AveragePooling2D = Pooling<PoolingKind::average, 2>;
using AveragePooling3D = Pooling<PoolingKind::average, 3>;
using MaxPool1D = MaxPooling1D;
using MaxPool2D = MaxPooling2D;
using MaxPool3D = MaxPooling3D;
using AvgPool1D = AveragePooling1D;
using AvgPool2D = AveragePooling2D;
using AvgPool3D = AveragePooling3D;

struct GlobalPoolingOptions {
  std::string data_format = "channels_last";
  bool keepdims = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Over whole axes: [batch, axes.., channels] -> [batch, channels], or with axes of size 1 with
// keepdims. GlobalAveragePooling1D leaves out the steps that a mask hides.
template <PoolingKind kind, int axes>
class GlobalPooling : public Layer {
 public:
  GlobalPooling() : GlobalPooling(GlobalPoolingOptions{}) {}
  explicit GlobalPooling(GlobalPoolingOptions options);
};
using GlobalMaxPooling1D = GlobalPooling<PoolingKind::max, 1>;
using GlobalMaxPooling2D = GlobalPooling<PoolingKind::max, 2>;
using GlobalMaxPooling3D = GlobalPooling<PoolingKind::max, 3>;
using GlobalAveragePooling1D = GlobalPooling<PoolingKind::average, 1>;
using GlobalAveragePooling2D = GlobalPooling<PoolingKind::average, 2>;
using GlobalAveragePooling3D = GlobalPooling<PoolingKind::average, 3>;
using GlobalMaxPool1D = GlobalMaxPooling1D;
using GlobalMaxPool2D = GlobalMaxPooling2D;
using GlobalMaxPool3D = GlobalMaxPooling3D;
using GlobalAvgPool1D = GlobalAveragePooling1D;
using GlobalAvgPool2D = GlobalAveragePooling2D;
using GlobalAvgPool3D = GlobalAveragePooling3D;

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
