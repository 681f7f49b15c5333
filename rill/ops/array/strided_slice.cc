// x[begin:end:step, number, ..., newaxis]: the op, and Tensor's indexing on it.
#include "rill/core/strided_slice.h"
#include "rill/core/nest.h"

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// The spec for inputs first, first + 1, first + 2 = begin, end, strides.
StridedSliceSpec spec_of(const ShapeContext& c, const TensorShape& input, int first) {
  std::int64_t entries = -1;
  Dims values[3];
  const Dims* known[3] = {};
  for (int i = 0; i < 3; ++i) {
    const TensorShape& s = c.input(first + i);
    RILL_CHECK(!s.has_rank() || s.rank() == 1, invalid_argument,
               "[{}] begin, end and strides must be lists, got shape {}", c.tag(), s);
    if (s.has_rank())
      entries = merge_dims(entries, s.dim(0), c.tag(), "lengths of begin, end and strides");
    if (const Tensor* v = c.input_value(first + i))
      values[i] = as_dims(*v, c.tag()), known[i] = &values[i];
  }
  if (entries < 0) return {};
  RILL_CHECK(entries < 32, invalid_argument, "[{}] {} indices; at most 31 are possible", c.tag(),
             entries);
  return resolve_strided_slice(input, static_cast<std::size_t>(entries), known[0], known[1],
                               known[2], StridedSliceMasks::of(c), c.tag());
}

void strided_slice_shape(ShapeContext& c) { c.set_output(0, spec_of(c, c.input(0), 1).output); }

extern const Op& strided_slice_grad_op;
void strided_slice_grad(GradContext& g) {
  const Tensor shape = cast(g.input_shape_tensor(0), g.input_dtype(1));
  const In inputs[] = {shape, g.input(1), g.input(2), g.input(3), g.dy()};
  g.set(0, execute(strided_slice_grad_op, inputs, g.attrs()));
}

OpBuilder with_masks(OpBuilder b) {
  for (const char* mask : {"begin_mask: int = 0", "end_mask: int = 0", "ellipsis_mask: int = 0",
                           "new_axis_mask: int = 0", "shrink_axis_mask: int = 0"})
    b.attr(mask);
  return b;
}

const Op& strided_slice_op = with_masks(OpBuilder("StridedSlice", "strided_slice")
                                            .input("input: T")
                                            .input("begin: Index")
                                            .input("end: Index")
                                            .input("strides: Index")
                                            .output("output: T")
                                            .type("T", kAllTypes)
                                            .type("Index", kIndexTypes))
                                 .doc(
                                     "x[begin:end:strides] for each axis; masks mark open ends, an "
                                     "ellipsis, new and dropped axes.")
                                 .shape(strided_slice_shape)
                                 .gradient(strided_slice_grad, "begin end strides")
                                 .host("begin end strides")
                                 .define();

void strided_slice_grad_shape(ShapeContext& c) {
  const TensorShape shape = c.input_as_shape(0);
  const StridedSliceSpec spec = spec_of(c, shape, 1);
  RILL_CHECK(spec.output.is_compatible_with(c.input(4)), invalid_argument,
             "[strided_slice] dy has shape {}, the slice {}", c.input(4), spec.output);
  if (c.input_value(0)) checked_num_elements(shape.dims(), c.tag());
  c.set_output(0, shape);
}
void strided_slice_grad_grad(GradContext& g) {
  const In inputs[] = {g.dy(), g.input(1), g.input(2), g.input(3)};
  g.set(4, execute(strided_slice_op, inputs, g.attrs()));
}
const Op& strided_slice_grad_op =
    with_masks(OpBuilder("StridedSliceGrad", "strided_slice_grad")
                   .input("shape: Index")
                   .input("begin: Index")
                   .input("end: Index")
                   .input("strides: Index")
                   .input("dy: T")
                   .output("output: T")
                   .type("T", kPlainTypes)
                   .type("Index", kIndexTypes))
        .doc("Zeros of the given shape with dy where StridedSlice took its elements.")
        .shape(strided_slice_grad_shape)
        .gradient(strided_slice_grad_grad, "begin end strides")
        .host("shape begin end strides")
        .define();

// An index as the op's inputs and masks.
struct Parsed {
  SmallVector<std::int64_t, 6> begin, end, stride;
  std::vector<Tensor> begin_tensors, end_tensors, stride_tensors;  // where some are symbolic
  StridedSliceMasks masks{0, 0, 0, 0, 0};
  bool wide = false;
};

