#include "rill/core/elementwise_chain.h"

#include <atomic>

#include "rill/core/device.h"

namespace rill {
namespace {

std::atomic<const ChainRunner*> runners[kDeviceTypes];

}  // namespace

void set_chain_runner(DeviceType type, const ChainRunner* runner) {
  runners[static_cast<int>(type)] = runner;
}
const ChainRunner* chain_runner(const Device& device) {
  return runners[static_cast<int>(device.type())];
}

}  // namespace rill
