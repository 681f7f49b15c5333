#include "rill/data/prepared_features_impl.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rill/base/check.h"
#include "rill/data/dataset_impl.h"
#include "rill/data/decode_picture_impl.h"
#include "rill/io/file.h"
#include "rill/io/gfile.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/ragged_ops.h"

namespace rill::datasets {
namespace {

using Json = nlohmann::json;
constexpr int kDeepest = 32;

class FeatureReader {
 public:
  FeatureReader(std::string folder)
      : folder_(std::move(folder)), path_(io::gfile::join({folder_, "features.json"})) {}

  Feature read() const {
    const Json json = Json::parse(io::file_contents(path_), nullptr, false);
    RILL_CHECK(json.is_object(), data_loss, "[datasets.load] \"{}\" is not JSON", path_);
    return feature(json, "", {}, 0);
  }

 private:
  [[noreturn]] void damaged(const std::string& at, const char* why) const {
    RILL_FAIL(data_loss, "[datasets.load] \"{}\" is damaged at feature \"{}\": {}", path_, at, why);
  }
  const Json& member(const Json& json, const char* key, const std::string& at) const {
    if (!json.is_object() || !json.contains(key)) damaged(at, key);
    return json[key];
  }
  // Protocol buffers write int64 as text.
  std::int64_t number(const Json& json, const std::string& at) const {
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_string()) {
      const auto& text = json.get_ref<const std::string&>();
      char* end = nullptr;
      const long long v = std::strtoll(text.c_str(), &end, 10);
      if (!text.empty() && *end == '\0') return v;
    }
    damaged(at, "a number is none");
  }
  TensorShape shape(const Json& json, const std::string& at) const {
    Dims dims;
    if (json.contains("shape") && json["shape"].is_object() && json["shape"].contains("dimensions"))
      for (const Json& d : json["shape"]["dimensions"]) {
        const std::int64_t n = number(d, at);
        if (n < -1) damaged(at, "a size is negative");
        dims.push_back(n);
      }
    return TensorShape(dims);
  }
  DType dtype(const Json& json, const std::string& at) const {
    const Json& text = member(json, "dtype", at);
    if (!text.is_string()) damaged(at, "dtype");
    std::string name = text.get<std::string>();
    if (name == "object") name = "string";
    for (int c = 1; c < DType::kCount; ++c)
      if (name == DType(static_cast<DType::Code>(c)).name())
        return DType(static_cast<DType::Code>(c));
    damaged(at, "its dtype is unknown");
  }
  std::vector<std::string> class_names(const std::string& at) const {
    std::string name = at;
    std::replace(name.begin(), name.end(), '/', '-');
    const std::string path = io::gfile::join({folder_, name + ".labels.txt"});
    std::vector<std::string> names;
    if (!io::file_exists(path)) return names;
    io::gfile::GFile file(path);
    for (std::string line = file.readline(); !line.empty(); line = file.readline()) {
      while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
      names.push_back(line);
    }
    return names;
  }

  Feature feature(const Json& json, const std::string& at, std::vector<std::int64_t> lengths,
                  int depth) const {
    if (depth > kDeepest) damaged(at, "it is too deep");
    if (!json.is_object()) damaged(at, "it is no object");
    std::string python = json.value("pythonClassName", "");
    python = python.substr(python.rfind('.') + 1);
    Feature f{.path = at, .lengths = lengths};
    f.info.kind = python;
    if (json.contains("featuresDict")) {
      f.kind = Feature::Kind::dict;
      const Json& items = member(json["featuresDict"], "features", at);
      if (!items.is_object()) damaged(at, "features");
      for (const auto& [key, item] : items.items())
        f.items.emplace_back(key,
                             feature(item, at.empty() ? key : at + "/" + key, lengths, depth + 1));
    } else if (json.contains("sequence")) {
      const Json& sequence = json["sequence"];
      lengths.push_back(sequence.contains("length") ? number(sequence["length"], at) : -1);
      f = feature(member(sequence, "feature", at), at, std::move(lengths), depth + 1);
      if (f.kind != Feature::Kind::dict) f.info.kind = "Sequence";
    } else if (json.contains("image")) {
      f.kind = Feature::Kind::image;
      f.info.shape = shape(json["image"], at);
      f.info.dtype = json["image"].contains("dtype") ? dtype(json["image"], at) : DType(uint8);
    } else if (json.contains("classLabel")) {
      f.kind = Feature::Kind::label;
      f.info.shape = TensorShape::scalar();
      f.info.dtype = int64;
      f.info.num_classes = number(member(json["classLabel"], "numClasses", at), at);
      f.info.names = class_names(at);
    } else if (json.contains("text")) {
      f.kind = Feature::Kind::text;
      f.info.shape = TensorShape::scalar();
      f.info.dtype = string;
    } else if (json.contains("tensor") || json.contains("boundingBox")) {
      const Json& tensor = json.contains("tensor") ? json["tensor"] : json["boundingBox"];
      f.info.shape = shape(tensor, at);
      f.info.dtype = tensor.contains("dtype") ? dtype(tensor, at) : DType(float32);
      if (json.contains("boundingBox") && f.info.shape.rank() == 0) f.info.shape = TensorShape({4});
      const std::string encoding = tensor.value("encoding", "none");
      f.raw = encoding == "bytes";
      RILL_CHECK(encoding == "none" || f.raw, unimplemented,
                 "[datasets.load] feature \"{}\" is written as \"{}\"; plain values and bytes are "
                 "read",
                 at, encoding);
    } else {
      RILL_FAIL(unimplemented,
                "[datasets.load] feature \"{}\" is a {}; Image, ClassLabel, Text, Tensor, Scalar, "
                "BBoxFeature, and dicts and Sequences of them are read",
                at, python);
    }
    if (f.kind == Feature::Kind::tensor) require_readable(f);
    return f;
  }
  static void require_readable(const Feature& f) {
    for (int d = f.lengths.empty() ? 1 : 0; d < f.info.shape.rank(); ++d)
      RILL_CHECK(
          f.info.shape.dim(d) >= 0, unimplemented,
          "[datasets.load] feature \"{}\" has shape {}{}; one size that is not known is read, "
          "the first",
          f.path, f.info.shape, f.lengths.empty() ? "" : " in a Sequence");
  }

