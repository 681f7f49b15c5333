#include "rill/core/call_context.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace rill {
namespace {

Device* device(int i) { return reinterpret_cast<Device*>(static_cast<std::uintptr_t>(i)); }

TEST(CallContext, ScopesPutBackWhatWas) {
  {
    const ScopedContext<&CallContext::device> outer(device(1));
    {
      const ScopedContext<&CallContext::device> inner(device(2));
      EXPECT_EQ(call_context().device, device(2));
    }
    EXPECT_EQ(call_context().device, device(1));
    try {
      const ScopedContext<&CallContext::device> inner(nullptr);
      throw 1;
    } catch (int) {
    }
    EXPECT_EQ(call_context().device, device(1));
  }
  EXPECT_EQ(call_context().device, nullptr);
}

TEST(CallContext, EachThreadHasItsOwn) {
  const ScopedContext<&CallContext::device> scope(device(1));
  std::thread([] { EXPECT_EQ(call_context().device, nullptr); }).join();
}

TEST(CallContext, AFreshOneKnowsNothingOfTheCallsAround) {
  const ScopedContext<&CallContext::inferring_spec> spec(true);
  const ScopedContext<&CallContext::device> scope(device(1));
  {
    const FreshContext fresh;
    EXPECT_FALSE(call_context().inferring_spec);
    EXPECT_EQ(call_context().device, nullptr);
    call_context().line = 7;
  }
  EXPECT_TRUE(call_context().inferring_spec);
  EXPECT_EQ(call_context().device, device(1));
  EXPECT_EQ(call_context().line, 0);
}

TEST(CallContext, TheLineAtWorkComesBack) {
  CallSiteScope::put("a.cc", 3);
  {
    const CallSiteScope site;
    CallSiteScope::put("b.cc", 4);
  }
  EXPECT_STREQ(call_context().file, "a.cc");
  EXPECT_EQ(call_context().line, 3);
  CallSiteScope::put();
}

}  // namespace
}  // namespace rill
