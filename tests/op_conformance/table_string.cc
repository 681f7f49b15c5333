#include "rill/ops/string_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(string) {
  const std::string zeros("a\0b", 3), sharp = "gr\xc3\xbc\xc3\x9f",
                                      broken =
                                          "\xff\x80"
                                          "a\xc3";
  const std::string lines =
      "The quick brown fox jumps over the lazy dog, again and again, until the line is longer than "
      "sixty-four bytes.";
  std::vector<std::string> lengths;  // each path of the hashes
  for (std::size_t n : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100})
    lengths.push_back(lines.substr(0, n));
  const auto count = static_cast<std::int64_t>(lengths.size());

  row("StringJoin")
      .sample({strings({2}, {"a", "b"}), strings({2}, {"c", "d"})})
      .sample({strings({}, {"a"}), strings({2, 1}, {"c", "d"}), strings({}, {zeros})},
              {{"separator", "--"}})
      .sample({strings({}, {"a"})}, {{"separator", "-"}})
      .sample({strings({0}, {}), strings({}, {"a"})})
      .dtypes({float32})
      .error({strings({2}, {"a", "b"}), strings({3}, {"c", "d", "e"})}, {},
             "shapes \\[2\\] and \\[3\\] differ");
  row("ReduceJoin")
      .sample({strings({2, 2}, {"a", "b", "c", "d"}), i32({0, 1})})
      .sample({strings({2, 2}, {"a", "b", "c", "d"}), i32({1, 0})}, {{"separator", ", "}})
      .sample({strings({2, 2}, {"a", "b", "c", "d"}), i32_scalar(0)})
      .sample({strings({2, 1, 2}, {"a", "b", "c", "d"}), i32({-1})}, {{"keep_dims", true}})
      .sample({strings({2, 3, 2}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}),
               i32({2, 0})},
              {{"separator", "."}})
      .sample({strings({2}, {"a", "b"}), i32({})})
      .sample({strings({0, 2}, {}), i32({0})})
      .sample({strings({}, {"a"}), i32({})})
      .dtypes({float32})
      .error({strings({2}, {"a", "b"}), i32({1})}, {}, "axis 1 is out of range for rank 1")
      .error({strings({2}, {"a", "b"}), i32({0, -1})}, {}, "axis -1 is listed twice");
  row("StringLength")
      .sample({strings({2, 2}, {"", "abc", sharp, zeros})})
      .sample({strings({2, 2}, {"", "abc", sharp, zeros})}, {{"unit", "UTF8_CHAR"}})
      .sample({strings({}, {broken})}, {{"unit", "UTF8_CHAR"}})
      .sample({strings({0}, {})})
      .dtypes({float32})
      .error({strings({}, {"a"})}, {{"unit", "WORD"}},
             "unit is \"WORD\"; expected \"BYTE\" or \"UTF8_CHAR\"");
  row("Substr")
      .sample({strings({}, {"hello"}), i32_scalar(1), i32_scalar(3)})
      .sample({strings({2}, {"hello", zeros}), i32({-2, 0}), i32({9, 2})})
      .sample({strings({2, 1}, {"hello", "wo"}), i32({1, 0}), i32({2, 2})})
      .sample({strings({3}, {"abc", "de", "f"}), i32_scalar(1), i32_scalar(0)})
      .sample({strings({}, {"abc"}), values(int64, {2}, {3, -3}), values(int64, {2}, {1, 2})})
      .sample({strings({}, {"hello"}), i32_scalar(1), i32_scalar(-1)})
      .sample({strings({2}, {sharp, sharp}), i32({2, -1}), i32({1, 1})}, {{"unit", "UTF8_CHAR"}})
      .sample({strings({2}, {sharp, ""}), i32({1, 0}), i32({9, 1})}, {{"unit", "UTF8_CHAR"}})
      .sample({strings({0}, {}), i32_scalar(0), i32_scalar(1)})
      .dtypes({float32})
      .error({strings({}, {"hello"}), i32_scalar(6), i32_scalar(1)}, {},
             "pos 6 of element 0 is outside its string \"hello\" of 5 bytes")
      .error({strings({}, {sharp}), i32_scalar(-5), i32_scalar(1)}, {{"unit", "UTF8_CHAR"}},
             "of 4 characters")
      .error({strings({}, {"a"}), i32({0, 0}), i32({1})}, {},
             "pos has shape \\[2\\] and len \\[1\\]")
      .error({strings({3}, {"a", "b", "c"}), i32({0, 0}), i32({1, 1})}, {}, "cannot be broadcast")
      .error({strings({}, {"a"}), i32_scalar(0), i32_scalar(1)}, {{"unit", "WORD"}},
             "unit is \"WORD\"");
  row("StringSplitV2")
      .sample({strings({3}, {" a  b\t", "", "c"}), strings({}, {""})})
      .sample({strings({3}, {"a,,b", "", "c,"}), strings({}, {","})})
      .sample({strings({2}, {"a,b,c,d", ""}), strings({}, {","})}, {{"maxsplit", 2}})
      .sample({strings({2}, {"  a  b  c  d ", ""}), strings({}, {""})}, {{"maxsplit", 2}})
      .sample({strings({1}, {"a<><>c<"}), strings({}, {"<>"})})
      .sample({strings({1}, {"a b c"}), strings({}, {""})}, {{"maxsplit", 0}})
      .sample({strings({0}, {}), strings({}, {","})})
      .dtypes({float32})
      .error({strings({}, {"a"}), strings({}, {""})}, {}, "input must have rank 1")
      .error({strings({1}, {"a"}), strings({1}, {""})}, {}, "sep must have rank 0");
  for (const char* name : {"StringUpper", "StringLower"})
    row(name)
        .sample({strings({2, 2}, {"aBc", "", sharp, zeros})})
        .sample({strings({}, {sharp})})
        // Letters with several capitals, a final sigma, a dotted I, broken bytes.
        .sample(
            {strings({6},
                     {sharp, "\xef\xac\x81 \xc5\x89", "\xce\x91\xce\xa3 \xce\xa3\xce\x91 \xce\xa3",
                      "\xc4\xb0\xc3\x84\xd0\x96", broken, "\xf0\x90\x90\x80 \xed\xa0\x80"})},
            {{"encoding", "utf-8"}})
        .sample({strings({0}, {})}, {{"encoding", "utf-8"}})
        .dtypes({float32})
        .error({strings({}, {"a"})}, {{"encoding", "latin-1"}},
               "encoding is \"latin-1\"; expected \"\" or \"utf-8\"");
  row("StringStrip")
      .sample({strings({3}, {" a b\t\n\v\f\r", "", "  "})})
      .sample({strings({}, {"\xc2\xa0x"})})
      .dtypes({float32});
  row("RegexReplace")
      .sample({strings({2}, {"abcabc", ""}), strings({}, {"(b)(c)"}), strings({}, {"\\2\\1"})})
      .sample({strings({}, {"abcabc"}), strings({}, {"b"}), strings({}, {"<\\0>"})},
              {{"replace_global", false}})
      .sample({strings({}, {"ab"}), strings({}, {""}), strings({}, {"-"})})
      .sample({strings({}, {"ab"}), strings({}, {"a"}), strings({}, {"\\3"})})
      .dtypes({float32})
      .error({strings({}, {"a"}), strings({}, {"("}), strings({}, {""})}, {},
             "the pattern \"\\(\" cannot be read: missing \\)")
      .error({strings({}, {"a"}), strings({1}, {"a"}), strings({}, {""})}, {},
             "pattern must have rank 0");
  row("RegexFullMatch")
      .sample({strings({3}, {"ab", "abc", ""}), strings({}, {"a."})})
      .sample({strings({}, {"x"}), strings({}, {".*"})})
      .dtypes({float32})
      .error({strings({}, {"a"}), strings({}, {"[z-a]"})}, {}, "cannot be read");
  {
    Row& r = row("StringToNumber");
    r.sample({strings({3}, {" 1.5 ", "-inf", "nan"})})
        .sample({strings({2, 3}, {"1e-46", "INF", "1.", " .5", "1e400", "+3"})})
        .sample({strings({3}, {"0x10", "-1.25E+2", "16777217"})});
    for (const DType d : {float64, int32, int64})
      r.sample({strings({2}, {" 12", "-7 "})}, {{"out_type", d}});
    r.sample({strings({2}, {"0.1", "1e-320"})}, {{"out_type", float64}})
        .sample({strings({2}, {"9223372036854775807", "-9223372036854775808"})},
                {{"out_type", int64}})
        .sample({strings({0}, {})})
        .dtypes({float32});
    for (const char* bad : {"1.5x", "", "1e", "Infinity", "1,000", "1 2", "- 1", "0x1p3", "nan(1)"})
      r.error({strings({2}, {"1", bad})}, {}, "element 1, .*is not a number of dtype float32");
    for (const char* bad : {"3000000000", "1.0", "+3", "0x10", ""})
      r.error({strings({}, {bad})}, {{"out_type", int32}}, "is not a number of dtype int32");
  }
  row("AsString")
      .sample({x({2, 3}, {1, 0, 3, 100, 7, 20})})
      .sample({x({2}, {5, 10})}, {{"width", 6}})
      .sample({x({}, {5})}, {{"width", 6}, {"fill", "0"}})
      .sample({x({1}, {5})}, {{"width", 6}, {"fill", "-"}})
      .sample({x({0}, std::vector<double>{})})
      .dtypes(kPlainTypes)
      .error({x({1}, {5})}, {{"fill", "ab"}}, "fill is \"ab\"")
      .error({x({1}, {5})}, {{"fill", "x"}}, "fill is \"x\"")
      .error({x({1}, {5})}, {{"scientific", true}, {"shortest", true}},
             "both scientific and shortest")
      .error({values(int32, {1}, {5})}, {{"precision", 3}},
             "precision is for floating-point numbers, not for int32")
      .error({values(int32, {1}, {5})}, {{"scientific", true}}, "not for int32");
  row("as_string_floats")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{as_string(in[0], {.shortest = true}),
                                   as_string(in[0], {.precision = 2}),
                                   as_string(in[0], {.precision = 3, .scientific = true}),
                                   as_string(in[0], {.precision = 1, .width = 9, .fill = "+"}),
                                   as_string(in[0], {.shortest = true, .width = 4, .fill = "#"})};
      })
      .tf("[tf.strings.as_string(x0, shortest=True), tf.strings.as_string(x0, precision=2), "
          "tf.strings.as_string(x0, precision=3, scientific=True), "
          "tf.strings.as_string(x0, precision=1, width=9, fill='+'), tf.strings.as_string(x0, "
          "shortest=True, width=4, fill='#')]")
      .sample({x({6}, {1.5, -0.25, 1e20, 1e-7, __builtin_inf(), __builtin_nan("")})})
      .dtypes(kRealFloatTypes | kComplexTypes);
  row("as_string_of_strings")
      .call([](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{as_string(in[0]), as_string(in[0], {.width = 4}),
                                   as_string(in[0], {.width = 4, .fill = "-"})};
      })
      .tf("[tf.strings.as_string(x0), tf.strings.as_string(x0, width=4), tf.strings.as_string(x0, "
          "width=4, fill='-')]")
      .sample({strings({2}, {"ab", "abcdef"})})
      .dtypes({float32});
  for (const char* name : {"StringToHashBucket", "StringToHashBucketFast"})
    row(name)
        .sample({strings({count}, lengths)}, {{"num_buckets", std::int64_t{1} << 62}})
        .sample({strings({3, 1}, {"a", sharp, zeros})}, {{"num_buckets", 10}})
        .dtypes({float32})
        .error({strings({}, {"a"})}, {{"num_buckets", 0}}, "num_buckets is 0; expected 1 or more");
  static const std::vector<std::int64_t> key = {1, 2}, key2 = {-5, 7}, short_key = {1};
  row("StringToHashBucketStrong")
      .sample({strings({count}, lengths)}, {{"num_buckets", std::int64_t{1} << 62}, {"key", key}})
      .sample({strings({3, 1}, {"a", sharp, zeros})}, {{"num_buckets", 10}, {"key", key2}})
      .dtypes({float32})
      .error({strings({}, {"a"})}, {{"num_buckets", 3}, {"key", short_key}},
             "the key has 1 numbers; expected 2");
}

}  // namespace rill::conformance
