#pragma once
#include <cstdint>
#include <string>

namespace rill {

// Decimal text of one float, in NumPy's layout. Internal to the printers.

// The type whose neighbouring values the digits must tell apart. The value is
// always passed as a double, which holds all of them exactly.
enum class FloatKind : std::uint8_t { half, single, dbl };

// What becomes of trailing zeros: kept; cut off up to the point ("1."); cut off
// except for one ("1.0"); cut off with the point ("1").
enum class Trim : std::uint8_t { keep, point, zero, none };

struct FloatStyle {
  int precision = -1;   // most digits after the point; -1: as many as it takes
  int min_digits = -1;  // least digits after the point; -1: large integers may be rounded too
  int exp_digits = 2;   // least width of the exponent
  Trim trim = Trim::point;
  bool plus = false;  // a sign before positive numbers too
};

// Finite values only. The digits are the fewest that read back as `value` in
// its type; where that is more than `precision` or less than `min_digits`, the
// exact value rounded to that many, half to even.
std::string format_positional(double value, FloatKind kind, const FloatStyle& style);
std::string format_scientific(double value, FloatKind kind, const FloatStyle& style);

// str() of a NumPy scalar except for its trailing zeros; nan and inf as well.
std::string format_float_scalar(double value, FloatKind kind, Trim trim, bool plus = false);

}  // namespace rill
