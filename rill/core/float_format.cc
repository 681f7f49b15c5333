#include "rill/core/float_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "rill/core/half.h"

namespace rill {
namespace {

// value = digits[0].digits[1]digits[2]... * 10^exponent
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal parse_scientific(const char* begin, const char* end) {
  Decimal d;
  const char* p = begin;
  for (; p != end && *p != 'e'; ++p) {
    if (*p != '.') d.digits.push_back(*p);
  }
  ++p;
  if (p < end && *p == '+') ++p;
  std::from_chars(p, end, d.exponent);
  return d;
}

template <typename T>
Decimal shortest_of(T magnitude) {
  char buffer[64];
  const auto r =
      std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::scientific);
  return parse_scientific(buffer, r.ptr);
}

// There is no to_chars for halves: the first length at which the nearest
// decimal, or the one above it, reads back. The one above can be the only one
// that does at powers of two, where the gap below is half the gap above.
Decimal shortest_half(double magnitude) {
  const std::uint16_t bits = half(static_cast<float>(magnitude)).bits;
  for (int length = 1; length <= 5; ++length) {
    char buffer[64];
    const auto r = std::to_chars(buffer, buffer + sizeof buffer, magnitude,
                                 std::chars_format::scientific, length - 1);
    const Decimal nearest = parse_scientific(buffer, r.ptr);
    const int scale = nearest.exponent - (length - 1);
    const double unit = std::pow(10.0, std::abs(scale));
    long mantissa = std::atol(nearest.digits.c_str());
    for (int step = 0; step < 2; ++step, ++mantissa) {
      const double back =
          scale < 0 ? static_cast<double>(mantissa) / unit : static_cast<double>(mantissa) * unit;
      if (half(static_cast<float>(back)).bits != bits) continue;
      Decimal d{std::to_string(mantissa), nearest.exponent};
      d.exponent += static_cast<int>(d.digits.size()) - length;
      return d;
    }
  }
  return shortest_of(magnitude);
}

Decimal shortest(double magnitude, FloatKind kind) {
  if (magnitude == 0) return {"0", 0};
  Decimal d = kind == FloatKind::half     ? shortest_half(magnitude)
              : kind == FloatKind::single ? shortest_of(static_cast<float>(magnitude))
                                          : shortest_of(magnitude);
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

std::string trimmed(std::string fraction, const FloatStyle& style) {
  if (style.trim == Trim::keep) return "." + fraction;
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  if (fraction.empty()) {
    if (style.trim == Trim::none) return "";
    if (style.trim == Trim::zero) return ".0";
  }
  return "." + fraction;
}

const char* sign_of(double value, bool plus) { return std::signbit(value) ? "-" : plus ? "+" : ""; }

}  // namespace

std::string format_positional(double value, FloatKind kind, const FloatStyle& style) {
  const double magnitude = std::fabs(value);
  Decimal d = shortest(magnitude, kind);
  const int length = static_cast<int>(d.digits.size()) - 1 - d.exponent;
  std::string whole, fraction;
  if ((style.precision >= 0 && length > style.precision) ||
      (style.min_digits >= 0 && length < style.min_digits)) {
    char buffer[512];
    const int wanted = length < style.min_digits ? style.min_digits : style.precision;
    const auto r =
        std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::fixed, wanted);
    const std::string text(buffer, r.ptr);
    const std::size_t point = std::min(text.find('.'), text.size());
    whole = text.substr(0, point);
    if (point < text.size()) fraction = text.substr(point + 1);
  } else if (d.exponent < 0) {
    whole = "0";
    fraction = std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  } else {
    const auto whole_size = static_cast<std::size_t>(d.exponent) + 1;
    if (d.digits.size() < whole_size) d.digits.resize(whole_size, '0');
    whole = d.digits.substr(0, whole_size);
    fraction = d.digits.substr(whole_size);
  }
  return sign_of(value, style.plus) + whole + trimmed(std::move(fraction), style);
}

std::string format_scientific(double value, FloatKind kind, const FloatStyle& style) {
  const double magnitude = std::fabs(value);
  Decimal d = shortest(magnitude, kind);
  const int length = static_cast<int>(d.digits.size()) - 1;
  if ((style.precision >= 0 && length > style.precision) ||
      (style.min_digits >= 0 && length < style.min_digits)) {
    char buffer[512];
    const int wanted = length < style.min_digits ? style.min_digits : style.precision;
    const auto r = std::to_chars(buffer, buffer + sizeof buffer, magnitude,
                                 std::chars_format::scientific, wanted);
    d = parse_scientific(buffer, r.ptr);
  }
  std::string exponent = std::to_string(std::abs(d.exponent));
  const auto width = static_cast<std::size_t>(std::max(style.exp_digits, 0));
  if (exponent.size() < width) exponent.insert(0, width - exponent.size(), '0');
  return sign_of(value, style.plus) + d.digits.substr(0, 1) + trimmed(d.digits.substr(1), style) +
         (d.exponent < 0 ? "e-" : "e+") + exponent;
}

std::string format_float_scalar(double value, FloatKind kind, Trim trim, bool plus) {
  if (std::isnan(value)) return plus ? "+nan" : "nan";
  if (std::isinf(value)) return sign_of(value, plus) + std::string("inf");
  const double magnitude = std::fabs(value);
  FloatStyle style{.trim = trim, .plus = plus};
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    return format_positional(value, kind, style);
  }
  style.trim = Trim::none;
  return format_scientific(value, kind, style);
}

}  // namespace rill
