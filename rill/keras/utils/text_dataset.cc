// Folders of texts as datasets.
#include "rill/base/check.h"
#include "rill/keras/utils/directory_index_impl.h"
#include "rill/ops/io_ops.h"
#include "rill/ops/string_ops.h"

namespace rill::keras::utils {
namespace {

constexpr std::string_view kTextEndings[] = {".txt"};

std::vector<DirectoryDataset> text_datasets(const std::string& directory,
                                            const TextDatasetOptions& o) {
  const std::int64_t most = o.max_length;
  const auto load = [most](const Tensor& path) {
    const Tensor text = io::read_file(path);
    return most > 0 ? strings::substr(text, 0, most) : text;
  };
  return index_directory(
      directory, index_options(o, "text_dataset_from_directory", "text files", kTextEndings), load);
}

}  // namespace

DirectoryDataset text_dataset_from_directory(const std::string& directory,
                                             const TextDatasetOptions& options) {
  RILL_CHECK(options.subset != "both", invalid_argument,
             "[text_dataset_from_directory] subset is \"both\": text_datasets_from_directory gives "
             "two datasets");
  return text_datasets(directory, options)[0];
}
std::pair<DirectoryDataset, DirectoryDataset> text_datasets_from_directory(
    const std::string& directory, const TextDatasetOptions& options) {
  TextDatasetOptions both = options;
  both.subset = "both";
  const std::vector<DirectoryDataset> parts = text_datasets(directory, both);
  return {parts[0], parts[1]};
}

}  // namespace rill::keras::utils
