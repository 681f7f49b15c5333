#include "rill/core/array_format.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "rill/core/float_format.h"
#include "rill/core/half.h"

namespace rill {
namespace {

std::string source_path(const std::string& relative) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  return root != nullptr ? std::string(root) + "/" + relative : relative;
}

// One case of testdata/array_format.txt; the script that makes it tells the
// format.
struct Golden {
  int line = 0;
  std::string dtype;
  std::vector<std::int64_t> dims;
  PrintOptions options;
  bool arange = false;
  double start = 0, step = 0;
  std::vector<std::string> values;
  std::string str, repr, scalar;

  std::int64_t size() const {
    std::int64_t n = 1;
    for (const auto d : dims) n *= d;
    return n;
  }
};

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out += text[++i] == 'n' ? '\n' : text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<Golden> read_goldens() {
  std::ifstream in(source_path("rill/core/testdata/array_format.txt"));
  std::vector<Golden> out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    const std::string rest = line.size() > key.size() ? line.substr(key.size() + 1) : "";
    if (key == "case") {
      Golden& g = out.emplace_back();
      g.line = number;
      std::string dims, dim;
      words >> g.dtype >> dims;
      std::istringstream list(dims);
      while (dims != "-" && std::getline(list, dim, ',')) g.dims.push_back(std::stoll(dim));
    } else if (key == "options") {
      PrintOptions& o = out.back().options;
      words >> o.precision >> o.threshold >> o.edgeitems >> o.linewidth >> o.suppress;
    } else if (key == "values") {
      for (std::string word; words >> word;) out.back().values.push_back(word);
    } else if (key == "arange") {
      out.back().arange = true;
      words >> out.back().start >> out.back().step;
    } else if (key == "str") {
      out.back().str = unescape(rest);
    } else if (key == "repr") {
      out.back().repr = unescape(rest);
    } else if (key == "scalar") {
      out.back().scalar = unescape(rest);
    }
  }
  return out;
}

std::string unhex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return out;
}

// The elements of a golden as the bytes of T; `convert` makes one from a
// double, for `arange`.
template <typename T, typename Convert>
std::vector<T> elements(const Golden& g, Convert convert, int base) {
  std::vector<T> out;
  if (g.arange) {
    for (std::int64_t i = 0; i < g.size(); ++i) {
      out.push_back(convert(g.start + g.step * static_cast<double>(i)));
    }
    return out;
  }
  for (const std::string& word : g.values) {
    const auto bits = word[0] == '-' ? static_cast<std::uint64_t>(std::stoll(word))
                                     : std::stoull(word, nullptr, base);
    T element;
    std::memcpy(&element, &bits, sizeof element);  // little-endian
    out.push_back(element);
  }
  return out;
}

template <typename T>
T narrowed(double v) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    return T(static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

template <typename T>
std::vector<T> elements(const Golden& g, int base) {
  return elements<T>(
      g, [](double v) { return narrowed<T>(v); }, base);
}

void check(const Golden& g, DType dtype, const void* data) {
  SCOPED_TRACE("array_format.txt:" + std::to_string(g.line));
  const ArrayView view{dtype, g.dims, data};
  EXPECT_EQ(array_str(view, g.options), g.str);
  EXPECT_EQ(array_repr(view, g.options), g.repr);
  if (g.size() > 0) {
    EXPECT_EQ(scalar_str(view), g.scalar);
  }
}

template <typename T>
void check_complex(Golden g, DType dtype) {
  std::vector<T> parts = elements<T>(g, 16);
  if (g.arange) {
    for (std::size_t i = parts.size(); i-- > 0;) parts.insert(parts.begin() + i + 1, T{0});
  }
  check(g, dtype, parts.data());
}

void check(const Golden& g) {
  const std::string& t = g.dtype;
  if (t == "float16") {
    check(g, float16, elements<half>(g, 16).data());
  } else if (t == "bfloat16") {
    check(g, bfloat16, elements<bfloat16_t>(g, 16).data());
  } else if (t == "float32") {
    check(g, float32, elements<float>(g, 16).data());
  } else if (t == "float64") {
    check(g, float64, elements<double>(g, 16).data());
  } else if (t == "complex64") {
    check_complex<float>(g, complex64);
  } else if (t == "complex128") {
    check_complex<double>(g, complex128);
  } else if (t == "int8") {
    check(g, int8, elements<std::int8_t>(g, 10).data());
  } else if (t == "int16") {
    check(g, int16, elements<std::int16_t>(g, 10).data());
  } else if (t == "int32") {
    check(g, int32, elements<std::int32_t>(g, 10).data());
  } else if (t == "int64") {
    check(g, int64, elements<std::int64_t>(g, 10).data());
  } else if (t == "uint8") {
    check(g, uint8, elements<std::uint8_t>(g, 10).data());
  } else if (t == "uint16") {
    check(g, uint16, elements<std::uint16_t>(g, 10).data());
  } else if (t == "uint32") {
    check(g, uint32, elements<std::uint32_t>(g, 10).data());
  } else if (t == "uint64") {
    check(g, uint64, elements<std::uint64_t>(g, 10).data());
  } else if (t == "bool") {
    const auto to_bool = [](double v) { return static_cast<std::uint8_t>(v != 0); };
    check(g, bool_, elements<std::uint8_t>(g, to_bool, 10).data());
  } else if (t == "string") {
    std::vector<std::string> strings;
    for (const std::string& word : g.values) strings.push_back(unhex(word.substr(1)));
    check(g, string, strings.data());
  } else {
    FAIL() << "unknown dtype " << t << " on line " << g.line;
  }
}

TEST(ArrayFormat, PrintsAsNumpyDoes) {
  const std::vector<Golden> goldens = read_goldens();
  ASSERT_GE(goldens.size(), 150u) << "set RILL_SOURCE_DIR to the source tree";
  for (const Golden& g : goldens) check(g);
}

TEST(ArrayFormat, ResourcesAndVariantsAreNotRead) {
  const std::int64_t dims[] = {2};
  EXPECT_EQ(array_str({resource, dims, nullptr}), "[<resource> <resource>]");
  EXPECT_EQ(array_str({variant, {}, nullptr}), "<variant>");
}

TEST(FloatFormat, DigitsOfEachKind) {
  EXPECT_EQ(format_float_scalar(0.1f, FloatKind::single, Trim::zero), "0.1");
  EXPECT_EQ(format_float_scalar(0.1f, FloatKind::dbl, Trim::zero), "0.10000000149011612");
  EXPECT_EQ(format_float_scalar(65504, FloatKind::half, Trim::zero), "65500.0");
  EXPECT_EQ(format_float_scalar(1e16, FloatKind::dbl, Trim::zero), "1e+16");
}

}  // namespace
}  // namespace rill
