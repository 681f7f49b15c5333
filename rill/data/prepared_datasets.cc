#include "rill/data/prepared_datasets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "rill/data/dataset_impl.h"
#include "rill/data/decode_picture_impl.h"
#include "rill/data/file_datasets.h"
#include "rill/data/prepared_features_impl.h"
#include "rill/data/split_expression_impl.h"
#include "rill/io/file.h"
#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"

namespace rill::datasets {
namespace {

using data::Dataset;
using Json = nlohmann::json;
namespace gfile = io::gfile;

// As tfds reads them: so many shards in turns, so many examples of each.
constexpr std::int64_t kShardsInTurns = 16, kExamplesInTurn = 16;

// A dataset whose number of elements is known from elsewhere.
class CountedDataset final : public data::UnaryDataset {
 public:
  CountedDataset(const Dataset& input, std::int64_t elements)
      : UnaryDataset(input), elements_(elements) {}
  const char* name() const override { return input().name(); }
  std::int64_t cardinality() const override { return elements_; }
  std::unique_ptr<data::Cursor> make_cursor(data::Place place) const override {
    return input().start(place);
  }

 private:
  std::int64_t elements_;
};

// What load() gives where several splits came: each of them is a dataset, all together are none.
class UnchosenDataset final : public data::DatasetImpl {
 public:
  explicit UnchosenDataset(std::string names) : names_(std::move(names)) {}
  const char* name() const override { return "_SplitsDataset"; }
  std::int64_t cardinality() const override { refuse(); }
  std::unique_ptr<data::Cursor> make_cursor(data::Place) const override { refuse(); }

 protected:
  data::ElementSpec make_spec() const override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    RILL_FAIL(
        invalid_argument,
        "[datasets.load] there are several splits: {}. Take one by its name, loaded[\"train\"], "
        "or say which in .split",
        names_);
  }
  std::string names_;
};

std::vector<std::int64_t> version_numbers(const std::string& text) {
  std::vector<std::int64_t> out;
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 9) ++at;
    if (at == begin) return {};
    out.push_back(std::atoll(text.substr(begin, at - begin).c_str()));
    if (i < 2 && (at >= text.size() || text[at++] != '.')) return {};
  }
  return at == text.size() ? out : std::vector<std::int64_t>();
}
bool fits(const std::string& version, const std::string& wanted) {
  if (wanted.empty()) return true;
  std::size_t v = 0, w = 0;
  for (int i = 0; i < 3; ++i) {
    const std::string a = version.substr(v, version.find('.', v) - v),
                      b = wanted.substr(w, wanted.find('.', w) - w);
    if (b != "*" && a != b) return false;
    v = std::min(version.find('.', v), version.size() - 1) + 1;
    w = std::min(wanted.find('.', w), wanted.size() - 1) + 1;
  }
  return true;
}

// NAME[/CONFIG][:VERSION]
struct Wanted {
  std::string name, config, version;
};
Wanted wanted_of(const std::string& text) {
  Wanted w;
  const std::size_t colon = text.find(':');
  w.name = text.substr(0, colon);
  if (colon != text.npos) w.version = text.substr(colon + 1);
  const std::size_t slash = w.name.find('/');
  if (slash != w.name.npos) {
    w.config = w.name.substr(slash + 1);
    w.name.resize(slash);
  }
  RILL_CHECK(!w.name.empty() && w.name.find("..") == w.name.npos, invalid_argument,
             "[datasets.load] \"{}\" is no name of a dataset; expected NAME[/CONFIG][:VERSION]",
             text);
  return w;
}

std::string default_data_dir() {
  if (const char* dir = std::getenv("TFDS_DATA_DIR"); dir && *dir) return dir;
  const char* home = std::getenv("HOME");
  return gfile::join({home ? home : ".", "tensorflow_datasets"});
}
std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> out;
  if (gfile::isdir(path))
    for (const std::string& name : gfile::listdir(path))
      if (name[0] != '.' && gfile::isdir(gfile::join({path, name}))) out.push_back(name);
  return out;
}
// The highest version in a folder that fits; "" where there is none.
std::string version_in(const std::string& path, const std::string& wanted) {
  std::string best;
  for (const std::string& name : folders_in(path)) {
    const std::vector<std::int64_t> numbers = version_numbers(name);
    if (numbers.empty() || !fits(name, wanted)) continue;
    if (best.empty() || version_numbers(best) < numbers) best = name;
  }
  return best;
}