bool is_symbolic(const Index& i) {
  const Slice& s = i.range();
  for (const Tensor* t : {&i.tensor(), &s.begin_at, &s.end_at, &s.step_at})
    if (t->defined() && t->is_symbolic()) return true;
  return false;
}
// A scalar that is an end of a slice, or its step.
const Tensor& checked_end(const Tensor& t, const char* what) {
  refuse_several(t, "getitem");
  RILL_CHECK(t.dtype().is_integer(), invalid_argument,
             "[getitem] the {} of a slice is a tensor of dtype {}; expected an integer scalar",
             what, t.dtype());
  RILL_CHECK(!t.shape().has_rank() || t.ndim() == 0, invalid_argument,
             "[getitem] the {} of a slice is a tensor of shape {}; expected a scalar", what,
             t.shape());
  return t;
}
// Its number, or `symbol` where it has none yet.
std::int64_t number_at(const Tensor& t, const char* what, std::int64_t otherwise, Tensor* symbol) {
  if (!t.defined()) return otherwise;
  if (!checked_end(t, what).is_symbolic()) return t.item<std::int64_t>();
  *symbol = cast(t, int64);
  return otherwise;
}

Parsed parse(std::span<const Index> index) {
  Parsed p;
  RILL_CHECK(index.size() < 32, invalid_argument, "[getitem] {} indices; at most 31 are possible",
             index.size());
  auto add = [&](std::int64_t b, std::int64_t e, std::int64_t s) {
    p.begin.push_back(b), p.end.push_back(e), p.stride.push_back(s);
    for (std::int64_t v : {b, e, s}) p.wide = p.wide || v > INT32_MAX || v < INT32_MIN;
  };
  bool symbolic = false;
  for (const Index& i : index) symbolic = symbolic || is_symbolic(i);
  for (const Index& i : index) {
    const std::int64_t here = std::int64_t{1} << p.begin.size();
    Tensor number, last, step;
    switch (i.kind()) {
      case Index::Kind::number:
        p.masks.shrink_axis |= here;
        add(i.number(), i.number() < INT64_MAX ? i.number() + 1 : i.number(), 1);
        break;
      case Index::Kind::range: {
        const Slice& s = i.range();
        if (!s.begin.known() && !s.begin_at.defined()) p.masks.begin |= here;
        if (!s.end.known() && !s.end_at.defined()) p.masks.end |= here;
        const std::int64_t b =
            number_at(s.begin_at, "begin", s.begin.known() ? s.begin.value() : 0, &number);
        const std::int64_t e = number_at(s.end_at, "end", s.end.known() ? s.end.value() : 0, &last);
        add(b, e, number_at(s.step_at, "step", s.step, &step));
        break;
      }
      case Index::Kind::whole:
        p.masks.begin |= here, p.masks.end |= here;
        add(0, 0, 1);
        break;
      case Index::Kind::dots:
        p.masks.ellipsis |= here;
        add(0, 0, 1);
        break;
      case Index::Kind::new_axis:
        p.masks.new_axis |= here;
        add(0, 0, 1);
        break;
      case Index::Kind::tensor: {
        const Tensor& t = i.tensor();
        RILL_CHECK(t.defined(), invalid_argument, "[getitem] an index is an undefined tensor");
        RILL_CHECK(t.dtype().is_integer(), invalid_argument,
                   "[getitem] an index is a tensor of dtype {}; expected an integer scalar",
                   t.dtype());
        RILL_CHECK(!t.shape().has_rank() || t.ndim() == 0, invalid_argument,
                   "[getitem] one of {} indices is a tensor of shape {}; expected a scalar. Use "
                   "tf::gather or tf::gather_nd",
                   index.size(), t.shape());
        p.masks.shrink_axis |= here;
        if (t.is_symbolic())
          number = cast(t, int64), add(0, 0, 1);
        else
          add(t.item<std::int64_t>(), 0, 1);
        break;
      }
    }
    if (symbolic) {
      auto either = [](const Tensor& t, std::int64_t n) {
        return t.defined() ? t : to_tensor(n, int64);
      };
      p.begin_tensors.push_back(either(number, p.begin.back()));
      p.end_tensors.push_back(either(last, p.end.back()));
      p.stride_tensors.push_back(either(step, p.stride.back()));
    }
  }
  return p;
}

Tensor list_of(const SmallVector<std::int64_t, 6>& v, bool wide) {
  Tensor t =
      make_tensor(wide ? int64 : int32, TensorShape(Dims{static_cast<std::int64_t>(v.size())}));
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (wide)
      mutable_data<std::int64_t>(t)[i] = v[i];
    else
      mutable_data<std::int32_t>(t)[i] = static_cast<std::int32_t>(v[i]);
  }
  return t;
}

// NumPy's a[perm]: the rows in that order, counted from the end where a number is negative.
bool is_list_of_rows(const Index& i) {
  return i.kind() == Index::Kind::tensor && i.tensor().defined() &&
         i.tensor().dtype().is_integer() && i.tensor().shape().has_rank() && i.tensor().ndim() > 0;
}
Tensor rows_of(const Tensor& t, const Tensor& numbers) {
  const Tensor i = cast(numbers, int64);
  return gather(t, where(i < 0, i + shape(t, int64)[0], i));
}

