#include <algorithm>

#include "rill/base/check.h"
#include "rill/data/spec_proto_impl.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/io/wire_impl.h"

namespace rill::data {
namespace {

using io::put_bytes;
using io::put_key;
using io::put_varint;
using io::WireReader;
using io::WireType;

// Field numbers of tensorflow/core/protobuf/struct.proto.
namespace value {
constexpr std::uint32_t kInt64 = 12, kShape = 31, kDtype = 32, kTensorSpec = 33, kTypeSpec = 34,
                        kList = 51, kTuple = 52, kDict = 53, kNamedTuple = 54;
}
namespace tensor_spec {
constexpr std::uint32_t kShape = 2, kDtype = 3;
}
namespace type_spec {
constexpr std::uint32_t kClass = 1, kState = 2, kClassName = 3, kComponents = 4;
constexpr std::uint64_t kSparse = 1, kRagged = 3;  // of kClass
}  // namespace type_spec
constexpr std::uint32_t kItem = 1;   // of a list, tuple or dict
constexpr std::uint32_t kPairs = 2;  // of a named tuple
constexpr std::uint32_t kEntryKey = 1, kEntryValue = 2;
constexpr int kDeepest = 64;

// ---- writing
std::string shape_bytes(const TensorShape& shape) {
  proto::TensorShapeProto p;
  to_proto(shape, &p);
  return p.SerializeAsString();
}
std::string one_field(std::uint32_t field, std::string_view bytes) {
  std::string out;
  put_bytes(out, field, bytes);
  return out;
}
std::string one_number(std::uint32_t field, std::uint64_t number) {
  std::string out;
  put_key(out, field, WireType::varint);
  put_varint(out, number);
  return out;
}
std::string dtype_value(DType d) {
  return one_number(value::kDtype, static_cast<std::uint64_t>(to_proto(d)));
}
std::string tuple_value(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) put_bytes(all, kItem, item);
  return one_field(value::kTuple, all);
}
// Of a type that is made of `components` tensors.
std::string type_value(std::uint64_t kind, std::string_view name, std::size_t components,
                       const std::vector<std::string>& state) {
  std::string out = one_number(type_spec::kClass, kind);
  put_bytes(out, type_spec::kState, tuple_value(state));
  put_bytes(out, type_spec::kClassName, name);
  out += one_number(type_spec::kComponents, components);
  return one_field(value::kTypeSpec, out);
}
std::string ragged_value(const ElementSpec& spec) {
  const TensorSpec& flat = spec[0].leaf();
  const std::size_t rank = spec.size() - 1;
  TensorShape shape = flat.shape();
  if (rank > 0 && shape.has_rank()) {
    const TensorShape& splits = spec[1].leaf().shape();
    const std::int64_t n = splits.has_rank() && splits.dim(0) > 0 ? splits.dim(0) - 1 : -1;
    Dims dims{n};
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(-1);
    for (int i = 1; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
    shape = TensorShape(dims);
  }
  const DType splits = rank > 0 ? spec[1].leaf().dtype() : DType(int64);
  return type_value(type_spec::kRagged, "RaggedTensorSpec", spec.size(),
                    {one_field(value::kShape, shape_bytes(shape)), dtype_value(flat.dtype()),
                     one_number(value::kInt64, 2 * rank), dtype_value(splits)});
}
std::string sparse_value(const ElementSpec& spec) {
  const TensorShape& sizes = spec[2].leaf().shape();
  TensorShape shape = TensorShape::unknown_rank();
  if (sizes.has_rank() && sizes.dim(0) >= 0) {
    Dims dims;
    for (std::int64_t i = 0; i < sizes.dim(0); ++i) dims.push_back(-1);
    shape = TensorShape(dims);
  }
  return type_value(
      type_spec::kSparse, "SparseTensorSpec", 3,
      {one_field(value::kShape, shape_bytes(shape)), dtype_value(spec[1].leaf().dtype())});
}

// ---- reading
class SpecReader {
 public:
  explicit SpecReader(std::string_view what) : what_(what) {}

  ElementSpec spec(std::string_view bytes, int depth = 0) const {
    require(depth < kDeepest, "its structure is too deep");
    WireReader in(bytes);
    while (in.next()) {
      const std::uint32_t field = in.field();
      if (in.type() != WireType::bytes) {
        RILL_FAIL(unimplemented,
                  "{}: a component is of kind {} of struct.proto; expected tensors, ragged and "
                  "sparse ones in tuples and dicts",
                  what_, field);
      }
      const std::string_view content = in.bytes();
      require(in.good(), "it is cut short");
      switch (field) {
        case value::kTensorSpec:
          return tensor(content);
        case value::kTypeSpec:
          return composite(content);
        case value::kList:
        case value::kTuple:
          return tuple(content, kItem, depth);
        case value::kNamedTuple:
          return tuple(content, kPairs, depth);
        case value::kDict:
          return dict(content, depth);
        default:
          RILL_FAIL(unimplemented,
                    "{}: a component is of kind {} of struct.proto; expected tensors, ragged and "
                    "sparse ones in tuples and dicts",
                    what_, field);
      }
    }
    require(false, "a component is missing");
    return {};
  }

 private:
  void require(bool good, const char* why) const {
    RILL_CHECK(good, data_loss, "{}: the description of elements is damaged: {}", what_, why);
  }
  // f(reader) for every field that is a message with this number.
  template <class F>
  void each(std::string_view bytes, std::uint32_t field, F f) const {
    WireReader in(bytes);
    while (in.next()) {
      if (in.is(field, WireType::bytes)) {
        const std::string_view content = in.bytes();
        require(in.good(), "it is cut short");
        f(content);
      } else {
        in.skip();
      }
    }
    require(in.good(), "it is cut short");
  }
  TensorShape shape(std::string_view bytes) const {
    proto::TensorShapeProto p;
    const QuietProtobuf quiet;
    require(
        bytes.size() <= INT32_MAX && p.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
        "a shape is none");
    return from_proto(p, what_);
  }
  DType dtype(std::uint64_t code) const {
    require(code <= INT32_MAX, "a dtype is unknown");
    return from_proto(static_cast<proto::DataType>(code), what_);
  }
  ElementSpec tensor(std::string_view bytes) const {
    TensorShape s;
    DType d;
    WireReader in(bytes);
    while (in.next()) {
      if (in.is(tensor_spec::kShape, WireType::bytes))
        s = shape(in.bytes());
      else if (in.is(tensor_spec::kDtype, WireType::varint))
        d = dtype(in.varint());
      else
        in.skip();
    }
    require(in.good() && d.defined(), "a tensor has no dtype");
    return TensorSpec(s, d);
  }
  ElementSpec tuple(std::string_view bytes, std::uint32_t field, int depth) const {
    std::vector<ElementSpec> items;
    each(bytes, field, [&](std::string_view item) {
      if (field == kItem) {
        items.push_back(spec(item, depth + 1));
        return;
      }
      each(item, kEntryValue, [&](std::string_view v) { items.push_back(spec(v, depth + 1)); });
    });
    return ElementSpec::tuple(std::move(items));
  }
  ElementSpec dict(std::string_view bytes, int depth) const {
    std::vector<std::pair<std::string, ElementSpec>> items;
    each(bytes, kItem, [&](std::string_view entry) {
      std::string key;
      ElementSpec content;
      each(entry, kEntryKey, [&](std::string_view k) { key = k; });
      each(entry, kEntryValue, [&](std::string_view v) { content = spec(v, depth + 1); });
      items.emplace_back(std::move(key), std::move(content));
    });
    std::sort(items.begin(), items.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < items.size(); ++i)
      require(items[i].first != items[i - 1].first, "a dict has a key twice");
    return ElementSpec::dict(std::move(items));
  }
  ElementSpec composite(std::string_view bytes) const {
    std::uint64_t kind = 0;
    std::string state, name;
    WireReader in(bytes);
    while (in.next()) {
      if (in.is(type_spec::kClass, WireType::varint))
        kind = in.varint();
      else if (in.is(type_spec::kState, WireType::bytes))
        state = in.bytes();
      else if (in.is(type_spec::kClassName, WireType::bytes))
        name = in.bytes();
      else
        in.skip();
    }
    require(in.good(), "it is cut short");
    RILL_CHECK(kind == type_spec::kSparse || kind == type_spec::kRagged, unimplemented,
               "{}: a component is a {}; expected tensors, ragged and sparse ones", what_, name);
    // The state is a tuple: a shape, a dtype, and of ragged ones the rank and the splits' dtype.
    TensorShape s;
    std::vector<DType> dtypes;
    std::uint64_t rank = 0;
    each(state, value::kTuple, [&](std::string_view items) {
      each(items, kItem, [&](std::string_view item) {
        WireReader v(item);
        while (v.next()) {
          if (v.is(value::kShape, WireType::bytes))
            s = shape(v.bytes());
          else if (v.is(value::kDtype, WireType::varint))
            dtypes.push_back(dtype(v.varint()));
          else if (v.is(value::kInt64, WireType::varint))
            rank = v.varint() / 2;  // zigzag, of a number that is not negative
          else
            v.skip();
        }
        require(v.good(), "it is cut short");
      });
    });
    require(!dtypes.empty(), "a composite has no dtype");
    if (kind == type_spec::kSparse) return sparse(s, dtypes[0]);
    require(
        rank <= 64 && (!s.has_rank() || rank == 0 || static_cast<std::uint64_t>(s.rank()) > rank),
        "a ragged tensor has more ragged axes than axes");
    return ragged(s, dtypes[0], static_cast<int>(rank),
                  dtypes.size() > 1 ? dtypes[1] : DType(int64));
  }
  static ElementSpec sparse(const TensorShape& s, DType dtype) {
    const std::int64_t rank = s.has_rank() ? s.rank() : -1;
    return ElementSpec::composite("sparse", {TensorSpec(TensorShape(Dims{-1, rank}), int64),
                                             TensorSpec(TensorShape(Dims{-1}), dtype),
                                             TensorSpec(TensorShape(Dims{rank}), int64)});
  }
  static ElementSpec ragged(const TensorShape& s, DType dtype, int rank, DType splits) {
    TensorShape flat = s;
    if (rank > 0 && s.has_rank()) {
      Dims dims{-1};
      for (int i = rank + 1; i < s.rank(); ++i) dims.push_back(s.dim(i));
      flat = TensorShape(dims);
    }
    std::vector<ElementSpec> parts{TensorSpec(flat, dtype)};
    for (int i = 0; i < rank; ++i) {
      const std::int64_t n = i == 0 && s.has_rank() && s.dim(0) >= 0 ? s.dim(0) + 1 : -1;
      parts.emplace_back(TensorSpec(TensorShape(Dims{n}), splits));
    }
    return ElementSpec::composite("ragged", std::move(parts));
  }

  std::string_view what_;
};

}  // namespace

std::string spec_bytes(const ElementSpec& spec) {
  if (spec.is_leaf()) {
    std::string out;
    put_bytes(out, tensor_spec::kShape, shape_bytes(spec.leaf().shape()));
    out +=
        one_number(tensor_spec::kDtype, static_cast<std::uint64_t>(to_proto(spec.leaf().dtype())));
    return one_field(value::kTensorSpec, out);
  }
  if (spec.is_composite()) {
    if (spec.composite_kind() == "ragged") return ragged_value(spec);
    RILL_CHECK(spec.composite_kind() == "sparse", unimplemented,
               "[save] a component is of kind \"{}\"; tensors, ragged and sparse ones can be saved",
               spec.composite_kind());
    return sparse_value(spec);
  }
  std::vector<std::string> items;
  for (std::size_t i = 0; i < spec.size(); ++i)
    items.push_back(spec_bytes(spec[static_cast<int>(i)]));
  if (!spec.is_dict()) return tuple_value(items);
  std::string all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string entry;
    put_bytes(entry, kEntryKey, spec.keys()[i]);
    put_bytes(entry, kEntryValue, items[i]);
    put_bytes(all, kItem, entry);
  }
  return one_field(value::kDict, all);
}

ElementSpec spec_of_bytes(std::string_view bytes, std::string_view what) {
  return SpecReader(what).spec(bytes);
}

}  // namespace rill::data
