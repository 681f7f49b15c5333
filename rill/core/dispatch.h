#pragma once
#include "rill/base/small_vector.h"
#include "rill/core/op.h"
#include "rill/core/resource.h"
#include "rill/core/shape_inference.h"

// What eager execution and plans both need to call a kernel: which one, and the
// variables that it changes locked.
namespace rill {

// The dtype that selects among the kernels of an op. `input_dtype(i)` gives that of input i.
template <class F>
DType dispatch_dtype(const Op& op, AttrList attrs, F input_dtype) {
  // A list before the input that dispatches would shift its place; in every schema such a
  // list dispatches itself, and comes first.
  if (op.dispatch_input >= 0) return input_dtype(static_cast<std::size_t>(op.dispatch_input));
  if (op.dispatch_attr < 0) return DType();
  return AttrReader(op, attrs).type_attr(op.attrs[static_cast<std::size_t>(op.dispatch_attr)].name);
}

// Unimplemented: names the op, the device and the dtypes that it has kernels for.
[[noreturn]] void fail_without_kernel(const Op& op, const Device& device, DType dtype);

// Holds the locks of variables, each once, in the order of their addresses, which all that
// hold several keep.
class VariableLocks {
 public:
  VariableLocks() = default;
  ~VariableLocks();
  VariableLocks(const VariableLocks&) = delete;
  void add(VariableCell& cell) { slots_.push_back(&cell.slot()); }
  void lock();  // once, after the last add

 private:
  SmallVector<VariableSlot*, 4> slots_;
  std::size_t held_ = 0;
};

}  // namespace rill
