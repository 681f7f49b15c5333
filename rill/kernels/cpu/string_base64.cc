// Base64 with the letters that are safe in addresses.
#include <array>
#include <string>

#include "rill/base/format.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void encode_base64_cpu(KernelContext& c) noexcept {
  const bool pad = c.bool_attr("pad");
  for (std::int64_t i = 0; i < c.out().size; ++i) {
    const std::string& in = c.in<std::string>(0)[i];
    std::string out;
    out.reserve((in.size() + 2) / 3 * 4);
    for (std::size_t k = 0; k < in.size(); k += 3) {
      const std::size_t left = std::min<std::size_t>(3, in.size() - k);
      unsigned group = 0;
      for (std::size_t b = 0; b < 3; ++b)
        group = group << 8 | (b < left ? static_cast<unsigned char>(in[k + b]) : 0u);
      for (std::size_t b = 0; b < 4; ++b) {
        if (b <= left)
          out += kLetters[group >> (18 - 6 * b) & 63];
        else if (pad)
          out += '=';
      }
    }
    c.out<std::string>()[i] = std::move(out);
  }
}
RILL_KERNEL("EncodeBase64", cpu, TypeSet{}, encode_base64_cpu);

// 0 to 63; 64 for what is no letter. + and / are taken for - and _.
constexpr std::array<unsigned char, 256> kValues = [] {
  std::array<unsigned char, 256> v{};
  v.fill(64);
  for (unsigned char i = 0; i < 64; ++i) v[static_cast<unsigned char>(kLetters[i])] = i;
  return v;
}();

void decode_base64_cpu(KernelContext& c) noexcept {
  for (std::int64_t i = 0; i < c.out().size; ++i) {
    std::string_view in = c.in<std::string>(0)[i];
    for (int k = 0; k < 2 && in.ends_with('='); ++k) in.remove_suffix(1);
    bool good = in.size() % 4 != 1;
    std::string out;
    unsigned bits = 0;
    int held = 0;
    for (const char letter : in) {
      const unsigned v = kValues[static_cast<unsigned char>(letter)];
      good = good && v < 64;
      bits = bits << 6 | v;
      if ((held += 6) >= 8) out += static_cast<char>(bits >> (held -= 8) & 255);
    }
    if (!good)
      return c.fail(Code::invalid_argument,
                    format("[{}] element {}, \"{}\", is not base64 (letters, digits, - and _)",
                           c.tag(), i, std::string(in.substr(0, 40))));
    c.out<std::string>()[i] = std::move(out);
  }
}
RILL_KERNEL("DecodeBase64", cpu, TypeSet{}, decode_base64_cpu);

}  // namespace
}  // namespace rill::cpu
