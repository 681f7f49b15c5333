// Curves, a confusion matrix, a histogram.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rill/base/check.h"
#include "rill/base/format.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {
namespace {

using NamedCurves = std::vector<std::pair<std::string, std::vector<double>>>;

constexpr int kLeastSide = 120, kMostSide = 10000, kXMarks = 8, kYMarks = 6;

void check_sides(int width, int height) {
  RILL_CHECK(
      width >= kLeastSide && height >= kLeastSide && width <= kMostSide && height <= kMostSide,
      invalid_argument, "[plot] a figure of {} x {} pixels; expected {} to {} a side", width,
      height, kLeastSide, kMostSide);
}

// The least and largest finite number of all; low > high where there is none.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double v) {
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
};

// Names beside a short line, in the corner where the curves are thinnest.
void draw_legend(Drawing& d, const Axes& a, const NamedCurves& curves,
                 const std::vector<Line>& drawn) {
  constexpr int kSteps = 8;  // along each part of a curve
  constexpr double kRow = 20, kSample = 24, kPad = 6;
  double widest = 0;
  for (const auto& [name, values] : curves)
    widest = std::max(widest, text_width(shortened(name, 2, a.width / 2), 2));
  const double width = kPad * 3 + kSample + widest,
               height = kPad * 2 + kRow * static_cast<double>(curves.size());
  double best_x = 0, best_y = 0;
  long fewest = std::numeric_limits<long>::max();
  for (int corner : {1, 0, 3, 2}) {
    const double x = corner % 2 ? a.left + a.width - width - 8 : a.left + 8,
                 y = corner / 2 ? a.top + a.height - height - 8 : a.top + 8;
    long inside = 0;
    for (const Line& l : drawn)
      for (std::size_t k = 0; k + 1 < l.points.size(); ++k)
        for (int step = 0; step <= kSteps; ++step) {
          const double part = step / static_cast<double>(kSteps),
                       px = std::lerp(l.points[k].first, l.points[k + 1].first, part),
                       py = std::lerp(l.points[k].second, l.points[k + 1].second, part);
          inside += px > x - 8 && px < x + width + 8 && py > y - 8 && py < y + height + 8;
        }
    if (inside < fewest) fewest = inside, best_x = x, best_y = y;
  }
  double y = best_y + kPad + kRow / 2;
  for (std::size_t i = 0; i < curves.size(); ++i, y += kRow) {
    d.lines.push_back({{{best_x + kPad, y}, {best_x + kPad + kSample, y}}, 2.5, paint_of(i)});
    d.texts.push_back({best_x + 2 * kPad + kSample, y, shortened(curves[i].first, 2, a.width / 2)});
  }
}

Drawing drawn_curves(const NamedCurves& curves, const CurvesOptions& o) {
  check_sides(o.width, o.height);
  Range xs, ys;
  for (const auto& [name, values] : curves) {
    RILL_CHECK(o.x.empty() || o.x.size() == values.size(), invalid_argument,
               "[plot::curves] \"{}\" has {} values and x {}; expected as many", name,
               values.size(), o.x.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ys.take(values[i]);
      xs.take(o.x.empty() ? static_cast<double>(i) : o.x[i]);
    }
  }
  Drawing d{.width = o.width, .height = o.height};
  Scale across = scale_of(xs.low, xs.high, kXMarks);
  if (xs.low < xs.high) {
    // Curves reach both ends.
    across.low = xs.low, across.high = xs.high;
    std::erase_if(across.marks, [&](double v) { return v < xs.low || v > xs.high; });
  }
  const Axes a = draw_axes(d, across, scale_of(ys.low, ys.high, kYMarks),
                           {o.title, o.x_label, o.y_label}, true);
  std::vector<Line> lines;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<double>& values = curves[k].second;
    Line line{{}, 2.5, paint_of(k)};
    for (std::size_t i = 0; i <= values.size(); ++i) {
      const double x = i < values.size() ? (o.x.empty() ? static_cast<double>(i) : o.x[i]) : NAN;
      if (i < values.size() && std::isfinite(x) && std::isfinite(values[i])) {
        line.points.push_back(a.at(x, values[i]));
        continue;
      }
      // A single point is a dot.
      if (line.points.size() == 1) line.points.push_back(line.points[0]), line.width = 6;
      if (!line.points.empty()) lines.push_back(line);
      line.points.clear(), line.width = 2.5;
    }
  }
  d.lines.insert(d.lines.end(), lines.begin(), lines.end());
  const bool named =
      std::any_of(curves.begin(), curves.end(), [](const auto& c) { return !c.first.empty(); });
  if (named) draw_legend(d, a, curves, lines);
  return d;
}

}  // namespace

