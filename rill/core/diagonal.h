#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rill {

// The diagonals low .. high of a rows x cols matrix, as a table with one row a
// diagonal, the highest first, each as long as the longest; shorter ones stand
// at the left or at the right of their row. constexpr: kernels of GPUs use it too.
class Diagonals {
 public:
  Diagonals(std::int64_t low, std::int64_t high, std::int64_t rows, std::int64_t cols,
            std::string_view align = "RIGHT_LEFT")
      : low_(low),
        high_(high),
        rows_(rows),
        cols_(cols),
        upper_right_(align.starts_with("RIGHT")),
        lower_right_(align.ends_with("_RIGHT")) {}

  constexpr std::int64_t count() const { return high_ - low_ + 1; }
  constexpr std::int64_t length(std::int64_t k) const {
    return std::max<std::int64_t>(
        0, std::min(rows_ + std::min<std::int64_t>(k, 0), cols_ - std::max<std::int64_t>(k, 0)));
  }
  constexpr std::int64_t max_length() const {
    return std::max<std::int64_t>(0, std::min(rows_ + std::min<std::int64_t>(high_, 0),
                                              cols_ - std::max<std::int64_t>(low_, 0)));
  }
  // The place of element i of diagonal k in its row of the table.
  constexpr std::int64_t offset(std::int64_t k) const {
    return (k >= 0 ? upper_right_ : lower_right_) ? max_length() - length(k) : 0;
  }
  constexpr std::int64_t low() const { return low_; }
  constexpr std::int64_t high() const { return high_; }
  constexpr std::int64_t rows() const { return rows_; }
  constexpr std::int64_t cols() const { return cols_; }

 private:
  std::int64_t low_, high_, rows_, cols_;
  bool upper_right_, lower_right_;
};

}  // namespace rill
