#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>
#include <set>

#include "rill/base/check.h"
#include "rill/io/gfile.h"
#include "rill/keras/utils/directory_index_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/np/legacy_generator_impl.h"

namespace rill::keras::utils {
namespace {

namespace fs = std::filesystem;
namespace gfile = io::gfile;
using data::Dataset;
using Names = std::vector<std::string>;

std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}
bool ends_with_one(const std::string& name, std::span<const std::string_view> endings) {
  const std::string low = lower_case(name);
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view e) { return low.ends_with(e); });
}

struct Entry {
  std::string folder, name;
};
// The files of a folder and of those below it: folder by folder in the order of their paths, as
// Keras has them.
std::vector<Entry> files_below(const std::string& top, const IndexOptions& o) {
  std::vector<Entry> found;
  std::set<fs::path> seen;  // a link may lead back
  const auto visit = [&](const auto& self, const std::string& folder) -> void {
    if (!seen.insert(fs::canonical(folder)).second) return;
    for (const std::string& name : gfile::listdir(folder)) {
      const std::string path = gfile::join({folder, name});
      if (!gfile::isdir(path)) {
        if (ends_with_one(name, o.endings)) found.push_back({folder, name});
      } else if (o.follow_links || !fs::is_symlink(path)) {
        self(self, path);
      }
    }
  };
  visit(visit, top);
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
  });
  return found;
}

struct Index {
  Names paths, class_names;
  std::vector<std::int64_t> labels;
};

void check_options(const IndexOptions& o) {
  if (o.label_mode)
    RILL_CHECK(
        *o.label_mode == "int" || *o.label_mode == "categorical" || *o.label_mode == "binary",
        invalid_argument,
        "[{}] label_mode is \"{}\"; expected \"int\", \"categorical\", \"binary\", or none",
        o.function, *o.label_mode);
  RILL_CHECK(o.validation_split >= 0 && o.validation_split < 1, invalid_argument,
             "[{}] validation_split is {}; expected a share between 0 and 1", o.function,
             o.validation_split);
  RILL_CHECK((o.validation_split > 0) == !o.subset.empty(), invalid_argument,
             "[{}] validation_split and subset are set together, or neither", o.function);
  RILL_CHECK(
      o.subset.empty() || o.subset == "training" || o.subset == "validation" || o.subset == "both",
      invalid_argument, "[{}] subset is \"{}\"; expected \"training\" or \"validation\"",
      o.function, o.subset);
  RILL_CHECK(o.validation_split == 0 || !o.shuffle || o.seed, invalid_argument,
             "[{}] files are shuffled and then split: give a seed, so that no file is in both "
             "parts",
             o.function);
  RILL_CHECK(o.labels.inferred() || o.class_names.empty(), invalid_argument,
             "[{}] class_names can only be given where labels are inferred from folders",
             o.function);
  RILL_CHECK(!o.batch_size || *o.batch_size > 0, invalid_argument,
             "[{}] batch_size is {}; expected more than zero, or none for single elements",
             o.function, o.batch_size.value_or(0));
}

Names class_folders(const std::string& directory, const IndexOptions& o) {
  Names found;
  for (const std::string& name : gfile::listdir(directory))
    if (name[0] != '.' && gfile::isdir(gfile::join({directory, name}))) found.push_back(name);
  if (o.class_names.empty()) return found;
  for (const std::string& name : o.class_names)
    RILL_CHECK(std::find(found.begin(), found.end(), name) != found.end(), invalid_argument,
               "[{}] class_names holds \"{}\", which is no folder in \"{}\". There are: {}",
               o.function, name, directory, [&] {
                 std::string all;
                 for (const std::string& f : found) all += (all.empty() ? "" : ", ") + f;
                 return all;
               }());
  return o.class_names;
}

Index index_of(const std::string& directory, const IndexOptions& o) {
  RILL_CHECK(gfile::isdir(directory), not_found, "[{}] \"{}\" is not a folder", o.function,
             directory);
  Index index;
  if (o.labels.inferred()) {
    index.class_names = class_folders(directory, o);
    for (std::size_t c = 0; c < index.class_names.size(); ++c)
      for (const Entry& e : files_below(gfile::join({directory, index.class_names[c]}), o)) {
        index.paths.push_back(gfile::join({e.folder, e.name}));
        index.labels.push_back(static_cast<std::int64_t>(c));
      }
    return index;
  }
  for (const Entry& e : files_below(directory, o))
    index.paths.push_back(gfile::join({e.folder, e.name}));
  if (o.labels.none()) return index;
  index.labels = o.labels.list();
  RILL_CHECK(index.labels.size() == index.paths.size(), invalid_argument,
             "[{}] there are {} labels, and {} files in \"{}\"; expected one for each", o.function,
             index.labels.size(), index.paths.size(), directory);
  for (std::int64_t l : std::set<std::int64_t>(index.labels.begin(), index.labels.end()))
    index.class_names.push_back(std::to_string(l));
  return index;
}