Figure curves(const NamedCurves& curves, const CurvesOptions& options) {
  return Figure(drawn_curves(curves, options));
}

Figure history(const keras::History& history, const HistoryOptions& o) {
  constexpr std::string_view kValidation = "val_";
  std::vector<std::string> metrics = o.metrics;
  if (metrics.empty())
    for (const auto& [name, values] : history.items())
      if (!name.starts_with(kValidation)) metrics.push_back(name);
  RILL_CHECK(!metrics.empty(), invalid_argument,
             "[plot::history] the history is empty; fit a model for one epoch at least");
  Drawing all;
  for (const std::string& metric : metrics) {
    CurvesOptions options{
        .x_label = "epoch", .y_label = metric, .width = o.width, .height = o.height};
    if (&metric == &metrics[0]) options.title = o.title;
    NamedCurves curves{{"training", history[metric]}};
    const std::string validation = std::string(kValidation) + metric;
    if (history.contains(validation)) curves.emplace_back("validation", history[validation]);
    // Epochs by their own numbers, where every curve has all of them.
    const bool numbered = std::all_of(curves.begin(), curves.end(), [&](const auto& c) {
      return c.second.size() == history.epoch.size();
    });
    if (numbered) options.x.assign(history.epoch.begin(), history.epoch.end());
    all.add(drawn_curves(curves, options), 0, all.height);
  }
  return Figure(std::move(all));
}

