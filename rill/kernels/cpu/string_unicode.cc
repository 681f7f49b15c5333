// Characters of Unicode, and n-grams.
#include "rill/base/unicode.h"

#include <algorithm>
#include <string>
#include <vector>

#include "rill/base/format.h"
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

// What the attributes say of characters that are none.
struct OnErrors {
  explicit OnErrors(const AttrReader& a)
      : strict(a.string_attr("errors") == "strict"),
        ignore(a.string_attr("errors") == "ignore"),
        control(a.find_attr("replace_control_characters") &&
                a.bool_attr("replace_control_characters")),
        spare(static_cast<char32_t>(a.int_attr("replacement_char"))) {}
  bool strict, ignore, control;
  char32_t spare;
};

// Calls each(code, byte) for each character; false where a strict call meets bytes that are none.
template <class F>
bool each_char(const std::string& s, TextEncoding encoding, const OnErrors& on, F each) {
  const TextStart start = text_start(s, encoding);
  for (std::size_t at = start.mark; at < s.size();) {
    const NextChar c = next_char(s, at, start.encoding);
    // The first character behind a mark begins with the mark.
    const std::size_t begin = at == start.mark ? 0 : at;
    at += c.bytes;
    if (c.bad && on.strict) return false;
    if (!c.bad && !(on.control && c.code <= 0x1f))
      each(c.code, begin);
    else if (!on.ignore)
      each(on.spare, begin);
  }
  return true;
}
void fail_strict(KernelContext& c, std::int64_t i, const std::string& s) {
  c.fail(Code::invalid_argument,
         format("[{}] string {} has bytes that are no character of {} (it begins with \"{}\"); "
                "with errors = \"replace\" or \"ignore\" they pass",
                c.tag(), i, c.string_attr("input_encoding"), s.substr(0, 40)));
}

void decode_cpu(KernelContext& c) noexcept {
  TextEncoding encoding{};
  text_encoding(c.string_attr("input_encoding"), &encoding);
  const OnErrors on(c);
  const std::string* in = c.in<std::string>(0);
  const std::int64_t n = c.in(0).size;
  std::vector<std::int32_t> codes;
  std::vector<std::int64_t> begins;
  const bool offsets = c.num_outputs() > 2;
  dispatch_types<std::int32_t, std::int64_t>(c.out(0).dtype, [&]<class T>() {
    T* splits = c.out<T>(0);
    splits[0] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const bool fine = each_char(in[i], encoding, on, [&](char32_t code, std::size_t at) {
        codes.push_back(static_cast<std::int32_t>(code));
        if (offsets) begins.push_back(static_cast<std::int64_t>(at));
      });
      if (!fine) return fail_strict(c, i, in[i]);
      splits[i + 1] = static_cast<T>(codes.size());
    }
  });
  if (c.failed()) return;
  const TensorShape shape(Dims{static_cast<std::int64_t>(codes.size())});
  auto* out = c.allocate<std::int32_t>(1, shape);
  if (!out) return;
  std::copy(codes.begin(), codes.end(), out);
  if (!offsets) return;
  if (auto* starts = c.allocate<std::int64_t>(2, shape))
    std::copy(begins.begin(), begins.end(), starts);
}
RILL_KERNEL("UnicodeDecode", cpu, kIndexTypes, decode_cpu);
RILL_KERNEL("UnicodeDecodeWithOffsets", cpu, kIndexTypes, decode_cpu);

void encode_cpu(KernelContext& c) noexcept {
  TextEncoding encoding{};
  text_encoding(c.string_attr("output_encoding"), &encoding);
  const OnErrors on(c);
  const auto* codes = c.in<std::int32_t>(0);
  std::string* out = c.out<std::string>();
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class T>() {
    const T* splits = c.in<T>(1);
    const std::int64_t rows = c.in(1).size - 1;
    for (std::int64_t r = 0; r < rows; ++r)
      if (splits[0] != 0 || splits[r + 1] < splits[r] || splits[rows] != c.in(0).size)
        return c.fail(Code::invalid_argument,
                      format("[{}] input_splits must begin with 0, never fall and end with {}, the "
                             "number of characters",
                             c.tag(), c.in(0).size));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = splits[r]; i < splits[r + 1]; ++i) {
        auto code = static_cast<char32_t>(codes[i]);
        if (!is_unicode_char(code)) {
          if (on.strict)
            return c.fail(Code::invalid_argument,
                          format("[{}] character {} is {}, which is none of Unicode; with errors = "
                                 "\"replace\" or \"ignore\" it passes",
                                 c.tag(), i, codes[i]));
          if (!on.ignore) code = on.spare;
        }
        if (code < 0x110000) append_char(out[r], code, encoding);
      }
  });
}
RILL_KERNEL("UnicodeEncode", cpu, kIndexTypes, encode_cpu);

