// Strings joined: x + y, side by side, along axes.
#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

void add_strings_cpu(KernelContext& c) noexcept {
  const BroadcastPlan p = plan_broadcast(c.in_shape(0), c.in_shape(1), c.out_shape());
  const std::string *a = c.in<std::string>(0), *b = c.in<std::string>(1);
  std::string* y = c.out<std::string>();
  if (c.out().size == 0) return;
  for_runs(p, 0, c.out().size / p.inner, [&](std::int64_t at, std::int64_t ia, std::int64_t ib) {
    for (std::int64_t i = 0; i < p.inner; ++i)
      y[at + i] = a[ia + (p.a_row ? i : 0)] + b[ib + (p.b_row ? i : 0)];
  });
}
RILL_KERNEL("Add", cpu, TypeSet{string}, add_strings_cpu);

void join_cpu(KernelContext& c) noexcept {
  const std::string separator(c.string_attr("separator"));
  std::string* y = c.out<std::string>();
  for (std::int64_t i = 0; i < c.out().size; ++i) {
    std::string text;
    for (int k = 0; k < c.num_inputs(); ++k) {
      if (k > 0) text += separator;
      text += c.in<std::string>(k)[c.in_shape(k).rank() == 0 ? 0 : i];
    }
    y[i] = std::move(text);
  }
}
RILL_KERNEL("StringJoin", cpu, TypeSet{}, join_cpu);

// For each output: its place among the inputs, from which the listed axes are
// counted through, the first one fastest.
void reduce_join_cpu(KernelContext& c) noexcept {
  const std::string separator(c.string_attr("separator")), *in = c.in<std::string>(0);
  std::string* y = c.out<std::string>();
  const Dims& dims = c.in_shape(0).dims();
  const std::size_t rank = dims.size();
  Dims strides(rank, 1), axes;
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  SmallVector<bool, 8> reduced(rank, false);
  std::int64_t count = 1;
  for (std::int64_t k = 0; k < c.in(1).size; ++k) {
    std::int64_t a = c.in<std::int32_t>(1)[k];
    if (a < 0) a += static_cast<std::int64_t>(rank);
    axes.push_back(a);
    reduced[static_cast<std::size_t>(a)] = true;
    count *= dims[static_cast<std::size_t>(a)];
  }
  for (std::int64_t i = 0; i < c.out().size; ++i) {
    std::int64_t rest = i, base = 0;
    for (std::size_t k = rank; k-- > 0;) {
      if (reduced[k]) continue;
      base += rest % dims[k] * strides[k];
      rest /= dims[k];
    }
    std::string text;
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t at = base, left = j;
      for (std::int64_t a : axes) {
        const auto axis = static_cast<std::size_t>(a);
        at += left % dims[axis] * strides[axis];
        left /= dims[axis];
      }
      if (j > 0) text += separator;
      text += in[at];
    }
    y[i] = std::move(text);
  }
}
RILL_KERNEL("ReduceJoin", cpu, TypeSet{}, reduce_join_cpu);

}  // namespace
}  // namespace rill::cpu
