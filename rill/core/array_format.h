#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "rill/base/api.h"
#include "rill/core/dtype.h"

namespace rill RILL_API {

// A host array to be printed: `data` points at the elements in row-major order,
// as many as `dims` multiply to (no dims: one element). Elements are the plain
// C++ types, but float16 and bfloat16 are their bit patterns in a uint16, bool
// is one byte, string is std::string and complex is std::complex. The elements
// of a resource or variant array are not read: each prints as `<resource>` or
// `<variant>`.
struct ArrayView {
  DType dtype;
  std::span<const std::int64_t> dims;
  const void* data = nullptr;
};

// The part of numpy.set_printoptions() that counts here, with its defaults.
struct PrintOptions {
  int precision = 8;              // most digits after the point
  std::int64_t threshold = 1000;  // arrays with more elements are summarised with `...`
  int edgeitems = 3;              // what a summary keeps at each end of each axis
  int linewidth = 75;             // rows are wrapped at this many columns
  bool suppress = false;          // small numbers do not switch to exponents
};

// What Python prints for the array under NumPy 1.26, character for character:
//   array_str   str(a):   "[[ 70.]\n [100.]]", of a 0-d array its element, "9.0"
//   array_repr  repr(a):  "array([[4.]], dtype=float32)"; int64, float64, bool
//                         and complex128 need no dtype unless the array is empty
// Strings are bytes in an array of objects: `[b'a' b'bc']`. bfloat16 prints as
// TensorFlow's NumPy type does: six significant digits, without alignment.
std::string array_str(const ArrayView& array, const PrintOptions& options = {});
std::string array_repr(const ArrayView& array, const PrintOptions& options = {});

// The layout of such an array, commas between its elements, where `element` writes the element at a
// row-major position; it may be of several lines, as an array in an array is.
std::string array_layout(std::span<const std::int64_t> dims,
                         const std::function<std::string(std::int64_t)>& element,
                         const PrintOptions& options = {});

// str() of the array's first element, as a NumPy scalar: "0.97637", "1e-05",
// "(1+2j)", "True", "b'abc'". Floats have as many digits as tell them from
// their neighbours in their own type.
std::string scalar_str(const ArrayView& array);

}  // namespace RILL_API
