#pragma once
#include "rill/core/buffer.h"
#include "rill/core/resource.h"
#include "rill/core/tensor.h"

namespace rill {

class Executor;

// What a symbolic tensor stands for: one output of a node in some graph. The
// graph room derives from it; the rooms below only ask whether it is there.
class Symbol {
 public:
  virtual ~Symbol() = default;
  // What is known of the value while the graph is built: the constant, if it is one ...
  virtual const Tensor* known_value() const { return nullptr; }
  // ... or, of a list of sizes, those that are known (unknown rank when none is).
  virtual TensorShape known_sizes() const { return TensorShape::unknown_rank(); }
  // Somebody learnt more of the shape.
  virtual void shape_is(const TensorShape&) {}
  // The executor of ops on it, wherever they are called; null: the graph being traced.
  virtual Executor* own_executor() const { return nullptr; }
  virtual std::string name() const = 0;  // "MatMul_1:0"
  // "MatMul_1:0 of function \"step\"", for messages.
  virtual std::string describe() const = 0;
  RefCount refs;
};
inline void retain(Symbol* s) noexcept { s->refs.retain(); }
inline void release(Symbol* s) noexcept {
  if (s->refs.release()) delete s;
}

std::uint64_t next_tensor_id();

// A value (buffer, or a resource) or a symbol. Immutable once it is shared.
class TensorImpl {
 public:
  TensorImpl(DType d, TensorShape s) : dtype(d), id(next_tensor_id()), shape(std::move(s)) {}

  RefCount refs;
  DType dtype;
  std::uint64_t id;
  TensorShape shape;
  std::int64_t num_elements = -1;
  void* data = nullptr;  // first element; inside `buffer`
  Device* device = nullptr;
  Ref<Buffer> buffer;
  Ref<Resource> resource;  // dtype resource or variant
  Ref<Symbol> symbol;      // symbolic tensors
  // Which steps of a sequence count, as layers tell one another; mostly none.
  Ref<TensorImpl> mask;
  // Of probabilities that an activation of Keras made: the logits, which losses take instead.
  Ref<TensorImpl> logits;
  // The handle of the variable that an operand read to get this value; see late_reads.h.
  Ref<TensorImpl> read_from;
};
// A tensor with its own memory and undefined contents.
// REQUIRES: shape fully defined, its elements counted.
Tensor make_tensor(DType dtype, const TensorShape& shape, Device& device = cpu_device());
// The same elements under another shape; shares the buffer.
Tensor make_view(const Tensor& t, const TensorShape& shape, std::int64_t element_offset = 0);
Tensor make_symbolic(DType dtype, const TensorShape& shape, Ref<Symbol> symbol);
Tensor make_resource(Ref<Resource> resource, DType dtype = resource_dtype());

// For library code that fills host tensors: the elements of a tensor that
// nobody else has seen yet.
template <class T>
T* mutable_data(const Tensor& t) {
  return static_cast<T*>(t.impl()->data);
}
// The elements of a host tensor; REQUIRES matching dtype.
template <class T>
const T* host_data(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data);
}
// In host memory, waiting for its device; the tensor itself when it is there.
Tensor to_host(const Tensor& t);
Tensor copy_to_device(const Tensor& t, Device& device);

// What the call of a layer gives that has several results: y[1], y.unpack<2>(), Nest(y) and loops
// over it find them; anything else is an InvalidArgument, by refuse_several. `who` for messages.
Tensor make_several(const Nest& results, const std::string& who);
const Nest* several_results(const Tensor& t);  // null for all other tensors
void refuse_several(const Tensor& t, std::string_view tag);

// A host int32 or int64 tensor (or scalar) as a list. InvalidArgument naming
// `what` for other dtypes or rank > 1.
Dims as_dims(const Tensor& t, std::string_view what);

}  // namespace rill
