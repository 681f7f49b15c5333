// shows: P62 Q61 S17 S30
// A program of two modes: one trains and saves its model every 100 batches, the other makes a
// fresh model, restores the latest checkpoint and measures it. Weights that do not exist yet take
// their values when the model is called.
//   checkpoint_program [--mode train | test] [--num_epochs 1] [--batch_size 50]
//                      [--learning_rate 0.001]     without a mode: train
// examples/expected/checkpoint_program.txt runs one, then the other.
#include <rill/rill.h>

#include <filesystem>
#include <fstream>

#include "mnist_loader.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

struct MLP : keras::Model {
  keras::layers::Flatten flatten;
  keras::layers::Dense dense1{{.units = 100, .activation = tf::nn::relu}}, dense2{{.units = 10}};
  MLP() {
    track("flatten", flatten);
    track("dense1", dense1);
    track("dense2", dense2);
  }
  Tensor call(const Tensor& inputs, const keras::CallContext&) override {
    return tf::nn::softmax(dense2(dense1(flatten(inputs))));
  }
};

struct Arguments {
  std::string mode = "train";
  int num_epochs = 1, batch_size = 50;
  double learning_rate = 0.001;
  void parse(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      expect(i + 1 < argc, "a value after " + name);
      if (name == "--mode")
        mode = argv[i + 1];
      else if (name == "--num_epochs")
        num_epochs = std::stoi(argv[i + 1]);
      else if (name == "--batch_size")
        batch_size = std::stoi(argv[i + 1]);
      else if (name == "--learning_rate")
        learning_rate = std::stod(argv[i + 1]);
      else
        expect(false, "an option of the program instead of " + name);
    }
    expect(mode == "train" || mode == "test", "train or test as the mode instead of " + mode);
  }
} args;
const bool quick = std::getenv("RILL_QUICK") != nullptr;

double test_accuracy(MLP& model, const MNISTLoader& data_loader) {
  const auto y_pred = tf::argmax(model.predict(data_loader.test_data, {.verbose = 0}), -1);
  const auto right = tf::equal(y_pred, tf::cast(data_loader.test_label, tf::int64));
  return tf::reduce_sum(tf::cast(right, tf::float32)).item<float>() / data_loader.num_test_data;
}

void train(const MNISTLoader& data_loader) {
  std::filesystem::remove_all("save");
  MLP model;
  keras::optimizers::Adam optimizer({.learning_rate = args.learning_rate});
  // The small digits are gone through forty times, for about as many batches.
  const int num_epochs = data_loader.real ? args.num_epochs : 40 * args.num_epochs;
  const int num_batches =
      quick ? 100 : data_loader.num_train_data / args.batch_size * num_epochs / 100 * 100;
  std::string path;
  tf::train::Checkpoint checkpoint({{"myModel", model}});
  for (int batch_index = 1; batch_index <= num_batches; ++batch_index) {
    const auto [X, y] = data_loader.get_batch(args.batch_size);
    tf::GradientTape tape;
    const auto y_pred = model(X);
    auto loss = keras::losses::sparse_categorical_crossentropy(y, y_pred);
    loss = tf::reduce_mean(loss);
    std::cout << tf::format("batch {}: loss {:.6f}\n", batch_index, loss.item<float>());
    const auto grads = tape.gradient(loss, model.variables());
    optimizer.apply_gradients(tf::zip(grads, model.variables()));
    if (batch_index % 100 == 0) {
      path = checkpoint.save("./save/mlpmodel.ckpt");
      std::cout << "model saved to " << path << '\n';
    }
  }
  expect(path == tf::format("./save/mlpmodel.ckpt-{}", num_batches / 100),
         "a checkpoint every 100 batches");
  expect(tf::train::latest_checkpoint("./save") == path, "the latest is the last that was saved");
  // What the other run has to reach; of the model it has nothing but the checkpoint.
  std::ofstream("./save/accuracy.txt") << tf::format("{:.6f}\n", test_accuracy(model, data_loader));
}

void test(const MNISTLoader& data_loader) {
  MLP model_to_be_restored;
  tf::train::Checkpoint checkpoint({{"myModel", model_to_be_restored}});
  checkpoint.restore(tf::train::latest_checkpoint("./save"));
  const double accuracy = test_accuracy(model_to_be_restored, data_loader);
  std::cout << tf::format("test accuracy: {:.6f}\n", accuracy);
  std::string trained;
  std::getline(std::ifstream("./save/accuracy.txt"), trained);
  expect(trained == tf::format("{:.6f}", accuracy),
         "the restored model answers as the trained one");
  if (!quick) expect(accuracy > (data_loader.real ? 0.93 : 0.9), "it reads the digits");
}

int main(int argc, char** argv) {
  args.parse(argc, argv);
  tf::random::set_seed(1);
  const MNISTLoader data_loader;
  if (args.mode == "train") train(data_loader);
  if (args.mode == "test") test(data_loader);
}
