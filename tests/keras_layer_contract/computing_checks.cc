// What a layer computes: shapes, gradients, masks, precision, and what it turns down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rill/base/error.h"
#include "rill/eager/gradient_tape.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/engine/trace_impl.h"
#include "rill/keras/layers/core.h"
#include "rill/keras/saving/registration.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/random_ops.h"
#include "tests/keras_layer_contract/subject.h"

namespace rill::testing {

namespace {

constexpr double kRounding = 2e-6;  // of float32, over the few sums that a layer here makes

// Which sizes a function knows while it is traced: all but the batch, or the features alone.
enum class Open { batch, all_but_features };

// The layer in a function; of the results and, if it is masked, their mask.
ConcreteFunction traced(const Subject& s, const keras::LayerRef& layer, Open open,
                        bool masked = false) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < s.t.input_shapes.size(); ++i) {
    TensorShape shape = s.input_shape(i, -1);
    for (int k = 1; open == Open::all_but_features && k < shape.rank() - 1; ++k)
      shape.set_dim(k, -1);
    specs.emplace_back(shape, s.t.input_dtype);
  }
  const std::size_t n = specs.size();
  for (std::size_t i = 0; masked && i < n; ++i)
    specs.emplace_back(TensorShape::unknown_rank(), bool_);
  return keras::trace("layer", specs, [&](const std::vector<Tensor>& args) {
    std::vector<Tensor> in(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = 0; masked && i < n; ++i) {
      Tensor mask = identity(args[n + i]);
      mask.set_shape(TensorShape::unknown_dims(
          s.t.mask_of_elements ? in[i].ndim() : std::min(in[i].ndim() - 1, 2)));
      in[i] = carrying(in[i], mask);
    }
    std::vector<Tensor> out = s.call(layer, in);
    if (const Tensor mask = mask_of(out[0]); masked && mask.defined()) out.push_back(mask);
    return Nest(out);
  });
}

}  // namespace

void check_shapes(const Subject& s) {
  SCOPED_TRACE("shapes");
  const keras::LayerRef layer = s.built();
  EXPECT_TRUE(layer->built());
  const ConcreteFunction f = traced(s, layer, Open::batch),
                         g = traced(s, layer, Open::all_but_features);
  std::vector<Tensor> of_three;
  for (const int batch : {3, 2, 1, 0}) {
    SCOPED_TRACE(format("batch of {}", batch));
    const std::vector<Tensor> x = s.inputs(batch), y = s.call(layer, x);
    ASSERT_EQ(static_cast<int>(y.size()), s.t.expected_num_outputs);
    EXPECT_EQ(y[0].shape(), s.output_shape(batch));
    EXPECT_EQ(y[0].dtype(), float32);
    for (const Tensor& part : y) EXPECT_EQ(part.shape().dim(0), batch);
    // Samples do not see each other.
    if (batch == 3) of_three = y;
    std::vector<Tensor> first;
    for (const Tensor& part : of_three) first.push_back(part[slice(0, batch)]);
    expect_close(y, first, kRounding, "the same samples in another batch");
    expect_close(f(x).flatten(), y, kRounding, "in a function");
    expect_close(g(x).flatten(), y, kRounding, "in a function of open sizes");
    std::vector<Tensor> wide = x;
    for (Tensor& t : wide)
      if (!s.takes_indices()) t = cast(t, float64);
    expect_same(s.call(layer, wide), y, "of float64");
  }
  const std::vector<Tensor> drawn = s.call(layer, s.symbols());
  ASSERT_EQ(static_cast<int>(drawn.size()), s.t.expected_num_outputs);
  EXPECT_EQ(drawn[0].shape(), s.output_shape(-1)) << "of keras::Input";
  EXPECT_EQ(drawn[0].dtype(), float32) << "of keras::Input";
  // A layer that has not been called yet answers too.
  if (s.t.input_shapes.size() > 1) return;
  for (const std::int64_t batch : {-1, 4})
    EXPECT_EQ(s.t.make()->compute_output_shape(s.input_shape(0, batch)), s.output_shape(batch));
}

// ---- gradients
namespace {

Tensor direction(const Tensor& like, int seed) {
  return cast(random::stateless_uniform(shape(like), {seed, 3}, -1, 1), float64);
}

}  // namespace

