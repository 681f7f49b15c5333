#include <numeric>

#include "rill/data/all_rows_cursor_impl.h"

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
  out.stage(stage_, rows_.settings());
  out.put(at_);
}
void AllRowsCursor::restore(StateReader& in) {
  in.stage(stage_, rows_.settings());
  at_ = in.integer(0, rows_.size());
}

}  // namespace rill::data