Index part_of(const Index& all, std::size_t begin, std::size_t end) {
  Index part{.class_names = all.class_names};
  const auto cut = [&](const auto& list) {
    return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                        list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  part.paths = cut(all.paths);
  if (!all.labels.empty()) part.labels = cut(all.labels);
  return part;
}

Dataset label_dataset(const Index& index, const std::string& mode) {
  const Tensor labels = cast(constant(index.labels, int64), int32);
  if (mode == "int") return Dataset::from_tensor_slices(labels);
  if (mode == "binary") return Dataset::from_tensor_slices(expand_dims(cast(labels, float32), -1));
  return Dataset::from_tensor_slices(
      one_hot(labels, static_cast<std::int64_t>(index.class_names.size())));
}

DirectoryDataset dataset_of(const Index& index, const IndexOptions& o, bool shuffle,
                            std::uint32_t seed, const std::function<Tensor(const Tensor&)>& load) {
  const Dataset paths = Dataset::from_tensor_slices(constant(index.paths, string));
  const bool labelled = o.label_mode && !o.labels.none();
  Dataset all = labelled ? Dataset::zip({paths, label_dataset(index, *o.label_mode)}) : paths;
  if (shuffle)
    all = all.shuffle(o.batch_size ? *o.batch_size * 8 : 1024,
                      {.seed = static_cast<std::int64_t>(seed)});
  const data::MapOptions parallel{.num_parallel_calls = data::AUTOTUNE};
  if (labelled)
    all = all.map(
        [load](const Tensor& path, const Tensor& label) { return tuple(load(path), label); },
        parallel);
  else
    all = all.map([load](const Tensor& path) { return load(path); }, parallel);
  if (o.batch_size) all = all.batch(*o.batch_size);
  return {all.prefetch(data::AUTOTUNE), index.class_names, index.paths};
}

}  // namespace

Labels::Labels(const char* inferred) {
  RILL_CHECK(std::string_view(inferred) == "inferred", invalid_argument,
             "[dataset_from_directory] labels is \"{}\"; expected \"inferred\", a list of numbers, "
             "or none",
             inferred);
}

std::vector<DirectoryDataset> index_directory(const std::string& directory, IndexOptions o,
                                              const std::function<Tensor(const Tensor&)>& load) {
  check_options(o);
  if (!o.label_mode) o.labels = std::nullopt;
  Index all = index_of(directory, o);
  if (o.verbose) {
    std::cout << "Found " << all.paths.size() << " files";
    if (!o.labels.none()) std::cout << " belonging to " << all.class_names.size() << " classes";
    std::cout << ".\n";
  }
  RILL_CHECK(!o.label_mode || *o.label_mode != "binary" || all.class_names.size() == 2,
             invalid_argument,
             "[{}] label_mode is \"binary\", and there are {} classes; expected 2", o.function,
             all.class_names.size());
  const std::uint32_t seed = o.seed ? *o.seed : std::random_device{}() % 1'000'000;
  if (o.shuffle) {
    np::LegacyGenerator random(seed);
    const std::vector<std::int64_t> order = random.shuffled(all.paths.size());
    const Index sorted = all;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<std::size_t>(order[i]);
      all.paths[i] = sorted.paths[from];
      if (!sorted.labels.empty()) all.labels[i] = sorted.labels[from];
    }
  }
  std::vector<DirectoryDataset> out;
  const auto add = [&](const Index& part, const char* which, bool shuffle) {
    RILL_CHECK(!part.paths.empty(), invalid_argument,
               "[{}] there are no {}{} in \"{}\". Files end with {}", o.function, which, o.kind,
               directory, [&] {
                 std::string list;
                 for (std::string_view e : o.endings)
                   list += (list.empty() ? "" : ", ") + std::string(e);
                 return list;
               }());
    out.push_back(dataset_of(part, o, shuffle, seed, load));
  };
  if (o.subset.empty()) {
    add(all, "", o.shuffle);
    return out;
  }
  const std::size_t n = all.paths.size();
  const auto held = static_cast<std::size_t>(o.validation_split * static_cast<double>(n));
  if (o.subset != "validation") {
    if (o.verbose) std::cout << "Using " << n - held << " files for training.\n";
    add(part_of(all, 0, n - held), "training ", o.shuffle);
  }
  if (o.subset != "training") {
    if (o.verbose) std::cout << "Using " << held << " files for validation.\n";
    add(part_of(all, n - held, n), "validation ", o.shuffle && o.subset != "both");
  }
  return out;
}

}  // namespace rill::keras::utils
