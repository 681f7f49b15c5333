// Handwritten digits read by a small network: a stack of layers, compile and fit, and a file.
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

// An image as text: the darker, the denser.
void draw(const Tensor& image) {
  static const char* shades = " .:-=+*#%@";
  const auto pixels = image.to_vector<float>();
  for (std::size_t row = 0; row < 8; ++row) {
    std::string line = "    ";
    for (std::size_t column = 0; column < 8; ++column)
      line += std::string(2, shades[static_cast<int>(pixels[row * 8 + column] * 9)]);
    std::cout << line << '\n';
  }
}

int main() {
  keras::utils::set_random_seed(5);
  const auto [train, test] = keras::datasets::digits::load_data();
  std::cout << tf::format("{} digits to learn from, {} to be tested on\n", train.y.size(),
                          test.y.size());

  keras::Sequential model({
      keras::layers::Flatten({.input_shape = {8, 8}}),
      keras::layers::Dense(128, {.activation = "relu"}),
      keras::layers::Dropout(0.2),
      keras::layers::Dense(10, {.activation = "softmax"}),
  });
  model.summary();
  model.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(train.x / 16.f, train.y, {.epochs = 20});
  const auto scores = model.evaluate(test.x / 16.f, test.y);
  std::cout << tf::format("Test accuracy: {:.4f}\n\n", scores["accuracy"]);

  // Saved, and asked as another program would ask it.
  model.save("digits.keras");
  keras::Model loaded = keras::models::load_model("digits.keras");
  const Tensor p = loaded.predict(test.x / 16.f);
  expect(p.to_vector<float>() == model.predict(test.x / 16.f).to_vector<float>(),
         "the same predictions from the file");
  for (int i : {0, 1}) {
    draw(test.x[i] / 16.f);
    const int digit = static_cast<int>(tf::argmax(p[i]).item<std::int64_t>());
    std::cout << tf::format("  reads as {}, with {:.1f} % certainty; it is a {}\n\n", digit,
                            100 * p[i][digit].item<float>(), test.y[i].item<int>());
  }
  expect(scores["accuracy"] > 0.95, "more than 95 % of the test digits read right");
}
