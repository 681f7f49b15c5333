// model.add_loss and model.add_metric of symbolic tensors: layers that pass their input on, and
// that the model runs beside the way to its outputs.
#include "rill/base/check.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/models/model_impl.h"

namespace rill::keras {

namespace {

class AddLossLayer : public LayerImpl {
 public:
  AddLossLayer(LayerOptions options, bool unconditional)
      : LayerImpl("AddLoss", std::move(options)), unconditional_(unconditional) {
    autocast = false;
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    add_call_loss(x);
    return x;
  }
  void add_config(Config& c) const override { c.set("unconditional", unconditional_); }

 private:
  bool unconditional_;  // it does not depend on the inputs; only files mind
};

class AddMetricLayer : public LayerImpl {
 public:
  AddMetricLayer(LayerOptions options, std::string metric_name)
      : LayerImpl("AddMetric", std::move(options)), metric_name_(std::move(metric_name)) {
    autocast = false;
    supports_masking = true;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    add_call_metric(x, metric_name_);
    return x;
  }
  void add_config(Config& c) const override {
    c.set("aggregation", "mean");
    c.set("metric_name", metric_name_);
  }

 private:
  std::string metric_name_;
};

LayerRef handle_on(LayerImpl* layer) { return LayerHandle(Ref<LayerImpl>(layer)); }

LayerRef add_loss_from_config(const Config& c) {
  return handle_on(new AddLossLayer(LayerOptions::from_config(c), c.get("unconditional", false)));
}
LayerRef add_metric_from_config(const Config& c) {
  const Config& aggregation = c.get("aggregation");
  RILL_CHECK(aggregation == Config("mean"), unimplemented,
             "[AddMetric] the aggregation is {}; expected \"mean\": that of a metric object is not "
             "in the file",
             aggregation.to_json());
  return handle_on(new AddMetricLayer(LayerOptions::from_config(c), c["metric_name"].as_string()));
}

const RegisterLayer registered_add_loss("AddLoss", add_loss_from_config);
const RegisterLayer registered_add_metric("AddMetric", add_metric_from_config);

void extend_by(const Model& model, const Tensor& value, LayerImpl* layer, const char* what) {
  const LayerRef held = handle_on(layer);
  auto* functional = dynamic_cast<FunctionalImpl*>(&model.model_impl());
  RILL_CHECK(functional, invalid_argument,
             "[{}] {} got {}, which belongs to a model that is drawn on keras::Input; expected a "
             "call on keras::Model(inputs, outputs), or a tensor of the model's own call",
             model.name(), what, keras_symbol(value)->describe());
  functional->extend(held->apply(value).flatten());
  for (const std::shared_ptr<Trainer>& t : {functional->trainer, functional->predictor})
    if (t) forget_functions(*t);
}

}  // namespace

bool adds_to_model(const LayerImpl& layer) {
  return dynamic_cast<const AddLossLayer*>(&layer) || dynamic_cast<const AddMetricLayer*>(&layer);
}

void Model::add_loss(const Tensor& loss) const {
  if (!keras_symbol(loss)) return Layer::add_loss(loss);
  extend_by(*this, loss, new AddLossLayer({.dtype = loss.dtype()}, false), "add_loss");
}
void Model::add_metric(const Tensor& value, std::string_view metric_name) const {
  if (!keras_symbol(value)) return Layer::add_metric(value, metric_name);
  extend_by(*this, value, new AddMetricLayer({.dtype = value.dtype()}, std::string(metric_name)),
            "add_metric");
}

}  // namespace rill::keras