// The folder of what was prepared; "" where there is none.
std::string prepared_folder(const std::string& data_dir, Wanted& w) {
  const std::string top = gfile::join({data_dir, w.name});
  if (w.config.empty()) {
    if (const std::string v = version_in(top, w.version); !v.empty())
      return w.version = v, gfile::join({top, v});
    std::vector<std::string> configs;
    for (const std::string& name : folders_in(top))
      if (!version_in(gfile::join({top, name}), w.version).empty()) configs.push_back(name);
    std::string list;
    for (const std::string& c : configs) list += (list.empty() ? "" : ", ") + c;
    RILL_CHECK(configs.size() <= 1, invalid_argument,
               "[datasets.load] \"{}\" was prepared in several configurations: {}. Say which, as "
               "\"{}/{}\"",
               w.name, list, w.name, configs.empty() ? "" : configs[0]);
    if (configs.empty()) return "";
    w.config = configs[0];
  }
  const std::string folder = gfile::join({top, w.config});
  const std::string v = version_in(folder, w.version);
  if (v.empty()) return "";
  w.version = v;
  return gfile::join({folder, v});
}

// ---- what tfds wrote
class InfoReader {
 public:
  explicit InfoReader(const std::string& folder)
      : folder_(folder), path_(gfile::join({folder, "dataset_info.json"})) {}

  DatasetInfo read() const {
    const Json json = Json::parse(io::file_contents(path_), nullptr, false);
    if (!json.is_object()) damaged("it is not JSON");
    DatasetInfo info{.name = text(json, "name"),
                     .config = text(json, "configName"),
                     .version = text(json, "version"),
                     .description = text(json, "description"),
                     .citation = text(json, "citation"),
                     .data_dir = folder_};
    const std::string format = text(json, "fileFormat");
    RILL_CHECK(
        format.empty() || format == "tfrecord", unimplemented,
        "[datasets.load] \"{}\" holds files of the format \"{}\"; TFRecords are read. Prepare "
        "it with --file_format=tfrecord",
        folder_, format);
    if (!json.contains("splits") || !json["splits"].is_array()) damaged("it has no splits");
    for (const Json& split : json["splits"]) add_split(split, &info);
    if (json.contains("supervisedKeys")) info.supervised_keys = supervised(json["supervisedKeys"]);
    return info;
  }

 private:
  [[noreturn]] void damaged(const char* why) const {
    RILL_FAIL(data_loss, "[datasets.load] \"{}\" is damaged: {}", path_, why);
  }
  static std::string text(const Json& json, const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  }
  std::int64_t number(const Json& json) const {
    std::int64_t n = -1;
    if (json.is_number_integer()) n = json.get<std::int64_t>();
    if (json.is_string()) n = std::atoll(json.get_ref<const std::string&>().c_str());
    if (n < 0) damaged("a number is none");
    return n;
  }
  void add_split(const Json& json, DatasetInfo* info) const {
    if (!json.is_object()) damaged("a split is no object");
    SplitInfo split;
    const std::string name = text(json, "name");
    if (name.empty()) damaged("a split has no name");
    if (json.contains("numBytes")) split.num_bytes = number(json["numBytes"]);
    if (!json.contains("shardLengths") || !json["shardLengths"].is_array())
      damaged("a split has no shardLengths");
    for (const Json& n : json["shardLengths"]) {
      split.shard_lengths.push_back(number(n));
      if (__builtin_add_overflow(split.num_examples, split.shard_lengths.back(),
                                 &split.num_examples))
        damaged("a split has more examples than can be counted");
    }
    std::string pattern = text(json, "filepathTemplate");
    if (pattern.empty()) pattern = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}";
    if (pattern.find('/') != pattern.npos) damaged("files of a split are in another folder");
    const std::size_t n = split.shard_lengths.size();
    for (std::size_t i = 0; i < n; ++i)
      split.files.push_back(gfile::join({folder_, file_name(pattern, info->name, name, i, n)}));
    info->splits.emplace(name, std::move(split));
  }
  static std::string file_name(std::string pattern, const std::string& dataset,
                               const std::string& split, std::size_t i, std::size_t n) {
    const std::pair<const char*, std::string> parts[] = {
        {"{DATASET}", dataset},
        {"{SPLIT}", split},
        {"{FILEFORMAT}", "tfrecord"},
        {"{SHARD_X_OF_Y}", format("{:05d}-of-{:05d}", i, n)},
        {"{SHARD_INDEX}", format("{:05d}", i)},
        {"{NUM_SHARDS}", format("{:05d}", n)}};
    for (const auto& [name, value] : parts)
      if (const std::size_t at = pattern.find(name); at != pattern.npos)
        pattern.replace(at, std::string_view(name).size(), value);
    return pattern;
  }
  std::optional<std::pair<std::string, std::string>> supervised(const Json& json) const {
    if (json.contains("tuple") && json["tuple"].contains("items")) {
      const Json& items = json["tuple"]["items"];
      if (items.size() >= 2) return {{text(items[0], "featureKey"), text(items[1], "featureKey")}};
    }
    const std::string input = text(json, "input"), output = text(json, "output");
    if (input.empty() || output.empty()) return {};
    return {{input, output}};
  }

  std::string folder_, path_;
};

