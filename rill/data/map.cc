#include <thread>

#include "rill/data/map_impl.h"

namespace rill::data {
namespace {

class MapCursor final : public UnaryCursor {
 public:
  MapCursor(std::unique_ptr<Cursor> input, const detail::Fn& f, const UserCall& call)
      : UnaryCursor(std::move(input)), f_(f), call_(call) {}
  bool next(Nest* element) override {
    Nest from;
    if (!input_->next(&from)) return false;
    *element = call_(f_, from, index_++);
    return true;
  }
  void save(StateWriter& out) override {
    out.stage("MapDataset");
    out.put(index_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("MapDataset");
    index_ = in.integer(0, INT64_MAX);
    input_->restore(in);
  }

 private:
  const detail::Fn& f_;
  UserCall call_;
  std::int64_t index_ = 0;
};

int threads_of(std::int64_t num_parallel_calls, const AutotuneOptions& autotune) {
  if (num_parallel_calls == AUTOTUNE) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    num_parallel_calls =
        autotune.cpu_budget > 0 ? std::min<std::int64_t>(autotune.cpu_budget, cores) : cores;
  }
  return static_cast<int>(std::min<std::int64_t>(num_parallel_calls, 1024));
}

class MapDataset final : public UnaryDataset {
 public:
  MapDataset(const Dataset& input, const detail::Fn& f, MapOptions options)
      : UnaryDataset(input),
        given_(f),
        f_(options.traced ? traced_function(f) : f),
        options_(std::move(options)) {}
  const char* name() const override {
    return options_.num_parallel_calls ? "ParallelMapDataset" : "MapDataset";
  }
  Facts facts() const override {
    Facts facts;
    if (options_.num_parallel_calls)
      facts.push_back(Fact::tuned("num_parallel_calls", options_.num_parallel_calls));
    if (options_.deterministic) facts.emplace_back("deterministic", *options_.deterministic);
    if (options_.traced) facts.emplace_back("traced", true);
    if (!options_.name.empty()) facts.emplace_back("name", options_.name);
    return facts;
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const UserCall call("map", random_, place);
    if (options_.num_parallel_calls == 0)
      return std::make_unique<MapCursor>(input().start(place), f_, call);
    const Options& shared = place.pass->options();
    return parallel_map_cursor(
        input().start(place), f_, call,
        {.threads = threads_of(options_.num_parallel_calls, shared.autotune),
         .ordered = options_.deterministic.value_or(shared.deterministic.value_or(true)),
         .budget = options_.num_parallel_calls == AUTOTUNE ? &place.pass->autotune() : nullptr});
  }

 protected:
  ElementSpec make_spec() const override {
    ElementSpec spec;
    if (traced_spec(given_, input().spec(), &spec)) return spec;
    // Plain C++ that needs values: dtypes by an element, and no promise of shapes.
    const std::unique_ptr<Pass> pass = Pass::nested({});
    Nest element;
    if (!start({pass.get()})->next(&element)) return spec;
    return spec_of(element).map(
        [](const TensorSpec& s) { return TensorSpec(TensorShape(), s.dtype()); });
  }

 private:
  detail::Fn given_, f_;
  MapOptions options_;
  RandomSource random_;
};

}  // namespace

Dataset Dataset::map_(detail::Fn f, MapOptions options) const {
  RILL_CHECK(options.num_parallel_calls >= AUTOTUNE, invalid_argument,
             "[map] num_parallel_calls is {}; expected a number of calls, 0 for none beside the "
             "caller's, or AUTOTUNE",
             options.num_parallel_calls);
  return make_dataset<MapDataset>(*this, f, std::move(options));
}

}  // namespace rill::data
