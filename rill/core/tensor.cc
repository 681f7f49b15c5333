#include "rill/core/tensor.h"

#include <ostream>

#include "rill/base/check.h"
#include "rill/core/array_format.h"
#include "rill/core/execute.h"
#include "rill/core/gradient.h"
#include "rill/core/observer.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"

namespace rill {
namespace {

TensorImpl& defined_impl(const Tensor& t, const char* what) {
  RILL_CHECK(t.defined(), failed_precondition,
             "[{}] this Tensor is undefined: it was default-constructed, or is a gradient that "
             "does not exist",
             what);
  return *t.impl();
}

Tensor host_value(const Tensor& t, const char* what) {
  defined_impl(t, what);
  if (t.is_symbolic())
    if (const Tensor* known = t.impl()->symbol->known_value()) return to_host(*known);
  RILL_CHECK(!t.is_symbolic() || !t.impl()->symbol->own_executor(), failed_precondition,
             "[{}] {} has no value: it stands for what a model will compute. Make the model, "
             "keras::Model(inputs, outputs), and call it on data",
             what, t.impl()->symbol->describe());
  RILL_CHECK(
      !t.is_symbolic(), failed_precondition,
      "[{}] {} has no value: its function is being traced, not run. Return it from the function "
      "and read it there",
      what, t.impl()->symbol->describe());
  if (t.impl()->resource) refuse_several(t, what);
  RILL_CHECK(!t.impl()->resource, invalid_argument, "[{}] a {} tensor has no elements to read",
             what, t.dtype());
  return to_host(t);
}

template <class To, class From>
To convert(const From& v) {
  if constexpr (std::is_same_v<To, From>)
    return v;
  else if constexpr (std::is_same_v<To, std::string> || std::is_same_v<From, std::string>)
    RILL_FAIL(invalid_argument,
              "[item] no conversion between numbers and strings; use tf::strings::as_string or "
              "to_number");
  else if constexpr (requires { v.real(); }) {
    if constexpr (requires(To t) { t.real(); })
      return To(v);
    else
      RILL_FAIL(invalid_argument,
                "[item] a complex number does not fit in a real one; use tf::math::real, imag or "
                "abs");
  } else if constexpr (requires(To t) { t.real(); })
    return To(static_cast<typename To::value_type>(v));
  else if constexpr (std::is_same_v<From, half> || std::is_same_v<From, bfloat16_t>)
    return static_cast<To>(static_cast<float>(v));
  else
    return static_cast<To>(v);
}

}  // namespace

void retain(TensorImpl* t) noexcept { t->refs.retain(); }
void release(TensorImpl* t) noexcept {
  if (t->refs.release()) delete t;
}

std::uint64_t next_tensor_id() {
  // Each thread takes ids in blocks, so that making a tensor touches no shared line.
  static std::atomic<std::uint64_t> blocks{0};
  constexpr std::uint64_t kBlock = 1 << 20;
  [[gnu::tls_model("initial-exec")]] static thread_local std::uint64_t next = 0, end = 0;
  if (next == end) [[unlikely]] {
    next = blocks.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
    end = next + kBlock - 1;
  }
  return next++;
}

Tensor make_tensor(DType dtype, const TensorShape& shape, Device& device) {
  auto* impl = new TensorImpl(dtype, shape);
  Tensor t{Ref<TensorImpl>(impl)};
  impl->num_elements = shape.num_elements();
  impl->buffer = Buffer::allocate(device, dtype, impl->num_elements);
  impl->data = impl->buffer->data();
  impl->device = &device;
  return t;
}

Tensor make_view(const Tensor& t, const TensorShape& shape, std::int64_t element_offset) {
  const TensorImpl& from = *t.impl();
  auto* impl = new TensorImpl(from.dtype, shape);
  Tensor out{Ref<TensorImpl>(impl)};
  impl->num_elements = shape.num_elements();
  impl->buffer = from.buffer;
  impl->data = static_cast<char*>(from.data) +
               static_cast<std::size_t>(element_offset) * from.dtype.itemsize();
  impl->device = from.device;
  impl->resource = from.resource;
  return out;
}

Tensor make_symbolic(DType dtype, const TensorShape& shape, Ref<Symbol> symbol) {
  auto* impl = new TensorImpl(dtype, shape);
  Tensor t{Ref<TensorImpl>(impl)};  // owned before the elements are counted, which may throw
  impl->num_elements = shape.num_elements();
  impl->symbol = std::move(symbol);
  impl->device = &cpu_device();
  return t;
}

Tensor make_resource(Ref<Resource> resource, DType dtype) {
  auto* impl = new TensorImpl(dtype, TensorShape::scalar());
  impl->num_elements = 1;
  impl->resource = std::move(resource);
  impl->device = &cpu_device();
  return Tensor(Ref<TensorImpl>(impl));
}

Tensor copy_to_device(const Tensor& t, Device& device) {
  if (t.impl()->device == &device || t.impl()->resource) return t;
  if (t.dtype() == string) return t;  // strings live in host memory only
  const std::size_t bytes = static_cast<std::size_t>(t.size()) * t.dtype().itemsize();
  Device& from = *t.impl()->device;
  if (!from.is_host() && !device.is_host())
    return copy_to_device(copy_to_device(t, cpu_device()), device);
  note_moved(static_cast<std::int64_t>(bytes));
  Tensor out = make_tensor(t.dtype(), t.shape(), device);
  if (from.is_host())
    device.copy_from_host(out.impl()->data, t.impl()->data, bytes);
  else
    from.copy_to_host(out.impl()->data, t.impl()->data, bytes);
  return out;
}

Tensor to_host(const Tensor& t) {
  return t.impl()->device->is_host() ? t : copy_to_device(t, cpu_device());
}

Dims as_dims(const Tensor& t, std::string_view what) {
  RILL_CHECK(t.ndim() <= 1, invalid_argument,
             "[{}] expected a list of integers, got a tensor of shape {}", what, t.shape());
  const Tensor* known = t.is_symbolic() ? t.impl()->symbol->known_value() : &t;
  RILL_CHECK(known, failed_precondition, "[{}] {} has no value while its function is traced", what,
             t.impl()->symbol->describe());
  const Tensor h = to_host(*known);
  Dims out;
  if (t.dtype() == int32)
    for (std::int64_t i = 0; i < h.size(); ++i) out.push_back(host_data<std::int32_t>(h)[i]);
  else if (t.dtype() == int64)
    for (std::int64_t i = 0; i < h.size(); ++i) out.push_back(host_data<std::int64_t>(h)[i]);
  else if (h.size() != 0)  // an empty list of floats is still an empty list
    RILL_FAIL(invalid_argument, "[{}] expected int32 or int64, got {}", what, t.dtype());
  return out;
}

Tensor Tensor::from_memory(const void* data, const TensorShape& shape, DType dtype,
                           void (*deleter)(void*), void* context) {
  RILL_CHECK(shape.is_fully_defined(), invalid_argument,
             "[from_memory] shape {} is not fully defined", shape);
  RILL_CHECK(dtype.is_numeric() || dtype == bool_, invalid_argument,
             "[from_memory] dtype {} cannot be taken from raw memory", dtype);
  const std::int64_t n = checked_num_elements(shape.dims(), "from_memory");
  RILL_CHECK(data != nullptr || n == 0, invalid_argument, "[from_memory] data is null for shape {}",
             shape);
  auto* impl = new TensorImpl(dtype, shape);
  impl->num_elements = n;
  std::function<void()> free;
  if (deleter) free = [deleter, context] { deleter(context); };
  impl->buffer = Buffer::wrap(const_cast<void*>(data),
                              static_cast<std::size_t>(n) * dtype.itemsize(), std::move(free));
  impl->data = impl->buffer->data();
  impl->device = &cpu_device();
  // The caller's memory must never be written in place.
  return Tensor(Ref<TensorImpl>(impl));
}

Tensor::Tensor(const Gradient& g) : Tensor(g.tensor()) {}

const TensorShape& Tensor::shape() const { return defined_impl(*this, "shape").shape; }
DType Tensor::dtype() const { return defined_impl(*this, "dtype").dtype; }
std::int64_t Tensor::size() const { return defined_impl(*this, "size").num_elements; }
Device& Tensor::device() const { return *defined_impl(*this, "device").device; }
std::uint64_t Tensor::id() const { return impl_ ? impl_->id : 0; }
bool Tensor::is_symbolic() const { return impl_ && impl_->symbol; }

template <class T>
T Tensor::item() const {
  const Tensor h = host_value(*this, "item");
  RILL_CHECK(h.size() == 1, invalid_argument,
             "[item] expected one element, got shape {} ({} elements); use to_vector", h.shape(),
             h.size());
  T out{};
  dispatch_all(h.dtype(), [&]<class From>() { out = convert<T>(*host_data<From>(h)); });
  return out;
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor h = host_value(*this, "to_vector");
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(h.size()));
  dispatch_all(h.dtype(), [&]<class From>() {
    for (std::int64_t i = 0; i < h.size(); ++i) out.push_back(convert<T>(host_data<From>(h)[i]));
  });
  return out;
}

