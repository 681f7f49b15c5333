#include "rill/ops/debugging.h"

#include <algorithm>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"

namespace rill::debugging {
namespace {

std::string headline(const char* what, const AssertOptions& o) {
  return format("[{}]{}", what, o.message.empty() ? std::string() : " " + o.message);
}

// A claim of two tensors: `relation` is how it is written.
using Relation = Tensor (*)(const Operand&, const Operand&);
void claim(const char* what, const char* relation, Relation holds, const Tensor& x, const Tensor& y,
           const AssertOptions& o) {
  const std::string text =
      format("{} expected x {} y in every element; x =", headline(what, o), relation);
  Assert(reduce_all(holds(x, y)), {constant(text), x, constant("y ="), y}, o.summarize);
}
// The same of a tensor and 0.
void claim_sign(const char* what, const char* relation, Relation holds, const Operand& input,
                const AssertOptions& o) {
  const Arg x(input);
  const std::string text =
      format("{} expected x {} 0 in every element; x =", headline(what, o), relation);
  Assert(reduce_all(holds(*x, zeros({}, x->dtype()))), {constant(text), *x}, o.summarize);
}

template <class Known, class Later>
void claim_rank(const char* what, const Operand& input, const std::string& expected,
                const AssertOptions& o, Known known, Later later) {
  const Arg x(input);
  const std::string text = format("{} expected {}; the shape is", headline(what, o), expected);
  if (x->shape().has_rank())
    RILL_CHECK(known(x->ndim()), invalid_argument, "{} {}", text, x->shape());
  else
    Assert(later(rank(*x)), {constant(text), shape(*x)}, o.summarize);
}

}  // namespace

#define RILL_CLAIM(name, relation, function)                              \
  void name(const Operand& x, const Operand& y, const AssertOptions& o) { \
    const ArgPair a(x, y);                                                \
    claim(#name, relation, function, a.first(), a.second(), o);           \
  }
RILL_CLAIM(assert_equal, "==", equal)
RILL_CLAIM(assert_none_equal, "!=", not_equal)
RILL_CLAIM(assert_less, "<", less)
RILL_CLAIM(assert_less_equal, "<=", less_equal)
RILL_CLAIM(assert_greater, ">", greater)
RILL_CLAIM(assert_greater_equal, ">=", greater_equal)
#undef RILL_CLAIM

void assert_positive(const Operand& x, const AssertOptions& o) {
  claim_sign("assert_positive", ">", greater, x, o);
}
void assert_negative(const Operand& x, const AssertOptions& o) {
  claim_sign("assert_negative", "<", less, x, o);
}
void assert_non_negative(const Operand& x, const AssertOptions& o) {
  claim_sign("assert_non_negative", ">=", greater_equal, x, o);
}
void assert_non_positive(const Operand& x, const AssertOptions& o) {
  claim_sign("assert_non_positive", "<=", less_equal, x, o);
}

void assert_near(const Operand& x, const Operand& y, double rtol, double atol,
                 const AssertOptions& o) {
  const ArgPair p(x, y);
  const Tensor &a = p.first(), &b = p.second();
  const DType d = a.dtype();
  RILL_CHECK(d.is_floating(), invalid_argument,
             "[assert_near] x is {}; expected floating-point numbers. Use assert_equal", d);
  const double eps = d == float64    ? 0x1p-52
                     : d == float32  ? 0x1p-23
                     : d == bfloat16 ? 0x1p-7
                                     : 0x1p-10;
  if (rtol < 0) rtol = 10 * eps;
  if (atol < 0) atol = 10 * eps;
  const std::string text =
      format("{} expected |x - y| <= {} + {} |y| in every element; x =", headline("assert_near", o),
             atol, rtol);
  Assert(reduce_all(less_equal(abs(a - b), abs(b) * rtol + atol)),
         {constant(text), a, constant("y ="), b}, o.summarize);
}

void assert_all_finite(const Operand& input, const std::string& message) {
  const Arg x(input);
  const std::string text = format("{} expected no NaN and no infinity; x =",
                                  headline("assert_all_finite", {.message = message}));
  Assert(reduce_all(is_finite(*x)), {constant(text), *x});
}

void assert_rank(const Operand& x, int rank, const AssertOptions& o) {
  claim_rank(
      "assert_rank", x, format("rank {}", rank), o, [&](int r) { return r == rank; },
      [&](const Tensor& r) { return equal(r, rank); });
}
void assert_rank_at_least(const Operand& x, int rank, const AssertOptions& o) {
  claim_rank(
      "assert_rank_at_least", x, format("rank {} or more", rank), o,
      [&](int r) { return r >= rank; }, [&](const Tensor& r) { return greater_equal(r, rank); });
}
void assert_rank_in(const Operand& x, const std::vector<int>& ranks, const AssertOptions& o) {
  claim_rank(
      "assert_rank_in", x,
      format("one of the ranks {}",
             TensorShape(std::vector<std::int64_t>(ranks.begin(), ranks.end()))),
      o, [&](int r) { return std::ranges::find(ranks, r) != ranks.end(); },
      [&](const Tensor& r) { return reduce_any(equal(r, ranks)); });
}
void assert_scalar(const Operand& x, const AssertOptions& o) {
  claim_rank(
      "assert_scalar", x, "a scalar", o, [](int r) { return r == 0; },
      [](const Tensor& r) { return equal(r, 0); });
}
void enable_check_numerics() { call_context().checks_numerics = true; }
void disable_check_numerics() { call_context().checks_numerics = false; }

bool is_numeric_tensor(const Operand& input) { return Arg(input)->dtype().is_numeric(); }

void assert_type(const Operand& input, DType dtype, const AssertOptions& o) {
  const Arg x(input);
  RILL_CHECK(x->dtype() == dtype, invalid_argument, "{} expected dtype {}; the tensor is {}",
             headline("assert_type", o), dtype, x->dtype());
}

}  // namespace rill::debugging
