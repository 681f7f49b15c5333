#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/error.h"

// TensorFlow's messages for data, as plain structs with protobuf's names:
//
//   tf::train::Example example{.features = {.feature = {
//       {"image", {.bytes_list = {.value = {bytes}}}}, {"label", {.int64_list = {.value =
//       {0}}}}}}};
//   writer.write(example.SerializeToString());
//
// SerializeToString writes maps in the order of their keys, so that equal messages have equal
// bytes. FromString throws DataLoss for bytes that are no such message.
namespace rill RILL_API {
namespace train {

struct BytesList {
  std::vector<std::string> value = {};
};
struct FloatList {
  std::vector<float> value = {};
};
struct Int64List {
  std::vector<std::int64_t> value = {};
};

// One of the three lists. With none filled in `kind` says which one it is, if any.
struct Feature {
  enum class Kind : unsigned char { none, bytes_list, float_list, int64_list };
  BytesList bytes_list = {};
  FloatList float_list = {};
  Int64List int64_list = {};
  Kind kind = Kind::none;

  // The name of the list that there is: "bytes_list", or "" of none.
  std::string_view WhichOneof(std::string_view oneof = "kind") const;
};
struct Features {
  std::map<std::string, Feature> feature = {};
};

struct Example {
  Features features = {};
  // InvalidArgument where a feature has two lists.
  std::string SerializeToString() const;
  static Example FromString(std::string_view bytes);
};

struct FeatureList {
  std::vector<Feature> feature = {};
};
struct FeatureLists {
  std::map<std::string, FeatureList> feature_list = {};
};
struct SequenceExample {
  Features context = {};
  FeatureLists feature_lists = {};
  std::string SerializeToString() const;
  static SequenceExample FromString(std::string_view bytes);
};

// As Python prints messages.
std::ostream& operator<<(std::ostream& os, const Feature& feature);
std::ostream& operator<<(std::ostream& os, const Example& example);
std::ostream& operator<<(std::ostream& os, const SequenceExample& example);

}  // namespace train
}  // namespace RILL_API
