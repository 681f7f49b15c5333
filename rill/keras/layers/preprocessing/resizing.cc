#include "rill/base/check.h"
#include "rill/graph/control_flow/control_flow.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/preprocessing/image_impl.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {
namespace {

struct ResizingFields {
  using Options = layers::ResizingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("height", o.height);
    f.required("width", o.width);
    f("interpolation", o.interpolation);
    f("crop_to_aspect_ratio", o.crop_to_aspect_ratio);
    // Of Keras 3.
    f.written_if(o.pad_to_aspect_ratio, "pad_to_aspect_ratio", o.pad_to_aspect_ratio);
    f.written_if(o.pad_to_aspect_ratio, "fill_mode", o.fill_mode);
    f.written_if(o.pad_to_aspect_ratio, "fill_value", o.fill_value);
    f.written_if(o.antialias, "antialias", o.antialias);
  }
};

class ResizingLayer : public LayerImpl {
 public:
  explicit ResizingLayer(const layers::ResizingOptions& o)
      : LayerImpl("Resizing", common(o)), o_(o) {
    autocast = false;
    check_interpolation("Resizing", o_.interpolation);
    RILL_CHECK(o_.height > 0 && o_.width > 0, invalid_argument,
               "[Resizing] the size is {} x {}; expected 1 or more", o_.height, o_.width);
    RILL_CHECK(
        !(o_.crop_to_aspect_ratio && o_.pad_to_aspect_ratio), invalid_argument,
        "[Resizing] both crop_to_aspect_ratio and pad_to_aspect_ratio; expected one at most");
    RILL_CHECK(o_.fill_mode == "constant", invalid_argument,
               "[Resizing] fill_mode is \"{}\"; expected \"constant\"", o_.fill_mode);
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    const DType d = policy.compute_dtype(), work = o_.interpolation == "nearest" ? d : float32;
    const Tensor x = given.dtype() == work ? given : cast(given, work);
    image_rank(*this, x);
    Tensor y;
    if (o_.crop_to_aspect_ratio)
      y = smart_resize(x, o_.height, o_.width, o_.interpolation);
    else
      y = image::resize(o_.pad_to_aspect_ratio ? padded(x) : x, {o_.height, o_.width},
                        o_.interpolation, {.antialias = o_.antialias});
    return y.dtype() == d ? y : cast(y, d);
  }
  void add_config(Config& c) const override { write_fields<ResizingFields>(o_, c); }

 private:
  // With borders, so that it has the form of the result.
  Tensor padded(const Tensor& x) const {
    const int first = x.ndim() - 3;
    const std::int64_t h = x.shape().dim(first), w = x.shape().dim(first + 1);
    RILL_CHECK(h > 0 && w > 0, unimplemented,
               "[{}] pad_to_aspect_ratio needs images of a known size, got {}", name(), x.shape());
    const auto part = [](std::int64_t of, std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<float>(of * a) / static_cast<float>(b));
    };
    const std::int64_t high = std::max(h, part(w, o_.height, o_.width)),
                       wide = std::max(w, part(h, o_.width, o_.height));
    const std::int64_t top = (high - h) / 2, left = (wide - w) / 2;
    std::vector<std::int64_t> each(static_cast<std::size_t>(2 * x.ndim()), 0);
    const auto at = static_cast<std::size_t>(2 * first);
    // The same at both sides, as Keras: one pixel may lack.
    each[at] = each[at + 1] = top, each[at + 2] = each[at + 3] = left;
    return pad(x, reshape(constant(each), {x.ndim(), 2}), {.constant_values = o_.fill_value});
  }
  layers::ResizingOptions o_;
};

struct CenterCropFields {
  using Options = layers::CenterCropOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("height", o.height);
    f.required("width", o.width);
  }
};

class CenterCropLayer : public LayerImpl {
 public:
  explicit CenterCropLayer(const layers::CenterCropOptions& o)
      : LayerImpl("CenterCrop", common(o)), o_(o) {
    autocast = false;
    RILL_CHECK(o_.height > 0 && o_.width > 0, invalid_argument,
               "[CenterCrop] the size is {} x {}; expected 1 or more", o_.height, o_.width);
  }
  Tensor call(const Tensor& given, const CallContext&) override {
    const DType d = policy.compute_dtype();
    const Tensor x = given.dtype() == d ? given : cast(given, d);
    const int first = image_rank(*this, x) - 3;
    const std::int64_t h = x.shape().dim(first), w = x.shape().dim(first + 1);
    if (h < 0 || w < 0) return of_unknown_size(x, first);
    if (h < o_.height || w < o_.width)
      return cast(smart_resize(x, o_.height, o_.width, "bilinear"), d);
    return image::crop_to_bounding_box(x, static_cast<int>((h - o_.height) / 2),
                                       static_cast<int>((w - o_.width) / 2),
                                       static_cast<int>(o_.height), static_cast<int>(o_.width));
  }
  void add_config(Config& c) const override { write_fields<CenterCropFields>(o_, c); }

 private:
  Tensor of_unknown_size(const Tensor& x, int first) const {
    const Tensor sizes = shape(x), h = sizes[first], w = sizes[first + 1];
    const int height = static_cast<int>(o_.height), width = static_cast<int>(o_.width);
    const Tensor y = cond(
        logical_and(greater_equal(h, height), greater_equal(w, width)),
        [&] {
          const Tensor top = floordiv(h - height, 2), left = floordiv(w - width, 2),
                       zero = constant(0);
          return first == 1 ? slice(x, stack({zero, top, left, zero}), {-1, height, width, -1})
                            : slice(x, stack({top, left, zero}), {height, width, -1});
        },
        [&] { return cast(smart_resize(x, o_.height, o_.width, "bilinear"), x.dtype()); });
    TensorShape known = x.shape();
    known.set_dim(first, o_.height), known.set_dim(first + 1, o_.width);
    y.set_shape(known);
    return y;
  }
  layers::CenterCropOptions o_;
};

const RegisterFields<ResizingFields, layers::Resizing> resizing("Resizing");
const RegisterFields<CenterCropFields, layers::CenterCrop> center_crop("CenterCrop");

}  // namespace

layers::Resizing::Resizing(ResizingOptions o) : Layer(this, new ResizingLayer(o)) {}
layers::Resizing::Resizing(std::int64_t height, std::int64_t width, ResizingOptions o)
    : Resizing((o.height = height, o.width = width, std::move(o))) {}
layers::CenterCrop::CenterCrop(CenterCropOptions o) : Layer(this, new CenterCropLayer(o)) {}
layers::CenterCrop::CenterCrop(std::int64_t height, std::int64_t width, CenterCropOptions o)
    : CenterCrop((o.height = height, o.width = width, std::move(o))) {}

}  // namespace rill::keras
