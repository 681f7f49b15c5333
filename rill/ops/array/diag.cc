// Diagonals and bands of matrices.
#include "rill/core/diagonal.h"
#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

// k when it is known: one number, or the lowest and the highest.
bool known_k(const ShapeContext& c, int i, std::int64_t& low, std::int64_t& high) {
  RILL_CHECK(!c.input(i).has_rank() || c.input(i).rank() <= 1, invalid_argument,
             "[{}] k must be a number or a pair, got shape {}", c.tag(), c.input(i));
  const Tensor* v = c.input_value(i);
  if (!v) return false;
  const Dims k = as_dims(*v, c.tag());
  RILL_CHECK(k.size() == 1 || k.size() == 2, invalid_argument,
             "[{}] k must have 1 or 2 entries, got {}", c.tag(), k.size());
  low = k[0], high = k[k.size() - 1];
  RILL_CHECK(low <= high, invalid_argument, "[{}] k is ({}, {}); the first must not be larger",
             c.tag(), low, high);
  return true;
}
void check_align(const ShapeContext& c) {
  const std::string_view a = c.string_attr("align");
  RILL_CHECK(a == "RIGHT_LEFT" || a == "LEFT_RIGHT" || a == "LEFT_LEFT" || a == "RIGHT_RIGHT",
             invalid_argument,
             "[{}] align is \"{}\"; expected RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT",
             c.tag(), a);
}
void check_range(const ShapeContext& c, std::int64_t low, std::int64_t high, std::int64_t rows,
                 std::int64_t cols) {
  if (rows < 0 || cols < 0) return;
  auto fits = [&](std::int64_t k) { return k == 0 || (k > -rows && k < cols); };
  RILL_CHECK(fits(low) && fits(high), invalid_argument,
             "[{}] diagonals {} to {} are outside a matrix of {} x {}", c.tag(), low, high, rows,
             cols);
}

void diag_part_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  check_align(c);
  require_rank(c, 2, 0, "padding_value");
  RILL_CHECK(!in.has_rank() || in.rank() >= 2, invalid_argument,
             "[{}] input must be matrices, got shape {}", c.tag(), in);
  std::int64_t low, high;
  if (!known_k(c, 1, low, high) || !in.has_rank()) return unknown_shape(c);
  const std::int64_t rows = in.dim(-2), cols = in.dim(-1);
  check_range(c, low, high, rows, cols);
  Dims out(in.dims());
  out.pop_back();
  out.pop_back();
  if (low != high) out.push_back(high - low + 1);
  out.push_back(rows < 0 || cols < 0 ? -1 : Diagonals(low, high, rows, cols).max_length());
  set_checked(c, 0, out);
}

extern const Op &diag_op, &diag_part_op, &set_diag_op;
void diag_part_grad(GradContext& g) {
  const Tensor zero = zeros(shape_of_input(g, 0), g.dy().dtype());
  const In inputs[] = {zero, g.dy(), g.input(1)};
  g.set(0, execute(set_diag_op, inputs, g.attrs()));
}
const Op& diag_part_op =
    OpBuilder("MatrixDiagPartV3", "linalg.diag_part")
        .input("input: T")
        .input("k: int32")
        .input("padding_value: T")
        .output("diagonal: T")
        .attr("align: string = 'RIGHT_LEFT'")
        .type("T", kPlainTypes)
        .doc("The diagonals k of matrices; shorter ones are filled up with padding_value.")
        .shape(diag_part_shape)
        .gradient(diag_part_grad, "k")
        .host("k")
        .define();

