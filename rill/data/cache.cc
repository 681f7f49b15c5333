#include "rill/data/file_cache_impl.h"

namespace rill::data {
namespace {

// The elements of a whole pass; of a source with rows their numbers only.
struct Cached {
  std::vector<std::int64_t> rows;
  std::vector<Nest> elements;
};
using Shared = std::shared_ptr<const Cached>;

// What the cursors of one dataset share: the first whole pass.
class Memory {
 public:
  Shared get() const {
    std::lock_guard lock(mutex_);
    return cached_;
  }
  Shared offer(Shared cached) {
    std::lock_guard lock(mutex_);
    if (!cached_) cached_ = std::move(cached);
    return cached_;
  }

 private:
  mutable std::mutex mutex_;
  Shared cached_;
};

class CacheCursor final : public UnaryCursor {
 public:
  CacheCursor(std::unique_ptr<Cursor> input, Memory& memory)
      : UnaryCursor(std::move(input)), memory_(memory), cached_(memory.get()) {}
  const Rows* rows() const override { return input_->rows(); }
  bool next(Nest* element) override {
    if (rows()) return next_row(element);
    if (cached_) {
      if (at_ == static_cast<std::int64_t>(cached_->elements.size())) return false;
      *element = cached_->elements[static_cast<std::size_t>(at_++)];
      return true;
    }
    if (!input_->next(element)) return keep(), false;
    own_.elements.push_back(*element);
    ++at_;
    return true;
  }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override {
    if (cached_) {
      n = std::min(n, static_cast<std::int64_t>(cached_->rows.size()) - at_);
      std::copy_n(cached_->rows.begin() + at_, n, rows);
      at_ += n;
      return n;
    }
    n = input_->next_rows(rows, n);
    if (n == 0) return keep(), 0;
    own_.rows.insert(own_.rows.end(), rows, rows + n);
    at_ += n;
    return n;
  }
  void save(StateWriter& out) override {
    out.stage("CacheDataset");
    const Cached& c = cached_ ? *cached_ : own_;
    out.put(static_cast<std::int64_t>(cached_ != nullptr));
    out.put(at_);
    out.put(c.rows);
    out.put(c.elements);
    input_->save(out);
  }
  void restore(StateReader& in) override {
    in.stage("CacheDataset");
    const bool whole = in.boolean();
    const std::int64_t at = in.integer(0, INT64_MAX);
    Cached c;
    c.rows = in.list();
    c.elements = in.nests();
    for (std::int64_t row : c.rows)
      RILL_CHECK(rows() && row >= 0 && row < rows()->size(), data_loss,
                 "[Iterator.restore] the state is damaged: a cache holds row {}", row);
    const std::size_t size = rows() ? c.rows.size() : c.elements.size();
    RILL_CHECK(static_cast<std::uint64_t>(at) <= size, data_loss,
               "[Iterator.restore] the state is damaged: it is at {} of {} cached elements", at,
               size);
    input_->restore(in);
    at_ = at;
    cached_ = nullptr;
    if (whole)
      cached_ = std::make_shared<const Cached>(std::move(c));
    else
      own_ = std::move(c);
    if (cached_) memory_.offer(cached_);
  }

 private:
  void keep() {
    const auto size = static_cast<std::int64_t>(rows() ? own_.rows.size() : own_.elements.size());
    memory_.offer(std::make_shared<const Cached>(std::exchange(own_, {})));
    cached_ = memory_.get();
    at_ = std::max(
        size, static_cast<std::int64_t>(rows() ? cached_->rows.size() : cached_->elements.size()));
  }

  Memory& memory_;
  Shared cached_;
  Cached own_;  // of this pass, while nobody has made a whole one
  std::int64_t at_ = 0;
};

class CacheDataset final : public UnaryDataset {
 public:
  explicit CacheDataset(const Dataset& input) : UnaryDataset(input) {}
  const char* name() const override { return "CacheDataset"; }
  std::unique_ptr<Cursor> make_cursor(Place place) const override {
    return std::make_unique<CacheCursor>(input().start(place), memory_);
  }

 private:
  mutable Memory memory_;
};

}  // namespace

Dataset Dataset::cache(std::string_view filename) const {
  if (!filename.empty()) return cached_in_file(*this, filename);
  return make_dataset<CacheDataset>(*this);
}

}  // namespace rill::data
