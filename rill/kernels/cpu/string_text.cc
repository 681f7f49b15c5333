// Length, parts and white space of strings.
#include <algorithm>
#include <string>
#include <vector>

#include "rill/base/format.h"
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;
bool starts_char(char b) { return (static_cast<unsigned char>(b) & 0xc0) != 0x80; }
bool is_space(char b) { return b == ' ' || (b >= '\t' && b <= '\r'); }

void length_cpu(KernelContext& c) noexcept {
  const std::string* in = c.in<std::string>(0);
  std::int32_t* out = c.out<std::int32_t>();
  const bool chars = c.string_attr("unit") == "UTF8_CHAR";
  parallel_for(c.out().size, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      out[i] =
          static_cast<std::int32_t>(chars ? std::count_if(in[i].begin(), in[i].end(), starts_char)
                                          : static_cast<std::ptrdiff_t>(in[i].size()));
  });
}
RILL_KERNEL("StringLength", cpu, TypeSet{}, length_cpu);

// The byte at which character n starts; the end for the one after the last.
std::size_t byte_of_char(const std::string& s, std::int64_t n, std::size_t from) {
  for (std::size_t i = from; i < s.size(); ++i)
    if (starts_char(s[i]) && n-- == 0) return i;
  return s.size();
}

void substr_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  const bool chars = c.string_attr("unit") == "UTF8_CHAR";
  const BroadcastPlan p = plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape());
  const std::string* in = c.in<std::string>(0);
  std::string* out = c.out<std::string>();
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class T>() {
    auto cut = [&](const std::string& s, std::int64_t pos, std::int64_t len, std::int64_t at) {
      const std::int64_t size = chars ? std::count_if(s.begin(), s.end(), starts_char)
                                      : static_cast<std::int64_t>(s.size());
      if (pos > size || pos < -size)
        return c.fail(
            Code::invalid_argument,
            format("[{}] pos {} of element {} is outside its string \"{}\" of {} {}", c.tag(), pos,
                   at, s.substr(0, 40), size, chars ? "characters" : "bytes"));
      if (pos < 0) pos += size;
      const std::int64_t n =
          len < 0 ? size - pos : std::min(len, size - pos);  // negative: to the end
      const std::size_t first = chars ? byte_of_char(s, pos, 0) : static_cast<std::size_t>(pos);
      const std::size_t last =
          chars ? byte_of_char(s, n, first) : static_cast<std::size_t>(pos + n);
      out[at] = s.substr(first, last - first);
    };
    for_runs(p, 0, c.out().size / p.inner, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
      for (std::int64_t i = 0; i < p.inner && !c.failed(); ++i) {
        const std::int64_t b = ib + (p.b_row ? i : 0);
        cut(in[ia + (p.a_row ? i : 0)], c.in<T>(1)[b], c.in<T>(2)[b], at + i);
      }
    });
  });
}
RILL_KERNEL("Substr", cpu, kIndexTypes, substr_cpu);

// Calls part(begin, end) for each part of s.
template <class F>
void split_spaces(const std::string& s, std::int64_t max, F part) {
  std::size_t at = 0;
  auto skip = [&] {
    while (at < s.size() && is_space(s[at])) ++at;
  };
  skip();
  for (std::int64_t k = 0; at < s.size(); ++k) {
    if (max >= 0 && k == max) return part(at, s.size());
    const std::size_t begin = at;
    while (at < s.size() && !is_space(s[at])) ++at;
    part(begin, at);
    skip();
  }
}
template <class F>
void split_at(const std::string& s, const std::string& sep, std::int64_t max, F part) {
  std::size_t at = 0;
  for (std::int64_t k = 0; max < 0 || k < max; ++k) {
    const std::size_t next = s.find(sep, at);
    if (next == std::string::npos) break;
    part(at, next);
    at = next + sep.size();
  }
  part(at, s.size());
}

void split_cpu(KernelContext& c) noexcept {
  const std::string *in = c.in<std::string>(0), &sep = *c.in<std::string>(1);
  const std::int64_t max = c.int_attr("maxsplit"), n = c.in(0).size;
  struct Part {
    std::int64_t row, column;
    std::size_t begin, end;
  };
  std::vector<Part> parts;
  std::int64_t columns = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t column = 0;
    auto part = [&](std::size_t begin, std::size_t end) {
      parts.push_back({i, column++, begin, end});
    };
    if (sep.empty())
      split_spaces(in[i], max, part);
    else
      split_at(in[i], sep, max, part);
    columns = std::max(columns, column);
  }
  const auto count = static_cast<std::int64_t>(parts.size());
  auto* indices = c.allocate<std::int64_t>(0, TensorShape(Dims{count, 2}));
  auto* values = indices ? c.allocate<std::string>(1, TensorShape(Dims{count})) : nullptr;
  if (!values) return;
  for (const Part& p : parts) {
    *indices++ = p.row;
    *indices++ = p.column;
    *values++ = in[p.row].substr(p.begin, p.end - p.begin);
  }
  c.out<std::int64_t>(2)[0] = n;
  c.out<std::int64_t>(2)[1] = columns;
}
RILL_KERNEL("StringSplitV2", cpu, TypeSet{}, split_cpu);

void strip_cpu(KernelContext& c) noexcept {
  const std::string* in = c.in<std::string>(0);
  std::string* out = c.out<std::string>();
  parallel_for(c.out().size, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::size_t first = 0, last = in[i].size();
      while (first < last && is_space(in[i][first])) ++first;
      while (last > first && is_space(in[i][last - 1])) --last;
      out[i] = in[i].substr(first, last - first);
    }
  });
}
RILL_KERNEL("StringStrip", cpu, TypeSet{}, strip_cpu);

}  // namespace
}  // namespace rill::cpu
