#include "rill/core/nest.h"

#include <map>
#include <ostream>
#include <sstream>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/core/array_format.h"
#include "rill/core/composite_printer.h"
#include "rill/core/operand.h"
#include "rill/core/tensor_impl.h"

namespace rill {

class NestImpl {
 public:
  enum class Kind { tensor, tuple, dict };
  RefCount refs;
  Kind kind = Kind::tuple;
  Tensor tensor;
  std::vector<Nest> items;
  std::vector<std::string> keys;
  std::string composite;  // its kind; a tuple in all else
};
void retain(NestImpl* n) noexcept { n->refs.retain(); }
void release(NestImpl* n) noexcept {
  if (n->refs.release()) delete n;
}

Nest::Nest() : impl_(new NestImpl) {}
Nest::Nest(const Tensor& t) : Nest() {
  if (t.defined() && t.impl()->resource)
    if (const Nest* several = several_results(t)) {
      impl_ = several->impl_;
      return;
    }
  impl_->kind = NestImpl::Kind::tensor;
  impl_->tensor = t;
}
Nest::Nest(const Variable& v) : Nest(Tensor(v)) {}

namespace {
// The results of a layer that has several, in the place of the tensor that its call gives.
class SeveralResults final : public Resource {
 public:
  SeveralResults(Nest all, std::string whose) : results(std::move(all)), who(std::move(whose)) {}
  const char* kind() const override { return "results"; }
  const Nest results;
  const std::string who;
};
}  // namespace
Tensor make_several(const Nest& results, const std::string& who) {
  const Tensor t =
      make_resource(Ref<Resource>(new SeveralResults(results, who)), DType(DType::Code::variant));
  t.impl()->shape = TensorShape::unknown_rank();
  return t;
}
const Nest* several_results(const Tensor& t) {
  if (!t.defined() || !t.impl()->resource ||
      t.impl()->resource->resource_kind == Resource::Kind::variable)
    return nullptr;
  const auto* several = dynamic_cast<const SeveralResults*>(t.impl()->resource.get());
  return several ? &several->results : nullptr;
}
void refuse_several(const Tensor& t, std::string_view tag) {
  if (const Nest* several = several_results(t))
    RILL_FAIL(invalid_argument,
              "[{}] got the {} results of {}, {}, where one tensor is expected: take one by "
              "y[0], or all by auto [a, b] = y.unpack<{}>()",
              tag, several->flatten().size(),
              static_cast<const SeveralResults*>(t.impl()->resource.get())->who,
              several->to_string(), several->flatten().size());
}
Nest::Nest(std::vector<Tensor> tuple) : Nest() {
  for (Tensor& t : tuple) impl_->items.emplace_back(std::move(t));
}
Nest::Nest(std::vector<std::pair<std::string, Nest>> dict) : Nest() {
  impl_->kind = NestImpl::Kind::dict;
  for (auto& [key, value] : dict) {
    impl_->keys.push_back(std::move(key));
    impl_->items.push_back(std::move(value));
  }
}
Nest Nest::make(std::initializer_list<Nest> tuple) {
  Nest n;
  n.impl_->items.assign(tuple.begin(), tuple.end());
  return n;
}
Nest Nest::make(std::vector<Nest> tuple) {
  Nest n;
  n.impl_->items = std::move(tuple);
  return n;
}
Nest Nest::dict(std::initializer_list<std::pair<std::string_view, Nest>> items) {
  std::vector<std::pair<std::string, Nest>> list;
  for (const auto& [key, value] : items) list.emplace_back(std::string(key), value);
  return Nest(std::move(list));
}

Nest Nest::composite(std::string_view kind, std::vector<Nest> parts) {
  Nest n = make(std::move(parts));
  n.impl_->composite = kind;
  return n;
}
std::string_view Nest::composite_kind() const { return impl_->composite; }
Nest Nest::with_items(std::vector<Nest> items) const {
  RILL_INTERNAL_CHECK(!is_tensor() && items.size() == size());
  Nest out;
  out.impl_->kind = impl_->kind;
  out.impl_->keys = impl_->keys;
  out.impl_->composite = impl_->composite;
  out.impl_->items = std::move(items);
  return out;
}

bool Nest::is_tensor() const { return impl_->kind == NestImpl::Kind::tensor; }
bool Nest::is_dict() const { return impl_->kind == NestImpl::Kind::dict; }
std::size_t Nest::size() const { return is_tensor() ? 1 : impl_->items.size(); }
std::vector<std::string> Nest::keys() const { return impl_->keys; }

const Tensor& Nest::as_tensor() const {
  if (is_tensor()) return impl_->tensor;
  // (A row of a ragged tensor, without ragged axes of its own, is a tensor that batches join.)
  RILL_CHECK(impl_->items.size() == 1 && (!is_composite() || impl_->composite == "ragged"),
             invalid_argument, "[nest] expected one tensor, got {}", to_string());
  return impl_->items[0].as_tensor();
}

Tensor::Tensor(const Nest& n) : Tensor(n.as_tensor()) {}
Operand::Operand(const Nest& n, const char* file, int line) : Operand(n.as_tensor(), file, line) {}
TensorList::TensorList(const Nest& n) : v_(n.flatten()) {}

std::vector<Tensor> Nest::flatten() const {
  if (is_tensor()) return {impl_->tensor};
  std::vector<Tensor> out;
  for (const Nest& item : impl_->items)
    for (Tensor& t : item.flatten()) out.push_back(std::move(t));
  return out;
}

Nest Nest::with_leaves_from(const Tensor*& next) const {
  if (is_tensor()) return Nest(*next++);
  std::vector<Nest> items;
  for (const Nest& item : impl_->items) items.push_back(item.with_leaves_from(next));
  return with_items(std::move(items));
}
Nest Nest::with_leaves(const std::vector<Tensor>& leaves) const {
  const Tensor* next = leaves.data();
  return with_leaves_from(next);
}
bool Nest::same_structure(const Nest& other) const {
  if (impl_->kind != other.impl_->kind || impl_->keys != other.impl_->keys ||
      impl_->composite != other.impl_->composite ||
      impl_->items.size() != other.impl_->items.size())
    return false;
  for (std::size_t i = 0; i < impl_->items.size(); ++i)
    if (!impl_->items[i].same_structure(other.impl_->items[i])) return false;
  return true;
}

const Nest& Nest::operator[](std::string_view key) const {
  for (std::size_t i = 0; i < impl_->keys.size(); ++i)
    if (impl_->keys[i] == key) return impl_->items[i];
  RILL_FAIL(not_found, "[nest] no item is called \"{}\".{}", key, did_you_mean(key, impl_->keys));
}

Nest Nest::operator[](int i) const {
  if (is_tensor()) return impl_->tensor[i];
  RILL_CHECK(i >= 0, out_of_range, "[nest] item {} of {}", i, to_string());
  return part(static_cast<std::size_t>(i));
}

const Nest& Nest::part(std::size_t i) const {
  if (is_tensor() && i == 0) return *this;
  RILL_CHECK(!is_tensor() && i < size(), out_of_range, "[nest] item {} of {}", i, to_string());
  return impl_->items[i];
}

Nest Nest::with(std::string_view key, const Nest& value) const {
  RILL_CHECK(is_dict(), invalid_argument, "[nest] with \"{}\": expected a dict, got {}", key,
             to_string());
  std::vector<std::pair<std::string, Nest>> items;
  bool found = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool here = impl_->keys[i] == key;
    found = found || here;
    items.emplace_back(impl_->keys[i], here ? value : impl_->items[i]);
  }
  if (!found) items.emplace_back(std::string(key), value);
  return Nest(std::move(items));
}

