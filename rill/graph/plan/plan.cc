// Runs plans.
#include "rill/graph/plan/plan.h"

#include "rill/base/check.h"
#include "rill/base/denormals.h"
#include "rill/base/parallel.h"
#include "rill/core/buffer.h"
#include "rill/core/default_device.h"
#include "rill/core/dispatch.h"
#include "rill/core/elementwise_chain.h"
#include "rill/core/resource.h"

namespace rill {
namespace {

// Shapes were all worked out: a kernel of a plan never makes an output.
class PlanContext final : public KernelContext {
 public:
  using KernelContext::KernelContext;
  void* allocate_output(int i, const TensorShape&) override {
    fail(Code::internal, format("[{}] output {} was planned with a fixed shape", tag(), i));
    return nullptr;
  }
};

[[noreturn, gnu::noinline]] void fail_at(const Node& n, Code code, const std::string& message) {
  std::string where = format("in node \"{}\"", n.name);
  if (n.file) where += format(" ({}:{})", n.file, n.line);
  throw_error(code, message + "\n  " + where);
}

// A wrong set_shape, or wrong shapes in a file, show here: kernels were planned with them.
void check_shape(const Node& n, bool unused, const TensorShape& said, const TensorShape& is) {
  RILL_CHECK(unused || said == is, failed_precondition,
             "[{}] the result has shape {}, but the graph says {} (by set_shape, or in its file)",
             n.op->tag, is, said);
}

}  // namespace

Plan::~Plan() = default;

bool Plan::possible(std::span<const Tensor> inputs) {
  if (Device* scope = scope_device(); scope && scope->defers_kernels()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& t = *inputs[i].impl();
    if (t.device->defers_kernels()) return false;
    if (t.dtype != resource_dtype() || !t.resource ||
        t.resource->resource_kind != Resource::Kind::variable)
      continue;
    const Device* device = static_cast<VariableCell&>(*t.resource).device();
    if (device && device->defers_kernels()) return false;
  }
  return true;
}

std::size_t Plan::arena_bytes() const {
  std::size_t n = 0;
  for (const Arena& a : arenas_) n += a.bytes;
  return n;
}

bool Plan::fits(std::span<const Tensor> inputs, const Device* scope, int width) const {
  if (width != width_ || scope != scope_) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].impl()->shape == input_shapes_[i]) ||
        inputs[i].impl()->device != input_devices_[i])
      return false;
  return true;
}

Plan::Instance* Plan::take() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Instance* i = idle_.back().release();
      idle_.pop_back();
      return i;
    }
  }
  return make_instance().release();
}

std::unique_ptr<Plan::Instance> Plan::make_instance() const {
  auto made = std::make_unique<Instance>();
  made->views = views_;
  // Values without elements need no memory, but an address: kernels pass it on.
  for (const Arena& a : arenas_)
    made->arenas.push_back(Buffer::allocate(
        *a.device, uint8, static_cast<std::int64_t>(std::max<std::size_t>(a.bytes, 64))));
  for (std::size_t i = 0; i < offsets_.size(); ++i)
    if (offsets_[i] >= 0)
      made->views[i].data =
          static_cast<char*>(made->arenas[static_cast<std::size_t>(arena_of_[i])]->data()) +
          offsets_[i];
  made->slots.resize(slots_.size());
  for (const auto& [slot, t] : preset_) made->slots[static_cast<std::size_t>(slot)] = t;
  return made;
}

// A few are kept for the next calls; a crowd of callers does not hold memory for ever.
void Plan::give(Instance* i) {
  constexpr std::size_t kIdle = 4;
  std::unique_ptr<Instance> owned(i);
  std::lock_guard lock(mutex_);
  if (idle_.size() < kIdle) idle_.push_back(std::move(owned));
}

void Plan::fill_slot(Instance& i, std::int32_t slot, Tensor t) const {
  const SlotInfo& info = slots_[static_cast<std::size_t>(slot)];
  if (!info.views.empty() && t.impl()->device != info.device) [[unlikely]]
    t = copy_to_device(t, *info.device);
  for (std::int32_t v : info.views) i.views[static_cast<std::size_t>(v)].data = t.impl()->data;
  i.slots[static_cast<std::size_t>(slot)] = std::move(t);
}

