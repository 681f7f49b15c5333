#include "row.h"

#include <cmath>

#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/core/type_dispatch.h"
#include "rill/ops/array_ops.h"

namespace rill::conformance {

Input x(const TensorShape& shape, double low, double high) { return random({}, shape, low, high); }
Input x(const TensorShape& shape, std::vector<double> numbers) {
  return values({}, shape, std::move(numbers));
}
Input random(DType dtype, const TensorShape& shape, double low, double high) {
  Input i;
  i.dtype = dtype, i.shape = shape.has_rank() ? shape : TensorShape::scalar(), i.low = low,
  i.high = high;
  return i;
}
Input values(DType dtype, const TensorShape& shape, std::vector<double> numbers) {
  Input i;
  i.kind = Input::Kind::values, i.dtype = dtype,
  i.shape = shape.has_rank() ? shape : TensorShape::scalar(), i.numbers = std::move(numbers);
  return i;
}
Input strings(const TensorShape& shape, std::vector<std::string> texts) {
  Input i;
  i.kind = Input::Kind::strings, i.dtype = string,
  i.shape = shape.has_rank() ? shape : TensorShape::scalar(), i.texts = std::move(texts);
  return i;
}
Input i32(std::vector<double> list) {
  const auto n = static_cast<std::int64_t>(list.size());
  return values(int32, TensorShape({n}), std::move(list));
}
Input i32_scalar(double value) { return values(int32, TensorShape::scalar(), {value}); }
Input bools(const TensorShape& shape, std::vector<double> numbers) {
  return values(bool_, shape, std::move(numbers));
}
Input variable(const TensorShape& shape, double low, double high) {
  Input i = x(shape, low, high);
  i.kind = Input::Kind::variable;
  return i;
}
Input variable(const TensorShape& shape, std::vector<double> numbers) {
  Input i = x(shape, std::move(numbers));
  i.kind = Input::Kind::variable;
  return i;
}
Input fixed(Input input) {
  input.differentiable = false;
  return input;
}

Row& Row::sample(std::vector<Input> inputs, std::initializer_list<Attr> attrs, int outputs) {
  samples.push_back(
      {std::move(inputs), AttrStorage(AttrList(attrs.begin(), attrs.size())), outputs, {}});
  return *this;
}
Row& Row::error(std::vector<Input> inputs, std::initializer_list<Attr> attrs, std::string regex) {
  errors.push_back({std::move(inputs), AttrStorage(AttrList(attrs.begin(), attrs.size())), -1,
                    std::move(regex)});
  return *this;
}
Row& Row::dtypes(TypeSet set) { return types = set, *this; }
Row& Row::tolerance(double t) { return tol = t, *this; }
Row& Row::first_order() { return second_order = false, *this; }
Row& Row::no_gradient_check(std::string why) { return no_gradient = std::move(why), *this; }
Row& Row::not_in_tensorflow(std::string why) { return no_tensorflow = std::move(why), *this; }
Row& Row::tf(std::string expression) { return tf_expression = std::move(expression), *this; }
Row& Row::sizes_must_be_known(std::string why) { return known_sizes = std::move(why), *this; }
Row& Row::call(Call c) { return composite = std::move(c), *this; }

namespace {
std::vector<Row*>& rows() {
  static auto* t = new std::vector<Row*>;
  return *t;
}
}  // namespace

Row& row(std::string op) {
  rows().push_back(new Row(std::move(op)));
  return *rows().back();
}
const std::vector<Row*>& table() { return rows(); }

namespace {

// A number in [0, 1) from a counter: a Weyl sequence with a scrambled start.
double spread(std::uint64_t input, std::uint64_t i) {
  std::uint64_t z = (input * 1315423911u + i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  // Few binary digits, so that every float dtype holds the number exactly.
  return static_cast<double>((z ^ (z >> 31)) >> 57) / 128;
}

Tensor make_input(const Input& in, std::uint64_t index, DType sample_dtype) {
  const DType d = in.dtype.defined() ? in.dtype : sample_dtype;
  Tensor t = make_tensor(d, in.shape);
  if (in.kind == Input::Kind::strings) {
    for (std::size_t i = 0; i < in.texts.size(); ++i) mutable_data<std::string>(t)[i] = in.texts[i];
    return t;
  }
  dispatch_plain(d, [&]<class T>() {
    for (std::int64_t i = 0; i < t.size(); ++i) {
      const double u =
          in.numbers.empty()
              ? in.low + (in.high - in.low) * spread(index, static_cast<std::uint64_t>(i))
              : in.numbers.at(static_cast<std::size_t>(i));
      T& to = mutable_data<T>(t)[i];
      if constexpr (std::is_same_v<T, bool>)
        to = u > 0;
      else if constexpr (std::is_integral_v<T>)
        to = static_cast<T>(static_cast<std::int64_t>(
            std::is_unsigned_v<T> ? std::abs(std::round(u)) : std::round(u)));
      else if constexpr (requires(T z) { z.real(); })
        to = T(static_cast<typename T::value_type>(u),
               static_cast<typename T::value_type>(u / 2 - 0.25));
      else
        to = static_cast<T>(static_cast<float>(u)) == static_cast<T>(u) ? static_cast<T>(u)
                                                                        : static_cast<T>(u);
    }
  });
  return t;
}

}  // namespace

std::vector<Tensor> make_inputs(const Row&, const Sample& sample, DType dtype) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i)
    out.push_back(make_input(sample.inputs[i], i, dtype));
  return out;
}

std::vector<Tensor> with_variables(const Sample& sample, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> handles = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sample.inputs[i].kind != Input::Kind::variable) continue;
    auto* cell = new VariableCell;
    cell->name = "v" + std::to_string(i) + ":0";
    cell->dtype = inputs[i].dtype();
    cell->shape = inputs[i].shape();
    cell->assign(inputs[i]);
    handles[i] = make_resource(Ref<Resource>(cell));
  }
  return handles;
}

std::vector<Tensor> call(const Row& r, const Sample& sample, const std::vector<Tensor>& inputs) {
  if (r.composite) return r.composite(inputs);
  const Op& op = find_op(r.name);
  const int outputs = sample.outputs >= 0 ? sample.outputs : static_cast<int>(op.outputs.size());
  return execute_all(op, as_inputs(inputs), sample.attrs.list(), outputs);
}

std::vector<Tensor> and_variables(std::vector<Tensor> outputs, const Sample& sample,
                                  const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (sample.inputs[i].kind == Input::Kind::variable)
      outputs.push_back(static_cast<VariableCell*>(inputs[i].impl()->resource.get())->read());
  return outputs;
}

std::vector<Tensor> run(const Row& r, const Sample& sample, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> in = with_variables(sample, inputs);
  return and_variables(call(r, sample, in), sample, in);
}

}  // namespace rill::conformance
