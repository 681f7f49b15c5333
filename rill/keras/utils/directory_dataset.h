#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/data/dataset.h"

// Folders of files as datasets, with a class for each folder in them:
//
//   auto train = keras::utils::image_dataset_from_directory("train", {.image_size = {180, 180}});
//   model.fit(train, {.epochs = 3});
//   train.class_names();   // the names of the folders
namespace rill RILL_API {
namespace keras {
namespace utils {

// A dataset that knows the files that it is made of.
class DirectoryDataset : public data::Dataset {
 public:
  // In the order of their numbers.
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<std::string>& file_paths() const { return file_paths_; }

  // Library use.
  DirectoryDataset(const Dataset& dataset, std::vector<std::string> class_names,
                   std::vector<std::string> file_paths)
      : Dataset(dataset),
        class_names_(std::move(class_names)),
        file_paths_(std::move(file_paths)) {}

 private:
  std::vector<std::string> class_names_, file_paths_;
};

// Where labels come from.
class Labels {
 public:
  // "inferred": from the folders.
  Labels(const char* inferred = "inferred");
  Labels(std::nullopt_t) : kind_(Kind::none) {}  // elements have no labels
  // One for each file, in the order of their paths.
  Labels(std::vector<std::int64_t> list) : kind_(Kind::given), list_(std::move(list)) {}
  Labels(std::initializer_list<int> list) : kind_(Kind::given), list_(list.begin(), list.end()) {}

  bool inferred() const { return kind_ == Kind::inferred; }
  bool none() const { return kind_ == Kind::none; }
  const std::vector<std::int64_t>& list() const { return list_; }

 private:
  enum class Kind { inferred, none, given } kind_ = Kind::inferred;
  std::vector<std::int64_t> list_;
};

struct ImageDatasetOptions {
  Labels labels = {};
  // "int": int32 numbers of classes; "categorical": one-hot rows; "binary": 0 or 1 as float32 [1];
  // none: no labels.
  std::optional<std::string> label_mode = "int";
  std::vector<std::string> class_names = {};    // which folders, in this order; none: all, sorted
  std::string color_mode = "rgb";               // or "rgba", "grayscale"
  std::optional<std::int64_t> batch_size = 32;  // none: single elements
  std::array<std::int64_t, 2> image_size = {256, 256};  // height and width
  bool shuffle = true;
  std::optional<std::uint32_t> seed = {};  // files are then in the order in which Keras has them
  double validation_split = 0;             // the share of files that is for validation
  std::string subset = {};                 // "training" or "validation", with validation_split
  std::string interpolation = "bilinear";
  bool follow_links = false;
  // Instead of changing the shape of images: cut them, or pad them.
  bool crop_to_aspect_ratio = false, pad_to_aspect_ratio = false;
  std::string data_format = "channels_last";
  bool verbose = true;  // prints how many files there are
};
// The images (.bmp, .gif, .jpeg, .jpg, .png) in a folder and those below it, as float32 [height,
// width, channels], 0 to 255. NotFound for a folder that is not there; InvalidArgument for one
// without images.
DirectoryDataset image_dataset_from_directory(const std::string& directory,
                                              const ImageDatasetOptions& options = {});
// Training and validation: what Keras returns for subset="both".
std::pair<DirectoryDataset, DirectoryDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDatasetOptions& options);

struct TextDatasetOptions {
  Labels labels = {};
  std::optional<std::string> label_mode = "int";
  std::vector<std::string> class_names = {};
  std::optional<std::int64_t> batch_size = 32;
  std::int64_t max_length = 0;  // of a text, in bytes; 0: all of it
  bool shuffle = true;
  std::optional<std::uint32_t> seed = {};
  double validation_split = 0;
  std::string subset = {};
  bool follow_links = false;
  bool verbose = true;
};
// The same of texts (.txt), as strings.
DirectoryDataset text_dataset_from_directory(const std::string& directory,
                                             const TextDatasetOptions& options = {});
std::pair<DirectoryDataset, DirectoryDataset> text_datasets_from_directory(
    const std::string& directory, const TextDatasetOptions& options);

}  // namespace utils
namespace preprocessing {
using utils::image_dataset_from_directory, utils::text_dataset_from_directory;
}
}  // namespace keras
}  // namespace RILL_API
