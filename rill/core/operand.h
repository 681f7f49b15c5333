#pragma once
#include "rill/core/tensor.h"

namespace rill RILL_API {

template <class T>
concept StringLike = std::is_convertible_v<const T&, std::string_view>;

// std::vector, std::array or std::span of numbers or strings: an operand of one axis.
template <class R>
concept ArrayLike = !StringLike<R> && requires(const R& r) {
  { r.size() } -> std::convertible_to<std::size_t>;
  requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*r.data())>> ||
      std::is_same_v<std::remove_cvref_t<decltype(*r.data())>, std::string>;
};

// What an op takes: a Tensor, a Variable, a Gradient, a Nest of one tensor, a bare
// number (takes its partner's dtype), a string, a shape, an array of numbers or strings (beside a
// tensor it takes that one's dtype, alone it keeps its own), or a nested list of those. It only
// points at its argument: a parameter type, never a field, a local or a return
// type. It also remembers the line that wrote it, which errors and why_none()
// show; inside the library that is left out, so the line is always the user's.
#ifdef RILL_BUILDING_LIBRARY
#define RILL_CALL_SITE const char *file = nullptr, int line = 0
#else
#define RILL_CALL_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#endif
class Operand {
 public:
  enum class Kind : std::uint8_t {
    tensor,
    variable,
    integer,
    floating,
    boolean,
    text,
    shape,
    array,
    list
  };

  Operand(const Tensor& t, RILL_CALL_SITE) : kind_(Kind::tensor), line_(line), file_(file) {
    u_.p = &t;
  }
  Operand(const Variable& v, RILL_CALL_SITE) : kind_(Kind::variable), line_(line), file_(file) {
    u_.p = &v;
  }
  Operand(const Gradient& g, RILL_CALL_SITE);
  Operand(const Nest& n, RILL_CALL_SITE);  // InvalidArgument when it is not one tensor
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Operand(T v, RILL_CALL_SITE)
      : kind_(kind_of<T>()),
        wide_(std::is_integral_v<T> && sizeof(T) > 4),
        huge_(is_huge(v)),
        line_(line),
        file_(file) {
    if constexpr (std::is_floating_point_v<T>)
      u_.d = static_cast<double>(v);
    else
      u_.i = static_cast<std::int64_t>(v);
  }
  // A size: tf::zeros({x.shape()[0], 3}). FailedPrecondition where it is unknown.
  template <class D>
  requires std::is_same_v<D, Dim> Operand(D d, RILL_CALL_SITE)
      : Operand(static_cast<int>(static_cast<std::int64_t>(d)), file, line) {
    u_.i = d;
    wide_ = false;
  }
  template <StringLike S>
  Operand(const S& s, RILL_CALL_SITE) : kind_(Kind::text), line_(line), file_(file) {
    std::string_view v(s);
    u_.p = v.data();
    size_ = v.size();
  }
  Operand(std::initializer_list<Operand> l, RILL_CALL_SITE)
      : kind_(Kind::list), line_(line), file_(file), size_(l.size()) {
    u_.p = first(l);
  }
  Operand(const TensorShape& s, RILL_CALL_SITE) : kind_(Kind::shape), line_(line), file_(file) {
    u_.p = &s;
  }
  template <ArrayLike R>
  Operand(const R& r, RILL_CALL_SITE)
      : kind_(Kind::array),
        elements_(element_dtype<std::remove_cvref_t<decltype(*r.data())>>()),
        line_(line),
        file_(file),
        size_(r.size()) {
    u_.p = r.data();
  }

  Kind kind() const { return kind_; }
  bool is_literal() const { return kind_ != Kind::tensor && kind_ != Kind::variable; }
  // A 64-bit integer type wrote it (an int64 variable, not the literal 3).
  bool wide() const { return wide_; }
  // An unsigned integer beyond int64: integer() has its bits.
  bool huge() const { return huge_; }
  const char* file() const { return file_; }
  int line() const { return line_; }

  const Tensor& tensor() const { return *static_cast<const Tensor*>(u_.p); }
  const Variable& variable() const { return *static_cast<const Variable*>(u_.p); }
  const TensorShape& shape() const { return *static_cast<const TensorShape*>(u_.p); }
  std::int64_t integer() const { return u_.i; }
  double number() const {
    if (huge_) return static_cast<double>(static_cast<std::uint64_t>(u_.i));
    return kind_ == Kind::floating ? u_.d : static_cast<double>(u_.i);
  }
  DType element_dtype() const { return elements_; }  // of an array
  const void* elements() const { return u_.p; }
  std::string_view text() const { return {static_cast<const char*>(u_.p), size_}; }
  std::size_t size() const { return size_; }
  const Operand* begin() const { return static_cast<const Operand*>(u_.p); }
  const Operand* end() const { return begin() + size_; }

 private:
  // A function, because a pointer to a list stored in a mem-initialiser makes
  // g++ warn in every user's build; see the class comment for the lifetime.
  static const void* first(const std::initializer_list<Operand>& l) { return l.begin(); }
  template <class T>
  static constexpr Kind kind_of() {
    return std::is_same_v<T, bool>       ? Kind::boolean
           : std::is_floating_point_v<T> ? Kind::floating
                                         : Kind::integer;
  }

  template <class T>
  static constexpr DType element_dtype() {
    static_assert(!std::is_same_v<T, long double>, "there is no dtype for long double");
    using Code = DType::Code;
    if constexpr (std::is_same_v<T, std::string>) return DType(Code::string);
    if constexpr (std::is_same_v<T, bool>) return DType(Code::bool_);
    if constexpr (std::is_floating_point_v<T>)
      return DType(sizeof(T) == 4 ? Code::float32 : Code::float64);
    constexpr bool is_signed = std::is_signed_v<T>;
    if (sizeof(T) == 1) return DType(is_signed ? Code::int8 : Code::uint8);
    if (sizeof(T) == 2) return DType(is_signed ? Code::int16 : Code::uint16);
    if (sizeof(T) == 4) return DType(is_signed ? Code::int32 : Code::uint32);
    return DType(is_signed ? Code::int64 : Code::uint64);
  }

  template <class T>
  static constexpr bool is_huge(T v) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
      return v > static_cast<T>(INT64_MAX);
    else
      return false;
  }

  Kind kind_;
  bool wide_ = false, huge_ = false;
  DType elements_;
  int line_;
  const char* file_;
  std::size_t size_ = 0;
  union {
    const void* p;
    double d;
    std::int64_t i;
  } u_{nullptr};
};

// The operand as a tensor: itself, a read of the variable, or a constant.
// Literals become `dtype` when it is given, else int32 (int64 when wide or out
// of int32's range, uint64 beyond that), float32, bool or string. InvalidArgument for a ragged
// list, mixed kinds, or a value that `dtype` cannot hold (a fraction for an
// integer dtype).
Tensor to_tensor(const Operand& x, DType dtype = {});

// One or many tensors.
class TensorList {
 public:
  TensorList() = default;
  TensorList(const Tensor& t) : v_{t} {}
  TensorList(const Variable& t) : v_{Tensor(t)} {}
  TensorList(const Gradient& t);
  TensorList(const Nest& n);  // its leaves
  TensorList(std::initializer_list<Operand> l);
  TensorList(std::vector<Tensor> v) : v_(std::move(v)) {}
  TensorList(const std::vector<Variable>& v);
  const std::vector<Tensor>& tensors() const { return v_; }
  std::size_t size() const { return v_.size(); }

 private:
  std::vector<Tensor> v_;
};

}  // namespace RILL_API
