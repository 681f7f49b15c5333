#include "conformance.h"

#include <cmath>
#include <complex>

#include "rill/core/tensor_impl.h"

namespace rill::conformance {

std::string difference(const Tensor& got, const Tensor& want, double tol) {
  if (got.dtype() != want.dtype())
    return format("dtype {} instead of {}", got.dtype(), want.dtype());
  if (!(got.shape() == want.shape()))
    return format("shape {} instead of {}", got.shape(), want.shape());
  if (got.dtype() == string) {
    const auto a = got.to_vector<std::string>(), b = want.to_vector<std::string>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return format("element {}: \"{}\" instead of \"{}\"", i, a[i], b[i]);
    return "";
  }
  if (got.dtype() == uint64 || got.dtype() == int64) {  // a double does not hold them all
    const auto a = got.to_vector<std::int64_t>(), b = want.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return format("element {}: {} instead of {}", i, a[i], b[i]);
    return "";
  }
  const auto a = got.to_vector<std::complex<double>>(), b = want.to_vector<std::complex<double>>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (auto part : {0, 1}) {
      const double g = part ? a[i].imag() : a[i].real(), w = part ? b[i].imag() : b[i].real();
      if ((std::isnan(g) && std::isnan(w)) || g == w) continue;
      if (std::abs(g - w) <= tol * std::max(1.0, std::abs(w))) continue;
      char text[120];
      std::snprintf(text, sizeof text, "element %zu: %.9g instead of %.9g (off by %.3g)", i, g, w,
                    std::abs(g - w));
      return text;
    }
  }
  return "";
}

std::vector<DType> dtypes_of(const Row& r) {
  std::vector<DType> out;
  for (int i = 1; i < DType::kCount; ++i)
    if (const DType d{static_cast<DType::Code>(i)}; r.types.contains(d)) out.push_back(d);
  return out;
}

}  // namespace rill::conformance
