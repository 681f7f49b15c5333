// Which GPUs a program sees, on a machine with two GPUs that are none: plain memory, no kernels.
#include "rill/core/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "rill/core/device_memory.h"
#include "rill/rill.h"
#include "tests/shows.h"

namespace tf = rill;
using tf::config::PhysicalDevice;

namespace {

class PretendedGpu : public tf::Device {
 public:
  PretendedGpu(int index, int physical, std::size_t limit)
      : Device(tf::DeviceType::gpu, index), physical(physical), limit(limit) {}
  void* allocate(std::size_t bytes) override { return std::malloc(bytes); }
  void deallocate(void* p, std::size_t) noexcept override { std::free(p); }
  void enqueue(std::function<void()> work) override { work(); }
  void synchronize() override {}
  void report(tf::Code, std::string) override {}
  void copy(void* to, const void* from, std::size_t n) override { std::memcpy(to, from, n); }
  void copy_from_host(void* to, const void* from, std::size_t n) override {
    std::memcpy(to, from, n);
  }
  void copy_to_host(void* to, const void* from, std::size_t n) override {
    std::memcpy(to, from, n);
  }
  int physical;
  std::size_t limit;
};

// Devices are configured once per process, so that each test is its own process.
template <class F>
void in_a_process(F test) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        tf::set_gpu_source({2, [](int index, int physical, std::size_t limit) {
                              return std::unique_ptr<tf::Device>(
                                  std::make_unique<PretendedGpu>(index, physical, limit));
                            }});
        try {
          test();
        } catch (const std::exception& e) {
          std::cerr << e.what() << '\n';
          std::_Exit(2);
        }
        const auto& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
        for (int i = 0; i < result.total_part_count(); ++i)
          std::cerr << result.GetTestPartResult(i).line_number() << ": "
                    << result.GetTestPartResult(i).message() << '\n';
        std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

// "physical/MB" of each GPU that programs can name.
std::string gpus() {
  std::string text;
  for (const tf::config::LogicalDevice& d : tf::config::list_logical_devices("GPU")) {
    const auto& gpu = dynamic_cast<PretendedGpu&>(tf::find_device(d.name));
    text += (text.empty() ? "" : " ") + std::to_string(gpu.physical) + "/" +
            std::to_string(gpu.limit >> 20);
  }
  return text;
}
std::vector<PhysicalDevice> physical() { return tf::config::list_physical_devices("GPU"); }

TEST(Gpus, EachIsADeviceUnlessTheProgramSaysOtherwise) {
  RILL_SHOWS("C06");
  in_a_process([] {
    EXPECT_EQ(physical().size(), 2u);
    EXPECT_EQ(physical()[1].name, "/physical_device:GPU:1");
    EXPECT_EQ(gpus(), "0/0 1/0");
    EXPECT_EQ(tf::constant({1.f}).gpu(1).device().index(), 1);
  });
}

TEST(Gpus, OnlyVisibleOnesAreThereAndCountFromZero) {
  RILL_SHOWS("C07", "Z31");
  in_a_process([] {
    tf::config::set_visible_devices({physical()[1]}, "GPU");
    EXPECT_EQ(tf::config::get_visible_devices("GPU"), std::vector{physical()[1]});
    EXPECT_EQ(gpus(), "1/0");
    EXPECT_EQ(tf::config::list_logical_devices("CPU").size(), 1u);
    EXPECT_THROW(tf::device("/gpu:1"), tf::errors::InvalidArgument);
  });
}

TEST(Gpus, WithNoneVisibleTheErrorSaysSo) {
  RILL_SHOWS("Z31");
  in_a_process([] {
    tf::config::set_visible_devices({}, "GPU");
    EXPECT_EQ(gpus(), "");
    try {
      tf::constant({1.f}).gpu();
      ADD_FAILURE() << "no error";
    } catch (const tf::errors::InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find("made no GPU visible"), std::string::npos) << e.what();
    }
  });
}

