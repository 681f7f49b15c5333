#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rill/keras/engine/layer.h"

// Layers that bring images to a size, and those that change them by chance. Images are [batch,
// height, width, channels] or one of them. Layers of chance change images in training, and where
// nobody says whether it is training, as in Keras: layer(x), but not model.predict(x). The same
// seed gives the same changes.
namespace rill RILL_API {
namespace keras {
namespace layers {

struct ResizingOptions {
  std::int64_t height = 0, width = 0;
  // "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
  std::string interpolation = "bilinear";
  bool crop_to_aspect_ratio = false;  // cut what would be squeezed
  bool pad_to_aspect_ratio = false;   // of Keras 3: put borders of fill_value around
  std::string fill_mode = "constant";
  double fill_value = 0;
  bool antialias = false;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class Resizing : public Layer {
 public:
  explicit Resizing(ResizingOptions options);
  Resizing(std::int64_t height, std::int64_t width, ResizingOptions options = {});
};

struct CenterCropOptions {
  std::int64_t height = 0, width = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// The middle of images; images that are too small are resized, without changing their shape.
class CenterCrop : public Layer {
 public:
  explicit CenterCrop(CenterCropOptions options);
  CenterCrop(std::int64_t height, std::int64_t width, CenterCropOptions options = {});
};

struct RandomCropOptions {
  std::int64_t height = 0, width = 0;
  std::int64_t seed = -1;  // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// One place for all images of a batch. In inference they are resized, cut to the same shape.
class RandomCrop : public Layer {
 public:
  explicit RandomCrop(RandomCropOptions options);
  RandomCrop(std::int64_t height, std::int64_t width, RandomCropOptions options = {});
};

struct RandomFlipOptions {
  std::string mode = "horizontal_and_vertical";  // or "horizontal", "vertical"
  std::int64_t seed = -1;                        // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Each image mirrored, or not.
class RandomFlip : public Layer {
 public:
  RandomFlip();
  explicit RandomFlip(RandomFlipOptions options);
  template <StringLike S>
  explicit RandomFlip(const S& mode, RandomFlipOptions options = {})
      : RandomFlip((options.mode = std::string_view(mode), std::move(options))) {}
};

// The bounds of a random number: 0.2 is from -0.2 to 0.2, {0.1, 0.3} from the one to the other.
class Factor {
 public:
  Factor(double both) : lower_(-both), upper_(both), one_(both) {}
  Factor(double lower, double upper) : lower_(lower), upper_(upper) {}
  double lower() const { return lower_; }
  double upper() const { return upper_; }
  const std::optional<double>& one() const { return one_; }  // as it was given

 private:
  double lower_, upper_;
  std::optional<double> one_;
};

struct RandomTranslationOptions {
  Factor height_factor = 0.0, width_factor = 0.0;  // parts of height and width, from -1 to 1
  std::string fill_mode = "reflect";               // or "constant", "wrap", "nearest"
  std::string interpolation = "bilinear";          // or "nearest"
  std::int64_t seed = -1;                          // -1: as tf::random::set_seed says
  double fill_value = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class RandomTranslation : public Layer {
 public:
  explicit RandomTranslation(RandomTranslationOptions options);
  RandomTranslation(Factor height_factor, Factor width_factor,
                    RandomTranslationOptions options = {});
};

struct RandomRotationOptions {
  Factor factor = 0.0;  // of a full turn, counter-clockwise
  std::string fill_mode = "reflect", interpolation = "bilinear";
  std::int64_t seed = -1;  // -1: as tf::random::set_seed says
  double fill_value = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class RandomRotation : public Layer {
 public:
  explicit RandomRotation(RandomRotationOptions options);
  explicit RandomRotation(Factor factor, RandomRotationOptions options = {});
};

struct RandomZoomOptions {
  Factor height_factor = 0.0;  // 0.2: shows 1.2 of the height, so that things get smaller
  std::optional<Factor> width_factor = {};  // none: as the height, so that shapes are kept
  std::string fill_mode = "reflect", interpolation = "bilinear";
  std::int64_t seed = -1;  // -1: as tf::random::set_seed says
  double fill_value = 0;
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
class RandomZoom : public Layer {
 public:
  explicit RandomZoom(RandomZoomOptions options);
  explicit RandomZoom(Factor height_factor, RandomZoomOptions options = {});
  RandomZoom(Factor height_factor, Factor width_factor, RandomZoomOptions options = {});
};

struct RandomContrastOptions {
  Factor factor = 0.0;  // {lower, upper}: 1 - lower to 1 + upper times the contrast
  std::vector<double> value_range = {0, 255};  // of Keras 3; Keras 2 has this one
  std::int64_t seed = -1;                      // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// (x - mean) * contrast + mean by channels, one contrast for a batch.
class RandomContrast : public Layer {
 public:
  explicit RandomContrast(RandomContrastOptions options);
  explicit RandomContrast(Factor factor, RandomContrastOptions options = {});
};

struct RandomBrightnessOptions {
  Factor factor = 0.0;                         // part of the range that is added
  std::vector<double> value_range = {0, 255};  // of the images
  std::int64_t seed = -1;                      // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Each image made brighter or darker.
class RandomBrightness : public Layer {
 public:
  explicit RandomBrightness(RandomBrightnessOptions options);
  explicit RandomBrightness(Factor factor, RandomBrightnessOptions options = {});
};

struct RandomSizeOptions {
  Factor factor = 0.0;
  std::string interpolation = "bilinear";
  std::int64_t seed = -1;  // -1: as tf::random::set_seed says
  TensorShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  DTypePolicy dtype = {};
  bool trainable = true;
  std::vector<Tensor> weights = {};
};
// Of Keras 2: images made higher, or wider, by one factor for a batch.
class RandomHeight : public Layer {
 public:
  explicit RandomHeight(RandomSizeOptions options);
  explicit RandomHeight(Factor factor, RandomSizeOptions options = {});
};
class RandomWidth : public Layer {
 public:
  explicit RandomWidth(RandomSizeOptions options);
  explicit RandomWidth(Factor factor, RandomSizeOptions options = {});
};

}  // namespace layers
}  // namespace keras
}  // namespace RILL_API
