#include "rill/keras/callbacks/path_fields_impl.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/array_format.h"

namespace rill::keras::callbacks {

namespace {

constexpr int kLargest = 1000;  // of a width or precision: no path is longer

// [[fill]align][sign][#][0][width][grouping][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = '>', sign = '-', grouping = 0, type = 0;
  bool alternate = false;
  int width = 0;
  std::optional<int> precision;
};

// Says what is wrong with a spec.
struct Refused {
  std::string why;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Spec parse() {
    Spec s;
    // The fill is one letter, which takes several bytes beyond ASCII.
    std::size_t letter = 1;
    while (letter < text_.size() && (static_cast<unsigned char>(text_[letter]) >> 6) == 2) ++letter;
    const bool has_fill = is_align(letter), has_align = has_fill || is_align(0);
    if (has_fill) s.fill = text_.substr(0, letter), at_ = letter;
    if (has_align) s.align = text_[at_++];
    if (next_is("+- ")) s.sign = text_[at_++];
    if (next_is("#")) s.alternate = true, ++at_;
    if (next_is("0") && !has_fill) {
      s.fill = "0", ++at_;
      if (!has_align) s.align = '=';
    }
    if (const std::optional<int> n = number()) s.width = *n;
    if (next_is(",_")) s.grouping = text_[at_++];
    if (next_is(".")) {
      ++at_;
      s.precision = number();
      if (!s.precision) throw Refused{"it has a point, but no precision"};
    }
    if (at_ < text_.size()) s.type = text_[at_++];
    if (at_ < text_.size()) throw Refused{"it continues after the type"};
    return s;
  }