void check_gradients(const Subject& s) {
  SCOPED_TRACE("gradients");
  const PolicyScope policy("float64");
  const keras::LayerRef layer = s.built();
  std::vector<Tensor> x = s.inputs(2, float64);
  const std::vector<Variable> weights = layer->trainable_variables();
  const auto total = [&](const std::vector<Tensor>& in) {
    Tensor sum = constant(0.0, float64);
    int seed = 40;
    for (const Tensor& y : s.call(layer, in)) sum = sum + reduce_sum(y * direction(y, ++seed));
    return sum;
  };
  Gradients by_input, by_weight;
  {
    GradientTape tape({.persistent = true});
    if (!s.takes_indices())
      for (const Tensor& t : x) tape.watch(t);
    const Tensor sum = total(x);
    if (!s.takes_indices()) by_input = tape.gradient(sum, x);
    by_weight = tape.gradient(sum, weights, {.unconnected_gradients = "zero"});
  }
  // Along random directions, so that all elements take part in each.
  const double step = s.t.computes_in_float32 ? 1e-2 : 1e-6,
               tolerance = s.t.computes_in_float32 ? 1e-4 : 1e-6;
  for (std::size_t i = 0; i < by_input.size(); ++i) {
    ASSERT_TRUE(by_input[i].defined()) << "no gradient by input " << i;
    const Tensor at = x[i], along = direction(at, 70 + static_cast<int>(i));
    std::vector<Tensor> ahead = x, behind = x;
    ahead[i] = at + along * step;
    behind[i] = at - along * step;
    const double want = (total(ahead) - total(behind)).item<double>() / (2 * step);
    const double got = reduce_sum(by_input[i] * along).item<double>();
    EXPECT_NEAR(got, want, tolerance * std::max(1., std::abs(want))) << "by input " << i;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor at = weights[i].value(), along = direction(at, 90 + static_cast<int>(i));
    const double got = reduce_sum(by_weight[i] * along).item<double>();
    weights[i].assign(at + along * step);
    const double ahead = total(x).item<double>();
    weights[i].assign(at - along * step);
    const double want = (ahead - total(x).item<double>()) / (2 * step);
    weights[i].assign(at);
    EXPECT_NEAR(got, want, tolerance * std::max(1., std::abs(want))) << "by " << weights[i].name();
  }
}

// ---- masks
namespace {

// True except for each third step, or element, from another place in each input.
std::vector<Tensor> masks_for(const Subject& s, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> masks;
  for (const Tensor& x : inputs) {
    TensorShape sizes = TensorShape::scalar();
    const int rank = s.t.mask_of_elements ? x.ndim() : std::min(x.ndim() - 1, 2);
    for (int i = 0; i < rank; ++i) sizes.push_back(x.shape().dim(i));
    const Tensor places =
        range(static_cast<int>(sizes.num_elements())) + static_cast<int>(masks.size());
    masks.push_back(reshape(not_equal(floormod(places, 3), 2), sizes));
  }
  return masks;
}

}  // namespace

void check_masks(const Subject& s) {
  SCOPED_TRACE("masks");
  if (!s.t.masks_fit) return;
  const keras::LayerRef layer = s.built();
  const std::vector<Tensor> x = s.inputs(3), masks = masks_for(s, x);
  std::vector<Tensor> masked;
  for (std::size_t i = 0; i < x.size(); ++i) masked.push_back(carrying(x[i], masks[i]));
  const std::vector<Tensor> y = s.call(layer, masked);
  EXPECT_EQ(y[0].shape(), s.output_shape(3));

  Tensor want;
  if (s.t.expected_mask == Mask::of_first_input) want = masks[0];
  if (s.t.expected_mask == Mask::of_all_inputs)
    for (const Tensor& m : masks) want = want.defined() ? logical_and(want, m) : m;
  if (s.t.expected_own_mask) want = s.t.expected_own_mask(x, masks);
  const Tensor got = mask_of(y[0]);
  ASSERT_EQ(got.defined(), want.defined()) << "a mask on the result";
  if (want.defined()) expect_same({got}, {want}, "the mask of the result");
  for (const Tensor& t : x) EXPECT_FALSE(mask_of(t).defined()) << "the input itself has changed";

  std::vector<Tensor> arguments = x, all = y;
  arguments.insert(arguments.end(), masks.begin(), masks.end());
  if (want.defined()) all.push_back(want);
  for (const Open open : {Open::batch, Open::all_but_features})
    expect_close(traced(s, layer, open, true)(arguments).flatten(), all, kRounding,
                 open == Open::batch ? "in a function" : "in a function of open sizes");
  if (x.size() > 1) return;
  const std::vector<Tensor> said = s.call(layer, x, {.mask = masks[0]});
  expect_close(said, y, kRounding, "with the mask said in the call");

  // As a model carries it: a step of zeros is masked by the layer before.
  if (s.takes_indices() || x[0].ndim() < 3 || s.t.mask_of_elements || s.t.mask_of_steps) return;
  Tensor keep = cast(masks[0], float32);
  while (keep.ndim() < x[0].ndim()) keep = expand_dims(keep, -1);
  const Tensor steps = x[0] * keep;
  const keras::layers::Masking masking(0.);
  const Tensor in = s.symbols()[0];
  const keras::Model model(in, layer->apply(masking(in)));
  expect_close(model.apply(steps).flatten(), s.call(layer, {masking(steps)}), kRounding,
               "after Masking in a model");
}

