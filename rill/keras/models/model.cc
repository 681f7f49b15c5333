#include "rill/keras/models/model.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/base/nearest.h"
#include "rill/keras/models/model_impl.h"

namespace rill::keras {

ModelImpl::ModelImpl(std::string_view class_name, LayerOptions options)
    : LayerImpl(class_name, std::move(options)) {}
ModelImpl::~ModelImpl() = default;
std::vector<LayerRef> ModelImpl::layers() const {
  std::vector<LayerRef> list;
  for (const Ref<LayerImpl>& c : children) list.push_back(LayerObjects::of(*c));
  return list;
}
bool has_graph(const ModelImpl& model) {
  return dynamic_cast<const SequentialImpl*>(&model) || dynamic_cast<const FunctionalImpl*>(&model);
}

Model::Model() : Layer(this, new ModelImpl("")) {}
Model::Model(LayerOptions options) : Layer(this, new ModelImpl("", std::move(options))) {}
Model::Model(const Nest& inputs, const Nest& outputs, ModelOptions options)
    : Layer(this, new FunctionalImpl(inputs, outputs, std::move(options.name))) {
  if (!options.trainable) set_trainable(false);
}
ModelImpl& Model::model_impl() const { return static_cast<ModelImpl&>(*impl_); }

Layers Model::layers() const { return model_impl().layers(); }
LayerRef Model::get_layer(std::string_view wanted) const {
  std::vector<std::string> names;
  for (LayerRef& l : layers()) {
    if (l->name() == wanted) return l;
    names.push_back(l->name());
  }
  RILL_FAIL(not_found, "[{}] get_layer: no such layer: \"{}\".{}", name(), wanted,
            did_you_mean(wanted, names));
}
LayerRef Model::get_layer(int index) const {
  const std::vector<LayerRef> all = layers();
  const int i = index < 0 ? index + static_cast<int>(all.size()) : index;
  RILL_CHECK(i >= 0 && i < static_cast<int>(all.size()), out_of_range,
             "[{}] get_layer: was asked for layer {}, but the model has only {} layers", name(),
             index, all.size());
  return all[static_cast<std::size_t>(i)];
}

namespace {
std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  const KerasSymbol* before = nullptr;
  for (const Tensor& t : tensors) {
    const KerasSymbol* s = keras_symbol(t);
    const bool more = is_more_of(before, *s);
    before = s;
    if (more) continue;
    std::string n = s->node->layer->name();
    // A layer that gives two outputs has them numbered.
    std::string unique = n;
    for (int i = 1; std::find(names.begin(), names.end(), unique) != names.end(); ++i)
      unique = format("{}_{}", n, i);
    names.push_back(unique);
  }
  return names;
}
}  // namespace

std::vector<std::string> Model::input_names() const { return names_of(inputs()); }
std::vector<std::string> Model::output_names() const { return names_of(outputs()); }

void Model::build_model(const TensorShape& input_shape) {
  if (impl_->built) return;
  // A user-defined class may make other things in its build than its layers.
  if (LayerObjects::is_users_class(LayerObjects::behind(*this)))
    compute_output_shape(input_shape);
  else
    build(input_shape);
}

Sequential::Sequential() : Model(this, new SequentialImpl("")) {}
Sequential::Sequential(std::initializer_list<LayerRef> layers, ModelOptions options)
    : Sequential(std::vector<LayerRef>(layers), std::move(options)) {}
Sequential::Sequential(const std::vector<LayerRef>& layers, ModelOptions options)
    : Model(this, new SequentialImpl(std::move(options.name))) {
  for (const LayerRef& l : layers) add(l);
  if (!options.trainable) set_trainable(false);
}
void Sequential::add(LayerRef layer) { static_cast<SequentialImpl&>(*impl_).add(std::move(layer)); }
void Sequential::pop() { static_cast<SequentialImpl&>(*impl_).pop(); }

void ValidationData::take(const Nest& tuple) {
  kind_ = Kind::arrays;
  if (tuple.is_tensor() || tuple.is_dict() || tuple.is_composite()) {
    x_ = tuple;
    return;
  }
  RILL_CHECK(tuple.size() >= 1 && tuple.size() <= 3, invalid_argument,
             "[validation_data] got {}; expected (x, y) or (x, y, sample_weight), as "
             "tf::tuple(x, y) or {{x, y}}, or x alone where the loss needs no labels",
             tuple.to_string());
  x_ = tuple.part(0);
  if (tuple.size() > 1) y_ = tuple.part(1);
  if (tuple.size() > 2) weight_ = tuple.part(2);
}

int Verbose::parse(std::string_view text) {
  RILL_CHECK(text == "auto", invalid_argument, "[verbose] got \"{}\"; expected \"auto\", 0, 1 or 2",
             text);
  return -1;
}

}  // namespace rill::keras
