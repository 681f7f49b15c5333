#include "rill/core/operand.h"

#include <cmath>
#include <limits>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/core/gradient.h"
#include "rill/core/late_reads.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"

namespace rill {
namespace {

using Kind = Operand::Kind;

// What a nested list holds: its shape and the widest kind of its leaves.
struct ListType {
  Dims dims;
  bool any = false, integers = false, floats = false, bools = false, texts = false, wide = false;
  bool huge = false;
};

void scan(const Operand& x, std::size_t depth, ListType& type) {
  if (x.kind() == Kind::list) {
    if (depth == type.dims.size()) {
      RILL_CHECK(!type.any, invalid_argument,
                 "[constant] ragged list: got a number where a list was expected at depth {}",
                 depth);
      type.dims.push_back(static_cast<std::int64_t>(x.size()));
    } else {
      RILL_CHECK(type.dims[depth] == static_cast<std::int64_t>(x.size()), invalid_argument,
                 "[constant] ragged list: lists of {} and {} elements at depth {}; all must have "
                 "one length",
                 type.dims[depth], x.size(), depth);
    }
    for (const Operand& e : x) scan(e, depth + 1, type);
    return;
  }
  RILL_CHECK(depth == type.dims.size(), invalid_argument,
             "[constant] ragged list: got a number where a list was expected at depth {}", depth);
  type.any = true;
  switch (x.kind()) {
    case Kind::integer:
      type.integers = true;
      type.huge = type.huge || x.huge();
      type.wide = type.wide || x.wide() || x.integer() > INT32_MAX || x.integer() < INT32_MIN;
      break;
    case Kind::floating:
      type.floats = true;
      break;
    case Kind::boolean:
      type.bools = true;
      break;
    default:
      type.texts = true;
      break;
  }
}

DType natural_dtype(const ListType& type) {
  RILL_CHECK(type.texts + type.bools + (type.floats || type.integers) <= 1, invalid_argument,
             "[constant] a list mixes strings, bools and numbers; give all elements one kind");
  if (type.texts) return string;
  if (type.bools) return bool_;
  if (type.floats) return float32;
  if (type.integers) return type.huge ? uint64 : type.wide ? int64 : int32;
  return float32;  // empty, as in TensorFlow
}

template <class T>
T leaf(const Operand& x, DType dtype) {
  if constexpr (std::is_same_v<T, std::string>) {
    RILL_CHECK(x.kind() == Kind::text, invalid_argument,
               "[constant] got a number where a string was expected");
    return std::string(x.text());
  } else {
    RILL_CHECK(x.kind() != Kind::text, invalid_argument,
               "[constant] got the string \"{}\" where a {} was expected", x.text(), dtype);
    if constexpr (std::is_same_v<T, bool>) {
      RILL_CHECK(x.kind() == Kind::boolean, invalid_argument,
                 "[constant] got the number {} where a bool was expected", x.number());
      return x.integer() != 0;
    } else if constexpr (std::is_integral_v<T>) {
      if (x.kind() == Kind::floating) {
        RILL_CHECK(x.number() == std::floor(x.number()), invalid_argument,
                   "[constant] the fraction {} does not fit dtype {}; write tf::cast(x, "
                   "tf::float32) or an integer",
                   x.number(), dtype);
        RILL_CHECK(x.number() >= static_cast<double>(std::numeric_limits<T>::min()) &&
                       x.number() < std::ldexp(1.0, std::numeric_limits<T>::digits),
                   invalid_argument, "[constant] {} does not fit dtype {}", x.number(), dtype);
        return static_cast<T>(x.number());
      }
      if constexpr (!std::is_same_v<T, std::uint64_t>)
        RILL_CHECK(!x.huge(), invalid_argument, "[constant] {} does not fit dtype {}",
                   static_cast<std::uint64_t>(x.integer()), dtype);
      if constexpr (!std::is_same_v<T, std::uint64_t> && !std::is_same_v<T, std::int64_t>) {
        RILL_CHECK(x.integer() >= std::numeric_limits<T>::min() &&
                       x.integer() <= static_cast<std::int64_t>(std::numeric_limits<T>::max()),
                   invalid_argument, "[constant] {} does not fit dtype {}", x.integer(), dtype);
      }
      if constexpr (std::is_same_v<T, std::uint64_t>)
        RILL_CHECK(x.integer() >= 0 || x.huge(), invalid_argument,
                   "[constant] {} does not fit dtype {}", x.integer(), dtype);
      return static_cast<T>(x.integer());
    } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
      return T(static_cast<float>(x.number()));
    } else {
      if (x.kind() == Kind::floating || x.huge()) return static_cast<T>(x.number());
      if constexpr (requires(T t) { t.real(); })
        return T(static_cast<typename T::value_type>(x.integer()));
      else
        return static_cast<T>(x.integer());
    }
  }
}

template <class T>
T* fill(const Operand& x, DType dtype, T* out) {
  if (x.kind() != Kind::list) {
    *out = leaf<T>(x, dtype);
    return out + 1;
  }
  for (const Operand& e : x) out = fill(e, dtype, out);
  return out;
}

// The dtype of the first tensor or array that a nested list holds; invalid when it holds none.
DType dtype_of_tensors(const Operand& x) {
  if (x.kind() == Kind::tensor) return x.tensor().dtype();
  if (x.kind() == Kind::variable) return Tensor(x.variable()).dtype();
  if (x.kind() == Kind::shape) return int32;
  if (x.kind() == Kind::array) return x.element_dtype();
  if (x.kind() != Kind::list) return DType();
  for (const Operand& e : x)
    if (const DType d = dtype_of_tensors(e); d.defined()) return d;
  return DType();
}

// The elements of an array, as `dtype`.
Tensor array_to_tensor(const Operand& x, DType dtype) {
  Tensor t = make_tensor(dtype, TensorShape(Dims{static_cast<std::int64_t>(x.size())}));
  dispatch_all(x.element_dtype(), [&]<class From>() {
    const auto* from = static_cast<const From*>(x.elements());
    if (dtype == x.element_dtype()) {
      std::copy_n(from, x.size(), mutable_data<From>(t));
    } else if constexpr (std::is_constructible_v<Operand, From>) {
      dispatch_all(dtype, [&]<class To>() {
        for (std::size_t i = 0; i < x.size(); ++i)
          mutable_data<To>(t)[i] = leaf<To>(Operand(from[i]), dtype);
      });
    }
  });
  return t;
}

// A list that holds tensors is their stack: {a, {1, 2}, b} along a new first axis.
Tensor stack_operands(const Operand& x, DType dtype) {
  std::vector<Tensor> parts;
  for (const Operand& e : x) parts.push_back(to_tensor(e, dtype));
  const auto inputs = as_inputs(parts);
  const Attr attrs[] = {{"axis", 0}};
  return execute(find_op("Pack"), inputs, attrs);
}

}  // namespace

