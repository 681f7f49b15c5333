// Every row of the table as a traced function: with known shapes, with unknown sizes, with
// nothing known, and its gradient inside the function and through it. The result must be
// that of eager execution, bit for bit.
#include "conformance.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/graph/passes/optimizer_options.h"
#include "rill/ops/array_ops.h"

namespace rill::conformance {
namespace {

// How much of the arguments a trace knows.
enum class Known { shapes, all_but_batch, ranks, nothing };

// The spec of an argument.
TensorSpec spec(const Tensor& t, Known known) {
  if (known == Known::nothing) return TensorSpec(TensorShape::unknown_rank(), t.dtype());
  TensorShape shape = t.shape();
  if (known == Known::all_but_batch && t.dtype().is_floating() && shape.rank() > 0) {
    Dims dims = shape.dims();
    dims[0] = -1;
    shape = TensorShape(dims);
  }
  if (known == Known::ranks && t.dtype().is_floating())
    shape = TensorShape::unknown_dims(shape.rank());
  return TensorSpec(shape, t.dtype());
}

// Which argument of its schema the i-th of `total` inputs belongs to.
std::size_t schema_index(const Op& op, std::size_t i, std::size_t total) {
  std::size_t lists = 0;
  for (const ArgDef& a : op.inputs) lists += a.is_list();
  const std::size_t each = lists ? (total - (op.inputs.size() - lists)) / lists : 1;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const std::size_t n = op.inputs[k].is_list() ? each : 1;
    if (i < n) return k;
    i -= n;
  }
  return op.inputs.size() - 1;
}

// Which inputs become arguments; the others (variables, axes, sizes) are outside the
// function and known to it.
std::vector<std::size_t> arguments(const Row& row, const Sample& sample, Known known) {
  const Op* op = row.composite ? nullptr : &find_op(row.name);
  const std::size_t total = sample.inputs.size();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < total; ++i) {
    if (sample.inputs[i].kind == Input::Kind::variable) continue;
    const bool host = op && op->host_inputs >> schema_index(*op, i, total) & 1;
    if (!host || known == Known::nothing) out.push_back(i);
  }
  return out;
}

using Tensors = std::vector<Tensor>;

// Puts arguments into their places among the inputs.
Tensors placed(Tensors inputs, const std::vector<std::size_t>& places, const Tensors& args) {
  for (std::size_t k = 0; k < places.size(); ++k) inputs[places[k]] = args[k];
  return inputs;
}

auto traced(std::function<Tensors(const Tensors&)> f, const Tensors& args, Known known) {
  FunctionOptions options;
  for (const Tensor& t : args) options.input_signature.push_back(spec(t, known));
  return function([f](const Tensors& in) -> Tensors { return f(in); }, options);
}

// A gradient that is none eagerly, as of no elements, may be zeros.
void expect_same(const Tensors& got, const Tensors& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined() && !want[i].defined()) continue;
    ASSERT_TRUE(got[i].defined()) << "output " << i;
    EXPECT_EQ(difference(got[i], want[i].defined() ? want[i] : zeros_like(got[i]), 0), "")
        << "output " << i;
  }
}

class Traced : public Conformance {
 protected:
  // These change the last bits of matrix products: sums go inside them, or transposes.
  static constexpr const char* kInexactPasses[] = {"accumulate_in_gemm", "fold_transposes"};
  static void SetUpTestSuite() {
    for (const char* pass : kInexactPasses) graph_passes::disable(pass);
  }
  static void TearDownTestSuite() {
    for (const char* pass : kInexactPasses) graph_passes::enable(pass);
  }

  // Runs `check`; a row that says that sizes must be known may also say so itself.
  template <class F>
  void unless_sizes_must_be_known(Known known, F check) {
    if (known == Known::shapes || row().known_sizes.empty()) return check();
    try {
      check();
    } catch (const errors::Unimplemented&) {
    }
  }

  void check_values(Known known) {
    for_each([&](std::size_t, const Sample& sample, DType d) {
      const Tensors inputs = make_inputs(row(), sample, d);
      const Tensors want = run(row(), sample, inputs);
      const Tensors made = with_variables(sample, inputs);
      const auto places = arguments(row(), sample, known);
      Tensors args;
      for (std::size_t i : places) args.push_back(made[i]);
      auto f =
          traced([&](const Tensors& in) { return call(row(), sample, placed(made, places, in)); },
                 args, known);
      unless_sizes_must_be_known(known,
                                 [&] { expect_same(and_variables(f(args), sample, made), want); });
    });
  }

