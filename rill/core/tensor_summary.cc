#include "rill/core/tensor_summary.h"

#include <cstdio>
#include <cstdlib>

#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"

namespace rill {
namespace {

// As few digits as tell the number from its neighbours, of two choices.
void append_number(std::string& out, double v, bool single) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", single ? 6 : 15, v);
  const bool same = single ? std::strtof(text, nullptr) == static_cast<float>(v)
                           : std::strtod(text, nullptr) == v;
  if (!same && v == v) std::snprintf(text, sizeof text, "%.*g", single ? 9 : 17, v);
  out += v == v ? text : "nan";
}
void append_quoted(std::string& out, const std::string& s) {
  out += '"';
  for (const char c : s) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\'' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char text[8];
      std::snprintf(text, sizeof text, "\\%03o", static_cast<unsigned char>(c));
      out += text;
    } else {
      out += c;
    }
  }
  out += '"';
}
template <class T>
void append_element(std::string& out, const T& v) {
  if constexpr (std::is_same_v<T, std::string>)
    append_quoted(out, v);
  else if constexpr (std::is_same_v<T, bool>)
    out += v ? '1' : '0';
  else if constexpr (std::is_integral_v<T>)
    out += std::to_string(v);
  else if constexpr (requires { v.real(); }) {
    out += '(';
    append_number(out, static_cast<double>(v.real()), sizeof(T) == 8);
    out += ',';
    append_number(out, static_cast<double>(v.imag()), sizeof(T) == 8);
    out += ')';
  } else
    append_number(out, static_cast<double>(v), !std::is_same_v<T, double>);
}

template <class T>
struct Summary {
  const Dims& dims;
  std::int64_t keep;  // -1: all
  std::string out = {};

  // Writes what is below axis `axis`, from element x on, `count` elements long.
  void write(std::size_t axis, const T* x, std::int64_t count) {
    if (axis == dims.size()) return append_element(out, *x);
    const std::int64_t n = dims[axis], below = n > 0 ? count / n : 0;
    const bool last = axis + 1 == dims.size();
    const std::string between =
        last ? " " : std::string(dims.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
    out += '[';
    for (std::int64_t i = 0; i < n; ++i) {
      if (i > 0) out += between;
      if (keep >= 0 && n > 2 * keep && i == keep) {
        out += "...";
        i = n - keep - 1;
        continue;
      }
      write(axis + 1, x + i * below, below);
    }
    out += ']';
  }
};

}  // namespace

std::string tensor_summary(const Tensor& t, std::int64_t keep) {
  const Tensor host = to_host(t);
  std::string out;
  dispatch_all(host.dtype(), [&]<class T>() {
    Summary<T> s{host.shape().dims(), keep};
    s.write(0, static_cast<const T*>(host.impl()->data), host.size());
    out = std::move(s.out);
  });
  return out;
}

}  // namespace rill
