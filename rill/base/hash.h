#pragma once
#include <cstdint>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {

// Hashes of bytes that are the same on every machine and in every version.

// FarmHash's Fingerprint64.
std::uint64_t fingerprint64(std::string_view s);
// MurmurHash64A.
std::uint64_t murmur64(std::string_view s, std::uint64_t seed = 0xDECAFCAFFE);
// SipHash-2-4 with a key of two words: strong against chosen inputs.
std::uint64_t siphash64(std::string_view s, std::uint64_t key0, std::uint64_t key1);

}  // namespace RILL_API
