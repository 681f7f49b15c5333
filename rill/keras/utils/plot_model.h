#pragma once
#include <string>
#include <vector>

#include "rill/keras/models/model.h"

namespace rill RILL_API {
namespace keras {
namespace utils {

struct PlotModelOptions {
  std::string to_file = "model.png";  // its ending says what is written
  bool show_shapes = false;
  bool show_dtype = false;
  bool show_layer_names = true;
  std::string rankdir = "TB";  // "TB" downwards, "LR" to the right; "BT" and "RL" against that
  bool expand_nested = false;  // models within the model as frames around their layers
  double dpi = 96;             // of .png and other pixel formats
  // The first and the last layer to draw, as regular expressions that names begin with.
  std::vector<std::string> layer_range = {};
  bool show_layer_activations = false;
  bool show_trainable = false;
};

// The drawing of a model in Graphviz's language: a box for each layer, coloured by its family, and
// an arrow for each tensor between two. A user-defined class is one box, for what its call does is
// not known. FailedPrecondition for a model that is not built. to_file is not used.
std::string model_to_dot(const Model& model, const PlotModelOptions& options = {});

// Draws it into a file: .png, .svg, .pdf, .jpg, .gif, .eps, .ps, or .dot for the text itself. All
// but the last need Graphviz's program `dot`: FailedPrecondition where it is not installed. The
// file appears whole or not at all.
void plot_model(const Model& model, const PlotModelOptions& options = {});

}  // namespace utils
}  // namespace keras
}  // namespace RILL_API