 private:
  bool is_align(std::size_t i) const {
    return i < text_.size() && std::string_view("<>=^").find(text_[i]) != std::string_view::npos;
  }
  bool next_is(std::string_view any) const {
    return at_ < text_.size() && any.find(text_[at_]) != any.npos;
  }
  std::optional<int> number() {
    if (!next_is("0123456789")) return {};
    int n = 0;
    while (next_is("0123456789")) {
      n = n * 10 + (text_[at_++] - '0');
      if (n > kLargest) throw Refused{"a number in it is too large for a path"};
    }
    return n;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_one_of(char type, std::string_view any) { return type && any.find(type) != any.npos; }

std::string printed(const char* form, int precision, double v) {
  std::string out(static_cast<std::size_t>(std::snprintf(nullptr, 0, form, precision, v)), '\0');
  std::snprintf(out.data(), out.size() + 1, form, precision, v);
  return out;
}

// The digits of a number that is not negative, without a type: as many as it needs, or so many;
// always with a point, unless an exponent tells that it is not an integer.
std::string plain_digits(double v, const Spec& s) {
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : "inf";
  if (!s.precision) return scalar_str({float64, {}, &v});
  const int precision = std::max(*s.precision, 1);
  std::string digits = printed("%.*e", precision - 1, v);
  const std::size_t e = digits.find('e');
  const int exponent = std::stoi(digits.substr(e + 1));
  const auto trimmed = [&](std::string d) {
    if (s.alternate || d.find('.') == d.npos) return d;
    d.erase(d.find_last_not_of('0') + 1);
    if (d.back() == '.') d.pop_back();
    return d;
  };
  if (exponent < -4 || exponent >= precision - 1)
    return trimmed(digits.substr(0, e)) + digits.substr(e);
  digits = trimmed(printed("%.*f", precision - 1 - exponent, v));
  return digits.find('.') == digits.npos ? digits + ".0" : digits;
}

std::string real_digits(double v, const Spec& s) {
  const int precision = s.precision.value_or(6);
  switch (s.type) {
    case 0:
      return plain_digits(v, s);
    case '%':
      return printed(s.alternate ? "%#.*f" : "%.*f", precision, v * 100) + "%";
    case 'n':
      return printed(s.alternate ? "%#.*g" : "%.*g", precision, v);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
      const std::string form = std::string(s.alternate ? "%#.*" : "%.*") + s.type;
      return printed(form.c_str(), precision, v);
    }
    default:
      throw Refused{format("there is no type '{}' for a number with a fraction", s.type)};
  }
}

std::string integer_digits(std::int64_t v, const Spec& s) {
  std::string digits;
  switch (s.type) {
    case 'x':
    case 'X':
    case 'o':
    case 'b': {
      const unsigned base = s.type == 'b' ? 2 : s.type == 'o' ? 8 : 16;
      const char* letters = s.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
      for (auto n = static_cast<std::uint64_t>(v); n > 0 || digits.empty(); n /= base)
        digits.insert(digits.begin(), letters[n % base]);
      return digits;
    }
    case 0:
    case 'd':
    case 'n':
      return std::to_string(v);
    default:
      throw Refused{format("there is no type '{}' for an integer", s.type)};
  }
}

// The digits before the point or exponent in groups, with zeros in front where so many letters
// are to be filled with them.
std::string grouped(const std::string& digits, const Spec& s, std::size_t width) {
  const bool by_four = is_one_of(s.type, "xXob");
  const std::size_t each = by_four ? 4 : 3;
  const std::size_t end = std::isdigit(static_cast<unsigned char>(digits[0])) || by_four
                              ? std::min(digits.find_first_of(by_four ? "" : ".e%E"), digits.size())
                              : 0;
  std::string whole = digits.substr(0, end), out;
  const std::string rest = digits.substr(end);
  do {
    out.clear();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (s.grouping && i > 0 && (whole.size() - i) % each == 0) out += s.grouping;
      out += whole[i];
    }
    out += rest;
    whole.insert(whole.begin(), '0');
  } while (out.size() < width);
  return out;
}

std::string formatted(const std::variant<std::int64_t, double>& value, std::string_view spec) {
  const Spec s = Parser(spec).parse();
  const auto* integer = std::get_if<std::int64_t>(&value);
  const bool as_real = !integer || is_one_of(s.type, "eEfFgG%");
  if (s.grouping && s.type == 'n') throw Refused{"grouping does not go with the type 'n'"};
  if (s.grouping == ',' && is_one_of(s.type, "xXob"))
    throw Refused{format("',' does not go with the type '{}'", s.type)};
  std::string digits, before;
  bool negative = false;
  if (as_real) {
    const double v = integer ? static_cast<double>(*integer) : std::get<double>(value);
    negative = std::signbit(v) && !std::isnan(v);
    digits = real_digits(std::abs(v), s);
  } else {
    if (s.precision) throw Refused{"an integer has no precision"};
    negative = *integer < 0;
    digits = integer_digits(negative ? -*integer : *integer, s);
  }
  if (negative || s.sign != '-') before = negative ? "-" : std::string(1, s.sign);
  if (!as_real && s.alternate && is_one_of(s.type, "xXob")) before += std::string("0") + s.type;
  const auto width = static_cast<std::size_t>(s.width);
  const bool zeros = s.fill == "0" && s.align == '=';
  const std::size_t room = width > before.size() ? width - before.size() : 0;
  const std::string body = grouped(digits, s, zeros ? room : 0);
  if (body.size() >= room) return before + body;
  const std::size_t missing = room - body.size();
  const auto filled = [&](std::size_t n) {
    std::string out;
    while (n-- > 0) out += s.fill;
    return out;
  };
  switch (s.align) {
    case '<':
      return before + body + filled(missing);
    case '^':
      return filled(missing / 2) + before + body + filled(missing - missing / 2);
    case '=':
      return before + filled(missing) + body;
    default:
      return filled(missing) + before + body;
  }
}

}  // namespace

std::string filled_in(std::string_view who, std::string_view path, const PathFields& fields) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (i + 1 < path.size() && path[i + 1] == c) {
      out += c, ++i;
      continue;
    }
    const std::size_t end = c == '{' ? path.find('}', i) : path.npos;
    RILL_CHECK(end != path.npos, invalid_argument,
               "[{}] the path \"{}\" has a '{}' alone; expected {{NAME}} or {{NAME:FORMAT}}, or "
               "'{}' twice for one that stands for itself",
               who, path, c, c);
    const std::string_view field = path.substr(i + 1, end - i - 1),
                           name = field.substr(0, field.find(':')),
                           spec = name.size() < field.size() ? field.substr(name.size() + 1)
                                                             : std::string_view();
    const auto at =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    if (at == fields.end()) {
      std::vector<std::string> names;
      for (const auto& f : fields) names.push_back(f.first);
      RILL_FAIL(invalid_argument, "[{}] there is no \"{}\" for {{{}}} in the path \"{}\".{}", who,
                name, field, path, did_you_mean(name, names));
    }
    try {
      out += formatted(at->second, spec);
    } catch (const Refused& r) {
      RILL_FAIL(invalid_argument,
                "[{}] the format \"{}\" of {{{}}} in the path \"{}\": {}; expected one of Python's "
                "for {}, such as {}",
                who, spec, field, path, r.why, at->second.index() == 0 ? "integers" : "numbers",
                at->second.index() == 0 ? "02d" : ".2f");
    }
    i = end;
  }
  return out;
}

}  // namespace rill::keras::callbacks
