#include "rill/eager/forward_accumulator.h"

#include "rill/base/check.h"
#include "rill/core/resource.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::autodiff {
namespace {

// What a source holds now.
Tensor value_of(const Tensor& source) {
  return source.impl()->resource ? variable_cell(source).read() : source;
}

bool has_tangents(DType d) { return d.is_floating() || d.is_complex(); }

}  // namespace

ForwardAccumulator::ForwardAccumulator(const Source& primal, const Operand& tangent)
    : tape_({.persistent = true, .watch_accessed_variables = false}) {
  const DType literal = tangent.is_literal() && primal.tensor().defined()
                            ? value_of(primal.tensor()).dtype()
                            : DType();
  watch(primal, to_tensor(tangent, literal));
}

ForwardAccumulator::ForwardAccumulator(const std::vector<Source>& primals,
                                       const TensorList& tangents)
    : tape_({.persistent = true, .watch_accessed_variables = false}) {
  RILL_CHECK(primals.size() == tangents.size(), invalid_argument,
             "[ForwardAccumulator] {} primals and {} tangents; expected one tangent a primal",
             primals.size(), tangents.size());
  for (std::size_t i = 0; i < primals.size(); ++i) watch(primals[i], tangents.tensors()[i]);
}

void ForwardAccumulator::watch(const Source& primal, Tensor tangent) {
  const Tensor& source = primal.tensor();
  RILL_CHECK(source.defined() && tangent.defined(), invalid_argument,
             "[ForwardAccumulator] a {} is undefined (an empty Tensor)",
             source.defined() ? "tangent" : "primal");
  for (const Tensor& before : primals_)
    RILL_CHECK(before.id() != source.id(), invalid_argument,
               "[ForwardAccumulator] a primal comes twice; give it once, with the sum of its "
               "tangents");
  const Tensor value = value_of(source);
  RILL_CHECK(has_tangents(value.dtype()), invalid_argument,
             "[ForwardAccumulator] a primal is {}; expected floating-point numbers: "
             "tf::cast(x, tf::float32)",
             value.dtype());
  RILL_CHECK(value.dtype() == tangent.dtype() && value.shape().is_compatible_with(tangent.shape()),
             invalid_argument,
             "[ForwardAccumulator] a tangent is {} of shape {}; expected that of its primal, {} of "
             "shape {}",
             tangent.dtype(), tangent.shape(), value.dtype(), value.shape());
  tape_.watch(primal);
  primals_.push_back(source);
  tangents_.push_back(std::move(tangent));
}

// A walk back multiplies u^T J, for any u; that is linear in u, and its own derivative by u in
// the direction of the tangents is J times them.
Gradient ForwardAccumulator::jvp(const Source& target, const JvpOptions& options) {
  RILL_CHECK(options.unconnected_gradients == "none" || options.unconnected_gradients == "zero",
             invalid_argument,
             "[jvp] unconnected_gradients is \"{}\"; expected \"none\" or \"zero\"",
             options.unconnected_gradients);
  RILL_CHECK(target.tensor().defined(), invalid_argument,
             "[jvp] the target is undefined (an empty Tensor)");
  // Of a variable that is a primal the handle is known; else its value has none.
  for (std::size_t i = 0; i < primals_.size(); ++i)
    if (primals_[i].id() == target.tensor().id()) return tangents_[i];
  const Tensor value = value_of(target.tensor());
  const auto none = [&]() -> Gradient {
    if (options.unconnected_gradients == "zero") return zeros_like(value);
    return {};
  };
  if (!has_tangents(value.dtype())) return none();
  GradientTape walk({.watch_accessed_variables = false});
  Tensor u;
  {
    const StopRecordingScope unrecorded;
    u = zeros_like(value);
  }
  walk.watch(u);
  const Gradients back = tape_.gradient(value, primals_, {.output_gradients = u});
  std::vector<Tensor> products, directions;
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (!back[i].defined()) continue;
    products.push_back(back[i].tensor());
    directions.push_back(tangents_[i]);
  }
  if (products.empty()) return none();
  const Gradient tangent = walk.gradient(products, u, {.output_gradients = directions});
  RILL_CHECK(tangent.defined(), unimplemented,
             "[jvp] a gradient on the way to this value does not depend on what comes back to it "
             "by ops that have gradients, so it has no forward product: {}",
             walk.why_none(products[0], u));
  return tangent;
}

Gradients ForwardAccumulator::jvp(const std::vector<Tensor>& targets, const JvpOptions& options) {
  Gradients all;
  for (const Tensor& t : targets) all.push_back(jvp(t, options));
  return all;
}

}  // namespace rill::autodiff
