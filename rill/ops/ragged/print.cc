// As TensorFlow prints ragged tensors: NumPy's layout of arrays in arrays, elements by str().
#include <algorithm>
#include <ostream>
#include <sstream>

#include "rill/base/check.h"
#include "rill/core/array_format.h"
#include "rill/core/composite_printer.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/ragged/ragged_impl.h"

namespace rill {
namespace {

// What .numpy() of a ragged tensor is: an array, whose elements are arrays where the rows of a
// level differ in length. Rows of one length join their array.
struct ArrayOfArrays {
  std::vector<std::int64_t> dims;
  std::vector<std::string> elements;  // as they are printed
};

// Arrays without elements are lists in lists.
std::string empty_lists(const std::vector<std::int64_t>& dims, std::size_t axis) {
  std::string out = "[";
  for (std::int64_t i = 0; axis + 1 < dims.size() && i < dims[axis]; ++i)
    out += (i ? ", " : "") + empty_lists(dims, axis + 1);
  return out + "]";
}
std::string text_of(const ArrayOfArrays& a) {
  if (a.elements.empty()) return empty_lists(a.dims, 0);
  return array_layout(a.dims,
                      [&](std::int64_t i) { return a.elements[static_cast<std::size_t>(i)]; });
}

ArrayOfArrays array_of(const Tensor& flat) {
  ArrayOfArrays out;
  for (int i = 0; i < flat.ndim(); ++i) out.dims.push_back(flat.shape().dim(i));
  const char* data = static_cast<const char*>(flat.impl()->data);
  const std::size_t item = flat.dtype() == string ? sizeof(std::string) : flat.dtype().itemsize();
  for (std::int64_t i = 0; i < flat.size(); ++i)
    out.elements.push_back(
        scalar_str({flat.dtype(), {}, data + static_cast<std::size_t>(i) * item}));
  return out;
}
ArrayOfArrays rows_of(ArrayOfArrays values, const std::vector<std::int64_t>& splits) {
  const std::size_t n = splits.size() - 1;
  if (n == 0) return {{0}, {}};
  bool alike = true;
  for (std::size_t i = 0; i < n; ++i)
    alike = alike && splits[i + 1] - splits[i] == splits[1] - splits[0];
  if (alike) {
    values.dims[0] = splits[1] - splits[0];
    values.dims.insert(values.dims.begin(), static_cast<std::int64_t>(n));
    return values;
  }
  const auto each =
      static_cast<std::int64_t>(values.elements.size()) / std::max<std::int64_t>(values.dims[0], 1);
  ArrayOfArrays out{{static_cast<std::int64_t>(n)}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    ArrayOfArrays row{values.dims, {}};
    row.dims[0] = splits[i + 1] - splits[i];
    row.elements.assign(values.elements.begin() + splits[i] * each,
                        values.elements.begin() + splits[i + 1] * each);
    out.elements.push_back(text_of(row));
  }
  return out;
}

[[maybe_unused]] const bool ragged_printed = register_composite_printer(
    "ragged", [](std::ostream& os, const Nest& n) { os << RaggedTensor::from_nest(n); });

}  // namespace

std::string RaggedTensor::to_string() const {
  levels_of(*this);
  RILL_CHECK(!is_symbolic(), failed_precondition,
             "[RaggedTensor.to_string] the tensor is symbolic: it has no values yet");
  ArrayOfArrays array = array_of(to_host(flat_values_));
  const std::vector<RowLevel>& levels = levels_of(*this);
  for (std::size_t l = levels.size(); l-- > 0;)
    array = rows_of(std::move(array), levels[l].splits.to_vector<std::int64_t>());
  return text_of(array);
}

std::ostream& operator<<(std::ostream& os, const RaggedTensor& t) {
  if (!t.defined()) return os << "<tf.RaggedTensor undefined>";
  if (t.ragged_rank() == 0) return os << t.flat_values();
  if (!t.is_symbolic()) return os << "<tf.RaggedTensor " << t.to_string() << ">";
  os << "tf.RaggedTensor(values=";
  if (t.ragged_rank() > 1)
    os << t.ragged_values();
  else
    os << t.flat_values();
  return os << ", row_splits=" << t.row_splits() << ")";
}
void append_formatted(std::string& out, const RaggedTensor& t, std::string_view) {
  std::ostringstream os;
  os << t;
  out += os.str();
}

}  // namespace rill
