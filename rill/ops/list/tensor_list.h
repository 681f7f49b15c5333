#pragma once
#include <memory>
#include <mutex>

#include "rill/core/operand.h"
#include "rill/core/resource.h"

// Lists of tensors as values: what TensorArray is made of, and where loops keep
// what their gradients need. Every op gives a new list and leaves the old one.
namespace rill {

constexpr DType variant_dtype() { return DType(DType::Code::variant); }

// The value of a variant tensor that holds a list. Elements that were never
// written are undefined and read as zeros.
class TensorListValue : public Resource {
 public:
  const char* kind() const override { return "tensor list"; }
  DType dtype;
  TensorShape element_shape;
  std::size_t size = 0;
  // Lists that grew from one another share this; each sees its first `size`.
  struct Items {
    std::mutex mutex;  // guards growing
    std::vector<Tensor> v;
  };
  std::shared_ptr<Items> items;
  const Tensor& at(std::size_t i) const { return items->v[i]; }
};
TensorListValue& tensor_list_value(const Tensor& list);

Tensor empty_tensor_list(const Operand& element_shape, DType dtype);
Tensor tensor_list_reserve(const Operand& element_shape, const Operand& count, DType dtype);
Tensor tensor_list_push_back(const Tensor& list, const Operand& item);
// The list without its last element, and that element.
std::vector<Tensor> tensor_list_pop_back(const Tensor& list, const Operand& element_shape,
                                         DType dtype);
// `grow`: an index at the end or beyond makes the list longer.
Tensor tensor_list_set_item(const Tensor& list, const Operand& index, const Operand& item,
                            bool grow = false);
Tensor tensor_list_get_item(const Tensor& list, const Operand& index, const Operand& element_shape,
                            DType dtype);
Tensor tensor_list_stack(const Tensor& list, const Operand& element_shape, DType dtype,
                         std::int64_t count = -1);
Tensor tensor_list_from_tensor(const Operand& x, const Operand& element_shape);
Tensor tensor_list_length(const Tensor& list);
Tensor tensor_list_resize(const Tensor& list, const Operand& size);
Tensor tensor_list_gather(const Tensor& list, const Operand& indices, const Operand& element_shape,
                          DType dtype);
// Element by element; those missing in one count as zeros.
Tensor tensor_list_add(const Tensor& a, const Tensor& b);
// As long, with nothing written.
Tensor tensor_list_zeros_like(const Tensor& list);

}  // namespace rill
