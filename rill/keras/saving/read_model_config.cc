// Models from their configurations: stacks, and graphs that are drawn call by call.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "rill/base/check.h"
#include "rill/keras/engine/op_layer_impl.h"
#include "rill/keras/engine/registered_layers.h"
#include "rill/keras/layers/call_arguments_impl.h"
#include "rill/keras/layers/input_layer_impl.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/saving/call_config_impl.h"
#include "rill/keras/saving/op_calls_impl.h"
#include "rill/ops/array_ops.h"

namespace rill::keras {

namespace {

// ---- stacks
LayerRef sequential_from_config(const Config& c) {
  const Config& list = c.is_list() ? c : c["layers"];  // Keras 1 wrote the bare list
  RILL_CHECK(list.is_list(), invalid_argument, "[Sequential] \"layers\" is {}; expected a list",
             list.to_json().substr(0, 100));
  Sequential model({}, c.is_list() ? std::string() : c.get("name", ""));
  if (c.is_dict() && c.get("dtype").is_dict())  // of Keras 3
    model.impl().policy = LayerOptions::from_config(c).dtype;
  for (const Config& l : list.items()) model.add(layers::deserialize(l));
  const Config& shape = c.get("build_input_shape");
  if (!model.built() && shape.is_list() && shape.size() > 0) model.build_model(shape.as_shape());
  return model;
}

// ---- graphs
// A tensor of the drawing: which result of which call of which layer.
struct Place {
  std::string layer;
  std::int64_t call = 0, result = 0;
};
bool is_constant(const Config& c) {
  return c.is_list() && c.size() >= 3 && c[0] == Config(kConstantValue);
}

// A constant as Keras 3 writes it.
bool is_array(const Config& c) {
  return c.is_dict() && c.get("config").is_dict() && c["config"].contains("value") &&
         (c.get("class_name") == Config("__numpy__") ||
          c.get("class_name") == Config("__tensor__"));
}

// Keras 2 writes ["dense", 0, 0] or ["dense", 0, 0, {..}], Keras 3 a record.
std::optional<Place> place_of(const Config& c) {
  const Config* list = &c;
  if (c.is_dict()) {
    if (c.get("class_name") != Config("__keras_tensor__")) return {};
    list = &c["config"]["keras_history"];
  }
  if (!list->is_list() || list->size() < 3 || list->size() > 4 || !(*list)[0].is_text()) return {};
  if ((*list)[0].as_string() == kConstantValue || !(*list)[1].is_number() ||
      !(*list)[2].is_number())
    return {};
  return Place{(*list)[0].as_string(), (*list)[1].as_int(), (*list)[2].as_int()};
}

template <class F>
void each_place(const Config& c, const F& f) {
  if (const std::optional<Place> p = place_of(c)) {
    f(*p);
    if (c.is_list() && c.size() == 4) each_place(c[3], f);  // arguments with names
    return;
  }
  for (const Config& item : c.items()) each_place(item, f);
}

class Drawing {
 public:
  explicit Drawing(const Config& config);
  LayerRef model() const;

 private:
  struct Entry {
    std::string name;
    LayerRef layer;    // undefined of an op
    Config function;   // of an op: TensorFlow's name, or that of Keras 3 ...
    Config op_config;  // ... whose arguments stand here and in the call
    std::vector<Config> calls;
    std::vector<std::vector<Nest>> results;  // of each call; composites are one
    std::int64_t first = 0;                  // the number of the first call
    std::vector<std::string> parts;  // layers of Rill that stand for one of Keras, beside the last
  };
  void read_layers();
  void draw();
  bool ready(const Config& call) const;
  std::vector<Nest> run(Entry& e, const Config& call);
  Nest with_named(const Nest& inputs, const Config& arguments,
                  const std::vector<std::string_view>& names) const;
  std::vector<Nest> run_op(Entry& e, const Config& call);
  void name_parts(const KerasNode& of, Entry& e);
  const Nest* find(const Place& p) const;  // null: not drawn yet
  Tensor tensor(const Config& c) const;
  Nest value(const Config& c) const;  // a tensor or a composite
  Nest structure(const Config& c) const;
  Tensor operand(const Config& c, const Tensor& like) const;