template <class T>
std::span<const T> Tensor::data() const {
  defined_impl(*this, "data");
  RILL_CHECK(!is_symbolic() && device().is_host(), failed_precondition,
             "[data] the elements are not in host memory; call .cpu() first and keep the result");
  RILL_CHECK(dtype() == dtype_of<T>(), invalid_argument,
             "[data] the elements are {}, not {}; use to_vector to convert", dtype(),
             dtype_of<T>());
  return {host_data<T>(*this), static_cast<std::size_t>(size())};
}

#define RILL_INSTANTIATE(T)                    \
  template RILL_API T Tensor::item<T>() const; \
  template RILL_API std::vector<T> Tensor::to_vector<T>() const;
#define RILL_INSTANTIATE_ALL(T) \
  RILL_INSTANTIATE(T)           \
  template RILL_API std::span<const T> Tensor::data<T>() const;
RILL_INSTANTIATE_ALL(float)
RILL_INSTANTIATE_ALL(double)
RILL_INSTANTIATE_ALL(std::int8_t)
RILL_INSTANTIATE_ALL(std::int16_t)
RILL_INSTANTIATE_ALL(std::int32_t)
RILL_INSTANTIATE_ALL(std::int64_t)
RILL_INSTANTIATE_ALL(std::uint8_t)
RILL_INSTANTIATE_ALL(std::uint16_t)
RILL_INSTANTIATE_ALL(std::uint32_t)
RILL_INSTANTIATE_ALL(std::uint64_t)
RILL_INSTANTIATE_ALL(bool)
RILL_INSTANTIATE_ALL(std::string)
RILL_INSTANTIATE_ALL(std::complex<float>)
RILL_INSTANTIATE_ALL(std::complex<double>)
RILL_INSTANTIATE(long long)
RILL_INSTANTIATE(unsigned long long)
template RILL_API std::span<const half> Tensor::data<half>() const;
template RILL_API std::span<const bfloat16_t> Tensor::data<bfloat16_t>() const;

