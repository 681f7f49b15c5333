// Figures as SVG.
#include "rill/base/format.h"
#include "rill/ops/picture_ops.h"
#include "rill/plot/drawing_impl.h"

namespace rill::plot {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 32)  // XML has no others
      out += c;
  }
  return out;
}
std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 3; ++k)
      v = v << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[v >> (18 - 6 * k) & 63];
  }
  return out;
}
std::string hex(Paint p) { return format("#{:02x}{:02x}{:02x}", p.r, p.g, p.b); }
const char* anchor_name(Anchor a) {
  return a == Anchor::left ? "start" : a == Anchor::right ? "end" : "middle";
}

}  // namespace

std::string svg_text(const Drawing& d) {
  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      d.width, d.height);
  for (const Area& a : d.areas)
    out +=
        format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
               a.x, a.y, a.width, a.height, hex(a.paint));
  for (const Image& i : d.images)
    out += format(
        "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
        "href=\"data:image/png;base64,{}\"/>\n",
        i.x, i.y, i.width, i.height, base64(io::encode_png(i.pixels).item<std::string>()));
  for (const Line& l : d.lines) {
    std::string points;
    for (const auto& [x, y] : l.points) points += format("{:.1f},{:.1f} ", x, y);
    out += format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
        "stroke-linejoin=\"round\"/>\n",
        points, hex(l.paint), l.width);
  }
  for (const Text& t : d.texts)
    out += format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-family=\"sans-serif\" font-size=\"{}\" "
        "text-anchor=\"{}\" dominant-baseline=\"central\" fill=\"{}\"{}>{}</text>\n",
        t.x, t.y, 6 * t.scale + 1, anchor_name(t.anchor), hex(t.paint),
        t.upwards ? format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", t.x, t.y) : std::string(),
        escaped(t.text));
  return out + "</svg>\n";
}

}  // namespace rill::plot
