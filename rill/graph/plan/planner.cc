// Makes plans: shapes, constants, places.
#include "rill/graph/plan/planner_impl.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/dispatch.h"
#include "rill/core/host_inputs.h"
#include "rill/core/recording.h"
#include "rill/graph/ir/interpreter.h"

namespace rill {
namespace {

// Stands for a value whose shape is known and whose elements are not.
class PlannedSymbol : public Symbol {
 public:
  explicit PlannedSymbol(const Node& n) : node_(n) {}
  std::string name() const override { return node_.name; }
  std::string describe() const override { return format("node \"{}\"", node_.name); }

 private:
  const Node& node_;
};

// Larger constants are not worked out ahead: they would only be memory.
constexpr std::int64_t kFoldElements = 1024;

bool plain(DType d) { return kPlainTypes.contains(d); }

bool reads_variable(const Node& n) { return n.op->variable == VariableUse::read; }

// An assignment whose elements are copied into the memory that the variable has.
void assign_in_place(KernelContext& c) noexcept {
  try {
    c.device().copy(c.in(0).data, c.in(1).data,
                    static_cast<std::size_t>(c.in(1).size) * c.in(1).dtype.itemsize());
  } catch (const errors::Error& e) {
    c.fail(e.code(), std::string(e.message()));
  }
}

}  // namespace

void Planner::run() {
  const std::vector<char> needed = needed_nodes(g_, g_.results, true);
  values_.resize(g_.nodes().size());
  for (const auto& n : g_.nodes()) values_[id(*n)].resize(n->outputs.size());
  begin_arguments();
  for (const auto& n : g_.nodes())
    if (needed[id(*n)] && !is_argument(*n)) infer(*n);
  drop_unused();
  for (const Node* n : order_) decide(*n);
  group_of_.assign(order_.size(), -1);
  if (o_.fuse_elementwise) find_groups();
  for (std::size_t i = 0; i < order_.size(); ++i) use_inputs(*order_[i], position(i));
  for (Endpoint e : g_.results) require_tensor(e);
  place_in_arena();
  emit();
}

// The value whose memory this one is.
Endpoint Planner::root(Endpoint e) {
  while (value(e).where == Where::view) e = value(e).base;
  return e;
}

void Planner::begin_arguments() {
  for (std::size_t i = 0; i < g_.args.size(); ++i) {
    Value& v = value({g_.args[i], 0});
    v.dtype = g_.args[i]->outputs[0].dtype;
    v.shape = p_.input_shapes_[i];
    v.where = Where::slot;
    // In a device scope what comes from the host goes there; single numbers stay.
    v.device = p_.scope_ && plain(v.dtype) && v.shape.rank() > 0 ? p_.scope_ : p_.input_devices_[i];
    v.slot = new_slot(v);
    p_.arg_slots_.push_back(v.slot);
  }
}

std::int32_t Planner::new_slot(const Value& v) {
  p_.slots_.push_back({v.dtype, v.shape, {}, v.device});
  return static_cast<std::int32_t>(p_.slots_.size()) - 1;
}

// A tensor that shape functions may ask: a value, or a shape without one.
Tensor Planner::known(const Node& n, Endpoint e) {
  Value& v = value(e);
  if (v.constant.defined()) return v.constant;
  Tensor t = make_symbolic(v.dtype, v.shape, Ref<Symbol>(new PlannedSymbol(n)));
  t.impl()->resource = e.node->handle;
  return t;
}

// Shapes of the outputs; their values where they follow from shapes and constants.
void Planner::infer(const Node& n) {
  std::vector<Tensor> inputs;
  bool all_known = true;
  for (Endpoint e : n.inputs) {
    inputs.push_back(known(*e.node, e));
    all_known = all_known && value(e).constant.defined();
  }
  const std::vector<In> in(inputs.begin(), inputs.end());
  std::vector<TensorShape> shapes(n.outputs.size());
  ShapeContext context(*n.op, in, n.attrs.list(), shapes);
  try {
    n.op->shape(context);
  } catch (errors::Error& e) {
    e.add_context(
        format("in node \"{}\"{}", n.name, n.file ? format(" ({}:{})", n.file, n.line) : ""));
    throw;
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Value& v = values_[id(n)][i];
    v.dtype = n.outputs[i].dtype;
    // What the user said of a shape (set_shape) holds where nothing else is known.
    v.shape = shapes[i].is_compatible_with(n.outputs[i].shape)
                  ? merge_shapes(shapes[i], n.outputs[i].shape)
                  : shapes[i];
  }
  if (const Tensor* c = n.constant()) {
    set_constant(n, *c);
  } else if (o_.fold && !n.op->stateful && n.outputs.size() > 0) {
    fold(n, in, all_known);
  }
  order_.push_back(&n);
}

void Planner::set_constant(const Node& n, const Tensor& t) {
  Value& v = values_[id(n)][0];
  v.constant = t;
  v.where = Where::constant;
}

void Planner::fold(const Node& n, const std::vector<In>& in, bool all_known) {
  bool small = true;
  for (const Value& v : values_[id(n)])
    small = small && v.shape.is_fully_defined() && v.shape.num_elements() <= kFoldElements &&
            plain(v.dtype);
  // The shape of something is known without its elements.
  if (n.op->of_shapes)
    all_known = std::ranges::all_of(in, [](const In& t) { return t->shape().is_fully_defined(); });
  if (!all_known) return;
  bool dynamic = false;
  for (const Value& v : values_[id(n)]) dynamic = dynamic || !v.shape.is_fully_defined();
  if (!small && !dynamic) return;
  if (dynamic && n.op->forward) return;  // control flow of unknown length is not folded
  std::vector<Tensor> out;
  try {
    if (n.op->of_shapes) {
      // By the op itself, on a tensor that has the shape and no elements.
      out.resize(n.outputs.size());
      std::vector<TensorShape> shapes;
      for (const Value& v : values_[id(n)]) shapes.push_back(v.shape);
      n.op->forward(n.reader(), in, shapes, out);
    } else {
      out = execute_all(*n.op, in, n.attrs.list(), static_cast<int>(n.outputs.size()));
    }
  } catch (const errors::Error&) {
    return;  // it will be said when the graph runs
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!plain(out[i].dtype()) || out[i].size() > kFoldElements) return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    Value& v = values_[id(n)][i];
    v.constant = out[i];
    v.shape = out[i].shape();
    v.where = Where::constant;
  }
  ++p_.counts_.folded;
}

