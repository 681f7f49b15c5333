#include <algorithm>

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/nn_ops.h"

namespace rill::nn {

namespace {

// Zeros before and after each axis of the image that make of `padding` a "VALID" one.
std::vector<std::pair<int, int>> base_paddings(const std::vector<int>& rate, const Padding& padding,
                                               const SpaceToBatchOptions& o) {
  const std::size_t n = rate.size();
  std::vector<std::pair<int, int>> base(n);
  if (padding.name() == "SAME") {
    const TensorShape& filter = o.filter_shape;
    RILL_CHECK(filter.has_rank() && filter.rank() >= static_cast<int>(n), invalid_argument,
               "[with_space_to_batch] filter_shape is {}; padding \"SAME\" needs the sizes of the "
               "window, one for each of the {} dilations",
               filter.has_rank() ? filter.to_string() : "not given", n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t size = filter.dim(static_cast<int>(i));
      RILL_CHECK(size >= 1, invalid_argument,
                 "[with_space_to_batch] filter_shape is {}; expected 1 or more in its first {} "
                 "places",
                 filter, n);
      const int more = static_cast<int>(size - 1) * rate[i];
      base[i] = {more / 2, more - more / 2};
    }
  } else if (padding.name() == "EXPLICIT") {
    const std::vector<std::vector<int>>& each = padding.each();
    RILL_CHECK(each.size() == n + 2, invalid_argument,
               "[with_space_to_batch] padding has {} entries; expected {}, one for each axis with "
               "batch and channels",
               each.size(), n + 2);
    const std::size_t first = o.data_format.starts_with("NC") ? 2 : 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<int>& p = each[first + i];
      RILL_CHECK(
          p.size() == 2 && p[0] >= 0 && p[1] >= 0, invalid_argument,
          "[with_space_to_batch] entry {} of padding has {} numbers, or one below 0; expected "
          "{{before, after}}",
          first + i, p.size());
      base[i] = {p[0], p[1]};
    }
  } else {
    RILL_CHECK(padding.name() == "VALID", invalid_argument,
               "[with_space_to_batch] padding is \"{}\"; expected \"SAME\", \"VALID\" or a list",
               padding.name());
  }
  return base;
}

std::vector<int> checked_axes(const Tensor& x, std::size_t n, const SpaceToBatchOptions& o) {
  const bool channels_first = o.data_format.starts_with("NC");
  std::vector<int> axes = o.spatial_dims;
  for (int i = 0; axes.size() < n && o.spatial_dims.empty(); ++i)
    axes.push_back(i + (channels_first ? 2 : 1));
  bool in_order = axes.size() == n && axes[0] >= 1;
  for (std::size_t i = 1; in_order && i < n; ++i) in_order = axes[i] > axes[i - 1];
  RILL_CHECK(in_order, invalid_argument,
             "[with_space_to_batch] spatial_dims are {}; expected {} axes in order, from 1 on, one "
             "for each dilation",
             TensorShape(std::vector<std::int64_t>(axes.begin(), axes.end())), n);
  RILL_CHECK(x.shape().has_rank() && x.ndim() > axes.back(), invalid_argument,
             "[with_space_to_batch] the input has shape {}; expected rank {} or more", x.shape(),
             axes.back() + 1);
  return axes;
}

}  // namespace

Tensor with_space_to_batch(const Operand& input, const std::vector<int>& dilation_rate,
                           const Padding& padding, const WindowOp& op,
                           const SpaceToBatchOptions& options) {
  const Arg x(input);
  const std::size_t n = dilation_rate.size();
  RILL_CHECK(n > 0, invalid_argument,
             "[with_space_to_batch] dilation_rate is empty; expected a number for each axis of the "
             "image");
  for (const int d : dilation_rate)
    RILL_CHECK(d >= 1, invalid_argument,
               "[with_space_to_batch] an entry of dilation_rate is {}; expected 1 or more", d);
  const std::vector<int> axes = checked_axes(*x, n, options);
  const int spatial = static_cast<int>(n);
  if (std::all_of(dilation_rate.begin(), dilation_rate.end(), [](int d) { return d == 1; }))
    return op(*x, spatial, padding);

  // Pixels that a dilated window meets are neighbours in one entry of a larger batch, which is
  // filled up with pixels that are cut away again. Axes between those of the image stay as they
  // are.
  const std::vector<std::pair<int, int>> base = base_paddings(dilation_rate, padding, options);
  const std::size_t all = static_cast<std::size_t>(axes.back());
  std::vector<int> block(all, 1);
  bool known = true;
  for (std::size_t i = 0; i < n; ++i) {
    block[static_cast<std::size_t>(axes[i]) - 1] = dilation_rate[i];
    known = known && x->shape().dim(axes[i]) >= 0;
  }
  Tensor paddings, crops;
  if (known) {
    std::vector<std::int64_t> pads(2 * all), cuts(2 * all);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = 2 * (static_cast<std::size_t>(axes[i]) - 1);
      const std::int64_t d = dilation_rate[i],
                         size = x->shape().dim(axes[i]) + base[i].first + base[i].second;
      cuts[at + 1] = (d - size % d) % d;
      pads[at] = base[i].first;
      pads[at + 1] = base[i].second + cuts[at + 1];
    }
    paddings = constant(pads, int32, {axes.back(), 2});
    crops = constant(cuts, int32, {axes.back(), 2});
  } else {
    std::vector<int> before(all), after(all);
    for (std::size_t i = 0; i < n; ++i) {
      before[static_cast<std::size_t>(axes[i]) - 1] = base[i].first;
      after[static_cast<std::size_t>(axes[i]) - 1] = base[i].second;
    }
    const Tensor sizes = shape(*x)(slice(1, 1 + axes.back()));
    const Tensor full = sizes + constant(before) + constant(after);
    const Tensor cut = floormod(negative(full), constant(block));  // 0 where the block is 1
    paddings = stack({constant(before), constant(after) + cut}, 1);
    crops = stack({zeros_like(cut), cut}, 1);
  }
  const Tensor blocks = constant(block);
  const Tensor y = op(space_to_batch(*x, blocks, paddings), spatial, "VALID");
  return batch_to_space(y, blocks, crops);
}

}  // namespace rill::nn
