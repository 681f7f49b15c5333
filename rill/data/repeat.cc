#include <algorithm>

#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(const DatasetImpl& dataset, Place place, std::int64_t count)
      : dataset_(dataset), place_(place), count_(count), input_(start()) {}

  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    while (round_ != count_) {
      if (input_->next(element)) return round_is_empty_ = false, true;
      if (!next_round()) break;
    }
    return false;
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    while (round_ != count_) {
      if (const std::int64_t got = input_->next_rows(rows, n)) return round_is_empty_ = false, got;
      if (!next_round()) break;
    }
    return 0;
  }
  void save(StateWriter& out) override {
    out.stage("RepeatDataset", settings());
    out.put(round_);
    out.put(static_cast<std::int64_t>(round_is_empty_));
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("RepeatDataset", settings());
    round_ = in.integer(0, count_ < 0 ? INT64_MAX : count_);
    round_is_empty_ = in.boolean();
    input_ = start();
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"count", count_}}; }
  // The first round is the dataset itself, so that repeat(1) changes nothing.
  std::unique_ptr<Cursor> start() const {
    return dataset_.start(round_ == 0 ? place_ : place_.branch(static_cast<std::uint64_t>(round_)));
  }
  bool next_round() {
    if (round_is_empty_ && count_ < 0) return false;  // it would go on for ever
    if (++round_ == count_) return false;
    input_ = start();
    round_is_empty_ = true;
    return true;
  }

  const DatasetImpl& dataset_;
  Place place_;
  std::int64_t count_;
  std::int64_t round_ = 0;
  bool round_is_empty_ = true;
  std::unique_ptr<Cursor> input_;
};

class RepeatDataset final : public UnaryDataset {
 public:
  RepeatDataset(const Dataset& input, std::int64_t count) : UnaryDataset(input), count_(count) {}
  const char* name() const override { return "RepeatDataset"; }
  Facts facts() const override { return {{"count", count_}}; }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (count_ == 0 || n == 0) return 0;
    if (count_ < 0) return INFINITE_CARDINALITY;
    std::int64_t all = 0;  // more than can be counted is as good as without end
    if (n < 0) return n;
    return __builtin_mul_overflow(n, count_, &all) ? INFINITE_CARDINALITY : all;
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<RepeatCursor>(input(), place, count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

Dataset Dataset::repeat(const Size& count) const {
  if (count.is_symbolic())
    return sized_recipe(*this, count, like_of(*this),
                        [](const Dataset& d, std::int64_t n) { return d.repeat(n); });
  return make_dataset<RepeatDataset>(*this, std::max<std::int64_t>(count, -1));
}

}  // namespace rill::data
