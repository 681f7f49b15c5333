#pragma once
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/shape.h"

// Claims about tensors. Eagerly they are checked at once; in a traced function each is a part
// of the graph, checked whenever it runs, before what the program does next. A claim about
// ranks and shapes that is known to fail already fails while it is traced.
namespace rill RILL_API {
namespace debugging {

// InvalidArgument "assertion failed: [..] [..]", with the data, unless the condition is true.
void Assert(const Operand& condition, const TensorList& data, int summarize = 3);

struct AssertOptions {
  std::string message = {};  // comes first in the error
  int summarize = 3;         // elements of x and y shown at each end of an axis; -1: all
};
// Of every element, x and y broadcast. InvalidArgument with both where it does not hold.
void assert_equal(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_none_equal(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_less(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_less_equal(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_greater(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_greater_equal(const Operand& x, const Operand& y, const AssertOptions& options = {});
void assert_positive(const Operand& x, const AssertOptions& options = {});
void assert_negative(const Operand& x, const AssertOptions& options = {});
void assert_non_negative(const Operand& x, const AssertOptions& options = {});
void assert_non_positive(const Operand& x, const AssertOptions& options = {});
// |x - y| <= atol + rtol |y|. Tolerances that are not given (-1) are ten times the rounding
// error of the dtype.
void assert_near(const Operand& x, const Operand& y, double rtol = -1, double atol = -1,
                 const AssertOptions& options = {});
// The tensor itself; InvalidArgument "<message> : Tensor had NaN values" (or Inf) otherwise. What
// flows back through it is checked, too.
Tensor check_numerics(const Operand& tensor, const std::string& message);
// No NaN and no infinity.
void assert_all_finite(const Operand& x, const std::string& message = {});
void assert_rank(const Operand& x, int rank, const AssertOptions& options = {});
void assert_rank_at_least(const Operand& x, int rank, const AssertOptions& options = {});
void assert_rank_in(const Operand& x, const std::vector<int>& ranks,
                    const AssertOptions& options = {});
void assert_scalar(const Operand& x, const AssertOptions& options = {});
void assert_type(const Operand& x, DType dtype, const AssertOptions& options = {});

// Numbers of any kind; bools, strings and what other dtypes hold are none.
bool is_numeric_tensor(const Operand& x);

// One entry of a shape: a size, a name for one ("N"), or any size: None or ".".
class SymbolicSize {
 public:
  template <class I>
  requires(std::is_integral_v<I>) SymbolicSize(I size) : size_(size) {}
  SymbolicSize(Dim size) : size_(size) {}
  // Digits are a size, as in TensorFlow.
  template <StringLike S>
  SymbolicSize(const S& name) : SymbolicSize(named(std::string_view(name))) {}
  Dim size() const { return size_; }
  const std::string& name() const { return name_; }  // empty: none

 private:
  static SymbolicSize named(std::string_view name);
  Dim size_;
  std::string name_;
};
struct ShapeClaim {
  ShapeClaim(const Tensor& tensor, std::initializer_list<SymbolicSize> shape)
      : tensor(tensor), shape(shape) {}
  ShapeClaim(const Tensor& tensor, std::vector<SymbolicSize> shape)
      : tensor(tensor), shape(std::move(shape)) {}
  Tensor tensor;
  std::vector<SymbolicSize> shape;
};
// Sizes of one name are equal, in all of the tensors:
//
//   assert_shapes({{x, {"N", "Q"}}, {y, {"N", "D"}}, {param, {"Q"}}, {scalar, {}}});
//
// "..." or "*" as the first entry stands for any number of outer axes. A scalar and {} count as
// one axis of size 1.
void assert_shapes(const std::vector<ShapeClaim>& shapes, const AssertOptions& options = {});

// From here on every op of this thread is looked at, also within functions, which then run op by
// op: the first that makes a NaN or an infinity is an InvalidArgument, which names the op, the
// line of the program (or the node and its line), what the op made and what of. Ops that only
// move elements may hand such numbers on. Slow: each result is read.
void enable_check_numerics();
void disable_check_numerics();

}  // namespace debugging

using debugging::Assert;

}  // namespace RILL_API
