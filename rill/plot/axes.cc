// Axes: round numbers, marks, titles.
#include <algorithm>
#include <cmath>

#include "rill/base/format.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {

Scale scale_of(double low, double high, int most_marks) {
  if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high)) low = 0, high = 1;
  if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || low == high) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= room, high += room;
  }
  // The least of 1, 2, 5, 10 .. of which there are few enough.
  const double rough = (high - low) / std::max(most_marks, 1);
  const double ten = std::pow(10., std::floor(std::log10(rough)));
  double step = 10 * ten;
  for (double s : {1., 2., 5.})
    if (s * ten >= rough) {
      step = s * ten;
      break;
    }
  Scale out;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  out.low = first * step, out.high = last * step;
  for (double k = first; k <= last; ++k) out.marks.push_back(k == 0 ? 0 : k * step);
  return out;
}
std::string mark_text(double v) { return format("{:.6g}", v); }

Axes draw_axes(Drawing& d, const Scale& x, const Scale& y, const AxesTitles& titles, bool grid) {
  constexpr double kGap = 8, kMark = 5, kLine = 22;
  double widest = 0;
  for (double v : y.marks) widest = std::max(widest, text_width(mark_text(v), 2));
  Axes a{x, y, 0, 0, 0, 0};
  a.left = kGap + (titles.y.empty() ? 0 : kLine) + widest + kMark + 4;
  a.top = kGap + (titles.title.empty() ? 4 : kLine + 8);
  a.width = d.width - a.left - 2 * kGap - 8;
  a.height = d.height - a.top - kGap - kLine - kMark - (titles.x.empty() ? 0 : kLine + 2);
  const double bottom = a.top + a.height;
  for (double v : x.marks) {
    const double px = a.at(v, y.low).first;
    if (grid) d.lines.push_back({{{px, a.top}, {px, bottom}}, 1, kPale});
    d.lines.push_back({{{px, bottom}, {px, bottom + kMark}}, 1, kBlack});
    d.texts.push_back({px, bottom + kMark + 10, mark_text(v), Anchor::middle});
  }
  for (double v : y.marks) {
    const double py = a.at(x.low, v).second;
    if (grid) d.lines.push_back({{{a.left, py}, {a.left + a.width, py}}, 1, kPale});
    d.lines.push_back({{{a.left - kMark, py}, {a.left, py}}, 1, kBlack});
    d.texts.push_back({a.left - kMark - 4, py, mark_text(v), Anchor::right});
  }
  d.lines.push_back({{{a.left, a.top},
                      {a.left + a.width, a.top},
                      {a.left + a.width, bottom},
                      {a.left, bottom},
                      {a.left, a.top}},
                     1,
                     kBlack});
  if (!titles.title.empty())
    d.texts.push_back({a.left + a.width / 2, kGap + kLine / 2,
                       shortened(titles.title, 2, d.width - 2 * kGap), Anchor::middle});
  if (!titles.x.empty())
    d.texts.push_back({a.left + a.width / 2, d.height - kGap - 6., shortened(titles.x, 2, a.width),
                       Anchor::middle});
  if (!titles.y.empty())
    d.texts.push_back({kGap + 4, a.top + a.height / 2, shortened(titles.y, 2, a.height),
                       Anchor::middle, 2, true});
  return a;
}

}  // namespace rill::plot
