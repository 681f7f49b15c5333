#pragma once
#include <gtest/gtest.h>

#include "golden.h"
#include "row.h"

// What the tests of the table share: a fixture that walks through the samples of
// a row, and the comparison of results.
namespace rill::conformance {

// "" when equal within tolerance, else the first difference. NaN equals NaN.
std::string difference(const Tensor& got, const Tensor& want, double tol);

// The dtypes under test.
std::vector<DType> dtypes_of(const Row& r);

class Conformance : public ::testing::TestWithParam<const Row*> {
 protected:
  const Row& row() const { return *GetParam(); }
  // Runs `check` for each sample and dtype with a trace that names them.
  template <class F>
  void for_each(F check) {
    for (std::size_t s = 0; s < row().samples.size(); ++s)
      for (DType d : dtypes_of(row())) {
        SCOPED_TRACE(key(row(), s, d));
        check(s, row().samples[s], d);
      }
  }
};

inline auto every_row() {
  return ::testing::ValuesIn(std::vector<const Row*>(table().begin(), table().end()));
}
inline std::string row_name(const ::testing::TestParamInfo<const Row*>& param) {
  std::string name = param.param->name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

}  // namespace rill::conformance
