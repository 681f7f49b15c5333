#include "rill/data/structure.h"

#include <ostream>

#include "rill/base/check.h"
#include "rill/base/nearest.h"

namespace rill::data {
namespace {

std::string leaf_text(DType d) {
  return d.defined() ? "tf." + std::string(d.name()) : std::string("None");
}
std::string leaf_text(const TensorShape& s) { return s.to_string(); }
// "[3, None]"
std::string list_text(const TensorShape& s) {
  if (!s.has_rank()) return "None";
  std::string out = "[";
  for (int i = 0; i < s.rank(); ++i)
    out += (i ? ", " : "") + (s.dim(i) < 0 ? std::string("None") : std::to_string(s.dim(i)));
  return out + "]";
}
std::string leaf_text(const TensorSpec& s) {
  return format("TensorSpec(shape={}, dtype={}, name={})", s.shape().to_string(),
                leaf_text(s.dtype()), s.name().empty() ? "None" : "'" + s.name() + "'");
}

// What is not the same of all elements of a composite is None.
std::string composite_text(const Structure<TensorSpec>& s) {
  const TensorSpec& first = s[0].leaf();
  if (s.composite_kind() == "sparse" && s.size() == 3) {
    const std::int64_t rank = first.shape().has_rank() ? first.shape().dim(1) : -1;
    const TensorShape shape =
        rank < 0 ? TensorShape() : TensorShape::unknown_dims(static_cast<int>(rank));
    return format("SparseTensorSpec(TensorShape({}), {})", list_text(shape),
                  leaf_text(s[1].leaf().dtype()));
  }
  if (s.composite_kind() != "ragged" || s.size() == 0) return "";
  Dims dims;
  if (s.size() > 1) {
    const TensorShape& splits = s[1].leaf().shape();
    dims.push_back(splits.has_rank() && splits.dim(0) > 0 ? splits.dim(0) - 1 : -1);
    for (std::size_t i = 1; i < s.size(); ++i) dims.push_back(-1);
    for (int i = 1; i < first.shape().rank(); ++i) dims.push_back(first.shape().dim(i));
  }
  return format("RaggedTensorSpec(TensorShape({}), {}, {}, {})",
                list_text(s.size() > 1 ? TensorShape(dims) : first.shape()),
                leaf_text(first.dtype()), s.size() - 1,
                leaf_text(s.size() > 1 ? s[1].leaf().dtype() : DType(int64)));
}

}  // namespace

template <class T>
Structure<T> Structure<T>::tuple(std::vector<Structure> items) {
  Structure s;
  s.items_ = std::move(items);
  return s;
}
template <class T>
Structure<T> Structure<T>::dict(std::vector<std::pair<std::string, Structure>> items) {
  Structure s;
  s.kind_ = Kind::dict;
  for (auto& [key, value] : items) {
    s.keys_.push_back(std::move(key));
    s.items_.push_back(std::move(value));
  }
  return s;
}

template <class T>
Structure<T> Structure<T>::composite(std::string_view kind, std::vector<Structure> parts) {
  Structure s = tuple(std::move(parts));
  s.composite_ = kind;
  return s;
}
template <class T>
bool Structure<T>::holds_composite() const {
  for (const Structure& item : items_)
    if (item.holds_composite()) return true;
  return is_composite();
}

template <class T>
const T& Structure<T>::leaf() const {
  RILL_CHECK(is_leaf(), invalid_argument, "[structure] expected one component, got {}",
             to_string());
  return leaf_;
}
template <class T>
const Structure<T>& Structure<T>::operator[](int i) const {
  if (is_leaf() && i == 0) return *this;
  RILL_CHECK(!is_leaf() && i >= 0 && static_cast<std::size_t>(i) < items_.size(), out_of_range,
             "[structure] item {} of {}", i, to_string());
  return items_[static_cast<std::size_t>(i)];
}
template <class T>
const Structure<T>& Structure<T>::operator[](std::string_view key) const {
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return items_[i];
  RILL_FAIL(not_found, "[structure] no item is called \"{}\".{}", key, did_you_mean(key, keys_));
}
template <class T>
std::vector<T> Structure<T>::flatten() const {
  if (is_leaf()) return {leaf_};
  std::vector<T> out;
  for (const Structure& item : items_)
    for (T& leaf : item.flatten()) out.push_back(std::move(leaf));
  return out;
}
template <class T>
std::string Structure<T>::to_string(bool quotes) const {
  if (is_leaf()) return leaf_text(leaf_);
  if constexpr (std::is_same_v<T, TensorSpec>)
    if (std::string text = is_composite() ? composite_text(*this) : ""; !text.empty()) return text;
  std::string out = is_dict() ? "{" : composite_ + "(";
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i) out += ", ";
    if (is_dict()) out += quotes ? "'" + keys_[i] + "': " : keys_[i] + ": ";
    out += items_[i].to_string(quotes);
  }
  if (!is_dict() && items_.size() == 1) out += ",";
  return out + (is_dict() ? "}" : ")");
}

template class Structure<DType>;
template class Structure<TensorShape>;
template class Structure<TensorSpec>;

std::ostream& operator<<(std::ostream& os, const Types& t) { return os << t.to_string(); }
std::ostream& operator<<(std::ostream& os, const Shapes& s) { return os << s.to_string(); }
std::ostream& operator<<(std::ostream& os, const ElementSpec& s) { return os << s.to_string(); }

ElementSpec spec_of(const Nest& nest) {
  if (nest.is_tensor())
    return ElementSpec(TensorSpec(nest.as_tensor().shape(), nest.as_tensor().dtype()));
  std::vector<ElementSpec> items;
  for (std::size_t i = 0; i < nest.size(); ++i) items.push_back(spec_of(nest.part(i)));
  if (nest.is_composite()) return ElementSpec::composite(nest.composite_kind(), std::move(items));
  if (!nest.is_dict()) return ElementSpec::tuple(std::move(items));
  std::vector<std::pair<std::string, ElementSpec>> named;
  const std::vector<std::string> keys = nest.keys();
  for (std::size_t i = 0; i < items.size(); ++i) named.emplace_back(keys[i], std::move(items[i]));
  return ElementSpec::dict(std::move(named));
}

}  // namespace rill::data
