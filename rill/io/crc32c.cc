#include "rill/io/crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace rill::io {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected

// tables[k][b]: what byte b does to the checksum k bytes later, so that eight bytes
// are eight lookups that do not wait for each other.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c >> 1) ^ (c & 1 ? kPolynomial : 0);
    t[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}();

std::uint64_t load64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const char* p, std::size_t n,
                                                               std::uint32_t crc) {
  std::uint64_t c = crc;
  for (; n >= 8; p += 8, n -= 8) c = _mm_crc32_u64(c, load64(p));
  auto c32 = static_cast<std::uint32_t>(c);
  for (; n > 0; ++p, --n) c32 = _mm_crc32_u8(c32, static_cast<unsigned char>(*p));
  return c32;
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__ARM_FEATURE_CRC32)
std::uint32_t by_instruction(const char* p, std::size_t n, std::uint32_t crc) {
  for (; n >= 8; p += 8, n -= 8) crc = __crc32cd(crc, load64(p));
  for (; n > 0; ++p, --n) crc = __crc32cb(crc, static_cast<unsigned char>(*p));
  return crc;
}
bool has_instruction() { return true; }
#else
std::uint32_t by_instruction(const char*, std::size_t, std::uint32_t crc) { return crc; }
bool has_instruction() { return false; }
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t crc_so_far) {
  std::uint32_t c = ~crc_so_far;
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    const std::uint64_t v = load64(p) ^ c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][(v >> (8 * k)) & 0xff];
  }
  for (; n > 0; ++p, --n) c = (c >> 8) ^ kTables[0][(c ^ static_cast<unsigned char>(*p)) & 0xff];
  return ~c;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc_so_far) {
  static const bool fast = has_instruction();
  return fast ? ~by_instruction(bytes.data(), bytes.size(), ~crc_so_far)
              : crc32c_by_table(bytes, crc_so_far);
}

}  // namespace rill::io
