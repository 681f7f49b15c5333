#include "rill/data/dataset_impl.h"

namespace rill::data {
namespace {

class ShardCursor final : public UnaryCursor {
 public:
  ShardCursor(std::unique_ptr<Cursor> input, std::int64_t shards, std::int64_t index)
      : UnaryCursor(std::move(input)), shards_(shards), index_(index) {}
  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    pass_over();
    return input_->next(element);
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    std::int64_t done = 0;
    for (; done < n; ++done) {
      pass_over();
      if (input_->next_rows(rows + done, 1) == 0) break;
    }
    return done;
  }
  void save(StateWriter& out) override {
    out.stage("ShardDataset", settings());
    out.put(static_cast<std::int64_t>(begun_));
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("ShardDataset", settings());
    begun_ = in.boolean();
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"num_shards", shards_}, {"index", index_}}; }
  void pass_over() {
    input_->skip(begun_ ? shards_ - 1 : index_);
    begun_ = true;
  }
  std::int64_t shards_, index_;
  bool begun_ = false;
};

class ShardDataset final : public UnaryDataset {
 public:
  ShardDataset(const Dataset& input, std::int64_t shards, std::int64_t index)
      : UnaryDataset(input), shards_(shards), index_(index) {}
  const char* name() const override { return "ShardDataset"; }
  Facts facts() const override { return {{"num_shards", shards_}, {"index", index_}}; }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    return n < 0 ? n : n / shards_ + (index_ < n % shards_);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<ShardCursor>(input().start(place), shards_, index_);
  }

 private:
  std::int64_t shards_, index_;
};

}  // namespace

Dataset Dataset::shard(const Size& number, const Size& which) const {
  if (number.is_symbolic() || which.is_symbolic())
    return make_recipe(like_of(*this), {*this}, {number.tensor(), which.tensor()},
                       [input = *this, number, which](const Bindings& b) {
                         return b.of(input).shard(b.of(number), b.of(which));
                       });
  const std::int64_t num_shards = number, index = which;
  RILL_CHECK(num_shards >= 1 && index >= 0 && index < num_shards, invalid_argument,
             "[shard] index {} of {} shards; expected at least one shard and an index below their "
             "number",
             index, num_shards);
  return make_dataset<ShardDataset>(*this, num_shards, index);
}

}  // namespace rill::data
