#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rill/base/api.h"

namespace rill RILL_API {

// Characters and their encodings.
enum class TextEncoding { utf8, utf16_be, utf16_le, utf16, utf32_be, utf32_le, ascii, latin1 };
// By names as "UTF-8", "UTF-16-BE", "utf-16le", "latin1"; false for another.
bool text_encoding(std::string_view name, TextEncoding* out);
// The names, for messages.
std::string text_encodings();

// The next character of a text, which begins at byte `at`.
struct NextChar {
  char32_t code;      // U+FFFD where the bytes are none
  std::size_t bytes;  // 1 or more
  bool bad;
};
// `at` is inside the text. What fits nowhere is passed over as ICU does: the longest beginning of a
// character is one, any other byte (of UTF-16 and UTF-32: unit) is one of its own.
NextChar next_char(std::string_view text, std::size_t at, TextEncoding encoding);
// utf16 looks at the mark at the beginning: the encoding that is meant, and the bytes of the mark.
struct TextStart {
  TextEncoding encoding;
  std::size_t mark;
};
TextStart text_start(std::string_view text, TextEncoding encoding);

// Appends a character. A surrogate becomes U+FFFD in UTF-8.
void append_char(std::string& out, char32_t code, TextEncoding encoding);

constexpr bool is_surrogate(char32_t c) { return c >= 0xd800 && c <= 0xdfff; }
// Below U+110000, no surrogate and none of those that Unicode keeps for no character.
constexpr bool is_unicode_char(char32_t c) {
  return c < 0x110000 && !is_surrogate(c) && (c & 0xfffe) != 0xfffe &&
         !(c >= 0xfdd0 && c <= 0xfdef);
}

// The script of a character by ICU's numbers: 0 common, 25 Latin, 103 unknown; -1 for none.
int unicode_script_of(std::int32_t code);

}  // namespace RILL_API
