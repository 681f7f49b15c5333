#include "rill/core/array_format.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "rill/core/float_format.h"
#include "rill/core/half.h"

namespace rill {
namespace {

using Index = std::int64_t;
// Text of the element at a row-major position.
using Formatter = std::function<std::string(Index)>;

Index element_count(std::span<const Index> dims) {
  Index n = 1;
  for (const Index d : dims) n *= d;
  return n;
}

template <typename T>
const T* as(const ArrayView& a) {
  return static_cast<const T*>(a.data);
}

// The integers and bool, widened; uint64 goes another way.
std::int64_t integer_at(const ArrayView& a, Index i) {
  switch (a.dtype.code()) {
    case DType::Code::int8:
      return as<std::int8_t>(a)[i];
    case DType::Code::int16:
      return as<std::int16_t>(a)[i];
    case DType::Code::int32:
      return as<std::int32_t>(a)[i];
    case DType::Code::int64:
      return as<std::int64_t>(a)[i];
    case DType::Code::uint8:
      return as<std::uint8_t>(a)[i];
    case DType::Code::uint16:
      return as<std::uint16_t>(a)[i];
    case DType::Code::uint32:
      return as<std::uint32_t>(a)[i];
    default:
      return as<std::uint8_t>(a)[i];
  }
}

double real_at(const ArrayView& a, Index i) {
  switch (a.dtype.code()) {
    case DType::Code::float16:
      return as<half>(a)[i];
    case DType::Code::bfloat16:
      return as<bfloat16_t>(a)[i];
    case DType::Code::float32:
      return as<float>(a)[i];
    case DType::Code::float64:
      return as<double>(a)[i];
    case DType::Code::complex64:
      return as<std::complex<float>>(a)[i].real();
    default:
      return as<std::complex<double>>(a)[i].real();
  }
}

double imag_at(const ArrayView& a, Index i) {
  return a.dtype == complex64 ? as<std::complex<float>>(a)[i].imag()
                              : as<std::complex<double>>(a)[i].imag();
}

FloatKind kind_of(DType t) {
  if (t == float16) return FloatKind::half;
  return t == float32 || t == complex64 ? FloatKind::single : FloatKind::dbl;
}

// Python's repr() of a bytes object.
std::string bytes_repr(const std::string& s) {
  const bool has_single = s.find('\'') != std::string::npos;
  const char quote = has_single && s.find('"') == std::string::npos ? '"' : '\'';
  std::string out = {'b', quote};
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (u < 0x20 || u >= 0x7f) {
      out += fmt::format("\\x{:02x}", u);
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

std::string complex_scalar(double re, double im, FloatKind kind) {
  if (re == 0 && !std::signbit(re)) return format_float_scalar(im, kind, Trim::none) + "j";
  return "(" + format_float_scalar(re, kind, Trim::none) +
         format_float_scalar(im, kind, Trim::none, true) + "j)";
}

std::string scalar_at(const ArrayView& a, Index i) {
  switch (a.dtype.code()) {
    case DType::Code::bool_:
      return integer_at(a, i) != 0 ? "True" : "False";
    case DType::Code::uint64:
      return std::to_string(as<std::uint64_t>(a)[i]);
    case DType::Code::string:
      return bytes_repr(as<std::string>(a)[i]);
    case DType::Code::bfloat16: {
      const double value = real_at(a, i);
      return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
    }
    case DType::Code::complex64:
    case DType::Code::complex128:
      return complex_scalar(real_at(a, i), imag_at(a, i), kind_of(a.dtype));
    case DType::Code::resource:
      return "<resource>";
    case DType::Code::variant:
      return "<variant>";
    case DType::Code::invalid:
      return "<invalid>";
    default:
      return a.dtype.is_floating()
                 ? format_float_scalar(real_at(a, i), kind_of(a.dtype), Trim::zero)
                 : std::to_string(integer_at(a, i));
  }
}

// How all the floats of an array are laid out, so that their points stand
// below each other.
class FloatColumn {
 public:
  FloatColumn(const std::vector<double>& values, FloatKind kind, bool plus,
              const PrintOptions& options)
      : kind_(kind) {
    style_.plus = plus;
    style_.precision = options.precision;
    std::vector<double> finite;
    for (const double v : values) {
      if (std::isfinite(v)) finite.push_back(v);
    }
    if (!finite.empty()) {
      exponential_ = wants_exponent(finite, options.suppress);
      measure(finite);
    }
    if (finite.size() == values.size()) return;
    const bool negative_inf =
        plus || std::ranges::any_of(values, [](double v) { return std::isinf(v) && v < 0; });
    pad_left_ = std::max({pad_left_, 3 - (pad_right_ + 1), 3 + negative_inf - (pad_right_ + 1)});
  }

  std::string operator()(double value) const {
    if (!std::isfinite(value)) {
      const std::string text = std::isnan(value) ? (style_.plus ? "+nan" : "nan")
                               : value < 0       ? "-inf"
                               : style_.plus     ? "+inf"
                                                 : "inf";
      return fmt::format("{:>{}}", text, std::max(pad_left_ + pad_right_ + 1, 0));
    }
    std::string text = exponential_ ? format_scientific(value, kind_, style_)
                                    : format_positional(value, kind_, style_);
    const int left = static_cast<int>(text.find('.'));
    if (left < pad_left_) text.insert(0, static_cast<std::size_t>(pad_left_ - left), ' ');
    if (!exponential_) {
      const int right = static_cast<int>(text.size() - text.find('.')) - 1;
      if (right < pad_right_) text.append(static_cast<std::size_t>(pad_right_ - right), ' ');
    }
    return text;
  }

 private:
  // NumPy divides in the array's own type, but compares as doubles.
  bool wants_exponent(const std::vector<double>& finite, bool suppress) const {
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (const double v : finite) {
      if (v == 0) continue;
      most = std::max(most, std::fabs(v));
      least = std::min(least, std::fabs(v));
    }
    if (most == 0) return false;
    double ratio = most / least;
    if (kind_ == FloatKind::single) ratio = static_cast<float>(most) / static_cast<float>(least);
    if (kind_ == FloatKind::half) {
      ratio = half(static_cast<float>(most) / static_cast<float>(least));
    }
    return most >= 1e8 || (!suppress && (least < 1e-4 || ratio > 1000));
  }

  void measure(const std::vector<double>& finite) {
    int exp_digits = 0;
    for (const double v : finite) {
      const std::string text =
          exponential_ ? format_scientific(v, kind_, style_) : format_positional(v, kind_, style_);
      const std::size_t point = text.find('.');
      const std::size_t e = std::min(text.find('e'), text.size());
      pad_left_ = std::max(pad_left_, static_cast<int>(point));
      pad_right_ = std::max(pad_right_, static_cast<int>(e - point) - 1);
      exp_digits = std::max(exp_digits, static_cast<int>(text.size() - e) - 2);
    }
    style_.min_digits = 0;
    if (!exponential_) return;
    style_.trim = Trim::keep;
    style_.precision = style_.min_digits = pad_right_;
    style_.exp_digits = exp_digits;
    pad_right_ += exp_digits + 2;
  }

  FloatKind kind_;
  FloatStyle style_;
  bool exponential_ = false;
  int pad_left_ = 0;
  int pad_right_ = 0;
};

Formatter float_formatter(const ArrayView& a, const std::vector<Index>& shown,
                          const PrintOptions& options) {
  std::vector<double> values(shown.size());
  std::ranges::transform(shown, values.begin(), [&](Index i) { return real_at(a, i); });
  const FloatColumn real(values, kind_of(a.dtype), false, options);
  if (!a.dtype.is_complex()) return [a, real](Index i) { return real(real_at(a, i)); };
  std::ranges::transform(shown, values.begin(), [&](Index i) { return imag_at(a, i); });
  const FloatColumn imag(values, kind_of(a.dtype), true, options);
  return [a, real, imag](Index i) {
    std::string text = imag(imag_at(a, i));
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return real(real_at(a, i)) + text;
  };
}

Formatter make_formatter(const ArrayView& a, const std::vector<Index>& shown,
                         const PrintOptions& options) {
  if (a.dtype.is_bool()) {
    return [a](Index i) {
      return integer_at(a, i) == 0 ? "False" : a.dims.empty() ? "True" : " True";
    };
  }
  if (a.dtype.is_integer()) {
    std::size_t width = 0;
    for (const Index i : shown) width = std::max(width, scalar_at(a, i).size());
    return [a, width](Index i) { return fmt::format("{:>{}}", scalar_at(a, i), width); };
  }
  if (a.dtype != bfloat16 && (a.dtype.is_floating() || a.dtype.is_complex())) {
    return float_formatter(a, shown, options);
  }
  return [a](Index i) { return scalar_at(a, i); };
}

std::string right_trimmed(std::string s) {
  s.erase(s.find_last_not_of(' ') + 1);
  return s;
}

// The brackets, separators, line breaks and dots around the elements.
class Layout {
 public:
  Layout(std::span<const Index> dims, const PrintOptions& options, std::string separator)
      : dims_(dims), edge_(std::max(options.edgeitems, 0)), separator_(std::move(separator)) {
    summarise_ = element_count(dims) > options.threshold;
    strides_.assign(dims_.size(), 1);
    for (std::size_t k = dims_.size(); k-- > 1;) strides_[k - 1] = strides_[k] * dims_[k];
  }

  // Positions of the elements whose widths count.
  std::vector<Index> shown() const {
    std::vector<Index> out;
    collect(0, 0, out);
    return out;
  }

  std::string text(const Formatter& format, std::size_t indent, int width) const {
    return axis_text(format, 0, 0, indent + 1, width);
  }

 private:
  bool cut(std::size_t axis) const { return summarise_ && 2 * edge_ < dims_[axis]; }

  void collect(std::size_t axis, Index base, std::vector<Index>& out) const {
    if (axis == dims_.size()) {
      out.push_back(base);
      return;
    }
    for (Index i = 0; i < dims_[axis]; ++i) {
      // With no edge items NumPy measures all elements, though it prints few.
      if (cut(axis) && edge_ > 0 && i == edge_) i = dims_[axis] - edge_;
      collect(axis + 1, base + i * strides_[axis], out);
    }
  }

  // `indent` counts the columns under the opening brackets, this one's too.
  std::string axis_text(const Formatter& format, std::size_t axis, Index base, std::size_t indent,
                        int width) const {
    if (axis == dims_.size()) return format(base);
    if (axis + 1 == dims_.size()) return row_text(format, base, indent, width);
    const std::string pad(indent, ' ');
    const std::string line_end =
        right_trimmed(separator_) + std::string(dims_.size() - axis - 1, '\n');
    std::string out = "[";
    for (Index i = 0; i < dims_[axis]; ++i) {
      if (i > 0) out += line_end + pad;
      if (cut(axis) && i == edge_) {
        out += "..." + line_end + pad;
        i = dims_[axis] - std::max<Index>(edge_, 1);
      }
      out += axis_text(format, axis + 1, base + i * strides_[axis], indent + 1, width - 1);
    }
    return out + "]";
  }

  std::string row_text(const Formatter& format, Index base, std::size_t indent, int width) const {
    const auto limit = width - std::max(static_cast<int>(right_trimmed(separator_).size()), 1);
    const std::string pad(indent, ' ');
    std::string out, line = pad;
    auto add = [&](const std::string& word) {
      std::size_t widest = 0;
      for (std::size_t at = 0; at <= word.size();) {
        const std::size_t end = std::min(word.find('\n', at), word.size());
        widest = std::max(widest, end - at), at = end + 1;
      }
      if (static_cast<int>(line.size() + widest) > limit && line.size() > indent) {
        out += right_trimmed(std::move(line)) + "\n";
        line = pad;
      }
      if (word.find('\n') == std::string::npos) {
        line += word;
        return;
      }
      // An array in an array: its lines stand below each other, all as wide as the widest.
      const std::string below(line.size(), ' ');
      std::size_t last = 0;
      for (std::size_t at = 0; at <= word.size();) {
        const std::size_t end = std::min(word.find('\n', at), word.size());
        if (at > 0) out += right_trimmed(std::move(line)) + "\n", line = below;
        line += word.substr(at, end - at);
        last = end - at, at = end + 1;
      }
      line.append(widest - last, ' ');
    };
    for (Index i = 0; i < dims_.back(); ++i) {
      if (i > 0) line += separator_;
      if (cut(dims_.size() - 1) && i == edge_) {
        add("...");
        line += separator_;
        i = dims_.back() - std::max<Index>(edge_, 1);
      }
      add(format(base + i));
    }
    return "[" + (out + line).substr(indent) + "]";
  }

  std::span<const Index> dims_;
  std::vector<Index> strides_;
  Index edge_;
  std::string separator_;
  bool summarise_;
};

std::string body(const ArrayView& a, const PrintOptions& options, const std::string& separator,
                 std::size_t prefix, int suffix) {
  const Layout layout(a.dims, options, separator);
  const Formatter format = make_formatter(a, layout.shown(), options);
  return layout.text(format, prefix, options.linewidth - suffix);
}

}  // namespace

std::string array_layout(std::span<const std::int64_t> dims, const Formatter& element,
                         const PrintOptions& options) {
  return Layout(dims, options, ", ").text(element, 0, options.linewidth);
}

std::string scalar_str(const ArrayView& array) { return scalar_at(array, 0); }

std::string array_str(const ArrayView& array, const PrintOptions& options) {
  if (array.dims.empty()) return scalar_at(array, 0);
  if (element_count(array.dims) == 0) return "[]";
  return body(array, options, " ", 0, 0);
}

std::string array_repr(const ArrayView& array, const PrintOptions& options) {
  const std::string prefix = "array(";
  const DType t = array.dtype;
  const bool empty = element_count(array.dims) == 0;
  const bool implied = t == int64 || t == float64 || t.is_bool() || t == complex128;
  const std::string suffix = implied && !empty ? ")" : ",";
  std::string out = prefix;
  if (!empty) {
    out += body(array, options, ", ", prefix.size(), 1);
  } else if (array.dims.size() == 1) {
    out += "[]";
  } else {
    out += fmt::format("[], shape=({})", fmt::join(array.dims, ", "));
  }
  out += suffix;
  if (implied && !empty) return out;
  const bool is_object = t == string || t == resource || t == variant;
  const std::string dtype = fmt::format("dtype={})", is_object ? "object" : t.name());
  const std::size_t last_line = out.size() - (out.rfind('\n') + 1);
  const bool wraps = static_cast<int>(last_line + dtype.size() + 1) > options.linewidth;
  return out + (wraps ? "\n" + std::string(prefix.size(), ' ') : " ") + dtype;
}

}  // namespace rill
