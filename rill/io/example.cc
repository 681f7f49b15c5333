#include "rill/io/example.h"

#include <ostream>

#include "rill/base/check.h"
#include "rill/base/format.h"
#include "rill/io/wire_impl.h"

namespace rill::train {
namespace {

using io::put_bytes;
using io::WireReader;
using io::WireType;
using Kind = Feature::Kind;

// Field numbers of tensorflow/core/example.
constexpr std::uint32_t kBytesList = 1, kFloatList = 2, kInt64List = 3;  // Feature
constexpr std::uint32_t kValue = 1;                                      // of each list
constexpr std::uint32_t kKey = 1, kMapValue = 2;                         // entries of maps
constexpr std::uint32_t kFeature = 1;                     // Features, FeatureList, FeatureLists
constexpr std::uint32_t kFeatures = 1;                    // Example
constexpr std::uint32_t kContext = 1, kFeatureLists = 2;  // SequenceExample

Kind kind_of(const Feature& f) {
  const int filled =
      !f.bytes_list.value.empty() + !f.float_list.value.empty() + !f.int64_list.value.empty();
  RILL_CHECK(filled <= 1, invalid_argument,
             "[Feature] {} of its lists have values; expected bytes_list, float_list or int64_list",
             filled);
  if (!f.bytes_list.value.empty()) return Kind::bytes_list;
  if (!f.float_list.value.empty()) return Kind::float_list;
  if (!f.int64_list.value.empty()) return Kind::int64_list;
  return f.kind;
}

// ---- writing
std::string bytes_of(const Feature& f) {
  std::string list, out;
  const Kind kind = kind_of(f);
  switch (kind) {
    case Kind::none:
      return out;
    case Kind::bytes_list:
      for (const std::string& v : f.bytes_list.value) put_bytes(list, kValue, v);
      break;
    case Kind::float_list:
      if (!f.float_list.value.empty())
        put_bytes(list, kValue,
                  {reinterpret_cast<const char*>(f.float_list.value.data()),
                   f.float_list.value.size() * sizeof(float)});
      break;
    case Kind::int64_list: {
      std::string packed;
      for (std::int64_t v : f.int64_list.value)
        io::put_varint(packed, static_cast<std::uint64_t>(v));
      if (!packed.empty()) put_bytes(list, kValue, packed);
      break;
    }
  }
  put_bytes(out, static_cast<std::uint32_t>(kind), list);
  return out;
}
std::string bytes_of(const FeatureList& list) {
  std::string out;
  for (const Feature& f : list.feature) put_bytes(out, kFeature, bytes_of(f));
  return out;
}
template <class T>
void put_entry(std::string& out, const std::string& key, const T& value) {
  std::string entry;
  put_bytes(entry, kKey, key);
  put_bytes(entry, kMapValue, bytes_of(value));
  put_bytes(out, kFeature, entry);
}
std::string bytes_of(const Features& f) {
  std::string out;
  for (const auto& [key, value] : f.feature) put_entry(out, key, value);
  return out;
}
std::string bytes_of(const FeatureLists& lists) {
  std::string out;
  for (const auto& [key, value] : lists.feature_list) put_entry(out, key, value);
  return out;
}

// ---- reading. Each returns whether the bytes were good; the last of two values for one key
// counts.
bool read(WireReader& in, BytesList* list) {
  while (in.next()) {
    if (in.is(kValue, WireType::bytes))
      list->value.emplace_back(in.bytes());
    else
      in.skip();
  }
  return in.good();
}
bool read(WireReader& in, FloatList* list) {
  while (in.next()) {
    if (in.is(kValue, WireType::bytes)) {
      WireReader packed(in.bytes());
      while (!packed.at_end() && packed.good()) list->value.push_back(packed.fixed<float>());
      if (!packed.good()) return false;
    } else if (in.is(kValue, WireType::fixed32)) {
      list->value.push_back(in.fixed<float>());
    } else {
      in.skip();
    }
  }
  return in.good();
}
bool read(WireReader& in, Int64List* list) {
  while (in.next()) {
    if (in.is(kValue, WireType::bytes)) {
      WireReader packed(in.bytes());
      while (!packed.at_end() && packed.good())
        list->value.push_back(static_cast<std::int64_t>(packed.varint()));
      if (!packed.good()) return false;
    } else if (in.is(kValue, WireType::varint)) {
      list->value.push_back(static_cast<std::int64_t>(in.varint()));
    } else {
      in.skip();
    }
  }
  return in.good();
}
template <class List>
bool read_list(WireReader& in, Feature* f, List Feature::*member, Kind kind) {
  if (f->kind != kind) *f = Feature{.kind = kind};  // the last one counts
  WireReader list(in.bytes());
  return in.good() && read(list, &(f->*member));
}
bool read(WireReader& in, Feature* f) {
  while (in.next()) {
    bool good = true;
    if (in.is(kBytesList, WireType::bytes))
      good = read_list(in, f, &Feature::bytes_list, Kind::bytes_list);
    else if (in.is(kFloatList, WireType::bytes))
      good = read_list(in, f, &Feature::float_list, Kind::float_list);
    else if (in.is(kInt64List, WireType::bytes))
      good = read_list(in, f, &Feature::int64_list, Kind::int64_list);
    else
      in.skip();
    if (!good) return false;
  }
  return in.good();
}
bool read(WireReader& in, FeatureList* list) {
  while (in.next()) {
    if (in.is(kFeature, WireType::bytes)) {
      WireReader one(in.bytes());
      if (!in.good() || !read(one, &list->feature.emplace_back())) return false;
    } else {
      in.skip();
    }
  }
  return in.good();
}
template <class T>
bool read_map(WireReader& in, std::map<std::string, T>* map) {
  while (in.next()) {
    if (!in.is(kFeature, WireType::bytes)) {
      in.skip();
      continue;
    }
    WireReader entry(in.bytes());
    std::string key;
    T value;
    while (in.good() && entry.next()) {
      if (entry.is(kKey, WireType::bytes)) {
        key = entry.bytes();
      } else if (entry.is(kMapValue, WireType::bytes)) {
        WireReader one(entry.bytes());
        if (!entry.good() || !read(one, &value)) return false;
      } else {
        entry.skip();
      }
    }
    if (!in.good() || !entry.good()) return false;
    map->insert_or_assign(std::move(key), std::move(value));
  }
  return in.good();
}
// A message whose fields 1 (and 2) are messages of maps.
template <class A, class B>
bool read_fields(std::string_view bytes, std::map<std::string, A>* first,
                 std::map<std::string, B>* second) {
  WireReader in(bytes);
  while (in.next()) {
    if (in.field() > (second ? 2u : 1u) || in.type() != WireType::bytes) {
      in.skip();
      continue;
    }
    const std::uint32_t field = in.field();
    WireReader maps(in.bytes());
    if (!in.good() || !(field == 1 ? read_map(maps, first) : read_map(maps, second))) return false;
  }
  return in.good();
}
static_assert(kFeatures == 1 && kContext == 1 && kFeatureLists == 2);

// ---- printing
std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\\' || c == '\'')
      out += std::string("\\") + c;
    else if (b < 0x20 || b >= 0x7f)
      out += format("\\{:03o}", b);
    else
      out += c;
  }
  return out + "\"";
}
void print(std::ostream& os, const Feature& f, const std::string& indent) {
  const std::string_view name = f.WhichOneof();
  if (name.empty()) return;
  os << indent << name << " {\n";
  for (const std::string& v : f.bytes_list.value) os << indent << "  value: " << quoted(v) << '\n';
  for (float v : f.float_list.value) os << indent << "  value: " << format("{}", v) << '\n';
  for (std::int64_t v : f.int64_list.value) os << indent << "  value: " << v << '\n';
  os << indent << "}\n";
}
void print(std::ostream& os, const FeatureList& list, const std::string& indent) {
  for (const Feature& f : list.feature) {
    os << indent << "feature {\n";
    print(os, f, indent + "  ");
    os << indent << "}\n";
  }
}
template <class T>
void print_map(std::ostream& os, const char* message, const char* entry,
               const std::map<std::string, T>& map) {
  os << message << " {\n";
  for (const auto& [key, value] : map) {
    os << "  " << entry << " {\n    key: " << quoted(key) << "\n    value {\n";
    print(os, value, "      ");
    os << "    }\n  }\n";
  }
  os << "}\n";
}

}  // namespace

