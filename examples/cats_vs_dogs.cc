// shows: P69 P70 A15 A16
// data: made
// Cats and dogs: pictures from folders, decoded by several threads while the network learns, and
// the same pictures in one file of records. The guide's pictures cannot be had here, so others of
// their size are made first: stripes for cats, rings for dogs.
//   cats_vs_dogs [folder]     a folder with train/cats, train/dogs, test/cats and test/dogs
#include <rill/rill.h>

#include <chrono>
#include <cstdlib>

#include "example.h"
#include "made_pictures.h"
namespace tf = rill;
namespace keras = tf::keras;
using tf::Nest, tf::Tensor, tf::data::Dataset;

const bool full = std::getenv("RILL_FULL") != nullptr;
const int num_epochs = full ? 10 : 2, batch_size = 12;
const double learning_rate = 0.001;

Tensor files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : tf::io::gfile::listdir(folder))
    names.push_back(folder + "/" + name);
  std::sort(names.begin(), names.end());
  return tf::constant(names);
}
// (filenames, labels): cats 0, dogs 1.
Nest files_and_labels(const std::string& folder) {
  const Tensor cats = files_of(folder + "/cats"), dogs = files_of(folder + "/dogs");
  return tf::tuple(
      tf::concat({cats, dogs}, -1),
      tf::concat({tf::zeros(cats.shape(), tf::int32), tf::ones(dogs.shape(), tf::int32)}, -1));
}

Nest decode_and_resize(const Tensor& filename, const Tensor& label) {
  const Tensor image_string = tf::io::read_file(filename);
  const Tensor image_decoded = tf::image::decode_jpeg(image_string);
  const Tensor image_resized = tf::image::resize(image_decoded, {256, 256}) / 255.f;
  return tf::tuple(image_resized, label);
}

keras::Sequential network() {
  keras::Sequential model(
      {keras::layers::Conv2D(32, 3, {.activation = "relu", .input_shape = {256, 256, 3}}),
       keras::layers::MaxPooling2D(), keras::layers::Conv2D(32, 5, {.activation = "relu"}),
       keras::layers::MaxPooling2D(), keras::layers::Flatten(),
       keras::layers::Dense(64, {.activation = "relu"}),
       keras::layers::Dense(2, {.activation = "softmax"})});
  model.compile({.optimizer = keras::optimizers::Adam({.learning_rate = learning_rate}),
                 .loss = keras::losses::sparse_categorical_crossentropy,
                 .metrics = {keras::metrics::sparse_categorical_accuracy}});
  return model;
}

// The pictures as one file of Examples, and back.
void records(const std::string& folder, const Nest& files) {
  const std::string tfrecord_file = folder + "/train.tfrecords";
  const auto filenames = files[0].to_vector<std::string>();
  const auto labels = files[1].to_vector<std::int64_t>();
  {
    tf::io::TFRecordWriter writer(tfrecord_file);
    for (std::size_t i = 0; i < filenames.size(); ++i) {
      const std::string image = tf::io::gfile::GFile(filenames[i], "rb").read();
      const tf::train::Example example{
          .features = {.feature = {{"image", {.bytes_list = {.value = {image}}}},
                                   {"label", {.int64_list = {.value = {labels[i]}}}}}}};
      writer.write(example.SerializeToString());
    }
    writer.close();
  }
  const tf::io::FeatureSpecs feature_description = {
      {"image", tf::io::FixedLenFeature({}, tf::string)},
      {"label", tf::io::FixedLenFeature({}, tf::int64)}};
  auto parse_example = [=](const Tensor& example_string) {
    Nest feature = tf::io::parse_single_example(example_string, feature_description);
    return tf::tuple(tf::io::decode_jpeg(feature["image"]), feature["label"]);
  };
  std::size_t i = 0;
  std::vector<Tensor> shown;
  for (auto& element : tf::data::TFRecordDataset(tfrecord_file).map(parse_example)) {
    auto [image, label] = element.unpack<2>();
    expect(label.item<std::int64_t>() == labels[i], "each label comes back");
    const Tensor file = tf::io::decode_jpeg(tf::io::read_file(filenames[i]));
    expect(tf::reduce_all(tf::equal(image, file)).item<bool>(), "each picture comes back");
    ++i;
  }
  expect(i == filenames.size(), "all of them");
  std::cout << i << " pictures in " << tf::io::gfile::stat(tfrecord_file).length / 1000
            << " kB of records\n";
}

int main(int argc, char** argv) {
  std::string data_dir;
  if (argc > 1) {
    data_dir = argv[1];
  } else {
    data_dir = folder_for_pictures("rill_cats_vs_dogs");
    const int train = full ? 1000 : 60, test = full ? 100 : 20;
    for (const int kind : {0, 1}) {
      const std::string name = kind == 0 ? "/cats" : "/dogs";
      write_pictures(data_dir + "/train" + name, kind, 0, train, 375, 500);
      write_pictures(data_dir + "/test" + name, kind, train, test, 375, 500);
    }
  }
  keras::utils::set_random_seed(1);

  const Nest train_files = files_and_labels(data_dir + "/train");
  Dataset train_dataset = Dataset::from_tensor_slices(train_files)
                              .map(decode_and_resize, {.num_parallel_calls = tf::data::AUTOTUNE})
                              .shuffle(23000)
                              .batch(batch_size)
                              .prefetch(tf::data::AUTOTUNE);
  keras::Sequential model = network();
  model.fit(train_dataset, {.epochs = num_epochs});

  const Nest test_files = files_and_labels(data_dir + "/test");
  Dataset test_dataset =
      Dataset::from_tensor_slices(test_files).map(decode_and_resize).batch(batch_size);
  std::cout << tf::constant(model.metrics_names()) << '\n';
  const auto scores = model.evaluate(test_dataset).values();
  std::cout << tf::constant(scores) << '\n';
  expect(scores[1] > (full ? 0.95 : 0.6), "the kinds are told apart");

  records(data_dir, train_files);
  if (argc == 1) tf::io::gfile::rmtree(data_dir);
}
