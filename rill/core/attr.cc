#include "rill/core/attr.h"

#include <variant>

#include "rill/base/check.h"
#include "rill/core/tensor.h"

namespace rill {

struct AttrStorage::Kept {
  std::variant<std::string, TensorShape, std::vector<std::int64_t>, std::vector<double>,
               std::vector<std::string>, std::vector<DType>, Tensor>
      value;
};

namespace {

const char* kind_name(AttrValue::Kind k) {
  static constexpr const char* kNames[] = {"nothing",     "bool",         "int",        "float",
                                           "string",      "type",         "shape",      "list(int)",
                                           "list(float)", "list(string)", "list(type)", "tensor"};
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
    default:
      return v;
  }
}

}  // namespace rill
