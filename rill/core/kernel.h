#pragma once
#include <memory>
#include <span>

#include "rill/core/shape_inference.h"

namespace rill {

// A tensor as a kernel sees it: memory, dtype, shape.
struct TensorView {
  void* data;  // no initialisers: calls make arrays of these
  DType dtype;
  const TensorShape* shape;
  std::int64_t size;  // elements
};

// An input that a kernel reorders before it reads it, as it was reordered last time: for
// callers that know that it does not change (Op::packed_input). The first call fills it, by one
// thread; later ones read it, in any number.
struct PackedInput {
  // Null: nothing yet, or the kernel reads the input as it is. REQUIRES: the holder of this also
  // holds the elements of the input, too, for calls of other shapes share it.
  std::shared_ptr<const void> contents;
};

// One call of a kernel. Kernels do not throw: they report through fail(), and
// the caller throws in their name. Shapes and dtypes have been checked.
class KernelContext : public AttrReader {
 public:
  KernelContext(const Op& op, AttrList attrs, std::span<const TensorView> inputs,
                std::span<TensorView> outputs, Device& device)
      : AttrReader(op, attrs), inputs_(inputs), outputs_(outputs), device_(&device) {}
  virtual ~KernelContext() {
    if (extra_) [[unlikely]]
      free_extra();
  }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const TensorView& in(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const TensorView& out(int i = 0) const { return outputs_[static_cast<std::size_t>(i)]; }
  template <class T>
  const T* in(int i) const {
    return static_cast<const T*>(in(i).data);
  }
  template <class T>
  T* out(int i = 0) const {
    return static_cast<T*>(out(i).data);
  }
  // The elements of the variable that resource input i names, to be changed in
  // place (ops declared updates()).
  template <class T>
  T* var(int i) const {
    return static_cast<T*>(in(i).data);
  }
  const TensorShape& in_shape(int i) const { return *in(i).shape; }
  const TensorShape& out_shape(int i = 0) const { return *out(i).shape; }

  // For outputs whose shape only the data decide (the shape function left it
  // not fully defined): makes output i and gives its memory; null, with the
  // failure reported, when there is no room.
  virtual void* allocate_output(int i, const TensorShape& shape) = 0;
  template <class T>
  T* allocate(int i, const TensorShape& shape) {
    return static_cast<T*>(allocate_output(i, shape));
  }
  // Memory where the kernel works, which lives until it returns (a GPU: until what it
  // queued has run); null, reported, when there is none.
  RILL_API void* scratch(std::size_t bytes);
  template <class T>
  T* scratch(std::int64_t n) {
    return static_cast<T*>(scratch(static_cast<std::size_t>(n) * sizeof(T)));
  }

  PackedInput* packed_input() const { return packed_input_; }  // mostly null
  void set_packed_input(PackedInput* p) { packed_input_ = p; }

  // The first report wins.
  RILL_API void fail(Code code, std::string message);
  bool failed() const { return extra_ && extra_->code != Code::ok; }
  Code code() const { return extra_ ? extra_->code : Code::ok; }
  const std::string& message() const { return extra_->message; }  // REQUIRES: failed()
  std::string_view tag() const { return op().tag; }
  Device& device() const { return *device_; }

 protected:
  std::span<const TensorView> inputs_;
  std::span<TensorView> outputs_;
  Device* device_;

 private:
  // What few calls need, made when one does.
  struct Extra {
    Code code = Code::ok;
    std::string message;
    std::vector<std::pair<void*, std::size_t>> scratch;
  };
  Extra& extra();
  void free_extra();
  Extra* extra_ = nullptr;
  PackedInput* packed_input_ = nullptr;
};

}  // namespace rill
