#include <mutex>
#include <set>
#include <thread>

#include "rill/base/check.h"
#include "rill/core/contents.h"
#include "rill/core/observer.h"
#include "rill/core/resource.h"
#include "rill/graph/function/function_impl.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/keras/models/model_impl.h"
#include "rill/keras/training/batches_impl.h"
#include "rill/keras/training/on_nan_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"
#include "rill/ops/math_ops.h"

// fit's on_nan: finds the op that made the first number which is not finite.
namespace rill::keras {

namespace {

// ---- watching ops
// A call whose result is not finite.
struct Culprit {
  std::string op, node, scope;
  const char* file = nullptr;
  int line = 0;
  std::vector<Contents> inputs, results;
  std::vector<std::string> input_names;
  std::string changed;  // the variable that it gave such a value
  std::string through;  // of one that goes back: the node whose gradient it works at
};

// Looks at the results of every op of one thread. Observers live as long as the process, so there
// is one, which mostly looks away.
class NanFinder : public OpObserver {
 public:
  static NanFinder& get() {
    static auto* finder = new NanFinder;
    return *finder;
  }
  void record(const OpCall&) noexcept override {}
  void record_values(const Op& op, const OpCall& call, std::span<const In> inputs,
                     std::span<const Tensor> outputs) noexcept override {
    if (thread_.load(std::memory_order_relaxed) != std::this_thread::get_id() || looking_) return;
    looking_ = true;  // to read a value may be an op too
    try {
      look(op, call, inputs, outputs);
    } catch (const std::exception&) {  // a value that cannot be read is not looked at
    }
    looking_ = false;
  }

  void begin() {
    culprits.clear();
    first_nan.reset();
    spoilt_.clear();
    thread_ = std::this_thread::get_id();
  }
  void end() { thread_ = std::thread::id(); }

  std::vector<Culprit> culprits;     // finite inputs, in the order of the calls
  std::optional<Culprit> first_nan;  // NaN of infinite inputs, which may be meant to be so

 private:
  static bool is_variable(const Tensor& t) {
    const Ref<Resource>& r = t.impl()->resource;
    return r && r->resource_kind == Resource::Kind::variable;
  }

  void look(const Op& op, const OpCall& call, std::span<const In> inputs,
            std::span<const Tensor> outputs) {
    // Control flow is looked at from within; lists of tensors where their elements are made.
    if (op.forward || inputs.empty()) return;
    for (const In& t : inputs)
      if (t->dtype() == variant_dtype()) return;
    Culprit c{.op = std::string(op.name)};
    bool bad = false, nan = false;
    for (const Tensor& t : outputs) {
      c.results.push_back(t.defined() ? contents_of(t) : Contents());
      bad = bad || !c.results.back().finite();
      nan = nan || c.results.back().nans > 0;
    }
    // Variables have the value that an update left: a result, which only its first spoiler made.
    for (const In& t : inputs) {
      if (!op.updates() || !is_variable(*t)) continue;
      VariableCell& cell = variable_cell(*t);
      const Contents left = contents_of(cell.slot().value);
      if (left.finite() || !spoilt_.insert(&cell).second) continue;
      c.results.push_back(left);
      if (c.changed.empty()) c.changed = cell.name;
      bad = true;
      nan = nan || left.nans > 0;
    }
    if (!bad) return;
    bool finite = true, no_nan = true;
    for (const In& t : inputs) {
      if (op.updates() && is_variable(*t)) continue;
      c.inputs.push_back(contents_of(is_variable(*t) ? variable_cell(*t).slot().value : *t));
      finite = finite && c.inputs.back().finite();
      no_nan = no_nan && c.inputs.back().nans == 0;
    }
    if (!finite && (!nan || !no_nan || first_nan)) return;
    if (finite && culprits.size() >= kMost) return;
    c.node = call.node;
    c.scope = join_scope("");
    c.file = call_context().file;
    c.line = call_context().line;
    if (finite)
      culprits.push_back(std::move(c));
    else
      first_nan = std::move(c);
  }

  static constexpr std::size_t kMost = 4;
  std::atomic<std::thread::id> thread_;
  bool looking_ = false;
  std::set<const VariableCell*> spoilt_;
};

// Functions run node by node, and the finder watches.
class Watching {
 public:
  Watching() : before_(op_observer()), planning_(planning_enabled()) {
    NanFinder::get().begin();
    enable_planning(false);
    observe_ops(&NanFinder::get());
  }
  ~Watching() {
    observe_ops(before_);
    enable_planning(planning_);
    NanFinder::get().end();
  }
  Watching(const Watching&) = delete;