// Nodes that only fed what was folded are not run.
void Planner::drop_unused() {
  std::vector<char> used(g_.nodes().size(), 0);
  for (Endpoint e : g_.results)
    if (!value(e).constant.defined()) used[id(*e.node)] = 1;
  std::vector<const Node*> kept;
  for (std::size_t k = order_.size(); k-- > 0;) {
    const Node& n = *order_[k];
    bool constant = !n.outputs.empty();
    for (const Value& v : values_[id(n)]) constant = constant && v.constant.defined();
    const bool effect = n.op->stateful && !n.lifted && !reads_variable(n);
    if (constant || (!used[id(n)] && !effect)) continue;
    for (Endpoint e : n.inputs)
      if (!value(e).constant.defined()) used[id(*e.node)] = 1;
    kept.push_back(&n);
  }
  std::reverse(kept.begin(), kept.end());
  order_ = std::move(kept);
}

bool Planner::static_shapes(const Node& n) {
  for (const Value& v : values_[id(n)])
    if (!v.shape.is_fully_defined()) return false;
  for (Endpoint e : n.inputs)
    if (plain(value(e).dtype) && !value(e).shape.is_fully_defined()) return false;
  return true;
}

KernelFn Planner::kernel_of(const Node& n) {
  const DType d = dispatch_dtype(*n.op, n.attrs.list(),
                                 [&](std::size_t i) { return value(n.inputs[i]).dtype; });
  return n.op->kernel(device_of(n).kernels(), d);
}

// Where the variable behind an argument is.
Device* Planner::variable_device(const Node& arg) {
  if (!arg.handle || arg.handle->resource_kind != Resource::Kind::variable) return nullptr;
  Device* device = static_cast<VariableCell&>(*arg.handle).device();
  return device ? device : &cpu_device();
}

