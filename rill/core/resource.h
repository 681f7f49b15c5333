#pragma once
#include <memory>
#include <string>

#include "rill/base/ref.h"
#include "rill/core/projection.h"
#include "rill/core/tensor.h"
#include "rill/core/trackable.h"
#include "rill/core/variable_storage.h"

namespace rill {

constexpr DType resource_dtype() { return DType(DType::Code::resource); }

// What a resource tensor refers to: state that ops change in place. The kind
// is a field, not a virtual call: every read of a variable asks for it.
class Resource : public TrackableNode {
 public:
  enum class Kind : unsigned char { variable, other };
  explicit Resource(Kind k = Kind::other) : resource_kind(k) {}
  ~Resource() override;
  virtual const char* kind() const = 0;  // "variable", for messages
  const Kind resource_kind;
};

// The cell behind a Variable: what it is, and a storage for its value. The value is a
// tensor that readers share; a writer changes it in place only when nothing else holds its
// buffer, so that what a tape saved never changes.
class VariableCell : public Resource {
 public:
  explicit VariableCell(std::unique_ptr<VariableStorage> storage = single_value())
      : Resource(Kind::variable), storage_(std::move(storage)) {}
  const char* kind() const override { return "variable"; }
  DType dtype;        // fixed at construction
  TensorShape shape;  // fixed at construction; may have unknown dimensions
  std::string name;
  bool trainable = true;
  Ref<Projection> projection;  // applied by optimizers after an update; mostly none

  // The value as a tensor with its own identity, sharing the buffer.
  // FailedPrecondition when it is not initialised.
  Tensor read();
  // Checks dtype and shape, then shares the buffer of `t`.
  void assign(const Tensor& t);
  // The value and its lock, as the calling thread sees them.
  VariableSlot& slot() { return storage_->slot(); }
  // The value's elements, owned by this cell alone, copied first if they are
  // shared. REQUIRES: the slot's mutex held.
  const Tensor& writable();
  // Where the value is; null when there is none.
  Device* device();
  // The shape of the value; that of the variable when there is none.
  TensorShape value_shape();

  // Checkpoints know a variable's value by this key.
  std::vector<SavedValue> saved_values() override;
  std::vector<std::string> saved_keys() override;
  void restore_value(std::string_view key, const Tensor& t) override;

 private:
  std::unique_ptr<VariableStorage> storage_;
};

// The cell of a resource tensor; InvalidArgument when it is another resource.
VariableCell& variable_cell(const Tensor& handle);

}  // namespace rill
