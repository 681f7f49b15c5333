#include "rill/core/strided_slice.h"

#include <cstring>

#include "rill/core/kernel.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

Dims list_at(const TensorView& v) {
  Dims out;
  for (std::int64_t i = 0; i < v.size; ++i)
    out.push_back(v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                                   : static_cast<const std::int32_t*>(v.data)[i]);
  return out;
}

// The spec for inputs first, first + 1, first + 2 = begin, end, strides, and the walk over `whole`.
StridedSliceSpec spec_of(const KernelContext& c, const TensorShape& whole, int first,
                         Dims& strides) {
  const Dims begin = list_at(c.in(first)), end = list_at(c.in(first + 1)),
             step = list_at(c.in(first + 2));
  StridedSliceSpec spec = resolve_strided_slice(whole, begin.size(), &begin, &end, &step,
                                                StridedSliceMasks::of(c), c.tag());
  strides = row_major(whole.dims());
  // An axis of one element is not stepped along; its step may be huge.
  for (std::size_t i = 0; i < strides.size(); ++i)
    strides[i] = spec.size[i] > 1 ? strides[i] * spec.stride[i] : 0;
  return spec;
}

char* at(const TensorView& v, std::int64_t element) {
  return static_cast<char*>(v.data) + element * static_cast<std::int64_t>(v.dtype.itemsize());
}

void strided_slice_cpu(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  Dims strides;
  const StridedSliceSpec spec = spec_of(c, c.in_shape(0), 1, strides);
  strided_copy(c.out().dtype, at(c.in(0), spec.offset(c.in_shape(0).dims())), c.out().data,
               {spec.size, strides, row_major(spec.size)});
}
RILL_KERNEL("StridedSlice", cpu, kAllTypes, strided_slice_cpu);

void strided_slice_grad_cpu(KernelContext& c) noexcept {
  std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  if (c.in(4).size == 0) return;
  Dims strides;
  const StridedSliceSpec spec = spec_of(c, c.out_shape(), 1, strides);
  strided_copy(c.out().dtype, c.in(4).data, at(c.out(), spec.offset(c.out_shape().dims())),
               {spec.size, row_major(spec.size), strides});
}
RILL_KERNEL("StridedSliceGrad", cpu, kPlainTypes, strided_slice_grad_cpu);

}  // namespace
}  // namespace rill::cpu
