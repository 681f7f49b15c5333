#include "rill/core/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rill/base/error.h"
#include "rill/base/format.h"

namespace rill {
namespace {

std::string printed(DType d) {
  std::ostringstream os;
  os << d;
  return os.str();
}

TEST(DType, PrintsAsTensorFlowDoes) {
  EXPECT_EQ(printed(int32), "<dtype: 'int32'>");
  EXPECT_EQ(printed(bool_), "<dtype: 'bool'>");
  EXPECT_EQ(format("{}", float16), "float16");
}

TEST(DType, NamesReadBack) {
  for (int i = 1; i < DType::kCount; ++i) {
    const DType d{static_cast<DType::Code>(i)};
    EXPECT_EQ(DType::from_name(d.name()), d) << d.name();
  }
  EXPECT_EQ(DType::from_name("half"), float16);
  EXPECT_EQ(DType::from_name("float"), float32);
  EXPECT_EQ(DType::from_name("double"), float64);
}

TEST(DType, UnknownNamesAreRefusedWithTheNearest) {
  for (const char* name : {"flaot32", "", "float8"})
    EXPECT_THROW(DType::from_name(name), errors::InvalidArgument) << name;
  try {
    DType::from_name("flaot32");
  } catch (const errors::InvalidArgument& e) {
    EXPECT_THAT(e.message(), testing::HasSubstr("no dtype is called \"flaot32\""));
    EXPECT_THAT(e.message(), testing::HasSubstr("float32"));
  }
}

TEST(DType, KnowsItsSizeAndKind) {
  EXPECT_EQ(float16.itemsize(), 2u);
  EXPECT_EQ(bfloat16.itemsize(), 2u);
  EXPECT_EQ(complex128.itemsize(), 16u);
  EXPECT_EQ(bool_.itemsize(), 1u);
  EXPECT_TRUE(bfloat16.is_floating());
  EXPECT_FALSE(int32.is_floating());
  EXPECT_TRUE(uint8.is_integer() && uint8.is_unsigned());
  EXPECT_FALSE(bool_.is_integer() || bool_.is_numeric());
  EXPECT_TRUE(complex64.is_complex() && complex64.is_numeric());
  EXPECT_FALSE(DType().defined());
}

}  // namespace
}  // namespace rill
