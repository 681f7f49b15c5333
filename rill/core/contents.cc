#include "rill/core/contents.h"

#include <algorithm>
#include <vector>

namespace rill {
namespace {

// The element as an index: "[2, 0]".
std::string place(std::int64_t element, const TensorShape& shape) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = format("{}{}{}", element % shape.dim(axis), text.empty() ? "" : ", ", text);
    element /= shape.dim(axis);
  }
  return "[" + text + "]";
}

}  // namespace

Contents contents_of(const Tensor& t) {
  Contents c{.dtype = t.dtype(), .shape = t.shape()};
  if (!t.dtype().is_floating()) return c;
  const std::vector<double> values = t.to_vector<double>();
  c.elements = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < c.elements; ++i) {
    const double v = values[static_cast<std::size_t>(i)];
    if (std::isfinite(v)) {
      c.least = std::min(c.least, v);
      c.largest = std::max(c.largest, v);
      continue;
    }
    ++(std::isnan(v) ? c.nans : c.infinities);
    if (c.first < 0) c.first = i, c.first_value = v;
  }
  return c;
}

// The sign of a NaN says nothing.
std::string number_text(double v) { return std::isnan(v) ? "nan" : format("{:.6g}", v); }

std::string contents_text(const Contents& c) {
  std::string text = format("{} {}", c.dtype, c.shape);
  if (!c.dtype.is_floating()) return text;
  if (!c.finite()) {
    text += format(", {} NaN and {} infinite of {} elements, the first at {}: {}", c.nans,
                   c.infinities, c.elements, place(c.first, c.shape), number_text(c.first_value));
    if (c.least <= c.largest)
      text += format("; the others from {} to {}", number_text(c.least), number_text(c.largest));
  } else if (c.elements > 0) {
    text += format(", from {} to {}", number_text(c.least), number_text(c.largest));
  }
  return text;
}

}  // namespace rill
