#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/ref.h"
#include "rill/core/shape.h"

// A first declaration decides what is exported, so this one stands alone.
namespace rill RILL_API {
class Tensor;
}

namespace rill {

// The body of a function that an op calls (If, While, PartitionedCall): the
// graph room derives from it; the rooms below only pass it on.
class FunctionBody {
 public:
  explicit FunctionBody(std::string n) : name(std::move(n)) {}
  virtual ~FunctionBody();
  const std::string name;  // in the library of the graph that calls it
  RefCount refs;
};
inline void retain(FunctionBody* f) noexcept { f->refs.retain(); }
inline void release(FunctionBody* f) noexcept {
  if (f->refs.release()) delete f;
}
using FunctionRef = Ref<FunctionBody>;

// The value of one attribute of an op: typed data that points at its owner
// (a literal, a local of the caller, an AttrStorage). 32 bytes, free to copy.
class AttrValue {
 public:
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    floating,
    text,
    type,
    shape,
    integers,
    floatings,
    texts,
    types,
    tensor,
    booleans,
    shapes,
    function,
    functions
  };

  AttrValue() = default;
  AttrValue(bool v) : kind_(Kind::boolean) { u_.i = v; }
  AttrValue(int v) : kind_(Kind::integer) { u_.i = v; }
  AttrValue(std::int64_t v) : kind_(Kind::integer) { u_.i = v; }
  AttrValue(double v) : kind_(Kind::floating) { u_.d = v; }
  AttrValue(float v) : kind_(Kind::floating) { u_.d = static_cast<double>(v); }
  AttrValue(const char* v) : AttrValue(std::string_view(v)) {}
  AttrValue(std::string_view v) : kind_(Kind::text), size_(v.size()) { u_.p = v.data(); }
  AttrValue(const std::string& v) : AttrValue(std::string_view(v)) {}
  AttrValue(DType v) : kind_(Kind::type) { u_.i = static_cast<std::int64_t>(v.code()); }
  AttrValue(const TensorShape& v) : kind_(Kind::shape) { u_.p = &v; }
  AttrValue(std::span<const std::int64_t> v) : kind_(Kind::integers), size_(v.size()) {
    u_.p = v.data();
  }
  AttrValue(const Dims& v) : AttrValue(std::span<const std::int64_t>(v)) {}
  AttrValue(const std::vector<std::int64_t>& v) : AttrValue(std::span<const std::int64_t>(v)) {}
  AttrValue(std::span<const double> v) : kind_(Kind::floatings), size_(v.size()) {
    u_.p = v.data();
  }
  AttrValue(std::span<const std::string> v) : kind_(Kind::texts), size_(v.size()) {
    u_.p = v.data();
  }
  AttrValue(std::span<const DType> v) : kind_(Kind::types), size_(v.size()) { u_.p = v.data(); }
  AttrValue(const Tensor& v) : kind_(Kind::tensor) { u_.p = &v; }
  AttrValue(std::span<const bool> v) : kind_(Kind::booleans), size_(v.size()) { u_.p = v.data(); }
  AttrValue(std::span<const TensorShape> v) : kind_(Kind::shapes), size_(v.size()) {
    u_.p = v.data();
  }
  AttrValue(const FunctionRef& v) : kind_(Kind::function) { u_.p = &v; }
  AttrValue(std::span<const FunctionRef> v) : kind_(Kind::functions), size_(v.size()) {
    u_.p = v.data();
  }

  Kind kind() const { return kind_; }
  // Each throws Internal when the attribute holds another kind.
  bool as_bool() const { return expect(Kind::boolean), u_.i != 0; }
  std::int64_t as_int() const { return expect(Kind::integer), u_.i; }
  double as_float() const {
    return kind_ == Kind::integer ? static_cast<double>(u_.i) : (expect(Kind::floating), u_.d);
  }
  std::string_view as_string() const {
    return expect(Kind::text), std::string_view(static_cast<const char*>(u_.p), size_);
  }
  DType as_type() const { return expect(Kind::type), DType(static_cast<DType::Code>(u_.i)); }
  const TensorShape& as_shape() const {
    return expect(Kind::shape), *static_cast<const TensorShape*>(u_.p);
  }
  std::span<const std::int64_t> as_ints() const {
    return expect(Kind::integers), std::span(static_cast<const std::int64_t*>(u_.p), size_);
  }
  std::span<const double> as_floats() const {
    return expect(Kind::floatings), std::span(static_cast<const double*>(u_.p), size_);
  }
  std::span<const std::string> as_strings() const {
    return expect(Kind::texts), std::span(static_cast<const std::string*>(u_.p), size_);
  }
  std::span<const DType> as_types() const {
    return expect(Kind::types), std::span(static_cast<const DType*>(u_.p), size_);
  }
  const Tensor& as_tensor() const {
    return expect(Kind::tensor), *static_cast<const Tensor*>(u_.p);
  }
  std::span<const bool> as_bools() const {
    return expect(Kind::booleans), std::span(static_cast<const bool*>(u_.p), size_);
  }
  std::span<const TensorShape> as_shapes() const {
    return expect(Kind::shapes), std::span(static_cast<const TensorShape*>(u_.p), size_);
  }
  const FunctionRef& as_function() const {
    return expect(Kind::function), *static_cast<const FunctionRef*>(u_.p);
  }
  std::span<const FunctionRef> as_functions() const {
    return expect(Kind::functions), std::span(static_cast<const FunctionRef*>(u_.p), size_);
  }

 private:
  void expect(Kind k) const {
    if (kind_ != k) [[unlikely]]
      wrong_kind(k);
  }
  [[noreturn]] RILL_API void wrong_kind(Kind wanted) const;

  Kind kind_ = Kind::none;
  std::size_t size_ = 0;
  union {
    std::int64_t i;
    double d;
    const void* p;
  } u_{};
};

struct Attr {
  std::string_view name;
  AttrValue value;
};

// A list of attributes as written at a call: execute(op, {x}, {{"axis", 1}}).
// What is not written has the default of the op's schema.
using AttrList = std::span<const Attr>;

// Attributes that own what they point at, for what outlives the call: tapes,
// graphs, defaults of a schema. Names are those of the schema and not copied.
class AttrStorage {
 public:
  AttrStorage() = default;
  explicit AttrStorage(AttrList list);
  AttrList list() const { return list_; }
  void add(std::string_view name, const AttrValue& value);
  // The same under a name that is not of a schema; copied.
  void add_named(std::string name, const AttrValue& value);
  // Adds it, or takes the place of the one of that name.
  void set(std::string_view name, const AttrValue& value);

 private:
  AttrValue keep(const AttrValue& v);
  struct Kept;
  std::vector<Attr> list_;
  std::vector<std::shared_ptr<const Kept>> kept_;  // shared by copies
};

}  // namespace rill
