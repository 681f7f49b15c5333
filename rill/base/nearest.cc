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

// The words of a_name_like_this.
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    if (end > at) words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// The shortest name that has all words of this one in their order, which are several, and others
// between them: "sparse_crossentropy" is sparse_categorical_crossentropy.
const std::string* with_words_left_out(std::string_view wrong,
                                       const std::vector<std::string>& known) {
  const std::vector<std::string_view> wanted = words_of(wrong);
  const std::string* best = nullptr;
  if (wanted.size() < 2 || wrong.size() > kLongestName) return best;
  for (const std::string& name : known) {
    std::size_t next = 0;
    for (const std::string_view word : words_of(name))
      next += next < wanted.size() && distance(word, wanted[next]) == 0;
    if (next == wanted.size() && (!best || name.size() < best->size())) best = &name;
  }
  return best;
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string* best = with_words_left_out(wrong, known);
  if (best) return " Did you mean \"" + *best + "\"?";
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
