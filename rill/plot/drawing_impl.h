#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rill/plot/plot.h"

// What figures are made of, and how that becomes pixels or SVG. Places are pixels from the upper
// left corner, y downwards.
namespace rill::plot {

struct Paint {
  std::uint8_t r, g, b;
};
inline constexpr Paint kBlack{0, 0, 0}, kWhite{255, 255, 255}, kGray{150, 150, 150},
    kPale{225, 225, 225};
// The colour of the i-th curve.
Paint paint_of(std::size_t i);

struct Area {
  double x, y, width, height;
  Paint paint;
};
struct Line {
  std::vector<std::pair<double, double>> points;
  double width;
  Paint paint;
};
enum class Anchor : std::uint8_t { left, middle, right };
struct Text {
  double x, y;  // of the anchor on the middle line of the letters
  std::string text;
  Anchor anchor = Anchor::left;
  int scale = 2;         // a letter has 6 x 8 pixels of this size, space around it included
  bool upwards = false;  // reads from below
  Paint paint = kBlack;
};
struct Image {
  double x, y, width, height;
  Tensor pixels;  // uint8 [height, width, 3]
};

struct Drawing {
  int width = 0, height = 0;
  // Drawn in this order.
  std::vector<Area> areas;
  std::vector<Image> images;
  std::vector<Line> lines;
  std::vector<Text> texts;

  // Puts another one at a place.
  void add(const Drawing& d, double x, double y);
};

// Of one line, in pixels.
double text_width(std::string_view text, int scale);
// As many letters as fit into a width, with dots for the rest.
std::string shortened(const std::string& text, int scale, double width);

// The letter's nine rows of five bits, the leftmost highest: seven above the line and two below. A
// box for what is not ASCII.
const std::array<std::uint8_t, 9>& letter(char32_t c);
// The characters of UTF-8 text; U+FFFD for damaged ones.
std::u32string characters(std::string_view utf8);

Tensor rendered(const Drawing& drawing);  // uint8 [height, width, 3]
std::string svg_text(const Drawing& drawing);

// An axis from the least to the largest number that is shown, and the numbers at which it has
// marks.
struct Scale {
  double low, high;
  std::vector<double> marks;
};
// Round numbers around a range; of one number, or of none, too.
Scale scale_of(double low, double high, int most_marks);
std::string mark_text(double v);

// Axes with marks, titles and a frame, and the place that they leave.
struct Axes {
  Scale x, y;
  double left, top, width, height;
  std::pair<double, double> at(double vx, double vy) const {
    return {left + (vx - x.low) / (x.high - x.low) * width,
            top + height - (vy - y.low) / (y.high - y.low) * height};
  }
};
struct AxesTitles {
  std::string title, x, y;
};
Axes draw_axes(Drawing& d, const Scale& x, const Scale& y, const AxesTitles& titles, bool grid);

}  // namespace rill::plot