// Where a node runs, as eager execution decides: where the variable is that it updates
// or reads, where the scope said, else where the first input is that is not on the host.
Device& Planner::device_of(const Node& n) {
  if (n.op->updates() || reads_variable(n))
    for (Endpoint e : n.inputs)
      if (value(e).dtype == resource_dtype())
        if (Device* d = variable_device(*e.node)) return *d;
  if (!n.device.empty()) return find_device(n.device);
  const HostInputs on_host(*n.op, n.inputs.size());
  bool from_host = false;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const Value& v = value(n.inputs[i]);
    if (v.constant.defined() || on_host.contains(i)) continue;
    if (!v.device->is_host()) return *v.device;
    from_host = true;
  }
  // What is made from numbers of the host alone (the step of an optimizer) stays there.
  return p_.scope_ && !from_host ? *p_.scope_ : cpu_device();
}

// Whether every input is where a kernel of that device reads it. Constants are put there.
bool Planner::inputs_in_place(const Node& n, const Device& device) {
  const HostInputs on_host(*n.op, n.inputs.size());
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const Value& v = value(n.inputs[i]);
    if (v.constant.defined() || v.dtype == resource_dtype()) continue;
    if (device.is_host() || on_host.contains(i) ? !v.device->is_host() : v.device != &device)
      return false;
  }
  return true;
}

// Axes, sizes and so on are checked by the shape function. One that only the run knows has
// not been checked, though the shape of the result may not depend on it.
bool Planner::host_values_known(const Node& n) {
  const HostInputs on_host(*n.op, n.inputs.size());
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    if (on_host.contains(i) && !value(n.inputs[i]).constant.defined()) return false;
  return true;
}

// Whether a node gives a variable of a device other than the host a value of the shape that
// it has, there. Such a plan can be recorded; on the host the value's memory changes hands.
bool Planner::assigns_in_place(const Node& n, const Device& device) {
  if (n.op->variable != VariableUse::assign || device.is_host()) return false;
  const Node& arg = *n.inputs[0].node;
  if (variable_device(arg) != &device || !inputs_in_place(n, device)) return false;
  auto& cell = static_cast<VariableCell&>(*arg.handle);
  const Value& v = value(n.inputs[1]);
  return cell.device() && cell.shape.is_fully_defined() && cell.shape == v.shape &&
         cell.dtype == v.dtype && plain(v.dtype);
}

// How a node runs, and where its outputs are, before memory is given out.
void Planner::decide(const Node& n) {
  Plan::How how = Plan::How::general;
  bool all_plain = static_shapes(n);
  Device& device = device_of(n);
  for (Value& v : values_[id(n)]) v.device = &device;
  for (const Value& v : values_[id(n)]) all_plain = all_plain && plain(v.dtype);
  if (n.op->updates()) {
    bool ok = kernel_of(n) && static_shapes(n) && inputs_in_place(n, device);
    for (Endpoint e : n.inputs)
      ok = ok && (plain(value(e).dtype) || value(e).dtype == resource_dtype());
    if (ok) how = Plan::How::update;
  } else if (assigns_in_place(n, device)) {
    how = Plan::How::update;
  } else if (reads_variable(n)) {
    how = Plan::How::read;
  } else if (!n.op->forward && kernel_of(n) && all_plain) {
    bool inputs_plain = true;
    for (Endpoint e : n.inputs) inputs_plain = inputs_plain && plain(value(e).dtype);
    if (inputs_plain && host_values_known(n) && inputs_in_place(n, device)) how = Plan::How::kernel;
  }
  const bool view = n.op->view && all_plain && plain(value(n.inputs[0]).dtype) &&
                    value(n.inputs[0]).shape.is_fully_defined();
  if (view) {
    Value& v = values_[id(n)][0];
    v.where = Where::view;
    v.base = n.inputs[0];
    v.device = value(n.inputs[0]).device;
    how_.push_back(Plan::How::general);
    is_view_.push_back(1);
    return;
  }
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    Value& v = values_[id(n)][i];
    if (how == Plan::How::kernel || how == Plan::How::update)
      v.where = Where::arena;
    else
      v.where = Where::slot;
  }
  how_.push_back(how);
  is_view_.push_back(0);
}

// A value that must be a tensor: results, and what ops of general form take.
void Planner::require_tensor(Endpoint e) {
  const Endpoint r = root(e);
  Value& v = value(r);
  if (v.where == Where::arena) v.where = Where::slot;
  value(e).result = true;
}

