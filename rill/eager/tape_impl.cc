#include "rill/eager/tape_impl.h"

#include "rill/base/check.h"
#include "rill/core/grad_context.h"
#include "rill/core/tensor_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/list/tensor_list.h"
#include "rill/ops/math_ops.h"

namespace rill {
namespace {

bool differentiable(DType d) {
  return d.is_floating() || d.is_complex() || d == DType(DType::Code::resource) ||
         d == DType(DType::Code::variant);
}

}  // namespace

int SlotTable::find_or_add(std::uint64_t id) {
  if (static_cast<std::size_t>(count_) * 2 >= keys_.size()) grow();
  for (std::size_t i = hash(id);; i = (i + 1) & (keys_.size() - 1)) {
    if (keys_[i] == id) return slots_[i];
    if (keys_[i] == 0) {
      keys_[i] = id;
      return slots_[i] = count_++;
    }
  }
}

void SlotTable::grow() {
  std::vector<std::uint64_t> keys(keys_.empty() ? 64 : keys_.size() * 2);
  std::vector<std::int32_t> slots(keys.size());
  keys.swap(keys_);
  slots.swap(slots_);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (keys[k] == 0) continue;
    std::size_t i = hash(keys[k]);
    while (keys_[i] != 0) i = (i + 1) & (keys_.size() - 1);
    keys_[i] = keys[k];
    slots_[i] = slots[k];
  }
}

void SlotTable::clear() {
  if (count_ > 0) std::fill(keys_.begin(), keys_.end(), 0);
  count_ = 0;
}

inline TapeImpl::Info TapeImpl::info_of(const Tensor& t) {
  const TensorImpl& i = *t.impl();
  if (i.symbol && !i.shape.is_fully_defined()) [[unlikely]]
    return {i.dtype, i.shape, t};
  return {i.dtype, i.shape, {}};
}

void TapeImpl::watch(const Tensor& t) { table_.find_or_add(t.id()); }

bool TapeImpl::any_watched(std::span<const In> inputs, std::int32_t* slots) {
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    slots[i] = table_.find(inputs[i]->impl()->id);
    any = any || slots[i] >= 0;
  }
  return any;
}

void TapeImpl::add_outputs(TapeRecord& r, std::span<const Tensor> outputs) {
  r.num_outputs = static_cast<std::int32_t>(outputs.size());
  for (const Tensor& t : outputs) {
    const DType d = t.impl()->dtype;
    slots_.push_back(differentiable(d) ? table_.find_or_add(t.id()) : -1);
    infos_.push_back(info_of(t));
  }
  r.file = call_context().file;
  r.line = call_context().line;
  records_.push_back(r);
}

void TapeImpl::record(const Op& op, std::span<const In> inputs, AttrList attrs,
                      std::span<const Tensor> outputs) {
  SmallVector<std::int32_t, 8> in(inputs.size());
  // A trainable variable is watched when it is first read.
  if (watch_accessed_ && !inputs.empty() && inputs[0]->impl()->resource && !op.updates() &&
      op.gradient)
    access(*inputs[0]);
  if (!any_watched(inputs, in.data())) return;
  bool useful = op.gradient != nullptr;
  if (useful) {
    useful = false;
    for (const Tensor& t : outputs) useful = useful || differentiable(t.impl()->dtype);
  }
  if (!useful) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (in[i] >= 0 && !outputs.empty() && cuts_.size() < 4096)
        cuts_.push_back({outputs[0].id(), in[i], &op, call_context().file, call_context().line});
    return;
  }
  TapeRecord r;
  r.op = &op;
  r.inputs = static_cast<std::int32_t>(slots_.size());
  r.num_inputs = static_cast<std::int32_t>(inputs.size());
  r.saved = static_cast<std::int32_t>(saved_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    slots_.push_back(in[i]);
    infos_.push_back(info_of(*inputs[i]));
  }
  // A list argument (the last in its schema) is saved whole when its bit is set.
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (op.saved_inputs >> std::min(i, op.inputs.size() - 1) & 1) saved_.push_back(*inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (op.saved_outputs >> std::min(i, op.outputs.size() - 1) & 1) saved_.push_back(outputs[i]);
  if (!attrs.empty()) {
    r.attrs = static_cast<std::int32_t>(attrs_.size());
    attrs_.emplace_back(attrs);
  }
  add_outputs(r, outputs);
}

void TapeImpl::access(const Tensor& handle) {
  if (!watch_accessed_) return;
  Resource* r = handle.impl()->resource.get();
  if (r->resource_kind != Resource::Kind::variable || !static_cast<VariableCell*>(r)->trainable ||
      table_.find(handle.id()) >= 0)
    return;
  table_.find_or_add(handle.id());
  watched_handles.push_back(handle);
}

