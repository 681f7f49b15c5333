#include "rill/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace rill {
namespace {

// Longer ones come from damaged files; comparing them all would take for ever.
constexpr std::size_t kLongestName = 256;

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const std::size_t cost = std::min({row[j] + 1, row[j - 1] + 1, diagonal + !same});
      diagonal = row[j];
      row[j] = cost;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t least = wrong.size() / 3 + 2;
  for (const auto& name : known) {
    // So many letters more or fewer are as many differences.
    const std::size_t longer =
        std::max(name.size(), wrong.size()) - std::min(name.size(), wrong.size());
    if (longer >= least || wrong.size() > kLongestName) continue;
    const std::size_t d = distance(wrong, name);
    if (d < least) least = d, best = &name;
  }
  if (best) return " Did you mean \"" + *best + "\"?";
  std::string out = " Known: ";
  for (std::size_t i = 0; i < known.size() && i < 20; ++i) out += (i ? ", " : "") + known[i];
  return out + (known.size() > 20 ? ", ..." : "");
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string s;
  for (const std::string& n : names) s += (s.empty() ? "\"" : ", \"") + n + "\"";
  return s;
}

}  // namespace rill
