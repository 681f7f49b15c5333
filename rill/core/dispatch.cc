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
  std::sort(cells_.begin(), cells_.end());
  for (; held_ < cells_.size(); ++held_)
    if (held_ == 0 || cells_[held_] != cells_[held_ - 1]) cells_[held_]->mutex.lock();
}
VariableLocks::~VariableLocks() {
  for (std::size_t i = 0; i < held_; ++i)
    if (i == 0 || cells_[i] != cells_[i - 1]) cells_[i]->mutex.unlock();
}

}  // namespace rill
