#include "rill/core/dispatch.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/device.h"

namespace rill {

void fail_without_kernel(const Op& op, const Device& device, DType dtype) {
  std::string known;
  for (int i = 0; i < DType::kCount; ++i) {
    const DType d{static_cast<DType::Code>(i)};
    if (op.kernel(device.type(), d)) known += (known.empty() ? "" : ", ") + std::string(d.name());
  }
  RILL_FAIL(unimplemented,
            "[{}] Could not find valid device for node name: \"{}\": no {} kernel for {}. "
            "Registered for: {}",
            op.tag, op.name, device_type_name(device.type()), dtype,
            known.empty() ? "nothing" : known);
}

void VariableLocks::lock() {
  std::sort(slots_.begin(), slots_.end());
  for (; held_ < slots_.size(); ++held_)
    if (held_ == 0 || slots_[held_] != slots_[held_ - 1]) slots_[held_]->mutex.lock();
}
VariableLocks::~VariableLocks() {
  for (std::size_t i = 0; i < held_; ++i)
    if (i == 0 || slots_[i] != slots_[i - 1]) slots_[i]->mutex.unlock();
}

}  // namespace rill
