#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rill/base/small_vector.h"
#include "rill/core/dtype.h"

namespace rill RILL_API {

// One dimension of a shape: a size, or None.
class Dim {
 public:
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) constexpr Dim(I n)
      : n_(static_cast<std::int64_t>(n)) {}
  static constexpr Dim unknown() { return Dim(Tag{}); }
  constexpr std::int64_t value() const { return n_; }
  constexpr bool known() const { return n_ != kUnknown; }
  // int n = x.shape()[0]. FailedPrecondition where it is unknown.
  constexpr operator std::int64_t() const { return known() ? n_ : refuse_unknown(); }
  friend constexpr bool operator==(Dim, Dim) = default;
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) friend constexpr bool operator==(
      Dim a, I b) {
    return a == Dim(b);
  }
  // Sizes in arithmetic among themselves; beside a number C++ does it. Templates, so that a number
  // is none of them.
#define RILL_DIM_OPERATOR(op)                                            \
  template <class D>                                                     \
  requires std::is_same_v<D, Dim>                                        \
  friend constexpr auto operator op(D a, D b) {                          \
    return static_cast<std::int64_t>(a) op static_cast<std::int64_t>(b); \
  }
  RILL_DIM_OPERATOR(+)
  RILL_DIM_OPERATOR(-)
  RILL_DIM_OPERATOR(*)
  RILL_DIM_OPERATOR(/)
  RILL_DIM_OPERATOR(%)
  RILL_DIM_OPERATOR(<)
  RILL_DIM_OPERATOR(<=)
  RILL_DIM_OPERATOR(>)
  RILL_DIM_OPERATOR(>=)
#undef RILL_DIM_OPERATOR
  friend constexpr std::int64_t operator-(Dim a) { return -static_cast<std::int64_t>(a); }

 private:
  [[noreturn]] static std::int64_t refuse_unknown();
  // Not -1, so that slice(None, -1) and slice(-1, None) stay different things.
  static constexpr std::int64_t kUnknown = INT64_MIN;
  struct Tag {};
  explicit constexpr Dim(Tag) : n_(kUnknown) {}
  std::int64_t n_;
};
inline constexpr Dim None = Dim::unknown();
std::ostream& operator<<(std::ostream& os, Dim dim);  // 3, or None

using Dims = SmallVector<std::int64_t, 6>;

// The shape of a tensor: unknown rank, or a list of dimensions of which each is
// a size or unknown (-1 in as_list()). Prints as Python prints it: (2, None).
class TensorShape {
 public:
  TensorShape() = default;  // unknown rank; also "not given" in option structs
  TensorShape(std::initializer_list<Dim> dims);
  TensorShape(const std::vector<std::int64_t>& dims);
  explicit TensorShape(const Dims& dims) : dims_(dims), known_(true) {}
  static TensorShape unknown_rank() { return {}; }
  static TensorShape scalar() { return TensorShape(Dims{}); }
  static TensorShape unknown_dims(int rank);  // (None, ..., None)

  bool has_rank() const { return known_; }
  int rank() const { return known_ ? static_cast<int>(dims_.size()) : -1; }
  std::size_t size() const { return dims_.size(); }  // number of dimensions
  Dim operator[](int i) const;                       // negative counts from the end
  // The raw size of dimension i (negative counts from the end); -1 when unknown.
  std::int64_t dim(int i) const;
  const Dims& dims() const { return dims_; }
  bool is_fully_defined() const;
  // Product of the sizes; -1 when not fully defined.
  std::int64_t num_elements() const;
  std::vector<std::int64_t> as_list() const;
  bool is_compatible_with(const TensorShape& other) const;
  std::string to_string() const;  // "(2, None)", "<unknown>"

  // REQUIRES for both: a known rank. A size of -1 or None is unknown.
  void push_back(std::int64_t size);
  void set_dim(int i, std::int64_t size);  // negative i counts from the end
  void push_back(Dim size) { push_back(size.known() ? size.value() : -1); }
  void set_dim(int i, Dim size) { set_dim(i, size.known() ? size.value() : -1); }

  friend bool operator==(const TensorShape& a, const TensorShape& b) {
    return a.known_ == b.known_ && a.dims_ == b.dims_;
  }

 private:
  std::size_t place(int i) const;  // of dimension i in dims_; checked
  Dims dims_;
  bool known_ = false;
};
std::ostream& operator<<(std::ostream& os, const TensorShape& shape);

// What both say: a size that one knows. REQUIRES: compatible.
TensorShape merge_shapes(const TensorShape& a, const TensorShape& b);
// What is true of both: unknown where they differ.
TensorShape common_shape(const TensorShape& a, const TensorShape& b);

// The product of sizes; InvalidArgument when it does not fit in 63 bits or a
// size is negative. `what` names the caller in the message.
std::int64_t checked_num_elements(const Dims& dims, std::string_view what);

// In error messages shapes read [2, 3].
void append_formatted(std::string& out, const TensorShape& shape, std::string_view spec);

// dtype and shape of a future tensor.
class TensorSpec {
 public:
  explicit TensorSpec(TensorShape shape = {}, DType dtype = float32, std::string_view name = {})
      : shape_(std::move(shape)), dtype_(dtype), name_(name) {}
  const TensorShape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  const std::string& name() const { return name_; }

 private:
  TensorShape shape_;
  DType dtype_;
  std::string name_;
};

}  // namespace RILL_API
