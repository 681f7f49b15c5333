#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/error.h"
#include "rill/keras/callbacks/path_fields_impl.h"
#include "tests/expect_error.h"

namespace rill::keras::callbacks {
namespace {

using rill::testing::expect_error;

std::string filled(const std::string& spec, std::variant<std::int64_t, double> value) {
  return filled_in("ModelCheckpoint", "{v:" + spec + "}", {{"v", value}});
}

// What Python 3.11 makes of these.
TEST(PathFields, NumbersAreWrittenAsPythonWritesThem) {
  const struct {
    const char* spec;
    std::variant<std::int64_t, double> value;
    const char* expected;
  } cases[] = {
      {"02", std::int64_t{7}, "07"},
      {"02d", std::int64_t{7}, "07"},
      {".2f", std::int64_t{7}, "7.00"},
      {"", std::int64_t{7}, "7"},
      {"+d", std::int64_t{7}, "+7"},
      {"x", std::int64_t{255}, "ff"},
      {"#x", std::int64_t{255}, "0xff"},
      {"08b", std::int64_t{5}, "00000101"},
      {",", std::int64_t{1234567}, "1,234,567"},
      {"010,", std::int64_t{1234}, "00,001,234"},
      {"08,", std::int64_t{1234}, "0,001,234"},
      {"_", std::int64_t{1234567}, "1_234_567"},
      {"_b", std::int64_t{255}, "1111_1111"},
      {"<5", std::int64_t{7}, "7    "},
      {"^5", std::int64_t{7}, "  7  "},
      {"*^6", std::int64_t{7}, "**7***"},
      {"*<05", std::int64_t{7}, "7****"},
      {"<05", std::int64_t{7}, "70000"},
      {"e", std::int64_t{7}, "7.000000e+00"},
      {"%", std::int64_t{7}, "700.000000%"},
      {" d", std::int64_t{7}, " 7"},
      {"=5", std::int64_t{7}, "    7"},
      {"", 0.25, "0.25"},
      {"", 3.0, "3.0"},
      {"", 1e+16, "1e+16"},
      {"", 1e-05, "1e-05"},
      {".4", 0.123456789, "0.1235"},
      {".4", 3.0, "3.0"},
      {".3", 123.0, "1.23e+02"},
      {".1", 5.0, "5e+00"},
      {".8", 12345678.0, "1.2345678e+07"},
      {".2f", 0.999, "1.00"},
      {"08.3f", 0.5, "0000.500"},
      {"+.1e", 12345.678, "+1.2e+04"},
      {"g", 0.0001, "0.0001"},
      {"g", 1e-05, "1e-05"},
      {"#.3g", 2.0, "2.00"},
      {"#.4", 2.0, "2.000"},
      {".1%", 0.9321, "93.2%"},
      {",.2f", 1234567.891, "1,234,567.89"},
      {"012,.1f", 1234.5, "00,001,234.5"},
      {"n", 0.5, "0.5"},
      {".0f", 2.5, "2"},
      {"#.0f", 2.5, "2."},
      {"E", 1.5, "1.500000E+00"},
      {"G", 1e-09, "1E-09"},
      {"", NAN, "nan"},
      {"06.2f", NAN, "000nan"},
      {"", INFINITY, "inf"},
      {"F", INFINITY, "INF"},
      {"", -0.5, "-0.5"},
      {"08.2f", -0.5, "-0000.50"},
      {"=+8.1f", 0.5, "+    0.5"},
      {">8", 0.5, "     0.5"},
      {"é>8.1f", 0.5, "ééééé0.5"},
      {"10", 3.0, "       3.0"},
  };
  for (const auto& c : cases) EXPECT_EQ(filled(c.spec, c.value), c.expected) << c.spec;
}

TEST(PathFields, WhatPythonRefusesIsAnError) {
  for (const char* spec : {".2", ".4d", "s", "q", ",x", ",n", "5 d", "--d", "5."})
    expect_error<errors::InvalidArgument>([&] { filled(spec, std::int64_t{7}); },
                                          "[ModelCheckpoint] the format \"" + std::string(spec));
  for (const char* spec : {"d", "x", "s", ".f", "5.", "2f2", "99999999999f"})
    expect_error<errors::InvalidArgument>([&] { filled(spec, 0.5); },
                                          "in the path \"{v:" + std::string(spec) + "}\"");
}

TEST(PathFields, NamesAndBraces) {
  const PathFields fields{{"epoch", std::int64_t{3}}, {"val_loss", 0.25}};
  const auto fill = [&](const char* path) { return filled_in("ModelCheckpoint", path, fields); };
  EXPECT_EQ(fill("w.{epoch:02d}-{val_loss:.1e}.h5"), "w.03-2.5e-01.h5");
  EXPECT_EQ(fill("{{epoch}}-{epoch}"), "{epoch}-3");
  EXPECT_EQ(fill("no numbers"), "no numbers");
  expect_error<errors::InvalidArgument>([&] { fill("w.{val_los:.2f}.h5"); },
                                        "no \"val_los\" for {val_los:.2f} in the path "
                                        "\"w.{val_los:.2f}.h5\". Did you mean \"val_loss\"?");
  for (const char* path : {"a{", "a}", "{epoch", "a}b{epoch}"})
    expect_error<errors::InvalidArgument>([&] { fill(path); }, "alone");
  for (const char* path : {"{}", "{0}", "{:02d}"})
    expect_error<errors::InvalidArgument>([&] { fill(path); }, "there is no \"");
}

}  // namespace
}  // namespace rill::keras::callbacks
