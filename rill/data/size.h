#pragma once
#include <concepts>
#include <cstdint>

#include "rill/core/nest.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {
namespace data {

// A number that a dataset is made with: a number, or a scalar tensor of an integer dtype, whose
// value a traced function may not know before it runs.
class Size {
 public:
  template <std::integral T>
  Size(T n) : value_(static_cast<std::int64_t>(n)) {}
  // InvalidArgument for another tensor.
  Size(const Tensor& scalar);
  Size(const Nest& scalar) : Size(scalar.as_tensor()) {}

  bool is_symbolic() const { return tensor_.defined(); }
  const Tensor& tensor() const { return tensor_; }  // of a symbolic one
  // FailedPrecondition where it is symbolic.
  std::int64_t value() const;
  operator std::int64_t() const { return value(); }

 private:
  std::int64_t value_ = 0;
  Tensor tensor_;
};

}  // namespace data
}  // namespace RILL_API
