#include "rill/data/split_expression_impl.h"

#include <algorithm>
#include <cmath>

#include "rill/base/check.h"

namespace rill::data {
namespace {

enum class Unit { none, percent, shard };
struct Bound {
  bool given = false;
  double value = 0;
  Unit unit = Unit::none;
};

class ExpressionReader {
 public:
  ExpressionReader(const std::string& whole,
                   const std::map<std::string, datasets::SplitInfo>& splits)
      : whole_(whole), splits_(splits) {}

  std::vector<SplitRange> read() const {
    std::vector<SplitRange> out;
    std::size_t at = 0;
    for (;;) {
      const std::size_t plus = whole_.find('+', at);
      add(trimmed(whole_.substr(at, plus == whole_.npos ? plus : plus - at)), &out);
      if (plus == whole_.npos) return out;
      at = plus + 1;
    }
  }

 private:
  [[noreturn]] void refuse() const {
    RILL_FAIL(invalid_argument,
              "[datasets.load] \"{}\" is no expression of splits; expected such as \"train\", "
              "\"train[:80%]\", \"train[10:-20]\", \"train[3shard]\" or \"train+test\"",
              whole_);
  }
  static std::string trimmed(const std::string& s) {
    const std::size_t a = s.find_first_not_of(' '), b = s.find_last_not_of(' ');
    return a == s.npos ? "" : s.substr(a, b - a + 1);
  }
  Bound bound(std::string text) const {
    Bound b;
    if (text.empty()) return b;
    if (text.back() == '%') {
      b.unit = Unit::percent;
      text.pop_back();
    } else if (text.ends_with("shard")) {
      b.unit = Unit::shard;
      text.resize(text.size() - 5);
    }
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    char* end = nullptr;
    b.value = std::strtod(text.c_str(), &end);
    const bool whole = b.value == std::floor(b.value) || b.unit == Unit::percent;
    if (text.empty() || *end != '\0' || !(std::abs(b.value) < 1e15) || !whole) refuse();
    b.given = true;
    return b;
  }

  void add(const std::string& part, std::vector<SplitRange>* out) const {
    const std::size_t bracket = part.find('[');
    const std::string name = part.substr(0, bracket);
    if (name == "all" && bracket == part.npos) {
      for (const auto& split : splits_) out->push_back({split.first, 0, split.second.num_examples});
      return;
    }
    const auto found = splits_.find(name);
    if (found == splits_.end()) {
      std::string known;
      for (const auto& split : splits_) known += (known.empty() ? "" : ", ") + split.first;
      RILL_FAIL(invalid_argument, "[datasets.load] \"{}\" names split \"{}\". There are: {}",
                whole_, name, known);
    }
    const datasets::SplitInfo& split = found->second;
    SplitRange range{name, 0, split.num_examples};
    if (bracket != part.npos) {
      if (part.back() != ']') refuse();
      const std::string inside = part.substr(bracket + 1, part.size() - bracket - 2);
      const std::size_t colon = inside.find(':');
      Bound from = bound(inside.substr(0, colon)), to;
      if (colon == inside.npos) {
        if (!from.given || from.unit != Unit::shard) refuse();
        to = from;
        to.value += 1;
      } else {
        to = bound(inside.substr(colon + 1));
      }
      if (!from.given && !to.given) refuse();
      // A unit at one of them is that of both.
      if (from.given && to.given && from.unit != to.unit) {
        if (from.unit == Unit::none)
          from.unit = to.unit;
        else if (to.unit == Unit::none)
          to.unit = from.unit;
        else
          refuse();
      }
      if (from.given) range.begin = place_of(from, split);
      if (to.given) range.end = place_of(to, split);
      RILL_CHECK(range.begin <= range.end, invalid_argument,
                 "[datasets.load] \"{}\" begins at example {} of \"{}\" and ends at {}", whole_,
                 range.begin, name, range.end);
    }
    out->push_back(std::move(range));
  }
  // From the end where it is negative; at most all.
  std::int64_t place_of(const Bound& b, const datasets::SplitInfo& split) const {
    const auto shards = static_cast<double>(split.shard_lengths.size());
    const auto all = static_cast<double>(split.num_examples);
    const double whole = b.unit == Unit::percent ? 100 : b.unit == Unit::shard ? shards : all;
    RILL_CHECK(b.unit != Unit::percent || std::abs(b.value) <= 100, invalid_argument,
               "[datasets.load] \"{}\" names {} %; expected -100 to 100", whole_, b.value);
    if (b.unit == Unit::shard) {
      const double n = std::clamp(b.value < 0 ? whole + b.value : b.value, 0.0, whole);
      std::int64_t examples = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        examples += split.shard_lengths[i];
      return examples;
    }
    // Halves to even, as Python rounds.
    const double n = b.unit == Unit::percent ? std::nearbyint(b.value * all / 100) : b.value;
    return static_cast<std::int64_t>(std::clamp(n < 0 ? all + n : n, 0.0, all));
  }

  const std::string& whole_;
  const std::map<std::string, datasets::SplitInfo>& splits_;
};

}  // namespace

std::vector<SplitRange> split_ranges(const std::string& expression,
                                     const std::map<std::string, datasets::SplitInfo>& splits) {
  return ExpressionReader(expression, splits).read();
}

}  // namespace rill::data
