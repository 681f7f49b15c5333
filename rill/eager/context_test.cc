#include "rill/eager/context.h"

#include <chrono>
#include <sstream>

#include "rill/core/device.h"
#include "rill/core/execute.h"
#include "rill/core/op.h"
#include "rill/core/shape_inference.h"
#include "rill/core/test_device.h"
#include "rill/rill.h"
#include "tests/expect_error.h"
#include "tests/shows.h"

namespace tf = rill;
using rill::testing::expect_error;

namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream os;
  tf::config::operator<<(os, value);
  return os.str();
}

TEST(Context, EagerIsTheDefault) {
  RILL_SHOWS("E02", "E03", "Q01");
  EXPECT_TRUE(tf::executing_eagerly());
  tf::enable_eager_execution();
  EXPECT_TRUE(tf::executing_eagerly());
}

TEST(Context, ListsPhysicalDevices) {
  RILL_SHOWS("C06", "Q45", "Q65");
  EXPECT_EQ(printed(tf::config::list_physical_devices("CPU")),
            "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]");
  EXPECT_EQ(printed(tf::config::list_physical_devices("GPU")), "[]");
}

TEST(Context, CountsGpus) {
  RILL_SHOWS("C04", "C05");
  EXPECT_EQ(tf::contrib::eager::num_gpus(), 0);
  EXPECT_FALSE(tf::test::is_gpu_available());
}

TEST(Context, DeviceScopesTakeSeveralSpellings) {
  RILL_SHOWS("C01");
  for (const char* name : {"/cpu:0", "cpu:0", "CPU:0", "/device:CPU:0",
                           "/job:localhost/replica:0/task:0/device:CPU:0"}) {
    auto scope = tf::device(name);
    EXPECT_EQ((tf::constant(1.f) + 1.f).device().name(),
              "/job:localhost/replica:0/task:0/device:CPU:0");
  }
  EXPECT_THROW(tf::device("/gpu:0"), tf::errors::InvalidArgument);
  EXPECT_THROW(tf::device("nonsense"), tf::errors::InvalidArgument);
}

TEST(Context, OpsRunWhereTheScopeOrTheInputsAre) {
  RILL_SHOWS("C03");
  tf::test_device();
  const auto x = tf::constant({{1.f, 2.f}, {3.f, 4.f}}).to("/device:TEST:0");
  EXPECT_EQ(x.device().type(), tf::DeviceType::test);
  const auto y = tf::matmul(x, x);
  EXPECT_EQ(y.device().type(), tf::DeviceType::test);
  EXPECT_EQ(y.cpu().device().type(), tf::DeviceType::cpu);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{7, 10, 15, 22}));
  {
    auto scope = tf::device("/device:TEST:0");
    EXPECT_EQ((tf::constant(1.f) + tf::constant(2.f)).device().type(), tf::DeviceType::test);
  }
  EXPECT_EQ((tf::constant(1.f) + tf::constant(2.f)).device().type(), tf::DeviceType::cpu);
  EXPECT_THROW(x.gpu(), tf::errors::InvalidArgument);
}

// Training on a device whose memory the host cannot touch.
TEST(Context, ATapeWorksOnAnAsynchronousDevice) {
  tf::test_device();
  auto scope = tf::device("/device:TEST:0");
  tf::Variable w(tf::constant({{1.f}, {2.f}}).to("/device:TEST:0"));
  const auto x = tf::constant({{1.f, 2.f}, {3.f, 4.f}}).to("/device:TEST:0");
  tf::keras::optimizers::Adam adam({.learning_rate = 0.1});
  float first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    tf::GradientTape tape;
    const auto loss = tf::reduce_sum(tf::square(tf::matmul(x, w)));
    adam.apply_gradients(tape.gradient(loss, {w}), {w});
    (i == 0 ? first : last) = loss.item<float>();
  }
  EXPECT_LT(last, first / 4);
}

TEST(Context, DevicesCannotBeConfiguredAfterTheFirstOp) {
  RILL_SHOWS("C18");
  tf::constant(1.f) + 1.f;
  const auto cpus = tf::config::list_physical_devices("CPU");
  EXPECT_THROW(tf::config::set_logical_device_configuration(cpus[0], {{}, {}}),
               tf::errors::FailedPrecondition);
  EXPECT_THROW(tf::config::set_visible_devices(cpus, "CPU"), tf::errors::FailedPrecondition);
}

TEST(Context, AnOpWithoutAKernelNamesItself) {
  RILL_SHOWS("Z01", "C14");
  static const tf::Op& lonely = tf::OpBuilder("TestLonely", "lonely")
                                    .input("x: T")
                                    .output("y: T")
                                    .type("T", tf::kFloatTypes)
                                    .doc("Has no kernel.")
                                    .shape([](tf::ShapeContext& c) { c.set_output(0, c.input(0)); })
                                    .no_gradient()
                                    .define();
  const auto x = tf::constant(1.f);
  expect_error<tf::errors::Unimplemented>(
      [&] { tf::execute(lonely, {x}); },
      "Could not find valid device for node name: \"TestLonely\": no CPU kernel for float32");
}

// A product is there before its numbers are; reading them waits for the device.
TEST(Context, ReadingWaitsForTheDevice) {
  RILL_SHOWS("Z17");
  tf::test_device();
  tf::Tensor x = (tf::eye(512) * 2.f).to("/device:TEST:0");
  const auto half = tf::constant(0.5f).to("/device:TEST:0");
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int i = 0; i < 20; ++i) x = tf::matmul(x, x) * half;
  const auto called = Clock::now();
  const auto numbers = x.numpy();
  const auto read = Clock::now();
  EXPECT_LT(called - start, read - called);
  EXPECT_EQ(numbers(511, 511).item<float>(), 2.f);
}

}  // namespace
