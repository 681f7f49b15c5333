#include "rill/data/dataset_impl.h"
#include "rill/data/filenames.h"
#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"

namespace rill::data {

Dataset Dataset::list_files(const Filenames& file_pattern, ListFilesOptions o) {
  RILL_CHECK(!file_pattern.dataset(), invalid_argument,
             "[list_files] the patterns are a dataset; expected strings");
  if (file_pattern.is_symbolic()) {
    const Tensor& symbol = file_pattern.symbol();
    return make_recipe(from_tensor_slices(zeros({1}, string)), {}, {symbol},
                       [symbol, o](const Bindings& b) { return list_files(b.of(symbol), o); });
  }
  std::vector<std::string> found = io::gfile::glob(file_pattern.list());
  if (found.empty()) {
    std::string patterns;
    for (const std::string& p : file_pattern.list()) patterns += (patterns.empty() ? "" : ", ") + p;
    RILL_FAIL(not_found, "[list_files] No files matched pattern: {}", patterns);
  }
  std::sort(found.begin(), found.end());
  const auto n = static_cast<std::int64_t>(found.size());
  const Dataset files = from_tensor_slices(constant(found, string));
  return o.shuffle ? files.shuffle(n, {.seed = o.seed}) : files;
}

}  // namespace rill::data
