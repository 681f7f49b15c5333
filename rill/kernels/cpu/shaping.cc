#include <cstring>

#include "rill/kernels/cpu/strided_copy.h"
#include "rill/kernels/functors/blocks.h"

namespace rill::cpu {
namespace {

struct OnHost {
  static void copy(KernelContext&, DType dtype, const void* in, void* out, StridedCopy copy) {
    strided_copy(dtype, in, out, std::move(copy));
  }
  static void zero(KernelContext&, const TensorView& v) {
    if (v.dtype != string)
      std::memset(v.data, 0, static_cast<std::size_t>(v.size) * v.dtype.itemsize());
  }
};
RILL_MOVES(cpu, OnHost, kAllTypes);
RILL_BLOCK_MOVES(cpu, OnHost);

}  // namespace
}  // namespace rill::cpu
