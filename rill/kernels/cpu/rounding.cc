// Rounding, classes of numbers, parts of complex numbers.
#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

const UnaryKernels<functors::Floor, RILL_FLOATS> floor("Floor");
const UnaryKernels<functors::Ceil, RILL_FLOATS> ceil("Ceil");
const UnaryKernels<functors::Rint, RILL_FLOATS> rint("Rint");
const UnaryKernels<functors::Round, RILL_FLOATS, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t>
    round("Round");
const PredicateKernels<functors::IsNan, RILL_FLOATS> is_nan("IsNan");
const PredicateKernels<functors::IsInf, RILL_FLOATS> is_inf("IsInf");
const PredicateKernels<functors::IsFinite, RILL_FLOATS> is_finite("IsFinite");
const BinaryKernels<functors::NextAfter, float, double> next_after("NextAfter");

#define RILL_PART(Name, expression) \
  struct Name : functors::Exact {   \
    template <class T>              \
    static auto apply(T x) {        \
      return expression;            \
    }                               \
  };
RILL_PART(Real, x.real())
RILL_PART(Imag, x.imag())
RILL_PART(Angle, std::arg(x))
#undef RILL_PART

template <class F>
struct PartKernels {
  explicit PartKernels(const char* op) {
    KernelRegistration(op, DeviceType::cpu, {complex64}, unary_cpu<F, std::complex<float>, float>);
    KernelRegistration(op, DeviceType::cpu, {complex128},
                       unary_cpu<F, std::complex<double>, double>);
  }
};
const PartKernels<Real> real("Real");
const PartKernels<Imag> imag("Imag");
const PartKernels<Angle> angle("Angle");
const PartKernels<functors::Abs> complex_abs("ComplexAbs");

struct Join : functors::ExactScalar {
  template <class T>
  static std::complex<T> apply(T re, T im) {
    return {re, im};
  }
};
RILL_KERNEL("Complex", cpu, TypeSet{float32}, (binary_cpu<Join, float, std::complex<float>>));
RILL_KERNEL("Complex", cpu, TypeSet{float64}, (binary_cpu<Join, double, std::complex<double>>));

}  // namespace
}  // namespace rill::cpu
