// Filters of convolutions that stay packed from call to call. Convolutions reorder their filter
// into the layout that suits the processor; with few images that is a good part of their time.
// In a function that does not change its filters the result of the first time serves again.
//
// Whether a filter has changed needs no bookkeeping: a variable is updated in place only if
// nothing else holds its memory, so what a plan holds never changes, and a variable that has
// been updated since lies elsewhere.
#include <algorithm>

#include "rill/graph/plan/plan.h"

namespace rill {
namespace {

// To hold the memory of a variable costs the next update a copy. Each time that happens more
// runs without an update must have been seen.
constexpr int kMostPatience = 256;

}  // namespace

void Plan::find_filters() {
  auto uses = [](const Step& s, std::int32_t slot) {
    return std::find(s.in_slots.begin(), s.in_slots.end(), slot) != s.in_slots.end();
  };
  // Arguments, and variables that no step changes: not what is made again in each run.
  auto may_stay = [&](std::int32_t slot) {
    if (std::find(arg_slots_.begin(), arg_slots_.end(), slot) != arg_slots_.end()) return true;
    const auto read = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) {
      return s.how == How::read && s.out_slots[0] == slot;
    });
    return read != steps_.end() && std::none_of(steps_.begin(), steps_.end(), [&](const Step& s) {
             return (s.how == How::update || s.how == How::general) && uses(s, read->in_slots[0]);
           });
  };
  for (Step& s : steps_) {
    if (s.how != How::kernel || !s.device->is_host() || s.node->op->packed_input < 0) continue;
    const std::int32_t view = s.in + s.node->op->packed_input;
    if (offsets_[static_cast<std::size_t>(view)] >= 0) continue;  // worked out in each run
    std::int32_t slot = -1;
    for (std::size_t i = 0; i < slots_.size() && slot < 0; ++i)
      if (std::find(slots_[i].views.begin(), slots_[i].views.end(), view) != slots_[i].views.end())
        slot = static_cast<std::int32_t>(i);
    if (slot >= 0 && !may_stay(slot)) continue;
    s.filter = static_cast<std::int32_t>(filters_.size());
    filters_.push_back({.slot = slot});
  }
  counts_.filters = static_cast<int>(filters_.size());
}

void Plan::call_convolution(Instance& my, const Step& s, bool keep) const {
  KeptFilter& f = filters_[static_cast<std::size_t>(s.filter)];
  // Held for the time of the call, and so longer than what is packed of it.
  const Tensor filter = f.slot < 0 ? Tensor() : my.slots[static_cast<std::size_t>(f.slot)];
  const void* const elements =
      my.views[static_cast<std::size_t>(s.in + s.node->op->packed_input)].data;
  std::shared_ptr<PackedInput> packed;
  bool fill = false;
  {
    const std::lock_guard lock(filters_mutex_);
    if (f.packed && f.packed_from != elements) {
      f.packed = nullptr;
      f.held = {};
      f.patience = std::min(2 * f.patience, kMostPatience);
    }
    packed = f.packed;
    f.runs = f.seen == elements ? f.runs + 1 : 0;
    f.seen = elements;
    fill = !packed && !f.no_repack_needed && f.runs >= f.patience;
  }
  if (fill) packed = std::make_shared<PackedInput>();
  call_kernel(my, s, keep, packed.get());
  if (!fill) return;
  const std::lock_guard lock(filters_mutex_);
  f.no_repack_needed = !packed->contents;
  if (f.no_repack_needed || f.packed) return;
  f.packed = std::move(packed);
  f.packed_from = elements;
  f.held = filter;
}

}  // namespace rill