struct Piece {
  std::string file;
  std::int64_t skip = 0, take = 0;
};
std::vector<Piece> pieces_of(const DatasetInfo& info, const std::string& expression) {
  std::vector<Piece> pieces;
  for (const data::SplitRange& range : data::split_ranges(expression, info.splits)) {
    const SplitInfo& split = info.splits.at(range.split);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < split.files.size(); ++i) {
      const std::int64_t last = first + split.shard_lengths[i],
                         begin = std::max(range.begin, first), end = std::min(range.end, last);
      if (begin < end) pieces.push_back({split.files[i], begin - first, end - begin});
      first = last;
    }
  }
  return pieces;
}

Dataset records_of(const std::vector<Piece>& pieces, bool shuffle) {
  std::vector<std::string> files;
  std::vector<std::int64_t> skips, takes;
  std::int64_t elements = 0;
  for (const Piece& p : pieces) {
    files.push_back(p.file);
    skips.push_back(p.skip);
    takes.push_back(p.take);
    elements += p.take;
  }
  const auto n = static_cast<std::int64_t>(files.size());
  Dataset each = Dataset::from_tensor_slices(
      tuple(files.empty() ? zeros({0}, string) : constant(files, string),
            files.empty() ? zeros({0}, int64) : constant(skips, int64),
            files.empty() ? zeros({0}, int64) : constant(takes, int64)));
  if (shuffle && n > 1) each = each.shuffle(n);
  const Dataset records = each.interleave(
      [](const Tensor& file, const Tensor& skip, const Tensor& take) {
        return data::TFRecordDataset(file).skip(skip).take(take);
      },
      {.cycle_length = kShardsInTurns,
       .block_length = kExamplesInTurn,
       .num_parallel_calls = n > 1 ? data::AUTOTUNE : 0});
  return data::make_dataset<CountedDataset>(records, elements);
}

Dataset finished(const Dataset& elements, const DatasetInfo& info, const LoadOptions& o) {
  Dataset out = elements;
  if (o.as_supervised) {
    RILL_CHECK(info.supervised_keys, invalid_argument,
               "[datasets.load] \"{}\" does not say which components are inputs and labels; leave "
               "as_supervised away, and take them from the dict",
               info.name);
    out = out.map([keys = *info.supervised_keys](const Nest& e) {
      return Nest::make({e[keys.first], e[keys.second]});
    });
  }
  const std::int64_t n = elements.cardinality();
  out = data::make_dataset<CountedDataset>(out, n);
  if (!o.batch_size) return out;
  const std::int64_t size = *o.batch_size == -1 ? std::max<std::int64_t>(n, 1) : *o.batch_size;
  return out.element_spec().holds_composite() ? out.batch(size) : out.padded_batch(size);
}

using Part = std::pair<std::string, Dataset>;
template <class F>
Loaded loaded_of(std::shared_ptr<DatasetInfo> info, const LoadOptions& o, F make) {
  std::vector<Part> parts;
  if (o.split.all())
    for (const auto& split : info->splits) parts.emplace_back(split.first, make(split.first));
  for (const std::string& expression : o.split.list())
    parts.emplace_back(expression, make(expression));
  return Loaded(std::move(info), std::move(parts), o.split.single());
}

