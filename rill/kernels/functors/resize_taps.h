#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

// Which pixels of an axis make which pixels of an axis of another size, and with
// what weights. All in float32, so that images come out as TensorFlow's do.
namespace rill::functors::resize {

using Index = std::int64_t;
inline std::size_t u(Index i) { return static_cast<std::size_t>(i); }

// Where pixels of a long axis of `to` lie on one of `from`.
struct Scale {
  Scale(Index from, Index to, bool align_corners, bool centers)
      : factor(align_corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                       : static_cast<float>(from) / static_cast<float>(to)),
        half(centers) {}
  float at(Index i) const {
    return half ? (static_cast<float>(i) + 0.5f) * factor - 0.5f : static_cast<float>(i) * factor;
  }
  float factor;
  bool half;
};

// The pixels that make pixel o: index and weight at [begin[o], begin[o + 1]).
struct Taps {
  std::vector<Index> begin{0}, index;
  std::vector<float> weight;
  void add(Index i, float w) { index.push_back(i), weight.push_back(w); }
  void close() { begin.push_back(static_cast<Index>(index.size())); }
  Index size() const { return static_cast<Index>(begin.size()) - 1; }
  // The same from the other side: which pixels pixel i helps to make, in order.
  Taps inverse(Index n) const {
    Taps t;
    t.begin.assign(u(n) + 1, 0);
    for (Index i : index) ++t.begin[u(i) + 1];
    for (Index i = 0; i < n; ++i) t.begin[u(i) + 1] += t.begin[u(i)];
    t.index.resize(index.size()), t.weight.resize(index.size());
    std::vector<Index> next(t.begin.begin(), t.begin.end() - 1);
    for (Index o = 0; o < size(); ++o)
      for (Index k = begin[u(o)]; k < begin[u(o) + 1]; ++k) {
        const Index at = next[u(index[u(k)])]++;
        t.index[u(at)] = o, t.weight[u(at)] = weight[u(k)];
      }
    return t;
  }
};
inline Index bound(Index i, Index n) { return std::clamp<Index>(i, 0, n - 1); }

// Lower and upper neighbour.
inline Taps linear_taps(const Scale& s, Index from, Index to) {
  Taps t;
  for (Index o = 0; o < to; ++o, t.close()) {
    const float at = s.at(o), floor = std::floor(at), w = at - floor;
    t.add(bound(static_cast<Index>(floor), from), 1.f - w);
    t.add(bound(static_cast<Index>(std::ceil(at)), from), w);
  }
  return t;
}

// The one pixel that is nearest.
inline Taps nearest_taps(bool align, bool half, Index from, Index to) {
  const Scale s(from, to, align, false);
  Taps t;
  for (Index o = 0; o < to; ++o, t.close()) {
    const float at = half ? (static_cast<float>(o) + 0.5f) * s.factor : s.at(o);
    t.add(bound(static_cast<Index>(align ? std::round(at) : std::floor(at)), from), 1.f);
  }
  return t;
}

// Cubics, their coefficients read from a table of 1024 steps. With centres they
// are Keys's (a = -1/2), and what lies outside the image counts nothing; else
// a = -3/4 and the border is repeated.
inline Taps cubic_taps(const Scale& s, Index from, Index to) {
  constexpr Index kSteps = 1024;
  const double a = s.half ? -0.5 : -0.75;
  std::vector<float> near(u(kSteps + 1)), far(u(kSteps + 1));  // below and above distance 1
  for (Index i = 0; i <= kSteps; ++i) {
    float x = static_cast<float>(static_cast<double>(i) / kSteps);
    near[u(i)] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
    x += 1.f;
    far[u(i)] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  }
  Taps t;
  for (Index o = 0; o < to; ++o, t.close()) {
    const float at = s.at(o), floor = std::floor(at);
    const Index first = static_cast<Index>(floor) - 1, step = std::lrint((at - floor) * kSteps);
    float w[4] = {far[u(step)], near[u(step)], near[u(kSteps - step)], far[u(kSteps - step)]};
    if (s.half) {
      for (Index k = 0; k < 4; ++k)
        if (first + k != bound(first + k, from)) w[k] = 0;
      const float sum = w[0] + w[1] + w[2] + w[3];
      if (std::abs(sum) >= 1000.f * std::numeric_limits<float>::min()) {
        const float inverse = 1.f / sum;
        for (float& v : w) v *= inverse;
      }
    }
    for (Index k = 0; k < 4; ++k) t.add(bound(first + k, from), w[k]);
  }
  return t;
}

// How much of each pixel lies under [o, o + 1) of the output.
inline Taps area_taps(const Scale& s, Index from, Index to) {
  Taps t;
  for (Index o = 0; o < to; ++o, t.close()) {
    const float low = static_cast<float>(o) * s.factor, high = static_cast<float>(o + 1) * s.factor;
    const Index end = static_cast<Index>(std::ceil(high));
    for (Index i = static_cast<Index>(std::floor(low)); i < end; ++i) {
      const float left = static_cast<float>(i), right = static_cast<float>(i + 1);
      t.add(bound(i, from), left < low ? (right > high ? s.factor : right - low)
                                       : (right > high ? high - left : 1.f));
    }
  }
  return t;
}

// A filter: its value at a distance from its centre, and where it ends.
struct Filter {
  explicit Filter(std::string_view name) {
    if (name.starts_with("lanczos"))
      radius = static_cast<float>(name.back() - '0'), value = lanczos;
    else if (name == "gaussian")
      radius = 1.5f, value = gaussian;
    else if (name == "box")
      radius = 1, value = box;
    else if (name == "triangle")
      radius = 1, value = triangle;
    else if (name == "keyscubic")
      radius = 2, value = keys;
    else
      radius = 2, value = mitchell;
  }
  static float lanczos(float x, float radius) {
    constexpr float pi = 3.14159265358979f;
    if (x > radius) return 0;
    if (x <= 1e-3f) return 1;
    return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
  }
  static float gaussian(float x, float radius) {
    const float sigma = radius / 3.f;
    return x >= radius ? 0.f : std::exp(-x * x / (2.f * sigma * sigma));
  }
  static float box(float x, float) { return x < 0.5f ? 1.f : x == 0.5f ? 0.5f : 0.f; }
  static float triangle(float x, float) { return x < 1.f ? 1.f - x : 0.f; }
  static float keys(float x, float) {
    if (x >= 2.f) return 0;
    return x >= 1.f ? ((-0.5f * x + 2.5f) * x - 4.f) * x + 2.f : ((1.5f * x - 2.5f) * x) * x + 1.f;
  }
  static float mitchell(float x, float) {
    if (x >= 2.f) return 0;
    return x >= 1.f ? (((-7.f / 18.f) * x + 2.f) * x - 10.f / 3.f) * x + 16.f / 9.f
                    : (((7.f / 6.f) * x - 2.f) * x) * x + 8.f / 9.f;
  }
  float radius;
  float (*value)(float x, float radius);
};
// Pixel o lies at (o + 1/2 - translation) / scale; a pixel outside has no taps.
// With antialias the filter is as wide as a pixel of the output at least.
inline Taps filter_taps(const Filter& f, float scale, float translation, bool antialias, Index from,
                        Index to) {
  const float inverse = 1.f / scale, shift = -inverse * translation;
  const float wide = antialias ? std::max(inverse, 1.f) : 1.f, reach = f.radius * wide;
  Taps t;
  std::vector<float> w;
  for (Index o = 0; o < to; ++o, t.close()) {
    const float at = (static_cast<float>(o) + 0.5f) * inverse + shift;
    if (!(at >= 0 && at <= static_cast<float>(from))) continue;
    const Index begin =
                    bound(static_cast<Index>(std::ceil(std::max(at - reach - 0.5f, -1.f))), from),
                end = bound(static_cast<Index>(
                                std::floor(std::min(at + reach - 0.5f, static_cast<float>(from)))),
                            from) +
                      1;
    float sum = 0;
    w.clear();
    for (Index i = begin; i < end; ++i) {
      w.push_back(f.value(std::abs((static_cast<float>(i) + 0.5f - at) * (1.f / wide)), f.radius));
      sum += w.back();
    }
    if (std::abs(sum) < 1000.f * std::numeric_limits<float>::min()) continue;
    for (Index i = begin; i < end; ++i) t.add(i, w[u(i - begin)] * (1.f / sum));
  }
  return t;
}

}  // namespace rill::functors::resize
