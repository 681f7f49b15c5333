// oneDNN on processors that promise more than they keep.
#include "rill/kernels/cpu/onednn.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "rill/kernels/cpu/processor.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::cpu {
namespace {

// All ones: each output counts the elements under its window, a small whole number.
float corner_of_bfloat16_conv() {
  const Tensor x = ones({2, 16, 16, 32}, bfloat16), w = ones({3, 3, 32, 32}, bfloat16);
  const Tensor y = cast(nn::conv2d(x, w, 1, "VALID"), float32);
  return y[0][0][0][0].item<float>();
}

TEST(OneDnn, BFloat16ConvolutionsRunOnThisProcessor) {
  EXPECT_EQ(corner_of_bfloat16_conv(), 9 * 32);
}

#if RILL_WITH_ONEDNN
// A child of its own, because a process decides once.
TEST(OneDnnDeathTest, AmxWithoutAPaletteIsNotUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("RILL_PRETEND_CPU", "amx-without-palette", 1);
        const bool right = corner_of_bfloat16_conv() == 9 * 32 && onednn::limits().capped &&
                           (dnnl_get_effective_cpu_isa() & ~dnnl_cpu_isa_avx512_core_bf16) == 0;
        std::exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Too late to keep oneDNN from AMX: then its bfloat16 code is not called at all.
TEST(OneDnnDeathTest, AProgramThatUsedOneDnnBeforeIsSafeToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("RILL_PRETEND_CPU", "amx-without-palette", 1);
        const dnnl::engine before(dnnl::engine::kind::cpu, 0);
        const dnnl::memory::desc any({1}, dnnl::memory::data_type::f32, {1});
        const dnnl::reorder::primitive_desc settles(before, any, before, any);
        const bool amx = (dnnl_get_effective_cpu_isa() & ~dnnl_cpu_isa_avx512_core_bf16) != 0;
        const bool right = corner_of_bfloat16_conv() == 9 * 32 && !onednn::limits().capped &&
                           onednn::limits().bfloat16 == !amx;
        std::exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace rill::cpu
