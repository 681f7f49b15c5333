// Capitals and small letters.
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

// Letters whose capitals are several letters, from Unicode's SpecialCasing.
struct Special {
  char32_t letter;
  const char32_t* capitals;
};
constexpr Special kSpecial[] = {
    {0xdf, U"\x53\x53"},          {0x149, U"\x2bc\x4e"},        {0x1f0, U"\x4a\x30c"},
    {0x390, U"\x399\x308\x301"},  {0x3b0, U"\x3a5\x308\x301"},  {0x587, U"\x535\x552"},
    {0x1e96, U"\x48\x331"},       {0x1e97, U"\x54\x308"},       {0x1e98, U"\x57\x30a"},
    {0x1e99, U"\x59\x30a"},       {0x1e9a, U"\x41\x2be"},       {0x1f50, U"\x3a5\x313"},
    {0x1f52, U"\x3a5\x313\x300"}, {0x1f54, U"\x3a5\x313\x301"}, {0x1f56, U"\x3a5\x313\x342"},
    {0x1f80, U"\x1f08\x399"},     {0x1f81, U"\x1f09\x399"},     {0x1f82, U"\x1f0a\x399"},
    {0x1f83, U"\x1f0b\x399"},     {0x1f84, U"\x1f0c\x399"},     {0x1f85, U"\x1f0d\x399"},
    {0x1f86, U"\x1f0e\x399"},     {0x1f87, U"\x1f0f\x399"},     {0x1f88, U"\x1f08\x399"},
    {0x1f89, U"\x1f09\x399"},     {0x1f8a, U"\x1f0a\x399"},     {0x1f8b, U"\x1f0b\x399"},
    {0x1f8c, U"\x1f0c\x399"},     {0x1f8d, U"\x1f0d\x399"},     {0x1f8e, U"\x1f0e\x399"},
    {0x1f8f, U"\x1f0f\x399"},     {0x1f90, U"\x1f28\x399"},     {0x1f91, U"\x1f29\x399"},
    {0x1f92, U"\x1f2a\x399"},     {0x1f93, U"\x1f2b\x399"},     {0x1f94, U"\x1f2c\x399"},
    {0x1f95, U"\x1f2d\x399"},     {0x1f96, U"\x1f2e\x399"},     {0x1f97, U"\x1f2f\x399"},
    {0x1f98, U"\x1f28\x399"},     {0x1f99, U"\x1f29\x399"},     {0x1f9a, U"\x1f2a\x399"},
    {0x1f9b, U"\x1f2b\x399"},     {0x1f9c, U"\x1f2c\x399"},     {0x1f9d, U"\x1f2d\x399"},
    {0x1f9e, U"\x1f2e\x399"},     {0x1f9f, U"\x1f2f\x399"},     {0x1fa0, U"\x1f68\x399"},
    {0x1fa1, U"\x1f69\x399"},     {0x1fa2, U"\x1f6a\x399"},     {0x1fa3, U"\x1f6b\x399"},
    {0x1fa4, U"\x1f6c\x399"},     {0x1fa5, U"\x1f6d\x399"},     {0x1fa6, U"\x1f6e\x399"},
    {0x1fa7, U"\x1f6f\x399"},     {0x1fa8, U"\x1f68\x399"},     {0x1fa9, U"\x1f69\x399"},
    {0x1faa, U"\x1f6a\x399"},     {0x1fab, U"\x1f6b\x399"},     {0x1fac, U"\x1f6c\x399"},
    {0x1fad, U"\x1f6d\x399"},     {0x1fae, U"\x1f6e\x399"},     {0x1faf, U"\x1f6f\x399"},
    {0x1fb2, U"\x1fba\x399"},     {0x1fb3, U"\x391\x399"},      {0x1fb4, U"\x386\x399"},
    {0x1fb6, U"\x391\x342"},      {0x1fb7, U"\x391\x342\x399"}, {0x1fbc, U"\x391\x399"},
    {0x1fc2, U"\x1fca\x399"},     {0x1fc3, U"\x397\x399"},      {0x1fc4, U"\x389\x399"},
    {0x1fc6, U"\x397\x342"},      {0x1fc7, U"\x397\x342\x399"}, {0x1fcc, U"\x397\x399"},
    {0x1fd2, U"\x399\x308\x300"}, {0x1fd3, U"\x399\x308\x301"}, {0x1fd6, U"\x399\x342"},
    {0x1fd7, U"\x399\x308\x342"}, {0x1fe2, U"\x3a5\x308\x300"}, {0x1fe3, U"\x3a5\x308\x301"},
    {0x1fe4, U"\x3a1\x313"},      {0x1fe6, U"\x3a5\x342"},      {0x1fe7, U"\x3a5\x308\x342"},
    {0x1ff2, U"\x1ffa\x399"},     {0x1ff3, U"\x3a9\x399"},      {0x1ff4, U"\x38f\x399"},
    {0x1ff6, U"\x3a9\x342"},      {0x1ff7, U"\x3a9\x342\x399"}, {0x1ffc, U"\x3a9\x399"},
    {0xfb00, U"\x46\x46"},        {0xfb01, U"\x46\x49"},        {0xfb02, U"\x46\x4c"},
    {0xfb03, U"\x46\x46\x49"},    {0xfb04, U"\x46\x46\x4c"},    {0xfb05, U"\x53\x54"},
    {0xfb06, U"\x53\x54"},        {0xfb13, U"\x544\x546"},      {0xfb14, U"\x544\x535"},
    {0xfb15, U"\x544\x53b"},      {0xfb16, U"\x54e\x546"},      {0xfb17, U"\x544\x53d"},
};

