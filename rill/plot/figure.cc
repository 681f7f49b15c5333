#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/file.h"
#include "rill/ops/picture_ops.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {

Figure::Figure(Drawing drawing) : drawing_(std::make_shared<const Drawing>(std::move(drawing))) {}
int Figure::width() const { return drawing_->width; }
int Figure::height() const { return drawing_->height; }
Tensor Figure::pixels() const { return rendered(*drawing_); }
std::string Figure::svg() const { return svg_text(*drawing_); }
void Figure::save(const std::string& path) const {
  if (path.ends_with(".svg")) return io::write_file_atomically(path, svg());
  RILL_CHECK(path.ends_with(".png"), invalid_argument,
             "[plot] the file is to be \"{}\"; expected a name that ends in .png or .svg", path);
  io::write_file_atomically(path, io::encode_png(pixels()).item<std::string>());
}

void Drawing::add(const Drawing& d, double x, double y) {
  for (Area a : d.areas) a.x += x, a.y += y, areas.push_back(a);
  for (Image i : d.images) i.x += x, i.y += y, images.push_back(std::move(i));
  for (Line l : d.lines) {
    for (auto& [px, py] : l.points) px += x, py += y;
    lines.push_back(std::move(l));
  }
  for (Text t : d.texts) t.x += x, t.y += y, texts.push_back(std::move(t));
  width = std::max(width, static_cast<int>(x) + d.width);
  height = std::max(height, static_cast<int>(y) + d.height);
}

Paint paint_of(std::size_t i) {
  static constexpr Paint kPaints[] = {{31, 100, 180}, {225, 110, 20}, {40, 145, 60},
                                      {200, 45, 50},  {130, 85, 180}, {120, 75, 55},
                                      {210, 95, 170}, {25, 160, 175}};
  return kPaints[i % std::size(kPaints)];
}

double text_width(std::string_view text, int scale) {
  return 6. * scale * static_cast<double>(characters(text).size());
}
std::string shortened(const std::string& text, int scale, double width) {
  if (text_width(text, scale) <= width) return text;
  std::string kept = text;
  while (!kept.empty() && text_width(kept + "..", scale) > width) {
    // A whole character: the bytes that follow its first begin with 10.
    while (kept.size() > 1 && (static_cast<std::uint8_t>(kept.back()) & 0xc0) == 0x80)
      kept.pop_back();
    kept.pop_back();
  }
  return kept + "..";
}

}  // namespace rill::plot
