#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rill/io/coding.h"

// The wire format of protocol buffers, for messages that are read and written without objects of
// the protobuf library.
namespace rill::io {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Reads the fields of one message in turn. Any bytes may be given; what is damaged is told by
// good(), and reads nothing outside of them.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  // The next field: its number and type; its value is read next, or passed over by skip().
  // False at the end, or where the bytes are damaged.
  bool next() {
    if (at_ == end_ || !good_) return false;
    const std::uint64_t key = varint();
    field_ = static_cast<std::uint32_t>(key >> 3);
    type_ = static_cast<WireType>(key & 7);
    return good_ && field_ != 0;
  }
  std::uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool is(std::uint32_t field, WireType type) const { return field_ == field && type_ == type; }
  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint64_t varint() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) [[likely]]
      return static_cast<unsigned char>(*at_++);
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      v |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return v;
    }
    good_ = false;
    return 0;
  }
  std::string_view bytes() {
    const std::uint64_t n = varint();
    if (!good_ || n > left()) {
      good_ = false;
      return {};
    }
    const std::string_view b(at_, static_cast<std::size_t>(n));
    at_ += n;
    return b;
  }
  template <class T>
  T fixed() {
    T v{};
    if (left() < sizeof v) {
      good_ = false;
      return v;
    }
    std::memcpy(&v, at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  void skip() {
    switch (type_) {
      case WireType::varint:
        varint();
        return;
      case WireType::fixed64:
        fixed<std::uint64_t>();
        return;
      case WireType::bytes:
        bytes();
        return;
      case WireType::fixed32:
        fixed<std::uint32_t>();
        return;
    }
    good_ = false;  // groups, which nobody writes any more, and types that there are not
  }

 private:
  const char *at_, *end_;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  bool good_ = true;
};

inline void put_key(std::string& out, std::uint32_t field, WireType type) {
  put_varint(out, field << 3 | static_cast<std::uint32_t>(type));
}
inline void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_key(out, field, WireType::bytes);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace rill::io
