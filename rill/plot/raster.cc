// Figures as pixels.
#include <algorithm>
#include <cmath>

#include "rill/ops/array_ops.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {
namespace {

class Raster {
 public:
  Raster(int width, int height)
      : width_(width),
        height_(height),
        pixels_(static_cast<std::size_t>(width) * height * 3, 255) {}

  // A pixel's part is what lies on its middle.
  void area(const Area& a) {
    const int x0 = edge(a.x, width_), x1 = edge(a.x + a.width, width_), y0 = edge(a.y, height_),
              y1 = edge(a.y + a.height, height_);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) blend(x, y, a.paint, 1);
  }
  void image(const Image& i) {
    const TensorShape& s = i.pixels.shape();
    const auto rows = s.dim(0), columns = s.dim(1);
    const std::uint8_t* from = i.pixels.data<std::uint8_t>().data();
    const int x0 = edge(i.x, width_), x1 = edge(i.x + i.width, width_), y0 = edge(i.y, height_),
              y1 = edge(i.y + i.height, height_);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        const auto row = std::clamp(static_cast<std::int64_t>((y + 0.5 - i.y) / i.height *
                                                              static_cast<double>(rows)),
                                    std::int64_t{0}, rows - 1),
                   column = std::clamp(static_cast<std::int64_t>((x + 0.5 - i.x) / i.width *
                                                                 static_cast<double>(columns)),
                                       std::int64_t{0}, columns - 1);
        const std::uint8_t* p = from + (row * columns + column) * 3;
        blend(x, y, {p[0], p[1], p[2]}, 1);
      }
  }
  // Smooth: a pixel is covered by how far it is from the line. The parts of a line share joints,
  // so each pixel takes the most that any part covers.
  void line(const Line& l) {
    std::vector<float>& cover = cover_;
    cover.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 0);
    const double half = l.width / 2;
    for (std::size_t k = 0; k + 1 < l.points.size(); ++k) {
      const auto [ax, ay] = l.points[k];
      const auto [bx, by] = l.points[k + 1];
      const double dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
      const int x0 = edge(std::min(ax, bx) - half - 1, width_),
                x1 = edge(std::max(ax, bx) + half + 1, width_),
                y0 = edge(std::min(ay, by) - half - 1, height_),
                y1 = edge(std::max(ay, by) + half + 1, height_);
      for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) {
          const double px = x + 0.5 - ax, py = y + 0.5 - ay;
          const double t = length > 0 ? std::clamp((px * dx + py * dy) / length, 0., 1.) : 0;
          const double far = std::hypot(px - t * dx, py - t * dy);
          float& c = cover[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                           static_cast<std::size_t>(x)];
          c = std::max(c, static_cast<float>(std::clamp(half + 0.5 - far, 0., 1.)));
        }
    }
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        const float c = cover[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                              static_cast<std::size_t>(x)];
        if (c > 0) blend(x, y, l.paint, c);
      }
  }
  void text(const Text& t) {
    const std::u32string letters = characters(t.text);
    const int length = static_cast<int>(letters.size()) * 6 * t.scale;
    const int before = t.anchor == Anchor::left    ? 0
                       : t.anchor == Anchor::right ? length
                                                   : length / 2;
    // Along the text, and across it from the top of the letters.
    int along = -before;
    const int top = -7 * t.scale / 2;
    for (char32_t c : letters) {
      const auto& rows = letter(c);
      for (int row = 0; row < 9; ++row)
        for (int column = 0; column < 5; ++column)
          if (rows[static_cast<std::size_t>(row)] >> (4 - column) & 1)
            block(t, along + column * t.scale, top + row * t.scale);
      along += 6 * t.scale;
    }
  }
  Tensor tensor() const { return reshape(constant(pixels_), {height_, width_, 3}); }

 private:
  static int edge(double v, int most) {
    return static_cast<int>(std::clamp(std::round(v), 0., static_cast<double>(most)));
  }
  void block(const Text& t, int along, int across) {
    for (int i = 0; i < t.scale; ++i)
      for (int j = 0; j < t.scale; ++j) {
        const int a = along + i, b = across + j;
        blend(static_cast<int>(std::lround(t.x)) + (t.upwards ? b : a),
              static_cast<int>(std::lround(t.y)) + (t.upwards ? -a - 1 : b), t.paint, 1);
      }
  }
  void blend(int x, int y, Paint p, float part) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    std::uint8_t* to =
        pixels_.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                          static_cast<std::size_t>(x)) *
                             3;
    const std::uint8_t over[] = {p.r, p.g, p.b};
    for (int i = 0; i < 3; ++i)
      to[i] = static_cast<std::uint8_t>(
          std::lround(static_cast<float>(to[i]) * (1 - part) + static_cast<float>(over[i]) * part));
  }
  int width_, height_;
  std::vector<std::uint8_t> pixels_;
  std::vector<float> cover_;
};

}  // namespace

Tensor rendered(const Drawing& d) {
  Raster raster(d.width, d.height);
  for (const Area& a : d.areas) raster.area(a);
  for (const Image& i : d.images) raster.image(i);
  for (const Line& l : d.lines) raster.line(l);
  for (const Text& t : d.texts) raster.text(t);
  return raster.tensor();
}

}  // namespace rill::plot