Tensor index_into(const Tensor& t, std::span<const Index> index) {
  RILL_CHECK(t.defined(), failed_precondition, "[getitem] this Tensor is undefined");
  if (const Nest* several = several_results(t)) {
    const bool one = index.size() == 1 && index[0].kind() == Index::Kind::number;
    if (!one) refuse_several(t, "getitem");
    const auto n = static_cast<std::int64_t>(several->size());
    const std::int64_t i = index[0].number();
    RILL_CHECK(i < n && i >= -n, out_of_range, "[getitem] result {} of {}; expected {} to {}", i, n,
               -n, n - 1);
    return several->part(static_cast<std::size_t>(i < 0 ? i + n : i)).as_tensor();
  }
  if (index.size() == 1 && index[0].kind() == Index::Kind::tensor && index[0].tensor().defined() &&
      index[0].tensor().dtype() == bool_)
    return boolean_mask(t, index[0].tensor());
  if (index.size() == 1 && is_list_of_rows(index[0])) return rows_of(t, index[0].tensor());
  Parsed p = parse(index);
  const CallContext& state = call_context();
  const bool eager =
      !state.executor && !t.is_symbolic() && p.begin_tensors.empty() && !t.impl()->resource;
  const bool wide = p.wide || !p.begin_tensors.empty();
  Tensor view;
  if (eager) {
    const StridedSliceSpec spec = resolve_strided_slice(t.shape(), p.begin.size(), &p.begin, &p.end,
                                                        &p.stride, p.masks, "getitem");
    const Dims& in = t.shape().dims();
    if (spec.is_contiguous(in)) {
      view = make_view(t, spec.output, spec.output.num_elements() > 0 ? spec.offset(in) : 0);
      if (!state.recorder) return view;
    }
  }
  const Attr attrs[] = {{"begin_mask", p.masks.begin},
                        {"end_mask", p.masks.end},
                        {"ellipsis_mask", p.masks.ellipsis},
                        {"new_axis_mask", p.masks.new_axis},
                        {"shrink_axis_mask", p.masks.shrink_axis}};
  // Lists of known numbers stay constants, of which shapes are worked out.
  auto list = [&](const SmallVector<std::int64_t, 6>& v, const std::vector<Tensor>& symbols) {
    for (const Tensor& s : symbols)
      if (s.is_symbolic()) return stack(symbols);
    return list_of(v, wide);
  };
  const Tensor begin = list(p.begin, p.begin_tensors);
  const Tensor end = list(p.end, p.end_tensors), strides = list(p.stride, p.stride_tensors);
  const In inputs[] = {t, begin, end, strides};
  if (!view.defined()) return execute(strided_slice_op, inputs, attrs);
  // The view stands for what the op would have copied.
  state.recorder->record(strided_slice_op, inputs, attrs, {&view, 1});
  return view;
}

}  // namespace

Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end) {
  const Arg b(begin);
  return strided_slice(input, *b, end, ones_like(*b));
}
Tensor strided_slice(const Operand& input, const Operand& begin, const Operand& end,
                     const Operand& strides, StridedSliceOptions o) {
  const Arg b(begin);
  return execute(strided_slice_op, {Arg(input), b, Arg(end, b->dtype()), Arg(strides, b->dtype())},
                 {{"begin_mask", o.begin_mask},
                  {"end_mask", o.end_mask},
                  {"ellipsis_mask", o.ellipsis_mask},
                  {"new_axis_mask", o.new_axis_mask},
                  {"shrink_axis_mask", o.shrink_axis_mask}});
}

Tensor index_tensor(const Tensor& t, const Index* begin, const Index* end) {
  return index_into(t, {begin, end});
}
Tensor Tensor::operator[](const Index& i) const { return index_into(*this, {&i, 1}); }
Tensor Tensor::at(std::initializer_list<Index> index) const {
  return index_into(*this, {index.begin(), index.size()});
}

namespace {
// The size of axis 0, for iteration and unpacking.
std::int64_t length_of(const Tensor& t, const char* what) {
  if (const Nest* several = several_results(t)) return static_cast<std::int64_t>(several->size());
  RILL_CHECK(t.shape().has_rank() && t.ndim() > 0, invalid_argument,
             "[{}] a tensor of shape {} has no axis 0 to go over", what, t.shape());
  RILL_CHECK(t.shape().dim(0) >= 0, invalid_argument,
             "[{}] the size of axis 0 of shape {} is not known while tracing; use tf::map_fn or "
             "tf::while_loop",
             what, t.shape());
  return t.shape().dim(0);
}
}  // namespace

Tensor::iterator Tensor::begin() const {
  length_of(*this, "iterate");
  return {this, 0};
}
Tensor::iterator Tensor::end() const { return {this, length_of(*this, "iterate")}; }
Tensor Tensor::iterator::operator*() const { return (*t_)[i_]; }

namespace detail {
Tensor part_of(const Tensor& t, std::int64_t i) { return t[i]; }
void require_parts(const Tensor& t, std::size_t n) {
  const std::int64_t have = length_of(t, "unpack");
  if (have != static_cast<std::int64_t>(n)) refuse_several(t, "unpack");
  RILL_CHECK(have == static_cast<std::int64_t>(n), invalid_argument,
             "[unpack] a tensor of shape {} has {} parts, not {}", t.shape(), have, n);
}
}  // namespace detail

}  // namespace rill