  const Config& config_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> by_name_;
  std::set<const KerasNode*> ops_;  // that have their names
};

Drawing::Drawing(const Config& config) : config_(config) {
  RILL_CHECK(config["layers"].is_list(), invalid_argument,
             "[Functional] \"layers\" is {}; expected a list",
             config["layers"].to_json().substr(0, 100));
  read_layers();
  draw();
}

void Drawing::read_layers() {
  for (const Config& record : config_["layers"].items()) {
    const std::string& class_name = record["class_name"].as_string();
    Entry e;
    e.name = record.get("name").is_text() ? record["name"].as_string()
                                          : record["config"]["name"].as_string();
    if (class_name == "TFOpLambda" || class_name == "SlicingOpLambda") {
      e.function = record["config"]["function"];
    } else if (is_keras3_op(record)) {
      e.function = class_name;
      e.op_config = record["config"];
    } else {
      e.layer = layers::deserialize(record);
    }
    const Config& inbound = record.get("inbound_nodes");
    e.calls = inbound.items();
    RILL_CHECK(by_name_.emplace(e.name, entries_.size()).second, invalid_argument,
               "[Functional] two layers are called \"{}\"", e.name);
    if (e.layer.defined())
      if (auto* input = dynamic_cast<InputLayerImpl*>(&e.layer->impl())) {
        RILL_CHECK(e.calls.empty(), invalid_argument, "[Functional] the input \"{}\" has inputs",
                   e.name);
        e.results.push_back({input->symbol()});
      }
    entries_.push_back(std::move(e));
  }
  // A model inside may count the call that drew it: its calls in this one then begin at 1.
  std::map<std::string, std::int64_t> lowest;
  const auto note = [&](const Place& p) {
    const auto [at, is_new] = lowest.emplace(p.layer, p.call);
    if (!is_new) at->second = std::min(at->second, p.call);
  };
  for (const Entry& e : entries_)
    for (const Config& c : e.calls) each_place(c, note);
  each_place(config_["output_layers"], note);
  for (Entry& e : entries_)
    if (e.layer.defined() && e.layer->impl().is_model())
      if (const auto at = lowest.find(e.name); at != lowest.end()) e.first = at->second;
}

const Nest* Drawing::find(const Place& p) const {
  const auto at = by_name_.find(p.layer);
  RILL_CHECK(at != by_name_.end(), invalid_argument,
             "[Functional] a call refers to the layer \"{}\", which the model does not have",
             p.layer);
  const Entry& e = entries_[at->second];
  const std::int64_t call = p.call - e.first;
  const std::int64_t all = static_cast<std::int64_t>(std::max(e.calls.size(), e.results.size()));
  RILL_CHECK(call >= 0 && call < all, invalid_argument,
             "[Functional] a call refers to call {} of layer \"{}\", which has {}", p.call, p.layer,
             all);
  if (call >= static_cast<std::int64_t>(e.results.size())) return nullptr;
  const std::vector<Nest>& results = e.results[static_cast<std::size_t>(call)];
  RILL_CHECK(p.result >= 0 && p.result < static_cast<std::int64_t>(results.size()),
             invalid_argument,
             "[Functional] a call refers to result {} of layer \"{}\", which has {}", p.result,
             p.layer, results.size());
  return &results[static_cast<std::size_t>(p.result)];
}

bool Drawing::ready(const Config& call) const {
  bool yes = true;
  each_place(call, [&](const Place& p) { yes = yes && find(p); });
  return yes;
}

// Calls are drawn as soon as what they need is there; those of one layer in their order.
void Drawing::draw() {
  bool moved = true, left = true;
  while (moved && left) {
    moved = left = false;
    for (Entry& e : entries_)
      while (e.results.size() < e.calls.size()) {
        const Config& call = e.calls[e.results.size()];
        if (!ready(call)) {
          left = true;
          break;
        }
        try {
          e.results.push_back(run(e, call));
        } catch (errors::Error& error) {
          error.add_context(format("in the configuration of layer \"{}\"", e.name));
          throw;
        }
        moved = true;
      }
  }
  RILL_CHECK(!left, invalid_argument,
             "[Functional] the calls of the layers wait for each other; expected a graph without "
             "loops");
}

Tensor Drawing::tensor(const Config& c) const { return value(c).as_tensor(); }
Nest Drawing::value(const Config& c) const {
  const std::optional<Place> p = place_of(c);
  RILL_CHECK(p, invalid_argument,
             "[Functional] got {}; expected a tensor of the model, as [\"dense\", 0, 0]",
             c.to_json().substr(0, 100));
  const Nest* t = find(*p);
  RILL_CHECK(t, invalid_argument, "[Functional] layer \"{}\" is used before it is called",
             p->layer);
  return *t;
}
Nest Drawing::structure(const Config& c) const {
  if (place_of(c)) return value(c);
  if (is_constant(c)) return operand(c, {});
  if (is_array(c)) {
    const Config& dtype = c["config"].get("dtype");
    const Tensor value = operand(c, {});
    return dtype.is_text() ? cast(value, DType::from_name(dtype.as_string())) : value;
  }
  if (c.is_dict()) {
    std::vector<std::pair<std::string, Nest>> items;
    for (const std::string& key : c.keys()) items.emplace_back(key, structure(c[key]));
    return Nest(std::move(items));
  }
  if (!c.is_list()) return tensor(c);  // an error that shows it
  std::vector<Nest> items;
  for (const Config& item : c.items()) items.push_back(structure(item));
  return Nest::make(std::move(items));
}

void collect_numbers(const Config& c, TensorShape& shape, int depth, std::vector<double>& out) {
  if (c.is_list()) {
    if (shape.rank() == depth) shape.push_back(static_cast<std::int64_t>(c.size()));
    RILL_CHECK(shape.rank() > depth && shape.dim(depth) == static_cast<std::int64_t>(c.size()),
               invalid_argument, "[Functional] a constant is a ragged list");
    for (const Config& i : c.items()) collect_numbers(i, shape, depth + 1, out);
    return;
  }
  RILL_CHECK(shape.rank() == depth, invalid_argument, "[Functional] a constant is a ragged list");
  out.push_back(c.kind() == Config::Kind::boolean ? (c.as_bool() ? 1.0 : 0.0) : c.as_double());
}

Tensor Drawing::operand(const Config& c, const Tensor& like) const {
  if (place_of(c)) return tensor(c);
  const Config& value = is_constant(c) ? c[2] : is_array(c) ? c["config"]["value"] : c;
  bool drawn = false;
  each_place(value, [&](const Place&) { drawn = true; });
  if (drawn && value.is_list()) {  // [a, -1] with a tensor among numbers
    std::vector<Tensor> parts;
    for (const Config& item : value.items()) parts.push_back(operand(item, like));
    return rill::stack(parts);
  }
  TensorShape shape = TensorShape::scalar();
  std::vector<double> numbers;
  collect_numbers(value, shape, 0, numbers);
  const DType dtype = like.defined() ? like.dtype() : only_whole(value) ? int32 : float32;
  return constant(numbers, dtype, shape);
}

// What Keras has one layer for may be several here; the last has its name.
void Drawing::name_parts(const KerasNode& of, Entry& e) {
  ops_.insert(&of);
  for (const Tensor& t : of.leaves()) {
    const KerasSymbol* s = keras_symbol(t);
    auto* op = s ? dynamic_cast<OpLayer*>(s->node->layer.get()) : nullptr;
    if (!op || ops_.count(s->node.get())) continue;
    op->set_name(format("{}.{}", e.name, e.parts.size()));
    e.parts.push_back(op->name());
    name_parts(*s->node, e);
  }
}

std::vector<Nest> Drawing::run_op(Entry& e, const Config& call) {
  const std::string& name = e.function.as_string();
  const WrittenCall written =
      e.op_config.is_dict() ? keras3_call(name, e.op_config, call) : keras2_call(name, call);
  const std::string& function = written.form->function();
  std::vector<Tensor> results = written.form->draw(
      written, [&](const Config& c, const Tensor& like) { return operand(c, like); });
  RILL_CHECK(!results.empty(), invalid_argument, "[Functional] the call of tf.{} gives nothing",
             function);
  // What changes nothing gives its input back, and still is a layer of the model.
  for (Tensor& y : results)
    each_place(call, [&](const Place& p) {
      if (find(p)->is_tensor() && find(p)->as_tensor().impl() == y.impl()) y = identity(y);
    });
  const KerasSymbol* s = keras_symbol(results[0]);
  RILL_CHECK(s && dynamic_cast<OpLayer*>(s->node->layer.get()), invalid_argument,
             "[Functional] the call of tf.{} has no tensor of the model in it", function);
  s->node->layer->set_name(e.name);
  name_parts(*s->node, e);
  return {results.begin(), results.end()};
}

// Tensors that a call gives by name come after the others, where the layer takes them.
Nest Drawing::with_named(const Nest& inputs, const Config& arguments,
                         const std::vector<std::string_view>& names) const {
  std::vector<Nest> all;
  const bool one = inputs.is_tensor() || inputs.is_composite();
  if (one) all.push_back(inputs);
  for (std::size_t i = 0; !one && i < inputs.size(); ++i)
    all.push_back(inputs[static_cast<int>(i)]);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Config& given = arguments.get(names[i]);
    if (given.is_null() || all.empty()) continue;
    while (all.size() < i + 1) all.push_back(all.back());  // the key is the value, unless given
    all.resize(i + 1);
    bool drawn = false;
    each_place(given, [&](const Place&) { drawn = true; });
    all.push_back(drawn ? structure(given) : Nest(operand(given, {})));
  }
  return all.size() == 1 && one ? inputs : Nest::make(std::move(all));
}

std::vector<Nest> Drawing::run(Entry& e, const Config& call) {
  if (!e.layer.defined()) return run_op(e, call);
  Nest inputs;
  Config arguments;
  if (call.is_dict() && call.contains("args")) {  // Keras 3
    const Config& args = call["args"];
    RILL_CHECK(args.is_list() && args.size() > 0, invalid_argument,
               "[Functional] a call has no arguments");
    inputs = structure(args.size() == 1 ? args[0] : args);
    arguments = call.get("kwargs");
  } else {
    inputs = structure(call.is_list() && call.size() == 1 ? call[0] : call);
    // The arguments follow each of the inputs.
    const Config* first = &call;
    while (!place_of(*first) && !is_constant(*first) && first->size() > 0)
      first = &first->items().front();
    if (first->is_list() && first->size() == 4) arguments = (*first)[3];
  }
  const CallArguments& known = call_arguments(e.layer->class_name());
  const auto among = [](const std::vector<std::string_view>& names, const std::string& key) {
    return std::find(names.begin(), names.end(), key) != names.end();
  };
  inputs = with_named(inputs, arguments, known.inputs);
  CallOptions options;
  options.arguments = Config::dict();
  for (const std::string& key : arguments.keys()) {
    const Config& value = arguments[key];
    bool any = value.kind() == Config::Kind::boolean || value.is_number() || value.is_text();
    each_place(value, [&](const Place&) { any = true; });
    if (!any || among(known.inputs, key)) continue;  // null, or nothing but nulls
    if (key == "training") {
      // Keras 3 writes what was so when the call was drawn, and then obeys the model's own call.
      if (!call.is_dict()) options.training = value.as_bool() ? 1 : 0;
    } else if (key == "mask" && e.layer->class_name() != "Lambda") {
      if (place_of(value)) {
        options.mask = tensor(value);
        continue;
      }
      for (const Config& m : value.items())
        options.masks.push_back(m.is_null() ? Tensor() : tensor(m));
    } else if (key == "initial_state") {
      options.initial_state = structure(value).flatten();
    } else if (among(known.flags, key)) {
      options.arguments.set(key, value);
    } else {
      RILL_FAIL(unimplemented,
                "[Functional] layer \"{}\" is called with the argument \"{}\", which Rill does not "
                "read from files",
                e.name, key);
    }
  }
  return values_of(e.layer->apply(inputs, options));
}

LayerRef Drawing::model() const {
  const auto ends = [&](const char* key) {
    const Config& c = config_[key];
    const Nest n = structure(c);
    return c.is_list() && !place_of(c) && n.size() == 1 ? n.part(0) : n;
  };
  std::vector<std::string> listed;
  for (const Entry& e : entries_) {
    listed.insert(listed.end(), e.parts.begin(), e.parts.end());
    listed.push_back(e.layer.defined() ? e.layer->name() : e.name);  // it may have another name
  }
  auto* functional = new FunctionalImpl(ends("input_layers"), ends("output_layers"),
                                        config_.get("name", ""), listed);
  const Ref<LayerImpl> impl(functional);
  // Losses and metrics that were added to the model: no output needs them.
  std::vector<Tensor> added;
  for (const Entry& e : entries_)
    if (e.layer.defined() && adds_to_model(e.layer->impl()))
      for (const std::vector<Nest>& results : e.results)
        for (const Nest& result : results)
          for (const Tensor& t : result.flatten()) added.push_back(t);
  if (!added.empty()) functional->extend(added, listed);
  impl->trainable = config_.get("trainable", true);
  const Model model = ModelHandle(impl);
  LayerObjects::note_handle(model);
  return model;
}

LayerRef functional_from_config(const Config& c) { return Drawing(c).model(); }

const RegisterLayer sequential("Sequential", sequential_from_config);
const RegisterLayer functional("Functional", functional_from_config);
const RegisterLayer model("Model", functional_from_config);  // as old files, and both new, call it

}  // namespace

}  // namespace rill::keras
