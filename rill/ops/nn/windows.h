#pragma once
#include "rill/core/execute.h"
#include "rill/core/shape_inference.h"
#include "rill/ops/nn_ops.h"

// The geometry of windows that move over an image, for shape functions and
// kernels of convolutions and pooling.
namespace rill {

// One axis of the image. Sizes of -1 are unknown.
struct Window {
  std::int64_t in = 1, size = 1, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  // padding
  std::int64_t out = 1;
};

// The axes of a tensor with an image, by its data_format ("NHWC", "NCDHW", ..).
struct ImageLayout {
  int spatial = 2;  // 2 or 3
  bool channels_first = false;
  int rank() const { return spatial + 2; }
  int channels() const { return channels_first ? 1 : rank() - 1; }
  int axis(int i) const { return i + (channels_first ? 2 : 1); }  // of the i-th axis of the image
};
// InvalidArgument for names other than those of `spatial` axes.
ImageLayout image_layout(const AttrReader& c, int spatial);

// What a window moves over. The last `spatial` of the axes are in use, so that
// kernels see three in every case.
struct WindowGeometry {
  ImageLayout layout;
  std::int64_t batch = -1, in_channels = -1, out_channels = -1, groups = 1;
  Window axes[3];
  std::int64_t taps() const { return axes[0].size * axes[1].size * axes[2].size; }
  std::int64_t in_pixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  std::int64_t out_pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  TensorShape out_shape() const;
};

// Of a convolution of `input` with `filter` ([.., in, out], or [.., channels,
// multiplier] when depthwise), by the attributes strides, padding,
// explicit_paddings, dilations, data_format. Checks everything; InvalidArgument. A window may be
// larger than the padded image, by a stride at most, and has no place then, unless it `must_fit`.
RILL_API WindowGeometry conv_geometry(const AttrReader& c, int spatial, bool depthwise,
                                      const TensorShape& input, const TensorShape& filter,
                                      bool must_fit = false);
// Of pooling of `input` by the attributes ksize, strides, padding, data_format.
RILL_API WindowGeometry pool_geometry(const AttrReader& c, int spatial, const TensorShape& input,
                                      bool must_fit = false);
// Whether the windows of an op must fit: where a graph is drawn, as in TensorFlow, which has an
// empty result eagerly, and where a graph that did not know the sizes runs.
inline bool windows_must_fit(const ShapeContext& c) {
  return call_context().executor && !c.input_value(0);
}

// Of dilation2d of `input` with `filter` [height, width, channels], by the
// attributes strides, rates and padding; channels last.
RILL_API WindowGeometry dilation_geometry(const AttrReader& c, const TensorShape& input,
                                          const TensorShape& filter);

// What the public functions write into attributes.
struct WindowAttrs {
  WindowAttrs(std::string_view tag, int spatial, const std::string& data_format);
  std::vector<std::int64_t> sizes(const nn::Sizes& s,
                                  std::string_view name) const;    // with 1 for batch and channels
  std::vector<std::int64_t> paddings(const nn::Padding& p) const;  // empty unless explicit
  std::string_view tag;
  ImageLayout layout;
  std::string data_format;
};
// Calls a convolution, or one of its gradients.
Tensor call_conv(const Op& op, const WindowAttrs& w, std::initializer_list<In> inputs,
                 const nn::Sizes& strides, const nn::Padding& padding, const nn::Sizes& dilations);

// Formats of 1 to 3 axes: "NWC", "NCHW", ..
std::string image_format(int spatial, bool channels_first);

}  // namespace rill