Loaded load_prepared(const std::string& folder, const LoadOptions& o) {
  auto info = std::make_shared<DatasetInfo>(InfoReader(folder).read());
  const auto features = std::make_shared<const Feature>(read_features(folder));
  list_features(*features, &info->features);
  io::FeatureSpecs specs;
  add_specs(*features, &specs);
  const bool decode = o.decode;
  return loaded_of(info, o, [&](const std::string& expression) {
    const Dataset records = records_of(pieces_of(*info, expression), o.shuffle_files);
    const Dataset elements = records.map(
        [features, specs, decode](const Tensor& record) {
          return element_of(*features, io::parse_single_example(record, specs), decode);
        },
        {.num_parallel_calls = data::AUTOTUNE});
    return finished(data::make_dataset<CountedDataset>(elements, records.cardinality()), *info, o);
  });
}

// ---- folders of pictures: SPLIT/CLASS/*.jpg
bool is_picture(const std::string& name) {
  std::string low = name;
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  for (const char* ending : {".jpg", ".jpeg", ".png", ".bmp", ".gif"})
    if (low.ends_with(ending)) return true;
  return false;
}
struct Pictures {
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;
};
std::map<std::string, Pictures> pictures_in(const std::string& top,
                                            std::vector<std::string>* names) {
  std::set<std::string> classes;
  for (const std::string& split : folders_in(top))
    for (const std::string& label : folders_in(gfile::join({top, split}))) classes.insert(label);
  names->assign(classes.begin(), classes.end());
  std::map<std::string, Pictures> out;
  for (const std::string& split : folders_in(top)) {
    Pictures pictures;
    for (std::size_t c = 0; c < names->size(); ++c) {
      const std::string folder = gfile::join({top, split, (*names)[c]});
      if (!gfile::isdir(folder)) continue;
      for (const std::string& name : gfile::listdir(folder)) {
        if (!is_picture(name)) continue;
        pictures.paths.push_back(gfile::join({folder, name}));
        pictures.labels.push_back(static_cast<std::int64_t>(c));
      }
    }
    if (!pictures.paths.empty()) out.emplace(split, std::move(pictures));
  }
  return out;
}

Loaded load_pictures(const std::string& name, const std::string& top,
                     const std::map<std::string, Pictures>& pictures,
                     const std::vector<std::string>& classes, const LoadOptions& o) {
  auto info = std::make_shared<DatasetInfo>();
  info->name = name;
  info->data_dir = top;
  info->features["image"] = {
      .kind = "Image", .shape = TensorShape(Dims{-1, -1, 3}), .dtype = uint8};
  info->features["image/filename"] = {
      .kind = "Text", .shape = TensorShape::scalar(), .dtype = string};
  info->features["label"] = {.kind = "ClassLabel",
                             .shape = TensorShape::scalar(),
                             .dtype = int64,
                             .names = classes,
                             .num_classes = static_cast<std::int64_t>(classes.size())};
  info->supervised_keys = {"image", "label"};
  for (const auto& [split, p] : pictures) {
    SplitInfo s{.num_examples = static_cast<std::int64_t>(p.paths.size())};
    s.shard_lengths = {s.num_examples};
    info->splits.emplace(split, std::move(s));
  }
  const bool decode = o.decode;
  return loaded_of(info, o, [&](const std::string& expression) {
    Pictures all;
    for (const data::SplitRange& range : data::split_ranges(expression, info->splits)) {
      const Pictures& p = pictures.at(range.split);
      all.paths.insert(all.paths.end(), p.paths.begin() + range.begin, p.paths.begin() + range.end);
      all.labels.insert(all.labels.end(), p.labels.begin() + range.begin,
                        p.labels.begin() + range.end);
    }
    const auto n = static_cast<std::int64_t>(all.paths.size());
    Dataset files = Dataset::from_tensor_slices(
        n == 0 ? tuple(zeros({0}, string), zeros({0}, int64))
               : tuple(constant(all.paths, string), constant(all.labels, int64)));
    if (o.shuffle_files && n > 1) files = files.shuffle(n);
    const Dataset elements = files.map(
        [decode](const Tensor& path, const Tensor& label) {
          const Tensor bytes = io::read_file(path);
          return dict({{"image", decode ? data::decode_picture(bytes, 3) : bytes},
                       {"image/filename", path},
                       {"label", label}});
        },
        {.num_parallel_calls = data::AUTOTUNE});
    return finished(elements, *info, o);
  });
}

}  // namespace