void diag_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  check_align(c);
  for (int i : {2, 3, 4})
    require_rank(c, i, 0, i == 2 ? "num_rows" : i == 3 ? "num_cols" : "padding_value");
  RILL_CHECK(!in.has_rank() || in.rank() >= 1, invalid_argument,
             "[{}] diagonal must have rank 1 or more, got a scalar", c.tag());
  std::int64_t low, high, rows = -1, cols = -1;
  const bool sized = c.input_as_int(2, &rows) & c.input_as_int(3, &cols);
  if (!known_k(c, 1, low, high) || !in.has_rank()) return unknown_shape(c);
  RILL_CHECK(low == high || in.rank() >= 2, invalid_argument,
             "[{}] {} diagonals need a tensor of rank 2 or more, got shape {}", c.tag(),
             high - low + 1, in);
  RILL_CHECK(low == high || in.dim(-2) < 0 || in.dim(-2) == high - low + 1, invalid_argument,
             "[{}] diagonal of shape {} has {} diagonals, but k asks for {}", c.tag(), in,
             in.dim(-2), high - low + 1);
  Dims out(in.dims());
  const std::int64_t length = out.back();
  out.pop_back();
  if (low != high) out.pop_back();
  if (length < 0 || !sized) {
    out.push_back(-1), out.push_back(-1);
    return c.set_output(0, TensorShape(out));
  }
  const std::int64_t min_rows = length - std::min<std::int64_t>(high, 0),
                     min_cols = length + std::max<std::int64_t>(low, 0);
  RILL_CHECK(
      (rows < 0 || rows >= min_rows) && (cols < 0 || cols >= min_cols), invalid_argument,
      "[{}] {} x {} is too small for diagonals of length {} at {} to {}; expected at least {} x {}",
      c.tag(), rows, cols, length, low, high, min_rows, min_cols);
  if (rows < 0 && cols < 0)
    rows = cols = std::max(min_rows, min_cols);
  else if (rows < 0)
    rows = min_rows;
  else if (cols < 0)
    cols = min_cols;
  RILL_CHECK(rows == min_rows || cols == min_cols, invalid_argument,
             "[{}] {} x {} is too large for diagonals of length {} at {} to {}", c.tag(), rows,
             cols, length, low, high);
  check_range(c, low, high, rows, cols);
  out.push_back(rows);
  out.push_back(cols);
  set_checked(c, 0, out);
}
void diag_grad(GradContext& g) {
  const Tensor zero = zeros({}, g.dy().dtype());
  const In inputs[] = {g.dy(), g.input(1), zero};
  g.set(0, execute(diag_part_op, inputs, g.attrs()));
}
const Op& diag_op = OpBuilder("MatrixDiagV3", "linalg.diag")
                        .input("diagonal: T")
                        .input("k: int32")
                        .input("num_rows: int32")
                        .input("num_cols: int32")
                        .input("padding_value: T")
                        .output("output: T")
                        .attr("align: string = 'RIGHT_LEFT'")
                        .type("T", kPlainTypes)
                        .doc("Matrices with the given diagonals k, and padding_value elsewhere.")
                        .shape(diag_shape)
                        .gradient(diag_grad, "k")
                        .host("k num_rows num_cols")
                        .define();

void set_diag_shape(ShapeContext& c) {
  const TensorShape &in = c.input(0), &diagonal = c.input(1);
  check_align(c);
  RILL_CHECK(!in.has_rank() || in.rank() >= 2, invalid_argument,
             "[{}] input must be matrices, got shape {}", c.tag(), in);
  c.set_output(0, in);
  std::int64_t low, high;
  if (!known_k(c, 2, low, high) || !in.has_rank() || in.dim(-1) < 0 || in.dim(-2) < 0) return;
  check_range(c, low, high, in.dim(-2), in.dim(-1));
  Dims want(in.dims());
  want.pop_back();
  want.pop_back();
  if (low != high) want.push_back(high - low + 1);
  want.push_back(Diagonals(low, high, in.dim(-2), in.dim(-1)).max_length());
  RILL_CHECK(TensorShape(want).is_compatible_with(diagonal), invalid_argument,
             "[{}] diagonal has shape {}; matrices of shape {} need {}", c.tag(), diagonal, in,
             TensorShape(want));
}
void set_diag_grad(GradContext& g) {
  const Tensor zero = zeros({}, g.dy().dtype());
  const In part[] = {g.dy(), g.input(2), zero};
  const Tensor taken = execute(diag_part_op, part, g.attrs());
  if (g.needs(0)) {
    const Tensor nothing = zeros_like(taken);
    const In inputs[] = {g.dy(), nothing, g.input(2)};
    g.set(0, execute(set_diag_op, inputs, g.attrs()));
  }
  g.set(1, taken);
}
const Op& set_diag_op = OpBuilder("MatrixSetDiagV3", "linalg.set_diag")
                            .input("input: T")
                            .input("diagonal: T")
                            .input("k: int32")
                            .output("output: T")
                            .attr("align: string = 'RIGHT_LEFT'")
                            .type("T", kPlainTypes)
                            .doc("The matrices with their diagonals k replaced.")
                            .shape(set_diag_shape)
                            .gradient(set_diag_grad, "k")
                            .host("k")
                            .define();

