// Numbers from strings and strings from numbers.
#include <locale.h>
#include <stdlib.h>

#include <charconv>
#include <cstdio>
#include <string>

#include "rill/base/format.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

std::string_view trimmed(std::string_view s) {
  auto space = [](char b) { return b == ' ' || (b >= '\t' && b <= '\r'); };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return s;
}

template <class T>
bool read_number(std::string_view s, T& out) {
  if constexpr (std::is_integral_v<T>) {
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    return error == std::errc() && end == s.data() + s.size();
  } else {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    // What strtod takes and is meant as no number here: a second space, "infinity", "nan(..)",
    // hexadecimal fractions.
    std::string text(s);
    std::string_view bare = s;
    if (!bare.empty() && (bare[0] == '-' || bare[0] == '+')) bare.remove_prefix(1);
    const bool hex = bare.size() > 2 && bare[0] == '0' && (bare[1] | 0x20) == 'x';
    if (bare.empty() || trimmed(bare) != bare || bare.find('(') != bare.npos ||
        (bare.size() > 3 && (bare[0] | 0x20) == 'i'))
      return false;
    if (hex && bare.find_first_of(".pP") != bare.npos) return false;
    char* end = nullptr;
    if constexpr (sizeof(T) == 4)
      out = strtof_l(text.c_str(), &end, plain);
    else
      out = strtod_l(text.c_str(), &end, plain);
    return end == text.c_str() + text.size();
  }
}

void to_number_cpu(KernelContext& c) noexcept {
  dispatch_types<float, double, std::int32_t, std::int64_t>(c.out().dtype, [&]<class T>() {
    const std::string* in = c.in<std::string>(0);
    for (std::int64_t i = 0; i < c.out().size; ++i)
      if (!read_number(trimmed(in[i]), c.out<T>()[i]))
        return c.fail(Code::invalid_argument,
                      format("[{}] element {}, \"{}\", is not a number of dtype {}", c.tag(), i,
                             in[i].substr(0, 40), c.out().dtype));
  });
}
RILL_KERNEL("StringToNumber", cpu, (TypeSet{float32, float64, int32, int64}), to_number_cpu);

template <class... A>
std::string print(const std::string& form, A... args) {
  std::string out(static_cast<std::size_t>(std::snprintf(nullptr, 0, form.c_str(), args...)), '\0');
  std::snprintf(out.data(), out.size() + 1, form.c_str(), args...);
  return out;
}

void as_string_cpu(KernelContext& c) noexcept {
  std::string spec = "%" + std::string(c.string_attr("fill"));
  const std::int64_t width = c.int_attr("width"), precision = c.int_attr("precision");
  if (width > -1) spec += std::to_string(width);
  if (precision > -1) spec += "." + std::to_string(precision);
  const std::string number = spec + (c.bool_attr("scientific") ? "e"
                                     : c.bool_attr("shortest") ? "g"
                                                               : "f");
  const std::string pair = "(" + number + "," + number + ")";
  dispatch_all(c.in(0).dtype, [&]<class T>() {
    const T* in = c.in<T>(0);
    std::string* out = c.out<std::string>();
    for (std::int64_t i = 0; i < c.out().size; ++i) {
      if constexpr (std::is_same_v<T, std::string>) {
        std::string text = in[i];
        if (width > static_cast<std::int64_t>(text.size())) {
          const std::size_t missing = static_cast<std::size_t>(width) - text.size();
          text.insert(c.string_attr("fill") == "-" ? text.size() : 0, missing, ' ');
        }
        out[i] = text;
      } else if constexpr (std::is_same_v<T, bool>) {
        out[i] = in[i] ? "true" : "false";
      } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        out[i] = print(spec + "lld", static_cast<long long>(in[i]));
      } else if constexpr (std::is_integral_v<T>) {
        out[i] = print(spec + "llu", static_cast<unsigned long long>(in[i]));
      } else if constexpr (requires(T t) { t.real(); }) {
        out[i] = print(pair, static_cast<double>(in[i].real()), static_cast<double>(in[i].imag()));
      } else {
        out[i] = print(number, static_cast<double>(in[i]));
      }
    }
  });
}
RILL_KERNEL("AsString", cpu, kAllTypes, as_string_cpu);

}  // namespace
}  // namespace rill::cpu
