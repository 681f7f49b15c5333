#pragma once
#include "rill/data/dataset_impl.h"

namespace rill::data {

// A cursor that yields the rows 0, 1, ... of a table, for sources.
class AllRowsCursor final : public Cursor {
 public:
  AllRowsCursor(const Rows& rows, const char* stage) : rows_(rows), stage_(stage) {}
  const Rows* rows() const override { return &rows_; }
  bool next(Nest* element) override { return next_row(element); }
  std::int64_t next_rows(std::int64_t* rows, std::int64_t n) override;
  std::int64_t skip(std::int64_t n) override;
  void save(StateWriter& out) override;
  void restore(StateReader& in) override;

 private:
  const Rows& rows_;
  const char* stage_;
  std::int64_t at_ = 0;
};

}  // namespace rill::data
