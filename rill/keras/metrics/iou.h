#pragma once
#include <optional>

#include "rill/keras/metrics/metric.h"

// Intersection over union of what is of a class and what is said to be: the mean over classes.
namespace rill RILL_API {
namespace keras {
namespace metrics {

struct IoUOptions {
  int num_classes = 0;
  std::vector<int> target_class_ids = {};  // the classes that the mean is of
  std::string name = {};
  DType dtype = float32;                            // integers: counts in whole numbers, as Keras 3
  std::optional<int> ignore_class = {};             // samples of this class do not count
  bool sparse_y_true = true, sparse_y_pred = true;  // class numbers; else a number a class
  int axis = -1;                                    // of the classes, where not sparse
};
class IoU : public Metric {
 public:
  explicit IoU(IoUOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  Config get_config() const override;

 protected:
  bool counts_as_keras3() const { return dtype().is_integer(); }
  IoUOptions o_;

 private:
  Variable total_;  // [true class, predicted class]
};

struct MeanIoUOptions {
  int num_classes = 0;
  std::string name = {};
  DType dtype = float32;
  std::optional<int> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int axis = -1;
};
class MeanIoU : public IoU {  // of all classes
 public:
  explicit MeanIoU(MeanIoUOptions options);
  explicit MeanIoU(int num_classes) : MeanIoU(MeanIoUOptions{.num_classes = num_classes}) {}
  Config get_config() const override;
};

struct BinaryIoUOptions {
  std::vector<int> target_class_ids = {0, 1};
  double threshold = 0.5;
  std::string name = {};
  DType dtype = float32;
};
class BinaryIoU : public IoU {
 public:
  explicit BinaryIoU(BinaryIoUOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Config get_config() const override;

 private:
  double threshold_;
};

struct OneHotIoUOptions {
  int num_classes = 0;
  std::vector<int> target_class_ids = {};
  std::string name = {};
  DType dtype = float32;
  std::optional<int> ignore_class = {};
  bool sparse_y_pred = false;
  int axis = -1;
};
class OneHotIoU : public IoU {
 public:
  explicit OneHotIoU(OneHotIoUOptions options);
  Config get_config() const override;
};

struct OneHotMeanIoUOptions {
  int num_classes = 0;
  std::string name = {};
  DType dtype = float32;
  std::optional<int> ignore_class = {};
  bool sparse_y_pred = false;
  int axis = -1;
};
class OneHotMeanIoU : public IoU {
 public:
  explicit OneHotMeanIoU(OneHotMeanIoUOptions options);
  Config get_config() const override;
};

}  // namespace metrics
}  // namespace keras
}  // namespace RILL_API