// Reads one character of UTF-8 at p and goes past it; U+FFFD for a byte that fits nowhere.
char32_t next_char(const char*& p, const char* end) {
  const auto lead = static_cast<unsigned char>(*p++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xc2 && lead < 0xe0   ? 1
                   : lead >= 0xe0 && lead < 0xf0 ? 2
                   : lead >= 0xf0 && lead < 0xf5 ? 3
                                                 : 0;
  if (more == 0) return 0xfffd;
  char32_t c = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if (p == end) return 0xfffd;
    const auto b = static_cast<unsigned char>(*p);
    // The first byte that follows excludes overlong forms, surrogates and what is beyond Unicode.
    const unsigned low = i > 0 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = i > 0 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (b < low || b > high) return 0xfffd;
    c = c << 6 | (b & 0x3f);
    ++p;
  }
  return c;
}
void append(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xff00 >> (more + 1)) | c >> (6 * more));
  for (int i = more; i-- > 0;) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
}

std::string upper_utf8(const std::string& s, locale_t locale) {
  std::string out;
  for (const char *p = s.data(), *end = p + s.size(); p != end;) {
    const char32_t c = next_char(p, end);
    const auto* found = std::lower_bound(std::begin(kSpecial), std::end(kSpecial), c,
                                         [](const Special& a, char32_t b) { return a.letter < b; });
    if (found != std::end(kSpecial) && found->letter == c) {
      for (const char32_t* u = found->capitals; *u != 0; ++u) append(out, *u);
    } else {
      append(out, static_cast<char32_t>(towupper_l(static_cast<wint_t>(c), locale)));
    }
  }
  return out;
}
std::string lower_utf8(const std::string& s, locale_t locale) {
  constexpr char32_t kSigma = 0x3a3, kFinalSigma = 0x3c2, kDottedI = 0x130;
  std::string out;
  bool after_letter = false;
  for (const char *p = s.data(), *end = p + s.size(); p != end;) {
    const char32_t c = next_char(p, end);
    const char* ahead = p;
    if (c == kDottedI) {
      out += "i\xcc\x87";
    } else if (c == kSigma && after_letter &&
               (p == end || !iswalpha_l(static_cast<wint_t>(next_char(ahead, end)), locale))) {
      append(out, kFinalSigma);  // at the end of a word
    } else {
      append(out, static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), locale)));
    }
    after_letter = iswalpha_l(static_cast<wint_t>(c), locale) != 0;
  }
  return out;
}

template <bool kUpper>
void case_cpu(KernelContext& c) noexcept {
  const std::string* in = c.in<std::string>(0);
  std::string* out = c.out<std::string>();
  if (c.string_attr("encoding").empty()) {
    parallel_for(c.out().size, 1024, [&](std::int64_t begin, std::int64_t end) {
      constexpr char kFirst = kUpper ? 'a' : 'A';
      for (std::int64_t i = begin; i < end; ++i) {
        out[i] = in[i];
        for (char& b : out[i])
          if (b >= kFirst && b < kFirst + 26) b = static_cast<char>(b ^ 0x20);
      }
    });
    return;
  }
  const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!locale)
    return c.fail(Code::unavailable,
                  "[strings] this system has no locale C.UTF-8, which encoding \"utf-8\" needs");
  for (std::int64_t i = 0; i < c.out().size; ++i)
    out[i] = kUpper ? upper_utf8(in[i], locale) : lower_utf8(in[i], locale);
  freelocale(locale);
}
RILL_KERNEL("StringUpper", cpu, TypeSet{}, case_cpu<true>);
RILL_KERNEL("StringLower", cpu, TypeSet{}, case_cpu<false>);

}  // namespace
}  // namespace rill::cpu
