// What images look like, in numbers: composites.
#include <cmath>
#include <numbers>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_measures.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::image {
namespace {

// Two images and the range of their values, in float32 and its range.
struct Pair {
  Tensor a, b, range;
};
Pair float_pair(std::string_view tag, const Operand& first, const Operand& second,
                const Operand& max_val) {
  const Arg a(first), b(second), range(max_val, a->dtype());
  const TensorShape &s = a->shape(), &t = b->shape();
  RILL_CHECK((!s.has_rank() || s.rank() >= 3) && (!t.has_rank() || t.rank() >= 3), invalid_argument,
             "[{}] images of shapes {} and {}; expected 3 dimensions or more", tag, s, t);
  for (int k = 1; s.has_rank() && t.has_rank() && k <= 3; ++k)
    RILL_CHECK(s.dim(-k) < 0 || t.dim(-k) < 0 || s.dim(-k) == t.dim(-k), invalid_argument,
               "[{}] images of shapes {} and {}; expected the same height, width and channels", tag,
               s, t);
  return {convert_image_dtype(*a, float32), convert_image_dtype(*b, float32),
          convert_image_dtype(cast(*range, a->dtype()), float32)};
}

// Sums in a window that moves over images of any number of axes before their last three.
class Window {
 public:
  Window(int size, double sigma) : size_(size) {
    std::vector<float> g;
    double sum = 0;
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const double dy = y - (size - 1) / 2., dx = x - (size - 1) / 2.;
        const double v = std::exp(-0.5 * (dy * dy + dx * dx) / (sigma * sigma));
        g.push_back(static_cast<float>(v)), sum += v;
      }
    for (float& v : g) v = static_cast<float>(static_cast<double>(v) / sum);
    filter_ = reshape(constant(g), {size, size, 1, 1});
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor s = shape(x);
    const int rank = x.shape().rank();
    const Tensor outer = s(rill::slice(0, rank - 3)), inner = s(rill::slice(rank - 3, rank));
    const Tensor filter =
        tile(filter_, concat({constant({1, 1}), s(rill::slice(rank - 1, rank)), constant({1})}, 0));
    const Tensor y =
        nn::depthwise_conv2d(reshape(x, concat({constant({-1}), inner}, 0)), filter, 1, "VALID");
    const Tensor t = shape(y);
    return reshape(y, concat({outer, t(rill::slice(1, 4))}, 0));
  }
  void check(std::string_view tag, const TensorShape& s) const {
    RILL_CHECK(s.has_rank(), invalid_argument, "[{}] images of unknown rank; expected 3 or more",
               tag);
    for (int k = 2; k <= 3; ++k)
      RILL_CHECK(s.dim(-k) < 0 || s.dim(-k) >= size_, invalid_argument,
                 "[{}] images of shape {}; expected {} pixels a side at least, the filter_size",
                 tag, s, size_);
  }

 private:
  int size_;
  Tensor filter_;
};
// For each place of the window and each channel: the similarity, and that of contrast alone.
Tensors<2> similarity(std::string_view tag, const Pair& p, const Window& window, double k1,
                      double k2) {
  window.check(tag, p.a.shape()), window.check(tag, p.b.shape());
  const Tensor c1 = square(p.range * k1), c2 = square(p.range * k2);
  const Tensor mean_a = window(p.a), mean_b = window(p.b);
  const Tensor product = mean_a * mean_b * 2.f, squares = square(mean_a) + square(mean_b);
  const Tensor luminance = (product + c1) / (squares + c1);
  const Tensor both = window(p.a * p.b) * 2.f, each = window(square(p.a) + square(p.b));
  const Tensor contrast = (both - product + c2) / (each - squares + c2);
  return {{luminance * contrast, contrast}};
}
// Half as large; an odd side is first mirrored by a pixel.
Tensor halved(const Tensor& x) {
  const TensorShape& s = x.shape();
  const int rank = s.rank();
  RILL_CHECK(s.dim(-3) >= 0 && s.dim(-2) >= 0, unimplemented,
             "[image.ssim_multiscale] images of shape {}; the height and width must be known", s);
  const Tensor sizes = shape(x);
  Tensor flat = reshape(x, concat({constant({-1}), sizes(rill::slice(rank - 3, rank))}, 0));
  const auto odd_y = static_cast<int>(s.dim(-3) % 2), odd_x = static_cast<int>(s.dim(-2) % 2);
  if (odd_y || odd_x)
    flat = pad(flat, {{0, 0}, {0, odd_y}, {0, odd_x}, {0, 0}}, {.mode = "SYMMETRIC"});
  const Tensor y = nn::avg_pool2d(flat, 2, 2, "VALID");
  const Tensor small = shape(y);
  return reshape(y, concat({sizes(rill::slice(0, rank - 3)), small(rill::slice(1, 4))}, 0));
}
// x[begin:end] along an axis; end -1 leaves out the last.
Tensor all_but(const Tensor& x, int axis, bool first) {
  const int rank = x.shape().rank();
  std::vector<int> begin(static_cast<std::size_t>(rank), 0);
  begin[static_cast<std::size_t>(axis)] = first;
  const Tensor sizes = shape(x);
  std::vector<int> less(static_cast<std::size_t>(rank), 0);
  less[static_cast<std::size_t>(axis)] = 1;
  return slice(x, begin, sizes - constant(less));
}
Tensor steps(const Tensor& x, int axis) { return all_but(x, axis, true) - all_but(x, axis, false); }

}  // namespace

