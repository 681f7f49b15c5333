#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct EinsumDenseFields {
  using Options = layers::EinsumDenseOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("output_shape", o.output_shape);
    f.required("equation", o.equation);
    f("activation", o.activation);
    f("bias_axes", o.bias_axes, TextOrNull());
    visit_kernel_and_bias(f, o);
    visit_lora(f, o);
  }
};

// The labels of "abc,cd->abd", without the dots of axes that come along.
struct Equation {
  std::string input, kernel, output;
  bool dots_before = false, dots_after = false;
};

class EinsumDenseLayer : public LayerImpl {
 public:
  explicit EinsumDenseLayer(layers::EinsumDenseOptions o)
      : LayerImpl("EinsumDense", common(o)), o_(std::move(o)), labels_(parse()) {
    RILL_CHECK(o_.output_shape.has_rank(), invalid_argument,
               "[EinsumDense] output_shape is not given; expected the sizes of the output of "
               "\"{}\" after the batch, None where the input says them",
               o_.equation);
    activity_regularizer = o_.activity_regularizer;
    lora = make_lora(*this, "kernel", o_.kernel_constraint, o_.lora_rank, o_.lora_alpha);
  }

  void build(const std::vector<TensorShape>& shapes) override {
    const TensorShape& in = shapes[0];
    RILL_CHECK(in.has_rank() && (in.rank() == static_cast<int>(labels_.input.size()) ||
                                 ((labels_.dots_before || labels_.dots_after) &&
                                  in.rank() > static_cast<int>(labels_.input.size()))),
               invalid_argument, "[{}] the input has shape {}; the equation \"{}\" names {} axes",
               name(), in, o_.equation, labels_.input.size());
    const int more = in.rank() - static_cast<int>(labels_.input.size());
    const auto in_input = [&](char label) {
      const auto at = labels_.input.find(label);
      return at == std::string::npos
                 ? std::int64_t{-1}
                 : in.dim(static_cast<int>(at) + (labels_.dots_before ? more : 0));
    };
    // output_shape starts after the batch; where dots are in front, the batch is among them.
    const auto in_output = [&](char label) {
      const auto at = static_cast<int>(labels_.output.find(label)) - (labels_.dots_before ? 0 : 1);
      return at >= 0 && at < o_.output_shape.rank() ? o_.output_shape.dim(at) : std::int64_t{-1};
    };
    for (const char label : labels_.output) {
      const std::int64_t from = in_input(label), to = in_output(label);
      RILL_CHECK(from < 0 || to < 0 || from == to, invalid_argument,
                 "[{}] axis '{}' of \"{}\" has size {} in the input {} and {} in output_shape {}",
                 name(), label, o_.equation, from, in, to, o_.output_shape);
    }
    TensorShape kernel = TensorShape::scalar();
    for (const char label : labels_.kernel) {
      const bool of_input = labels_.input.find(label) != std::string::npos;
      RILL_CHECK(of_input || labels_.output.find(label) != std::string::npos, invalid_argument,
                 "[{}] axis '{}' of the kernel in \"{}\" is in neither the input nor the output",
                 name(), label, o_.equation);
      kernel.push_back(of_input ? in_input(label) : in_output(label));
    }
    kernel_ = add_weight("kernel", kernel,
                         {.initializer = o_.kernel_initializer,
                          .regularizer = o_.kernel_regularizer,
                          .constraint = o_.kernel_constraint});
    if (!o_.bias_axes.empty()) build_bias(in_input, in_output, more);
    begin_lora();
  }

  Tensor call(const Tensor& x, const CallContext&) override {
    Tensor y = einsum(o_.equation, {x, adapted_in_compute_dtype(kernel_)});
    if (bias_.defined()) y = y + in_compute_dtype(bias_);
    return o_.activation(y);
  }

  void add_config(Config& c) const override { write_fields<EinsumDenseFields>(o_, c); }

 private:
  // Given the sizes that a label has on either side, -1 where it is not there, and how many axes
  // the dots stand for.
  void build_bias(const auto& in_input, const auto& in_output, int more) {
    std::size_t first = labels_.output.size();
    for (const char label : o_.bias_axes) {
      const std::size_t at = labels_.output.find(label);
      RILL_CHECK(at != std::string::npos, invalid_argument,
                 "[{}] bias_axes is \"{}\"; '{}' is not an axis of the output \"{}\"", name(),
                 o_.bias_axes, label, labels_.output);
      first = std::min(first, at);
    }
    TensorShape bias = TensorShape::scalar();
    for (const char label : labels_.output.substr(first)) {
      const std::int64_t size = in_output(label) >= 0 ? in_output(label) : in_input(label);
      bias.push_back(o_.bias_axes.find(label) == std::string::npos ? 1 : size);
    }
    for (int i = 0; labels_.dots_after && i < more; ++i) bias.push_back(1);
    bias_ = add_weight("bias", bias,
                       {.initializer = o_.bias_initializer,
                        .regularizer = o_.bias_regularizer,
                        .constraint = o_.bias_constraint});
  }

  Equation parse() const {
    std::string e;
    for (const char c : o_.equation)
      if (c != ' ') e += c;
    const std::size_t comma = e.find(','), arrow = e.find("->");
    const auto fail = [&] {
      RILL_FAIL(invalid_argument,
                "[EinsumDense] equation is \"{}\"; expected the labels of the input, of the "
                "kernel and of the output, such as \"ab,bc->ac\", \"...ab,bc->...ac\" or "
                "\"ab...,bc->ac...\"",
                o_.equation);
    };
    if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) fail();
    Equation q{e.substr(0, comma), e.substr(comma + 1, arrow - comma - 1), e.substr(arrow + 2)};
    if (q.input.starts_with("...") && q.output.starts_with("...")) {
      q.dots_before = true;
      q.input.erase(0, 3), q.output.erase(0, 3);
    } else if (q.input.ends_with("...") && q.output.ends_with("...")) {
      q.dots_after = true;
      q.input.resize(q.input.size() - 3), q.output.resize(q.output.size() - 3);
    }
    for (const std::string* part : {&q.input, &q.kernel, &q.output})
      for (const char c : *part)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) fail();
    if (q.input.empty() || q.kernel.empty() || q.output.empty()) fail();
    return q;
  }

  layers::EinsumDenseOptions o_;
  Equation labels_;
  Variable kernel_, bias_;
};

const RegisterFields<EinsumDenseFields, layers::EinsumDense> registered_einsum_dense("EinsumDense");

}  // namespace

layers::EinsumDense::EinsumDense(EinsumDenseOptions o)
    : Layer(this, new EinsumDenseLayer(std::move(o))) {}
layers::EinsumDense::EinsumDense(std::string_view equation, const TensorShape& output_shape,
                                 EinsumDenseOptions o)
    : EinsumDense((o.equation = equation, o.output_shape = output_shape, std::move(o))) {}

}  // namespace rill::keras
