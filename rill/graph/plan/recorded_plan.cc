// Runs of a plan on a device that can record: after a few calls its kernels are recorded
// and from then on queued in one go. What runs on the host runs first, so nothing on the
// host may wait for the device.
#include <algorithm>

#include "rill/core/dispatch.h"
#include "rill/core/host_inputs.h"
#include "rill/core/recording.h"
#include "rill/core/resource.h"
#include "rill/graph/plan/plan.h"

namespace rill {

namespace {

// Before it is worth recording, and how often it is tried again when variables move.
constexpr int kCallsBefore = 2, kRecordings = 8;

}  // namespace

bool Plan::recordable() const {
  std::vector<char> read_slot(slots_.size(), 0);
  // Per slot: the slot of the variable whose value it holds now; -1: none.
  std::vector<std::int32_t> value_of(slots_.size(), -1);
  for (const Step& s : steps_) {
    const bool here = s.device == record_on_;
    switch (s.how) {
      case How::general:
        return false;
      case How::group:
        break;
      case How::view:
        value_of[static_cast<std::size_t>(s.out_slots[0])] =
            value_of[static_cast<std::size_t>(s.in_slots[0])];
        break;
      case How::read:
        value_of[static_cast<std::size_t>(s.out_slots[0])] = s.in_slots[0];
        if (here) read_slot[static_cast<std::size_t>(s.out_slots[0])] = 1;
        break;
      case How::kernel:
        // Random numbers and so on differ from run to run in ways that only the
        // host knows.
        if (here && s.node->op->stateful) return false;
        [[fallthrough]];
      case How::update: {
        if (!here) break;
        // The old value is needed still: the variable moves at each run.
        for (const std::int32_t slot : s.in_slots)
          if (s.how == How::update && slot >= 0 &&
              std::find(value_of.begin(), value_of.end(), slot) != value_of.end())
            return false;
        const HostInputs on_host(*s.node->op, s.node->inputs.size());
        for (std::size_t i = 0; i < s.node->inputs.size(); ++i) {
          const auto view = static_cast<std::size_t>(s.in) + i;
          bool changes = offsets_[view] >= 0;
          for (const SlotInfo& slot : slots_)
            for (std::int32_t v : slot.views)
              changes = changes || static_cast<std::size_t>(v) == view;
          if (s.how == How::kernel && on_host.contains(i) && changes) return false;
        }
        break;
      }
    }
    for (const std::int32_t slot : s.release) value_of[static_cast<std::size_t>(slot)] = -1;
    if (s.device && !s.device->is_host() && !here) return false;
  }
  for (const Result& r : results_)
    if (r.slot >= 0 && read_slot[static_cast<std::size_t>(r.slot)]) return false;
  return true;
}

// All memory of a recorded run, or an error and nothing.
std::unique_ptr<Plan::Recorded> Plan::make_recorded(std::span<const Tensor> inputs,
                                                    Device& device) const {
  auto made = std::make_unique<Recorded>();
  made->instance = make_instance();
  made->inputs.resize(inputs.size());
  made->held_inputs.resize(inputs.size(), 0);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (slots_[static_cast<std::size_t>(arg_slots_[i])].device == &device &&
        inputs[i].impl()->buffer)
      made->inputs[i] = make_tensor(inputs[i].dtype(), inputs[i].shape(), device);
  return made;
}

bool Plan::run_recorded(std::span<const Tensor> inputs, std::vector<Tensor>& results) {
  std::unique_lock lock(record_mutex_, std::try_to_lock);
  Device* const device = record_on_;  // another thread may have given up
  if (!lock || !device || ++calls_ <= kCallsBefore) return false;
  const bool first = !recorded_;
  if (first) {
    if (recordings_ >= kRecordings) return false;
    {
      // It has an arena of its own: those of earlier runs would lie there unused.
      std::lock_guard guard(mutex_);
      idle_.clear();
    }
    try {
      recorded_ = make_recorded(inputs, *device);
    } catch (const errors::ResourceExhausted&) {
      return false;  // a run that keeps nothing may have room
    }
  }
  // A variable that lives elsewhere now, or whose value somebody holds, is not updated in
  // place: the steps run one by one then, and are recorded again.
  for (const Recorded::Bound& b : recorded_->variables) {
    VariableSlot& slot = b.cell->slot();
    std::lock_guard guard(slot.mutex);
    if (!slot.value.defined() || slot.value.impl()->data != b.data ||
        (b.updated && !slot.value.impl()->buffer->unique())) {
      recorded_.reset();
      return false;
    }
  }
  try {
    run_held(*recorded_, inputs, *device, first);
    results = results_of(*recorded_, *device);
  } catch (...) {
    // Half a run is in its slots, and values that it read are held there: the next starts anew.
    recorded_.reset();
    throw;
  }
  return true;
}

void Plan::run_held(Recorded& r, std::span<const Tensor> inputs, Device& device, bool first) {
  Instance& my = *r.instance;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!r.inputs[i].defined()) {
      fill_slot(my, arg_slots_[i], inputs[i]);
      continue;
    }
    const std::size_t bytes =
        static_cast<std::size_t>(inputs[i].size()) * inputs[i].dtype().itemsize();
    if (r.held_inputs[i] == inputs[i].id())
      ;  // a tensor never changes
    else if (inputs[i].impl()->device->is_host())
      device.copy_from_host(r.inputs[i].impl()->data, inputs[i].impl()->data, bytes);
    else
      device.copy(r.inputs[i].impl()->data, inputs[i].impl()->data, bytes);
    r.held_inputs[i] = inputs[i].id();
    fill_slot(my, arg_slots_[i], r.inputs[i]);
  }
  auto here = [&](const Step& s) { return s.device == &device || s.how == How::view; };
  std::vector<In> in;
  if (first) {
    // One by one, so that all memory is there; what it made is kept.
    for (const Step& s : steps_) run_step(my, s, in, here(s));
    return;
  }
  for (const Step& s : steps_)
    if (!here(s)) run_step(my, s, in);
  if (!r.recording) record_steps(r, device, in);
  if (r.recording)
    r.recording->replay([&] {  // an assignment has no numbers that differ
      for (const Step& s : steps_)
        if (s.device == &device && s.how == How::update &&
            s.node->op->variable != VariableUse::assign)
          run_step(my, s, in, true);
    });
  else
    for (const Step& s : steps_)
      if (here(s)) run_step(my, s, in, true);
}