TEST(Gpus, OneMayBeCutIntoPartsWithALimitEach) {
  in_a_process([] {
    tf::config::set_logical_device_configuration(physical()[0],
                                                 {{.memory_limit = 2048}, {.memory_limit = 1024}});
    EXPECT_EQ(gpus(), "0/2048 0/1024 1/0");
  });
  in_a_process([] {
    tf::config::set_logical_device_configuration(physical()[1], {{.memory_limit = 512}, {}});
    tf::config::set_visible_devices({physical()[1]}, "GPU");
    EXPECT_EQ(gpus(), "1/512 1/0");
  });
}

TEST(Gpus, WhatIsWrongIsRefused) {
  RILL_SHOWS("C18");
  in_a_process([] {
    const auto all = physical();
    EXPECT_THROW(tf::config::set_logical_device_configuration(all[0], {}),
                 tf::errors::InvalidArgument);
    EXPECT_THROW(tf::config::set_logical_device_configuration(all[0], {{.memory_limit = -1}}),
                 tf::errors::InvalidArgument);
    const PhysicalDevice third{"/physical_device:GPU:2", "GPU"};
    EXPECT_THROW(tf::config::set_logical_device_configuration(third, {{}}),
                 tf::errors::InvalidArgument);
    EXPECT_THROW(tf::config::set_visible_devices({third}, "GPU"), tf::errors::InvalidArgument);
    EXPECT_THROW(tf::config::set_visible_devices({all[0]}, "CPU"), tf::errors::InvalidArgument);
    tf::constant(1.f) + 1.f;
    EXPECT_THROW(tf::config::set_visible_devices({all[0]}, "GPU"), tf::errors::FailedPrecondition);
    EXPECT_THROW(tf::config::set_logical_device_configuration(all[0], {{}}),
                 tf::errors::FailedPrecondition);
  });
}

// The default device is the TEST device here, which has kernels.
TEST(Gpus, ArraysOfFloatsAndVariablesGoToTheDefaultDevice) {
  in_a_process([] {
    setenv("RILL_DEFAULT_DEVICE", "/device:TEST:0", 1);
    const auto there = [](const tf::Tensor& t) {
      return t.device().type() == tf::DeviceType::test;
    };
    EXPECT_TRUE(there(tf::constant({1.f, 2.f}) + 1.f));
    EXPECT_TRUE(there(tf::Variable(tf::zeros({3})).value()));
    EXPECT_FALSE(there(tf::constant({1, 2}) + 1));  // sizes and indices
    EXPECT_FALSE(there(tf::constant(1.f) + 1.f));   // single numbers
    const auto twice = tf::function([](tf::Tensor x) { return x * 2.f; });
    EXPECT_EQ(twice(tf::constant({1.f, 2.f})).to_vector<float>(), (std::vector<float>{2, 4}));
    for (auto& e : tf::data::Dataset::range(2).map([](tf::Tensor x) {
           return tf::cast(tf::stack({x, x}), tf::float32) * 2.f;
         }))
      EXPECT_FALSE(there(e.as_tensor()));  // input pipelines
    auto scope = tf::device("/cpu:0");
    EXPECT_FALSE(there(tf::constant({1.f, 2.f}) + 1.f));
  });
}
TEST(Gpus, ADefaultDeviceThatIsNotThereIsAnError) {
  in_a_process([] {
    setenv("RILL_DEFAULT_DEVICE", "/gpu:7", 1);
    EXPECT_THROW(tf::constant({1.f}) + 1.f, tf::errors::InvalidArgument);
  });
}

TEST(Gpus, Float32IsNotRoundedUnlessAsked) {
  EXPECT_FALSE(tf::config::experimental::tensor_float_32_execution_enabled());
  tf::config::experimental::enable_tensor_float_32_execution(true);
  EXPECT_TRUE(tf::config::experimental::tensor_float_32_execution_enabled());
  tf::config::experimental::enable_tensor_float_32_execution(false);
  EXPECT_FALSE(tf::config::experimental::tensor_float_32_execution_enabled());
}

}  // namespace
