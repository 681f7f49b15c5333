#include "rill/core/shape_inference.h"

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"

namespace rill {
namespace {

constexpr std::int64_t kMaxRank = 254;  // TensorFlow's

// What input i is called; lists of tensors come before it or hold it.
const std::string& input_name(const ShapeContext& c, int i) {
  const std::vector<ArgDef>& args = c.op().inputs;
  int lists = 0;
  for (const ArgDef& a : args) lists += a.is_list();
  const int singles = static_cast<int>(args.size()) - lists;
  const int each = lists ? (c.num_inputs() - singles) / lists : 0;
  for (const ArgDef& a : args) {
    i -= a.is_list() ? each : 1;
    if (i < 0) return a.name;
  }
  return args.back().name;
}

}  // namespace

const AttrValue* AttrReader::find_attr(std::string_view name) const {
  for (const Attr& a : attrs_)
    if (a.name == name) return &a.value;
  return op_->find_default(name);
}

const AttrValue& AttrReader::attr(std::string_view name) const {
  const AttrValue* v = find_attr(name);
  RILL_CHECK(v, internal, "op {} was called without its attribute {}", op_->name, name);
  return *v;
}

const Tensor* ShapeContext::input_value(int i) const {
  const Tensor& t = *inputs_[static_cast<std::size_t>(i)];
  if (!t.is_symbolic() || t.impl()->resource) return &t;  // a variable is known by its handle
  return t.impl()->symbol->known_value();
}

TensorShape ShapeContext::input_as_shape(int i) const {
  if (const Tensor* v = input_value(i)) {
    const Dims dims = as_dims(*v, tag());
    return TensorShape(dims);
  }
  if (const Tensor& t = *inputs_[static_cast<std::size_t>(i)]; t.is_symbolic()) {
    TensorShape known = t.impl()->symbol->known_sizes();
    if (known.has_rank()) return known;
  }
  const TensorShape& s = input(i);
  if (s.rank() == 1 && s.dim(0) >= 0) {
    RILL_CHECK(s.dim(0) <= kMaxRank, invalid_argument,
               "[{}] input {} has {} sizes; a shape has at most {} dimensions", tag(),
               input_name(*this, i), s.dim(0), kMaxRank);
    return TensorShape::unknown_dims(static_cast<int>(s.dim(0)));
  }
  return TensorShape::unknown_rank();
}

bool ShapeContext::input_as_int(int i, std::int64_t* value) const {
  const Tensor* v = input_value(i);
  if (!v) return false;
  RILL_CHECK(v->size() == 1 && v->dtype().is_integer(), invalid_argument,
             "[{}] input {} must be one integer, got {} of shape {}", tag(), input_name(*this, i),
             v->dtype(), v->shape());
  *value = v->item<std::int64_t>();
  return true;
}

void unchanged_shape(ShapeContext& c) { c.set_output(0, c.input(0)); }
void scalar_shape(ShapeContext& c) { c.set_output(0, TensorShape::scalar()); }
void unknown_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, TensorShape::unknown_rank());
}
void broadcast_shape(ShapeContext& c) {
  if (c.input(0) == c.input(1)) [[likely]]
    return c.set_output(0, c.input(0));
  c.set_output(0, broadcast_shapes(c.input(0), c.input(1), c.tag()));
}

TensorShape broadcast_shapes(const TensorShape& a, const TensorShape& b, std::string_view tag) {
  if (a == b) return a;
  if (!a.has_rank() || !b.has_rank()) return TensorShape::unknown_rank();
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  Dims out(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a.dims()[static_cast<std::size_t>(ia)];
    const std::int64_t db = ib < 0 ? 1 : b.dims()[static_cast<std::size_t>(ib)];
    std::int64_t& d = out[static_cast<std::size_t>(i)];
    if (da == 1)
      d = db;
    else if (db == 1 || da == db)
      d = da;
    else if (da < 0)
      d = db;  // unknown beside a size > 1 must be that size
    else if (db < 0)
      d = da;
    else
      RILL_FAIL(invalid_argument,
                "[{}] shapes {} and {} cannot be broadcast: dimension {} from the end is {} and "
                "{}; expected equal sizes, or 1",
                tag, a, b, rank - i, da, db);
  }
  return TensorShape(out);
}

int normalize_axis(std::int64_t axis, int rank, std::string_view tag, std::string_view name) {
  RILL_CHECK(axis >= -rank && axis < rank, out_of_range,
             "[{}] {} {} is out of range for rank {}: expected a value in [{}, {})", tag, name,
             axis, rank, -rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void require_rank(const ShapeContext& c, int i, int rank, std::string_view name) {
  const TensorShape& s = c.input(i);
  RILL_CHECK(!s.has_rank() || s.rank() == rank, invalid_argument,
             "[{}] {} must have rank {}, got shape {} (rank {})", c.tag(), name, rank, s, s.rank());
}

std::int64_t merge_dims(std::int64_t a, std::int64_t b, std::string_view tag,
                        std::string_view what) {
  RILL_CHECK(a < 0 || b < 0 || a == b, invalid_argument, "[{}] {} differ: {} and {}", tag, what, a,
             b);
  return a < 0 ? b : a;
}

}  // namespace rill