// When a node runs: the members of a group with its last.
int Planner::position(std::size_t i) const {
  const int g = group_of_[i];
  return g < 0 ? static_cast<int>(i)
               : static_cast<int>(found_[static_cast<std::size_t>(g)].members.back());
}

void Planner::use_inputs(const Node& n, int step) {
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    Value& v = values_[id(n)][i];
    if (v.where == Where::view) continue;
    v.born = step;
    v.dies = std::max(v.dies, step);
  }
  // The memory lives as long as a view of it does, by the uses of the view.
  if (n.op->view && values_[id(n)][0].where == Where::view) return;
  const Plan::How how = how_[static_cast<std::size_t>(step)];
  for (Endpoint e : n.inputs) {
    if (value(e).constant.defined()) continue;
    if (how == Plan::How::general) require_tensor(e);
    Value& v = value(root(e));
    v.dies = std::max(v.dies, step);
  }
}

int Planner::arena_index(const Placed& v) {
  Device* d = value(v.e).device;
  for (std::size_t i = 0; i < p_.arenas_.size(); ++i)
    if (p_.arenas_[i].device == d) return static_cast<int>(i);
  p_.arenas_.push_back({d, 0});
  return static_cast<int>(p_.arenas_.size()) - 1;
}

void Planner::place_in_arena() {
  for (Endpoint e : g_.results)
    if (!value(e).constant.defined()) value(root(e)).dies = static_cast<int>(order_.size());
  for (std::size_t s = 0; s < order_.size(); ++s) {
    const Node& n = *order_[s];
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      Value& v = values_[id(n)][i];
      if (v.where != Where::arena || v.local) continue;
      const std::size_t bytes =
          static_cast<std::size_t>(v.shape.num_elements()) * v.dtype.itemsize();
      // Elementwise kernels may write over any input, a product that adds over its sum.
      const bool adds = n.op->adds_to >= 0;
      if (o_.in_place && (n.op->elementwise || adds) && how_[s] == Plan::How::kernel &&
          group_of_[s] < 0) {
        const auto sum = static_cast<std::size_t>(std::max(0, n.op->adds_to));
        const std::vector<Endpoint> over = adds ? std::vector<Endpoint>{n.inputs[sum]} : n.inputs;
        for (Endpoint e : over) {
          // The factors of the product are read while the sum is written.
          bool read_meanwhile = false;
          for (std::size_t k = 0; adds && k < n.inputs.size(); ++k)
            read_meanwhile = read_meanwhile || (k != sum && root(n.inputs[k]) == root(e));
          if (read_meanwhile) continue;
          const Endpoint r = root(e);
          Value& in = value(r);
          if (value(e).constant.defined() || in.where != Where::arena ||
              in.dies != static_cast<int>(s))
            continue;
          const std::size_t have =
              static_cast<std::size_t>(in.shape.num_elements()) * in.dtype.itemsize();
          if (in.dtype != v.dtype || in.device != v.device || have != bytes ||
              value(e).shape.num_elements() != v.shape.num_elements())
            continue;
          // The place lives on.
          v.shares = in.shares;
          placed_[static_cast<std::size_t>(in.shares)].dies =
              std::max(placed_[static_cast<std::size_t>(in.shares)].dies, v.dies);
          ++p_.counts_.in_place;
          break;
        }
      }
      if (v.shares < 0) {
        v.shares = static_cast<std::int32_t>(placed_.size());
        placed_.push_back(
            {{const_cast<Node*>(&n), static_cast<int>(i)}, bytes, v.born, v.dies, -1});
      }
    }
  }
  for (Found& f : found_) place_in_tile(f);
  // Largest first, each at the lowest place that nothing uses in its time.
  std::vector<std::size_t> by_size(placed_.size());
  for (std::size_t i = 0; i < by_size.size(); ++i) by_size[i] = i;
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return placed_[a].bytes > placed_[b].bytes;
  });
  std::vector<std::size_t> done;
  p_.arenas_.push_back({&cpu_device(), 0});
  for (std::size_t k : by_size) {
    Placed& v = placed_[k];
    const std::size_t size = (v.bytes + 63) / 64 * 64;
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (std::size_t d : done) {
      const Placed& o = placed_[d];
      if (arena_index(o) == arena_index(v) && o.born <= v.dies && v.born <= o.dies)
        taken.emplace_back(static_cast<std::size_t>(o.offset),
                           static_cast<std::size_t>(o.offset) + (o.bytes + 63) / 64 * 64);
    }
    std::sort(taken.begin(), taken.end());
    std::size_t at = 0;
    for (const auto& [from, to] : taken) {
      if (at + size <= from) break;
      at = std::max(at, to);
    }
    v.offset = static_cast<std::ptrdiff_t>(at);
    std::size_t& bytes = p_.arenas_[static_cast<std::size_t>(arena_index(v))].bytes;
    bytes = std::max(bytes, at + size);
    done.push_back(k);
  }
  for (int s = 0; s < static_cast<int>(order_.size()); ++s) {
    std::size_t live = 0;
    for (const Placed& v : placed_)
      if (v.born <= s && s <= v.dies) live += v.bytes;
    p_.live_bytes_ = std::max(p_.live_bytes_, live);
  }
}

