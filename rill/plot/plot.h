#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"
#include "rill/keras/models/callback.h"

// Plots, where people would rather look than read: a contact sheet of images, the curves of a
// History, a confusion matrix, a histogram. Each is a Figure, which becomes a PNG or an SVG file.
// In Python these are lines of matplotlib:
//
//   tf::plot::images(batch, {.titles = {"cat", "dog"}}).save("batch.png");
//   tf::plot::history(model.fit(x, y, {.epochs = 10})).save("curves.svg");
namespace rill RILL_API {
namespace plot {

struct Drawing;  // the lines, areas, texts and images of a figure
class Figure {
 public:
  explicit Figure(Drawing drawing);
  int width() const;  // in pixels
  int height() const;
  // By the ending of the name, ".png" or ".svg"; InvalidArgument for another. The file is written
  // whole or not at all.
  void save(const std::string& path) const;
  Tensor pixels() const;    // uint8 [height, width, 3]
  std::string svg() const;  // the text of an SVG file

 private:
  std::shared_ptr<const Drawing> drawing_;
};

struct ImagesOptions {
  std::vector<std::string> titles = {};  // one an image, above it; fewer are fine
  int columns = 0;                       // 0: up to 5, as square as can be
  int max_images = 25;
  int size = 128;  // of the longer side of the largest image in the figure, in pixels at least
};
// A contact sheet of images [n, height, width, 1, 3 or 4], [n, height, width], or one without n; or
// of a list of these, whose sizes may differ and are to one scale. uint8 as it is; floats of 0 ..
// 1, and of other ranges from their least to their largest number.
Figure images(const TensorList& images, const ImagesOptions& options = {});

struct CurvesOptions {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<double> x = {};  // of all curves; none: 0, 1, 2 ..
  int width = 640, height = 400;
};
// Named curves in one pair of axes; numbers that are not finite leave a gap.
Figure curves(const std::vector<std::pair<std::string, std::vector<double>>>& curves,
              const CurvesOptions& options = {});
template <class H>
requires std::is_same_v<H, keras::History::Values> Figure
curves(const H& history, const CurvesOptions& options = {}) {
  return curves(history.items(), options);
}

struct HistoryOptions {
  std::vector<std::string> metrics = {};  // without "val_"; none: all
  std::string title = {};
  int width = 640, height = 300;  // of the axes of one metric
};
// For each metric its curve, and that of its validation, over the epochs.
Figure history(const keras::History& history, const HistoryOptions& options = {});

struct ConfusionMatrixOptions {
  std::vector<std::string> labels = {};  // one a class; none: numbers
  std::string title = {};
  bool normalize = false;  // each row as parts of its sum
};
// matrix [classes, classes] as math::confusion_matrix makes it: rows are labels, columns
// predictions.
Figure confusion_matrix(const Operand& matrix, const ConfusionMatrixOptions& options = {});

struct HistogramOptions {
  int bins = 30;
  std::string title = {}, x_label = {};
  int width = 640, height = 400;
};
// How many of the values are in each of `bins` intervals of one length.
Figure histogram(const Operand& values, const HistogramOptions& options = {});

}  // namespace plot
}  // namespace RILL_API
