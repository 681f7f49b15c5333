// Layers, models, metrics and callbacks that have no C++ class.
#include "rill/keras/models/from_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rill/rill.h"
#include "tests/checkpoint_files.h"
#include "tests/expect_error.h"
#include "tests/keras_samples.h"

namespace tf = rill;
namespace keras = rill::keras;
namespace layers = rill::keras::layers;
using testing::HasSubstr;
using tf::Nest, tf::Tensor;
using tf::testing::expect_error, tf::testing::expect_near, tf::testing::sample, tf::testing::values;

namespace {

const Tensor x = sample({5, 3});

// What a front end would fill in from its own classes.
keras::LayerFunctions scale(float by) {
  return {.class_name = "Scale",
          .call =
              [by](keras::FunctionLayer& self, const Nest& in, const keras::CallContext&) {
                self.add_metric(tf::constant(by), "by");
                return in.as_tensor() * self.weights().at(0) * by;
              },
          .build =
              [](keras::FunctionLayer& self, const std::vector<tf::TensorShape>& shapes) {
                self.add_weight("gamma", {shapes[0][-1]}, "ones");
              },
          .get_config =
              [by](const keras::FunctionLayer&, keras::Config base) {
                base.set("by", by);
                return base;
              }};
}

TEST(FromFunctions, ALayer) {
  keras::backend::clear_session();
  const keras::FunctionLayer l(scale(3));
  EXPECT_EQ(values(l(x)), values(x * 3.f));
  EXPECT_EQ(l.name(), "scale");
  EXPECT_EQ(l.class_name(), "Scale");
  EXPECT_EQ(l.weights().at(0).name(), "scale/gamma:0");
  const Tensor in = keras::Input({3});
  const keras::Model drawn(in, keras::FunctionLayer(scale(2))(in));
  EXPECT_EQ(values(drawn(x)), values(x * 2.f));
  EXPECT_THAT(drawn.summary_text(), HasSubstr("scale_1 (Scale)"));
  expect_error<tf::errors::InvalidArgument>([] { keras::FunctionLayer({.class_name = "A"}); },
                                            "has no function call");
}

TEST(FromFunctions, ALayerInFiles) {
  const keras::RegisterLayer registered("Custom>Scale", [](const keras::Config& c) {
    return keras::LayerRef(keras::FunctionLayer(scale(static_cast<float>(c["by"].as_double())),
                                                keras::LayerOptions::from_config(c)));
  });
  const std::string path = rill::saving_tests::fresh_folder("from_functions") + "/m.keras";
  const keras::Sequential m(
      {keras::FunctionLayer(scale(2), {.input_shape = {3}}), layers::Dense(2)});
  m.save(path);
  EXPECT_EQ(values(keras::models::load_model(path)(x)), values(m(x)));
}

keras::ModelFunctions regression(int* steps) {
  const layers::Dense dense(1);
  return {.class_name = "Regression",
          .call = [dense](keras::FunctionModel&, const Nest& in,
                          const keras::CallContext&) -> Nest { return dense(in.as_tensor()); },
          .train_step =
              [steps](keras::FunctionModel& self, const Nest& data) {
                ++*steps;
                return self.Model::train_step(data);
              }};
}

TEST(FromFunctions, AModelAMetricAndACallback) {
  int steps = 0;
  const layers::Dense dense(1);
  keras::ModelFunctions f = regression(&steps);
  f.call = [dense](keras::FunctionModel&, const Nest& in, const keras::CallContext&) -> Nest {
    return dense(in.as_tensor());
  };
  keras::FunctionModel m(f);
  layers::Dense member = dense;
  m.track("dense", member);
  tf::Variable* total = nullptr;
  auto kept = std::make_shared<tf::Variable>();
  keras::FunctionMetric largest(
      {.class_name = "Largest",
       .update_state =
           [kept](keras::FunctionMetric&, const Tensor&, const Tensor& y_pred, const Tensor&) {
             kept->assign(tf::maximum(*kept, tf::reduce_max(y_pred)));
           },
       .result = [kept](keras::FunctionMetric&) { return kept->value(); }},
      {.name = "largest"});
  *kept = largest.add_weight("largest");
  total = kept.get();
  std::vector<int> epochs;
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {largest}});
  keras::callbacks::LambdaCallback hook(
      {.on_epoch_end = [&](int epoch, const keras::Logs&) { epochs.push_back(epoch); }});
  const keras::History h =
      m.fit(x, tf::ones({5, 1}), {.epochs = 3, .verbose = 0, .callbacks = {hook}});
  EXPECT_GT(steps, 0);
  EXPECT_EQ(epochs, (std::vector<int>{0, 1, 2}));
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  EXPECT_EQ(h["largest"].size(), 3u);
  EXPECT_NEAR(h["largest"].back(), total->item<float>(), 1e-6);
  EXPECT_EQ(m.class_name(), "Regression");
  EXPECT_EQ(m.weights().size(), 2u);
}

TEST(FromFunctions, HooksOfTestAndPredict) {
  std::vector<std::string> seen;
  const auto note = [&](const char* what) {
    return [&seen, what](const keras::Logs&) { seen.push_back(what); };
  };
  int batches = 0;
  keras::callbacks::LambdaCallback hook(
      {.on_test_begin = note("test"),
       .on_predict_end = note("predicted"),
       .on_test_batch_end = [&](std::int64_t, const keras::Logs&) { ++batches; }});
  keras::Sequential m({layers::Dense(1)});
  m.compile({.loss = "mse"});
  m.evaluate(x, tf::ones({5, 1}), {.batch_size = 2, .verbose = 0, .callbacks = {hook}});
  m.predict(x, {.verbose = 0, .callbacks = {hook}});
  EXPECT_EQ(seen, (std::vector<std::string>{"test", "predicted"}));
  EXPECT_EQ(batches, 3);
}

}  // namespace
