// shows: P77 A06
// Keras's example mnist_cnn, whose model is kept in a file: mnist_cnn.h5, which Keras reads too.
//   mnist_cnn_file [epochs]     the example's own run has 12, as has this one with RILL_FULL;
//                               without a number: a part of one
#include <rill/rill.h>

#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
namespace layers = keras::layers;

int main(int argc, char** argv) {
  const bool quick = std::getenv("RILL_QUICK") != nullptr,
             full = argc > 1 || std::getenv("RILL_FULL") != nullptr;
  const int batch_size = 128, num_classes = 10,
            epochs = argc > 1 ? std::atoi(argv[1])
                     : full   ? 12
                              : 1;
  keras::utils::set_random_seed(1);
  const MNISTLoader data;
  const auto train = tf::slice(0, full    ? data.num_train_data
                                  : quick ? 256
                                          : 100 * batch_size),
             test = tf::slice(0, full    ? data.num_test_data
                                 : quick ? 64
                                         : 1000);
  const auto x_train = data.train_data(train), x_test = data.test_data(test);
  const auto y_train = keras::utils::to_categorical(data.train_label(train), num_classes);
  const auto y_test = keras::utils::to_categorical(data.test_label(test), num_classes);

  keras::Sequential model;
  model.add(layers::Conv2D(32, {3, 3}, {.activation = "relu", .input_shape = {28, 28, 1}}));
  model.add(layers::Conv2D(64, {3, 3}, {.activation = "relu"}));
  model.add(layers::MaxPooling2D({.pool_size = {2, 2}}));
  model.add(layers::Dropout(0.25));
  model.add(layers::Flatten());
  model.add(layers::Dense(128, {.activation = "relu"}));
  model.add(layers::Dropout(0.5));
  model.add(layers::Dense(num_classes, {.activation = "softmax"}));
  // A learning rate of 1 was Adadelta's default when the example was written.
  model.compile({.optimizer = keras::optimizers::Adadelta({.learning_rate = 1.0}),
                 .loss = keras::losses::categorical_crossentropy,
                 .metrics = {"accuracy"}});
  model.fit(x_train, y_train,
            {.batch_size = batch_size,
             .epochs = data.real || full ? epochs : 10,
             .verbose = 1,
             .validation_data = {x_test, y_test}});
  const auto score = model.evaluate(x_test, y_test, {.verbose = 0});
  std::cout << "Test loss: " << score["loss"] << "\nTest accuracy: " << score["accuracy"] << '\n';
  model.save("mnist_cnn.h5");

  // Elsewhere: the architecture, the weights and the state of the optimizer from the file.
  auto loaded = keras::models::load_model("mnist_cnn.h5");
  const auto again = loaded.evaluate(x_test, y_test, {.verbose = 0});
  expect(again["loss"] == score["loss"] && again["accuracy"] == score["accuracy"],
         "the loaded model answers as the saved one");
  expect(loaded.to_json() == model.to_json(), "the same architecture");
  loaded.fit(x_test, y_test, {.batch_size = batch_size, .verbose = 0});  // it can go on
  if (!quick)
    expect(score["accuracy"] > (!data.real    ? 0.9
                                : epochs > 11 ? 0.99
                                              : 0.92),
           "it reads the digits");
}