Nest Nest::without(std::string_view key) const {
  (*this)[key];  // says so if there is none
  std::vector<std::pair<std::string, Nest>> items;
  for (std::size_t i = 0; i < size(); ++i)
    if (impl_->keys[i] != key) items.emplace_back(impl_->keys[i], impl_->items[i]);
  return Nest(std::move(items));
}

void Nest::require_size(std::size_t n) const {
  RILL_CHECK(size() == n, invalid_argument, "[nest] expected {} items to unpack, got {}", n,
             to_string());
}

std::string Nest::to_string() const {
  if (is_tensor())
    return impl_->tensor.defined() ? format("{} {}", impl_->tensor.dtype(), impl_->tensor.shape())
                                   : "None";
  std::string out = is_dict() ? "{" : impl_->composite + "(";
  for (std::size_t i = 0; i < impl_->items.size(); ++i) {
    if (i) out += ", ";
    if (is_dict()) out += "'" + impl_->keys[i] + "': ";
    out += impl_->items[i].to_string();
  }
  if (!is_dict() && impl_->items.size() == 1) out += ",";
  return out + (is_dict() ? "}" : ")");
}

namespace {

std::map<std::string, CompositePrinter, std::less<>>& composite_printers() {
  static std::map<std::string, CompositePrinter, std::less<>> printers;
  return printers;
}
// False: nobody has said how.
bool print_composite(std::ostream& os, const Nest& nest) {
  const auto found = composite_printers().find(nest.composite_kind());
  if (!nest.is_composite() || found == composite_printers().end()) return false;
  found->second(os, nest);
  return true;
}

// A tensor as an item of a structure, where Python prints its repr.
void print_item(std::ostream& os, const Tensor& t) {
  if (!t.defined()) {
    os << "None";
  } else if (t.is_symbolic()) {
    os << "<tf.Tensor '" << t.to_string() << "' shape=" << t.shape()
       << " dtype=" << t.dtype().name() << ">";
  } else {
    const Tensor h = to_host(t);
    const std::string value = h.ndim() == 0 || h.impl()->resource
                                  ? h.to_string()
                                  : array_repr({h.dtype(), h.shape().dims(), h.impl()->data});
    os << "<tf.Tensor: shape=" << t.shape() << ", dtype=" << t.dtype().name()
       << ", numpy=" << (value.find('\n') == std::string::npos ? "" : "\n") << value << ">";
  }
}

// A tensor, or a row of a ragged tensor that is one.
bool is_one_tensor(const Nest& nest) {
  return nest.is_tensor() || (nest.composite_kind() == "ragged" && nest.size() == 1);
}

void print_nest(std::ostream& os, const Nest& nest) {
  if (is_one_tensor(nest)) return print_item(os, nest.as_tensor());
  if (print_composite(os, nest)) return;
  const std::vector<std::string> keys = nest.keys();
  os << nest.composite_kind() << (nest.is_dict() ? "{" : "(");
  for (std::size_t i = 0; i < nest.size(); ++i) {
    if (i) os << ", ";
    if (nest.is_dict()) os << "'" << keys[i] << "': ";
    print_nest(os, nest.part(i));
  }
  if (!nest.is_dict() && nest.size() == 1) os << ",";
  os << (nest.is_dict() ? "}" : ")");
}

void append_arrays(std::string& out, const Nest& nest) {
  if (is_one_tensor(nest)) {
    const Tensor& t = nest.as_tensor();
    if (!t.defined() || t.is_symbolic() || t.ndim() == 0) {
      out += t.defined() ? t.to_string() : "None";
      return;
    }
    const Tensor h = to_host(t);
    out += array_repr({h.dtype(), h.shape().dims(), h.impl()->data});
    return;
  }
  if (std::ostringstream text; print_composite(text, nest)) {
    out += text.str();
    return;
  }
  const std::vector<std::string> keys = nest.keys();
  out += nest.composite_kind();
  out += nest.is_dict() ? "{" : "(";
  for (std::size_t i = 0; i < nest.size(); ++i) {
    if (i) out += ", ";
    if (nest.is_dict()) out += "'" + keys[i] + "': ";
    append_arrays(out, nest.part(i));
  }
  if (!nest.is_dict() && nest.size() == 1) out += ",";
  out += nest.is_dict() ? "}" : ")";
}

}  // namespace

