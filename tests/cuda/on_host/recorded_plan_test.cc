// Plans that are to be recorded, on the stand-in: what is left of them after an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/core/recording.h"
#include "rill/eager/context.h"
#include "rill/graph/function/function.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

int asked = 0;
bool has_room = true;

// The stand-in's kernels run inside the call: nothing of theirs can be kept.
std::unique_ptr<Recording> record_nothing(Device&, const std::function<void()>&) {
  ++asked;
  if (!has_room) throw_error(Code::resource_exhausted, "no room for a recording");
  return nullptr;
}

class RecordedPlanOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    set_recorder(DeviceType::gpu, record_nothing);
    asked = 0;
    has_room = true;
  }
  void TearDown() override {
    set_recorder(DeviceType::gpu, nullptr);
    gpu.limit = SIZE_MAX;
  }
  cuda::GpuDevice& gpu = static_cast<cuda::GpuDevice&>(find_device("/gpu:0"));
};

TEST_F(RecordedPlanOnGpu, ARunWithoutRoomLeavesNothingBehind) {
  auto scope = device("/gpu:0");
  const Tensor small = ones({16, 64}).gpu(), large = ones({1 << 12, 64}).gpu();
  // As many calls as end without room: while the plan runs by itself, when its memory is to be
  // kept for a recording, and after that.
  for (int errors = 1; errors <= 6; ++errors) {
    const Variable w(fill({64}, 0.5f));
    auto step = function([=](Tensor x) {
      const Tensor y = square(x * w) + exp(x);
      w.assign_sub(reduce_mean(y, 0) * 0.01f);
      return reduce_sum(y);
    });
    step(small).item<float>();
    gpu.limit = gpu.in_use() + (64 << 10);
    for (int i = 0; i < errors; ++i) {
      EXPECT_THROW(step(large).item<float>(), rill::errors::ResourceExhausted) << errors;
      const float old = step(small).item<float>();
      EXPECT_LT(step(small).item<float>(), old);
    }
    gpu.limit = SIZE_MAX;
    float loss = step(large).item<float>();
    for (int i = 0; i < 5; ++i) {
      const float next = step(large).item<float>();
      EXPECT_LT(next, loss) << errors;
      loss = next;
    }
  }
  EXPECT_GT(asked, 0) << "a recording was tried";
}

TEST_F(RecordedPlanOnGpu, WithoutRoomForARecordingTheStepsRunOneByOne) {
  auto scope = device("/gpu:0");
  const Variable w(zeros({8}));
  auto step = function([=](Tensor x) {
    w.assign_add(x);
    return w * 2.f;
  });
  const Tensor x = ones({8}).gpu();
  has_room = false;
  for (int i = 1; i <= 20; ++i)
    ASSERT_EQ(step(x).to_vector<float>(), std::vector<float>(8, 2.f * static_cast<float>(i)));
  EXPECT_GT(asked, 1) << "there may be room the next time";
  EXPECT_LT(asked, 20) << "but not for ever";
}

}  // namespace
}  // namespace rill
