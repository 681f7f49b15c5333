#pragma once
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rill/core/gradient.h"
#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

class Nest;
class Variable;
class RaggedTensor;
struct SparseTensor;
class NestImpl;
void retain(NestImpl*) noexcept;
void release(NestImpl*) noexcept;

// A type made of several tensors that is one value to the program, as SparseTensor is: it becomes
// a composite leaf of a Nest, and comes back from one.
template <class T>
concept Composite = requires(const T& t, const Nest& n) {
  t.to_nest();
  T::from_nest(n);
};

// A tensor, a tuple or a dict of nests: what flows through functions, datasets
// and models. A handle; its structure never changes. A leaf may also be a composite: one value for
// the program, of which functions and datasets carry the tensors.
//
// A nest that is one tensor stands wherever a tensor may:
//
//   Nest out = tf::while_loop(cond, body, {i, x});
//   Tensor y = out[1] * 2.f;
//   float last = out[1].item<float>();
class Nest {
 public:
  Nest();  // the empty tuple
  Nest(const Tensor& t);
  Nest(const Variable& v);
  Nest(const Gradient& g) : Nest(g.tensor()) {}
  Nest(std::vector<Tensor> tuple);
  Nest(std::initializer_list<Nest> tuple) : Nest(make(tuple)) {}
  Nest(std::vector<std::pair<std::string, Nest>> dict);
  template <Composite T>
  Nest(const T& t) : Nest(t.to_nest()) {}
  template <ArrayLike R>
  Nest(const R& array) : Nest(to_tensor(array)) {}

  Nest(const Nest&) = default;
  Nest(Nest&&) noexcept = default;
  Nest& operator=(const Nest&) & = default;
  Nest& operator=(Nest&&) & noexcept = default;
  void operator=(const Nest&) && = delete;  // nest[0] = x changes no nest: see with(key, value)
  template <class A, class B>
  Nest(const std::pair<A, B>& p) : Nest(make({Nest(p.first), Nest(p.second)})) {}
  template <class... A>
  Nest(const std::tuple<A...>& t)
      : Nest(std::apply([](const A&... a) { return make({Nest(a)...}); }, t)) {}
  static Nest make(std::initializer_list<Nest> tuple);
  static Nest make(std::vector<Nest> tuple);
  static Nest dict(std::initializer_list<std::pair<std::string_view, Nest>> items);

  // A composite leaf of this kind ("sparse"), made of these.
  static Nest composite(std::string_view kind, std::vector<Nest> parts);

  bool is_tensor() const;
  bool is_dict() const;
  bool is_composite() const { return !composite_kind().empty(); }
  std::string_view composite_kind() const;  // empty of all else
  std::size_t size() const;                 // items of a tuple or dict; 1 for a tensor
  // The one tensor that it is or holds; InvalidArgument when there are more, or none.
  const Tensor& as_tensor() const;
  DType dtype() const { return as_tensor().dtype(); }
  const TensorShape& shape() const { return as_tensor().shape(); }
  template <class T>
  T item() const {
    return as_tensor().item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return as_tensor().to_vector<T>();
  }
  // The composite that it is; InvalidArgument when it is not, or of another kind.
  template <Composite T>
  T as() const {
    return T::from_nest(*this);
  }
  SparseTensor as_sparse() const;
  RaggedTensor as_ragged() const;
  std::vector<Tensor> flatten() const;  // the tensors in order, those of composites too
  // The same tuple, dict or composite of other items. REQUIRES: as many.
  Nest with_items(std::vector<Nest> items) const;
  // The same structure over other leaves, in the same order.
  // REQUIRES: as many as flatten() gives.
  Nest with_leaves(const std::vector<Tensor>& leaves) const;
  // Tuples, dicts and keys are the same; leaves may differ.
  bool same_structure(const Nest& other) const;
  std::vector<std::string> keys() const;
  // NotFound, with the known keys, for another key.
  const Nest& operator[](std::string_view key) const;
  // An item of a tuple or dict (OutOfRange where there is none), a row of a tensor.
  Nest operator[](int i) const;
  // The same, but a tensor is its own part 0: how functions take their arguments.
  const Nest& part(std::size_t i) const;
  // A dict with an item more, or another in its place; a dict without some.
  Nest with(std::string_view key, const Nest& value) const;
  Nest without(std::string_view key) const;  // NotFound where there is none
  // Takes an item out of this dict, as Python's dict.pop. NotFound where there is none.
  Nest pop(std::string_view key) & {
    Nest item = (*this)[key];
    *this = without(key);
    return item;
  }
  template <std::size_t N>
  auto unpack() const {
    return unpack_(std::make_index_sequence<N>{});
  }
  std::string to_string() const;  // dtypes and shapes: "(float32 [2], int32 [])"

 private:
  void require_size(std::size_t n) const;
  Nest with_leaves_from(const Tensor*& next) const;
  template <std::size_t... I>
  auto unpack_(std::index_sequence<I...>) const {
    require_size(sizeof...(I));
    return Tensors<sizeof...(I)>{{part(I).as_tensor()...}};
  }
  Ref<NestImpl> impl_;
};
// As Python prints the structure, with the values of its tensors.
std::ostream& operator<<(std::ostream& os, const Nest& nest);
// As Python prints a structure of arrays; one tensor as itself, with its spec.
void append_formatted(std::string& out, const Nest& nest, std::string_view spec);

namespace detail {
// An item of a tuple: what a Nest can be made of, or a number or a string.
template <class A>
Nest item_of(const A& a) {
  if constexpr (std::is_arithmetic_v<A> || StringLike<A>)
    return Nest(to_tensor(Operand(a)));
  else
    return Nest(a);
}
}  // namespace detail

template <class... A>
Nest tuple(const A&... a) {
  return Nest::make({detail::item_of(a)...});
}
// tf::dict({{"image", x}, {"label", y}})
inline Nest dict(std::initializer_list<std::pair<std::string_view, Nest>> items) {
  return Nest::dict(items);
}

// The same of a std::map or std::unordered_map.
template <class M>
requires(std::is_convertible_v<const typename M::key_type&, std::string_view>&&
             std::is_convertible_v<const typename M::mapped_type&, Nest>) Nest
    dict(const M& items) {
  Nest all = Nest::dict({});
  for (const auto& [key, value] : items) all = all.with(key, value);
  return all;
}

// tf.nest: structures of tensors.
namespace nest {
// Its tensors, in order.
inline std::vector<Tensor> flatten(const Nest& structure) { return structure.flatten(); }
// The structure with other leaves, in the same order. InvalidArgument unless there are as many.
Nest pack_sequence_as(const Nest& structure, const std::vector<Tensor>& flat_sequence);
// InvalidArgument, with both structures, unless they are the same.
void assert_same_structure(const Nest& a, const Nest& b);
inline bool is_nested(const Nest& structure) { return !structure.is_tensor(); }
// f(leaf, leaves of the others...) for each leaf, in the same structure.
template <class F, class... N>
Nest map_structure(F f, const Nest& structure, const N&... others) {
  const std::vector<Tensor> first = structure.flatten();
  const std::vector<std::vector<Tensor>> rest{Nest(others).flatten()...};
  (assert_same_structure(structure, Nest(others)), ...);
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < first.size(); ++i)
    out.push_back([&]<std::size_t... I>(std::index_sequence<I...>) {
      return to_tensor(Operand(f(first[i], rest[I][i]...)));
    }(std::index_sequence_for<N...>{}));
  return pack_sequence_as(structure, out);
}
}  // namespace nest

}  // namespace RILL_API
