// Datasets made of elements: flat_map, interleave, and windows read back.
#include <optional>
#include <thread>

#include "rill/data/dataset_resource_impl.h"
#include "rill/data/map_impl.h"
#include "rill/data/read_ahead_impl.h"

namespace rill::data {
namespace {

struct Turns {
  std::int64_t cycle = 1, block = 1;
  std::int64_t threads = 0;  // that read ahead
  bool tuned = false;        // their number is AUTOTUNE's, up to `threads`
  bool ordered = true;
  Settings settings() const {
    return {{"cycle_length", cycle}, {"block_length", block}, {"reads ahead", threads > 0}};
  }
};

// Up to `cycle` datasets are open, each in its own place; places are visited
// in turn, `block` elements at a visit. One place is flat_map.
class InterleaveCursor final : public UnaryCursor {
 public:
  InterleaveCursor(std::unique_ptr<Cursor> input, const detail::Fn& f, const UserCall& call,
                   const Pass::Stream& stream, std::uint64_t path, const Turns& turns,
                   const char* stage, Place place)
      : UnaryCursor(std::move(input)),
        f_(f),
        call_(call),
        stream_(stream),
        path_(path),
        places_(static_cast<std::size_t>(turns.cycle)),
        turns_(turns),
        stage_(stage),
        outer_(*place.pass),
        stage_probe_(place.stage) {
    if (turns.threads > 0)
      ahead_.emplace(ReadAhead::Limits{turns.cycle, turns.threads, turns.tuned}, outer_);
  }
  bool next(Nest* element) override {
    while (!input_ended_ || open_ > 0) {
      if (!turns_.ordered) pass_over_waiting();
      Opened& place = places_[at_];
      if (place.cursor) {
        if (place.cursor->next(element)) {
          if (++taken_ == turns_.block) advance();
          return true;
        }
        place.cursor.reset();  // before what it reads: assignment goes from the first to the last
        place = {};
        --open_;
        advance();
      } else if (!input_ended_) {
        Nest from;
        if (input_->next(&from)) {
          const std::int64_t index = index_++;
          place = opened(from, index, at_, Pass::nested(stream_));
          ++open_;
        } else {
          input_ended_ = true;
        }
      } else {
        advance();
      }
    }
    return false;
  }
  void save(StateWriter& out) override {
    out.stage(stage_, turns_.settings());
    for (std::int64_t v :
         {index_, taken_, static_cast<std::int64_t>(at_), static_cast<std::int64_t>(input_ended_)})
      out.put(v);
    for (Opened& place : places_) {
      out.put(static_cast<std::int64_t>(place.cursor != nullptr));
      if (!place.cursor) continue;
      out.put(place.index);
      out.put(place.element);
      place.pass->save(out);
      place.cursor->save(out);
    }
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage(stage_, turns_.settings());
    index_ = in.integer(0, INT64_MAX);
    taken_ = in.integer(0, turns_.block);
    at_ = static_cast<std::size_t>(in.integer(0, static_cast<std::int64_t>(places_.size()) - 1));
    input_ended_ = in.boolean();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!in.boolean()) continue;
      const std::int64_t index = in.integer(0, INT64_MAX);
      const Nest element = in.nest();
      places_[i] = opened(element, index, i, Pass::restore(in));
      places_[i].cursor->restore(in);
      ++open_;
    }
    input_->restore(in);
  }
  BufferUse buffer() const override { return ahead_ ? ahead_->use() : BufferUse(); }

 private:
  struct Opened {
    Nest element;
    std::int64_t index = 0;
    std::shared_ptr<Dataset> dataset;
    std::unique_ptr<Pass> pass;
    std::unique_ptr<Cursor> cursor;
  };
  Opened opened(const Nest& element, std::int64_t index, std::size_t place,
                std::unique_ptr<Pass> pass) {
    Opened o;
    o.element = element;
    o.index = index;
    o.dataset = std::make_shared<Dataset>(Dataset::of(call_(f_, element, index)));
    o.pass = std::move(pass);
    o.pass->inherit(outer_);
    o.cursor = o.dataset->impl().start(
        {o.pass.get(), mix(path_, static_cast<std::uint64_t>(index)), stage_probe_});
    if (ahead_) o.cursor = ahead_->add(std::move(o.cursor), place);
    return o;
  }
  // To the next place whose element need not be waited for, if there is one.
  void pass_over_waiting() {
    if (!ahead_ || !places_[at_].cursor || ahead_->is_ready(at_)) return;
    for (std::size_t i = 1; i < places_.size(); ++i) {
      const std::size_t place = (at_ + i) % places_.size();
      if (!places_[place].cursor || !ahead_->is_ready(place)) continue;
      at_ = place;
      taken_ = 0;
      return;
    }
  }
  void advance() {
    at_ = (at_ + 1) % places_.size();
    taken_ = 0;
  }

