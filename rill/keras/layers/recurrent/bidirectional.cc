#include "rill/base/check.h"
#include "rill/keras/engine/name_stack_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/recurrent/rnn_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

RnnLayer& recurrent(const LayerRef& layer) {
  auto* rnn = layer.defined() ? dynamic_cast<RnnLayer*>(&layer->impl()) : nullptr;
  RILL_CHECK(rnn, invalid_argument,
             "[Bidirectional] got {}; expected a recurrent layer: LSTM, GRU, SimpleRNN or RNN",
             layer.defined() ? "a " + layer->class_name() : std::string("no layer"));
  return *rnn;
}
// One like the layer that a configuration describes, under another name.
LayerRef made_like(const Config& described, const std::string& prefix, bool turned) {
  Config c = described["config"];
  c.set("name", prefix + c["name"].as_string());
  if (turned) c.set("go_backwards", !c["go_backwards"].as_bool());
  return layers::from_config(described["class_name"].as_string(), c);
}

struct BidirectionalFields {
  using Options = layers::BidirectionalOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f("merge_mode", o.merge_mode, TextOrNull());
  }
};

class BidirectionalLayer : public LayerImpl {
 public:
  BidirectionalLayer(const LayerRef& layer, layers::BidirectionalOptions o)
      : LayerImpl("Bidirectional", common(o)), o_(std::move(o)) {
    static const char* const modes[] = {"concat", "sum", "mul", "ave", ""};
    RILL_CHECK(std::find(std::begin(modes), std::end(modes), o_.merge_mode) != std::end(modes),
               invalid_argument,
               "[Bidirectional] merge_mode is \"{}\"; expected \"concat\", \"sum\", \"mul\", "
               "\"ave\", or \"\" for both outputs apart",
               o_.merge_mode);
    recurrent(layer);
    layer_config_ = layers::serialize(*layer);
    forward_ = made_like(layer_config_, "forward_", false);
    if (o_.backward_layer.defined()) {
      recurrent(o_.backward_layer);
      backward_config_ = layers::serialize(*o_.backward_layer);
      backward_ = made_like(backward_config_, "backward_", false);
    } else {
      backward_ = made_like(layer_config_, "backward_", true);
    }
    const layers::RNNOptions &f = recurrent(forward_).options(),
                             &b = recurrent(backward_).options();
    RILL_CHECK(f.go_backwards != b.go_backwards, invalid_argument,
               "[Bidirectional] the forward and the backward layer should have different "
               "go_backwards values; both have {}",
               f.go_backwards);
    RILL_CHECK(f.stateful == b.stateful && f.return_sequences == b.return_sequences &&
                   f.return_state == b.return_state && f.time_major == b.time_major,
               invalid_argument,
               "[Bidirectional] the forward and the backward layer are expected to have the same "
               "stateful, return_sequences, return_state and time_major");
    for (const LayerRef* l : {&forward_, &backward_})
      recurrent(*l).set_zero_output_for_mask(f.return_sequences);
    track_layer("forward_layer", LayerObjects::impl_of(*forward_));
    track_layer("backward_layer", LayerObjects::impl_of(*backward_));
    if (!o_.trainable) set_trainable(false);
    stateful = f.stateful;
    supports_masking = true;
    input_spec = forward_->impl().input_spec;
  }

  void build(const std::vector<TensorShape>& shapes) override {
    for (const LayerRef* l : {&forward_, &backward_}) {
      const NameStack names((*l)->name());
      LayerCalls::build(**l, {shapes[0]});
    }
  }

  Nest call_nest(const Nest& inputs, const CallContext& context) override {
    std::vector<Tensor> leaves = inputs.flatten();
    const std::vector<Tensor> constants = take_constants(leaves, context, num_constants_, name());
    const Tensor x = leaves.at(0);
    States states(leaves.begin() + 1, leaves.end());
    if (states.empty()) states = context.initial_state;
    RILL_CHECK(states.size() % 2 == 0, invalid_argument,
               "[{}] got {} initial states; expected those of the forward layer, then as many of "
               "the backward layer",
               name(), states.size());
    const auto half = states.begin() + static_cast<std::ptrdiff_t>(states.size() / 2);
    const auto run = [&](const LayerRef& l, States from) {
      return l
          ->apply(x, {.training = context.training,
                      .mask = context.mask,
                      .initial_state = std::move(from),
                      .constants = constants})
          .flatten();
    };
    const std::vector<Tensor> f = run(forward_, States(states.begin(), half)),
                              b = run(backward_, States(half, states.end()));
    const layers::RNNOptions& o = recurrent(forward_).options();
    const Tensor there = f[0];
    const Tensor back = o.return_sequences ? reverse(b[0], {o.time_major ? 0 : 1}) : b[0];
    std::vector<Tensor> all = merged(there, back);
    if (o.return_state) {
      all.insert(all.end(), f.begin() + 1, f.end());
      all.insert(all.end(), b.begin() + 1, b.end());
    }
    return all.size() == 1 ? Nest(all[0]) : Nest(std::move(all));
  }
  Tensor compute_mask(const Nest&, const Tensor& mask) override {
    return recurrent(forward_).options().return_sequences ? mask : Tensor();
  }
  void expect_constants(std::size_t count) override {
    for (const LayerRef* l : {&forward_, &backward_}) recurrent(*l).expect_constants(count);
    num_constants_ = count;
  }
  void add_config(Config& c) const override {
    c.set("layer", layer_config_);
    write_fields<BidirectionalFields>(o_, c);
    if (num_constants_ > 0) c.set("num_constants", static_cast<std::int64_t>(num_constants_));
    if (!backward_config_.is_null()) c.set("backward_layer", backward_config_);
  }

 private:
  std::vector<Tensor> merged(const Tensor& y, const Tensor& back) const {
    if (o_.merge_mode == "concat") return {concat({y, back}, -1)};
    if (o_.merge_mode == "sum") return {y + back};
    if (o_.merge_mode == "mul") return {y * back};
    if (o_.merge_mode == "ave") return {(y + back) / 2};
    return {y, back};
  }

  layers::BidirectionalOptions o_;
  Config layer_config_, backward_config_;
  LayerRef forward_, backward_;
  std::size_t num_constants_ = 0;
};

const RegisterLayer registered_bidirectional("Bidirectional", [](const Config& c) -> LayerRef {
  auto o = read_fields<BidirectionalFields>(c);
  if (!c.get("backward_layer").is_null())
    o.backward_layer = layers::deserialize(c["backward_layer"]);
  const layers::Bidirectional layer(layers::deserialize(c["layer"]), std::move(o));
  if (!c.get("num_constants").is_null())
    layer.impl().expect_constants(static_cast<std::size_t>(c["num_constants"].as_int()));
  return layer;
});

}  // namespace

layers::Bidirectional::Bidirectional(LayerRef layer, BidirectionalOptions o)
    : Layer(this, new BidirectionalLayer(layer, std::move(o))) {}

}  // namespace rill::keras
