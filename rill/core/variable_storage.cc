#include "rill/core/variable_storage.h"

#include "rill/core/tensor_impl.h"

namespace rill {

VariableStorage::~VariableStorage() = default;

Tensor VariableStorage::read() {
  VariableSlot& s = slot();
  std::lock_guard lock(s.mutex);
  return s.value.defined() ? make_view(s.value, s.value.shape()) : Tensor();
}

void VariableStorage::assign(const Tensor& t) {
  VariableSlot& s = slot();
  std::lock_guard lock(s.mutex);
  // A variable stays on its device.
  const Tensor here = s.value.defined() ? copy_to_device(t, s.value.device()) : t;
  s.value = make_view(here, here.shape());
}

namespace {

class SingleValue final : public VariableStorage {
 public:
  VariableSlot& slot() override { return slot_; }

 private:
  VariableSlot slot_;
};

}  // namespace

std::unique_ptr<VariableStorage> single_value() { return std::make_unique<SingleValue>(); }

}  // namespace rill