const TensorShape* Planner::keep(const TensorShape& s) {
  p_.shapes_.push_back(std::make_unique<TensorShape>(s));
  return p_.shapes_.back().get();
}

std::int32_t Planner::slot_of(Endpoint e) {
  Value& v = value(e);
  if (v.slot < 0) v.slot = new_slot(v);
  return v.slot;
}

// The slot of a value as its own tensor; a constant gets one that is always full.
std::int32_t Planner::tensor_slot(Endpoint e) {
  Value& v = value(e);
  if (v.constant.defined() && v.slot < 0) {
    v.slot = new_slot(v);
    p_.preset_.emplace_back(v.slot, v.constant);
  }
  return slot_of(e);
}

// `device`: of the kernel that reads it, for constants; null: the host's.
void Planner::add_view(Endpoint e, Device* device) {
  const Value& v = value(e);
  int arena = 0;
  TensorView view{nullptr, v.dtype, nullptr, v.shape.num_elements()};
  view.shape = keep(v.shape);
  std::ptrdiff_t offset = -1;
  const auto index = static_cast<std::int32_t>(p_.views_.size());
  const Endpoint r = root(e);
  const Value& base = value(r);
  if (base.constant.defined()) {
    p_.constants_.push_back(device && !device->is_host() ? copy_to_device(base.constant, *device)
                                                         : to_host(base.constant));
    view.data = p_.constants_.back().impl()->data;
  } else {
    if (base.where == Where::arena)
      offset = placed_[static_cast<std::size_t>(base.shares)].offset,
      arena = arena_index(placed_[static_cast<std::size_t>(base.shares)]);
    else
      p_.slots_[static_cast<std::size_t>(slot_of(r))].views.push_back(index);
  }
  p_.views_.push_back(view);
  p_.offsets_.push_back(offset);
  p_.arena_of_.push_back(arena);
}