  std::string folder_, path_;
};

// Its values in an Example: of a sequence of sequences those of all, one after the other.
std::string flat_key(const Feature& f) {
  return f.lengths.size() > 1 ? f.path + "/ragged_flat_values" : f.path;
}
std::string lengths_key(const Feature& f, std::size_t level) {
  return f.path + "/ragged_row_lengths_" + std::to_string(level);
}
bool is_bytes(const Feature& f) { return f.kind == Feature::Kind::image || f.raw; }

// One value from what stands in the file.
Tensor value_of(const Feature& f, const Tensor& stored, bool decode) {
  if (f.kind == Feature::Kind::image && decode) {
    const std::int64_t channels = f.info.shape.rank() == 3 ? f.info.shape.dim(2) : 0;
    return data::decode_picture(stored, std::max<std::int64_t>(channels, 0));
  }
  if (f.raw) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t d : f.info.shape.dims()) sizes.push_back(d);
    return reshape(io::decode_raw(stored, f.info.dtype), constant(sizes, int64));
  }
  return stored;
}

}  // namespace

Feature read_features(const std::string& folder) { return FeatureReader(folder).read(); }

void add_specs(const Feature& f, io::FeatureSpecs* specs) {
  if (f.kind == Feature::Kind::dict) {
    for (const auto& item : f.items) add_specs(item.second, specs);
    return;
  }
  const DType dtype = is_bytes(f) ? DType(string) : f.info.dtype;
  TensorShape shape = is_bytes(f) ? TensorShape::scalar() : f.info.shape;
  const io::FixedLenSequenceFeature::Options may_lack{.allow_missing = true};
  if (f.lengths.empty()) {
    if (shape.rank() > 0 && shape.dim(0) < 0)
      specs->emplace(f.path, io::FixedLenSequenceFeature(data::row_shape(shape), dtype, may_lack));
    else
      specs->emplace(f.path, io::FixedLenFeature(shape, dtype));
    return;
  }
  specs->emplace(flat_key(f), io::FixedLenSequenceFeature(shape, dtype, may_lack));
  for (std::size_t level = 0; level + 1 < f.lengths.size(); ++level)
    specs->emplace(lengths_key(f, level),
                   io::FixedLenSequenceFeature(TensorShape::scalar(), int64, may_lack));
}

Nest element_of(const Feature& f, const Nest& parsed, bool decode) {
  if (f.kind == Feature::Kind::dict) {
    std::vector<std::pair<std::string, Nest>> items;
    for (const auto& [key, item] : f.items)
      items.emplace_back(key, element_of(item, parsed, decode));
    return Nest(std::move(items));
  }
  Tensor stored = parsed[flat_key(f)].as_tensor();
  if (f.lengths.empty()) return Nest(value_of(f, stored, decode));
  if (is_bytes(f) && (f.raw || decode)) {
    std::vector<Tensor> values;
    for (std::int64_t i = 0; i < stored.shape().dim(0); ++i)
      values.push_back(value_of(f, stored[i], decode));
    if (values.empty()) {
      Dims none{0};
      for (std::int64_t d : f.info.shape.dims()) none.push_back(std::max<std::int64_t>(d, 0));
      stored = zeros(TensorShape(none), f.info.dtype);
    } else {
      stored = stack(values, 0);
    }
  }
  if (f.lengths.size() == 1) return Nest(stored);
  std::vector<Tensor> lengths;
  for (std::size_t level = 0; level + 1 < f.lengths.size(); ++level)
    lengths.push_back(parsed[lengths_key(f, level)].as_tensor());
  return RaggedTensor::from_nested_row_lengths(stored, lengths, true).to_nest();
}

void list_features(const Feature& f, std::map<std::string, FeatureInfo>* out) {
  if (f.kind != Feature::Kind::dict) {
    FeatureInfo info = f.info;
    Dims dims;
    for (std::int64_t n : f.lengths) dims.push_back(n);
    for (std::int64_t n : f.info.shape.dims()) dims.push_back(n);
    info.shape = TensorShape(dims);
    out->emplace(f.path, std::move(info));
  }
  for (const auto& item : f.items) list_features(item.second, out);
}

}  // namespace rill::datasets
