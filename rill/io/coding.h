#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Numbers as files hold them: little-endian, or seven bits a byte ("varint").
namespace rill::io {

static_assert(std::endian::native == std::endian::little, "files are little-endian, as we are");

template <class T>
void put_fixed(std::string& out, T v) {
  char bytes[sizeof v];
  std::memcpy(bytes, &v, sizeof v);
  out.append(bytes, sizeof v);
}
// REQUIRES: sizeof(T) bytes at p.
template <class T>
T get_fixed(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void put_varint(std::string& out, std::uint64_t v) {
  for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
  out += static_cast<char>(v);
}
// Takes one from the front; false when there is none.
inline bool get_varint(std::string_view& in, std::uint64_t* v) {
  *v = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    *v |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

}  // namespace rill::io