void band_part_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  RILL_CHECK(!in.has_rank() || in.rank() >= 2, invalid_argument,
             "[{}] input must be matrices, got shape {}", c.tag(), in);
  for (int i : {1, 2}) {
    std::int64_t n = 0;
    require_rank(c, i, 0, i == 1 ? "num_lower" : "num_upper");
    if (!c.input_as_int(i, &n) || !in.has_rank() || in.dim(-i) < 0) continue;
    const std::int64_t size = in.dim(i == 1 ? -2 : -1);
    RILL_CHECK(size < 0 || n <= size, invalid_argument,
               "[{}] {} is {}, more than the {} of shape {}", c.tag(),
               i == 1 ? "num_lower" : "num_upper", n, size, in);
  }
  c.set_output(0, in);
}
void band_part_grad(GradContext& g) { g.set(0, linalg::band_part(g.dy(), g.input(1), g.input(2))); }
const Op& band_part_op = OpBuilder("MatrixBandPart", "linalg.band_part")
                             .input("input: T")
                             .input("num_lower: Tindex")
                             .input("num_upper: Tindex")
                             .output("band: T")
                             .type("T", kPlainTypes)
                             .type("Tindex", kIndexTypes, int64)
                             .doc(
                                 "The matrices with zeros outside num_lower diagonals below and "
                                 "num_upper above the main one; negative keeps all.")
                             .shape(band_part_shape)
                             .gradient(band_part_grad, "num_lower num_upper")
                             .host("num_lower num_upper")
                             .define();

constexpr TypeSet kDiagTypes = kFloatTypes | kComplexTypes | kIndexTypes;
void tensor_diag_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  if (!in.has_rank()) return unknown_shape(c);
  RILL_CHECK(in.rank() >= 1, invalid_argument,
             "[tensor_diag] diagonal must have rank 1 or more, got a scalar");
  Dims out(in.dims());
  for (std::int64_t d : in.dims()) out.push_back(d);
  set_checked(c, 0, out);
}
extern const Op& tensor_diag_part_op;
void tensor_diag_grad(GradContext& g) { g.set(0, execute(tensor_diag_part_op, {g.dy()})); }
const Op& tensor_diag_op =
    OpBuilder("Diag", "tensor_diag")
        .input("diagonal: T")
        .output("output: T")
        .type("T", kDiagTypes)
        .doc("A tensor of twice the rank, zero except for output[i.., i..] = diagonal[i..].")
        .shape(tensor_diag_shape)
        .gradient(tensor_diag_grad)
        .define();
