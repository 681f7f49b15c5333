#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "rill/base/api.h"

namespace rill RILL_API {

// One argument of format(): a number, a string, or any type T for which
// `void append_formatted(std::string& out, const T& value, std::string_view spec)`
// is found by argument-dependent lookup. It only points at its argument.
class FormatArg {
 public:
  using Custom = void (*)(std::string& out, const void* value, std::string_view spec);
  enum class Kind : std::uint8_t { boolean, integer, unsigned_integer, floating, text, custom };

  template <class T>
  FormatArg(const T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      kind = Kind::boolean, u.i = v;
    } else if constexpr (std::is_same_v<T, char>) {
      kind = Kind::text, text = std::string_view(&v, 1);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      kind = Kind::integer, u.i = v;
    } else if constexpr (std::is_integral_v<T>) {
      kind = Kind::unsigned_integer, u.n = v;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind = Kind::floating, single = std::is_same_v<T, float>, u.d = static_cast<double>(v);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      kind = Kind::text, text = std::string_view(v);
    } else {
      kind = Kind::custom, u.p = &v;
      custom = [](std::string& out, const void* p, std::string_view spec) {
        append_formatted(out, *static_cast<const T*>(p), spec);
      };
    }
  }

  Kind kind;
  bool single = false;  // a float: its shortest digits are those of float32
  union {
    std::int64_t i;
    std::uint64_t n;
    double d;
    const void* p;
  } u{};
  std::string_view text;
  Custom custom = nullptr;
};

// std::format's grammar ("{}", "{:.3f}", "{0}", "{{"), type-erased, so that the
// header stays light. Tensors, variables, shapes and dtypes are arguments too;
// a scalar tensor takes the specs of a number ("{:.3f}", "{:d}").
std::string vformat(std::string_view text, std::initializer_list<FormatArg> args);

template <class... A>
std::string format(std::string_view text, const A&... args) {
  return vformat(text, {FormatArg(args)...});
}

// Formats one builtin number or string by a spec; what append_formatted()s use.
void append_number(std::string& out, const FormatArg& number, std::string_view spec);

}  // namespace RILL_API