void transcode_cpu(KernelContext& c) noexcept {
  TextEncoding from{}, to{};
  text_encoding(c.string_attr("input_encoding"), &from);
  text_encoding(c.string_attr("output_encoding"), &to);
  const OnErrors on(c);
  const std::string* in = c.in<std::string>(0);
  std::string* out = c.out<std::string>();
  for (std::int64_t i = 0; i < c.out().size; ++i)
    if (!each_char(in[i], from, on,
                   [&](char32_t code, std::size_t) { append_char(out[i], code, to); }))
      return fail_strict(c, i, in[i]);
}
RILL_KERNEL("UnicodeTranscode", cpu, TypeSet{}, transcode_cpu);

void script_cpu(KernelContext& c) noexcept {
  const auto* in = c.in<std::int32_t>(0);
  auto* out = c.out<std::int32_t>();
  parallel_for(c.out().size, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = unicode_script_of(in[i]);
  });
}
RILL_KERNEL("UnicodeScript", cpu, TypeSet{}, script_cpu);

// ---- n-grams
class Ngrams {
 public:
  explicit Ngrams(const AttrReader& a)
      : separator_(a.string_attr("separator")),
        left_(a.string_attr("left_pad")),
        right_(a.string_attr("right_pad")),
        padding_(a.int_attr("pad_width")) {}
  std::int64_t pads(std::int64_t width) const {
    return std::min(padding_ < 0 ? width - 1 : padding_, width - 1);
  }
  std::int64_t count(std::int64_t words, std::int64_t width) const {
    return std::max<std::int64_t>(0, words + 2 * pads(width) - width + 1);
  }
  // N-gram `index` of `count` of a row.
  std::string gram(const std::string* row, std::int64_t index, std::int64_t count,
                   std::int64_t width) const {
    const std::int64_t pad = pads(width);
    const std::int64_t left = std::max<std::int64_t>(0, pad - index),
                       right = std::max<std::int64_t>(0, pad - (count - (index + 1))),
                       words = width - (left + right), first = left > 0 ? 0 : index - pad;
    std::string out;
    bool any = false;
    const auto put = [&](std::string_view part) {
      if (any) out += separator_;
      out += part;
      any = true;
    };
    for (std::int64_t i = 0; i < left; ++i) put(left_);
    for (std::int64_t i = 0; i < words; ++i) put(row[first + i]);
    for (std::int64_t i = 0; i < right; ++i) put(right_);
    return out;
  }
  std::int64_t padding() const { return std::max<std::int64_t>(0, padding_); }

 private:
  std::string_view separator_, left_, right_;
  std::int64_t padding_;
};

void ngrams_cpu(KernelContext& c) noexcept {
  const Ngrams grams(c);
  const auto widths = c.ints_attr("ngram_widths");
  const bool keep_short = c.bool_attr("preserve_short_sequences");
  const std::string* words = c.in<std::string>(0);
  std::vector<std::string> out;
  dispatch_types<std::int32_t, std::int64_t>(c.in(1).dtype, [&]<class T>() {
    const T* splits = c.in<T>(1);
    const std::int64_t rows = std::max<std::int64_t>(0, c.in(1).size - 1);
    T* ends = c.out<T>(1);
    for (std::int64_t r = 0; r < rows; ++r)
      if (splits[0] != 0 || splits[r + 1] < splits[r] || splits[rows] != c.in(0).size)
        return c.fail(Code::invalid_argument,
                      format("[{}] data_splits must begin with 0, never fall and end with {}, the "
                             "number of strings",
                             c.tag(), c.in(0).size));
    if (c.in(1).size > 0) ends[0] = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::string* row = words + splits[r];
      const std::int64_t length = splits[r + 1] - splits[r];
      const std::size_t before = out.size();
      for (const std::int64_t width : widths) {
        const std::int64_t n = grams.count(length, width);
        for (std::int64_t i = 0; i < n; ++i) out.push_back(grams.gram(row, i, n, width));
      }
      if (keep_short && out.size() == before && length > 0)
        out.push_back(grams.gram(row, 0, 1, length + 2 * grams.padding()));
      ends[r + 1] = static_cast<T>(out.size());
    }
  });
  if (c.failed()) return;
  auto* all = c.allocate<std::string>(0, TensorShape(Dims{static_cast<std::int64_t>(out.size())}));
  if (all) std::move(out.begin(), out.end(), all);
}
RILL_KERNEL("StringNGrams", cpu, kIndexTypes, ngrams_cpu);

}  // namespace
}  // namespace rill::cpu