[[noreturn]] static void no_truth(const Tensor& t) {
  const CallContext& at = call_context();
  RILL_FAIL(failed_precondition,
            "[bool] {} has no truth value: its function is being traced, not run, and an if or "
            "while of C++ would be decided once for all calls{}. Instead of\n"
            "    if (x > 0) y = f(x); else y = g(x);\n"
            "write\n"
            "    y = tf::cond(x > 0, [&] {{ return f(x); }}, [&] {{ return g(x); }});\n"
            "and instead of while (x > 0) x = f(x);\n"
            "    x = tf::while_loop([](Tensor x) {{ return x > 0; }}, f, x);",
            t.impl()->symbol->describe(), at.file ? format(" (at {}:{})", at.file, at.line) : "");
}

Tensor::operator bool() const {
  if (is_symbolic()) no_truth(*this);
  const Tensor h = host_value(*this, "bool");
  RILL_CHECK(h.size() == 1, invalid_argument,
             "[bool] the truth value of a tensor of shape {} is ambiguous; use tf::reduce_any or "
             "tf::reduce_all",
             h.shape());
  if (h.dtype() == string) return !host_data<std::string>(h)->empty();
  bool out = false;
  dispatch_plain(h.dtype(), [&]<class From>() { out = *host_data<From>(h) != From{}; });
  return out;
}

Tensor Tensor::eval() const {
  defined_impl(*this, "eval");
  RILL_FAIL(failed_precondition,
            "[eval] runs a graph, and eager execution has none: the tensor has its value already; "
            "write .numpy(), .item<T>() or .to_vector<T>()");
}
void Tensor::set_shape(const TensorShape& shape) const {
  const TensorShape& known = defined_impl(*this, "set_shape").shape;
  RILL_CHECK(known.is_compatible_with(shape), invalid_argument,
             "[set_shape] the tensor has shape {}, which is not compatible with {}", known, shape);
  if (!is_symbolic()) return;
  impl_->shape = merge_shapes(known, shape);
  impl_->num_elements = impl_->shape.num_elements();
  impl_->symbol->shape_is(impl_->shape);
}

std::string Tensor::to_string() const {
  if (!defined()) return "None";
  if (is_symbolic()) return impl_->symbol->name();
  if (impl_->resource) return format("<{} {}>", dtype(), impl_->resource->kind());
  const Tensor h = to_host(*this);
  return array_str({h.dtype(), h.shape().dims(), h.impl()->data});
}

std::ostream& operator<<(std::ostream& os, const Tensor& t) {
  if (!t.defined()) return os << "None";
  const std::string value = t.to_string();
  if (t.is_symbolic())
    return os << "Tensor(\"" << value << "\", shape=" << t.shape() << ", dtype=" << t.dtype().name()
              << ")";
  // As TensorFlow prints: a value of several lines starts on its own line.
  os << "tf.Tensor(" << (value.find('\n') == std::string::npos ? "" : "\n") << value;
  return os << ", shape=" << t.shape() << ", dtype=" << t.dtype().name() << ")";
}

void append_formatted(std::string& out, const Tensor& t, std::string_view spec) {
  if (spec.empty()) {
    out += t.to_string();
    return;
  }
  RILL_CHECK(t.defined() && t.size() == 1, invalid_argument,
             "[format] \"{{:{}}}\" formats a scalar, got a tensor of shape {}", spec,
             t.defined() ? t.shape() : TensorShape());
  RILL_CHECK(!t.dtype().is_complex(), invalid_argument,
             "[format] \"{{:{}}}\" formats a real number, got {}", spec, t.dtype());
  if (t.dtype().is_floating())
    append_number(out, FormatArg(t.item<double>()), spec);
  else if (t.dtype() == string)
    append_number(out, FormatArg(t.item<std::string>()), spec);
  // Python's '{:f}' formats an int as a float, '{:d}' keeps it.
  else if (spec.find_first_of("eEfFgG%") != std::string_view::npos)
    append_number(out, FormatArg(t.item<double>()), spec);
  else
    append_number(out, FormatArg(t.item<std::int64_t>()), spec);
}

}  // namespace rill
