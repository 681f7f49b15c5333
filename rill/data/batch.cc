#include "rill/data/composite_rows_impl.h"
#include "rill/data/worker_impl.h"

namespace rill::data {
namespace {

class BatchCursor final : public UnaryCursor {
 public:
  BatchCursor(std::unique_ptr<Cursor> input, std::int64_t size, bool drop_remainder)
      : UnaryCursor(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  bool next(Nest* element) override {
    if (input_->rows()) return next_gathered(element);
    if (input_->makes_batches()) return is_whole(input_->next_batch(size_, element));
    return next_stacked(element);
  }
  void save(StateWriter& out) override {
    out.stage("BatchDataset", settings());
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("BatchDataset", settings());
    input_->restore(in);
  }

 private:
  Settings settings() const { return {{"batch_size", size_}, {"drop_remainder", drop_remainder_}}; }
  bool is_whole(std::int64_t n) const { return n == size_ || (n > 0 && !drop_remainder_); }
  bool next_gathered(Nest* element) {
    std::int64_t n = 0;
    while (n < size_) {
      // A batch may be said to be larger than anything: room is made as rows come.
      const std::int64_t ask = std::min<std::int64_t>(size_ - n, std::max<std::int64_t>(n, 1024));
      if (static_cast<std::int64_t>(rows_.size()) < n + ask)
        rows_.resize(static_cast<std::size_t>(n + ask));
      const std::int64_t got = input_->next_rows(rows_.data() + n, ask);
      if (got == 0) break;
      n += got;
    }
    if (!is_whole(n)) return false;
    *element = input_->rows()->gather(rows_.data(), n);
    return true;
  }
  bool next_stacked(Nest* element) {
    // An error takes the place of its batch: those after it begin where they would have.
    std::vector<Nest> elements;
    Produced failed;
    for (std::int64_t n = 0; n < size_; ++n) {
      Produced p = Produced::of([&](Nest* e) { return input_->next(e); });
      if (p.at_end()) break;
      if (!p.failed())
        p.take(&elements.emplace_back());
      else if (!failed.failed())
        failed = p;
    }
    if (failed.failed()) return failed.take(element);
    if (!is_whole(static_cast<std::int64_t>(elements.size()))) return false;
    *element = stack(elements, "batch");
    return true;
  }

  std::int64_t size_;
  bool drop_remainder_;
  std::vector<std::int64_t> rows_;
};

class BatchDataset final : public UnaryDataset {
 public:
  BatchDataset(const Dataset& input, std::int64_t size, BatchOptions options)
      : UnaryDataset(input), size_(size), options_(std::move(options)) {}
  const char* name() const override { return "BatchDataset"; }
  Facts facts() const override {
    return {{"batch_size", size_}, {"drop_remainder", options_.drop_remainder}};
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    return n < 0 ? n : n / size_ + (n % size_ != 0 && !options_.drop_remainder);
  }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<BatchCursor>(input().start(place), size_, options_.drop_remainder);
  }

 protected:
  ElementSpec make_spec() const override {
    return table_spec(input().spec(), options_.drop_remainder ? size_ : -1);
  }

 private:
  std::int64_t size_;
  BatchOptions options_;
};

}  // namespace

Dataset Dataset::batch(const Size& batch_size, BatchOptions options) const {
  if (batch_size.is_symbolic())
    return sized_recipe(
        *this, batch_size, like_of(*this).batch(1),
        [options](const Dataset& d, std::int64_t n) { return d.batch(n, options); });
  RILL_CHECK(batch_size.value() > 0, invalid_argument,
             "[batch] batch_size is {}; expected a number greater than zero", batch_size.value());
  return make_dataset<BatchDataset>(*this, batch_size.value(), std::move(options));
}

}  // namespace rill::data
