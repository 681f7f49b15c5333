#include "rill/core/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "rill/core/operand.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/test_device.h"

namespace rill {
namespace {

TEST(Device, NamesHaveSeveralSpellings) {
  for (const char* name : {"/cpu:0", "cpu:0", "CPU:0", "cpu", "/device:CPU:0",
                           "/job:localhost/replica:0/task:0/device:CPU:0"})
    EXPECT_EQ(&find_device(name), &cpu_device()) << name;
}

TEST(Device, UnknownNamesAreRefusedWithTheListOfDevices) {
  for (const char* name :
       {"/gpu:0", "gpu:9", "/cpu:99", "", "nonsense", "cpu:x", "/device:CPU:0:0", "cpu:-1"}) {
    try {
      find_device(name);
      ADD_FAILURE() << "no error for " << name;
    } catch (const errors::InvalidArgument& e) {
      EXPECT_THAT(e.message(), testing::HasSubstr("CPU:0")) << name;
    }
  }
}

TEST(Device, AMissingGpuSaysWhy) {
  try {
    find_device("/gpu:0");
    ADD_FAILURE() << "no error";
  } catch (const errors::InvalidArgument& e) {
    // Tests have the library in them; a plug-in would bring a second one.
    EXPECT_THAT(e.message(), testing::HasSubstr("plug-ins need librill.so"));
  }
}

TEST(Device, TensorsMoveAndComeBackUnchanged) {
  Device& device = test_device();
  const Tensor t = to_tensor(Operand({1.f, 2.f, 3.f})), moved = copy_to_device(t, device);
  EXPECT_EQ(&moved.device(), &device);
  EXPECT_EQ(moved.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(moved.to_string(), "[1. 2. 3.]");
  EXPECT_EQ(&moved.cpu().device(), &cpu_device());
  EXPECT_EQ(t.cpu().id(), t.id()) << "no copy of what is in host memory";
  EXPECT_THROW(moved.data<float>(), errors::FailedPrecondition);
}

TEST(Device, TensorsGoOnlyWhereThereIsADevice) {
  const Tensor t = to_tensor(1.f);
  EXPECT_THROW(t.to("/gpu:7"), errors::InvalidArgument);
  EXPECT_THROW(t.gpu(7), errors::InvalidArgument);
}

// The queue stands still until `open`, so that what comes after it is certainly not done.
struct HeldQueue {
  explicit HeldQueue(Device& d) {
    d.enqueue([this] { open.wait(); });
  }
  std::latch open{1};
};

TEST(DeviceEvent, IsReachedWhenWhatCameBeforeIsDone) {
  Device& device = test_device();
  HeldQueue held(device);
  const auto event = device.record_event();
  EXPECT_FALSE(event->reached());
  held.open.count_down();
  event->wait();
  EXPECT_TRUE(event->reached());
}

TEST(DeviceEvent, OnTheHostItIsReachedAtOnce) {
  const auto event = cpu_device().record_event();
  EXPECT_TRUE(event->reached());
  event->wait();
  cpu_device().wait_for(event);
}

TEST(DeviceEvent, AQueueWaitsForAnEventAndItsCallerDoesNot) {
  Device& device = test_device();
  std::atomic<bool> open = false, ran_early = false, ran = false;
  // An event of the program's own: a device is whoever makes events.
  struct Gate : DeviceEvent {
    explicit Gate(std::atomic<bool>& o) : is_open(o) {}
    bool reached() const override { return is_open; }
    void wait() const override { is_open.wait(false); }
    double milliseconds_since(const DeviceEvent&) const override { return 0; }
    std::atomic<bool>& is_open;
  };
  device.wait_for(std::make_shared<Gate>(open));
  device.enqueue([&] {
    ran_early = !open;
    ran = true;
  });
  EXPECT_FALSE(ran);
  open = true;
  open.notify_all();
  device.synchronize();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(ran_early);
}

TEST(DeviceEvent, MeasuresTheTimeBetweenTwo) {
  Device& device = test_device();
  const auto start = device.record_event();
  device.enqueue([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  const auto end = device.record_event();
  EXPECT_GE(end->milliseconds_since(*start), 5.0);
  EXPECT_LE(start->milliseconds_since(*end), -5.0);
  EXPECT_TRUE(end->reached());
}

TEST(Device, CountsItsMemory) {
  const MemoryStats before = memory_stats();
  const Tensor t = make_tensor(uint8, TensorShape{1 << 20});
  const MemoryStats after = memory_stats();
  EXPECT_GE(after.bytes_in_use, before.bytes_in_use + (1u << 20));
  EXPECT_GE(after.peak_bytes, after.bytes_in_use);
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached_bytes, 0u);
}

TEST(Device, KeepsTheSizesThatAreUsedNow) {
  Device& cpu = cpu_device();
  const std::size_t megabyte = 1 << 20;
  // Old sizes fill what may be kept.
  std::vector<std::pair<void*, std::size_t>> old;
  for (std::size_t bytes : {30 * megabyte, 50 * megabyte, 90 * megabyte, 130 * megabyte})
    old.emplace_back(cpu.allocate(bytes), bytes);
  for (auto [p, bytes] : old) cpu.deallocate(p, bytes);
  // A new one is kept nevertheless, from its second use on.
  void* first = cpu.allocate(200 * megabyte);
  cpu.deallocate(first, 200 * megabyte);
  const std::size_t cached = memory_stats().cached_bytes;
  void* second = cpu.allocate(200 * megabyte);
  EXPECT_LE(memory_stats().cached_bytes + 200 * megabyte, cached);  // it came from there
  cpu.deallocate(second, 200 * megabyte);
  release_cached_memory();
  EXPECT_EQ(memory_stats().cached_bytes, 0u);
}

}  // namespace
}  // namespace rill
