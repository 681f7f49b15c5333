#include "rill/graph/control_flow/lstm_sequence.h"

#include <gtest/gtest.h>

#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/graph/graph_def/graph_def.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"

namespace rill {
namespace {

using Lstm = LstmResult (*)(const LstmArguments&);

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}

std::vector<Tensor> arguments(int time, int batch, int features, int units, DType dtype) {
  int seed = 0;
  const auto normal = [&](const std::vector<int>& shape, double scale) {
    return cast(random::stateless_normal(constant(shape), {++seed, 3}) * scale, dtype);
  };
  return {normal({time, batch, features}, 1), normal({batch, units}, 1),
          normal({batch, units}, 1),          normal({features, 4 * units}, 0.3),
          normal({units, 4 * units}, 0.3),    normal({4 * units}, 0.3)};
}
LstmResult call(Lstm lstm, const std::vector<Tensor>& a) {
  return lstm({a[0], a[1], a[2], a[3], a[4], a[5]});
}

// The results and their gradients.
std::vector<Tensor> one_order(Lstm lstm, const std::vector<Tensor>& a) {
  GradientTape tape;
  for (const Tensor& t : a) tape.watch(t);
  const LstmResult r = call(lstm, a);
  const Tensor total = reduce_sum(square(r.outputs)) + reduce_sum(r.h * 0.5 + sin(r.c));
  std::vector<Tensor> all{r.outputs, r.h, r.c};
  for (const Gradient& g : tape.gradient(total, a)) all.push_back(g.tensor());
  return all;
}
// The same, and the gradients of the gradients.
std::vector<Tensor> two_orders(Lstm lstm, const std::vector<Tensor>& a) {
  GradientTape outer({.persistent = true});
  for (const Tensor& t : a) outer.watch(t);
  std::vector<Tensor> all = one_order(lstm, a);
  Tensor length = constant(0., a[0].dtype());
  for (std::size_t i = 3; i < 9; ++i) length = length + reduce_sum(square(all[i]));
  for (const Gradient& g : outer.gradient(length, a)) all.push_back(g.tensor());
  return all;
}

TEST(LstmSequence, GivesWhatTheStepsGive) {
  for (const auto& [dtype, tolerance] : {std::pair{float64, 1e-11}, std::pair{float32, 1e-4}}) {
    const std::vector<Tensor> a = arguments(5, 3, 4, 6, dtype);
    const std::vector<Tensor> want = two_orders(lstm_by_steps, a);
    std::vector<Tensor> got = two_orders(lstm_sequence, a);
    ASSERT_EQ(got.size(), 15u);
    for (std::size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      expect_close(got[i], want[i], tolerance);
    }
    // In a function that knows neither length nor batch the steps are a loop.
    for (const Lstm lstm : {lstm_sequence, lstm_by_steps}) {
      auto f = function(
          [=](Tensor x, Tensor h, Tensor c, Tensor k, Tensor r, Tensor b) {
            return Nest(one_order(lstm, {x, h, c, k, r, b}));
          },
          {.input_signature = {TensorSpec({None, None, 4}, dtype), TensorSpec({None, 6}, dtype),
                               TensorSpec({None, 6}, dtype), TensorSpec({4, 24}, dtype),
                               TensorSpec({6, 24}, dtype), TensorSpec({24}, dtype)}});
      got = f(a[0], a[1], a[2], a[3], a[4], a[5]).flatten();
      ASSERT_EQ(got.size(), 9u);
      for (std::size_t i = 0; i < got.size(); ++i) {
        SCOPED_TRACE(i);
        expect_close(got[i], want[i], tolerance);
      }
    }
  }
}

TEST(LstmSequence, IsWrittenAsOpsThatOthersHave) {
  const std::vector<Tensor> a = arguments(4, 2, 3, 5, float32);
  for (const bool known : {true, false}) {
    auto f = function(
        [&](Tensor x) {
          GradientTape tape;
          tape.watch(x);
          const LstmResult r = lstm_sequence({x, a[1], a[2], a[3], a[4], a[5]});
          // The gradient of a loop has ops of Rill alone.
          return Nest(std::vector<Tensor>{
              r.outputs, known ? tape.gradient(reduce_sum(square(r.outputs)), x).tensor() : r.c});
        },
        {.input_signature = {TensorSpec({known ? Dim(4) : None, 2, 3}, float32)}});
    const std::vector<Tensor> want = f(a[0]).flatten();
    const std::string def = to_graph_def(f.get_concrete_function_for({}));
    EXPECT_EQ(graph_def_to_text(def).find("op: \"LSTMSequence"), std::string::npos);
    const auto read = import_graph_def(def).function({"arg_0"}, {"output_0", "output_1"});
    const std::vector<Tensor> got = read({a[0]}).flatten();
    ASSERT_EQ(got.size(), 2u);
    for (std::size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i], 1e-5);
  }
}

}  // namespace
}  // namespace rill
