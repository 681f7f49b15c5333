// Kernels that only move elements: each says which strides, one loop does it.
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"
#include "rill/kernels/cpu/strided_copy.h"

namespace rill::cpu {
namespace {

std::int64_t int_at(const TensorView& v, std::int64_t i) {
  return v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                          : static_cast<const std::int32_t*>(v.data)[i];
}
char* at(const TensorView& v, std::int64_t element) {
  return static_cast<char*>(v.data) + static_cast<std::size_t>(element) * v.dtype.itemsize();
}

void transpose_cpu(KernelContext& c) noexcept {
  const Dims in = row_major(c.in_shape(0).dims());
  StridedCopy copy{c.out_shape().dims(), {}, row_major(c.out_shape().dims())};
  const int rank = c.in_shape(0).rank();
  for (int i = 0; i < rank; ++i) {
    const std::int64_t p = int_at(c.in(1), i);
    copy.in_strides.push_back(in[static_cast<std::size_t>(p < 0 ? p + rank : p)]);
  }
  strided_copy(c.out().dtype, c.in(0).data, c.out().data, copy);
}
RILL_KERNEL("Transpose", cpu, kAllTypes, transpose_cpu);

void broadcast_to_cpu(KernelContext& c) noexcept {
  const Dims &in = c.in_shape(0).dims(), &out = c.out_shape().dims();
  const Dims strides = row_major(in);
  StridedCopy copy{out, Dims(out.size(), 0), row_major(out)};
  const std::size_t extra = out.size() - in.size();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] != 1) copy.in_strides[i + extra] = strides[i];
  strided_copy(c.out().dtype, c.in(0).data, c.out().data, copy);
}
RILL_KERNEL("BroadcastTo", cpu, kAllTypes, broadcast_to_cpu);

void fill_cpu(KernelContext& c) noexcept {
  strided_copy(c.out().dtype, c.in(1).data, c.out().data, {{c.out().size}, {0}, {1}});
}
RILL_KERNEL("Fill", cpu, kAllTypes, fill_cpu);

void slice_cpu(KernelContext& c) noexcept {
  const Dims in = row_major(c.in_shape(0).dims());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    begin += int_at(c.in(1), static_cast<std::int64_t>(i)) * in[i];
  strided_copy(c.out().dtype, at(c.in(0), begin), c.out().data,
               {c.out_shape().dims(), in, row_major(c.out_shape().dims())});
}
RILL_KERNEL("Slice", cpu, kAllTypes, slice_cpu);

void pad_cpu(KernelContext& c) noexcept {
  const Dims out = row_major(c.out_shape().dims());
  if (c.out().dtype != string)
    std::memset(c.out().data, 0, static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    begin += int_at(c.in(1), static_cast<std::int64_t>(2 * i)) * out[i];
  strided_copy(c.out().dtype, c.in(0).data, at(c.out(), begin),
               {c.in_shape(0).dims(), row_major(c.in_shape(0).dims()), out});
}
RILL_KERNEL("Pad", cpu, kAllTypes, pad_cpu);

// Each part goes to its place along the axis.
void concat_cpu(KernelContext& c) noexcept {
  const int n = c.num_inputs() - 1;
  const std::int64_t a = int_at(c.in(n), 0);
  const auto axis = static_cast<std::size_t>(a < 0 ? a + c.out_shape().rank() : a);
  const Dims out = row_major(c.out_shape().dims());
  std::int64_t begin = 0;
  for (int i = 0; i < n; ++i) {
    const Dims& dims = c.in_shape(i).dims();
    strided_copy(c.out().dtype, c.in(i).data, at(c.out(), begin * out[axis]),
                 {dims, row_major(dims), out});
    begin += dims[axis];
  }
}
RILL_KERNEL("ConcatV2", cpu, kAllTypes, concat_cpu);

// The axis that stack makes and unstack takes away.
std::size_t new_axis(const KernelContext& c, const TensorShape& whole) {
  const std::int64_t a = c.int_attr("axis");
  return static_cast<std::size_t>(a < 0 ? a + whole.rank() : a);
}

void pack_cpu(KernelContext& c) noexcept {
  const std::size_t axis = new_axis(c, c.out_shape());
  Dims out = row_major(c.out_shape().dims());
  const std::int64_t step = out[axis];
  out.erase(axis);
  for (int i = 0; i < c.num_inputs(); ++i)
    strided_copy(c.out().dtype, c.in(i).data, at(c.out(), i * step),
                 {c.in_shape(i).dims(), row_major(c.in_shape(i).dims()), out});
}
RILL_KERNEL("Pack", cpu, kAllTypes, pack_cpu);

void unpack_cpu(KernelContext& c) noexcept {
  const std::size_t axis = new_axis(c, c.in_shape(0));
  Dims in = row_major(c.in_shape(0).dims());
  const std::int64_t step = in[axis];
  in.erase(axis);
  for (int i = 0; i < c.num_outputs(); ++i)
    strided_copy(c.in(0).dtype, at(c.in(0), i * step), c.out(i).data,
                 {c.out_shape(i).dims(), in, row_major(c.out_shape(i).dims())});
}
RILL_KERNEL("Unpack", cpu, kAllTypes, unpack_cpu);

}  // namespace
}  // namespace rill::cpu
