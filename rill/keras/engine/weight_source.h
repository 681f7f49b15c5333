#pragma once
#include <string_view>

#include "rill/keras/engine/layer.h"

namespace rill RILL_API {
namespace keras {

// While one lives, the layers of this thread ask it for their weights instead of making them:
// how weights come to be shared by name.
class WeightSource {
 public:
  WeightSource();
  virtual ~WeightSource();
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;
  // The regularizer is the source's to keep: the layer leaves it out of its own losses.
  virtual Variable weight(std::string_view name, const TensorShape& shape,
                          const AddWeightOptions& options) = 0;
  static WeightSource* current();  // the innermost one; null: none

 private:
  WeightSource* before_;
};

}  // namespace keras
}  // namespace RILL_API