 private:
  OpObserver* before_;
  bool planning_;
};

// ---- telling of it
const Node* find_node(const Graph& g, const std::string& name) {
  if (const Node* n = g.find(name)) return n;
  for (const auto& n : g.nodes())
    for (const GraphFunction* f : called_functions(*n))
      if (const Node* found = find_node(*f->graph, name)) return found;
  return nullptr;
}

bool in_scope(const std::string& name, const char* scope) {
  return name.starts_with(std::string(scope) + "/");
}

// The nearest node of the way forward that a node of the way back reads, which is mostly the op
// that it goes back through.
std::string forward_node(const Node& back) {
  std::vector<const Node*> queue{&back};
  std::set<const Node*> seen{&back};
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Endpoint& e : queue[i]->inputs) {
      if (!seen.insert(e.node).second) continue;
      if (!in_scope(e.node->name, kGradientScope) && e.node->name.find('/') != std::string::npos)
        return e.node->name;
      queue.push_back(e.node);
    }
  return {};
}

// What the trace knows of a node.
void complete(Culprit& c, const Graph& g) {
  const Node* n = find_node(g, c.node);
  if (!n) return;
  c.file = n->file;
  c.line = n->line;
  const std::size_t slash = c.node.rfind('/');
  c.scope = slash == std::string::npos ? "" : c.node.substr(0, slash + 1);
  for (const Endpoint& e : n->inputs) {
    const DType d = info(e).dtype;
    if (d != resource_dtype() || !n->op->updates()) c.input_names.push_back(e.node->name);
  }
  if (in_scope(c.node, kGradientScope)) c.through = forward_node(*n);
}

bool of_the_library(std::string_view file) {
  return file.starts_with("rill/") && file.ends_with(".cc");
}

// The phase of a step, by the scopes of Model::train_step.
std::string where(const Culprit& c) {
  std::string scope = c.scope;
  if (!scope.empty()) scope.pop_back();
  if (in_scope(c.scope, kGradientScope))
    return c.through.empty() ? "going backward"
                             : format("going backward, at node \"{}\"", c.through);
  if (scope == kUpdateScope) return "in the update of the optimizer";
  if (scope == kLossScope) return "in the loss";
  return scope.empty() ? "outside any layer" : format("in layer \"{}\"", scope);
}

std::string headline(const Culprit& c) {
  std::string text = c.op;
  if (!c.node.empty()) text += format(" (node \"{}\")", c.node);
  text += ", " + where(c);
  if (!c.changed.empty()) text += format(", of the variable \"{}\"", c.changed);
  if (c.file && !of_the_library(c.file)) text += format(", at {}:{}", c.file, c.line);
  return text;
}

std::string report_of(const Culprit& c) {
  std::string text = "\n  " + headline(c);
  for (std::size_t i = 0; i < c.results.size(); ++i)
    text += format("\n    result {}: {}", i, contents_text(c.results[i]));
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    text += format("\n    input {}: {}", i, contents_text(c.inputs[i]));
    if (i < c.input_names.size()) text += format(", from node \"{}\"", c.input_names[i]);
  }
  return text;
}

// ---- the data
void faults_of(const Nest& n, const std::string& name, std::string& text) {
  if (n.is_tensor()) {
    const Contents c = contents_of(n.as_tensor());
    if (c.finite()) return;
    text += format("\n  {}: {}", name, contents_text(c));
    if (c.shape.rank() > 0) {
      const std::int64_t row = c.first / (c.elements / c.shape.dim(0));
      text += format(" (sample {} of the batch)", row);
    }
  } else if (n.is_dict()) {
    for (const std::string& key : n.keys())
      faults_of(n[key], format("{}[\"{}\"]", name, key), text);
  } else {
    for (std::size_t i = 0; i < n.size(); ++i) faults_of(n[i], format("{}[{}]", name, i), text);
  }
}

std::string faults_of_data(const Nest& batch) {
  const BatchParts p = parts_of(batch);
  std::string text;
  faults_of(p.x, "x", text);
  if (p.has_y) faults_of(p.y, "y", text);
  if (is_given(p.sample_weight)) faults_of(p.sample_weight, "sample_weight", text);
  return text;
}

}  // namespace

