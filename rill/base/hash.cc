#include "rill/base/hash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace rill {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the hashes read words in little-endian order");

std::uint64_t word(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
std::uint32_t word32(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
std::uint64_t byte(const char* p) { return static_cast<unsigned char>(*p); }
// The last n < 8 bytes as a word.
std::uint64_t tail(const char* p, std::size_t n) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, n);
  return v;
}

// ---- FarmHash
constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;
using Pair = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t rotate(std::uint64_t v, int n) { return std::rotr(v, n); }
std::uint64_t shift_mix(std::uint64_t v) { return v ^ (v >> 47); }
std::uint64_t hash16(std::uint64_t u, std::uint64_t v, std::uint64_t mul) {
  const std::uint64_t a = shift_mix((u ^ v) * mul);
  return shift_mix((v ^ a) * mul) * mul;
}

std::uint64_t hash_to_16(const char* s, std::uint64_t n) {
  const std::uint64_t mul = k2 + n * 2;
  if (n >= 8) {
    const std::uint64_t a = word(s) + k2, b = word(s + n - 8);
    return hash16(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return hash16(n + (std::uint64_t{word32(s)} << 3), word32(s + n - 4), mul);
  if (n == 0) return k2;
  const std::uint64_t y = byte(s) + (byte(s + n / 2) << 8), z = n + (byte(s + n - 1) << 2);
  return shift_mix((y & 0xffffffff) * k2 ^ z * k0) * k2;
}

std::uint64_t hash_to_32(const char* s, std::uint64_t n) {
  const std::uint64_t mul = k2 + n * 2, a = word(s) * k1, b = word(s + 8),
                      c = word(s + n - 8) * mul, d = word(s + n - 16) * k2;
  return hash16(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, mul);
}

std::uint64_t hash_to_64(const char* s, std::uint64_t n) {
  const std::uint64_t mul = k2 + n * 2, a = word(s) * k2, b = word(s + 8),
                      c = word(s + n - 8) * mul, d = word(s + n - 16) * k2;
  const std::uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d,
                      z = hash16(y, a + rotate(b + k2, 18) + c, mul);
  const std::uint64_t e = word(s + 16) * mul, f = word(s + 24), g = (y + word(s + n - 32)) * mul,
                      h = (z + word(s + n - 24)) * mul;
  return hash16(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

Pair weak_hash(const char* s, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t z = word(s + 24);
  a += word(s);
  b = rotate(b + a + z, 21);
  const std::uint64_t c = a;
  a += word(s + 8) + word(s + 16);
  b += rotate(a, 44);
  return {a + z, b + c};
}

}  // namespace

std::uint64_t fingerprint64(std::string_view text) {
  const char* s = text.data();
  const std::uint64_t n = text.size();
  if (n <= 16) return hash_to_16(s, n);
  if (n <= 32) return hash_to_32(s, n);
  if (n <= 64) return hash_to_64(s, n);
  std::uint64_t x = 81, y = 81 * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  x = x * k2 + word(s);
  const char* const end = s + (n - 1) / 64 * 64;
  const char* const last = s + n - 64;
  // One block of 64 bytes; the last one has its own multiplier and weights.
  auto block = [&](std::uint64_t mul, std::uint64_t weight) {
    x = rotate(x + y + v.first + word(s + 8), 37) * mul;
    y = rotate(y + v.second + word(s + 48), 42) * mul;
    x ^= w.second * weight;
    y += v.first * weight + word(s + 40);
    z = rotate(z + w.first, 33) * mul;
    v = weak_hash(s, v.second * mul, x + w.first);
    w = weak_hash(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  };
  for (; s != end; s += 64) block(k1, 1);
  const std::uint64_t mul = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  block(mul, 9);
  return hash16(hash16(v.first, w.first, mul) + shift_mix(y) * k0 + z,
                hash16(v.second, w.second, mul) + x, mul);
}

std::uint64_t murmur64(std::string_view s, std::uint64_t seed) {
  constexpr std::uint64_t m = 0xc6a4a7935bd1e995;
  std::uint64_t h = seed ^ (s.size() * m);
  const char* p = s.data();
  std::size_t n = s.size();
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t k = word(p) * m;
    k ^= k >> 47;
    h = (h ^ k * m) * m;
  }
  if (n > 0) h = (h ^ tail(p, n)) * m;
  h = (h ^ (h >> 47)) * m;
  return h ^ (h >> 47);
}

std::uint64_t siphash64(std::string_view s, std::uint64_t key0, std::uint64_t key1) {
  std::uint64_t a = key0 ^ 0x736f6d6570736575, b = key1 ^ 0x646f72616e646f6d,
                c = key0 ^ 0x6c7967656e657261, d = key1 ^ 0x7465646279746573;
  auto rounds = [&](int count) {
    for (; count > 0; --count) {
      a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
      c += d, d = std::rotl(d, 16) ^ c;
      a += d, d = std::rotl(d, 21) ^ a;
      c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
    }
  };
  auto absorb = [&](std::uint64_t m) {
    d ^= m;
    rounds(2);
    a ^= m;
  };
  const char* p = s.data();
  std::size_t n = s.size();
  for (; n >= 8; p += 8, n -= 8) absorb(word(p));
  absorb((n > 0 ? tail(p, n) : 0) | (static_cast<std::uint64_t>(s.size()) << 56));
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

}  // namespace rill
