#include "rill/base/unicode.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace rill {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr std::pair<std::string_view, TextEncoding> kNames[] = {
    {"UTF-8", TextEncoding::utf8},         {"UTF-16-BE", TextEncoding::utf16_be},
    {"UTF-16-LE", TextEncoding::utf16_le}, {"UTF-16", TextEncoding::utf16},
    {"UTF-32-BE", TextEncoding::utf32_be}, {"UTF-32-LE", TextEncoding::utf32_le},
    {"US-ASCII", TextEncoding::ascii},     {"ISO-8859-1", TextEncoding::latin1}};

// Without what people write differently.
std::string plain_name(std::string_view name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (out == "latin1") return "iso88591";
  if (out == "ascii") return "usascii";
  return out;
}

unsigned byte_at(std::string_view s, std::size_t i) { return static_cast<unsigned char>(s[i]); }

NextChar next_utf8(std::string_view s, std::size_t at) {
  const unsigned lead = byte_at(s, at);
  if (lead < 0x80) return {lead, 1, false};
  std::size_t more = 0;
  unsigned low = 0x80, high = 0xbf;  // of the second byte
  char32_t code = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    more = 1, code = lead & 0x1f;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    more = 2, code = lead & 0x0f;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    more = 3, code = lead & 0x07;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {kReplacement, 1, true};
  }
  for (std::size_t k = 1; k <= more; ++k) {
    if (at + k >= s.size()) return {kReplacement, k, true};
    const unsigned b = byte_at(s, at + k);
    if (b < low || b > high) return {kReplacement, k, true};
    low = 0x80, high = 0xbf;
    code = code << 6 | (b & 0x3f);
  }
  return {code, more + 1, false};
}

NextChar next_utf16(std::string_view s, std::size_t at, bool big) {
  const auto unit = [&](std::size_t i) {
    return static_cast<char32_t>(big ? byte_at(s, i) << 8 | byte_at(s, i + 1)
                                     : byte_at(s, i + 1) << 8 | byte_at(s, i));
  };
  if (at + 2 > s.size()) return {kReplacement, s.size() - at, true};
  const char32_t first = unit(at);
  if (!is_surrogate(first)) return {first, 2, false};
  if (first >= 0xdc00) return {kReplacement, 2, true};
  if (at + 4 > s.size()) return {kReplacement, s.size() - at, true};
  const char32_t second = unit(at + 2);
  if (second < 0xdc00 || second > 0xdfff) return {kReplacement, 2, true};
  return {0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 4, false};
}

NextChar next_utf32(std::string_view s, std::size_t at, bool big) {
  if (at + 4 > s.size()) return {kReplacement, s.size() - at, true};
  char32_t code = 0;
  for (std::size_t k = 0; k < 4; ++k) code = code << 8 | byte_at(s, at + (big ? k : 3 - k));
  const bool bad = code > 0x10ffff || is_surrogate(code);
  return {bad ? kReplacement : code, 4, bad};
}

struct ScriptRun {
  std::uint32_t from;
  std::uint8_t script;
};
// Each run reaches to the beginning of the next.
constexpr ScriptRun kScripts[] = {
#include "rill/base/unicode_scripts_impl.h"
};

}  // namespace

bool text_encoding(std::string_view name, TextEncoding* out) {
  const std::string wanted = plain_name(name);
  for (const auto& [known, encoding] : kNames)
    if (plain_name(known) == wanted) {
      *out = encoding;
      return true;
    }
  return false;
}
std::string text_encodings() {
  std::string out;
  for (const auto& [known, encoding] : kNames) {
    if (!out.empty()) out += ", ";
    out += known;
  }
  return out;
}

TextStart text_start(std::string_view text, TextEncoding encoding) {
  if (encoding != TextEncoding::utf16) return {encoding, 0};
  if (text.starts_with("\xff\xfe")) return {TextEncoding::utf16_le, 2};
  return {TextEncoding::utf16_be, text.starts_with("\xfe\xff") ? std::size_t{2} : 0};
}

NextChar next_char(std::string_view text, std::size_t at, TextEncoding encoding) {
  switch (encoding) {
    case TextEncoding::utf8:
      return next_utf8(text, at);
    case TextEncoding::utf16:
    case TextEncoding::utf16_be:
      return next_utf16(text, at, true);
    case TextEncoding::utf16_le:
      return next_utf16(text, at, false);
    case TextEncoding::utf32_be:
      return next_utf32(text, at, true);
    case TextEncoding::utf32_le:
      return next_utf32(text, at, false);
    case TextEncoding::ascii:
      return byte_at(text, at) < 0x80 ? NextChar{byte_at(text, at), 1, false}
                                      : NextChar{kReplacement, 1, true};
    case TextEncoding::latin1:
      break;
  }
  return {byte_at(text, at), 1, false};
}

void append_char(std::string& out, char32_t c, TextEncoding encoding) {
  const auto byte = [&](char32_t b) { out += static_cast<char>(b & 0xff); };
  const auto unit = [&](char32_t u, bool big) {
    byte(big ? u >> 8 : u);
    byte(big ? u : u >> 8);
  };
  switch (encoding) {
    case TextEncoding::utf8:
      if (is_surrogate(c)) c = kReplacement;
      if (c < 0x80) {
        byte(c);
      } else if (c < 0x800) {
        byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
      } else if (c < 0x10000) {
        byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
      } else {
        byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f));
        byte(0x80 | (c & 0x3f));
      }
      return;
    case TextEncoding::utf16:
    case TextEncoding::utf16_be:
    case TextEncoding::utf16_le: {
      const bool big = encoding != TextEncoding::utf16_le;
      if (c < 0x10000) return unit(c, big);
      unit(0xd800 + ((c - 0x10000) >> 10), big);
      unit(0xdc00 + ((c - 0x10000) & 0x3ff), big);
      return;
    }
    case TextEncoding::utf32_be:
      for (int shift = 24; shift >= 0; shift -= 8) byte(c >> shift);
      return;
    case TextEncoding::utf32_le:
      for (int shift = 0; shift <= 24; shift += 8) byte(c >> shift);
      return;
    case TextEncoding::ascii:
      return byte(c < 0x80 ? c : U'?');
    case TextEncoding::latin1:
      return byte(c < 0x100 ? c : U'?');
  }
}

int unicode_script_of(std::int32_t code) {
  if (code < 0 || code > 0x10ffff) return -1;
  const auto run =
      std::upper_bound(std::begin(kScripts), std::end(kScripts), static_cast<std::uint32_t>(code),
                       [](std::uint32_t c, const ScriptRun& r) { return c < r.from; });
  return std::prev(run)->script;
}

}  // namespace rill
