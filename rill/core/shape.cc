#include "rill/core/shape.h"

#include <ostream>

#include "rill/base/check.h"

namespace rill {

std::ostream& operator<<(std::ostream& os, Dim dim) {
  return dim.known() ? os << dim.value() : os << "None";
}
std::int64_t Dim::refuse_unknown() {
  RILL_FAIL(failed_precondition,
            "[shape] a size that is not known is not a number: None. In a function that is traced, "
            "tf::shape(x) gives the sizes when it runs");
}
namespace {

std::string list_of(const TensorShape& s, std::string_view unknown) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (i) out += ", ";
    const std::int64_t d = s.dims()[i];
    if (d < 0)
      out += unknown;
    else
      out += std::to_string(d);
  }
  return out;
}

void check_size(std::size_t place, std::int64_t size) {
  RILL_CHECK(size >= -1, invalid_argument,
             "[TensorShape] dimension {} is negative ({}); an unknown dimension is tf::None or -1",
             place, size);
}

}  // namespace

TensorShape::TensorShape(std::initializer_list<Dim> dims) : known_(true) {
  for (Dim d : dims) {
    RILL_CHECK(!d.known() || d.value() >= 0, invalid_argument,
               "[TensorShape] dimension {} is negative ({}); an unknown dimension is tf::None",
               dims_.size(), d.value());
    dims_.push_back(d.known() ? d.value() : -1);
  }
}

TensorShape::TensorShape(const std::vector<std::int64_t>& dims) : known_(true) {
  for (std::int64_t d : dims) push_back(d);
}

TensorShape TensorShape::unknown_dims(int rank) {
  RILL_CHECK(rank >= 0, invalid_argument, "[TensorShape] the rank is negative ({})", rank);
  return TensorShape(Dims(static_cast<std::size_t>(rank), -1));
}

std::size_t TensorShape::place(int i) const {
  RILL_CHECK(known_, invalid_argument, "[shape] dimension {} of a shape of unknown rank", i);
  const int n = rank();
  RILL_CHECK(i >= -n && i < n, out_of_range,
             "[shape] dimension {} of shape {}: expected an index in [{}, {})", i, *this, -n, n);
  return static_cast<std::size_t>(i < 0 ? i + n : i);
}

std::int64_t TensorShape::dim(int i) const { return dims_[place(i)]; }

void TensorShape::set_dim(int i, std::int64_t size) {
  const std::size_t at = place(i);
  check_size(at, size);
  dims_[at] = size;
}

void TensorShape::push_back(std::int64_t size) {
  RILL_CHECK(known_, invalid_argument,
             "[TensorShape] push_back({}) on a shape of unknown rank; begin with "
             "TensorShape::scalar()",
             size);
  check_size(dims_.size(), size);
  dims_.push_back(size);
}

Dim TensorShape::operator[](int i) const {
  const std::int64_t d = dim(i);
  return d < 0 ? None : Dim(d);
}

bool TensorShape::is_fully_defined() const {
  if (!known_) return false;
  for (std::int64_t d : dims_)
    if (d < 0) return false;
  return true;
}

std::int64_t TensorShape::num_elements() const {
  if (!is_fully_defined()) return -1;
  std::int64_t n = 1;
  bool overflow = false;
  for (std::int64_t d : dims_) {
    if (d == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(n, d, &n);
  }
  RILL_CHECK(!overflow, invalid_argument,
             "[shape] shape {} has more elements than 63 bits can count", *this);
  return n;
}

std::vector<std::int64_t> TensorShape::as_list() const {
  RILL_CHECK(known_, invalid_argument, "[as_list] the rank of this shape is unknown");
  return {dims_.begin(), dims_.end()};
}

bool TensorShape::is_compatible_with(const TensorShape& o) const {
  if (!known_ || !o.known_) return true;
  if (dims_.size() != o.dims_.size()) return false;
  for (std::size_t i = 0; i < dims_.size(); ++i)
    if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) return false;
  return true;
}

std::string TensorShape::to_string() const {
  if (!known_) return "<unknown>";
  return "(" + list_of(*this, "None") + (size() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& os, const TensorShape& shape) {
  return os << shape.to_string();
}

void append_formatted(std::string& out, const TensorShape& s, std::string_view) {
  if (!s.has_rank())
    out += "[unknown rank]";
  else
    out += "[" + list_of(s, "?") + "]";
}

std::int64_t checked_num_elements(const Dims& dims, std::string_view what) {
  // A zero size makes the product 0 whatever the others are, but TensorFlow
  // still refuses others that overflow together; so do we.
  std::int64_t n = 1;
  bool zero = false;
  for (std::int64_t d : dims) {
    RILL_CHECK(d >= 0, invalid_argument, "[{}] shape {} has a negative size: {}", what,
               TensorShape(dims), d);
    if (d == 0) {
      zero = true;
      continue;
    }
    RILL_CHECK(!__builtin_mul_overflow(n, d, &n), invalid_argument,
               "[{}] shape {} has more elements than 63 bits can count", what, TensorShape(dims));
  }
  return zero ? 0 : n;
}

TensorShape merge_shapes(const TensorShape& a, const TensorShape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  TensorShape out = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a.dim(i) < 0) out.set_dim(i, b.dim(i));
  return out;
}

TensorShape common_shape(const TensorShape& a, const TensorShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return TensorShape::unknown_rank();
  TensorShape out = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a.dim(i) != b.dim(i)) out.set_dim(i, -1);
  return out;
}

}  // namespace rill
