#pragma once
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

// HDF5 files with damage of the kinds that hurt: besides bits and lost ends, numbers that were
// addresses, sizes and counts become others.
namespace rill::testing {

inline std::size_t below(std::mt19937_64& r, std::size_t n) {
  return n ? static_cast<std::size_t>(r() % n) : 0;
}

inline std::uint64_t telling_number(std::mt19937_64& r, std::size_t file_size) {
  switch (below(r, 6)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0} >> below(r, 64);
    case 2:
      return file_size - below(r, 64);
    case 3:
      return below(r, file_size) & ~std::size_t{7};
    case 4:
      return std::uint64_t{1} << below(r, 64);
    default:
      return below(r, 300);
  }
}

// `other` lends pieces to be spliced in. Neither may be empty.
inline std::string damaged_hdf5(std::string s, const std::string& other, std::mt19937_64& r) {
  // Most of what is not elements is in the first part.
  const auto somewhere = [&](std::size_t room) -> std::size_t {
    const std::size_t end = s.size() > room ? s.size() - room : 0;
    const std::size_t at =
        below(r, 3) == 0 ? below(r, end) : below(r, std::min<std::size_t>(end, 4096));
    return below(r, 4) == 0 ? at : at & ~std::size_t{7};
  };
  const auto put = [&](std::size_t at, std::uint64_t v, std::size_t bytes) {
    if (at <= s.size() && bytes <= s.size() - at) std::memcpy(s.data() + at, &v, bytes);
  };
  for (std::size_t k = 1 + below(r, 4); k > 0 && s.size() > 64; --k) {
    switch (below(r, 9)) {
      case 0:
        s[somewhere(1)] ^= static_cast<char>(1 << below(r, 8));
        break;
      case 1:
        s[somewhere(1)] = static_cast<char>(r());
        break;
      case 2: {  // one address in the place of another
        const std::size_t from = somewhere(8), to = somewhere(8);
        std::memmove(s.data() + to, s.data() + from, 8);
        break;
      }
      case 3:
        put(somewhere(8), telling_number(r, s.size()), 8);
        break;
      case 4:
        put(somewhere(4), telling_number(r, s.size()), std::size_t{1} << below(r, 3));
        break;
      case 5: {  // a piece of this file or of another one
        const std::string& from = below(r, 2) ? s : other;
        const std::string piece =
            from.substr(below(r, from.size()) & ~std::size_t{7}, 1 + below(r, 512));
        const std::size_t at = somewhere(1);
        s.replace(at, std::min(piece.size(), s.size() - at), piece);
        break;
      }
      case 6:
        s.erase(somewhere(1), 1 + below(r, 16));
        break;
      case 7:
        s.insert(somewhere(1), std::string(1 + below(r, 16), static_cast<char>(r())));
        break;
      default: {
        if (below(r, 4) != 0) break;
        // The end is lost, and the superblock may not tell.
        const std::uint64_t before = s.size();
        s.resize(64 + below(r, s.size() - 64));
        const auto at = s.find(std::string(reinterpret_cast<const char*>(&before), 8));
        if (below(r, 2)) put(at, s.size(), 8);
      }
    }
  }
  return s;
}

}  // namespace rill::testing
