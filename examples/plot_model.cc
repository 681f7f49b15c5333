// Draws a model that looks at an image and answers a question about it, into three files.
#include <rill/rill.h>

#include <fstream>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

int main() {
  const Tensor image = keras::Input({32, 32, 3}, {.name = "image"});
  const Tensor question = keras::Input({20}, {.name = "question"});

  const keras::Sequential vision(
      {layers::Conv2D(16, 3, {.activation = "relu", .input_shape = {32, 32, 3}}),
       layers::BatchNormalization(), layers::MaxPooling2D(2),
       layers::Conv2D(32, 3, {.activation = "relu"}), layers::GlobalAveragePooling2D()},
      "vision");
  Tensor seen = vision(image);
  Tensor words = layers::Embedding(1000, 32, {.name = "words"})(question);
  words = layers::Bidirectional(layers::LSTM(16), {.name = "reading"})(words);
  Tensor both = layers::Concatenate({.name = "both"})({seen, words});
  both = layers::Dropout(0.3)(both);
  const Tensor answer = layers::Dense(100, {.activation = "softmax", .name = "answer"})(both);
  const Tensor is_cat = layers::Dense(1, {.activation = "sigmoid", .name = "is_cat"})(seen);
  const keras::Model model(tf::Nest{image, question}, tf::Nest{answer, is_cat}, "answers");

  keras::utils::plot_model(model, {.to_file = "model.dot", .show_shapes = true});
  try {
    keras::utils::plot_model(model, {.to_file = "model.png",
                                     .show_shapes = true,
                                     .expand_nested = true,
                                     .show_layer_activations = true});
    keras::utils::plot_model(model, {.to_file = "model.svg",
                                     .show_shapes = true,
                                     .rankdir = "LR",
                                     .show_layer_activations = true});
    std::cout << "model.png and model.svg show the model\n";
  } catch (const tf::errors::FailedPrecondition& e) {
    std::cout << e.what() << '\n';  // without Graphviz the text alone
  }
  std::ifstream text("model.dot");
  expect(text.good(), "the drawing as text");
}