Figure confusion_matrix(const Operand& matrix, const ConfusionMatrixOptions& o) {
  const Arg m(matrix);
  const TensorShape& s = m->shape();
  RILL_CHECK(
      s.rank() == 2 && s.dim(0) == s.dim(1) && s.dim(0) > 0 && s.dim(0) <= 200, invalid_argument,
      "[plot::confusion_matrix] matrix has shape {}; expected [classes, classes], 1 to 200", s);
  const auto n = static_cast<std::size_t>(s.dim(0));
  RILL_CHECK(o.labels.empty() || o.labels.size() == n, invalid_argument,
             "[plot::confusion_matrix] there are {} labels and {} classes", o.labels.size(), n);
  std::vector<double> v = cast(*m, float64).to_vector<double>();
  if (o.normalize)
    for (std::size_t row = 0; row < n; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += v[row * n + i];
      for (std::size_t i = 0; sum > 0 && i < n; ++i) v[row * n + i] /= sum;
    }
  double most = 0, widest = 0;
  for (double x : v)
    if (std::isfinite(x)) most = std::max(most, x);
  auto cell_text = [&](double x) { return o.normalize ? format("{:.2f}", x) : mark_text(x); };
  for (double x : v) widest = std::max(widest, text_width(cell_text(x), 2));
  auto label = [&](std::size_t i) { return o.labels.empty() ? format("{}", i) : o.labels[i]; };
  constexpr double kMostLabel = 160, kGap = 8, kLine = 20;
  double longest = 0;
  for (std::size_t i = 0; i < n; ++i)
    longest = std::max(longest, std::min(text_width(label(i), 2), kMostLabel));
  const bool numbers = n <= 30;
  const double cell = numbers ? std::clamp(widest + 10, 36., 90.) : 12;
  const bool upright = longest + 6 <= cell;  // the labels below stand side by side
  const double left = kGap + kLine + longest + 8, top = kGap + (o.title.empty() ? 4 : kLine + 6),
               side = cell * static_cast<double>(n), below = upright ? kLine : longest + 8;
  Drawing d{.width = static_cast<int>(left + side + 2 * kGap),
            .height = static_cast<int>(top + side + below + kLine + 2 * kGap)};
  d.width = std::max(d.width, 220);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      const double value = v[row * n + column],
                   part = most > 0 && value > 0 ? std::min(value / most, 1.) : 0;
      auto mixed = [&](int full) { return static_cast<std::uint8_t>(255 - part * (255 - full)); };
      const double x = left + cell * static_cast<double>(column),
                   y = top + cell * static_cast<double>(row);
      d.areas.push_back({x, y, cell, cell, {mixed(8), mixed(60), mixed(130)}});
      if (numbers)
        d.texts.push_back({x + cell / 2, y + cell / 2, cell_text(value), Anchor::middle, 2, false,
                           part > 0.5 ? kWhite : kBlack});
    }
  for (std::size_t i = 0; i < n; ++i) {
    const double middle = cell * (static_cast<double>(i) + 0.5);
    if (n > 60 && i % 10 != 0) continue;
    const std::string text = shortened(label(i), 2, kMostLabel);
    d.texts.push_back({left - 6, top + middle, text, Anchor::right});
    if (upright)
      d.texts.push_back({left + middle, top + side + 12, text, Anchor::middle});
    else
      d.texts.push_back({left + middle, top + side + 6, text, Anchor::right, 2, true});
  }
  d.lines.push_back({{{left, top},
                      {left + side, top},
                      {left + side, top + side},
                      {left, top + side},
                      {left, top}},
                     1,
                     kBlack});
  d.texts.push_back({left + side / 2, d.height - kGap - 6, "prediction", Anchor::middle});
  d.texts.push_back({kGap + 8, top + side / 2, "label", Anchor::middle, 2, true});
  if (!o.title.empty())
    d.texts.push_back({d.width / 2., kGap + kLine / 2, shortened(o.title, 2, d.width - 2 * kGap),
                       Anchor::middle});
  return Figure(std::move(d));
}

Figure histogram(const Operand& values, const HistogramOptions& o) {
  check_sides(o.width, o.height);
  RILL_CHECK(o.bins > 0 && o.bins <= kMostSide, invalid_argument,
             "[plot::histogram] bins is {}; expected 1 to {}", o.bins, kMostSide);
  const Arg v(values);
  const std::vector<double> numbers = cast(*v, float64).to_vector<double>();
  Range range;
  for (double x : numbers) range.take(x);
  if (range.low > range.high) range = {0, 1};
  if (range.low == range.high) range.low -= 0.5, range.high += 0.5;
  std::vector<double> counts(static_cast<std::size_t>(o.bins));
  const double step = (range.high - range.low) / o.bins;
  for (double x : numbers) {
    if (!std::isfinite(x)) continue;
    const auto bin = static_cast<std::int64_t>((x - range.low) / step);
    ++counts[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, o.bins - 1))];
  }
  Drawing d{.width = o.width, .height = o.height};
  const double most = *std::max_element(counts.begin(), counts.end());
  const Axes a =
      draw_axes(d, scale_of(range.low, range.high, kXMarks),
                scale_of(0, std::max(most, 1.), kYMarks), {o.title, o.x_label, "count"}, false);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double low = range.low + step * static_cast<double>(i);
    const auto [x0, y] = a.at(low, counts[i]);
    const auto [x1, bottom] = a.at(low + step, 0);
    if (counts[i] > 0)
      d.areas.push_back({x0, y, std::max(x1 - x0 - 1, 1.), bottom - y, paint_of(0)});
  }
  return Figure(std::move(d));
}

}  // namespace rill::plot
