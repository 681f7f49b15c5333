// shows: P07
// A trained model is kept in every form that the guides name, and each time comes back: weights
// alone (a checkpoint, HDF5), the architecture alone (JSON, YAML), and all of it with the
// optimizer's state.
#include <rill/rill.h>

#include "example.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Tensor;

namespace {

keras::Sequential make_model() {
  return keras::Sequential({
      keras::layers::Dense(10, {.activation = "softmax", .input_shape = {32}}),
      keras::layers::Dense(10, {.activation = "softmax"}),
  });
}
std::vector<float> predictions(keras::Model model, const Tensor& x) {
  return model.predict(x, {.verbose = 0}).to_vector<float>();
}

}  // namespace

int main() {
  keras::utils::set_random_seed(1);
  const Tensor data = tf::random::uniform({1000, 32});
  const Tensor labels = tf::random::uniform({1000}, 0, 10, {.dtype = tf::int32});
  const Tensor targets = tf::one_hot(labels, 10);

  auto model = make_model();
  model.compile(
      {.optimizer = "rmsprop", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(data, targets, {.batch_size = 32, .epochs = 5, .verbose = 2});
  const auto want = predictions(model, data);

  model.save_weights("./my_model");
  auto from_checkpoint = make_model();
  from_checkpoint.load_weights("my_model");
  expect(predictions(from_checkpoint, data) == want, "weights of the checkpoint");

  model.save_weights("my_weights.h5", {.save_format = "h5"});
  auto from_hdf5 = make_model();
  from_hdf5.load_weights("my_weights.h5");
  expect(predictions(from_hdf5, data) == want, "weights of the HDF5 file");

  auto fresh = keras::models::from_json(model.to_json());
  expect(fresh.to_json() == model.to_json(), "the architecture by JSON");
  expect(predictions(fresh, data) != want, "freshly initialised");
  fresh = keras::models::from_yaml(model.to_yaml());
  expect(fresh.to_json() == model.to_json(), "the architecture by YAML");
  std::cout << model.to_yaml() << '\n';

  model.save("my_model.h5");
  model.save("my_model.keras");
  auto whole = keras::models::load_model("my_model.h5");
  auto archived = keras::models::load_model("my_model.keras");
  expect(predictions(whole, data) == want, "the model of the HDF5 file");
  expect(predictions(archived, data) == want, "the model of the archive");

  // The optimizer continues where it was: all three train alike from here.
  const keras::FitOptions more{.batch_size = 32, .epochs = 2, .verbose = 0, .shuffle = false};
  const auto loss = model.fit(data, targets, more)["loss"];
  expect(whole.fit(data, targets, more)["loss"] == loss, "the optimizer of the HDF5 file");
  expect(archived.fit(data, targets, more)["loss"] == loss, "the optimizer of the archive");
  std::cout << tf::format("loss after two epochs more: {:.4f}, the same of all three\n",
                          loss.back());
}