  const detail::Fn& f_;
  UserCall call_;
  Pass::Stream stream_;
  std::uint64_t path_;
  std::optional<ReadAhead> ahead_;  // outlives the places
  std::vector<Opened> places_;
  Turns turns_;
  const char* stage_;
  Pass& outer_;
  StageProbe* stage_probe_;
  std::int64_t index_ = 0, taken_ = 0;
  std::size_t at_ = 0, open_ = 0;
  bool input_ended_ = false;
};

class InterleaveDataset final : public UnaryDataset {
 public:
  InterleaveDataset(const Dataset& input, const detail::Fn& f, const char* name, const char* stage,
                    const Turns& turns, std::optional<bool> deterministic)
      : UnaryDataset(input),
        f_(f),
        name_(name),
        stage_(stage),
        turns_(turns),
        deterministic_(deterministic) {}
  const char* name() const override { return name_; }
  Facts facts() const override {
    if (turns_.cycle == 1 && turns_.threads == 0) return {};
    Facts facts{{"cycle_length", turns_.cycle},
                {"block_length", turns_.block},
                Fact::tuned("num_parallel_calls", turns_.tuned ? AUTOTUNE : turns_.threads)};
    if (deterministic_) facts.emplace_back("deterministic", *deterministic_);
    return facts;
  }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const Pass::Stream stream = place.pass->stream_of(random_);
    const std::uint64_t path = mix(place.path, stream.number);
    const UserCall call(stage_, random_, place);
    Turns turns = turns_;
    const Options& options = place.pass->options();
    const std::int64_t budget = options.autotune.cpu_budget;
    if (turns.tuned && budget > 0) turns.threads = std::min(turns.threads, budget);
    turns.ordered = deterministic_.value_or(options.deterministic.value_or(true));
    return std::make_unique<InterleaveCursor>(input().start(place), f_, call, stream, path, turns,
                                              stage_, place);
  }

 protected:
  // Only a dataset that the function returns can tell: that of symbols, of the first element, or,
  // where there is none, of an element as it might be.
  ElementSpec make_spec() const override {
    ElementSpec spec;
    if (traced_dataset_spec(f_, input().spec(), &spec)) return spec;
    const std::unique_ptr<Pass> pass = Pass::nested({});
    const Place place{pass.get()};
    const UserCall call(stage_, random_, place);
    Nest element;
    if (input().start(place)->next(&element))
      return Dataset::of(call(f_, element, 0)).element_spec();
    try {
      return Dataset::of(call(f_, input().specimen(), 0)).element_spec();
    } catch (const errors::Error&) {
      return {};  // a function that asks for more than zeros
    }
  }

 private:
  detail::Fn f_;
  const char *name_, *stage_;
  Turns turns_;
  std::optional<bool> deterministic_;
  RandomSource random_;
};

}  // namespace

namespace detail {
Nest dataset_as_nest(const Dataset& d) {
  return Nest(make_resource(Ref<Resource>(new DatasetResource(d)), variant));
}
}  // namespace detail

Dataset Dataset::of(const Nest& element) {
  DatasetResource* d = nullptr;
  if (element.is_tensor() && element.as_tensor().dtype() == variant)
    d = dynamic_cast<DatasetResource*>(element.as_tensor().impl()->resource.get());
  RILL_CHECK(d, invalid_argument, "[dataset] got {}; expected a dataset", element.to_string());
  return d->dataset;
}

Dataset Dataset::flat_map_(detail::Fn f) const {
  return make_dataset<InterleaveDataset>(*this, f, "FlatMapDataset", "flat_map", Turns(),
                                         std::optional<bool>());
}
Dataset Dataset::interleave_(detail::Fn f, InterleaveOptions o) const {
  RILL_CHECK(
      o.cycle_length >= -1 && o.cycle_length <= 1 << 16 && o.block_length > 0, invalid_argument,
      "[interleave] cycle_length is {} and block_length {}; expected 0 (the cores) to 65536, "
      "and 1 or more",
      o.cycle_length, o.block_length);
  RILL_CHECK(
      o.num_parallel_calls >= AUTOTUNE, invalid_argument,
      "[interleave] num_parallel_calls is {}; expected a number of datasets to read ahead, 0 "
      "for none, or AUTOTUNE",
      o.num_parallel_calls);
  Turns turns{.cycle = o.cycle_length, .block = o.block_length};
  if (turns.cycle <= 0)
    turns.cycle = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  turns.tuned = o.num_parallel_calls == AUTOTUNE;
  turns.threads =
      o.num_parallel_calls == AUTOTUNE ? turns.cycle : std::min(turns.cycle, o.num_parallel_calls);
  return make_dataset<InterleaveDataset>(
      *this, f, turns.threads ? "ParallelInterleaveDataset" : "InterleaveDataset", "interleave",
      turns, o.deterministic);
}

}  // namespace rill::data
