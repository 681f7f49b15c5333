// Files as datasets, by one thread: TFRecords, Examples and CSV. `tools/data_peers.py` times the
// same files in tf.data; the files stay in the folder that is named as the argument.
#include <cstdio>
#include <filesystem>
#include <string>

#include "benchmarks/budget.h"
#include "rill/rill.h"

namespace tf = rill;
using tf::data::Dataset;

namespace {

constexpr int kRecords = 20000, kExamples = 20000, kRows = 200000, kBatch = 256;

void speed_of(const char* what, double units_per_second, const char* unit, double gate,
              double goal) {
  std::printf("%-62s %10.2f %s   gate %6.2f  goal %6.2f  %s\n", what, units_per_second, unit, gate,
              goal, budget::verdict(units_per_second >= goal, units_per_second >= gate));
}

void cost_of(const char* what, double seconds, std::int64_t elements, double gate, double goal) {
  const double ns = 1e9 * seconds / static_cast<double>(elements);
  std::printf("%-62s %10.2f ns   gate %6.0f  goal %6.0f  %s\n", what, ns, gate, goal,
              budget::verdict(ns <= goal, ns <= gate));
}

void drain(const Dataset& dataset) {
  tf::Nest element;
  for (auto it = dataset.iter(); it.next(&element);) {
  }
}

std::string records_file(const std::string& folder) {
  const std::string path = folder + "/records.tfrecord";
  tf::io::TFRecordWriter writer(path);
  for (int i = 0; i < kRecords; ++i)
    writer.write(std::string(1024, static_cast<char>('a' + i % 26)));
  writer.close();
  return path;
}
std::string examples_file(const std::string& folder) {
  const std::string path = folder + "/examples.tfrecord";
  tf::io::TFRecordWriter writer(path);
  for (int i = 0; i < kExamples; ++i) {
    tf::train::Example example;
    for (int k = 0; k < 16; ++k) {
      const std::string key = "feature_" + std::to_string(k);
      if (k % 2 == 0)
        example.features.feature[key].float_list.value = {static_cast<float>(i) / 7};
      else
        example.features.feature[key].int64_list.value = {i * k};
    }
    writer.write(example.SerializeToString());
  }
  writer.close();
  return path;
}
std::string csv_file(const std::string& folder) {
  const std::string path = folder + "/rows.csv";
  tf::io::gfile::GFile file(path, "w");
  for (int i = 0; i < kRows; ++i) {
    char row[200];
    const int n =
        std::snprintf(row, sizeof row, "%.6f,%.4f,%d.5,%.6e,%.3f,%.2f,%.1f,%.6f\n", i * 0.001,
                      i / 3., i, i * 1e-5, i * 0.7, i * 1.1, i * 2.5, 1. / (i + 1));
    file.write({row, static_cast<std::size_t>(n)});
  }
  file.close();
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder =
      argc > 1 ? argv[1] : (std::filesystem::temp_directory_path() / "rill_data_files").string();
  tf::io::gfile::makedirs(folder);
  const std::string records = records_file(folder), examples = examples_file(folder),
                    csv = csv_file(folder);

  double s = budget::best([&] { drain(tf::data::TFRecordDataset(records)); }, 1, 30);
  speed_of("TFRecords of 1 kB, with their checksums", kRecords * 1024 / s / 1e9, "GB/s", 3, 5);
  s = budget::best([&] { drain(tf::data::TFRecordDataset(records).batch(kBatch)); }, 1, 30);
  speed_of("the same in batches of 256", kRecords * 1024 / s / 1e9, "GB/s", 3, 5);

  tf::io::FeatureSpecs features;
  for (int k = 0; k < 16; ++k)
    features.emplace("feature_" + std::to_string(k),
                     tf::io::FixedLenFeature({}, k % 2 == 0 ? tf::float32 : tf::int64));
  s = budget::best(
      [&] {
        drain(tf::data::TFRecordDataset(examples).batch(kBatch).map(
            [&](const tf::Tensor& batch) { return tf::io::parse_example(batch, features); }));
      },
      1, 30);
  speed_of("Examples of 16 features, read and parsed in batches of 256", kExamples / s / 1e6, "M/s",
           1, 2);
  s = budget::best(
      [&] {
        drain(tf::data::TFRecordDataset(examples).map(
            [&](const tf::Tensor& one) { return tf::io::parse_single_example(one, features); }));
      },
      1, 10);
  std::printf("%-62s %10.2f M/s\n", "the same one by one", kExamples / s / 1e6);

  const double megabytes = static_cast<double>(std::filesystem::file_size(csv)) / 1e6;
  const std::vector<tf::data::RecordDefault> columns(8, tf::float32);
  s = budget::best([&] { drain(tf::data::CsvDataset(csv, columns).batch(kBatch)); }, 1, 20);
  speed_of("CSV of 8 columns of floats, in batches of 256", megabytes / s, "MB/s", 200, 400);
  s = budget::best([&] { drain(tf::data::CsvDataset(csv, columns)); }, 1, 10);
  std::printf("%-62s %10.2f MB/s\n", "the same row by row", megabytes / s);

  constexpr std::int64_t kElements = 200'000;
  s = budget::best(
      [&] { drain(Dataset::range(kElements).map([](std::int64_t x) { return x + 1; })); }, 1, 20);
  cost_of("range(200000).map of a function of a number, an element", s, kElements, 300, 150);
  s = budget::best([&] { drain(Dataset::range(kElements).shuffle(10000)); }, 1, 20);
  cost_of("range(200000).shuffle(10000), an element", s, kElements, 200, 100);
  if (argc <= 1) tf::io::gfile::rmtree(folder);
}
