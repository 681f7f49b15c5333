// Bessel functions, integrals, incomplete gamma and beta functions.
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/cpu/widen.h"
#include "rill/kernels/functors/bessel.h"
#include "rill/kernels/functors/incomplete.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::BesselI0, RILL_FLOATS> bessel_i0("BesselI0");
const UnaryKernels<functors::BesselI1, RILL_FLOATS> bessel_i1("BesselI1");
const UnaryKernels<functors::BesselI0e, RILL_FLOATS> bessel_i0e("BesselI0e");
const UnaryKernels<functors::BesselI1e, RILL_FLOATS> bessel_i1e("BesselI1e");
const UnaryKernels<functors::BesselK0, RILL_FLOATS> bessel_k0("BesselK0");
const UnaryKernels<functors::BesselK1, RILL_FLOATS> bessel_k1("BesselK1");
const UnaryKernels<functors::BesselK0e, RILL_FLOATS> bessel_k0e("BesselK0e");
const UnaryKernels<functors::BesselK1e, RILL_FLOATS> bessel_k1e("BesselK1e");
const UnaryKernels<functors::BesselJ0, RILL_FLOATS> bessel_j0("BesselJ0");
const UnaryKernels<functors::BesselJ1, RILL_FLOATS> bessel_j1("BesselJ1");
const UnaryKernels<functors::BesselY0, RILL_FLOATS> bessel_y0("BesselY0");
const UnaryKernels<functors::BesselY1, RILL_FLOATS> bessel_y1("BesselY1");
const UnaryKernels<functors::Dawsn, RILL_FLOATS> dawsn("Dawsn");
const UnaryKernels<functors::Expint, RILL_FLOATS> expint("Expint");
const UnaryKernels<functors::FresnelCos, RILL_FLOATS> fresnel_cos("FresnelCos");
const UnaryKernels<functors::FresnelSin, RILL_FLOATS> fresnel_sin("FresnelSin");
const UnaryKernels<functors::Spence, RILL_FLOATS> spence("Spence");

const BinaryKernels<functors::Igamma, RILL_FLOATS> igamma("Igamma");
const BinaryKernels<functors::Igammac, RILL_FLOATS> igammac("Igammac");
const BinaryKernels<functors::IgammaGradA, float, double> igamma_grad_a("IgammaGradA");

// Three inputs, each of the shape of the output or a scalar.
void betainc_cpu(KernelContext& c) noexcept {
  dispatch_types<float, double>(c.in(0).dtype, [&]<class T>() {
    const T *a = c.in<T>(0), *b = c.in<T>(1), *x = c.in<T>(2);
    const std::int64_t sa = c.in_shape(0).rank() > 0, sb = c.in_shape(1).rank() > 0,
                       sx = c.in_shape(2).rank() > 0;
    parallel_for(c.out().size, 1 << 9, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        c.out<T>()[i] = static_cast<T>(functors::incomplete::beta_ratio(
            static_cast<double>(a[i * sa]), static_cast<double>(b[i * sb]),
            static_cast<double>(x[i * sx])));
    });
  });
}
RILL_KERNEL("Betainc", cpu, kRealFloatTypes, betainc_cpu);

}  // namespace
}  // namespace rill::cpu
