#include <cxxabi.h>

#include <cstdlib>

#include "rill/keras/registry/class_name_impl.h"

namespace rill::keras {

std::string class_name_of(const std::type_info& type) {
  int status = 0;
  char* plain = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? plain : type.name();
  std::free(plain);
  if (const auto args = text.find('<'); args != text.npos) text.resize(args);
  if (const auto at = text.rfind("::"); at != text.npos) text = text.substr(at + 2);
  return text;
}

std::string snake_case(std::string_view s) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    // A word begins at a capital that follows a small letter, or precedes one.
    const bool after = i > 0 && (lower(s[i - 1]) || digit(s[i - 1]));
    const bool before = i > 0 && i + 1 < s.size() && lower(s[i + 1]);
    // "Conv2D" stays one word: a capital after a digit begins one only before a small letter.
    const bool after_digit = i > 0 && digit(s[i - 1]);
    if (upper(s[i]) && i > 0 && s[i - 1] != '_' && (before || (after && !after_digit))) out += '_';
    out += upper(s[i]) ? static_cast<char>(s[i] + 32) : s[i];
  }
  return out;
}

}  // namespace rill::keras
