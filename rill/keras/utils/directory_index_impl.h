#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "rill/keras/utils/directory_dataset.h"

// What datasets of folders share.
namespace rill::keras::utils {

struct IndexOptions {
  const char* function;  // for errors
  const char* kind;      // "images"
  std::span<const std::string_view> endings;
  Labels labels;
  std::optional<std::string> label_mode;
  std::vector<std::string> class_names;
  std::optional<std::int64_t> batch_size;
  bool shuffle = true;
  std::optional<std::uint32_t> seed;
  double validation_split = 0;
  std::string subset;
  bool follow_links = false, verbose = true;
};

// The datasets of the parts that `subset` asks for: one, or two of "both". `load` makes an element
// of the path of a file.
std::vector<DirectoryDataset> index_directory(const std::string& directory, IndexOptions options,
                                              const std::function<Tensor(const Tensor&)>& load);

template <class Options>
IndexOptions index_options(const Options& o, const char* function, const char* kind,
                           std::span<const std::string_view> endings) {
  return {.function = function,
          .kind = kind,
          .endings = endings,
          .labels = o.labels,
          .label_mode = o.label_mode,
          .class_names = o.class_names,
          .batch_size = o.batch_size,
          .shuffle = o.shuffle,
          .seed = o.seed,
          .validation_split = o.validation_split,
          .subset = o.subset,
          .follow_links = o.follow_links,
          .verbose = o.verbose};
}

}  // namespace rill::keras::utils
