#pragma once
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"

// Tensors as words of a line of text, for the files that tests are compared with:
// dtype, sizes ("-" for a scalar), elements.
namespace rill::testing {

inline std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

// Strings as digits of base 16, after an x.
inline std::string hex(const std::string& s) {
  static const char* digits = "0123456789abcdef";
  std::string out = "x";
  for (unsigned char c : s) out += {digits[c >> 4], digits[c & 15]};
  return out;
}
inline std::string unhex(const std::string& s) {
  std::string out;
  for (std::size_t i = 1; i + 1 < s.size(); i += 2)
    out += static_cast<char>(std::stoi(s.substr(i, 2), nullptr, 16));
  return out;
}

inline void write_tensor(std::ostream& os, const Tensor& t) {
  os << t.dtype().name() << " ";
  for (int i = 0; i < t.ndim(); ++i) os << (i ? "," : "") << t.shape().dim(i);
  if (t.ndim() == 0) os << "-";
  if (t.dtype() == string) {
    for (const std::string& s : t.to_vector<std::string>()) os << " " << hex(s);
  } else if (t.dtype().is_complex()) {
    for (const auto& z : t.to_vector<std::complex<double>>())
      os << " " << number(z.real()) << " " << number(z.imag());
  } else if (t.dtype() == uint64) {
    for (std::uint64_t v : t.to_vector<std::uint64_t>()) os << " " << v;
  } else if (t.dtype().is_integer() || t.dtype() == bool_) {
    for (std::int64_t v : t.to_vector<std::int64_t>()) os << " " << v;
  } else {
    for (double v : t.to_vector<double>()) os << " " << number(v);
  }
}

inline Tensor read_tensor(std::istringstream& in) {
  std::string dtype, shape, word;
  in >> dtype >> shape;
  Dims dims;
  if (shape != "-") {
    std::istringstream list(shape);
    for (std::string d; std::getline(list, d, ',');) dims.push_back(std::atoll(d.c_str()));
  }
  Tensor t = make_tensor(DType::from_name(dtype), TensorShape(dims));
  dispatch_all(t.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < t.size(); ++i) {
      in >> word;
      T& to = mutable_data<T>(t)[i];
      if constexpr (std::is_same_v<T, std::string>) {
        to = unhex(word);
      } else if constexpr (std::is_same_v<T, bool>) {
        to = word == "1";
      } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        to = std::strtoull(word.c_str(), nullptr, 10);
      } else if constexpr (std::is_integral_v<T>) {
        to = static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
      } else if constexpr (requires(T z) { z.real(); }) {
        const double re = std::strtod(word.c_str(), nullptr);
        in >> word;
        to = T(static_cast<typename T::value_type>(re),
               static_cast<typename T::value_type>(std::strtod(word.c_str(), nullptr)));
      } else {
        to = static_cast<T>(std::strtod(word.c_str(), nullptr));
      }
    }
  });
  return t;
}

}  // namespace rill::testing
