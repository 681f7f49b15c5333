#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rill/keras/engine/layer.h"
#include "rill/keras/metrics/metric.h"
#include "rill/keras/models/model.h"

// Layers, models and metrics without a C++ class: made of functions at run time, as a front end in
// another language or a plug-in makes them (callbacks::LambdaCallback is a callback of this kind).
// An empty function stands for what the base class does. Files name them by class_name;
// keras::RegisterLayer("Custom>Scale", factory) lets load_model make them again.
namespace rill RILL_API {
namespace keras {

class FunctionLayer;
struct LayerFunctions {
  std::string class_name;
  std::function<Nest(FunctionLayer& self, const Nest& inputs, const CallContext& context)> call;
  std::function<void(FunctionLayer& self, const std::vector<TensorShape>& input_shapes)> build = {};
  std::function<Tensor(FunctionLayer& self, const Nest& inputs, const Tensor& mask)> compute_mask =
      {};
  // Gets what the base class wrote, and adds to it.
  std::function<Config(const FunctionLayer& self, Config base)> get_config = {};
};
// What its functions may do is public here.
class FunctionLayer : public Layer {
 public:
  explicit FunctionLayer(LayerFunctions functions, LayerOptions options = {});
  using Layer::add_loss;
  using Layer::add_metric;
  using Layer::add_weight;
  using Layer::set_supports_masking;
  using Layer::track;

  void build_all(const std::vector<TensorShape>& input_shapes) override;
  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Tensor compute_mask(const Nest& inputs, const Tensor& mask) override;
  Config get_config() const override;
  std::string run_time_class() const override;

 private:
  std::shared_ptr<const LayerFunctions> functions_;
};

class FunctionModel;
struct ModelFunctions {
  std::string class_name;
  std::function<Nest(FunctionModel& self, const Nest& inputs, const CallContext& context)> call;
  std::function<Nest(FunctionModel& self, const Nest& data)> train_step = {};
  std::function<Nest(FunctionModel& self, const Nest& data)> test_step = {};
  std::function<Nest(FunctionModel& self, const Nest& data)> predict_step = {};
  std::function<Config(const FunctionModel& self, Config base)> get_config = {};
};
class FunctionModel : public Model {
 public:
  explicit FunctionModel(ModelFunctions functions, LayerOptions options = {});
  using Model::add_loss;
  using Model::add_metric;
  using Model::add_weight;
  using Model::track;

  Nest call_nest(const Nest& inputs, const CallContext& context) override;
  Nest train_step(const Nest& data) override;
  Nest test_step(const Nest& data) override;
  Nest predict_step(const Nest& data) override;
  Config get_config() const override;
  std::string run_time_class() const override;

 private:
  std::shared_ptr<const ModelFunctions> functions_;
};

class FunctionMetric;
struct MetricFunctions {
  std::string class_name;
  std::function<void(FunctionMetric& self, const Tensor& y_true, const Tensor& y_pred,
                     const Tensor& sample_weight)>
      update_state;
  std::function<Tensor(FunctionMetric& self)> result;
  std::function<void(FunctionMetric& self)> reset_state = {};
  std::function<Config(const FunctionMetric& self, Config base)> get_config = {};
};
class FunctionMetric : public Metric {
 public:
  explicit FunctionMetric(MetricFunctions functions, MetricOptions options = {});
  using Metric::add_weight;

  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) override;
  Tensor result() override;
  void reset_state() override;
  std::string class_name() const override;
  Config get_config() const override;

 private:
  std::shared_ptr<const MetricFunctions> functions_;
};

}  // namespace keras
}  // namespace RILL_API