void Planner::emit() {
  std::vector<std::vector<std::int32_t>> release(order_.size() + 1);
  for (std::size_t s = 0; s < order_.size(); ++s) {
    const Node& n = *order_[s];
    if (is_view_[s]) {
      Value& v = values_[id(n)][0];
      ++p_.counts_.views;
      if (!v.result) continue;  // only its memory is used
      // Somebody takes it as a tensor: it is made as one.
      Plan::Step step;
      step.how = Plan::How::view;
      step.node = &n;
      const Endpoint self{const_cast<Node*>(&n), 0};
      step.in_slots = {tensor_slot(root(self))};
      step.out_slots = {slot_of(self)};
      p_.steps_.push_back(std::move(step));
      continue;
    }
    if (group_of_[s] >= 0) {
      if (position(s) == static_cast<int>(s)) emit_group(group_of_[s]);
      continue;
    }
    Plan::Step step;
    step.how = how_[s];
    step.node = &n;
    step.device = &device_of(n);
    const HostInputs on_host(*n.op, n.inputs.size());
    step.attrs = n.attrs.list();
    step.in = static_cast<std::int32_t>(p_.views_.size());
    switch (step.how) {
      case Plan::How::kernel:
      case Plan::How::update:
        step.kernel = n.op->variable == VariableUse::assign ? assign_in_place : kernel_of(n);
        for (std::size_t i = 0; i < n.inputs.size(); ++i) {
          const Endpoint e = n.inputs[i];
          add_view(e, on_host.contains(i) ? nullptr : step.device);
          if (step.how == Plan::How::update)
            step.in_slots.push_back(value(e).dtype == resource_dtype() ? tensor_slot(e) : -1);
        }
        step.num_in = static_cast<std::int32_t>(n.inputs.size());
        step.out = static_cast<std::int32_t>(p_.views_.size());
        for (std::size_t i = 0; i < n.outputs.size(); ++i) {
          const Endpoint e{const_cast<Node*>(&n), static_cast<int>(i)};
          add_view(e);
          step.out_slots.push_back(value(e).where == Where::slot ? slot_of(e) : -1);
        }
        step.num_out = static_cast<std::int32_t>(n.outputs.size());
        ++p_.counts_.kernels;
        break;
      case Plan::How::group:
      case Plan::How::view:
        break;
      case Plan::How::read:
      case Plan::How::general:
        for (Endpoint e : n.inputs) step.in_slots.push_back(tensor_slot(e));
        for (std::size_t i = 0; i < n.outputs.size(); ++i) {
          step.out_slots.push_back(slot_of({const_cast<Node*>(&n), static_cast<int>(i)}));
        }
        ++p_.counts_.general;
        break;
    }
    p_.steps_.push_back(std::move(step));
  }
  // Slots are let go after the last step that uses their memory.
  std::vector<int> last(p_.slots_.size(), -1);
  for (std::size_t k = 0; k < p_.steps_.size(); ++k) {
    const Plan::Step& step = p_.steps_[k];
    for (std::int32_t i : step.in_slots)
      if (i >= 0) last[static_cast<std::size_t>(i)] = static_cast<int>(k);
    for (std::int32_t i : step.out_slots)
      if (i >= 0)
        last[static_cast<std::size_t>(i)] =
            std::max(last[static_cast<std::size_t>(i)], static_cast<int>(k));
  }
  for (std::size_t i = 0; i < p_.slots_.size(); ++i)
    for (std::int32_t view : p_.slots_[i].views)
      for (std::size_t k = 0; k < p_.steps_.size(); ++k) {
        const Plan::Step& step = p_.steps_[k];
        const bool group = step.how == Plan::How::group &&
                           view >= p_.groups_[static_cast<std::size_t>(step.group)].first_view &&
                           view < p_.groups_[static_cast<std::size_t>(step.group)].first_view +
                                      p_.groups_[static_cast<std::size_t>(step.group)].num_views;
        if (group || (view >= step.in && view < step.in + step.num_in) ||
            (view >= step.out && view < step.out + step.num_out))
          last[i] = std::max(last[i], static_cast<int>(k));
      }
  for (Endpoint e : g_.results) {
    Plan::Result r{-1, {}};
    if (value(e).constant.defined()) {
      r.constant = value(e).constant;
    } else {
      r.slot = slot_of(e);
      last[static_cast<std::size_t>(r.slot)] = -1;
    }
    p_.results_.push_back(std::move(r));
  }
  for (const auto& [slot, t] : p_.preset_) last[static_cast<std::size_t>(slot)] = -1;
  for (std::size_t i = 0; i < last.size(); ++i)
    if (last[i] >= 0)
      p_.steps_[static_cast<std::size_t>(last[i])].release.push_back(static_cast<std::int32_t>(i));
}

Plan::Plan(const Graph& graph, std::span<const TensorShape> input_shapes,
           std::span<Device* const> input_devices, Device* scope, int width,
           const PlanOptions& options)
    : graph_(graph),
      input_shapes_(input_shapes.begin(), input_shapes.end()),
      input_devices_(input_devices.begin(), input_devices.end()),
      scope_(scope),
      width_(width) {
  Planner(*this, options).run();
  for (const Step& s : steps_)
    if (s.how == How::kernel || s.how == How::update || s.how == How::group)
      for (const std::int32_t slot : s.out_slots)
        if (slot >= 0) slots_[static_cast<std::size_t>(slot)].own = true;
  for (const std::int32_t slot : arg_slots_) {
    SlotInfo& info = slots_[static_cast<std::size_t>(slot)];
    info.own = info.own || info.dtype == resource_dtype();
  }
  if (options.keep_filters) find_filters();
  for (const Step& s : steps_)
    if (s.device && !s.device->is_host() && can_record(*s.device)) record_on_ = s.device;
  if (record_on_ && !recordable()) record_on_ = nullptr;
}

}  // namespace rill