std::string_view Feature::WhichOneof(std::string_view oneof) const {
  RILL_CHECK(oneof == "kind", invalid_argument,
             "[Feature] it has no oneof \"{}\"; expected \"kind\"", oneof);
  constexpr std::string_view kNames[] = {"", "bytes_list", "float_list", "int64_list"};
  return kNames[static_cast<int>(kind_of(*this))];
}

std::string Example::SerializeToString() const {
  std::string out;
  put_bytes(out, kFeatures, bytes_of(features));
  return out;
}
Example Example::FromString(std::string_view bytes) {
  Example e;
  RILL_CHECK(read_fields(bytes, &e.features.feature,
                         static_cast<std::map<std::string, Feature>*>(nullptr)),
             data_loss, "[Example] {} bytes are not an Example", bytes.size());
  return e;
}
std::string SequenceExample::SerializeToString() const {
  std::string out;
  put_bytes(out, kContext, bytes_of(context));
  put_bytes(out, kFeatureLists, bytes_of(feature_lists));
  return out;
}
SequenceExample SequenceExample::FromString(std::string_view bytes) {
  SequenceExample e;
  RILL_CHECK(read_fields(bytes, &e.context.feature, &e.feature_lists.feature_list), data_loss,
             "[SequenceExample] {} bytes are not a SequenceExample", bytes.size());
  return e;
}

std::ostream& operator<<(std::ostream& os, const Feature& feature) {
  print(os, feature, "");
  return os;
}
std::ostream& operator<<(std::ostream& os, const Example& example) {
  print_map(os, "features", "feature", example.features.feature);
  return os;
}
std::ostream& operator<<(std::ostream& os, const SequenceExample& example) {
  print_map(os, "context", "feature", example.context.feature);
  print_map(os, "feature_lists", "feature_list", example.feature_lists.feature_list);
  return os;
}

}  // namespace rill::train
