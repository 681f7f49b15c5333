#pragma once
#include "rill/core/kernel.h"
#include "rill/core/strided_slice.h"
#include "rill/kernels/functors/strided_copy.h"

// Kernels that only move elements, for every device: each says which strides,
// and the device's loop does it:
//   struct Copy {
//     static void copy(KernelContext&, DType, const void* in, void* out, StridedCopy);
//     static void zero(KernelContext&, const TensorView&);  // strings stay as they are: empty
//   };
namespace rill::moves {

inline std::int64_t int_at(const TensorView& v, std::int64_t i) {
  return v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                          : static_cast<const std::int32_t*>(v.data)[i];
}
inline char* at(const TensorView& v, std::int64_t element) {
  return static_cast<char*>(v.data) + element * static_cast<std::int64_t>(v.dtype.itemsize());
}

template <class Copy>
void transpose(KernelContext& c) noexcept {
  const Dims in = row_major(c.in_shape(0).dims());
  StridedCopy copy{c.out_shape().dims(), {}, row_major(c.out_shape().dims())};
  const int rank = c.in_shape(0).rank();
  for (int i = 0; i < rank; ++i) {
    const std::int64_t p = int_at(c.in(1), i);
    copy.in_strides.push_back(in[static_cast<std::size_t>(p < 0 ? p + rank : p)]);
  }
  Copy::copy(c, c.out().dtype, c.in(0).data, c.out().data, copy);
}

template <class Copy>
void broadcast_to(KernelContext& c) noexcept {
  const Dims &in = c.in_shape(0).dims(), &out = c.out_shape().dims();
  const Dims strides = row_major(in);
  StridedCopy copy{out, Dims(out.size(), 0), row_major(out)};
  const std::size_t extra = out.size() - in.size();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] != 1) copy.in_strides[i + extra] = strides[i];
  Copy::copy(c, c.out().dtype, c.in(0).data, c.out().data, copy);
}

template <class Copy>
void fill(KernelContext& c) noexcept {
  Copy::copy(c, c.out().dtype, c.in(1).data, c.out().data, {{c.out().size}, {0}, {1}});
}

template <class Copy>
void slice(KernelContext& c) noexcept {
  const Dims in = row_major(c.in_shape(0).dims());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    begin += int_at(c.in(1), static_cast<std::int64_t>(i)) * in[i];
  Copy::copy(c, c.out().dtype, at(c.in(0), begin), c.out().data,
             {c.out_shape().dims(), in, row_major(c.out_shape().dims())});
}

template <class Copy>
void pad(KernelContext& c) noexcept {
  const Dims out = row_major(c.out_shape().dims());
  Copy::zero(c, c.out());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    begin += int_at(c.in(1), static_cast<std::int64_t>(2 * i)) * out[i];
  Copy::copy(c, c.out().dtype, c.in(0).data, at(c.out(), begin),
             {c.in_shape(0).dims(), row_major(c.in_shape(0).dims()), out});
}

template <class Copy>
void pad_v2(KernelContext& c) noexcept {
  const Dims out = row_major(c.out_shape().dims());
  Copy::copy(c, c.out().dtype, c.in(2).data, c.out().data, {{c.out().size}, {0}, {1}});
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    begin += int_at(c.in(1), static_cast<std::int64_t>(2 * i)) * out[i];
  if (c.in(0).size > 0)
    Copy::copy(c, c.out().dtype, c.in(0).data, at(c.out(), begin),
               {c.in_shape(0).dims(), row_major(c.in_shape(0).dims()), out});
}

// [d0, d1, ..] seen as [1, d0, 1, d1, ..] and repeated along the new axes.
template <class Copy>
void tile(KernelContext& c) noexcept {
  const Dims &in = c.in_shape(0).dims(), is = row_major(in), os = row_major(c.out_shape().dims());
  StridedCopy copy;
  for (std::size_t i = 0; i < in.size(); ++i) {
    copy.dims.push_back(int_at(c.in(1), static_cast<std::int64_t>(i)));
    copy.in_strides.push_back(0);
    copy.out_strides.push_back(os[i] * in[i]);
    copy.dims.push_back(in[i]);
    copy.in_strides.push_back(is[i]);
    copy.out_strides.push_back(os[i]);
  }
  if (c.out().size > 0) Copy::copy(c, c.out().dtype, c.in(0).data, c.out().data, copy);
}

template <class Copy>
void reverse(KernelContext& c) noexcept {
  const Dims& dims = c.in_shape(0).dims();
  StridedCopy copy{dims, row_major(dims), row_major(dims)};
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < c.in(1).size; ++i) {
    const std::int64_t a = int_at(c.in(1), i);
    const auto axis =
        static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(dims.size()) : a);
    begin += copy.in_strides[axis] * (dims[axis] - 1);
    copy.in_strides[axis] = -copy.in_strides[axis];
  }
  if (c.out().size > 0) Copy::copy(c, c.out().dtype, at(c.in(0), begin), c.out().data, copy);
}

// Each part goes to its place along the axis.
template <class Copy>
void concat(KernelContext& c) noexcept {
  const int n = c.num_inputs() - 1;
  const std::int64_t a = int_at(c.in(n), 0);
  const auto axis = static_cast<std::size_t>(a < 0 ? a + c.out_shape().rank() : a);
  const Dims out = row_major(c.out_shape().dims());
  std::int64_t begin = 0;
  for (int i = 0; i < n; ++i) {
    const Dims& dims = c.in_shape(i).dims();
    Copy::copy(c, c.out().dtype, c.in(i).data, at(c.out(), begin * out[axis]),
               {dims, row_major(dims), out});
    begin += dims[axis];
  }
}

