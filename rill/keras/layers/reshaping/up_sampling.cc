#include <algorithm>

#include "rill/base/check.h"
#include "rill/keras/engine/layer_impl.h"
#include "rill/keras/layers/fields_impl.h"
#include "rill/keras/layers/reshaping.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/image_ops.h"
#include "rill/ops/math_ops.h"

namespace rill::keras {

namespace {

struct UpSamplingFields {
  using Options = layers::UpSamplingOptions;
  template <class F, class O>
  static void visit(F& f, O& o) {
    f.required("size", o.size, NumberOrList());
    // By the number of axes.
    f.written_if(o.size.list().size() > 1, "data_format", o.data_format);
    f.written_if(o.size.list().size() == 2, "interpolation", o.interpolation);
  }
};

class UpSamplingLayer : public LayerImpl {
 public:
  UpSamplingLayer(int axes, const layers::UpSamplingOptions& o)
      : LayerImpl(format("UpSampling{}D", axes), common(o)),
        axes_(axes),
        size_(per_axis(class_name(), "size", o.size, axes)),
        channels_first_(is_channels_first(class_name(), o.data_format)),
        o_(o) {
    o_.size = size_;
    o_.data_format = data_format_name(channels_first_);
    static const char* const known[] = {"area",     "bicubic",  "bilinear",     "gaussian",
                                        "lanczos3", "lanczos5", "mitchellcubic"};
    bool found = o_.interpolation == "nearest";
    for (const char* k : known) found = found || (axes == 2 && o_.interpolation == k);
    RILL_CHECK(found, invalid_argument, "[{}] interpolation is \"{}\"; expected \"nearest\"{}",
               class_name(), o_.interpolation,
               axes == 2 ? ", \"bilinear\", \"bicubic\", \"area\", \"gaussian\", \"lanczos3\", "
                           "\"lanczos5\" or \"mitchellcubic\""
                         : "");
    input_spec.ndim = axes + 2;
  }
  Tensor call(const Tensor& x, const CallContext&) override {
    return axes_ == 2 ? resized(x) : repeated(x);
  }
  void add_config(Config& c) const override { write_fields<UpSamplingFields>(o_, c); }

 private:
  // Each axis becomes two, of which the second is repeated, and one again.
  Tensor repeated(const Tensor& x) const {
    const int first = channels_first_ ? 2 : 1;
    Tensor y = x;
    std::vector<int> times(static_cast<std::size_t>(x.ndim() + axes_), 1);
    TensorShape out = x.shape();
    for (int i = axes_ - 1; i >= 0; --i) {
      const int factor = size_[static_cast<std::size_t>(i)];
      y = expand_dims(y, first + i + 1);
      times[static_cast<std::size_t>(first + 2 * i + 1)] = factor;
      if (out.dim(first + i) >= 0) out.set_dim(first + i, out.dim(first + i) * factor);
    }
    const std::vector<std::int64_t> to = out.as_list();
    const Tensor many = tile(y, constant(times));
    if (std::count(to.begin(), to.end(), -1) <= 1) return reshape(many, constant(to));
    const Tensor z = reshape(many, sizes(x, out, 0, out.rank(), first));
    z.set_shape(out);
    return z;
  }
  Tensor resized(const Tensor& given) const {
    const Tensor x = channels_first_ ? transpose(given, {0, 2, 3, 1}) : given;
    TensorShape out = x.shape();
    for (int i : {0, 1})
      if (out.dim(i + 1) >= 0)
        out.set_dim(i + 1, out.dim(i + 1) * size_[static_cast<std::size_t>(i)]);
    Tensor y = image::resize(x, sizes(x, out, 1, 3, 1), o_.interpolation);
    if (!y.shape().is_fully_defined()) y.set_shape(out);
    if (y.dtype() != given.dtype()) y = cast(y, given.dtype());
    return channels_first_ ? transpose(y, {0, 3, 1, 2}) : y;
  }
  // The sizes of the result from axis `from` to `to`: those that are known, else those of x times
  // the factor. The image begins at `first`.
  Tensor sizes(const Tensor& x, const TensorShape& out, int from, int to, int first) const {
    std::vector<int> known;
    for (int i = from; i < to && out.dim(i) >= 0; ++i)
      known.push_back(static_cast<int>(out.dim(i)));
    if (static_cast<int>(known.size()) == to - from) return constant(known);
    const Tensor given = shape(x);
    std::vector<Tensor> parts;
    for (int i = from; i < to; ++i) {
      const bool in_image = i >= first && i < first + axes_;
      parts.push_back(out.dim(i) >= 0 ? constant(static_cast<int>(out.dim(i)))
                      : in_image      ? given[i] * size_[static_cast<std::size_t>(i - first)]
                                      : given[i]);
    }
    return stack(parts);
  }
  int axes_;
  std::vector<int> size_;
  bool channels_first_;
  layers::UpSamplingOptions o_;
};

const RegisterFields<UpSamplingFields, layers::UpSampling<1>> up1("UpSampling1D");
const RegisterFields<UpSamplingFields, layers::UpSampling<2>> up2("UpSampling2D");
const RegisterFields<UpSamplingFields, layers::UpSampling<3>> up3("UpSampling3D");

}  // namespace

template <int axes>
layers::UpSampling<axes>::UpSampling(UpSamplingOptions o)
    : Layer(this, new UpSamplingLayer(axes, o)) {}
template class layers::UpSampling<1>;
template class layers::UpSampling<2>;
template class layers::UpSampling<3>;

}  // namespace rill::keras
