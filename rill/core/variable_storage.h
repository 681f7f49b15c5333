#pragma once
#include <memory>
#include <mutex>

#include "rill/core/tensor.h"

namespace rill {

// One value of a variable with its lock. Readers share the tensor; a writer changes it in
// place only when nothing else holds its buffer.
struct VariableSlot {
  std::mutex mutex;
  Tensor value;  // guarded by mutex; undefined until it is initialised
};

// Where the value of a variable is. Reads, updates, locks and questions about the value all
// ask it, at each call, which slot the call means.
//
// Sessions need a slot per session: slot() looks it up by the session of the calling thread,
// and one that has no value yet is uninitialised in that session alone. Replicas need a slot
// per replica, each on its device: slot() is that of the calling replica, while outside all
// replicas read() reduces the slots to one value and assign() writes to each.
class VariableStorage {
 public:
  virtual ~VariableStorage();
  // The slot of the calling thread. The same for the time of a call; lives as long as the
  // storage does.
  virtual VariableSlot& slot() = 0;
  // The value as a tensor with its own identity, sharing the buffer; undefined when there is none.
  virtual Tensor read();
  // Shares the buffer of `t`, copied to the device of the value that is there.
  virtual void assign(const Tensor& t);
};

// One value for the whole process.
std::unique_ptr<VariableStorage> single_value();

}  // namespace rill