void TapeImpl::record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                             CustomGradFn fn, bool raw) {
  TapeRecord r;
  r.raw = raw;
  r.inputs = static_cast<std::int32_t>(slots_.size());
  r.num_inputs = static_cast<std::int32_t>(inputs.size());
  r.saved = static_cast<std::int32_t>(saved_.size());
  bool any = false;
  for (const Tensor& t : inputs) any = any || table_.find(t.id()) >= 0;
  if (!any) return;
  for (const Tensor& t : inputs) {
    slots_.push_back(table_.find(t.id()));
    infos_.push_back(info_of(t));
  }
  r.custom = static_cast<std::int32_t>(customs_.size());
  customs_.push_back(std::move(fn));
  add_outputs(r, outputs);
}

std::size_t TapeImpl::capacity() const { return records_.capacity(); }

void TapeImpl::clear() {
  table_.clear();
  records_.clear();
  slots_.clear();
  infos_.clear();
  saved_.clear();
  attrs_.clear();
  customs_.clear();
  cuts_.clear();
  watched_handles.clear();
}

Tensor TapeImpl::zeros_for(const Info& info) {
  RILL_INTERNAL_CHECK(info.dtype != variant_dtype());
  return info.symbolic.defined() ? zeros_like(info.symbolic) : zeros(info.shape, info.dtype);
}

// One record seen by its gradient function.
class TapeGradContext : public GradContext {
 public:
  TapeGradContext(TapeImpl& tape, const TapeRecord& r, std::vector<Gradient>& acc,
                  const std::vector<char>& useful)
      : GradContext(*r.op, r.attrs >= 0 ? tape.attrs_[static_cast<std::size_t>(r.attrs)].list()
                                        : AttrList()),
        tape_(tape),
        r_(r),
        acc_(acc),
        useful_(useful) {}

  int num_inputs() const override { return r_.num_inputs; }
  const Gradient& raw_dy(int i) override {
    const std::int32_t slot = out_slot(i);
    return slot < 0 ? none_ : acc_[static_cast<std::size_t>(slot)];
  }
  const Tensor& dy(int i) override {
    const Gradient& g = raw_dy(i);
    if (g.defined()) return g.tensor();
    if (zeros_.size() <= static_cast<std::size_t>(i))
      zeros_.resize(static_cast<std::size_t>(r_.num_outputs));
    Tensor& z = zeros_[static_cast<std::size_t>(i)];
    if (!z.defined()) z = TapeImpl::zeros_for(tape_.infos_[out_index(i)]);
    return z;
  }
  const Tensor& input(int i) override {
    const Op& op = *r_.op;
    std::size_t at = static_cast<std::size_t>(r_.saved);
    auto kept = [&](std::size_t k) {
      return op.saved_inputs >> std::min(k, op.inputs.size() - 1) & 1;
    };
    for (std::size_t k = 0; k < static_cast<std::size_t>(i); ++k) at += kept(k);
    RILL_INTERNAL_CHECK(kept(static_cast<std::size_t>(i)));
    return tape_.saved_[at];
  }
  const Tensor& output(int i) override {
    const Op& op = *r_.op;
    std::size_t at = static_cast<std::size_t>(r_.saved);
    for (std::size_t k = 0; k < static_cast<std::size_t>(r_.num_inputs); ++k)
      at += op.saved_inputs >> std::min(k, op.inputs.size() - 1) & 1;
    auto kept = [&](std::size_t k) {
      return op.saved_outputs >> std::min(k, op.outputs.size() - 1) & 1;
    };
    for (std::size_t k = 0; k < static_cast<std::size_t>(i); ++k) at += kept(k);
    RILL_INTERNAL_CHECK(kept(static_cast<std::size_t>(i)));
    return tape_.saved_[at];
  }
  const TensorShape& input_shape(int i) override { return tape_.infos_[in_index(i)].shape; }
  DType input_dtype(int i) override { return tape_.infos_[in_index(i)].dtype; }
  const TensorShape& output_shape(int i) override { return tape_.infos_[out_index(i)].shape; }
  Tensor input_shape_tensor(int i) override {
    const Tensor& t = tape_.infos_[in_index(i)].symbolic;
    return t.defined() ? shape(t) : to_tensor(input_shape(i));
  }
  bool needs(int i) const override {
    const std::int32_t slot = tape_.slots_[in_index(i)];
    return slot >= 0 && useful_[static_cast<std::size_t>(slot)];
  }
  void set(int i, Gradient g) override {
    if (needs(i) && g.defined()) tape_.accumulate(acc_, tape_.slots_[in_index(i)], std::move(g));
  }

