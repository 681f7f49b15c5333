// Bessel functions, integrals, incomplete gamma and beta functions.
#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/bessel.h"
#include "rill/kernels/functors/incomplete.h"

namespace rill::cuda {
namespace {

const UnaryKernels<functors::BesselI0, RILL_GPU_FLOATS> bessel_i0("BesselI0");
const UnaryKernels<functors::BesselI1, RILL_GPU_FLOATS> bessel_i1("BesselI1");
const UnaryKernels<functors::BesselI0e, RILL_GPU_FLOATS> bessel_i0e("BesselI0e");
const UnaryKernels<functors::BesselI1e, RILL_GPU_FLOATS> bessel_i1e("BesselI1e");
const UnaryKernels<functors::BesselK0, RILL_GPU_FLOATS> bessel_k0("BesselK0");
const UnaryKernels<functors::BesselK1, RILL_GPU_FLOATS> bessel_k1("BesselK1");
const UnaryKernels<functors::BesselK0e, RILL_GPU_FLOATS> bessel_k0e("BesselK0e");
const UnaryKernels<functors::BesselK1e, RILL_GPU_FLOATS> bessel_k1e("BesselK1e");
const UnaryKernels<functors::BesselJ0, RILL_GPU_FLOATS> bessel_j0("BesselJ0");
const UnaryKernels<functors::BesselJ1, RILL_GPU_FLOATS> bessel_j1("BesselJ1");
const UnaryKernels<functors::BesselY0, RILL_GPU_FLOATS> bessel_y0("BesselY0");
const UnaryKernels<functors::BesselY1, RILL_GPU_FLOATS> bessel_y1("BesselY1");
const UnaryKernels<functors::Dawsn, RILL_GPU_FLOATS> dawsn("Dawsn");
const UnaryKernels<functors::Expint, RILL_GPU_FLOATS> expint("Expint");
const UnaryKernels<functors::FresnelCos, RILL_GPU_FLOATS> fresnel_cos("FresnelCos");
const UnaryKernels<functors::FresnelSin, RILL_GPU_FLOATS> fresnel_sin("FresnelSin");
const UnaryKernels<functors::Spence, RILL_GPU_FLOATS> spence("Spence");

const BinaryKernels<functors::Igamma, RILL_GPU_FLOATS> igamma("Igamma");
const BinaryKernels<functors::Igammac, RILL_GPU_FLOATS> igammac("Igammac");
const BinaryKernels<functors::IgammaGradA, float, double> igamma_grad_a("IgammaGradA");

// Three inputs, each of the shape of the output or a scalar.
template <class T>
struct BetaBody {
  const T *a, *b, *x;
  std::int64_t step_a, step_b, step_x;
  T* y;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    y[i] = static_cast<T>(functors::incomplete::beta_ratio(static_cast<double>(a[i * step_a]),
                                                           static_cast<double>(b[i * step_b]),
                                                           static_cast<double>(x[i * step_x])));
  }
};
void betainc_cuda(KernelContext& c) noexcept {
  const auto step = [&](int i) -> std::int64_t { return c.in_shape(i).rank() > 0; };
  dispatch_types<float, double>(c.in(0).dtype, [&]<class T>() {
    launch_loops(
        c, c.out().size,
        BetaBody<T>{c.in<T>(0), c.in<T>(1), c.in<T>(2), step(0), step(1), step(2), c.out<T>()});
  });
}
RILL_KERNEL("Betainc", gpu, kRealFloatTypes, betainc_cuda);

}  // namespace
}  // namespace rill::cuda
