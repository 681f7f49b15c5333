#include "rill/saving/ordered_code_impl.h"

#include <bit>

namespace rill {

// The count of significant bytes, then these, the highest first.
void put_ordered(std::string& out, std::uint64_t value) {
  const int n = (static_cast<int>(std::bit_width(value)) + 7) / 8;
  out += static_cast<char>(n);
  for (int i = n - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

// The leading one bits give the length of a positive number (zero bits of a negative
// one), which take the place of sign bits.
void put_ordered_signed(std::string& out, std::int64_t value) {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  const unsigned length = static_cast<unsigned>(std::bit_width(magnitude)) / 7 + 1;
  char bytes[10];
  for (unsigned i = 0; i < 10; ++i)
    bytes[9 - i] = static_cast<char>(i < 8 ? value >> (8 * i) : value >> 63);
  // `length` leading ones over the first bytes, one of which is the sign bit's own.
  char* first = bytes + 10 - length;
  std::uint16_t header = static_cast<std::uint16_t>(0xffffu << (16 - length));
  if (length == 1) header = 0x8000;
  first[0] = static_cast<char>(first[0] ^ (header >> 8));
  if (length > 1) first[1] = static_cast<char>(first[1] ^ (header & 0xff));
  out.append(first, length);
}

void put_ordered(std::string& out, std::string_view text) {
  for (char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out += '\0';
  out += '\1';
}

std::string slice_key(std::string_view name, const std::vector<SliceExtent>& extents) {
  std::string out;
  put_ordered(out, std::uint64_t{0});
  put_ordered(out, name);
  put_ordered(out, extents.size());
  for (const SliceExtent& e : extents) {
    put_ordered_signed(out, e.start);
    put_ordered_signed(out, e.length);
  }
  return out;
}

}  // namespace rill
