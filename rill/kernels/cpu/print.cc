// Tensors as text, and text to streams.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "rill/base/format.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
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

void summary_cpu(KernelContext& c) noexcept {
  dispatch_all(c.in(0).dtype, [&]<class T>() {
    Summary<T> s{c.in_shape(0).dims(), c.int_attr("summarize")};
    s.write(0, c.in<T>(0), c.in(0).size);
    *c.out<std::string>() = std::move(s.out);
  });
}
RILL_KERNEL("_TensorSummary", cpu, kAllTypes, summary_cpu);

void print_cpu(KernelContext& c) noexcept {
  static std::mutex mutex;  // lines stay whole
  const std::string_view to = c.string_attr("output_stream");
  const std::string text = *c.in<std::string>(0) + std::string(c.string_attr("end"));
  std::lock_guard lock(mutex);
  const bool file = to.starts_with("file://");
  std::FILE* stream = to == "stdout" ? stdout : stderr;
  if (file) stream = std::fopen(std::string(to.substr(7)).c_str(), "a");
  if (!stream)
    return c.fail(Code::not_found, format("[{}] cannot open {} to write to it", c.tag(), to));
  if (to == "log(info)") std::fputs("I ", stream);
  if (to == "log(warning)") std::fputs("W ", stream);
  if (to == "log(error)") std::fputs("E ", stream);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (file) std::fclose(stream);
  if (!written) c.fail(Code::data_loss, format("[{}] cannot write to {}", c.tag(), to));
}
RILL_KERNEL("PrintV2", cpu, TypeSet{}, print_cpu);

}  // namespace
}  // namespace rill::cpu