inline void Plan::make_outputs(Instance& i, const Step& s, bool keep) const {
  for (const std::int32_t slot : s.out_slots)
    if (slot >= 0 && !(keep && i.slots[static_cast<std::size_t>(slot)].defined())) {
      const SlotInfo& info = slots_[static_cast<std::size_t>(slot)];
      fill_slot(i, slot, make_tensor(info.dtype, info.shape, *info.device));
    }
}

// Tiles are shared out to the threads in blocks as large as an elementwise kernel's own.
void Plan::run_group(Instance& my, const Step& s) const {
  const Group& g = groups_[static_cast<std::size_t>(s.group)];
  const std::int64_t tiles = (g.elements + g.tile - 1) / g.tile;
  constexpr std::int64_t kBlockElements = 1 << 15;
  const TensorView* base = my.views.data() + g.first_view;
  std::mutex failure;
  const Node* failed_at = nullptr;
  Code code = Code::ok;
  std::string message;
  parallel_for(tiles, std::max<std::int64_t>(1, kBlockElements / g.tile),
               [&](std::int64_t begin, std::int64_t end) {
                 static thread_local std::vector<char> memory;
                 if (memory.size() < g.scratch + 64) memory.resize(g.scratch + 64);
                 char* scratch = memory.data() +
                                 (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
                 SmallVector<TensorView, 32> views(static_cast<std::size_t>(g.num_views));
                 for (std::size_t k = 0; k < views.size(); ++k) {
                   views[k] = base[k];
                   if (g.views[k].kind == Group::ViewPlan::Kind::local)
                     views[k].data = scratch + g.views[k].offset;
                 }
                 for (std::int64_t t = begin; t < end; ++t) {
                   const std::int64_t at = t * g.tile, n = std::min(g.tile, g.elements - at);
                   const TensorShape* shape = n == g.tile ? &g.tile_shape : &g.tail_shape;
                   for (std::size_t k = 0; k < views.size(); ++k) {
                     const Group::ViewPlan& v = g.views[k];
                     if (v.kind == Group::ViewPlan::Kind::fixed) continue;
                     if (v.kind == Group::ViewPlan::Kind::whole)
                       views[k].data = static_cast<char*>(base[k].data) + at * v.itemsize;
                     views[k].shape = shape;
                     views[k].size = n;
                   }
                   for (const Group::Member& m : g.members) {
                     PlanContext c(*m.node->op, m.node->attrs.list(),
                                   std::span<const TensorView>(views.data() + m.in,
                                                               static_cast<std::size_t>(m.num_in)),
                                   std::span<TensorView>(views.data() + m.out, 1), cpu_device());
                     m.kernel(c);
                     if (c.failed()) [[unlikely]] {
                       std::lock_guard lock(failure);
                       if (!failed_at) failed_at = m.node, code = c.code(), message = c.message();
                       return;
                     }
                   }
                 }
               });
  if (failed_at) fail_at(*failed_at, code, message);
}

// A group as one kernel of its device. What is local has a place of its own size in the scratch of
// a tile: the number of that place stands for it.
void Plan::run_chain(Instance& my, const Step& s) const {
  const Group& g = groups_[static_cast<std::size_t>(s.group)];
  const TensorView* base = my.views.data() + g.first_view;
  const auto side = [&](std::int32_t k) -> ElementwiseChain::Side {
    const Group::ViewPlan& v = g.views[static_cast<std::size_t>(k)];
    const std::size_t bytes =
        (static_cast<std::size_t>(g.tile) * base[k].dtype.itemsize() + 63) / 64 * 64;
    if (v.kind == Group::ViewPlan::Kind::local)
      return {nullptr, 0, static_cast<std::int32_t>(v.offset / bytes)};
    return {base[k].data, base[k].size, 0};
  };
  SmallVector<ElementwiseChain::Member, 24> members(g.members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Group::Member& m = g.members[i];
    members[i] = {m.node->op, m.num_in, {}, side(m.out)};
    for (std::int32_t k = 0; k < m.num_in; ++k) members[i].in[k] = side(m.in + k);
  }
  PlanContext c(*s.node->op, s.node->attrs.list(), {}, {}, *s.device);
  chain_runner(*s.device)->run(c, {g.elements, {members.data(), members.size()}});
  if (c.failed()) [[unlikely]]
    fail_at(*s.node, c.code(), c.message());
}

void Plan::call_kernel(Instance& my, const Step& s, bool keep, PackedInput* packed) const {
  make_outputs(my, s, keep);
  PlanContext c(
      *s.node->op, s.attrs,
      std::span<const TensorView>(my.views.data() + s.in, static_cast<std::size_t>(s.num_in)),
      std::span<TensorView>(my.views.data() + s.out, static_cast<std::size_t>(s.num_out)),
      *s.device);
  c.set_packed_input(packed);
  s.kernel(c);
  if (c.failed()) [[unlikely]]
    fail_at(*s.node, c.code(), c.message());
}

void Plan::run_step(Instance& my, const Step& s, std::vector<In>& in, bool keep) const {
  const Node& n = *s.node;
  switch (s.how) {
    case How::kernel:
      if (s.filter >= 0) [[unlikely]]
        call_convolution(my, s, keep);
      else
        call_kernel(my, s, keep);
      break;
    case How::update: {
      VariableLocks locks;
      for (std::int32_t slot : s.in_slots)
        if (slot >= 0) locks.add(variable_cell(my.slots[static_cast<std::size_t>(slot)]));
      locks.lock();
      try {
        for (std::size_t k = 0; k < s.in_slots.size(); ++k) {
          if (s.in_slots[k] < 0) continue;
          VariableCell& cell = variable_cell(my.slots[static_cast<std::size_t>(s.in_slots[k])]);
          const Tensor& t = cell.writable();
          RILL_CHECK(t.impl()->device == s.device, failed_precondition,
                     "[{}] variable \"{}\" has moved to {} since the function was planned",
                     n.op->tag, cell.name, t.impl()->device->name());
          TensorView& v = my.views[static_cast<std::size_t>(s.in) + k];
          v = {t.impl()->data, t.impl()->dtype, &t.impl()->shape, t.impl()->num_elements};
        }
      } catch (const errors::Error& e) {
        fail_at(n, e.code(), e.message());
      }
      call_kernel(my, s, keep);
      break;
    }
    case How::read: {
      Tensor t;
      try {
        t = variable_cell(my.slots[static_cast<std::size_t>(s.in_slots[0])]).read();
      } catch (const errors::Error& e) {
        fail_at(n, e.code(), e.message());
      }
      const SlotInfo& info = slots_[static_cast<std::size_t>(s.out_slots[0])];
      RILL_CHECK(info.shape.is_compatible_with(t.shape()), failed_precondition,
                 "[{}] the variable has shape {} now; the function was planned for {}", n.name,
                 t.shape(), info.shape);
      fill_slot(my, s.out_slots[0], std::move(t));
      break;
    }
    case How::group: {
      make_outputs(my, s, keep);
      if (s.device)
        run_chain(my, s);
      else
        run_group(my, s);
      break;
    }
    case How::view: {
      const SlotInfo& info = slots_[static_cast<std::size_t>(s.out_slots[0])];
      Tensor t = make_view(my.slots[static_cast<std::size_t>(s.in_slots[0])], info.shape);
      t.impl()->dtype = info.dtype;
      fill_slot(my, s.out_slots[0], std::move(t));
      break;
    }
    case How::general: {
      in.clear();
      const ScopedDevice scope(n);
      for (std::int32_t slot : s.in_slots)
        in.emplace_back(my.slots[static_cast<std::size_t>(slot)]);
      try {
        if (n.outputs.size() == 1) {
          Tensor t = execute(*n.op, std::span<const In>(in), s.attrs);
          const SlotInfo& info = slots_[static_cast<std::size_t>(s.out_slots[0])];
          check_shape(n, info.views.empty(), info.shape, t.shape());
          fill_slot(my, s.out_slots[0], std::move(t));
        } else {
          std::vector<Tensor> out = execute_all(*n.op, std::span<const In>(in), s.attrs,
                                                static_cast<int>(n.outputs.size()));
          for (std::size_t k = 0; k < out.size(); ++k) {
            const SlotInfo& info = slots_[static_cast<std::size_t>(s.out_slots[k])];
            check_shape(n, info.views.empty(), info.shape, out[k].shape());
            fill_slot(my, s.out_slots[k], std::move(out[k]));
          }
        }
      } catch (const errors::Error& e) {
        fail_at(n, e.code(), e.message());
      }
      break;
    }
  }
  for (std::int32_t slot : s.release)
    if (!keep || !slots_[static_cast<std::size_t>(slot)].own)
      my.slots[static_cast<std::size_t>(slot)] = {};
}

std::vector<Tensor> Plan::run(std::span<const Tensor> inputs) {
  if (record_on_) {
    std::vector<Tensor> results;
    if (run_recorded(inputs, results)) return results;
  }
  struct Lease {
    Plan& plan;
    Instance* i;
    ~Lease() {
      // After an error, too, nothing is held on to.
      for (std::size_t k = 0; k < i->slots.size(); ++k) i->slots[k] = {};
      for (const auto& [slot, t] : plan.preset_) i->slots[static_cast<std::size_t>(slot)] = t;
      plan.give(i);
    }
  } lease{*this, take()};
  Instance& my = *lease.i;
  for (std::size_t i = 0; i < arg_slots_.size(); ++i) fill_slot(my, arg_slots_[i], inputs[i]);
  std::vector<In> in;
  const FlushDenormals flush;
  auto run_observed = [&](OpObserver & observer) __attribute__((noinline)) {
    for (const Step& s : steps_) {
      if (s.how == How::general) {  // reported by the eager call that it is
        const NodeOfNextCall observed(s.node->name, Ran::general, why_general(s));
        run_step(my, s, in);
        continue;
      }
      OpCall call = observed_call(s, &my);
      CallWatch watch(observer, call);
      run_step(my, s, in);
      watch.done();
    }
  };
  if (OpObserver* observer = op_observer()) [[unlikely]]
    run_observed(*observer);
  else
    for (const Step& s : steps_) run_step(my, s, in);
  std::vector<Tensor> results;
  results.reserve(results_.size());
  for (const Result& r : results_)
    results.push_back(r.slot < 0 ? r.constant : my.slots[static_cast<std::size_t>(r.slot)]);
  return results;
}

OpCall Plan::observed_call(const Step& s, const Instance* i) const {
  static constexpr Ran kRan[] = {Ran::kernel,  Ran::update, Ran::read,
                                 Ran::general, Ran::group,  Ran::view};
  OpCall call;
  call.op = s.node->op->name;
  call.flops = s.node->op->flops;
  call.node = s.node->name;
  call.how = kRan[static_cast<int>(s.how)];
  call.elementwise = s.node->op->elementwise;
  if (s.device && !s.device->is_host()) call.device = s.device;
  auto view = [&](std::int32_t k) -> ObservedValue {
    const TensorView& v = views_[static_cast<std::size_t>(k)];
    return {v.dtype, *v.shape};
  };
  auto slot = [&](std::int32_t k) -> ObservedValue {
    const SlotInfo& info = slots_[static_cast<std::size_t>(k)];
    return {info.dtype, info.shape};
  };
  switch (s.how) {
    case How::kernel:
    case How::update:
      for (std::int32_t k = 0; k < s.num_in; ++k) {
        call.inputs.push_back(view(s.in + k));
        const std::int32_t handle =
            s.how == How::update ? s.in_slots[static_cast<std::size_t>(k)] : -1;
        if (!i || handle < 0) continue;
        const VariableCell& cell = variable_cell(i->slots[static_cast<std::size_t>(handle)]);
        call.inputs.back() = {cell.dtype, cell.shape};
      }
      for (std::int32_t k = 0; k < s.num_out; ++k) call.outputs.push_back(view(s.out + k));
      // An update reads the variable and writes it.
      call.bytes = (s.how == How::update ? 2 : 1) * bytes_of(call.inputs) + bytes_of(call.outputs);
      break;
    case How::group: {
      const Group& g = groups_[static_cast<std::size_t>(s.group)];
      call.op = g.name;
      call.elementwise = true;
      // What stays inside a tile is neither read nor written.
      auto outside = [&](std::int32_t k) {
        return g.views[static_cast<std::size_t>(k)].kind != Group::ViewPlan::Kind::local;
      };
      for (const Group::Member& m : g.members) {
        for (std::int32_t k = m.in; k < m.in + m.num_in; ++k)
          if (outside(k)) call.inputs.push_back(view(g.first_view + k));
        if (outside(m.out)) call.outputs.push_back(view(g.first_view + m.out));
      }
      call.bytes = bytes_of(call.inputs) + bytes_of(call.outputs);
      break;
    }
    case How::read:
    case How::view:
    case How::general:
      for (const std::int32_t k : s.in_slots) call.inputs.push_back(slot(k));
      for (const std::int32_t k : s.out_slots) call.outputs.push_back(slot(k));
      if (s.how == How::general) call.detail = why_general(s);
      break;
  }
  return call;
}

std::string_view Plan::why_general(const Step& s) const {
  auto undefined = [&](const std::vector<std::int32_t>& slots) {
    for (const std::int32_t k : slots) {
      const SlotInfo& info = slots_[static_cast<std::size_t>(k)];
      if (kPlainTypes.contains(info.dtype) && !info.shape.is_fully_defined()) return true;
    }
    return false;
  };
  if (undefined(s.in_slots)) return "the shape of an input is not known before it runs";
  if (undefined(s.out_slots)) return "the shape of its result depends on values";
  if (s.node->op->host_inputs) return "an axis or a size is not known before it runs";
  if (s.node->op->forward) return "it has no kernel: it calls functions or works on handles";
  return "it works on strings, resources or lists";
}

std::vector<OpCall> Plan::calls() const {
  std::vector<OpCall> out;
  for (const Step& s : steps_) out.push_back(observed_call(s, nullptr));
  return out;
}

std::string Plan::explain() const {
  std::string shapes;
  for (const TensorShape& s : input_shapes_) shapes += format(" {}", s);
  std::string out = format(
      "plan for{}, width {}: {} steps ({} kernel calls, {} of general form, {} groups of {} "
      "elementwise ops), {} results in place of an input, {} views, {} nodes folded, {} filters "
      "kept packed; arena {} bytes (live at one time: {})\n",
      shapes, width_, steps_.size(), counts_.kernels, counts_.general, counts_.groups,
      counts_.grouped, counts_.in_place, counts_.views, counts_.folded, counts_.filters,
      arena_bytes(), live_bytes_);
  if (const Device* on = record_on_)
    out += format("  recorded on {} and queued in one go\n", on->name());
  for (const Step& step : steps_)
    if (step.how == How::general)
      out += format("  of general form: {} \"{}\"\n", step.node->op->name, step.node->name);
  return out;
}

std::string Plan::describe() const {
  static constexpr const char* kHow[] = {"kernel", "update", "read", "general", "group", "view"};
  std::string out;
  for (const Step& s : steps_) {
    out += format("{} {} \"{}\"", kHow[static_cast<int>(s.how)], s.node->op->name, s.node->name);
    if (s.group >= 0)
      for (const Group::Member& m : groups_[static_cast<std::size_t>(s.group)].members)
        out += " " + m.node->op->name;
    for (std::int32_t k = 0; k < s.num_out; ++k) {
      const auto v = static_cast<std::size_t>(s.out + k);
      out += format(" {} {}", views_[v].dtype, *views_[v].shape);
      if (offsets_[v] >= 0) out += format(" @{}", offsets_[v]);
    }
    out += "\n";
  }
  return out;
}

}  // namespace rill