void tensor_diag_part_shape(ShapeContext& c) {
  const TensorShape& in = c.input(0);
  if (!in.has_rank()) return unknown_shape(c);
  const int half = in.rank() / 2;
  RILL_CHECK(in.rank() >= 2 && in.rank() % 2 == 0, invalid_argument,
             "[tensor_diag_part] input must have an even rank of 2 or more, got shape {}", in);
  Dims out;
  for (int i = 0; i < half; ++i)
    out.push_back(merge_dims(in.dim(i), in.dim(half + i), c.tag(),
                             format("sizes of axes {} and {}", i, half + i)));
  c.set_output(0, TensorShape(out));
}
void tensor_diag_part_grad(GradContext& g) { g.set(0, execute(tensor_diag_op, {g.dy()})); }
const Op& tensor_diag_part_op = OpBuilder("DiagPart", "tensor_diag_part")
                                    .input("input: T")
                                    .output("diagonal: T")
                                    .type("T", kDiagTypes)
                                    .doc("diagonal[i..] = input[i.., i..].")
                                    .shape(tensor_diag_part_shape)
                                    .gradient(tensor_diag_part_grad)
                                    .define();

Tensor k_tensor(const linalg::DiagOptions& o) {
  return o.k_high == linalg::DiagOptions::kSame || o.k_high == o.k ? constant(o.k)
                                                                   : constant({o.k, o.k_high});
}
Tensor padding(const linalg::DiagOptions& o, DType d) {
  return cast(to_tensor(o.padding_value, float64), d);
}

}  // namespace

namespace linalg {
Tensor diag(const Operand& diagonal, DiagOptions o) {
  const Arg d(diagonal);
  return execute(
      diag_op, {d, k_tensor(o), constant(o.num_rows), constant(o.num_cols), padding(o, d->dtype())},
      {{"align", o.align}});
}
Tensor diag_part(const Operand& input, DiagOptions o) {
  const Arg x(input);
  return execute(diag_part_op, {x, k_tensor(o), padding(o, x->dtype())}, {{"align", o.align}});
}
Tensor set_diag(const Operand& input, const Operand& diagonal, DiagOptions o) {
  const ArgPair a(input, diagonal);
  return execute(set_diag_op, {a.first(), a.second(), k_tensor(o)}, {{"align", o.align}});
}
Tensor band_part(const Operand& input, const Operand& num_lower, const Operand& num_upper) {
  const ArgPair n(num_lower, num_upper);
  return execute(band_part_op, {Arg(input), n.first(), n.second()});
}
Tensor tensor_diag(const Operand& diagonal) { return execute(tensor_diag_op, {Arg(diagonal)}); }
Tensor tensor_diag_part(const Operand& input) { return execute(tensor_diag_part_op, {Arg(input)}); }
}  // namespace linalg

Tensor eye(const Operand& num_rows, DType dtype) {
  return eye(num_rows, num_rows, EyeOptions{.dtype = dtype});
}
Tensor eye(const Operand& num_rows, EyeOptions options) {
  return eye(num_rows, num_rows, std::move(options));
}
Tensor eye(const Operand& num_rows, const Operand& num_columns, EyeOptions o) {
  const Arg r(num_rows, int32), c(num_columns, int32);
  RILL_CHECK(!r->shape().has_rank() || r->ndim() == 0, invalid_argument,
             "[eye] num_rows must be a number, got shape {}", r->shape());
  // Ones on the diagonal of zeros: num_rows x num_columns may differ.
  if (value_known(*r) && value_known(*c)) {
    const int rows = r->item<int>(), cols = c->item<int>();
    TensorShape line = o.batch_shape.has_rank() ? o.batch_shape : TensorShape::scalar();
    line.push_back(std::min(rows, cols));
    return execute(diag_op, {ones(line, o.dtype), constant(0), constant(rows), constant(cols),
                             zeros({}, o.dtype)});
  }
  const Tensor rows = cast(*r, int32), cols = cast(*c, int32);
  const Tensor batch =
      o.batch_shape.has_rank() ? to_tensor(o.batch_shape, int32) : zeros({0}, int32);
  const Tensor sizes = concat({batch, reshape(minimum(rows, cols), {1})}, 0);
  return execute(diag_op,
                 {fill(sizes, ones({}, o.dtype)), constant(0), rows, cols, zeros({}, o.dtype)});
}

}  // namespace rill
