// What of a layer can be kept and given back: weights, configuration, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rill/base/error.h"
#include "rill/base/format.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/saving/registration.h"
#include "rill/keras/saving/saving.h"
#include "rill/ops/array_ops.h"
#include "rill/saving/checkpoint.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_layer_contract/subject.h"

namespace rill::testing {

using saving_tests::fresh_folder;

void check_weights(const Subject& s) {
  SCOPED_TRACE("weights");
  const keras::LayerRef layer = s.built();
  const auto trained = [&] { return static_cast<int>(layer->trainable_variables().size()); };
  const auto fixed = [&] { return static_cast<int>(layer->non_trainable_variables().size()); };
  const int expected = s.t.expected_num_trainable_weights,
            expected_fixed = s.t.expected_num_non_trainable_weights;
  EXPECT_EQ(trained(), expected);
  EXPECT_EQ(fixed(), expected_fixed);
  s.call(layer, s.inputs());
  EXPECT_EQ(static_cast<int>(layer->losses().size()), s.t.expected_num_losses);

  bool has_model = layer->impl().is_model();
  for (const keras::Layer& part : layer->sublayers())
    has_model = has_model || part.impl().is_model();
  std::set<std::string> names;
  std::int64_t count = 0;
  for (const Variable& w : layer->weights()) {
    EXPECT_TRUE(names.insert(w.name()).second) << w.name() << " is there twice";
    count += w.shape().num_elements();
    if (has_model) continue;  // whose layers have their names for themselves
    EXPECT_THAT(w.name(), ::testing::StartsWith(layer->name() + "/"));
  }
  EXPECT_EQ(layer->count_params(), count);

  // Frozen by a call, or from the start.
  layer->set_trainable(false);
  EXPECT_EQ(trained(), 0);
  EXPECT_EQ(fixed(), expected + expected_fixed);
  layer->set_trainable(true);
  EXPECT_EQ(trained(), expected);
  if (!layer->impl().is_model()) {  // of those each layer says it for itself
    keras::Config config = layer->get_config();
    config.set("trainable", false);
    const keras::LayerRef frozen = keras::layers::from_config(layer->class_name(), config);
    s.call(frozen, s.inputs());
    EXPECT_EQ(frozen->trainable_variables().size(), 0u);
    EXPECT_EQ(frozen->weights().size(), layer->weights().size());
  }

  // Values given back, and what does not fit.
  const std::vector<Tensor> values = layer->get_weights(), x = s.inputs(), y = s.call(layer, x);
  const keras::LayerRef other = s.t.make();
  s.call(other, x);
  other->set_weights(values);
  expect_same(other->get_weights(), values, "get_weights after set_weights");
  expect_same(s.call(other, x), y, "with the same weights");
  std::vector<Tensor> more = values;
  more.push_back(constant(1.f));
  expect_error<errors::InvalidArgument>([&] { other->set_weights(more); }, other->name());

  const std::string path = fresh_folder("layer_contract_checkpoint") + "/layer";
  train::Checkpoint({{"layer", *layer}}).write(path);
  const keras::LayerRef restored = s.t.make();
  const train::CheckpointStatus status =
      train::Checkpoint({{"layer", *restored}}).read(path);  // its weights come later
  s.call(restored, x);
  status.assert_consumed();
  expect_same(restored->get_weights(), values, "from a checkpoint");
}

void check_config(const Subject& s) {
  SCOPED_TRACE("config");
  for (const bool before_build : {true, false}) {
    const keras::LayerRef layer = before_build ? s.t.make() : s.built();
    const keras::Config described = keras::layers::serialize(*layer);
    const keras::LayerRef again =
        keras::layers::deserialize(keras::Config::from_json(described.to_json()));
    EXPECT_EQ(again->name(), layer->name());
    EXPECT_EQ(again->class_name(), layer->class_name());
    EXPECT_EQ(again->get_config(), layer->get_config())
        << again->get_config() << " instead of " << layer->get_config();
    const std::vector<Tensor> x = s.inputs();
    s.call(again, x);
    const std::vector<Tensor> y = s.call(layer, x);
    again->set_weights(layer->get_weights());
    expect_same(s.call(again, x), y, "of the same configuration and weights");
  }
}

void check_files(const Subject& s) {
  SCOPED_TRACE("files");
  const keras::LayerRef layer = s.t.make();
  const std::vector<Tensor> in = s.symbols();
  const keras::Model model(s.argument(in), layer->apply(s.argument(in)));
  randomize_weights(model);
  const std::string folder = fresh_folder("layer_contract_files");
  const Nest x = s.argument(s.inputs());
  const std::vector<Tensor> want = model.apply(x).flatten();
  ASSERT_EQ(static_cast<int>(want.size()), s.t.expected_num_outputs);
  for (const char* file : {"/model.keras", "/model.h5"}) {
    SCOPED_TRACE(file);
    model.save(folder + file);
    keras::Model loaded = keras::models::load_model(folder + file);
    expect_same(loaded.apply(x).flatten(), want, "of the loaded model");
    EXPECT_EQ(loaded.to_json(), model.to_json());
  }
  for (const char* file : {"/weights", "/only.weights.h5", "/only.h5"}) {
    SCOPED_TRACE(file);
    model.save_weights(folder + file);
    keras::Model same = keras::models::model_from_json(model.to_json());
    same.load_weights(folder + file);
    expect_same(same.apply(x).flatten(), want, "of the loaded weights");
  }

  // First in a stack, told its input_shape.
  if (in.size() > 1 || want.size() > 1 || layer->impl().is_model()) return;
  keras::Config config = layer->get_config();
  config.set("batch_input_shape", s.input_shape(0, -1));
  keras::Sequential stack({keras::layers::from_config(layer->class_name(), config)});
  EXPECT_TRUE(stack.built());
  stack.set_weights(model.get_weights());
  expect_same(stack.apply(x).flatten(), want, "in a stack");
  EXPECT_EQ(stack.outputs()[0].shape(), s.output_shape(-1));
  for (const char* file : {"/stack.keras", "/stack.h5"}) {
    SCOPED_TRACE(file);
    stack.save(folder + file);
    expect_same(keras::models::load_model(folder + file).apply(x).flatten(), want, "of the stack");
  }
}

}  // namespace rill::testing
