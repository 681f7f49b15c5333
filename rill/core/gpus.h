#pragma once
#include <memory>
#include <string>
#include <vector>

#include "rill/core/device.h"

// The GPUs of this machine, and the devices "/gpu:0", "/gpu:1" .. that are made of them when a
// program first asks for one: some of them, or parts with a limit each.
namespace rill RILL_API {

// What a plug-in brings.
struct GpuSource {
  int count = 0;  // GPUs of the machine
  // Device `index` on GPU `physical`; memory_limit in bytes, 0: none.
  std::unique_ptr<Device> (*make)(int index, int physical, std::size_t memory_limit) = nullptr;
};
void set_gpu_source(const GpuSource& source);

// How many the machine has, by the plug-in; starts none of them.
int count_gpus();

struct LogicalGpu {
  int physical = 0;
  std::size_t memory_limit = 0;  // bytes; 0: none
};
// The devices to be made, in the place of one a GPU. REQUIRES: none is made yet.
void plan_gpus(std::vector<LogicalGpu> devices);

// Makes the devices, once. Returns why there is none; "" when there is one.
const std::string& start_gpus();

}  // namespace RILL_API
