#include <numeric>

#include "rill/data/rows_impl.h"

namespace rill::data {

std::int64_t AllRowsCursor::next_rows(std::int64_t* rows, std::int64_t n) {
  n = std::min(n, rows_.size() - at_);
  std::iota(rows, rows + n, at_);
  at_ += n;
  return n;
}
std::int64_t AllRowsCursor::skip(std::int64_t n) {
  n = std::min(n, rows_.size() - at_);
  at_ += n;
  return n;
}
void AllRowsCursor::save(StateWriter& out) {
  out.stage(stage_);
  out.put(rows_.size());
  out.put(at_);
}
void AllRowsCursor::restore(StateReader& in) {
  in.stage(stage_);
  const std::int64_t size = in.integer();
  RILL_CHECK(size == rows_.size(), invalid_argument,
             "[Iterator.restore] the state was saved over {} elements of a {}; this one has {}",
             size, stage_, rows_.size());
  at_ = in.integer(0, size);
}

}  // namespace rill::data
