// Which elementwise kernels of a plan run together, tile by tile, and where what one gives the
// next lies in a tile. On a device that computes chains, a group is one kernel of the device, and
// the elements that lie in the scratch of a tile are kept within that.
#include <algorithm>
#include <map>

#include "rill/core/elementwise_chain.h"
#include "rill/graph/plan/planner_impl.h"

namespace rill {
namespace {

// Below this a group would only add bookkeeping; above, its tiles stay in the first cache.
constexpr std::int64_t kGroupElements = 4096, kTileElements = 512;

}  // namespace

// How an input of an elementwise node goes through its elements: whole (as the output
// does), 1 (one element), or a period that repeats; 0: in another way.
std::int64_t Planner::period_of(Endpoint e, const Value& out) {
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

bool Planner::fusable(std::size_t s, std::int64_t* period) {
  const Node& n = *order_[s];
  if (how_[s] != Plan::How::kernel || !n.op->elementwise || n.outputs.size() != 1 ||
      n.inputs.empty())
    return false;
  const Value& out = values_[id(n)][0];
  *period = 1;
  if (!out.device->is_host()) {
    const ChainRunner* chains = chain_runner(*out.device);
    const std::int64_t size = out.shape.num_elements();
    if (!chains || !chains->can(*n.op, out.dtype) || size == 0 || size > chains->most_elements ||
        n.inputs.size() > 2 || n.op->host_inputs != 0)
      return false;
    for (Endpoint e : n.inputs) {
      const std::int64_t p = period_of(e, out);
      if (p == 0 || value(e).dtype != out.dtype) return false;
    }
    return true;
  }
  if (out.shape.num_elements() < kGroupElements || !kPlainTypes.contains(out.dtype)) return false;
  for (Endpoint e : n.inputs) {
    const std::int64_t p = period_of(e, out);
    if (p == 0) return false;
    if (p == 1 || p == out.shape.num_elements()) continue;
    if (p > kTileElements * 4 || (*period > 1 && *period != p)) return false;
    *period = p;
  }
  return true;
}

// A device limits how many take part in a chain, and so what is kept within.
bool Planner::has_room(const Found& f, std::size_t more) {
  const ChainRunner* chains = f.device->is_host() ? nullptr : chain_runner(*f.device);
  return !chains || f.members.size() + more <= std::min(chains->most_members, chains->most_places);
}

// A node joins the group that made one of its inputs, as long as nobody else has
// needed a result of that group yet.
void Planner::find_groups() {
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
                        f.device == values_[id(n)][0].device && has_room(f, 1) &&
                        (period == 1 || f.period == 1 || f.period == period);
      if (fits && joined < 0) {
        joined = g;
        f.period = std::max(f.period, period);
      } else if (fits && joined != g) {
        // Two groups meet: they become one if their periods agree.
        Found& into = found_[static_cast<std::size_t>(joined)];
        if ((into.period == 1 || f.period == 1 || into.period == f.period) &&
            has_room(into, f.members.size() + 1)) {
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
      found_.back().device = values_[id(n)][0].device;
    }
    if (joined >= 0) {
      // A group that was closed by this very node (as an input of another size).
      if (!found_[static_cast<std::size_t>(joined)].open) {
        joined = static_cast<int>(found_.size());
        found_.push_back({});
        found_.back().elements = values_[id(n)][0].shape.num_elements();
        found_.back().period = period;
        found_.back().device = values_[id(n)][0].device;
      }
      found_[static_cast<std::size_t>(joined)].members.push_back(s);
      group_of_[s] = joined;
      made_by[id(n)] = joined;
    }
  }
  // One alone is not a group.
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

int Planner::group_at(const Node* n) {
  if (place_of_.empty()) {
    place_of_.assign(g_.nodes().size(), -1);
    for (std::size_t s = 0; s < order_.size(); ++s) place_of_[id(*order_[s])] = static_cast<int>(s);
  }
  const int s = place_of_[id(*n)];
  return s < 0 ? -1 : group_of_[static_cast<std::size_t>(s)];
}

std::int64_t Planner::tile_of(const Found& f) {
  return std::max<std::int64_t>(1, kTileElements / f.period) * f.period;
}

// Places of the inner values of a group in the scratch of one tile: free again after
// their last use.
void Planner::place_in_tile(Found& f) {
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

void Planner::emit_group(int which) {
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
  if (!f.device->is_host()) step.device = f.device;
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
      add_view(e, f.device);
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

}  // namespace rill
