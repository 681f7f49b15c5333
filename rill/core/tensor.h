#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rill/base/format.h"
#include "rill/base/ref.h"
#include "rill/core/shape.h"

namespace rill RILL_API {

class Device;
class Gradient;
class Nest;
class Index;
class Tensor;
class TensorImpl;
class Variable;
void retain(TensorImpl*) noexcept;
void release(TensorImpl*) noexcept;

// A multi-dimensional array, or, inside a traced function, the promise of one.
// A handle: copies share the value, which never changes. Element access and
// printing wait for the device.
class Tensor {
 public:
  Tensor() noexcept = default;  // undefined
  Tensor(const Variable& v);    // reads the variable
  Tensor(const Gradient& g);    // makes a sparse gradient dense; undefined stays undefined
  Tensor(const Nest& n);        // the one tensor that it is; InvalidArgument otherwise

  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  void operator=(const Tensor&) && =
      delete;  // x[0] = y changes no x: tensor_scatter_nd_update does

  // A tensor over memory of the caller, which must not change while the tensor
  // lives; `deleter` runs (with `context`) when the last user is gone.
  // REQUIRES: `data` holds the elements of `shape` in row-major order.
  static Tensor from_memory(const void* data, const TensorShape& shape, DType dtype,
                            void (*deleter)(void* context) = nullptr, void* context = nullptr);

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  const TensorShape& shape() const;
  DType dtype() const;
  int ndim() const { return shape().rank(); }
  std::int64_t size() const;  // number of elements
  Device& device() const;
  std::uint64_t id() const;  // identity: equal for copies of one handle, else different
  bool is_symbolic() const;

  // The only element, converted to T. InvalidArgument unless size() == 1.
  template <class T>
  T item() const;
  // The elements in row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector() const;
  // The elements in place. REQUIRES the exact C++ type of dtype(); the span
  // lives as long as this handle (or a copy of it).
  template <class T>
  std::span<const T> data() const;

  // Python's value of .numpy() printed by str(): "[[1 2]\n [3 4]]".
  std::string to_string() const;
  Tensor numpy() const { return cpu(); }  // a copy in host memory (this, if it is there)
  Tensor cpu() const;
  Tensor gpu(int index = 0) const;
  Tensor to(std::string_view device) const;

  // In a graph: the value, by the session of the scope. Eager tensors have theirs:
  // FailedPrecondition.
  Tensor eval() const;
  // Adds what is known of the shape of a symbolic tensor. Eager tensors know theirs:
  // InvalidArgument when it does not fit.
  void set_shape(const TensorShape& shape) const;

  Tensor operator[](const Index& i) const;
  template <class... I>
  requires(std::is_convertible_v<const I&, Index>&&...) Tensor operator()(const I&... i) const;
  Tensor at(std::initializer_list<Index> index) const;

  // Scalars only. Python's truth, float() and int().
  explicit operator bool() const;
  explicit operator float() const { return item<float>(); }
  explicit operator double() const { return item<double>(); }
  explicit operator int() const { return item<int>(); }

  // Iteration over axis 0.
  class iterator;
  iterator begin() const;
  iterator end() const;
  // The parts along axis 0 for structured bindings: auto [a, b] = t.unpack<2>();
  template <std::size_t N>
  auto unpack() const;

  // Library use.
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
  TensorImpl* impl() const noexcept { return impl_.get(); }

 private:
  Ref<TensorImpl> impl_;
};

class Tensor::iterator {
 public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;
  iterator() = default;
  iterator(const Tensor* t, std::int64_t i) : t_(t), i_(i) {}
  Tensor operator*() const;
  iterator& operator++() {
    ++i_;
    return *this;
  }
  iterator operator++(int) {
    iterator old = *this;
    ++i_;
    return old;
  }
  bool operator==(const iterator& o) const { return i_ == o.i_; }

