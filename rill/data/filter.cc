// Stages that ask a predicate: filter and take_while.
#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class FilterCursor final : public UnaryCursor {
 public:
  FilterCursor(std::unique_ptr<Cursor> input, const detail::Fn& f, UserCall call, bool first_ends,
               const char* stage)
      : UnaryCursor(std::move(input)), f_(f), call_(call), first_ends_(first_ends), stage_(stage) {}
  bool next(Nest* element) override {
    while (!ended_ && input_->next(element)) {
      if (is_true(call_(f_, *element, index_++), stage_)) return true;
      ended_ = first_ends_;
    }
    return false;
  }
  void save(StateWriter& out) override {
    out.stage(stage_);
    out.put(index_);
    out.put(static_cast<std::int64_t>(ended_));
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage(stage_);
    index_ = in.integer(0, INT64_MAX);
    ended_ = in.boolean();
    input_->restore(in);
  }

 private:
  const detail::Fn& f_;
  UserCall call_;
  bool first_ends_;  // the first false ends the dataset
  const char* stage_;
  std::int64_t index_ = 0;
  bool ended_ = false;
};

class FilterDataset final : public UnaryDataset {
 public:
  FilterDataset(const Dataset& input, const detail::Fn& f, bool first_ends)
      : UnaryDataset(input), f_(f), first_ends_(first_ends) {}
  const char* name() const override { return first_ends_ ? "TakeWhileDataset" : "FilterDataset"; }
  std::int64_t cardinality() const override { return UNKNOWN_CARDINALITY; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    const char* stage = first_ends_ ? "take_while" : "filter";
    const UserCall call(stage, random_, place);
    return std::make_unique<FilterCursor>(input().start(place), f_, call, first_ends_, stage);
  }

 private:
  detail::Fn f_;
  bool first_ends_;
  RandomSource random_;
};

}  // namespace

Dataset Dataset::filter_(detail::Fn f) const {
  return make_dataset<FilterDataset>(*this, f, false);
}
Dataset Dataset::take_while_(detail::Fn f) const {
  return make_dataset<FilterDataset>(*this, f, true);
}

}  // namespace rill::data
