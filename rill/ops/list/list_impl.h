#pragma once
#include "rill/core/shape_inference.h"
#include "rill/ops/list/tensor_list.h"

// What the ops of tensor lists share.
namespace rill {

Tensor make_list(DType dtype, TensorShape element, std::shared_ptr<TensorListValue::Items> items,
                 std::size_t size);
std::shared_ptr<TensorListValue::Items> copy_items(const TensorListValue& l);

// An element as a tensor: what was not written reads as zeros of the list's shape and `hint`.
Tensor element(const TensorListValue& l, std::size_t i, const TensorShape& hint,
               std::string_view tag);
// InvalidArgument unless a list may hold it.
void check_item(const TensorListValue& l, const Tensor& item, std::string_view tag);
std::size_t checked_index(const TensorListValue& l, std::int64_t index, std::string_view tag);

// The argument element_shape: a list of sizes, or -1 for nothing known.
TensorShape hint_of(const Tensor& t);
Tensor shape_argument(const Operand& s);
Tensor as_int32(const Operand& x);

// Shape functions: the only output is a list; output i is as input `input`, a shape, says.
void list_shape(ShapeContext& c);
void element_from(ShapeContext& c, int output, int input);
TensorShape with_count(const TensorShape& element, std::int64_t n);

}  // namespace rill
