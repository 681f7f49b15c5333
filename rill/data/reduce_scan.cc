// A state that goes from element to element: reduce and scan.
#include "rill/data/map_impl.h"

namespace rill::data {
namespace {

// The state keeps its structure and dtypes; its shape may change.
void check_state(const Nest& next, const Nest& initial, const char* stage) {
  RILL_CHECK(next.same_structure(initial), invalid_argument,
             "[{}] the function returned {} for a state of {}; expected the same structure", stage,
             next.to_string(), initial.to_string());
  const std::vector<Tensor> now = next.flatten(), before = initial.flatten();
  for (std::size_t i = 0; i < now.size(); ++i)
    RILL_CHECK(now[i].dtype() == before[i].dtype(), invalid_argument,
               "[{}] the function returned {} for a state of {}; expected the same dtypes. Cast in "
               "the function, or give an initial state of the dtype that it returns",
               stage, next.to_string(), initial.to_string());
}

class ScanCursor final : public UnaryCursor {
 public:
  ScanCursor(std::unique_ptr<Cursor> input, const Nest& initial, const detail::Fn& f,
             const UserCall& call)
      : UnaryCursor(std::move(input)), initial_(initial), state_(initial), f_(f), call_(call) {}
  bool next(Nest* element) override {
    Nest from;
    if (!input_->next(&from)) return false;
    const Nest out = call_(f_, Nest::make({state_, from}), index_++);
    RILL_CHECK(!out.is_tensor() && !out.is_dict() && out.size() == 2, invalid_argument,
               "[scan] the function returned {}; expected a pair: the new state and the element",
               out.to_string());
    check_state(out[0], initial_, "scan");
    state_ = out[0];
    *element = out[1];
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("ScanDataset");
    out.put(index_);
    out.put(state_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("ScanDataset");
    index_ = in.integer(0, INT64_MAX);
    state_ = in.nest();
    check_state(state_, initial_, "scan");
    input_->restore(in);
  }

 private:
  const Nest& initial_;
  Nest state_;
  const detail::Fn& f_;
  UserCall call_;
  std::int64_t index_ = 0;
};

class ScanDataset final : public UnaryDataset {
 public:
  ScanDataset(const Dataset& input, const Nest& initial, const detail::Fn& f)
      : UnaryDataset(input), initial_(initial), f_(f) {}
  const char* name() const override { return "ScanDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const UserCall call("scan", random_, place);
    return std::make_unique<ScanCursor>(input().start(place), initial_, f_, call);
  }

 protected:
  ElementSpec make_spec() const override {
    ElementSpec state = spec_of(initial_), out;
    // A size of the state that changes is none: then it is unknown, and the function sees that.
    while (traced_spec(f_, ElementSpec::tuple({state, input().spec()}), &out)) {
      if (out.is_leaf() || out.size() != 2 || !out[0].same_structure(state)) break;
      const std::vector<TensorSpec> next = out[0].flatten();
      std::size_t i = 0;
      const ElementSpec both = state.map([&](const TensorSpec& s) {
        return TensorSpec(common_shape(s.shape(), next[i++].shape()), s.dtype());
      });
      if (both.to_string() == state.to_string()) return out[1];
      state = both;
    }
    // Plain C++ that needs values: dtypes by an element, and no promise of shapes.
    const std::unique_ptr<Pass> pass = Pass::nested({});
    Nest element;
    if (!start({pass.get()})->next(&element)) return {};
    return spec_of(element).map(
        [](const TensorSpec& s) { return TensorSpec(TensorShape(), s.dtype()); });
  }

 private:
  Nest initial_;
  detail::Fn f_;
  RandomSource random_;
};

}  // namespace

Nest Dataset::reduce_(const Nest& initial_state, const detail::Fn& f) const {
  if (as_recipe(*this)) {
    // The state keeps its dtypes; what becomes of its shape the run shows.
    const ElementSpec result = spec_of(initial_state).map([](const TensorSpec& s) {
      return TensorSpec(TensorShape(), s.dtype());
    });
    const Nest initial = without_graph(initial_state);
    return run_recipe(
        *this, initial.flatten(), result,
        [initial, f](const Dataset& d, const Bindings& b) { return d.reduce_(b.of(initial), f); });
  }
  Pass pass;
  const RandomSource source;
  const UserCall call("reduce", source, {&pass});
  Nest state = initial_state;
  Iterator it = make_iterator();
  std::int64_t index = 0;
  for (Nest element; it.next(&element);) {
    Nest next = call(f, Nest::make({state, element}), index++);
    check_state(next, initial_state, "reduce");
    state = std::move(next);
  }
  return state;
}

Dataset Dataset::scan_(const Nest& initial_state, detail::Fn f) const {
  return make_dataset<ScanDataset>(*this, initial_state, f);
}

}  // namespace rill::data