// ---- precision
void check_precision(const Subject& s) {
  SCOPED_TRACE("precision");
  struct Policy {
    const char* name;
    DType compute, variable;
    double rounding;
  };
  const keras::LayerRef plain = s.built();
  const std::vector<Tensor> x = s.inputs(), want = s.call(plain, x);
  for (const Policy& p : {Policy{"mixed_bfloat16", bfloat16, float32, 0.016},
                          Policy{"mixed_float16", float16, float32, 0.002},
                          Policy{"float64", float64, float64, kRounding}}) {
    SCOPED_TRACE(p.name);
    const keras::LayerRef layer = s.built(p.name);
    EXPECT_EQ(layer->compute_dtype(), p.compute);
    EXPECT_EQ(layer->dtype(), p.variable);
    for (const Variable& w : layer->weights()) {
      if (!w.dtype().is_floating()) continue;
      EXPECT_EQ(w.dtype(), s.t.own_weights_in_compute_dtype ? p.compute : p.variable) << w.name();
    }
    layer->set_weights(plain->get_weights());
    GradientTape tape;
    const std::vector<Tensor> y = s.call(layer, x);
    for (const Tensor& part : y) EXPECT_EQ(part.dtype(), p.compute);
    expect_close(y, want, p.rounding, "beside float32");
    const std::vector<Variable> trained = layer->trainable_variables();
    const Gradients g =
        tape.gradient(reduce_sum(cast(y[0], float32)), trained, {.unconnected_gradients = "zero"});
    for (std::size_t i = 0; i < trained.size(); ++i) {
      EXPECT_EQ(g[i].dtype(), trained[i].dtype()) << "the gradient by " << trained[i].name();
      for (const double v : numbers(g[i])) EXPECT_TRUE(std::isfinite(v)) << trained[i].name();
    }
    // The policy is part of the configuration; in models it is that of each layer.
    const keras::Config config = keras::layers::serialize(*layer);
    const keras::LayerRef again = keras::layers::deserialize(config);
    if (!layer->impl().is_model()) {
      EXPECT_EQ(again->compute_dtype(), p.compute);
      EXPECT_EQ(again->dtype(), p.variable);
    }
    EXPECT_EQ(s.call(again, x)[0].dtype(), p.compute);
  }
}

// ---- errors
void check_errors(const Subject& s) {
  SCOPED_TRACE("errors");
  const std::vector<Tensor> x = s.inputs();
  const auto expect = [&](bool Rejects::*which, const Tensor& first, const char* what) {
    SCOPED_TRACE(what);
    const keras::LayerRef layer = s.built();
    std::vector<Tensor> in = x;
    in[0] = first;
    try {
      s.call(layer, in);
      const bool expected = s.t.rejects && (*s.t.rejects).*which;
      EXPECT_FALSE(expected) << "no error for " << first.shape();
    } catch (const errors::Error& e) {
      const bool expected = !s.t.rejects || (*s.t.rejects).*which;
      EXPECT_TRUE(expected) << e.message();
      EXPECT_THAT(e.code(), ::testing::AnyOf(Code::invalid_argument,
                                             Code::out_of_range));  // an axis too many
      EXPECT_THAT(std::string(e.what()), ::testing::HasSubstr(layer->name()));
    }
    // A failed call leaves the layer as it was.
    EXPECT_EQ(s.call(layer, x)[0].shape(), s.output_shape(2));
  };
  const int last = x[0].ndim() - 1;
  expect(&Rejects::lower_rank, reduce_max(x[0], last), "an axis less");
  expect(&Rejects::higher_rank, expand_dims(x[0], -1), "an axis more");
  expect(&Rejects::more_features, concat({x[0], x[0]}, last), "more features");
}

}  // namespace rill::testing
