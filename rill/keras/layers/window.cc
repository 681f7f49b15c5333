#include <algorithm>
#include <cctype>

#include "rill/base/check.h"
#include "rill/keras/layers/window_impl.h"

namespace rill::keras {

std::vector<int> per_axis(std::string_view class_name, std::string_view argument,
                          const nn::Sizes& given, int axes, int least) {
  std::vector<int> v = given.list();
  RILL_CHECK(!v.empty(), invalid_argument, "[{}] {} is not given; expected a number or {} of them",
             class_name, argument, axes);
  RILL_CHECK(v.size() == 1 || static_cast<int>(v.size()) == axes, invalid_argument,
             "[{}] {} has {} entries; expected 1 or {}, one for each axis", class_name, argument,
             v.size(), axes);
  for (int i : v)
    RILL_CHECK(i >= least, invalid_argument, "[{}] {} contains {}; expected {} or more", class_name,
               argument, i, least);
  v.resize(static_cast<std::size_t>(axes), v[0]);
  return v;
}

nn::Sizes sizes_from(const Config& c) {
  std::vector<int> v;
  if (!c.is_null())
    for (std::int64_t i : c.as_ints()) v.push_back(static_cast<int>(i));
  return v;
}

bool is_channels_first(std::string_view class_name, const std::string& format) {
  RILL_CHECK(format.empty() || format == "channels_last" || format == "channels_first",
             invalid_argument,
             "[{}] data_format is \"{}\"; expected \"channels_last\" or \"channels_first\"",
             class_name, format);
  return format == "channels_first";
}
const char* data_format_name(bool channels_first) {
  return channels_first ? "channels_first" : "channels_last";
}

std::string checked_padding(std::string_view class_name, const std::string& padding,
                            bool causal_too) {
  std::string p = padding;
  std::transform(p.begin(), p.end(), p.begin(), [](unsigned char c) { return std::tolower(c); });
  RILL_CHECK(p == "valid" || p == "same" || (causal_too && p == "causal"), invalid_argument,
             "[{}] padding is \"{}\"; expected \"valid\"{} \"same\"{}", class_name, padding,
             causal_too ? "," : " or", causal_too ? " or \"causal\"" : "");
  return p;
}

}  // namespace rill::keras
