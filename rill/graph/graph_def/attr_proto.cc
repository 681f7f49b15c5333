#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/tensor.h"
#include "rill/graph/graph_def/attr_proto_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"

namespace rill {

using Kind = AttrValue::Kind;

void to_proto(const AttrValue& v, const FunctionNamer& name_of, proto::AttrValue* out) {
  switch (v.kind()) {
    case Kind::none:
      break;
    case Kind::boolean:
      out->set_b(v.as_bool());
      break;
    case Kind::integer:
      out->set_i(v.as_int());
      break;
    case Kind::floating:
      out->set_f(static_cast<float>(v.as_float()));
      break;
    case Kind::text:
      out->set_s(std::string(v.as_string()));
      break;
    case Kind::type:
      out->set_type(to_proto(v.as_type()));
      break;
    case Kind::shape:
      to_proto(v.as_shape(), out->mutable_shape());
      break;
    case Kind::tensor:
      to_proto(v.as_tensor(), out->mutable_tensor());
      break;
    case Kind::function:
      out->mutable_func()->set_name(name_of(v.as_function()));
      break;
    case Kind::integers:
      for (std::int64_t i : v.as_ints()) out->mutable_list()->add_i(i);
      break;
    case Kind::floatings:
      for (double f : v.as_floats()) out->mutable_list()->add_f(static_cast<float>(f));
      break;
    case Kind::booleans:
      for (bool b : v.as_bools()) out->mutable_list()->add_b(b);
      break;
    case Kind::texts:
      for (const std::string& s : v.as_strings()) out->mutable_list()->add_s(s);
      break;
    case Kind::types:
      for (DType d : v.as_types()) out->mutable_list()->add_type(to_proto(d));
      break;
    case Kind::shapes:
      for (const TensorShape& s : v.as_shapes()) to_proto(s, out->mutable_list()->add_shape());
      break;
    case Kind::functions:
      for (const FunctionRef& f : v.as_functions())
        out->mutable_list()->add_func()->set_name(name_of(f));
      break;
  }
  const bool is_list = v.kind() == Kind::integers || v.kind() == Kind::floatings ||
                       v.kind() == Kind::booleans || v.kind() == Kind::texts ||
                       v.kind() == Kind::types || v.kind() == Kind::shapes ||
                       v.kind() == Kind::functions;
  if (is_list) out->mutable_list();  // an empty list is a list
}

namespace {

const char* kind_of(const proto::AttrValue& v) {
  switch (v.value_case()) {
    case proto::AttrValue::kList:
      return "a list";
    case proto::AttrValue::kS:
      return "a string";
    case proto::AttrValue::kI:
      return "an int";
    case proto::AttrValue::kF:
      return "a float";
    case proto::AttrValue::kB:
      return "a bool";
    case proto::AttrValue::kType:
      return "a type";
    case proto::AttrValue::kShape:
      return "a shape";
    case proto::AttrValue::kTensor:
      return "a tensor";
    case proto::AttrValue::kPlaceholder:
      return "a placeholder";
    case proto::AttrValue::kFunc:
      return "a function";
    case proto::AttrValue::VALUE_NOT_SET:
      break;
  }
  return "nothing";
}

// Items of a list that are of another kind than the schema's.
int strangers(const proto::AttrValue::ListValue& l, int own) {
  return l.s_size() + l.i_size() + l.f_size() + l.b_size() + l.type_size() + l.shape_size() +
         l.tensor_size() + l.func_size() - own;
}

DType allowed_type(const AttrDef& def, proto::DataType type, std::string_view what) {
  const DType d = from_proto(type, what);
  RILL_CHECK(def.allowed.empty() || def.allowed.contains(d), invalid_argument,
             "{}: attribute {} is {}; expected one of {}", what, def.name, d,
             def.allowed.to_string());
  return d;
}

}  // namespace

void add_from_proto(const AttrDef& def, const proto::AttrValue& v, const FunctionFinder& find,
                    std::int64_t& fill_bytes, std::string_view what, AttrStorage* out) {
  const std::string& type = def.type;
  const auto& list = v.list();
  using Case = proto::AttrValue::ValueCase;
  auto expect = [&](Case c, int items = 0) {
    RILL_CHECK(v.value_case() != Case::kPlaceholder, unimplemented,
               "{}: attribute {} is left open (\"{}\"); functions of any type cannot be read", what,
               def.name, v.placeholder());
    RILL_CHECK(v.value_case() == c && (c != Case::kList || strangers(list, items) == 0),
               invalid_argument, "{}: attribute {} holds {}{}; expected {}", what, def.name,
               kind_of(v), v.value_case() == c ? " of other items" : "", type);
  };
  if (type == "bool") {
    expect(Case::kB), out->add(def.name, v.b());
  } else if (type == "int") {
    expect(Case::kI), out->add(def.name, static_cast<std::int64_t>(v.i()));
  } else if (type == "float") {
    expect(Case::kF), out->add(def.name, v.f());
  } else if (type == "string") {
    expect(Case::kS), out->add(def.name, std::string_view(v.s()));
  } else if (type == "type") {
    expect(Case::kType), out->add(def.name, allowed_type(def, v.type(), what));
  } else if (type == "shape") {
    expect(Case::kShape), out->add(def.name, from_proto(v.shape(), what));
  } else if (type == "tensor") {
    expect(Case::kTensor), out->add(def.name, from_proto(v.tensor(), fill_bytes, what));
  } else if (type == "func") {
    expect(Case::kFunc), out->add(def.name, find(v.func()));
  } else if (type == "list(int)") {
    expect(Case::kList, list.i_size());
    const std::vector<std::int64_t> items(list.i().begin(), list.i().end());
    out->add(def.name, std::span<const std::int64_t>(items));
  } else if (type == "list(float)") {
    expect(Case::kList, list.f_size());
    const std::vector<double> items(list.f().begin(), list.f().end());
    out->add(def.name, std::span<const double>(items));
  } else if (type == "list(bool)") {
    expect(Case::kList, list.b_size());
    auto items = std::make_unique<bool[]>(static_cast<std::size_t>(list.b_size()));
    std::copy(list.b().begin(), list.b().end(), items.get());
    out->add(def.name, std::span<const bool>(items.get(), static_cast<std::size_t>(list.b_size())));
  } else if (type == "list(string)") {
    expect(Case::kList, list.s_size());
    const std::vector<std::string> items(list.s().begin(), list.s().end());
    out->add(def.name, std::span<const std::string>(items));
  } else if (type == "list(type)") {
    expect(Case::kList, list.type_size());
    std::vector<DType> items;
    for (int t : list.type())
      items.push_back(allowed_type(def, static_cast<proto::DataType>(t), what));
    out->add(def.name, std::span<const DType>(items));
  } else if (type == "list(shape)") {
    expect(Case::kList, list.shape_size());
    std::vector<TensorShape> items;
    for (const auto& s : list.shape()) items.push_back(from_proto(s, what));
    out->add(def.name, std::span<const TensorShape>(items));
  } else if (type == "list(func)") {
    expect(Case::kList, list.func_size());
    std::vector<FunctionRef> items;
    for (const auto& f : list.func()) items.push_back(find(f));
    out->add(def.name, std::span<const FunctionRef>(items));
  } else {
    RILL_FAIL(unimplemented, "{}: attribute {} is a {}, which cannot be read", what, def.name,
              type);
  }
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.kind() != b.kind()) {
    const auto number = [](const AttrValue& v) {
      return v.kind() == Kind::integer || v.kind() == Kind::floating;
    };
    return number(a) && number(b) && a.as_float() == b.as_float();
  }
  switch (a.kind()) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return a.as_bool() == b.as_bool();
    case Kind::integer:
      return a.as_int() == b.as_int();
    case Kind::floating:  // as a file holds it
      return static_cast<float>(a.as_float()) == static_cast<float>(b.as_float());
    case Kind::text:
      return a.as_string() == b.as_string();
    case Kind::type:
      return a.as_type() == b.as_type();
    case Kind::shape:
      return a.as_shape() == b.as_shape();
    case Kind::integers:
      return std::ranges::equal(a.as_ints(), b.as_ints());
    case Kind::floatings:
      return std::ranges::equal(a.as_floats(), b.as_floats());
    case Kind::booleans:
      return std::ranges::equal(a.as_bools(), b.as_bools());
    case Kind::texts:
      return std::ranges::equal(a.as_strings(), b.as_strings());
    case Kind::types:
      return std::ranges::equal(a.as_types(), b.as_types());
    case Kind::shapes:
      return std::ranges::equal(a.as_shapes(), b.as_shapes());
    case Kind::function:
      return a.as_function().get() == b.as_function().get();
    default:
      return false;
  }
}

}  // namespace rill
