#pragma once
#include <string>
#include <string_view>

#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/image_preprocessing.h"

// What layers of images share.
namespace rill::keras {

// 3: one image; 4: a batch. InvalidArgument for another rank.
int image_rank(const LayerImpl& layer, const Tensor& x);
// Resized to {height, width} without changing shapes: the middle part that has that form.
Tensor smart_resize(const Tensor& images, std::int64_t height, std::int64_t width,
                    std::string_view method);
// InvalidArgument for other names.
void check_interpolation(std::string_view layer, const std::string& name);

// A layer that changes images by chance: in training, and where nobody says.
class RandomImageLayer : public LayerImpl {
 public:
  RandomImageLayer(std::string_view class_name, const LayerOptions& options, std::int64_t seed);
  Tensor call(const Tensor& given, const CallContext& context) final;

 protected:
  // Of a batch, in the compute dtype.
  virtual Tensor changed(const Tensor& images) = 0;
  virtual Tensor unchanged(const Tensor& images) { return images; }
  // Numbers between the bounds, float32.
  Tensor draw(const Operand& shape, double lower, double upper) const;
  // Each image by its transform [batch, 8].
  static Tensor transformed(const Tensor& images, const Tensor& transforms,
                            const std::string& fill_mode, double fill_value,
                            const std::string& interpolation);
  static void check_transform(std::string_view layer, const std::string& fill_mode,
                              const std::string& interpolation);

 private:
  std::int64_t seed_;
};

// As it was given: one number, or two.
struct FactorField {
  static Config write(const layers::Factor& f) {
    return f.one() ? Config(*f.one()) : Config::list_of(std::vector<double>{f.lower(), f.upper()});
  }
  static void read(const Config& c, layers::Factor& f);
};

}  // namespace rill::keras