 private:
  const Tensor* t_ = nullptr;
  std::int64_t i_ = 0;
};

// "tf.Tensor(9.0, shape=(), dtype=float32)"
std::ostream& operator<<(std::ostream& os, const Tensor& t);
void append_formatted(std::string& out, const Tensor& t, std::string_view spec);

// A fixed number of tensors for structured bindings, without <tuple>.
template <std::size_t N>
struct Tensors {
  Tensor t[N];
  template <std::size_t I>
  const Tensor& get() const& {
    return t[I];
  }
  template <std::size_t I>
  Tensor& get() & {
    return t[I];
  }
  template <std::size_t I>
  Tensor&& get() && {
    return std::move(t[I]);
  }
};

// Indexing: x(tf::all, t, tf::all), x[0], x(tf::ellipsis, tf::newaxis),
// x(tf::slice(2, 5)), x(tf::slice(tf::None, tf::None, -1)).
inline constexpr struct All {
} all{};
inline constexpr struct Ellipsis {
} ellipsis{};
inline constexpr struct NewAxis {
} newaxis{};
struct Slice {
  Dim begin = None, end = None;
  std::int64_t step = 1;
  // Scalar integer tensors in the place of the numbers, where they are defined.
  Tensor begin_at = {}, end_at = {}, step_at = {};
};
inline Slice slice(Dim begin, Dim end, std::int64_t step = 1) { return {begin, end, step}; }
// An end of a slice that a tensor may give: x(tf::slice(tf::None, tf::shape(y)[1])).
class SliceEnd {
 public:
  SliceEnd(Dim n) : number(n) {}
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) SliceEnd(I n) : number(n) {}
  SliceEnd(const Tensor& t) : tensor(t) {}
  SliceEnd(const Variable& v) : tensor(v) {}
  Dim number = None;
  Tensor tensor;
};
namespace detail {
template <class A>
inline constexpr bool is_slice_number = std::is_same_v<A, Dim> ||
                                        (std::is_integral_v<A> && !std::is_same_v<A, bool>);
template <class A>
inline constexpr bool is_slice_tensor = std::is_same_v<A, Tensor> || std::is_same_v<A, Variable>;
template <class A>
concept SliceArgument = is_slice_number<A> || is_slice_tensor<A>;
}  // namespace detail
template <detail::SliceArgument B, detail::SliceArgument E>
requires(detail::is_slice_tensor<B> || detail::is_slice_tensor<E>) Slice
    slice(const B& begin, const E& end) {
  const SliceEnd b(begin), e(end);
  return {b.number, e.number, 1, b.tensor, e.tensor};
}
// With a step the first is a number or None: a tensor there is the input of the op tf::slice,
// unless one of the others is None.
template <detail::SliceArgument B, detail::SliceArgument E, detail::SliceArgument S>
requires((detail::is_slice_tensor<B> || detail::is_slice_tensor<E> ||
          detail::is_slice_tensor<S>)&&(detail::is_slice_number<B> || std::is_same_v<E, Dim> ||
                                        std::is_same_v<S, Dim>)) Slice
    slice(const B& begin, const E& end, const S& step) {
  const SliceEnd b(begin), e(end), s(step);
  return {b.number, e.number, s.number.known() ? s.number.value() : 1,
          b.tensor, e.tensor, s.tensor};
}

class Index {
 public:
  enum class Kind : std::uint8_t { number, range, whole, dots, new_axis, tensor };
  Index(All) : kind_(Kind::whole) {}
  Index(Ellipsis) : kind_(Kind::dots) {}
  Index(NewAxis) : kind_(Kind::new_axis) {}
  Index(const Slice& s) : kind_(Kind::range), slice_(s) {}
  Index(const Tensor& t) : kind_(Kind::tensor), tensor_(t) {}
  Index(const Variable& v) : kind_(Kind::tensor), tensor_(v) {}
  template <class T>
  requires std::is_integral_v<T> Index(T i)
      : kind_(Kind::number), number_(static_cast<std::int64_t>(i)) {}
  // A size of a shape: x[y.shape()[0] - 1] is an integer, x[y.shape()[0]] this.
  template <class D>
  requires std::is_same_v<D, Dim> Index(D i) : kind_(Kind::number), number_(i) {}

  Kind kind() const { return kind_; }
  std::int64_t number() const { return number_; }
  const Slice& range() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  std::int64_t number_ = 0;
  Slice slice_;
  Tensor tensor_;
};

template <class... I>
requires(std::is_convertible_v<const I&, Index>&&...) Tensor Tensor::operator()(
    const I&... i) const {
  return at({Index(i)...});
}

namespace detail {
Tensor part_of(const Tensor& t, std::int64_t i);     // t[i] along axis 0
void require_parts(const Tensor& t, std::size_t n);  // InvalidArgument unless shape[0] == n
template <std::size_t... I>
Tensors<sizeof...(I)> unpack_parts(const Tensor& t, std::index_sequence<I...>) {
  require_parts(t, sizeof...(I));
  return {{part_of(t, I)...}};
}
}  // namespace detail

template <std::size_t N>
auto Tensor::unpack() const {
  return detail::unpack_parts(*this, std::make_index_sequence<N>{});
}

}  // namespace RILL_API

template <std::size_t N>
struct std::tuple_size<rill::Tensors<N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, std::size_t N>
struct std::tuple_element<I, rill::Tensors<N>> {
  using type = rill::Tensor;
};
