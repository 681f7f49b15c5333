#include "rill/ops/nn/windows.h"

#include <algorithm>

#include "rill/base/check.h"

namespace rill {

std::string image_format(int spatial, bool channels_first) {
  const std::string axes = spatial == 1 ? "W" : spatial == 2 ? "HW" : "DHW";
  return channels_first ? "NC" + axes : "N" + axes + "C";
}

ImageLayout image_layout(const AttrReader& c, int spatial) {
  const std::string_view f = c.string_attr("data_format");
  const std::string last = image_format(spatial, false), first = image_format(spatial, true);
  RILL_CHECK(f == last || f == first, invalid_argument,
             "[{}] data_format is \"{}\"; expected \"{}\" or \"{}\"", c.op().tag, f, last, first);
  return {spatial, f == first};
}

TensorShape WindowGeometry::out_shape() const {
  Dims dims(static_cast<std::size_t>(layout.rank()), -1);
  dims[0] = batch;
  dims[static_cast<std::size_t>(layout.channels())] = out_channels;
  for (int i = 0; i < layout.spatial; ++i)
    dims[static_cast<std::size_t>(layout.axis(i))] = axes[3 - layout.spatial + i].out;
  std::int64_t n = 1;
  for (std::int64_t d : dims)
    RILL_CHECK(d <= 0 || !__builtin_mul_overflow(n, d, &n), invalid_argument,
               "shape {} has more elements than 63 bits can count", TensorShape(dims));
  return TensorShape(dims);
}

namespace {

// A list attribute with one number for each axis of the tensor.
std::span<const std::int64_t> per_axis(const AttrReader& c, const ImageLayout& l,
                                       std::string_view name) {
  const auto v = c.ints_attr(name);
  RILL_CHECK(static_cast<int>(v.size()) == l.rank(), invalid_argument,
             "[{}] {} has {} entries; expected {}, one for each of {}", c.op().tag, name, v.size(),
             l.rank(), image_format(l.spatial, l.channels_first));
  RILL_CHECK(v[0] == 1 && v[static_cast<std::size_t>(l.channels())] == 1, invalid_argument,
             "[{}] {} of batch and channels are {} and {}; expected 1", c.op().tag, name, v[0],
             v[static_cast<std::size_t>(l.channels())]);
  for (std::int64_t s : v)
    RILL_CHECK(s >= 1 && s <= INT32_MAX, invalid_argument,
               "[{}] an entry of {} is {}; expected 1 or more", c.op().tag, name, s);
  return v;
}

// Padding and output size of one axis.
void place(const AttrReader& c, Window& w, std::string_view padding, bool must_fit) {
  std::int64_t reach = 0;
  if (w.size < 0) {
    w.out = padding == "SAME" && w.in >= 0 ? (w.in + w.stride - 1) / w.stride : -1;
    return;
  }
  RILL_CHECK(w.size >= 1, invalid_argument,
             "[{}] a window has {} elements along an axis; expected 1 or more", c.op().tag, w.size);
  RILL_CHECK(!__builtin_mul_overflow(w.size - 1, w.dilation, &reach) && reach < INT64_MAX / 4,
             invalid_argument, "[{}] a window of {} elements with dilation {} is too large",
             c.op().tag, w.size, w.dilation);
  reach += 1;
  if (w.in < 0) {
    w.out = -1;
  } else if (padding == "SAME") {
    w.out = w.in / w.stride + (w.in % w.stride != 0);
    const std::int64_t needed = std::max<std::int64_t>(0, (w.out - 1) * w.stride + reach - w.in);
    w.before = needed / 2;
    w.after = needed - w.before;
  } else {
    const std::int64_t padded = w.in + w.before + w.after;
    RILL_CHECK(
        padded >= reach || !must_fit, invalid_argument,
        "[{}] Negative dimension size caused by subtracting {} from {}: the window is larger than "
        "an axis of {} with padding {} and {}; expected a smaller window, a larger image, or "
        "padding that keeps its size (\"same\")",
        c.op().tag, reach, padded, w.in, w.before, w.after);
    const std::int64_t room = padded - reach + w.stride;
    RILL_CHECK(room >= 0, invalid_argument,
               "[{}] a window of {} elements does not fit an axis of {} with padding {} and {}",
               c.op().tag, reach, w.in, w.before, w.after);
    w.out = room / w.stride;
  }
}

// strides, padding and data_format into the axes of `g`, whose layout is set.
void read_windows(const AttrReader& c, WindowGeometry& g, const TensorShape& input,
                  bool must_fit = false) {
  const ImageLayout& l = g.layout;
  const auto strides = per_axis(c, l, "strides");
  const std::string_view padding = c.string_attr("padding");
  const bool may_be_explicit = c.op().find_attr("explicit_paddings") >= 0;
  RILL_CHECK(padding == "SAME" || padding == "VALID" || (may_be_explicit && padding == "EXPLICIT"),
             invalid_argument, "[{}] padding is \"{}\"; expected \"SAME\"{} \"VALID\"{}",
             c.op().tag, padding, may_be_explicit ? "," : " or",
             may_be_explicit ? " or \"EXPLICIT\"" : "");
  std::span<const std::int64_t> each;
  if (may_be_explicit) each = c.ints_attr("explicit_paddings");
  if (padding == "EXPLICIT") {
    RILL_CHECK(static_cast<int>(each.size()) == 2 * l.rank(), invalid_argument,
               "[{}] explicit_paddings has {} entries; expected {}, two for each of {}", c.op().tag,
               each.size(), 2 * l.rank(), c.string_attr("data_format"));
    for (std::int64_t p : each)
      RILL_CHECK(p >= 0 && p <= INT32_MAX, invalid_argument,
                 "[{}] an entry of explicit_paddings is {}; expected 0 or more", c.op().tag, p);
    const auto ch = static_cast<std::size_t>(2 * l.channels());
    RILL_CHECK(each[0] == 0 && each[1] == 0 && each[ch] == 0 && each[ch + 1] == 0, invalid_argument,
               "[{}] explicit_paddings of batch and channels must be 0", c.op().tag);
  } else {
    RILL_CHECK(each.empty(), invalid_argument,
               "[{}] explicit_paddings is given, but padding is \"{}\"; expected \"EXPLICIT\"",
               c.op().tag, padding);
  }
  for (int i = 0; i < l.spatial; ++i) {
    Window& w = g.axes[3 - l.spatial + i];
    const auto a = static_cast<std::size_t>(l.axis(i));
    w.in = input.has_rank() ? input.dim(l.axis(i)) : -1;
    w.stride = strides[a];
    if (padding == "EXPLICIT") w.before = each[2 * a], w.after = each[2 * a + 1];
    place(c, w, padding, must_fit);
  }
}

void check_rank(const AttrReader& c, const TensorShape& s, int rank, std::string_view name) {
  RILL_CHECK(!s.has_rank() || s.rank() == rank, invalid_argument,
             "[{}] {} must have rank {}, got shape {}", c.op().tag, name, rank, s);
}

}  // namespace

WindowGeometry conv_geometry(const AttrReader& c, int spatial, bool depthwise,
                             const TensorShape& input, const TensorShape& filter, bool must_fit) {
  WindowGeometry g;
  g.layout = image_layout(c, spatial);
  const ImageLayout& l = g.layout;
  check_rank(c, input, l.rank(), "input");
  check_rank(c, filter, l.rank(), "filter");
  if (input.has_rank()) g.batch = input.dim(0), g.in_channels = input.dim(l.channels());
  const auto dilations = per_axis(c, l, "dilations");
  std::int64_t filter_in = -1, filter_out = -1;
  for (int i = 0; i < spatial; ++i) {
    Window& w = g.axes[3 - spatial + i];
    w.size = filter.has_rank() ? filter.dim(i) : -1;
    w.dilation = dilations[static_cast<std::size_t>(l.axis(i))];
  }
  if (filter.has_rank()) filter_in = filter.dim(spatial), filter_out = filter.dim(spatial + 1);
  read_windows(c, g, input, must_fit);
  if (depthwise) {
    RILL_CHECK(g.in_channels < 0 || filter_in < 0 || g.in_channels == filter_in, invalid_argument,
               "[{}] input of shape {} has {} channels, filter of shape {} is for {}", c.op().tag,
               input, g.in_channels, filter, filter_in);
    if (g.in_channels < 0) g.in_channels = filter_in;
    RILL_CHECK(g.in_channels < 0 || filter_out < 0 ||
                   !__builtin_mul_overflow(g.in_channels, filter_out, &g.out_channels),
               invalid_argument, "[{}] {} channels times {} are more than 63 bits can count",
               c.op().tag, g.in_channels, filter_out);
    if (g.in_channels < 0 || filter_out < 0) g.out_channels = -1;
    g.groups = g.in_channels;
    return g;
  }
  g.out_channels = filter_out;
  if (g.in_channels >= 0 && filter_in >= 0) {
    RILL_CHECK(filter_in == g.in_channels ||
                   (filter_in > 0 && g.in_channels > 0 && g.in_channels % filter_in == 0),
               invalid_argument,
               "[{}] input of shape {} has {} channels, filter of shape {} is for {}; expected "
               "equal numbers, or a multiple for groups",
               c.op().tag, input, g.in_channels, filter, filter_in);
    g.groups = filter_in == 0 ? 1 : g.in_channels / filter_in;
    RILL_CHECK(
        filter_out < 0 || filter_out % g.groups == 0, invalid_argument,
        "[{}] the {} channels that come out of filter of shape {} do not divide into {} groups",
        c.op().tag, filter_out, filter, g.groups);
  }
  return g;
}

WindowGeometry pool_geometry(const AttrReader& c, int spatial, const TensorShape& input,
                             bool must_fit) {
  WindowGeometry g;
  g.layout = image_layout(c, spatial);
  check_rank(c, input, g.layout.rank(), "input");
  if (input.has_rank())
    g.batch = input.dim(0), g.in_channels = g.out_channels = input.dim(g.layout.channels());
  const auto sizes = per_axis(c, g.layout, "ksize");
  for (int i = 0; i < spatial; ++i)
    g.axes[3 - spatial + i].size = sizes[static_cast<std::size_t>(g.layout.axis(i))];
  read_windows(c, g, input, must_fit);
  // A window that lies in the padding alone has neither a largest element nor a mean.
  for (const Window& w : g.axes)
    RILL_CHECK((w.before < w.size && w.after < w.size) || w.in < 0, invalid_argument,
               "[{}] padding {} and {} must be smaller than the window of {}", c.op().tag, w.before,
               w.after, w.size);
  return g;
}

WindowGeometry dilation_geometry(const AttrReader& c, const TensorShape& input,
                                 const TensorShape& filter) {
  WindowGeometry g;
  check_rank(c, input, 4, "input");
  check_rank(c, filter, 3, "filter");
  const std::int64_t channels = filter.has_rank() ? filter.dim(2) : -1;
  if (input.has_rank()) g.batch = input.dim(0), g.in_channels = input.dim(3);
  RILL_CHECK(g.in_channels < 0 || channels < 0 || g.in_channels == channels, invalid_argument,
             "[{}] input of shape {} has {} channels, filter of shape {} is for {}", c.op().tag,
             input, g.in_channels, filter, channels);
  if (g.in_channels < 0) g.in_channels = channels;
  g.out_channels = g.in_channels;
  const auto rates = per_axis(c, g.layout, "rates");
  for (int i = 0; i < 2; ++i) {
    g.axes[1 + i].size = filter.has_rank() ? filter.dim(i) : -1;
    g.axes[1 + i].dilation = rates[static_cast<std::size_t>(1 + i)];
  }
  read_windows(c, g, input);
  return g;
}

WindowAttrs::WindowAttrs(std::string_view op_tag, int spatial, const std::string& format)
    : tag(op_tag), data_format(format) {
  const std::string last = image_format(spatial, false), first = image_format(spatial, true);
  if (data_format.empty()) data_format = last;
  RILL_CHECK(data_format == last || data_format == first, invalid_argument,
             "[{}] data_format is \"{}\"; expected \"{}\" or \"{}\"", tag, data_format, last,
             first);
  layout = {spatial, data_format == first};
}

std::vector<std::int64_t> WindowAttrs::sizes(const nn::Sizes& s, std::string_view name) const {
  const std::vector<int>& v = s.list();
  if (static_cast<int>(v.size()) == layout.rank()) return {v.begin(), v.end()};
  RILL_CHECK(v.size() == 1 || static_cast<int>(v.size()) == layout.spatial, invalid_argument,
             "[{}] {} has {} entries; expected 1, {} or {}", tag, name, v.size(), layout.spatial,
             layout.rank());
  std::vector<std::int64_t> out(static_cast<std::size_t>(layout.rank()), 1);
  for (int i = 0; i < layout.spatial; ++i)
    out[static_cast<std::size_t>(layout.axis(i))] =
        v[v.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  return out;
}

std::vector<std::int64_t> WindowAttrs::paddings(const nn::Padding& p) const {
  std::vector<std::int64_t> out;
  if (p.name() != "EXPLICIT") return out;
  RILL_CHECK(static_cast<int>(p.each().size()) == layout.rank(), invalid_argument,
             "[{}] padding has {} entries; expected {}, a pair for each of {}", tag,
             p.each().size(), layout.rank(), data_format);
  for (const std::vector<int>& pair : p.each()) {
    RILL_CHECK(pair.size() == 2, invalid_argument,
               "[{}] an entry of padding has {} numbers; expected 2, before and after", tag,
               pair.size());
    out.insert(out.end(), pair.begin(), pair.end());
  }
  return out;
}

}  // namespace rill
