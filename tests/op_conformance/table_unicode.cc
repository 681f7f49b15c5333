#include "rill/ops/ragged_ops.h"
#include "rill/ops/string_ops.h"
#include "row.h"

namespace rill::conformance {

RILL_ROWS(unicode) {
  const std::string zeros("a\0b\x1f", 4), sharp = "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80";
  // Bytes that fit nowhere, and beginnings of characters.
  const std::vector<std::string> broken = {
      "\xff\x80"
      "a\xc3",
      "\xe2\x82"
      "a",
      "\xf0\x9f\x98",
      "\xc0\x80",
      "\xed\xa0\x80",
      "\xf4\x90\x80\x80",
      "\xe0\x80\x80"
      "x",
      "\xc3\xc3",
      "\xef\xbb\xbf\xef\xbf\xbd",
      "\xf8\x88\x80\x80\x80"};
  const auto count = static_cast<std::int64_t>(broken.size());
  const std::string pair("\0a\xd8\x3d\xde\0", 6), lone("\xd8\0\0a\xdc\0\0", 7),
      wide("\0\0\0a\0\x11\0\0\0\0\xd8\0", 12),
      mark(
          "\xff\xfe"
          "a\0",
          4);
  for (const char* name : {"UnicodeDecode", "UnicodeDecodeWithOffsets"}) {
    Row& r = row(name);
    r.sample({strings({2, 2}, {"", "abc", sharp, zeros})}, {{"input_encoding", "UTF-8"}})
        .sample({strings({count}, broken)}, {{"input_encoding", "UTF-8"}})
        .sample({strings({count}, broken)}, {{"input_encoding", "UTF-8"}, {"errors", "ignore"}})
        .sample({strings({count}, broken)}, {{"input_encoding", "UTF-8"}, {"replacement_char", 63}})
        .sample({strings({1}, {zeros})},
                {{"input_encoding", "UTF-8"}, {"replace_control_characters", true}})
        .sample({strings({1}, {zeros})}, {{"input_encoding", "UTF-8"},
                                          {"replace_control_characters", true},
                                          {"errors", "ignore"}})
        .sample({strings({0}, {})}, {{"input_encoding", "UTF-8"}});
    for (const char* encoding : {"UTF-16-BE", "UTF-16-LE", "UTF-16", "UTF-32-BE", "UTF-32-LE"})
      r.sample({strings({4}, {pair, lone, wide, mark})}, {{"input_encoding", encoding}});
    for (const char* encoding : {"US-ASCII", "latin1"})
      r.sample({strings({2}, {"a\xe9\x80", ""})}, {{"input_encoding", encoding}});
    r.dtypes({float32})
        .error({strings({1}, {"\xff"})}, {{"input_encoding", "UTF-8"}, {"errors", "strict"}},
               "string 0 has bytes that are no character of UTF-8")
        .error({strings({1}, {"a"})}, {{"input_encoding", "EBCDIC"}},
               "input_encoding is \"EBCDIC\"; expected one of UTF-8, UTF-16-BE")
        .error({strings({1}, {"a"})}, {{"input_encoding", "UTF-8"}, {"errors", "pass"}},
               "errors is \"pass\"")
        .error({strings({1}, {"a"})}, {{"input_encoding", "UTF-8"}, {"replacement_char", -1}},
               "replacement_char is -1");
  }
  Row& encode = row("UnicodeEncode");
  for (const char* encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"})
    encode.sample({i32({97, 252, 8364, 128512, 0}), values(int64, {4}, {0, 2, 2, 5})},
                  {{"output_encoding", encoding}});
  encode
      .sample({i32({97, 55296, 1114112, -1, 65534}), values(int32, {2}, {0, 5})},
              {{"output_encoding", "UTF-8"}})
      .sample({i32({97, 55296, 1114112, -1, 65534}), values(int32, {2}, {0, 5})},
              {{"output_encoding", "UTF-8"}, {"errors", "ignore"}})
      .sample({i32({97, 55296}), values(int32, {2}, {0, 2})},
              {{"output_encoding", "UTF-16-BE"}, {"replacement_char", 63}})
      .dtypes({float32})
      .error({i32({55296}), values(int64, {2}, {0, 1})},
             {{"output_encoding", "UTF-8"}, {"errors", "strict"}}, "character 0 is 55296")
      .error({i32({97}), values(int64, {2}, {0, 1})}, {{"output_encoding", "latin1"}},
             "output_encoding is \"latin1\"; expected UTF-8")
      .error({i32({97}), values(int64, {2}, {0, 2})}, {{"output_encoding", "UTF-8"}},
             "input_splits must begin with 0, never fall and end with 1");
  Row& transcode = row("UnicodeTranscode");
  for (const char* encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"})
    transcode.sample({strings({2, 2}, {"", "abc", sharp, zeros})},
                     {{"input_encoding", "UTF-8"}, {"output_encoding", encoding}});
  transcode
      .sample({strings({count}, broken)},
              {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}})
      .sample({strings({2}, {pair, lone})},
              {{"input_encoding", "UTF-16-BE"}, {"output_encoding", "UTF-8"}})
      .sample({strings({}, {zeros})}, {{"input_encoding", "UTF-8"},
                                       {"output_encoding", "UTF-8"},
                                       {"replace_control_characters", true},
                                       {"errors", "ignore"}})
      .dtypes({float32})
      .error({strings({2}, {"a", "b\xff"})},
             {{"input_encoding", "UTF-8"}, {"output_encoding", "UTF-8"}, {"errors", "strict"}},
             "string 1 has bytes");
  row("UnicodeScript")
      .sample({i32({97, 945, 0x4e00, 32, 0x5d0, 0xe000, 0x10ffff, 0x110000, -1, 0x1f600})})
      .dtypes({float32});

  Row& grams = row("StringNGrams");
  const auto words = strings({6}, {"a", "b", "c", "d", "e", "f"});
  for (const int padding : {-1, 0, 1, 3})
    for (const bool keep : {false, true})
      for (const std::vector<std::int64_t>& widths :
           {std::vector<std::int64_t>{2}, {1, 3}, {5}, {4, 2}})
        grams.sample({words, values(int64, {5}, {0, 4, 4, 5, 6})},
                     {{"separator", "|"},
                      {"ngram_widths", widths},
                      {"left_pad", "LP"},
                      {"right_pad", "RP"},
                      {"pad_width", padding},
                      {"preserve_short_sequences", keep}});
  grams.dtypes({float32})
      .error({words, values(int64, {2}, {0, 7})},
             {{"separator", "|"},
              {"ngram_widths", std::vector<std::int64_t>{2}},
              {"left_pad", ""},
              {"right_pad", ""},
              {"pad_width", 0},
              {"preserve_short_sequences", false}},
             "data_splits must begin with 0, never fall and end with 6")
      .error({words, values(int64, {2}, {0, 6})},
             {{"separator", "|"},
              {"ngram_widths", std::vector<std::int64_t>{0}},
              {"left_pad", ""},
              {"right_pad", ""},
              {"pad_width", 0},
              {"preserve_short_sequences", false}},
             "ngram_width is 0");
}

}  // namespace rill::conformance
