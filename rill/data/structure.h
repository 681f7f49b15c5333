#pragma once
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rill/core/nest.h"
#include "rill/core/shape.h"

namespace rill RILL_API {
namespace data {

// One T, or a tuple or a dict of structures: what is known of the elements of a
// dataset. A Nest holds the tensors themselves in the same shape.
//
//   Types{tf::float32, {tf::float32, tf::int32}}    (tf.float32, (tf.float32, tf.int32))
//   Shapes{{tf::None, 28, 28, 1}, {tf::None, 10}}   ((None, 28, 28, 1), (None, 10))
template <class T>
class Structure {
 public:
  Structure() = default;  // the empty tuple; "not given" as an argument
  Structure(const T& leaf) : kind_(Kind::leaf), leaf_(leaf) {}
  Structure(std::initializer_list<T> tuple) : items_(tuple.begin(), tuple.end()) {}
  Structure(std::initializer_list<Structure> tuple) : items_(tuple) {}
  static Structure tuple(std::vector<Structure> items);
  static Structure dict(std::vector<std::pair<std::string, Structure>> items);
  // Of a composite leaf ("sparse"): what is known of its tensors.
  static Structure composite(std::string_view kind, std::vector<Structure> parts);

  bool is_leaf() const { return kind_ == Kind::leaf; }
  bool is_dict() const { return kind_ == Kind::dict; }
  const std::string& composite_kind() const { return composite_; }  // empty of all else
  bool is_composite() const { return !composite_.empty(); }
  bool holds_composite() const;  // at any depth
  bool is_empty() const { return kind_ == Kind::tuple && items_.empty(); }
  std::size_t size() const { return is_leaf() ? 1 : items_.size(); }
  const std::vector<std::string>& keys() const { return keys_; }
  const T& leaf() const;                                    // InvalidArgument unless it is one
  const Structure& operator[](int i) const;                 // OutOfRange; a leaf is its own item 0
  const Structure& operator[](std::string_view key) const;  // NotFound
  std::vector<T> flatten() const;                           // leaves in order
  template <class U>
  bool same_structure(const Structure<U>& other) const {
    if (is_leaf() != other.is_leaf() || keys_ != other.keys() || size() != other.size() ||
        composite_ != other.composite_kind())
      return false;
    for (std::size_t i = 0; !is_leaf() && i < items_.size(); ++i)
      if (!items_[i].same_structure(other[static_cast<int>(i)])) return false;
    return true;
  }
  // f(leaf) for each leaf, in the same structure.
  template <class F>
  auto map(F f) const -> Structure<decltype(f(std::declval<const T&>()))> {
    using Out = Structure<decltype(f(std::declval<const T&>()))>;
    if (is_leaf()) return Out(f(leaf_));
    std::vector<Out> items;
    for (const Structure& item : items_) items.push_back(item.map(f));
    if (is_composite()) return Out::composite(composite_, std::move(items));
    if (!is_dict()) return Out::tuple(std::move(items));
    std::vector<std::pair<std::string, Out>> named;
    for (std::size_t i = 0; i < items.size(); ++i)
      named.emplace_back(keys_[i], std::move(items[i]));
    return Out::dict(std::move(named));
  }
  // As Python prints it: "(tf.float32, (10,))", "{'a': tf.float32}". Without
  // quotes the keys of dicts stand bare, as a dataset prints them.
  std::string to_string(bool quotes = true) const;

 private:
  enum class Kind : unsigned char { leaf, tuple, dict };
  Kind kind_ = Kind::tuple;
  T leaf_{};
  std::vector<Structure> items_;
  std::vector<std::string> keys_;
  std::string composite_;
};

using Types = Structure<DType>;
using Shapes = Structure<TensorShape>;
using ElementSpec = Structure<TensorSpec>;
extern template class Structure<DType>;
extern template class Structure<TensorShape>;
extern template class Structure<TensorSpec>;

std::ostream& operator<<(std::ostream& os, const Types& types);
std::ostream& operator<<(std::ostream& os, const Shapes& shapes);
std::ostream& operator<<(std::ostream& os, const ElementSpec& spec);

// Of a value: its dtypes and shapes.
ElementSpec spec_of(const Nest& nest);
// Values in this structure, which `leaf` gives one by one.
template <class F>
Nest nest_like(const ElementSpec& spec, const F& leaf) {
  if (spec.is_leaf()) return leaf(spec.leaf());
  std::vector<Nest> items;
  for (std::size_t i = 0; i < spec.size(); ++i)
    items.push_back(nest_like(spec[static_cast<int>(i)], leaf));
  if (spec.is_composite()) return Nest::composite(spec.composite_kind(), std::move(items));
  if (!spec.is_dict()) return Nest::make(std::move(items));
  std::vector<std::pair<std::string, Nest>> named;
  for (std::size_t i = 0; i < items.size(); ++i) named.emplace_back(spec.keys()[i], items[i]);
  return Nest(std::move(named));
}

}  // namespace data
}  // namespace RILL_API
