#include "rill/base/overrides.h"

#include <gtest/gtest.h>

namespace rill {
namespace {

#pragma GCC diagnostic ignored "-Woverloaded-virtual"  // what is looked for

struct Base {
  virtual ~Base() = default;
  virtual int step(const int& data) { return data; }
  virtual int config() const { return 0; }
};
struct Overrides : Base {
  int step(const int& data) override { return data + 1; }
  int config() const noexcept override { return 1; }
};
struct Silent : Base {};
struct OtherParameter : Base {
  int step(int data) { return data; }
};
struct NotConst : Base {
  int config() { return 2; }
};
struct Overloaded : Base {
  int step(const int& data) override { return data; }
  int step(int a, int b) { return a + b; }
};
struct BelowAHiding : OtherParameter {};

template <class C>
constexpr bool hides_step = RILL_HIDES_VIRTUAL(C, Base, step);
template <class C>
constexpr bool hides_config = RILL_HIDES_VIRTUAL(C, Base, config);

TEST(Overrides, OnlyOtherSignaturesHide) {
  EXPECT_FALSE(hides_step<Overrides>);
  EXPECT_FALSE(hides_config<Overrides>);
  EXPECT_FALSE(hides_step<Silent>);
  EXPECT_FALSE(hides_config<Silent>);
  EXPECT_FALSE(hides_config<OtherParameter>);
  EXPECT_FALSE(hides_step<Overloaded>);
  EXPECT_TRUE(hides_step<OtherParameter>);
  EXPECT_TRUE(hides_step<BelowAHiding>);
  EXPECT_TRUE(hides_config<NotConst>);
}

}  // namespace
}  // namespace rill
