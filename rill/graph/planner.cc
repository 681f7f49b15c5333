// Makes plans: shapes, constants, places.
#include <algorithm>
#include <map>

#include "rill/base/check.h"
#include "rill/core/host_inputs.h"
#include "rill/core/recording.h"
#include "rill/graph/interpreter.h"
#include "rill/graph/plan.h"

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

// Below this a group would only add bookkeeping; above, its tiles stay in the first cache.
constexpr std::int64_t kGroupElements = 4096, kTileElements = 512;

bool plain(DType d) { return kPlainTypes.contains(d); }

bool reads_variable(const Node& n) { return n.is("ReadVariableOp"); }

}  // namespace

class Planner {
 public:
  Planner(Plan& plan, const PlanOptions& options) : p_(plan), g_(plan.graph_), o_(options) {}

  void run() {
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

 private:
  enum class Where { none, constant, arena, slot, view };
  struct Value {
    DType dtype;
    TensorShape shape;
    Tensor constant;  // its value, where that is known
    Where where = Where::none;
    Device* device = &cpu_device();  // where its elements are
    Endpoint base;                   // of a view
    std::int32_t slot = -1;
    std::ptrdiff_t offset = -1;
    int born = -1, dies = -1;  // steps
    bool result = false;
    bool local = false;        // lives inside a tile of its group
    std::size_t scratch = 0;   // its place there
    std::int32_t shares = -1;  // index into placed_
  };

  static std::size_t id(const Node& n) { return static_cast<std::size_t>(n.id); }
  Value& value(Endpoint e) { return values_[id(*e.node)][static_cast<std::size_t>(e.index)]; }
  // The value whose memory this one is.
  Endpoint root(Endpoint e) {
    while (value(e).where == Where::view) e = value(e).base;
    return e;
  }

  void begin_arguments() {
    for (std::size_t i = 0; i < g_.args.size(); ++i) {
      Value& v = value({g_.args[i], 0});
      v.dtype = g_.args[i]->outputs[0].dtype;
      v.shape = p_.input_shapes_[i];
      v.where = Where::slot;
      // In a device scope what comes from the host goes there; single numbers stay.
      v.device =
          p_.scope_ && plain(v.dtype) && v.shape.rank() > 0 ? p_.scope_ : p_.input_devices_[i];
      v.slot = new_slot(v);
      p_.arg_slots_.push_back(v.slot);
    }
  }

  std::int32_t new_slot(const Value& v) {
    p_.slots_.push_back({v.dtype, v.shape, {}, v.device});
    return static_cast<std::int32_t>(p_.slots_.size()) - 1;
  }

  // A tensor that shape functions may ask: a value, or a shape without one.
  Tensor known(const Node& n, Endpoint e) {
    Value& v = value(e);
    if (v.constant.defined()) return v.constant;
    Tensor t = make_symbolic(v.dtype, v.shape, Ref<Symbol>(new PlannedSymbol(n)));
    t.impl()->resource = e.node->handle;
    return t;
  }

  // Shapes of the outputs; their values where they follow from shapes and constants.
  void infer(const Node& n) {
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

  void set_constant(const Node& n, const Tensor& t) {
    Value& v = values_[id(n)][0];
    v.constant = t;
    v.where = Where::constant;
  }

  void fold(const Node& n, const std::vector<In>& in, bool all_known) {
    bool small = true;
    for (const Value& v : values_[id(n)])
      small = small && v.shape.is_fully_defined() && v.shape.num_elements() <= kFoldElements &&
              plain(v.dtype);
    // The shape of something is known without its elements.
    const bool of_shape = n.is("Shape") || n.is("Size") || n.is("Rank") || n.is("ShapeN");
    if (of_shape)
      for (const In& t : in) all_known = all_known || t->shape().is_fully_defined();
    if (of_shape) {
      bool defined = true;
      for (const In& t : in)
        defined = defined && (n.is("Rank") ? t->shape().has_rank() : t->shape().is_fully_defined());
      if (!defined) return;
    } else if (!all_known) {
      return;
    }
    bool dynamic = false;
    for (const Value& v : values_[id(n)]) dynamic = dynamic || !v.shape.is_fully_defined();
    if (!small && !dynamic) return;
    if (dynamic && !all_known) return;
    if (dynamic && n.op->forward) return;  // control flow of unknown length is not folded
    std::vector<Tensor> out;
    try {
      if (of_shape) {
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
  void drop_unused() {
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

  bool static_shapes(const Node& n) {
    for (const Value& v : values_[id(n)])
      if (!v.shape.is_fully_defined()) return false;
    for (Endpoint e : n.inputs)
      if (plain(value(e).dtype) && !value(e).shape.is_fully_defined()) return false;
    return true;
  }

  KernelFn kernel_of(const Node& n) {
    DType d;
    if (n.op->dispatch_input >= 0)
      d = value(n.inputs[static_cast<std::size_t>(n.op->dispatch_input)]).dtype;
    else if (n.op->dispatch_attr >= 0)
      d = n.reader().type_attr(n.op->attrs[static_cast<std::size_t>(n.op->dispatch_attr)].name);
    return n.op->kernel(device_of(n).kernels(), d);
  }

  // Where the variable behind an argument is.
  static Device* variable_device(const Node& arg) {
    if (!arg.handle || arg.handle->resource_kind != Resource::Kind::variable) return nullptr;
    auto& cell = static_cast<VariableCell&>(*arg.handle);
    std::lock_guard lock(cell.mutex);
    return cell.value.defined() ? cell.value.impl()->device : &cpu_device();
  }

  // Where a node runs, as eager execution decides: where the variable is that it updates
  // or reads, where the scope said, else where the first input is that is not on the host.
  Device& device_of(const Node& n) {
    if (n.op->updates || reads_variable(n))
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
  bool inputs_in_place(const Node& n, const Device& device) {
    const HostInputs on_host(*n.op, n.inputs.size());
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const Value& v = value(n.inputs[i]);
      if (v.constant.defined() || v.dtype == resource_dtype()) continue;
      if (device.is_host() || on_host.contains(i) ? !v.device->is_host() : v.device != &device)
        return false;
    }
    return true;
  }

  // How a node runs, and where its outputs are, before memory is given out.
  void decide(const Node& n) {
    Plan::How how = Plan::How::general;
    bool all_plain = static_shapes(n);
    Device& device = device_of(n);
    for (Value& v : values_[id(n)]) v.device = &device;
    for (const Value& v : values_[id(n)]) all_plain = all_plain && plain(v.dtype);
    if (n.op->updates) {
      bool ok = kernel_of(n) && static_shapes(n) && inputs_in_place(n, device);
      for (Endpoint e : n.inputs)
        ok = ok && (plain(value(e).dtype) || value(e).dtype == resource_dtype());
      if (ok) how = Plan::How::update;
    } else if (reads_variable(n)) {
      how = Plan::How::read;
    } else if (!n.op->forward && kernel_of(n) && all_plain) {
      bool inputs_plain = true;
      for (Endpoint e : n.inputs) inputs_plain = inputs_plain && plain(value(e).dtype);
      if (inputs_plain && inputs_in_place(n, device)) how = Plan::How::kernel;
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
  void require_tensor(Endpoint e) {
    const Endpoint r = root(e);
    Value& v = value(r);
    if (v.where == Where::arena) v.where = Where::slot;
    value(e).result = true;
  }

  // When a node runs: the members of a group with its last.
  int position(std::size_t i) const {
    const int g = group_of_[i];
    return g < 0 ? static_cast<int>(i)
                 : static_cast<int>(found_[static_cast<std::size_t>(g)].members.back());
  }

  void use_inputs(const Node& n, int step) {
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

  struct Placed {
    Endpoint e;
    std::size_t bytes;
    int born, dies;
    std::ptrdiff_t offset = -1;
  };

  int arena_index(const Placed& v) {
    Device* d = value(v.e).device;
    for (std::size_t i = 0; i < p_.arenas_.size(); ++i)
      if (p_.arenas_[i].device == d) return static_cast<int>(i);
    p_.arenas_.push_back({d, 0});
    return static_cast<int>(p_.arenas_.size()) - 1;
  }

  void place_in_arena() {
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
        const bool adds = n.is("_MatMulAdd");
        if (o_.in_place && (n.op->elementwise || adds) && how_[s] == Plan::How::kernel &&
            group_of_[s] < 0) {
          const std::vector<Endpoint> over = adds ? std::vector<Endpoint>{n.inputs[2]} : n.inputs;
          for (Endpoint e : over) {
            // The factors of the product are read while the sum is written.
            if (adds && (root(n.inputs[0]) == root(e) || root(n.inputs[1]) == root(e))) continue;
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
    // Largest first, each at the lowest place that nobody uses in its time.
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

  // ---- groups of elementwise kernels

  struct Found {
    std::vector<std::size_t> members;  // positions in order_
    std::int64_t elements = 0, period = 1;
    bool open = true;
    std::size_t scratch = 0;
  };

  // How an input of an elementwise node goes through its elements: whole (as the output
  // does), 1 (one element), or a period that repeats; 0: in another way.
  std::int64_t period_of(Endpoint e, const Value& out) {
    const Value& v = value(e);
    const std::int64_t n = v.shape.num_elements(), total = out.shape.num_elements();
    if (n == total) return total;
    if (n == 1) return 1;
    // The last axes, each in full.
    const int rank = v.shape.rank(), extra = out.shape.rank() - rank;
    int first = 0;
    while (first < rank && v.shape.dim(first) == 1) ++first;
    for (int i = first; i < rank; ++i)
      if (v.shape.dim(i) != out.shape.dim(i + extra)) return 0;
    return n;
  }

  bool fusable(std::size_t s, std::int64_t* period) {
    const Node& n = *order_[s];
    if (how_[s] != Plan::How::kernel || !n.op->elementwise || n.outputs.size() != 1 ||
        n.inputs.empty())
      return false;
    const Value& out = values_[id(n)][0];
    if (!out.device->is_host()) return false;  // tiles are for caches
    if (out.shape.num_elements() < kGroupElements || !plain(out.dtype)) return false;
    *period = 1;
    for (Endpoint e : n.inputs) {
      const std::int64_t p = period_of(e, out);
      if (p == 0) return false;
      if (p == 1 || p == out.shape.num_elements()) continue;
      if (p > kTileElements * 4 || (*period > 1 && *period != p)) return false;
      *period = p;
    }
    return true;
  }

  // A node joins the group that made one of its inputs, as long as nobody else has
  // needed a result of that group yet.
  void find_groups() {
    std::vector<int> made_by(g_.nodes().size(), -1);  // group, by node
    std::vector<char> as_tensor(g_.nodes().size(), 0);
    for (Endpoint e : g_.results) as_tensor[id(*e.node)] = 1;
    for (std::size_t s = 0; s < order_.size(); ++s)
      if (how_[s] == Plan::How::general && !is_view_[s])
        for (Endpoint e : order_[s]->inputs) as_tensor[id(*e.node)] = 1;
    for (std::size_t s = 0; s < order_.size(); ++s) {
      const Node& n = *order_[s];
      if (is_view_[s]) {
        // One that somebody takes as a tensor is made where it stands.
        const int g = as_tensor[id(n)] ? made_by[id(*root({const_cast<Node*>(&n), 0}).node)] : -1;
        if (g >= 0) found_[static_cast<std::size_t>(g)].open = false;
        continue;
      }
      std::int64_t period = 1;
      const bool can = fusable(s, &period);
      int joined = -1;
      std::vector<int> sources;
      for (Endpoint e : n.inputs) {
        if (value(e).constant.defined()) continue;
        const int g = made_by[id(*root(e).node)];
        if (g >= 0 && found_[static_cast<std::size_t>(g)].open) sources.push_back(g);
      }
      for (int g : sources) {
        Found& f = found_[static_cast<std::size_t>(g)];
        const bool fits = can && f.elements == values_[id(n)][0].shape.num_elements() &&
                          (period == 1 || f.period == 1 || f.period == period);
        if (fits && joined < 0) {
          joined = g;
          f.period = std::max(f.period, period);
        } else if (fits && joined != g) {
          // Two groups meet: they become one if their periods agree.
          Found& into = found_[static_cast<std::size_t>(joined)];
          if (into.period == 1 || f.period == 1 || into.period == f.period) {
            into.period = std::max(into.period, f.period);
            for (std::size_t m : f.members) {
              group_of_[m] = joined;
              made_by[id(*order_[m])] = joined;
            }
            into.members.insert(into.members.end(), f.members.begin(), f.members.end());
            std::sort(into.members.begin(), into.members.end());
            f.members.clear();
          }
          f.open = false;
        } else if (!fits) {
          f.open = false;  // somebody needs a result of it now
        }
      }
      if (joined < 0 && can) {
        joined = static_cast<int>(found_.size());
        found_.push_back({});
        found_.back().elements = values_[id(n)][0].shape.num_elements();
        found_.back().period = period;
      }
      if (joined >= 0) {
        // A group that was closed by this very node (as an input of another size).
        if (!found_[static_cast<std::size_t>(joined)].open) {
          joined = static_cast<int>(found_.size());
          found_.push_back({});
          found_.back().elements = values_[id(n)][0].shape.num_elements();
          found_.back().period = period;
        }
        found_[static_cast<std::size_t>(joined)].members.push_back(s);
        group_of_[s] = joined;
        made_by[id(n)] = joined;
      }
    }
    // One alone is no group.
    for (std::size_t g = 0; g < found_.size(); ++g)
      if (found_[g].members.size() < 2) {
        for (std::size_t m : found_[g].members) group_of_[m] = -1;
        found_[g].members.clear();
      }
    // What only members use never leaves the tile.
    std::vector<char> outside(g_.nodes().size(), 0);
    for (std::size_t s = 0; s < order_.size(); ++s)
      for (Endpoint e : order_[s]->inputs) {
        if (value(e).constant.defined()) continue;
        const Endpoint r = root(e);
        const int g = r.node ? group_at(r.node) : -1;
        if (g >= 0 && group_of_[s] != g && !(order_[s]->op->view && is_view_[s]))
          outside[id(*r.node)] = 1;
      }
    for (Endpoint e : g_.results)
      if (!value(e).constant.defined()) outside[id(*root(e).node)] = 1;
    for (const Found& f : found_)
      for (std::size_t m : f.members) values_[id(*order_[m])][0].local = !outside[id(*order_[m])];
  }
  int group_at(const Node* n) {
    if (place_of_.empty()) {
      place_of_.assign(g_.nodes().size(), -1);
      for (std::size_t s = 0; s < order_.size(); ++s)
        place_of_[id(*order_[s])] = static_cast<int>(s);
    }
    const int s = place_of_[id(*n)];
    return s < 0 ? -1 : group_of_[static_cast<std::size_t>(s)];
  }

  std::int64_t tile_of(const Found& f) {
    return std::max<std::int64_t>(1, kTileElements / f.period) * f.period;
  }

  // Places of the inner values of a group in the scratch of one tile: free again after
  // their last use.
  void place_in_tile(Found& f) {
    if (f.members.empty()) return;
    const std::int64_t tile = std::min(tile_of(f), f.elements);
    struct Free {
      std::size_t offset, bytes;
    };
    std::vector<Free> free;
    std::map<const Node*, std::size_t> last;  // index of the member that uses it last
    for (std::size_t k = 0; k < f.members.size(); ++k)
      for (Endpoint e : order_[f.members[k]]->inputs)
        if (!value(e).constant.defined()) last[root(e).node] = k;
    for (std::size_t k = 0; k < f.members.size(); ++k) {
      Value& v = values_[id(*order_[f.members[k]])][0];
      if (v.local) {
        const std::size_t bytes =
            (static_cast<std::size_t>(tile) * v.dtype.itemsize() + 63) / 64 * 64;
        auto fit =
            std::find_if(free.begin(), free.end(), [&](const Free& x) { return x.bytes == bytes; });
        if (fit != free.end()) {
          v.scratch = fit->offset;
          free.erase(fit);
        } else {
          v.scratch = f.scratch;
          f.scratch += bytes;
        }
      }
      // Inputs that end here make room for the next members.
      std::vector<const Node*> seen;
      for (Endpoint e : order_[f.members[k]]->inputs) {
        if (value(e).constant.defined()) continue;
        const Node* n = root(e).node;
        Value& in = value(root(e));
        if (!in.local || last[n] != k || std::find(seen.begin(), seen.end(), n) != seen.end())
          continue;
        seen.push_back(n);
        free.push_back(
            {in.scratch, (static_cast<std::size_t>(tile) * in.dtype.itemsize() + 63) / 64 * 64});
      }
    }
  }

  void emit_group(int which) {
    const Found& f = found_[static_cast<std::size_t>(which)];
    Plan::Group g;
    g.elements = f.elements;
    g.tile = std::min(tile_of(f), f.elements);
    g.scratch = f.scratch;
    const std::int64_t tail = f.elements % g.tile;
    auto shape_for = [&](std::int64_t n) {
      return f.period > 1 ? TensorShape(Dims{n / f.period, f.period}) : TensorShape(Dims{n});
    };
    g.tile_shape = shape_for(g.tile);
    g.tail_shape = shape_for(tail ? tail : g.tile);
    g.first_view = static_cast<std::int32_t>(p_.views_.size());
    Plan::Step step;
    step.how = Plan::How::group;
    step.node = order_[f.members.back()];
    auto add = [&](Endpoint e, bool whole) {
      Plan::Group::ViewPlan vp{Plan::Group::ViewPlan::Kind::fixed, 0, 0};
      const Value& v = value(e);
      const Value* base = v.constant.defined() ? nullptr : &value(root(e));
      if (base && base->local) {
        vp.kind = Plan::Group::ViewPlan::Kind::local;
        vp.offset = base->scratch;
        p_.views_.push_back({nullptr, v.dtype, keep(v.shape), v.shape.num_elements()});
        p_.offsets_.push_back(-1);
        p_.arena_of_.push_back(0);
      } else {
        add_view(e);
        if (whole) {
          vp.kind = Plan::Group::ViewPlan::Kind::whole;
          vp.itemsize = static_cast<std::int64_t>(v.dtype.itemsize());
        } else {
          // One row, or one element: a shape that broadcasts over a tile.
          const std::int64_t n = v.shape.num_elements();
          p_.views_.back().shape = keep(n == 1 ? TensorShape::scalar() : TensorShape(Dims{n}));
        }
      }
      g.views.push_back(vp);
    };
    for (std::size_t m : f.members) {
      const Node& n = *order_[m];
      Plan::Group::Member member{&n, kernel_of(n), static_cast<std::int32_t>(g.views.size()),
                                 static_cast<std::int32_t>(n.inputs.size()), 0};
      for (Endpoint e : n.inputs) add(e, value(e).shape.num_elements() == f.elements);
      member.out = static_cast<std::int32_t>(g.views.size());
      const Endpoint out{const_cast<Node*>(&n), 0};
      add(out, true);
      if (value(out).where == Where::slot && !value(out).local)
        step.out_slots.push_back(slot_of(out));
      g.members.push_back(member);
      g.name += (g.name.empty() ? "" : "+") + n.op->name;
    }
    g.num_views = static_cast<std::int32_t>(g.views.size());
    step.group = static_cast<std::int32_t>(p_.groups_.size());
    ++p_.counts_.groups;
    p_.counts_.grouped += static_cast<int>(f.members.size());
    p_.groups_.push_back(std::move(g));
    p_.steps_.push_back(std::move(step));
  }

  // ---- steps

  const TensorShape* keep(const TensorShape& s) {
    p_.shapes_.push_back(std::make_unique<TensorShape>(s));
    return p_.shapes_.back().get();
  }

  std::int32_t slot_of(Endpoint e) {
    Value& v = value(e);
    if (v.slot < 0) v.slot = new_slot(v);
    return v.slot;
  }
  // The slot of a value as a tensor of its own; a constant gets one that is always full.
  std::int32_t tensor_slot(Endpoint e) {
    Value& v = value(e);
    if (v.constant.defined() && v.slot < 0) {
      v.slot = new_slot(v);
      p_.preset_.emplace_back(v.slot, v.constant);
    }
    return slot_of(e);
  }

  // `device`: of the kernel that reads it, for constants; null: the host's.
  void add_view(Endpoint e, Device* device = nullptr) {
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

  void emit() {
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
          step.kernel = kernel_of(n);
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
        p_.steps_[static_cast<std::size_t>(last[i])].release.push_back(
            static_cast<std::int32_t>(i));
  }

  Plan& p_;
  const Graph& g_;
  const PlanOptions& o_;
  std::vector<std::vector<Value>> values_;  // by node and output
  std::vector<const Node*> order_;
  std::vector<Plan::How> how_;
  std::vector<char> is_view_;
  std::vector<int> group_of_;  // by position; -1: none
  std::vector<Found> found_;
  std::vector<int> place_of_;  // position, by node
  std::vector<Placed> placed_;
};

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