 private:
  std::size_t in_index(int i) const { return static_cast<std::size_t>(r_.inputs + i); }
  std::size_t out_index(int i) const {
    return static_cast<std::size_t>(r_.inputs + r_.num_inputs + i);
  }
  std::int32_t out_slot(int i) const { return tape_.slots_[out_index(i)]; }

  TapeImpl& tape_;
  const TapeRecord& r_;
  std::vector<Gradient>& acc_;
  const std::vector<char>& useful_;
  std::vector<Tensor> zeros_;
  Gradient none_;
};

void TapeImpl::accumulate(std::vector<Gradient>& acc, std::int32_t slot, Gradient g) {
  Gradient& sum = acc[static_cast<std::size_t>(slot)];
  if (!sum.defined()) {
    sum = std::move(g);
  } else if (sum.is_sparse() && g.is_sparse()) {
    const IndexedSlices &a = sum.slices(), &b = g.slices();
    sum = IndexedSlices{concat({a.values, b.values}, 0), concat({a.indices, b.indices}, 0),
                        a.dense_shape};
  } else if (sum.dtype() == variant_dtype()) {
    sum = tensor_list_add(sum.tensor(), g.tensor());
  } else {
    sum = add(sum.tensor(), g.tensor());
  }
}

void TapeImpl::run_gradient(const TapeRecord& r, std::vector<Gradient>& acc,
                            const std::vector<char>& useful) {
  if (r.op) {
    TapeGradContext context(*this, r, acc, useful);
    r.op->gradient(context);
    return;
  }
  std::vector<Gradient> outputs;
  for (std::int32_t i = 0; i < r.num_outputs; ++i) {
    const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)];
    Gradient g = slot < 0 ? Gradient() : acc[static_cast<std::size_t>(slot)];
    if (!g.defined() && !r.raw) {
      g = zeros_for(infos_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)]);
    }
    outputs.push_back(g);
  }
  std::vector<Gradient> inputs = customs_[static_cast<std::size_t>(r.custom)](outputs);
  RILL_CHECK(inputs.size() == static_cast<std::size_t>(r.num_inputs), invalid_argument,
             "[custom_gradient] the gradient function returned {} gradients for {} inputs",
             inputs.size(), r.num_inputs);
  for (std::int32_t i = 0; i < r.num_inputs; ++i) {
    const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + i)];
    if (slot >= 0 && useful[static_cast<std::size_t>(slot)] &&
        inputs[static_cast<std::size_t>(i)].defined())
      accumulate(acc, slot, inputs[static_cast<std::size_t>(i)]);
  }
}

// The derivative of a target by itself. Most are scalars: those need no op.
static Tensor seed_of(const Tensor& target) {
  const bool plain = !target.is_symbolic() && target.ndim() == 0 && target.device().is_host();
  return plain ? to_tensor(1, target.dtype()) : ones_like(target);
}

std::vector<Gradient> TapeImpl::backward(const std::vector<Tensor>& targets,
                                         const std::vector<Gradient>& seeds,
                                         const std::vector<Tensor>& sources, bool keep) {
  const std::size_t n = static_cast<std::size_t>(table_.count());
  std::vector<Gradient> acc(n);
  std::vector<char> useful(n, 0);  // depends on a source
  for (const Tensor& s : sources)
    if (const int slot = table_.find(s.id()); slot >= 0) useful[static_cast<std::size_t>(slot)] = 1;
  for (const TapeRecord& r : records_) {
    bool any = false;
    for (std::int32_t i = 0; i < r.num_inputs && !any; ++i) {
      const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + i)];
      any = slot >= 0 && useful[static_cast<std::size_t>(slot)];
    }
    for (std::int32_t i = 0; any && i < r.num_outputs; ++i) {
      const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)];
      if (slot >= 0) useful[static_cast<std::size_t>(slot)] = 1;
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (const int slot = table_.find(targets[i].id());
        slot >= 0 && useful[static_cast<std::size_t>(slot)])
      accumulate(acc, slot, seeds[i].defined() ? seeds[i] : Gradient(seed_of(targets[i])));
  const CallSiteScope site;
  for (std::size_t k = records_.size(); k-- > 0;) {
    const TapeRecord& r = records_[k];
    bool any = false;
    for (std::int32_t i = 0; i < r.num_outputs && !any; ++i) {
      const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)];
      any = slot >= 0 && acc[static_cast<std::size_t>(slot)].defined();
    }
    if (any) {
      // What runs now belongs to the line of the op that it goes back through.
      CallSiteScope::put(r.file, r.line);
      try {
        run_gradient(r, acc, useful);
      } catch (errors::Error& e) {
        if (r.file)
          e.add_context(format("in the gradient of {} at {}:{}",
                               r.op ? r.op->tag : "custom_gradient", r.file, r.line));
        throw;
      }
    }
    // What this call saved, and the gradients of its outputs, are needed no more.
    if (!keep) saved_.resize(static_cast<std::size_t>(r.saved));
    for (std::int32_t i = 0; any && i < r.num_outputs; ++i) {
      const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)];
      if (slot < 0) continue;
      bool is_source = false;
      for (const Tensor& s : sources) is_source = is_source || table_.find(s.id()) == slot;
      if (!is_source) acc[static_cast<std::size_t>(slot)] = {};
    }
  }
  std::vector<Gradient> out;
  for (const Tensor& s : sources) {
    const int slot = table_.find(s.id());
    out.push_back(slot < 0 ? Gradient() : acc[static_cast<std::size_t>(slot)]);
  }
  return out;
}