bool register_composite_printer(std::string_view kind, CompositePrinter printer) {
  return composite_printers().emplace(kind, printer).second;
}

void append_formatted(std::string& out, const Nest& nest, std::string_view spec) {
  if (is_one_tensor(nest)) return append_formatted(out, nest.as_tensor(), spec);
  append_arrays(out, nest);
}

// What Python prints. to_string() tells the form alone: it is what errors say.
std::ostream& operator<<(std::ostream& os, const Nest& nest) {
  if (is_one_tensor(nest)) return os << nest.as_tensor();
  print_nest(os, nest);
  return os;
}

namespace nest {

Nest pack_sequence_as(const Nest& structure, const std::vector<Tensor>& flat_sequence) {
  const std::size_t n = structure.flatten().size();
  RILL_CHECK(n == flat_sequence.size(), invalid_argument,
             "[nest.pack_sequence_as] got {} tensors for a structure of {}, {}",
             flat_sequence.size(), n, structure.to_string());
  return structure.with_leaves(flat_sequence);
}
void assert_same_structure(const Nest& a, const Nest& b) {
  RILL_CHECK(a.same_structure(b), invalid_argument,
             "[nest] the structures differ: {} and {}; expected the same tuples, dicts and keys",
             a.to_string(), b.to_string());
}

}  // namespace nest

}  // namespace rill