std::int64_t FeatureInfo::str2int(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  RILL_CHECK(found != names.end(), invalid_argument, "[datasets] \"{}\" is none of the {} classes",
             name, names.size());
  return found - names.begin();
}
const std::string& FeatureInfo::int2str(std::int64_t number) const {
  RILL_CHECK(number >= 0 && number < static_cast<std::int64_t>(names.size()), invalid_argument,
             "[datasets] {} is no number of the {} classes", number, names.size());
  return names[static_cast<std::size_t>(number)];
}

Loaded::Loaded(std::shared_ptr<const DatasetInfo> info, std::vector<Part> parts, bool single)
    : info_(std::move(info)), parts_(std::move(parts)) {
  std::string names;
  for (const Part& part : parts_) names += (names.empty() ? "" : ", ") + part.first;
  static_cast<Dataset&>(*this) =
      single ? parts_[0].second : data::make_dataset<UnchosenDataset>(std::move(names));
}
const Dataset& Loaded::operator[](std::size_t i) const {
  RILL_CHECK(i < parts_.size(), out_of_range, "[datasets.load] there are {} splits; no number {}",
             parts_.size(), i);
  return parts_[i].second;
}
const Dataset& Loaded::operator[](const char* split) const {
  std::string names;
  for (const Part& part : parts_) {
    if (part.first == split) return part.second;
    names += (names.empty() ? "" : ", ") + part.first;
  }
  RILL_FAIL(not_found, "[datasets.load] there is no split \"{}\". There are: {}", split, names);
}
void Loaded::require(std::size_t n) const {
  RILL_CHECK(n == parts_.size(), invalid_argument,
             "[datasets.load] there are {} splits; they were taken as {}", parts_.size(), n);
}

std::ostream& operator<<(std::ostream& os, const DatasetInfo& info) {
  os << "tfds.core.DatasetInfo(\n    name='" << info.name << "',\n    full_name='" << info.name;
  if (!info.config.empty()) os << '/' << info.config;
  if (!info.version.empty()) os << '/' << info.version;
  os << "',\n    data_dir='" << info.data_dir << "',\n    features={\n";
  for (const auto& [path, f] : info.features) {
    os << "        '" << path << "': " << f.kind << "(shape=" << f.shape.to_string()
       << ", dtype=" << f.dtype.name();
    if (f.num_classes > 0) os << ", num_classes=" << f.num_classes;
    os << "),\n";
  }
  os << "    },\n    splits={\n";
  for (const auto& [name, s] : info.splits)
    os << "        '" << name << "': <SplitInfo num_examples=" << s.num_examples
       << ", num_shards=" << s.shard_lengths.size() << ">,\n";
  return os << "    },\n)";
}

Loaded load(const std::string& name, const LoadOptions& options) {
  Wanted wanted = wanted_of(name);
  const std::string data_dir = options.data_dir.empty() ? default_data_dir() : options.data_dir;
  const std::string folder = prepared_folder(data_dir, wanted);
  if (!folder.empty()) return load_prepared(folder, options);
  const std::string top = gfile::join({data_dir, wanted.name});
  std::vector<std::string> classes;
  const std::map<std::string, Pictures> pictures = pictures_in(top, &classes);
  if (!pictures.empty()) return load_pictures(wanted.name, top, pictures, classes, options);
  RILL_FAIL(
      not_found,
      "[datasets.load] \"{}\" is not there. It was looked for in \"{}\", where "
      "tensorflow_datasets puts NAME[/CONFIG]/VERSION with dataset_info.json. Nothing is "
      "downloaded: prepare it once where there is Python, by `tfds build {} "
      "--data_dir={}`, or copy its folder there; or give the data_dir that holds it. Pictures "
      "may lie in {}/SPLIT/CLASS",
      name, top, name, data_dir, top);
}

}  // namespace rill::datasets
