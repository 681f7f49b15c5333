#include "rill/io/hdf5/type_impl.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/hdf5/heaps_impl.h"

namespace rill::io::hdf5 {
namespace {

constexpr const char* kWhat = "a datatype";

// The first 8 bytes of any datatype.
struct Head {
  int version, kind;
  std::uint32_t bits;
  std::uint64_t size;
};
Head read_head(Cursor& c) {
  const std::uint8_t first = c.u8();
  Head h{first >> 4, first & 15, static_cast<std::uint32_t>(c.number(3)), c.u32()};
  if (h.version < 1) c.damaged("has version 0");
  if (h.size == 0) c.damaged("has elements without bytes");
  return h;
}

DType integer_type(std::uint64_t size, bool has_sign) {
  switch (size) {
    case 1:
      return has_sign ? int8 : uint8;
    case 2:
      return has_sign ? int16 : uint16;
    case 4:
      return has_sign ? int32 : uint32;
    case 8:
      return has_sign ? int64 : uint64;
    default:
      return {};
  }
}

// Only integers that fill their bytes.
DType read_integer(Cursor& c, const Head& h) {
  const std::uint64_t offset = c.u16(), precision = c.u16();
  if (offset != 0 || precision != 8 * h.size) return {};
  return integer_type(h.size, h.bits & 8);
}

// Only the formats of IEEE 754. They differ from others by where exponent and mantissa lie.
DType read_float(Cursor& c, const Head& h) {
  struct Format {
    std::uint64_t size;
    int exponent, mantissa;
    std::uint32_t bias;
    DType dtype;
  };
  const Format formats[] = {
      {2, 5, 10, 15, float16}, {4, 8, 23, 127, float32}, {8, 11, 52, 1023, float64}};
  const std::uint32_t offset = c.u16(), precision = c.u16();
  const int exponent_at = c.u8(), exponent = c.u8(), mantissa_at = c.u8(), mantissa = c.u8();
  const std::uint32_t bias = c.u32(), sign_at = h.bits >> 8 & 0xff, normalised = h.bits >> 4 & 3;
  const bool vax = h.bits & 0x40;
  for (const Format& f : formats)
    if (h.size == f.size && offset == 0 && precision == 8 * f.size && exponent == f.exponent &&
        exponent_at == f.mantissa && mantissa == f.mantissa && mantissa_at == 0 && bias == f.bias &&
        sign_at == 8 * f.size - 1 && normalised == 2 && !vax)
      return f.dtype;
  return {};
}

// h5py writes a bool as an enumeration of FALSE and TRUE.
void read_enumeration(Cursor& c, const Head& h, Type& t) {
  const std::uint64_t members = h.bits & 0xffff;
  const Head base = read_head(c);
  if (base.kind != 0) c.damaged("enumerates what is not an integer");
  c.skip(4);
  if (members != 2 || h.size != 1 || base.size != 1) return;
  std::string names[2];
  for (std::string& name : names) {
    const std::uint64_t begin = c.left();
    name = c.take_text();
    if (h.version < 3)  // padded
      c.skip((8 - (begin - c.left()) % 8) % 8);
  }
  const char values[2] = {static_cast<char>(c.u8()), static_cast<char>(c.u8())};
  const bool turned = names[0] == "TRUE" && names[1] == "FALSE";
  if (!turned && !(names[0] == "FALSE" && names[1] == "TRUE")) return;
  t.kind = Type::Kind::boolean;
  t.dtype = bool_;
  t.no = values[turned ? 1 : 0];
  t.yes = values[turned ? 0 : 1];
}

}  // namespace

Type read_type(const File& file, const Message& given) {
  const Message m = resolved(file, given);
  Cursor c = cursor_of(file, m, kWhat);
  const Head h = read_head(c);
  Type t;
  t.size = h.size;
  t.big_endian = h.bits & 1;
  switch (h.kind) {
    case 0:
      t.kind = Type::Kind::number;
      t.dtype = read_integer(c, h);
      break;
    case 1:
      t.kind = Type::Kind::number;
      t.dtype = read_float(c, h);
      break;
    case 3:
      t.kind = Type::Kind::text;
      break;
    case 8:
      read_enumeration(c, h, t);
      break;
    case 9:
      if ((h.bits & 15) == 1) t.kind = Type::Kind::variable_text;
      break;
    default:
      break;
  }
  return t;
}

Space read_space(const File& file, const Message& given) {
  constexpr std::size_t kHighestRank = 32;
  const Message m = resolved(file, given);
  Cursor c = cursor_of(file, m, "a dataspace");
  const std::uint8_t version = c.version(2);
  if (version == 0) c.damaged("has version 0");
  const std::size_t rank = c.u8();
  const std::uint8_t flags = c.u8();
  Space s;
  if (version == 1)
    c.skip(5);
  else
    s.null = c.u8() == 2;
  if (rank > kHighestRank)
    c.damaged(format("has rank {}; expected at most {}", rank, kHighestRank));
  for (std::size_t i = 0; i < rank; ++i) s.sizes.push_back(c.length());
  s.most = s.sizes;
  if (flags & 1)
    for (std::uint64_t& n : s.most) {
      n = c.length();
      const int bytes = file.length_size();
      if (bytes < 8 && n == (std::uint64_t{1} << (8 * bytes)) - 1) n = kNowhere;
    }
  return s;
}

std::uint64_t Space::count(const File& file) const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  if (null) return 0;
  std::uint64_t n = 1;
  for (const std::uint64_t size : sizes) {
    if (size > kMost || (size > 0 && n > kMost / size))
      file.damaged(kNowhere, "a dataspace claims more than 2^50 elements");
    n *= size;
  }
  return n;
}

std::vector<std::string> texts_of(const File& file, const AttributeValue& v,
                                  const std::string& where) {
  const std::uint64_t count = v.space.count(file);
  if (count == 0) return {};  // Keras writes an empty list as an array of numbers
  RILL_CHECK(v.type.kind == Type::Kind::text || v.type.kind == Type::Kind::variable_text, data_loss,
             "[hdf5] {}: \"{}\" holds no text; expected text", file.name(), where);
  // Ahead of all memory: each text takes bytes in the attribute itself.
  const auto reference = static_cast<std::uint64_t>(4 + file.address_size() + 4);
  const bool variable = v.type.kind == Type::Kind::variable_text;
  const std::uint64_t each = variable ? reference : v.type.size;
  RILL_CHECK(count <= v.bytes.size() / each, data_loss,
             "[hdf5] {}: \"{}\" claims {} texts of {} bytes each and has {} bytes", file.name(),
             where, count, each, v.bytes.size());
  std::vector<std::string> texts;
  GlobalHeap heap(file);
  Cursor c(file, v.place, v.bytes, "an attribute");
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view text;
    if (variable) {
      const std::uint32_t size = c.u32();
      const std::uint64_t collection = c.address();
      const std::uint32_t number = c.u32();
      if (size > 0 && collection != 0 && collection != kNowhere) {
        text = heap.object(collection, number);
        if (text.size() < size) c.damaged("claims a text that is longer than its place");
        text = text.substr(0, size);
      }
    } else {
      text = c.take(each);
    }
    text = text.substr(0, text.find('\0'));
    // Many may refer to one and the same long text.
    file.spend(sizeof(std::string) + text.size());
    texts.emplace_back(text);
  }
  return texts;
}

}  // namespace rill::io::hdf5
