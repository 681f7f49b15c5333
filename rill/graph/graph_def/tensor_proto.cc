#include <cstring>

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"

namespace rill {
namespace {

constexpr int kMaxRank = 254;

struct TypeRow {
  DType dtype;
  proto::DataType code;
};
constexpr TypeRow kTypes[] = {
    {float32, proto::DT_FLOAT},         {float64, proto::DT_DOUBLE},
    {int32, proto::DT_INT32},           {uint8, proto::DT_UINT8},
    {int16, proto::DT_INT16},           {int8, proto::DT_INT8},
    {string, proto::DT_STRING},         {complex64, proto::DT_COMPLEX64},
    {int64, proto::DT_INT64},           {bool_, proto::DT_BOOL},
    {bfloat16, proto::DT_BFLOAT16},     {uint16, proto::DT_UINT16},
    {complex128, proto::DT_COMPLEX128}, {float16, proto::DT_HALF},
    {resource, proto::DT_RESOURCE},     {variant, proto::DT_VARIANT},
    {uint32, proto::DT_UINT32},         {uint64, proto::DT_UINT64},
};

// Calls f with the list that holds elements of T, and with what takes an element
// out of it: f(list, values_per_element, element).
template <class T, class P, class F>
void with_list(P& p, F f) {
  if constexpr (std::is_same_v<T, float>) {
    f(p.float_val(), 1, [](const auto* v) { return *v; });
  } else if constexpr (std::is_same_v<T, double>) {
    f(p.double_val(), 1, [](const auto* v) { return *v; });
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    f(p.int64_val(), 1, [](const auto* v) { return static_cast<T>(*v); });
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    f(p.uint32_val(), 1, [](const auto* v) { return static_cast<T>(*v); });
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    f(p.uint64_val(), 1, [](const auto* v) { return static_cast<T>(*v); });
  } else if constexpr (std::is_same_v<T, bool>) {
    f(p.bool_val(), 1, [](const auto* v) { return *v; });
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    f(p.scomplex_val(), 2, [](const auto* v) { return T(v[0], v[1]); });
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    f(p.dcomplex_val(), 2, [](const auto* v) { return T(v[0], v[1]); });
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    f(p.half_val(), 1, [](const auto* v) {
      const auto bits = static_cast<std::uint16_t>(*v);
      T out;
      static_assert(sizeof out == sizeof bits);
      std::memcpy(&out, &bits, sizeof out);
      return out;
    });
  } else {
    f(p.int_val(), 1, [](const auto* v) { return static_cast<T>(*v); });
  }
}

template <class T>
void add_value(const T& v, proto::TensorProto* out) {
  if constexpr (std::is_same_v<T, float>) {
    out->add_float_val(v);
  } else if constexpr (std::is_same_v<T, double>) {
    out->add_double_val(v);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    out->add_int64_val(v);
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    out->add_uint32_val(v);
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    out->add_uint64_val(v);
  } else if constexpr (std::is_same_v<T, bool>) {
    out->add_bool_val(v);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    out->add_scomplex_val(v.real());
    out->add_scomplex_val(v.imag());
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    out->add_dcomplex_val(v.real());
    out->add_dcomplex_val(v.imag());
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    out->add_half_val(bits);
  } else {
    out->add_int_val(v);
  }
}

// Reserves memory for elements that the message does not hold.
void take_fill(std::int64_t elements, std::int64_t present, DType dtype, std::int64_t& fill_bytes,
               std::string_view what) {
  if (elements <= present) return;
  std::int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(elements - present,
                                               static_cast<std::int64_t>(dtype.itemsize()), &bytes);
  RILL_CHECK(!overflow && bytes <= fill_bytes, resource_exhausted,
             "{}: a tensor of {} {} elements of which {} are given would take more memory than the "
             "{} bytes left to values that repeat; raise max_fill_bytes if the graph is trusted",
             what, elements, dtype, present, fill_bytes);
  fill_bytes -= bytes;
}

}  // namespace

proto::DataType to_proto(DType dtype) {
  for (const TypeRow& r : kTypes)
    if (r.dtype == dtype) return r.code;
  return proto::DT_INVALID;
}

DType from_proto(proto::DataType type, std::string_view what) {
  for (const TypeRow& r : kTypes)
    if (r.code == type) return r.dtype;
  RILL_CHECK(type != proto::DT_INVALID, invalid_argument, "{}: the dtype is missing", what);
  const int code = static_cast<int>(type);
  RILL_CHECK(code < 101 || code > 199, unimplemented,
             "{}: dtype {} is a reference, which only TensorFlow 1's own variables give; freeze "
             "the graph first",
             what, code);
  RILL_FAIL(unimplemented, "{}: dtype {} ({}) is not one that Rill has", what, code,
            proto::DataType_IsValid(code) ? proto::DataType_Name(type) : std::string("unknown"));
}

void to_proto(const TensorShape& shape, proto::TensorShapeProto* out) {
  if (!shape.has_rank()) return out->set_unknown_rank(true);
  for (std::int64_t d : shape.dims()) out->add_dim()->set_size(d);
}

TensorShape from_proto(const proto::TensorShapeProto& shape, std::string_view what) {
  if (shape.unknown_rank()) return TensorShape::unknown_rank();
  RILL_CHECK(shape.dim_size() <= kMaxRank, invalid_argument,
             "{}: a shape has {} dimensions; expected at most {}", what, shape.dim_size(),
             kMaxRank);
  Dims dims;
  std::int64_t elements = 1;
  for (const auto& d : shape.dim()) {
    RILL_CHECK(d.size() >= -1, invalid_argument,
               "{}: a shape has a dimension of size {}; expected a size, or -1 for an unknown one",
               what, d.size());
    RILL_CHECK(d.size() <= 0 || !__builtin_mul_overflow(elements, d.size(), &elements),
               invalid_argument, "{}: a shape has more elements than 63 bits can count", what);
    dims.push_back(d.size());
  }
  return TensorShape(dims);
}

void to_proto(const Tensor& value, proto::TensorProto* out) {
  const Tensor t = to_host(value);
  out->set_dtype(to_proto(t.dtype()));
  to_proto(t.shape(), out->mutable_tensor_shape());
  if (t.dtype() == string) {
    for (std::int64_t i = 0; i < t.size(); ++i) out->add_string_val(host_data<std::string>(t)[i]);
  } else if (t.size() == 1) {
    dispatch_plain(t.dtype(), [&]<class T>() { add_value(*host_data<T>(t), out); });
  } else if (t.size() > 0) {
    out->set_tensor_content(t.impl()->data,
                            static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
  }
}

Tensor from_proto(const proto::TensorProto& p, std::int64_t& fill_bytes, std::string_view what) {
  const DType dtype = from_proto(p.dtype(), what);
  RILL_CHECK(dtype != resource && dtype != variant, unimplemented,
             "{}: a constant of dtype {} cannot be read", what, dtype);
  const TensorShape shape = from_proto(p.tensor_shape(), what);
  RILL_CHECK(shape.is_fully_defined(), invalid_argument,
             "{}: a constant has shape {}; expected known sizes", what, shape);
  const std::int64_t n = shape.num_elements();
  if (dtype == string) {
    RILL_CHECK(p.tensor_content().empty(), unimplemented,
               "{}: a constant of strings holds them in tensor_content; expected string_val", what);
    const std::int64_t given = p.string_val_size();
    RILL_CHECK(given <= n, invalid_argument, "{}: a constant of shape {} holds {} strings", what,
               shape, given);
    std::int64_t last = 0;
    if (given > 0) last = static_cast<std::int64_t>(p.string_val(p.string_val_size() - 1).size());
    std::int64_t bytes = 0;
    RILL_CHECK(!__builtin_mul_overflow(n - given, last, &bytes) && bytes <= fill_bytes,
               resource_exhausted,
               "{}: {} strings of {} bytes each would take more than the {} bytes left to values "
               "that repeat; raise max_fill_bytes if the graph is trusted",
               what, n, last, fill_bytes);
    fill_bytes -= bytes;
    take_fill(n, given, dtype, fill_bytes, what);
    Tensor out = make_tensor(dtype, shape);
    for (std::int64_t i = 0; given > 0 && i < n; ++i)
      mutable_data<std::string>(out)[i] = p.string_val(static_cast<int>(std::min(i, given - 1)));
    return out;
  }
  if (!p.tensor_content().empty()) {
    std::int64_t bytes = 0;
    RILL_CHECK(!__builtin_mul_overflow(n, static_cast<std::int64_t>(dtype.itemsize()), &bytes) &&
                   bytes == static_cast<std::int64_t>(p.tensor_content().size()),
               invalid_argument,
               "{}: a constant of {} {} holds {} bytes; expected {} for {} elements", what, dtype,
               shape, p.tensor_content().size(), bytes, n);
    Tensor out = make_tensor(dtype, shape);
    std::memcpy(out.impl()->data, p.tensor_content().data(), p.tensor_content().size());
    if (dtype == bool_)  // any byte but 0 is true, and 1 is the only one that C++ knows
      for (std::int64_t i = 0; i < n; ++i)
        static_cast<char*>(out.impl()->data)[i] =
            p.tensor_content()[static_cast<std::size_t>(i)] != 0;
    return out;
  }
  Tensor out;
  dispatch_plain(dtype, [&]<class T>() {
    with_list<T>(p, [&](const auto& list, int width, auto element) {
      const std::int64_t given = list.size() / width;
      RILL_CHECK(list.size() % width == 0 && given <= n, invalid_argument,
                 "{}: a constant of {} {} holds {} values; expected at most {}", what, dtype, shape,
                 list.size(), n * width);
      take_fill(n, given, dtype, fill_bytes, what);
      out = make_tensor(dtype, shape);
      T* to = mutable_data<T>(out);
      for (std::int64_t i = 0; i < given; ++i) to[i] = element(list.data() + i * width);
      const T rest = given > 0 ? to[given - 1] : T{};
      for (std::int64_t i = given; i < n; ++i) to[i] = rest;
    });
  });
  return out;
}

}  // namespace rill