// The axis that stack makes and unstack takes away.
inline std::size_t new_axis(const KernelContext& c, const TensorShape& whole) {
  const std::int64_t a = c.int_attr("axis");
  return static_cast<std::size_t>(a < 0 ? a + whole.rank() : a);
}

template <class Copy>
void pack(KernelContext& c) noexcept {
  const std::size_t axis = new_axis(c, c.out_shape());
  Dims out = row_major(c.out_shape().dims());
  const std::int64_t step = out[axis];
  out.erase(axis);
  for (int i = 0; i < c.num_inputs(); ++i)
    Copy::copy(c, c.out().dtype, c.in(i).data, at(c.out(), i * step),
               {c.in_shape(i).dims(), row_major(c.in_shape(i).dims()), out});
}

template <class Copy>
void unpack(KernelContext& c) noexcept {
  const std::size_t axis = new_axis(c, c.in_shape(0));
  Dims in = row_major(c.in_shape(0).dims());
  const std::int64_t step = in[axis];
  in.erase(axis);
  for (int i = 0; i < c.num_outputs(); ++i)
    Copy::copy(c, c.in(0).dtype, at(c.in(0), i * step), c.out(i).data,
               {c.out_shape(i).dims(), in, row_major(c.out_shape(i).dims())});
}

template <class Copy>
void split_along(KernelContext& c, const TensorView& value, const TensorView& axis_input) {
  const std::int64_t a = *static_cast<const std::int32_t*>(axis_input.data);
  const auto axis = static_cast<std::size_t>(a < 0 ? a + value.shape->rank() : a);
  const Dims strides = row_major(value.shape->dims());
  std::int64_t begin = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Dims& dims = c.out_shape(i).dims();
    const char* from = static_cast<const char*>(value.data) +
                       begin * strides[axis] * static_cast<std::int64_t>(value.dtype.itemsize());
    if (c.out(i).size > 0)
      Copy::copy(c, value.dtype, from, c.out(i).data, {dims, strides, row_major(dims)});
    begin += dims[axis];
  }
}

template <class Copy>
void split(KernelContext& c) noexcept {
  split_along<Copy>(c, c.in(1), c.in(0));
}
template <class Copy>
void split_v(KernelContext& c) noexcept {
  split_along<Copy>(c, c.in(0), c.in(2));
}

inline Dims list_at(const TensorView& v) {
  Dims out;
  for (std::int64_t i = 0; i < v.size; ++i)
    out.push_back(v.dtype == int64 ? static_cast<const std::int64_t*>(v.data)[i]
                                   : static_cast<const std::int32_t*>(v.data)[i]);
  return out;
}

// The spec for inputs first, first + 1, first + 2 = begin, end, strides, and the walk over `whole`.
inline StridedSliceSpec spec_of(const KernelContext& c, const TensorShape& whole, int first,
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

template <class Copy>
void strided_slice(KernelContext& c) noexcept {
  if (c.out().size == 0) return;
  Dims strides;
  const StridedSliceSpec spec = spec_of(c, c.in_shape(0), 1, strides);
  Copy::copy(c, c.out().dtype, at(c.in(0), spec.offset(c.in_shape(0).dims())), c.out().data,
             {spec.size, strides, row_major(spec.size)});
}

template <class Copy>
void strided_slice_grad(KernelContext& c) noexcept {
  Copy::zero(c, c.out());
  if (c.in(4).size == 0) return;
  Dims strides;
  const StridedSliceSpec spec = spec_of(c, c.out_shape(), 1, strides);
  Copy::copy(c, c.out().dtype, c.in(4).data, at(c.out(), spec.offset(c.out_shape().dims())),
             {spec.size, row_major(spec.size), strides});
}

// Registers them all: RILL_MOVES(cpu, OnHost, kAllTypes);
#define RILL_MOVES(device, Copy, types)                                           \
  RILL_KERNEL("Transpose", device, types, ::rill::moves::transpose<Copy>);        \
  RILL_KERNEL("BroadcastTo", device, types, ::rill::moves::broadcast_to<Copy>);   \
  RILL_KERNEL("Fill", device, types, ::rill::moves::fill<Copy>);                  \
  RILL_KERNEL("Slice", device, types, ::rill::moves::slice<Copy>);                \
  RILL_KERNEL("Pad", device, types, ::rill::moves::pad<Copy>);                    \
  RILL_KERNEL("PadV2", device, types, ::rill::moves::pad_v2<Copy>);               \
  RILL_KERNEL("Tile", device, types, ::rill::moves::tile<Copy>);                  \
  RILL_KERNEL("ReverseV2", device, types, ::rill::moves::reverse<Copy>);          \
  RILL_KERNEL("ConcatV2", device, types, ::rill::moves::concat<Copy>);            \
  RILL_KERNEL("Pack", device, types, ::rill::moves::pack<Copy>);                  \
  RILL_KERNEL("Unpack", device, types, ::rill::moves::unpack<Copy>);              \
  RILL_KERNEL("Split", device, types, ::rill::moves::split<Copy>);                \
  RILL_KERNEL("SplitV", device, types, ::rill::moves::split_v<Copy>);             \
  RILL_KERNEL("StridedSlice", device, types, ::rill::moves::strided_slice<Copy>); \
  RILL_KERNEL("StridedSliceGrad", device, kPlainTypes, ::rill::moves::strided_slice_grad<Copy>)

}  // namespace rill::moves