Tensor to_tensor(const Operand& x, DType dtype) {
  switch (x.kind()) {
    case Kind::tensor:
      return x.tensor();
    case Kind::variable:
      return read_operand(x.variable());
    case Kind::shape: {
      const TensorShape& s = x.shape();
      RILL_CHECK(s.is_fully_defined(), invalid_argument, "[constant] shape {} is not fully defined",
                 s);
      bool wide = false;
      for (int i = 0; i < s.rank(); ++i) wide = wide || s.dim(i) > INT32_MAX;
      RILL_CHECK(!dtype.defined() || dtype.is_integer() || dtype.is_floating(), invalid_argument,
                 "[constant] got shape {} where a {} was expected", s, dtype);
      const DType d = dtype.defined() ? dtype : wide ? int64 : int32;
      Tensor t = make_tensor(d, TensorShape(Dims{s.rank()}));
      dispatch_reals(d, [&]<class T>() {
        for (int i = 0; i < s.rank(); ++i) mutable_data<T>(t)[i] = leaf<T>(Operand(s.dim(i)), d);
      });
      return t;
    }
    case Kind::array:
      return array_to_tensor(x, dtype.defined() ? dtype : x.element_dtype());
    default:
      break;
  }
  if (const DType held = dtype_of_tensors(x); held.defined())
    return stack_operands(x, dtype.defined() ? dtype : held);
  ListType type;
  scan(x, 0, type);
  const DType d = dtype.defined() ? dtype : natural_dtype(type);
  RILL_CHECK(d.is_numeric() || d == bool_ || d == string, invalid_argument,
             "[constant] no literal has dtype {}", d);
  Tensor t = make_tensor(d, TensorShape(type.dims));
  // The commonest literal beside a tensor, without the dispatch.
  if (d == float32 && x.kind() == Kind::floating)
    *mutable_data<float>(t) = static_cast<float>(x.number());
  else
    dispatch_all(d, [&]<class T>() { fill(x, d, mutable_data<T>(t)); });
  return t;
}

TensorList::TensorList(std::initializer_list<Operand> l) {
  DType dtype;  // literals take the dtype of their tensor neighbours
  for (const Operand& x : l) {
    if (x.kind() == Kind::tensor)
      dtype = x.tensor().defined() ? x.tensor().dtype() : dtype;
    else if (x.kind() == Kind::variable)
      dtype = Tensor(x.variable()).dtype();
    if (dtype.defined()) break;
  }
  v_.reserve(l.size());
  for (const Operand& x : l) v_.push_back(to_tensor(x, dtype));
}

namespace {
// The dtype that a literal takes beside t.
DType partners_dtype(const Tensor& t) {
  const DType d = t.dtype();
  if (t.impl()->resource) refuse_several(t, "call");
  return d;
}
}  // namespace

ArgPair::ArgPair(const Operand& a, const Operand& b) {
  Operand::Kind ka = a.kind(), kb = b.kind();
  if (a.file()) call_context().file = a.file(), call_context().line = a.line();
  if (ka == Kind::tensor) a_ = &a.tensor();
  if (kb == Kind::tensor) b_ = &b.tensor();
  if (ka == Kind::tensor && kb == Kind::tensor) [[likely]]
    return;
  if (ka == Kind::variable) own_a_ = read_operand(a.variable()), a_ = &own_a_;
  if (kb == Kind::variable) own_b_ = read_operand(b.variable()), b_ = &own_b_;
  const bool literal_a = a.is_literal(), literal_b = b.is_literal();
  if (literal_a) {
    DType d = literal_b ? DType() : partners_dtype(*b_);
    if (literal_b && b.kind() == Kind::floating) d = float32;
    own_a_ = to_tensor(a, d), a_ = &own_a_;
  }
  if (literal_b) own_b_ = to_tensor(b, partners_dtype(*a_)), b_ = &own_b_;
}

}  // namespace rill