Tensor psnr(const Operand& a, const Operand& b, const Operand& max_val) {
  const Pair p = float_pair("image.psnr", a, b, max_val);
  const Tensor error = reduce_mean(squared_difference(p.a, p.b), {-3, -2, -1});
  return 20.f * log(p.range) / std::numbers::ln10_v<float> -
         static_cast<float>(10 / std::numbers::ln10) * log(error);
}

Tensor ssim(const Operand& img1, const Operand& img2, const Operand& max_val,
            const SsimOptions& o) {
  constexpr std::string_view tag = "image.ssim";
  RILL_CHECK(o.filter_size > 0 && o.filter_sigma > 0, invalid_argument,
             "[{}] filter_size is {} and filter_sigma {}; expected more than 0", tag, o.filter_size,
             o.filter_sigma);
  const Pair p = float_pair(tag, img1, img2, max_val);
  const Tensor value = similarity(tag, p, Window(o.filter_size, o.filter_sigma), o.k1, o.k2).t[0];
  if (o.return_index_map) return reduce_mean(value, {-1});
  return reduce_mean(reduce_mean(value, {-3, -2}), {-1});
}
Tensor ssim_multiscale(const Operand& img1, const Operand& img2, const Operand& max_val,
                       const SsimMultiscaleOptions& o) {
  constexpr std::string_view tag = "image.ssim_multiscale";
  RILL_CHECK(o.filter_size > 0 && o.filter_sigma > 0 && !o.power_factors.empty(), invalid_argument,
             "[{}] filter_size is {}, filter_sigma {}, and there are {} power_factors; expected "
             "more than 0 of each",
             tag, o.filter_size, o.filter_sigma, o.power_factors.size());
  Pair p = float_pair(tag, img1, img2, max_val);
  const Window window(o.filter_size, o.filter_sigma);
  std::vector<Tensor> scales;
  for (std::size_t k = 0; k < o.power_factors.size(); ++k) {
    if (k > 0) p.a = halved(p.a), p.b = halved(p.b);
    const Tensors<2> s = similarity(tag, p, window, o.k1, o.k2);
    const bool last = k + 1 == o.power_factors.size();
    scales.push_back(nn::relu(reduce_mean(last ? s.t[0] : s.t[1], {-3, -2})));
  }
  const Tensor powers = cast(constant(o.power_factors), float32);
  return reduce_mean(reduce_prod(pow(stack(scales, -1), powers), {-1}), {-1});
}

Tensor total_variation(const Operand& images) {
  const Arg x(images);
  const int rank = x->shape().has_rank() ? x->shape().rank() : 0;
  RILL_CHECK(rank == 3 || rank == 4, invalid_argument,
             "[image.total_variation] images has shape {}; expected 3 or 4 dimensions", x->shape());
  const Tensor down = abs(steps(*x, rank - 3)), right = abs(steps(*x, rank - 2));
  return reduce_sum(down, {-3, -2, -1}) + reduce_sum(right, {-3, -2, -1});
}
Tensors<2> image_gradients(const Operand& image) {
  const Arg x(image);
  RILL_CHECK(x->shape().has_rank() && x->shape().rank() == 4, invalid_argument,
             "[image.image_gradients] image has shape {}; expected 4 dimensions", x->shape());
  return {{pad(steps(*x, 1), {{0, 0}, {0, 1}, {0, 0}, {0, 0}}),
           pad(steps(*x, 2), {{0, 0}, {0, 0}, {0, 1}, {0, 0}})}};
}
Tensor sobel_edges(const Operand& image) {
  const Arg x(image);
  const TensorShape& s = x->shape();
  RILL_CHECK(s.has_rank() && s.rank() == 4, invalid_argument,
             "[image.sobel_edges] image has shape {}; expected 4 dimensions", s);
  // [3, 3, 1, 2]: along y, along x.
  const Tensor filters = cast(
      reshape(constant({-1, -1, -2, 0, -1, 1, 0, -2, 0, 0, 0, 2, 1, -1, 2, 0, 1, 1}), {3, 3, 1, 2}),
      x->dtype());
  const Tensor sizes = shape(*x);
  const Tensor each =
      tile(filters, concat({constant({1, 1}), sizes(rill::slice(3, 4)), constant({1})}, 0));
  const Tensor padded = pad(*x, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, {.mode = "REFLECT"});
  const Tensor out =
      reshape(nn::depthwise_conv2d(padded, each, 1, "VALID"), concat({sizes, constant({2})}, 0));
  Dims dims = s.dims();
  dims.push_back(2);
  out.set_shape(TensorShape(dims));
  return out;
}

}  // namespace rill::image
