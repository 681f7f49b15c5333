#pragma once
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// What images look like, in numbers: how much two differ, where the edges are. Images are [...,
// height, width, channels]; gradients go through all of them.
namespace rill RILL_API {

namespace image {

// Peak signal-to-noise ratio of two images in decibels, [...]; max_val is the range of their
// values.
Tensor psnr(const Operand& a, const Operand& b, const Operand& max_val);

struct SsimOptions {
  int filter_size = 11;  // of the gaussian window; images are as large at least
  double filter_sigma = 1.5;
  double k1 = 0.01, k2 = 0.03;
  bool return_index_map = false;  // a value for each place of the window instead of the mean
};
// Structural similarity (Wang et al. 2004): float32 [...] in -1 .. 1.
Tensor ssim(const Operand& img1, const Operand& img2, const Operand& max_val,
            const SsimOptions& options = {});
struct SsimMultiscaleOptions {
  std::vector<double> power_factors = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  int filter_size = 11;
  double filter_sigma = 1.5;
  double k1 = 0.01, k2 = 0.03;
};
// The same at several scales, each half of the one before, weighed by power_factors.
Tensor ssim_multiscale(const Operand& img1, const Operand& img2, const Operand& max_val,
                       const SsimMultiscaleOptions& options = {});

// The sum of differences between neighbours: of one image a scalar, of a batch [batch].
Tensor total_variation(const Operand& images);
// [batch, height, width, channels] -> {dy, dx}: the next pixel less this one; 0 at the end.
Tensors<2> image_gradients(const Operand& image);
// [batch, height, width, channels, 2]: the edges along y and x, by Sobel's filters.
Tensor sobel_edges(const Operand& image);

}  // namespace image

}  // namespace RILL_API
