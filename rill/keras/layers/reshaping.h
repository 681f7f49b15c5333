#pragma once
#include <cstddef>

#include "rill/keras/engine/layer.h"
#include "rill/ops/nn_ops.h"

// Layers that move, repeat, cut off and put around, without weights.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct PermuteOptions {
  std::vector<int> dims = {};
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The axes of each sample in another order: dims, counted from 1, which is the first after the
// batch. Permute({2, 1}) transposes.
class Permute : public Layer {
 public:
  explicit Permute(PermuteOptions options);
  template <std::size_t n>
  explicit Permute(const int (&dims)[n], PermuteOptions o = {})
      : Permute((o.dims = std::vector<int>(dims, dims + n), std::move(o))) {}
};

struct RepeatVectorOptions {
  std::int64_t n = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// [batch, features] -> [batch, n, features].
class RepeatVector : public Layer {
 public:
  explicit RepeatVector(RepeatVectorOptions options);
  explicit RepeatVector(std::int64_t n, RepeatVectorOptions options = {});
};

// Elements before and after each axis of an image: 1 on all sides, {1, 2} for both sides of the
// first and second axis, {{1, 0}, {2, 1}} for each side. Of an image of one axis {1, 2} are its
// two sides.
class Borders {
 public:
  Borders() = default;  // not given
  Borders(int all) : each_{{all}} {}
  Borders(std::initializer_list<int> each) {
    for (int i : each) each_.push_back({i});
  }
  Borders(std::initializer_list<std::initializer_list<int>> each) {
    for (const auto& pair : each) each_.emplace_back(pair);
  }
  explicit Borders(std::vector<std::vector<int>> each) : each_(std::move(each)) {}
  template <std::size_t n>
  static Borders of(const int (&sides)[n]) {
    std::vector<std::vector<int>> each;
    for (int i : sides) each.push_back({i});
    return Borders(std::move(each));
  }
  template <std::size_t n>
  static Borders of(const int (&sides)[n][2]) {
    std::vector<std::vector<int>> each;
    for (const auto& pair : sides) each.push_back({pair[0], pair[1]});
    return Borders(std::move(each));
  }
  const std::vector<std::vector<int>>& list() const { return each_; }

 private:
  std::vector<std::vector<int>> each_;
};

struct ZeroPaddingOptions {
  Borders padding = 1;
  std::string data_format = "channels_last";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Zeros around an image.
template <int axes>
class ZeroPadding : public Layer {
 public:
  ZeroPadding() : ZeroPadding(ZeroPaddingOptions{}) {}
  explicit ZeroPadding(ZeroPaddingOptions options);
  explicit ZeroPadding(int padding, ZeroPaddingOptions o = {})
      : ZeroPadding((o.padding = padding, std::move(o))) {}
  template <std::size_t n>
  requires(n == (axes == 1 ? 2 : axes)) explicit ZeroPadding(const int (&padding)[n],
                                                             ZeroPaddingOptions o = {})
      : ZeroPadding((o.padding = Borders::of(padding), std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1) explicit ZeroPadding(const int (&padding)[n][2],
                                                    ZeroPaddingOptions o = {})
      : ZeroPadding((o.padding = Borders::of(padding), std::move(o))) {}
};
using ZeroPadding1D = ZeroPadding<1>;
using ZeroPadding2D = ZeroPadding<2>;
using ZeroPadding3D = ZeroPadding<3>;

struct CroppingOptions {
  Borders cropping = {};  // empty: 1 on all sides, but 0 of images of two axes
  std::string data_format = "channels_last";
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// An image without its borders.
template <int axes>
class Cropping : public Layer {
 public:
  Cropping() : Cropping(CroppingOptions{}) {}
  explicit Cropping(CroppingOptions options);
  explicit Cropping(int cropping, CroppingOptions o = {})
      : Cropping((o.cropping = cropping, std::move(o))) {}
  template <std::size_t n>
  requires(n == (axes == 1 ? 2 : axes)) explicit Cropping(const int (&cropping)[n],
                                                          CroppingOptions o = {})
      : Cropping((o.cropping = Borders::of(cropping), std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1) explicit Cropping(const int (&cropping)[n][2],
                                                 CroppingOptions o = {})
      : Cropping((o.cropping = Borders::of(cropping), std::move(o))) {}
};
using Cropping1D = Cropping<1>;
using Cropping2D = Cropping<2>;
using Cropping3D = Cropping<3>;

struct UpSamplingOptions {
  nn::Sizes size = 2;
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";  // of two axes: what image::resize knows
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Each element `size` times along each axis of the image.
template <int axes>
class UpSampling : public Layer {
 public:
  UpSampling() : UpSampling(UpSamplingOptions{}) {}
  explicit UpSampling(UpSamplingOptions options);
  explicit UpSampling(int size, UpSamplingOptions o = {})
      : UpSampling((o.size = size, std::move(o))) {}
  template <std::size_t n>
  requires(n == axes && n > 1) explicit UpSampling(const int (&size)[n], UpSamplingOptions o = {})
      : UpSampling((o.size = std::vector<int>(size, size + n), std::move(o))) {}
};
using UpSampling1D = UpSampling<1>;
using UpSampling2D = UpSampling<2>;
using UpSampling3D = UpSampling<3>;

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
