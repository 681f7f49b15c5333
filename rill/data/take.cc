#include <algorithm>

#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class TakeCursor final : public UnaryCursor {
 public:
  TakeCursor(std::unique_ptr<Cursor> input, std::int64_t count)
      : UnaryCursor(std::move(input)), count_(count) {}
  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    if (taken_ == count_ || !input_->next(element)) return false;
    ++taken_;
    return true;
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    if (count_ >= 0) n = std::min(n, count_ - taken_);
    const std::int64_t got = n == 0 ? 0 : input_->next_rows(rows, n);
    taken_ += got;
    return got;
  }
  void save(StateWriter& out) override {
    out.stage("TakeDataset", settings());
    out.put(taken_);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("TakeDataset", settings());
    taken_ = in.integer(0, count_ < 0 ? INT64_MAX : count_);
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"count", count_}}; }
  std::int64_t count_;  // -1: all
  std::int64_t taken_ = 0;
};

class TakeDataset final : public UnaryDataset {
 public:
  TakeDataset(const Dataset& input, std::int64_t count) : UnaryDataset(input), count_(count) {}
  const char* name() const override { return "TakeDataset"; }
  Facts facts() const override { return {{"count", count_}}; }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (count_ < 0 || n == UNKNOWN_CARDINALITY) return n;
    return n == INFINITE_CARDINALITY ? count_ : std::min(n, count_);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<TakeCursor>(input().start(place), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

Dataset Dataset::take(const Size& count) const {
  if (count.is_symbolic())
    return sized_recipe(*this, count, like_of(*this),
                        [](const Dataset& d, std::int64_t n) { return d.take(n); });
  return make_dataset<TakeDataset>(*this, std::max<std::int64_t>(count, -1));
}

}  // namespace rill::data