// ---- state
// Weights and slots come to be now, so that they can be kept.
void NanWatch::prepare(const Nest& batch) {
  if (!trainer_.runs_eagerly()) {
    trainer_.planned(model_, Trainer::Mode::train, batch);
    return;
  }
  if (!model_.built()) model_.predict_step(batch);
  trainer_.options.optimizer->build(model_.trainable_variables());
}

NanWatch::Kept NanWatch::keep(const Nest& batch) const {
  std::vector<Variable> all = model_.weights();
  const auto add = [&](const std::vector<Variable>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(trainer_.options.optimizer->variables());
  add(trainer_.metric_variables());
  if (!trainer_.runs_eagerly())
    add(trainer_.planned(model_, Trainer::Mode::train, batch).variables());
  Kept kept{
      .values = {}, .random = random_state(), .streams = graph_stream_counts(0, graph_streams())};
  std::set<std::uint64_t> seen;
  for (const Variable& v : all)
    if (v.initialized() && seen.insert(v.id()).second) kept.values.emplace_back(v, v.value());
  return kept;
}

void NanWatch::put_back(const Kept& kept) {
  for (const auto& [variable, value] : kept.values) variable.assign(value);
  set_random_state(kept.random);
  set_graph_stream_counts(0, kept.streams);
}

// ---- the step
std::string NanWatch::fault(const Nest& results) const {
  const auto bad = [](const Tensor& t) { return !contents_of(t).finite(); };
  if (results.is_dict()) {
    const std::vector<std::string> names = results.keys();
    const std::vector<Tensor> values = results.flatten();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == "loss" && bad(values[i]))
        return format("the loss is {}", number_text(values[i].item<double>()));
  }
  for (const Variable& v : model_.trainable_variables())
    if (v.dtype().is_floating() && !reduce_all(is_finite(v)).item<bool>())
      return format("the weight \"{}\" is not finite", v.name());
  return {};
}

std::string NanWatch::replay(const Nest& batch, const Kept& before) const {
  if (const std::string data = faults_of_data(batch); !data.empty())
    return "The batch itself has numbers that are not finite:" + data;
  put_back(before);
  static std::mutex one_replay;  // there is one finder
  const std::lock_guard lock(one_replay);
  NanFinder& finder = NanFinder::get();
  std::string ended;
  {
    const Watching watching;
    try {
      trainer_.step(model_, Trainer::Mode::train, batch);
    } catch (const errors::Error& e) {
      ended = format("\nThe replay ended with an error: {}", e.message());
    }
  }
  std::vector<Culprit> found = std::exchange(finder.culprits, {});
  const bool of_infinite = found.empty() && finder.first_nan;
  if (of_infinite) found.push_back(std::move(*finder.first_nan));
  if (found.empty())
    return "The batch was replayed op by op, and no op made such a number of finite ones: what "
           "made it is outside the ops (a host function, another thread)." +
           ended;
  if (!trainer_.runs_eagerly()) {
    const ConcreteFunction f = trainer_.planned(model_, Trainer::Mode::train, batch);
    for (Culprit& c : found) complete(c, *f.impl().body->graph);
  }
  std::string text =
      of_infinite
          ? "The batch was replayed op by op. The first op that made NaN, of infinite numbers:"
          : "The batch was replayed op by op. The first op that made such a number of "
            "finite ones:";
  text += report_of(found[0]);
  if (found.size() > 1) text += "\n  after it:";
  for (std::size_t i = 1; i < found.size(); ++i) text += "\n    " + headline(found[i]);
  return text + ended;
}

Nest NanWatch::step(const Nest& batch, int epoch, std::int64_t number) {
  prepare(batch);
  if (number == 0) {
    const std::string spoilt = fault({});
    RILL_CHECK(spoilt.empty(), invalid_argument,
               "[fit] on_nan: {} before the first batch of epoch {}; load or make weights that are",
               spoilt, epoch + 1);
  }
  const Kept before = keep(batch);
  const Nest results = trainer_.step(model_, Trainer::Mode::train, batch);
  const std::string wrong = fault(results);
  if (wrong.empty()) return results;
  const std::string report = replay(batch, before);
  put_back(before);
  model_.impl().clear_call_losses();
  RILL_FAIL(invalid_argument,
            "[fit] on_nan: {} after batch {} (counted from 0) of epoch {}. {}\nWeights, optimizer "
            "and metrics are as before the batch",
            wrong, number, epoch + 1, report);
}

}  // namespace rill::keras
