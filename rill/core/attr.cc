#include "rill/core/attr.h"

#include <algorithm>
#include <variant>

#include "rill/base/check.h"
#include "rill/core/tensor.h"

namespace rill {

FunctionBody::~FunctionBody() = default;

struct AttrStorage::Kept {
  std::variant<std::string, TensorShape, std::vector<std::int64_t>, std::vector<double>,
               std::vector<std::string>, std::vector<DType>, Tensor, std::unique_ptr<bool[]>,
               std::vector<TensorShape>, FunctionRef, std::vector<FunctionRef>>
      value;
};

namespace {

const char* kind_name(AttrValue::Kind k) {
  static constexpr const char* kNames[] = {
      "nothing",    "bool",        "int",         "float",        "string",     "type",
      "shape",      "list(int)",   "list(float)", "list(string)", "list(type)", "tensor",
      "list(bool)", "list(shape)", "func",        "list(func)"};
  return kNames[static_cast<int>(k)];
}

}  // namespace

void AttrValue::wrong_kind(Kind wanted) const {
  RILL_FAIL(internal,
            "an attribute holds a {} where a {} was expected; please report this as a bug in Rill",
            kind_name(kind_), kind_name(wanted));
}

AttrStorage::AttrStorage(AttrList list) {
  list_.reserve(list.size());
  for (const Attr& a : list) add(a.name, a.value);
}

void AttrStorage::add(std::string_view name, const AttrValue& value) {
  list_.push_back({name, keep(value)});
}

void AttrStorage::add_named(std::string name, const AttrValue& value) {
  kept_.push_back(std::make_shared<const Kept>(Kept{std::move(name)}));
  const std::string_view own = std::get<std::string>(kept_.back()->value);
  add(own, value);
}

void AttrStorage::set(std::string_view name, const AttrValue& value) {
  for (Attr& a : list_)
    if (a.name == name) {
      a.value = keep(value);
      return;
    }
  add(name, value);
}

AttrValue AttrStorage::keep(const AttrValue& v) {
  auto hold = [&]<class T>(T value) -> const T& {
    kept_.push_back(std::make_shared<const Kept>(Kept{std::move(value)}));
    return std::get<T>(kept_.back()->value);
  };
  auto items = []<class T>(std::span<const T> s) { return std::vector<T>(s.begin(), s.end()); };
  switch (v.kind()) {
    case AttrValue::Kind::text:
      return AttrValue(std::string_view(hold(std::string(v.as_string()))));
    case AttrValue::Kind::shape:
      return AttrValue(hold(v.as_shape()));
    case AttrValue::Kind::integers:
      return AttrValue(std::span<const std::int64_t>(hold(items(v.as_ints()))));
    case AttrValue::Kind::floatings:
      return AttrValue(std::span<const double>(hold(items(v.as_floats()))));
    case AttrValue::Kind::texts:
      return AttrValue(std::span<const std::string>(hold(items(v.as_strings()))));
    case AttrValue::Kind::types:
      return AttrValue(std::span<const DType>(hold(items(v.as_types()))));
    case AttrValue::Kind::tensor:
      return AttrValue(hold(v.as_tensor()));
    case AttrValue::Kind::booleans: {
      const std::span<const bool> from = v.as_bools();
      auto copy = std::make_unique<bool[]>(from.size());
      std::copy(from.begin(), from.end(), copy.get());
      return AttrValue(std::span<const bool>(hold(std::move(copy)).get(), from.size()));
    }
    case AttrValue::Kind::shapes:
      return AttrValue(std::span<const TensorShape>(hold(items(v.as_shapes()))));
    case AttrValue::Kind::function:
      return AttrValue(hold(v.as_function()));
    case AttrValue::Kind::functions:
      return AttrValue(std::span<const FunctionRef>(hold(items(v.as_functions()))));
    default:
      return v;
  }
}

}  // namespace rill
