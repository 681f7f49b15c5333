// shows: P36 P40 P41 D51 D52 D53 D54 D55
// Examples out and in: files of records, a parser, epochs by hand, and shuffled batches without
// end.
#include <rill/rill.h>

#include <filesystem>
#include <set>

#include "example.h"
namespace tf = rill;
using tf::Nest, tf::Tensor, tf::data::Dataset;

constexpr int kImages = 100;

std::string image_of(int i) { return std::string(20, static_cast<char>(i)) + std::to_string(i); }

// Files of 50 images each, with their numbers as labels; every tenth without one.
std::vector<std::string> write_records(const std::string& folder) {
  std::vector<std::string> filenames;
  for (int file = 0; file < 2; ++file) {
    filenames.push_back(tf::format("{}/file{}.tfrecord", folder, file + 1));
    tf::io::TFRecordWriter writer(filenames.back());
    for (int i = file * kImages / 2; i < (file + 1) * kImages / 2; ++i) {
      tf::train::Example example{
          .features = {.feature = {{"image", {.bytes_list = {.value = {image_of(i)}}}},
                                   {"weights", {.float_list = {.value = {i / 2.f, 1.f}}}}}}};
      if (i % 10 != 0) example.features.feature["label"] = {.int64_list = {.value = {i}}};
      writer.write(example.SerializeToString());
    }
    writer.close();
  }
  return filenames;
}

int main() {
  const std::string folder = (std::filesystem::temp_directory_path() / "rill_tf_records").string();
  tf::io::gfile::makedirs(folder);
  const std::vector<std::string> filenames = write_records(folder);

  // A pair of a string and an int for each record.
  const auto parse_function = [](Tensor example_proto) {
    const tf::io::FeatureSpecs features = {{"image", tf::FixedLenFeature({}, tf::string, "")},
                                           {"label", tf::FixedLenFeature({}, tf::int32, 0)}};
    Nest parsed_features = tf::parse_single_example(example_proto, features);
    return tf::tuple(parsed_features["image"], parsed_features["label"]);
  };
  const auto dataset = tf::data::TFRecordDataset(filenames).map(parse_function);
  std::cout << dataset.output_types() << ' ' << dataset.output_shapes() << '\n';
  int i = 0;
  for (const Nest& element : dataset) {
    expect(element.part(0).item<std::string>() == image_of(i), "the bytes of an image");
    expect(element.part(1).item<int>() == (i % 10 == 0 ? 0 : i), "a label, or its default");
    ++i;
  }
  expect(i == kImages, "the records of both files, in order");

  // A feature that is missing, and has no default.
  try {
    for (const Nest& e : tf::data::TFRecordDataset(filenames))
      tf::parse_single_example(e, {{"label", tf::FixedLenFeature({}, tf::int64)}});
    expect(false, "an example without a label");
  } catch (const tf::errors::InvalidArgumentError& e) {
    expect(std::string(e.what()).find("\"label\" (int64) is missing") != std::string::npos,
           "the name of the feature");
  }

  // 100 epochs, with something to do at the end of each.
  const auto batched = tf::data::TFRecordDataset(filenames).map(parse_function).batch(32);
  int epochs = 0, batches = 0;
  for (int epoch = 0; epoch < 100; ++epoch) {
    auto iterator = batched.make_iterator();
    while (true) {
      try {
        iterator.get_next();
        ++batches;
      } catch (const tf::errors::OutOfRangeError&) {
        break;
      }
    }
    ++epochs;  // Here is the work of an epoch's end.
  }
  std::cout << epochs << " epochs, " << batches << " batches\n";

  // Shuffled, in batches of 32, without end: each round has every record once.
  const auto shuffled =
      tf::data::TFRecordDataset(filenames).map(parse_function).shuffle(10000).batch(32).repeat();
  std::set<std::string> seen;
  std::vector<std::string> order;
  for (const Nest& batch : shuffled.take(4))
    for (const std::string& image : batch.part(0).to_vector<std::string>()) {
      seen.insert(image);
      order.push_back(image);
    }
  expect(order.size() == kImages && seen.size() == kImages, "a permutation of the records");
  expect(order[0] != image_of(0) || order[1] != image_of(1) || order[2] != image_of(2),
         "another order than that of the files");

  tf::io::gfile::rmtree(folder);
}
