#include "rill/kernels/functors/arithmetic.h"

#include "rill/kernels/cpu/elementwise.h"

namespace rill::cpu {
namespace {

const BinaryKernels<functors::Add, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> add("AddV2"),
    add_v1("Add");
const BinaryKernels<functors::Sub, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> sub("Sub");
const BinaryKernels<functors::Mul, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> mul("Mul");
const BinaryKernels<functors::Div, RILL_FLOATS, RILL_COMPLEX> div("RealDiv");
const BinaryKernels<functors::Maximum, RILL_FLOATS, RILL_INTS> maximum("Maximum");
const BinaryKernels<functors::Minimum, RILL_FLOATS, RILL_INTS> minimum("Minimum");
const UnaryKernels<functors::Neg, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> neg("Neg");
const UnaryKernels<functors::Square, RILL_FLOATS, RILL_INTS, RILL_COMPLEX> square("Square");

struct Conj : functors::Exact {
  template <class T>
  static T apply(T x) {
    return std::conj(x);
  }
};
const UnaryKernels<Conj, RILL_COMPLEX> conj("Conj");

}  // namespace
}  // namespace rill::cpu