std::string TapeImpl::why_none(const Tensor& target, const Tensor& source,
                               bool source_is_variable) const {
  const int from = table_.find(source.id());
  if (from < 0) {
    if (source_is_variable)
      return "the variable was not read while the tape was recording (or is not trainable)";
    return "the tensor is not watched: call tape.watch(x) before it is used";
  }
  std::vector<char> reached(static_cast<std::size_t>(table_.count()), 0);
  reached[static_cast<std::size_t>(from)] = 1;
  for (const TapeRecord& r : records_) {
    bool any = false;
    for (std::int32_t i = 0; i < r.num_inputs; ++i) {
      const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + i)];
      any = any || (slot >= 0 && reached[static_cast<std::size_t>(slot)]);
    }
    for (std::int32_t i = 0; any && i < r.num_outputs; ++i)
      if (const std::int32_t slot = slots_[static_cast<std::size_t>(r.inputs + r.num_inputs + i)];
          slot >= 0)
        reached[static_cast<std::size_t>(slot)] = 1;
  }
  const int to = table_.find(target.id());
  if (to >= 0 && reached[static_cast<std::size_t>(to)]) return "";
  for (std::size_t i = cuts_.size(); i-- > 0;) {
    const Cut& c = cuts_[i];
    if (!reached[static_cast<std::size_t>(c.input_slot)]) continue;
    std::string where = c.file ? format(" at {}:{}", c.file, c.line) : "";
    return format(
        "the path is cut at {}{}: {}", c.op->tag, where,
        c.op->gradient ? "its result is not a floating-point tensor" : "it has no gradient");
  }
  if (to < 0)
    return "the target does not depend on anything that the tape watches: it was computed outside "
           "the tape";
  return "the target does not depend on the source";
}

TapeStack& TapeStack::of_thread() {
  static thread_local TapeStack stack;
  return stack;
}

TapeStack::~TapeStack() {
  call_context().recorder = nullptr;
  for (const Ref<TapeImpl>& t : tapes_) t->active = false, t->owner = nullptr;
}

void TapeStack::push(TapeImpl* tape) {
  retain(tape);
  tapes_.emplace_back(tape);
  tape->active = true;
  tape->owner = this;
  call_context().recorder = this;
}

void TapeStack::remove(TapeImpl* tape) {
  tape->active = false;
  tape->owner = nullptr;
  std::erase_if(tapes_, [&](const Ref<TapeImpl>& t) { return t.get() == tape; });
  if (tapes_.empty()) call_context().recorder = nullptr;
}

std::vector<Ref<TapeImpl>> TapeStack::set_aside() {
  call_context().recorder = nullptr;
  return std::exchange(tapes_, {});
}
void TapeStack::bring_back(std::vector<Ref<TapeImpl>> tapes) {
  tapes_ = std::move(tapes);
  call_context().recorder = tapes_.empty() ? nullptr : this;
}

void TapeStack::record(const Op& op, std::span<const In> inputs, AttrList attrs,
                       std::span<const Tensor> outputs) {
  bool gone = false;
  for (const Ref<TapeImpl>& tape : tapes_) {
    if (tape->abandoned.load(std::memory_order_acquire))
      gone = true;
    else if (tape->paused == 0 && !tape->used)
      tape->record(op, inputs, attrs, outputs);
  }
  if (gone) [[unlikely]]
    std::erase_if(tapes_, [](const Ref<TapeImpl>& t) { return t->abandoned.load(); });
}

}  // namespace rill