// Without room for it, it is tried again; what cannot be recorded never will be.
void Plan::record_steps(Recorded& r, Device& device, std::vector<In>& in) {
  Instance& my = *r.instance;
  ++recordings_;
  // A variable whose value somebody holds moves before the recording, not by it.
  for (const Step& s : steps_) {
    if (s.device != &device || s.how != How::update) continue;
    for (const std::int32_t slot : s.in_slots) {
      if (slot < 0) continue;
      VariableCell& cell = variable_cell(my.slots[static_cast<std::size_t>(slot)]);
      VariableLocks locks;
      locks.add(cell);
      locks.lock();
      cell.writable();
    }
  }
  try {
    r.recording = record(device, [&] {
      for (const Step& s : steps_)
        if (s.device == &device || s.how == How::view) run_step(my, s, in, true);
    });
    if (!r.recording) record_on_ = nullptr;
  } catch (const errors::ResourceExhausted&) {
    if (recordings_ >= kRecordings) record_on_ = nullptr;
  }
  if (!r.recording) return;
  for (const Step& s : steps_) {
    if (s.device != &device || (s.how != How::read && s.how != How::update)) continue;
    for (std::size_t k = 0; k < s.in_slots.size(); ++k) {
      if (s.in_slots[k] < 0) continue;
      VariableCell& cell = variable_cell(my.slots[static_cast<std::size_t>(s.in_slots[k])]);
      VariableSlot& slot = cell.slot();
      std::lock_guard guard(slot.mutex);
      r.variables.push_back({&cell, slot.value.impl()->data, s.how == How::update});
    }
  }
}

std::vector<Tensor> Plan::results_of(const Recorded& r, Device& device) const {
  std::vector<Tensor> results;
  for (const Result& x : results_) {
    if (x.slot < 0) {
      results.push_back(x.constant);
      continue;
    }
    const Tensor& t = r.instance->slots[static_cast<std::size_t>(x.slot)];
    if (t.impl()->device != &device || !t.impl()->buffer) {
      results.push_back(t);
      continue;
    }
    // The place will be written again.
    Tensor copy = make_tensor(t.dtype(), t.shape(), device);
    device.copy(copy.impl()->data, t.impl()->data,
                static_cast<std::size_t>(t.size()) * t.dtype().itemsize());
    results.push_back(std::move(copy));
  }
  return results;
}

}  // namespace rill