  // The vector-Jacobian product of the op by its differentiable inputs, in a function (or
  // through one) and eagerly.
  void check_gradients(Known known, bool inside, int order = 1) {
    const Op* op = row().composite ? nullptr : &find_op(row().name);
    if ((op && !op->gradient) || !row().no_gradient.empty()) return;
    if (order > 1 && !row().second_order) return;
    for_each([&](std::size_t, const Sample& sample, DType d) {
      if (d != float32 && d != float64) return;
      for (const Input& i : sample.inputs)
        if (i.kind == Input::Kind::variable) return;
      const Tensors inputs = make_inputs(row(), sample, d);
      std::vector<std::size_t> wanted;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].dtype() == d && sample.inputs[i].differentiable) wanted.push_back(i);
      if (wanted.empty()) return;
      Tensors seeds;
      for (const Tensor& y : call(row(), sample, inputs))
        seeds.push_back(y.dtype().is_floating() ? seed(y) : Tensor());
      auto gradients = [&](const Tensors& in, const Tensors& dy, auto compute) {
        GradientTape outer, tape;
        Tensors by, targets, weights, out;
        for (std::size_t i : wanted) tape.watch(in[i]), by.push_back(in[i]);
        for (std::size_t i = 0; i < by.size() && order > 1; ++i) outer.watch(by[i]);
        const Tensors y = compute(in);
        for (std::size_t k = 0, n = 0; k < y.size(); ++k)
          if (seeds[k].defined()) targets.push_back(y[k]), weights.push_back(dy[n++]);
        if (targets.empty()) return out;
        for (const Gradient& g : tape.gradient(targets, by, {.output_gradients = weights}))
          out.push_back(g.defined() ? g.tensor() : Tensor());
        if (order == 1) return out;
        std::erase_if(out, [](const Tensor& t) { return !t.defined(); });
        if (out.empty()) return out;
        Tensors second;
        for (const Gradient& g : outer.gradient(out, by))
          second.push_back(g.defined() ? g.tensor() : Tensor());
        return second;
      };
      Tensors dy;
      for (const Tensor& s : seeds)
        if (s.defined()) dy.push_back(s);
      Tensors want;
      try {
        want = gradients(inputs, dy, [&](const Tensors& in) { return call(row(), sample, in); });
      } catch (const errors::Unimplemented&) {
        return;  // nor is there one eagerly
      }
      const auto places = arguments(row(), sample, known);
      Tensors args;
      for (std::size_t i : places) args.push_back(inputs[i]);
      if (inside) {
        const std::size_t n = args.size();
        args.insert(args.end(), dy.begin(), dy.end());
        auto f = traced(
            [&](const Tensors& in) {
              const auto split = in.begin() + static_cast<std::ptrdiff_t>(n);
              return gradients(placed(inputs, places, Tensors(in.begin(), split)),
                               Tensors(split, in.end()),
                               [&](const Tensors& at) { return call(row(), sample, at); });
            },
            args, known);
        unless_sizes_must_be_known(known, [&] { expect_same(f(args), want); });
      } else {
        auto f = traced(
            [&](const Tensors& in) { return call(row(), sample, placed(inputs, places, in)); },
            args, known);
        auto through = [&](const Tensors& in) {
          Tensors now;
          for (std::size_t i : places) now.push_back(in[i]);
          return f(now);
        };
        unless_sizes_must_be_known(known,
                                   [&] { expect_same(gradients(inputs, dy, through), want); });
      }
    });
  }

  // Fixed numbers of the shape of an output.
  static Tensor seed(const Tensor& y) {
    std::vector<double> w;
    for (std::int64_t i = 0; i < y.size(); ++i)
      w.push_back(0.5 + 0.375 * static_cast<double>((i * 7) % 5));
    return constant(w, y.dtype(), y.shape());
  }
};

TEST_P(Traced, GivesTheSameValues) { check_values(Known::shapes); }
TEST_P(Traced, GivesTheSameValuesForAnyBatch) { check_values(Known::all_but_batch); }
TEST_P(Traced, GivesTheSameValuesForAnySizes) { check_values(Known::ranks); }
TEST_P(Traced, OpsGiveTheSameValuesWithNothingKnown) {
  if (!row().composite) check_values(Known::nothing);
}
TEST_P(Traced, GivesTheSameGradients) { check_gradients(Known::shapes, true); }
TEST_P(Traced, GivesTheSameGradientsForAnyBatch) { check_gradients(Known::all_but_batch, true); }
TEST_P(Traced, GivesTheSameGradientsForAnySizes) { check_gradients(Known::ranks, true); }
TEST_P(Traced, OpsGiveTheSameGradientsWithNothingKnown) {
  if (!row().composite) check_gradients(Known::nothing, true);
}
TEST_P(Traced, GivesTheSameSecondDerivativesForAnySizes) { check_gradients(Known::ranks, true, 2); }
TEST_P(Traced, GradientsGoThroughItForAnyBatch) { check_gradients(Known::all_but_batch, false); }

INSTANTIATE_TEST_SUITE_P(Table, Traced, every_row(), row_name);

}  // namespace
}  // namespace rill::conformance
