#pragma once
#include <functional>
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

// Transforms and windows of signals, over the last axes; leading axes are a batch. Names, arguments
// and defaults are TensorFlow's.
namespace rill RILL_API {
namespace signal {

// ---- Fourier transforms: complex64 and complex128. The inverse ones divide by the number of
// points.
Tensor fft(const Operand& input);
Tensor fft2d(const Operand& input);
Tensor fft3d(const Operand& input);
Tensor ifft(const Operand& input);
Tensor ifft2d(const Operand& input);
Tensor ifft3d(const Operand& input);
// How many points are transformed along each axis; what is there is cut, or filled up with zeros.
struct FftLength {
  FftLength() = default;  // as many as there are
  FftLength(std::initializer_list<std::int64_t> n) : sizes(n) {}
  FftLength(std::vector<std::int64_t> n) : sizes(std::move(n)) {}
  std::vector<std::int64_t> sizes;
};
// Of float32 and float64: the first n / 2 + 1 numbers of the last axis, which tell the rest; and
// back (without fft_length to the even 2 (n - 1)).
Tensor rfft(const Operand& input, const FftLength& fft_length = {});
Tensor rfft2d(const Operand& input, const FftLength& fft_length = {});
Tensor rfft3d(const Operand& input, const FftLength& fft_length = {});
Tensor irfft(const Operand& input, const FftLength& fft_length = {});
Tensor irfft2d(const Operand& input, const FftLength& fft_length = {});
Tensor irfft3d(const Operand& input, const FftLength& fft_length = {});
// The frequency 0 moved to the middle of the axes (none listed: all), and back.
Tensor fftshift(const Operand& x, const std::vector<int>& axes = {});
Tensor ifftshift(const Operand& x, const std::vector<int>& axes = {});

// ---- frames
struct FrameOptions {
  bool pad_end = false;  // the last frames are filled up with pad_value
  double pad_value = 0;
  int axis = -1;
};
// Overlapping pieces: the axis becomes [frames, frame_length].
Tensor frame(const Operand& signal, int frame_length, int frame_step, FrameOptions options = {});
// Pieces [.., frames, frame_length] added up, each frame_step behind the one before.
Tensor overlap_and_add(const Operand& signal, int frame_step);

// ---- windows: [window_length] of a floating dtype
Tensor hann_window(int window_length, bool periodic = true, DType dtype = float32);
Tensor hamming_window(int window_length, bool periodic = true, DType dtype = float32);
Tensor kaiser_window(int window_length, double beta = 12, DType dtype = float32);
Tensor kaiser_bessel_derived_window(int window_length, double beta = 12, DType dtype = float32);
Tensor vorbis_window(int window_length, DType dtype = float32);
// A window of that length and dtype. Empty: none.
using WindowFn = std::function<Tensor(int window_length, DType dtype)>;
Tensor default_window(int window_length, DType dtype);       // hann_window
Tensor default_mdct_window(int window_length, DType dtype);  // vorbis_window

// ---- short-time transforms
struct StftOptions {
  int fft_length = 0;  // 0: the next power of 2
  WindowFn window_fn = default_window;
  bool pad_end = false;
};
// [.., samples] -> complex [.., frames, fft_length / 2 + 1]
Tensor stft(const Operand& signals, int frame_length, int frame_step,
            const StftOptions& options = {});
struct InverseStftOptions {
  int fft_length = 0;
  WindowFn window_fn = default_window;
};
// For exact reconstruction window_fn is inverse_stft_window_fn(frame_step).
Tensor inverse_stft(const Operand& stfts, int frame_length, int frame_step,
                    const InverseStftOptions& options = {});
WindowFn inverse_stft_window_fn(int frame_step, WindowFn forward_window_fn = default_window);
struct MdctOptions {
  WindowFn window_fn = default_mdct_window;
  bool pad_end = false;
  std::string norm = "";  // or "ortho"
};
// [.., samples] -> [.., frames, frame_length / 2]; frame_length is a multiple of 4.
Tensor mdct(const Operand& signals, int frame_length, const MdctOptions& options = {});
Tensor inverse_mdct(const Operand& mdcts, const MdctOptions& options = {});

// ---- cosine transforms of the last axis: types 1 to 4
struct DctOptions {
  int n = 0;              // the axis is cut or filled up to it; 0: as it is
  std::string norm = "";  // or "ortho"; not of type 1
};
Tensor dct(const Operand& input, int type = 2, const DctOptions& options = {});
Tensor idct(const Operand& input, int type = 2, const DctOptions& options = {});

// ---- speech
struct MelOptions {
  int num_mel_bins = 20, num_spectrogram_bins = 129;
  double sample_rate = 8000, lower_edge_hertz = 125, upper_edge_hertz = 3800;
  DType dtype = float32;
};
// [num_spectrogram_bins, num_mel_bins]: which share of a frequency each band of the mel scale
// takes.
Tensor linear_to_mel_weight_matrix(const MelOptions& options = {});
// [.., num_mel_bins] logarithms -> as many coefficients, of which the first 12 or so are used.
Tensor mfccs_from_log_mel_spectrograms(const Operand& log_mel_spectrograms);

}  // namespace signal
}  // namespace RILL_API
