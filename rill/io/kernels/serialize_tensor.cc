// Tensors as the bytes of TensorProtos.
#include <algorithm>
#include <cstring>

#include "rill/core/tensor_impl.h"
#include "rill/io/kernels/reporting_impl.h"
#include "rill/io/tensor_bytes_impl.h"

namespace rill::io {
namespace {

void serialize_tensor_cpu(KernelContext& c) noexcept {
  reporting(c, [&] {
    const TensorView& in = c.in(0);
    const Tensor t = make_tensor(in.dtype, *in.shape);
    if (in.dtype == string)
      std::copy_n(static_cast<const std::string*>(in.data), in.size, mutable_data<std::string>(t));
    else if (in.size > 0)
      std::memcpy(t.impl()->data, in.data, static_cast<std::size_t>(in.size) * in.dtype.itemsize());
    std::string bytes = tensor_bytes(t, true);
    RILL_CHECK(bytes.size() <= INT32_MAX, invalid_argument,
               "[{}] the tensor takes {} bytes; a TensorProto holds less than 2 GB", c.tag(),
               bytes.size());
    *c.out<std::string>() = std::move(bytes);
  });
}
RILL_KERNEL("SerializeTensor", cpu, kPlainTypes | TypeSet{string}, serialize_tensor_cpu);

void parse_tensor_cpu(KernelContext& c) noexcept {
  reporting(c, [&] {
    const DType wanted = c.type_attr("out_type");
    const Tensor t = tensor_of_bytes(*c.in<std::string>(0), format("[{}]", c.tag()));
    RILL_CHECK(t.dtype() == wanted, invalid_argument, "[{}] the bytes hold {} values; expected {}",
               c.tag(), t.dtype(), wanted);
    void* out = c.allocate_output(0, t.shape());
    if (c.failed() || t.size() == 0) return;
    if (wanted == string)
      std::copy_n(host_data<std::string>(t), t.size(), static_cast<std::string*>(out));
    else
      std::memcpy(out, t.impl()->data, static_cast<std::size_t>(t.size()) * wanted.itemsize());
  });
}
RILL_KERNEL("ParseTensor", cpu, kPlainTypes | TypeSet{string}, parse_tensor_cpu);

}  // namespace
}  // namespace rill::io
