#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rill/data/dataset.h"

// Datasets that tensorflow_datasets prepared, by their names:
//
//   auto flowers = tf::datasets::load("tf_flowers", {.split = "train[:80%]", .as_supervised =
//   true}); for (auto& batch : flowers.batch(32)) ... flowers.info().features["label"].names; // of
//   the classes
//
//   auto [train, test] = tf::datasets::load("mnist", {.split = {"train", "test"}}).unpack<2>();
//
// Nothing is downloaded: what `tfds build` (or tfds.load in Python) wrote is read, from
// DATA_DIR/NAME[/CONFIG]/VERSION. So are folders of pictures, DATA_DIR/NAME/SPLIT/CLASS/*.jpg.
namespace rill RILL_API {
namespace datasets {

// What is known of a component of elements.
struct FeatureInfo {
  std::string kind;   // "Image", "ClassLabel", "Text", "Tensor", "Scalar", "Sequence"
  TensorShape shape;  // of an element
  DType dtype;
  std::vector<std::string> names;  // of the classes of a ClassLabel
  std::int64_t num_classes = 0;
  // InvalidArgument for a name or number that there is not.
  std::int64_t str2int(const std::string& name) const;
  const std::string& int2str(std::int64_t number) const;
};

struct SplitInfo {
  std::int64_t num_examples = 0, num_bytes = 0;
  std::vector<std::int64_t> shard_lengths;
  std::vector<std::string> files;  // one for each shard
};

struct DatasetInfo {
  std::string name, config, version, description, citation, data_dir;
  // By the paths of components: "label"; "objects/bbox" in a Sequence of dicts.
  std::map<std::string, FeatureInfo> features;
  std::map<std::string, SplitInfo> splits;
  std::optional<std::pair<std::string, std::string>> supervised_keys;
};
std::ostream& operator<<(std::ostream& os, const DatasetInfo& info);

// One or several expressions: "train", "train[:80%]", "train[10:20]", "train[-100:]+test", "all".
class Splits {
 public:
  Splits() = default;  // all splits, by name
  Splits(const char* one) : list_{one}, single_(true) {}
  Splits(std::string one) : list_{std::move(one)}, single_(true) {}
  Splits(std::initializer_list<const char*> several) : list_(several.begin(), several.end()) {}
  Splits(std::vector<std::string> several) : list_(std::move(several)) {}
  const std::vector<std::string>& list() const { return list_; }
  bool single() const { return single_; }
  bool all() const { return list_.empty() && !single_; }

 private:
  std::vector<std::string> list_;
  bool single_ = false;
};

struct LoadOptions {
  Splits split = {};          // not given: each by its name, loaded["train"]
  std::string data_dir = {};  // "": TFDS_DATA_DIR, else ~/tensorflow_datasets
  std::optional<std::int64_t> batch_size = {};
  bool shuffle_files = false;  // files in another order at each pass
  bool download = false;       // there is no download: an error says so
  bool as_supervised = false;  // pairs (input, label) instead of dicts
  bool with_info = false;      // accepted: info() is always there
  bool try_gcs = false;        // accepted as download is
  bool decode = true;          // false: images stay as the bytes of their files
};

// What load() gives: a dataset, where `split` is one expression; else several, by place or name.
class Loaded : public data::Dataset {
 public:
  const DatasetInfo& info() const { return *info_; }
  std::size_t num_splits() const { return parts_.size(); }
  // OutOfRange, NotFound.
  const data::Dataset& operator[](std::size_t i) const;
  const data::Dataset& operator[](const char* split) const;
  template <std::size_t N>
  std::array<data::Dataset, N> unpack() const {
    return unpack_(std::make_index_sequence<N>{});
  }

  // Library use.
  Loaded(std::shared_ptr<const DatasetInfo> info,
         std::vector<std::pair<std::string, data::Dataset>> parts, bool single);

 private:
  void require(std::size_t n) const;
  template <std::size_t... I>
  std::array<data::Dataset, sizeof...(I)> unpack_(std::index_sequence<I...>) const {
    require(sizeof...(I));
    return {(*this)[I]...};
  }
  std::shared_ptr<const DatasetInfo> info_;
  std::vector<std::pair<std::string, data::Dataset>> parts_;
};

// `name` may have a configuration and a version: "glue/sst2", "mnist:3.*.*". NotFound where the
// data is not prepared: it says where it was looked for and how to prepare it.
Loaded load(const std::string& name, const LoadOptions& options = {});

}  // namespace datasets
}  // namespace RILL_API
