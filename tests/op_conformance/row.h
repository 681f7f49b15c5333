#pragma once
#include <functional>
#include <string>
#include <vector>

#include "rill/core/execute.h"
#include "rill/core/op.h"

// The conformance table: one row an op, each row with samples that are run on
// every axis (see conformance_test.cc). A row names a registered op and calls it
// through the seam with raw inputs and attributes, exactly as TensorFlow's
// tf.raw_ops would, or names a composite function and gives the call.
//
//   row("MatMul").sample({x({2, 3}), x({3, 4})})
//                .sample({x({3, 2}), x({4, 3})}, {{"transpose_a", true}, {"transpose_b", true}})
//                .dtypes(kFloatTypes | TypeSet{int32})
//                .error({x({2, 3}), x({4, 3})}, {}, "inner dimensions differ");
namespace rill::conformance {

// One input of a sample.
struct Input {
  enum class Kind { random, values, strings, variable };
  Kind kind = Kind::random;
  DType dtype;  // invalid: the dtype under test
  TensorShape shape;
  double low = -2, high = 2;       // random
  std::vector<double> numbers;     // values
  std::vector<std::string> texts;  // strings
  bool differentiable = true;
};

// In all of these the shape {} is a scalar.
// Numbers of the dtype under test, spread evenly-looking over [low, high];
// integers are rounded, bools are their sign.
Input x(const TensorShape& shape, double low = -2, double high = 2);
// Given numbers of the dtype under test.
Input x(const TensorShape& shape, std::vector<double> numbers);
// Without this one {0.5} would be taken for `low`.
inline Input x(const TensorShape& shape, std::initializer_list<double> numbers) {
  return x(shape, std::vector<double>(numbers));
}
// The same of a fixed dtype.
Input random(DType dtype, const TensorShape& shape, double low, double high);
Input values(DType dtype, const TensorShape& shape, std::vector<double> numbers);
Input strings(const TensorShape& shape, std::vector<std::string> texts);
Input i32(std::vector<double> list);  // a list of int32: axes, sizes
Input i32_scalar(double value);
Input bools(const TensorShape& shape, std::vector<double> numbers);
// A variable of the dtype under test; its value after the call is a result.
Input variable(const TensorShape& shape, double low = -2, double high = 2);
Input variable(const TensorShape& shape, std::vector<double> numbers);
// The input without a gradient check.
Input fixed(Input input);

struct Sample {
  std::vector<Input> inputs;
  AttrStorage attrs;
  int outputs = -1;   // number of outputs, when the schema has a list
  std::string error;  // a regex that the message must match
};

using Call = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

class Row {
 public:
  explicit Row(std::string row_name) : name(std::move(row_name)) {}
  Row& sample(std::vector<Input> inputs, std::initializer_list<Attr> attrs = {}, int outputs = -1);
  // A call that must fail with a message that matches.
  Row& error(std::vector<Input> inputs, std::initializer_list<Attr> attrs, std::string regex);
  // The dtypes under test; float32 and float64 when not said.
  Row& dtypes(TypeSet set);
  // Relative (and, near zero, absolute) tolerance of float32 results against
  // TensorFlow's; float64 gets its square and at least 1e-12, float16 at least
  // 4e-3, bfloat16 at least 3e-2. 0: exact.
  Row& tolerance(double t);
  // Second derivatives are not checked (or there is no gradient at all beyond the first).
  Row& first_order();
  Row& no_gradient_check(std::string why);
  // TensorFlow does not have it or means something else; the oracle is then
  // `reference`, an independent computation.
  Row& not_in_tensorflow(std::string why);
  // For composites: how TensorFlow is asked; inputs are x0, x1, ... in Python.
  Row& tf(std::string expression);
  // A composite function.
  Row& call(Call c);
  // Traced with unknown sizes it may be Unimplemented, and says so.
  Row& sizes_must_be_known(std::string why);

  std::string name;
  std::vector<Sample> samples, errors;
  TypeSet types{float32, float64};
  double tol = 2e-6;
  bool second_order = true;
  std::string no_gradient, no_tensorflow, tf_expression, known_sizes;
  Call composite;
};

// Adds a row to the table.
Row& row(std::string op);
const std::vector<Row*>& table();

// Makes the inputs of a sample for one dtype; the same on every machine.
std::vector<Tensor> make_inputs(const Row& row, const Sample& sample, DType dtype);
// The same with variables in the place of their first values, made here.
std::vector<Tensor> with_variables(const Sample& sample, const std::vector<Tensor>& inputs);
// Calls the op with inputs of which the variables are made.
std::vector<Tensor> call(const Row& row, const Sample& sample, const std::vector<Tensor>& inputs);
// The outputs, then the values of the variables.
std::vector<Tensor> and_variables(std::vector<Tensor> outputs, const Sample& sample,
                                  const std::vector<Tensor>& inputs);
// Runs a sample: the outputs of the op, then the values of its variables.
std::vector<Tensor> run(const Row& row, const Sample& sample, const std::vector<Tensor>& inputs);

// Called from main-time registration: each family has a file with one function.
#define RILL_ROWS(family)                                          \
  static void rows_##family();                                     \
  static const bool registered_##family = (rows_##family(), true); \
  static void rows_##family()

}  // namespace rill::conformance
