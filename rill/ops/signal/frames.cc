// Pieces of signals, windows over them, and the transforms of such pieces.
#include <cmath>

#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/signal_ops.h"

namespace rill::signal {
namespace {

constexpr double kPi = 3.14159265358979323846;

Tensor window_of(const std::vector<double>& values, DType dtype, const char* tag) {
  RILL_CHECK(dtype.is_floating(), invalid_argument,
             "[{}] dtype is {}; expected a floating-point dtype", tag, dtype);
  return cast(constant(values, float64), dtype);
}
void require_length(int n, const char* what, const char* tag) {
  RILL_CHECK(n >= 1, invalid_argument, "[{}] {} is {}; expected 1 or more", tag, what, n);
}
// a - (1 - a) cos(2 pi k / n)
Tensor raised_cosine(int length, bool periodic, DType dtype, double a, const char* tag) {
  require_length(length, "window_length", tag);
  std::vector<double> w(static_cast<std::size_t>(length), 1);
  const int n = length + (periodic && length % 2 == 0 ? 1 : 0) - 1;
  for (std::size_t k = 0; length > 1 && k < w.size(); ++k)
    w[k] = a - (1 - a) * std::cos(2 * kPi * static_cast<double>(k) / n);
  return window_of(w, dtype, tag);
}
std::vector<double> kaiser(int length, double beta) {
  std::vector<double> w(static_cast<std::size_t>(length), 1);
  const double half = (length - 1) / 2.;
  for (std::size_t k = 0; length > 1 && k < w.size(); ++k) {
    const double at = (static_cast<double>(k) - half) / half;
    const double arg = beta * std::sqrt(std::max(0., 1 - at * at));
    w[k] = std::cyl_bessel_i(0., arg) / std::cyl_bessel_i(0., beta);
  }
  return w;
}
// The last axis cut or filled up with zeros.
Tensor with_width(const Tensor& t, std::int64_t n) {
  const Tensor sizes = cast(sizes_of(t), int32), last = sizes[-1],
               kept = minimum(last, static_cast<int>(n)), none = zeros_like(sizes);
  const Tensor cut = slice(t, none, concat({sizes(slice(0, -1)), expand_dims(kept, 0)}, 0));
  const Tensor after = concat({none(slice(0, -1)), expand_dims(static_cast<int>(n) - kept, 0)}, 0);
  return pad(cut, stack({none, after}, 1));
}
// With a window over the last axis, where there is one; else times `plain`.
Tensor windowed(const Tensor& frames, const WindowFn& fn, int length, double plain) {
  if (fn) return frames * fn(length, frames.dtype());
  return plain == 1 ? frames : frames * plain;
}
int width_of(const Tensor& t, const char* tag) {
  RILL_CHECK(!t.shape().has_rank() || t.ndim() >= 1, invalid_argument,
             "[{}] input is a scalar; expected rank 1 or more", tag);
  RILL_CHECK(t.shape().has_rank() && t.shape().dim(-1) >= 0, unimplemented,
             "[{}] input has shape {}; the size of the last axis must be known while it is traced",
             tag, t.shape());
  return static_cast<int>(t.shape().dim(-1));
}

}  // namespace

// ---- frames
Tensor frame(const Operand& signal, int frame_length, int frame_step, FrameOptions o) {
  const Arg x(signal);
  require_length(frame_length, "frame_length", "signal.frame");
  require_length(frame_step, "frame_step", "signal.frame");
  RILL_CHECK(x->shape().has_rank(), unimplemented,
             "[signal.frame] the rank of the signal must be known while it is traced");
  const int axis = normalize_axis(o.axis, x->ndim(), "signal.frame");
  const Tensor n = cast(sizes_of(*x), int32)[axis];
  Tensor count, data = *x;
  if (o.pad_end) {
    count = floordiv(n + (frame_step - 1), frame_step);
    const Tensor more = maximum((count - 1) * frame_step + frame_length - n, 0);
    const Tensor here = one_hot(constant(axis), constant(x->ndim()), {.dtype = int32});
    data = pad(data, stack({zeros_like(here), here * more}, 1), {.constant_values = o.pad_value});
  } else {
    count = maximum(floordiv(n - frame_length, frame_step) + 1, 0);
  }
  const Tensor at = expand_dims(range(count) * frame_step, 1) + expand_dims(range(frame_length), 0);
  return gather(data, at, axis);
}

Tensor overlap_and_add(const Operand& signal, int frame_step) {
  const Arg x(signal);
  require_length(frame_step, "frame_step", "signal.overlap_and_add");
  RILL_CHECK(!x->shape().has_rank() || x->ndim() >= 2, invalid_argument,
             "[signal.overlap_and_add] signal has shape {}; expected rank 2 or more", x->shape());
  const Tensor sizes = cast(sizes_of(*x), int32), frames = sizes[-2], width = sizes[-1],
               total = (frames - 1) * frame_step + width;
  const Tensor places =
      reshape(expand_dims(range(frames) * frame_step, 1) + expand_dims(range(width), 0), {-1});
  const Tensor rows = transpose(reshape(*x, stack({constant(-1), frames * width})), {1, 0});
  const Tensor sums = transpose(unsorted_segment_sum(rows, places, total), {1, 0});
  return reshape(sums, concat({sizes(slice(0, -2)), expand_dims(total, 0)}, 0));
}

// ---- windows
Tensor hann_window(int window_length, bool periodic, DType dtype) {
  return raised_cosine(window_length, periodic, dtype, 0.5, "signal.hann_window");
}
Tensor hamming_window(int window_length, bool periodic, DType dtype) {
  return raised_cosine(window_length, periodic, dtype, 0.54, "signal.hamming_window");
}
Tensor kaiser_window(int window_length, double beta, DType dtype) {
  require_length(window_length, "window_length", "signal.kaiser_window");
  return window_of(kaiser(window_length, beta), dtype, "signal.kaiser_window");
}
Tensor kaiser_bessel_derived_window(int window_length, double beta, DType dtype) {
  const char* tag = "signal.kaiser_bessel_derived_window";
  require_length(window_length, "window_length", tag);
  std::vector<double> sums = kaiser(window_length / 2 + 1, beta), w;
  for (std::size_t k = 1; k < sums.size(); ++k) sums[k] += sums[k - 1];
  for (std::size_t k = 0; k + 1 < sums.size(); ++k) w.push_back(std::sqrt(sums[k] / sums.back()));
  for (std::size_t k = w.size(); k-- > 0;) w.push_back(w[k]);
  return window_of(w, dtype, tag);
}
Tensor vorbis_window(int window_length, DType dtype) {
  require_length(window_length, "window_length", "signal.vorbis_window");
  std::vector<double> w;
  for (int k = 0; k < window_length; ++k) {
    const double s = std::sin(kPi / window_length * (k + 0.5));
    w.push_back(std::sin(kPi / 2 * s * s));
  }
  return window_of(w, dtype, "signal.vorbis_window");
}
Tensor default_window(int window_length, DType dtype) {
  return hann_window(window_length, true, dtype);
}
Tensor default_mdct_window(int window_length, DType dtype) {
  return vorbis_window(window_length, dtype);
}

// ---- short-time transforms
static int transform_length(int asked, int frame_length) {
  int n = 1;
  while (n < frame_length) n *= 2;
  return asked > 0 ? asked : n;
}
Tensor stft(const Operand& signals, int frame_length, int frame_step, const StftOptions& o) {
  const Tensor frames = frame(signals, frame_length, frame_step, {.pad_end = o.pad_end});
  return rfft(windowed(frames, o.window_fn, frame_length, 1),
              {transform_length(o.fft_length, frame_length)});
}
Tensor inverse_stft(const Operand& stfts, int frame_length, int frame_step,
                    const InverseStftOptions& o) {
  const Tensor frames = irfft(stfts, {transform_length(o.fft_length, frame_length)});
  return overlap_and_add(windowed(with_width(frames, frame_length), o.window_fn, frame_length, 1),
                         frame_step);
}
WindowFn inverse_stft_window_fn(int frame_step, WindowFn forward) {
  require_length(frame_step, "frame_step", "signal.inverse_stft_window_fn");
  return [frame_step, forward = std::move(forward)](int length, DType dtype) {
    const Tensor window = forward(length, dtype);
    // At each place of a step: the squares of all windows that lie over it.
    const int overlaps = (length + frame_step - 1) / frame_step;
    const Tensor squares = reshape(with_width(square(window), overlaps * frame_step),
                                   {overlaps, frame_step}),
                 sums = tile(reduce_sum(squares, 0), {overlaps});
    return window / sums(slice(0, length));
  };
}

Tensor mdct(const Operand& signals, int frame_length, const MdctOptions& o) {
  RILL_CHECK(frame_length >= 4 && frame_length % 4 == 0, invalid_argument,
             "[signal.mdct] frame_length is {}; expected a multiple of 4", frame_length);
  const Tensor frames =
      windowed(frame(signals, frame_length, frame_length / 2, {.pad_end = o.pad_end}), o.window_fn,
               frame_length, std::sqrt(0.5));
  const auto part = split(frames, 4, -1);
  return dct(
      concat({negative(reverse(part[2], {-1})) - part[3], part[0] - reverse(part[1], {-1})}, -1), 4,
      {.norm = o.norm});
}
Tensor inverse_mdct(const Operand& mdcts, const MdctOptions& o) {
  const Arg x(mdcts);
  const int half = width_of(*x, "signal.inverse_mdct");
  RILL_CHECK(x->ndim() >= 2 && half % 2 == 0, invalid_argument,
             "[signal.inverse_mdct] mdcts have shape {}; expected [.., frames, an even number]",
             x->shape());
  const Tensor back = dct(*x, 4, {.norm = o.norm}) * (o.norm.empty() ? 0.5 / half : 1.);
  const auto part = split(back, 2, -1);
  const Tensor frames = concat({part[1], negative(reverse(part[1], {-1})),
                                negative(reverse(part[0], {-1})), negative(part[0])},
                               -1);
  return overlap_and_add(windowed(frames, o.window_fn, 2 * half, std::sqrt(0.5)), half);
}

// ---- cosine transforms, by Fourier's
Tensor dct(const Operand& input, int type, const DctOptions& o) {
  const Arg in(input);
  RILL_CHECK(type >= 1 && type <= 4, invalid_argument, "[signal.dct] type is {}; expected 1 to 4",
             type);
  RILL_CHECK(o.norm.empty() || o.norm == "ortho", invalid_argument,
             "[signal.dct] norm is \"{}\"; expected \"\" or \"ortho\"", o.norm);
  RILL_CHECK(in->dtype() == float32 || in->dtype() == float64, invalid_argument,
             "[signal.dct] input is {}; expected float32 or float64", in->dtype());
  const Tensor x = o.n > 0 ? with_width(*in, o.n) : *in;
  const int n = o.n > 0 ? o.n : width_of(x, "signal.dct");
  const bool ortho = o.norm == "ortho";
  if (type == 1) {
    RILL_CHECK(
        !ortho && n >= 2, invalid_argument,
        "[signal.dct] type 1 has no norm and needs 2 elements or more, got {} and norm \"{}\"", n,
        o.norm);
    return real(rfft(concat({x, reverse(x(ellipsis, slice(1, n - 1)), {-1})}, -1)));
  }
  if (type == 4) {
    const Tensor y = dct(x, 2, {.n = 2 * n})(ellipsis, slice(1, None, 2));
    return ortho ? y * std::sqrt(0.5 / n) : y;
  }
  std::vector<double> cosines, sines, weights;
  for (int k = 0; k < n; ++k) {
    const double angle = kPi * 0.5 * k / n;
    cosines.push_back(2 * std::cos(angle));
    sines.push_back((type == 2 ? -2 : 2) * std::sin(angle));
    weights.push_back(type == 2 ? 0.5 * std::sqrt((k == 0 ? 1. : 2.) / n)
                                : std::sqrt(n * (k == 0 ? 1. : 0.5)));
  }
  const DType d = x.dtype();
  const Tensor turns =
                   complex(cast(constant(cosines, float64), d), cast(constant(sines, float64), d)),
               scale = cast(constant(weights, float64), d);
  if (type == 2) {
    const Tensor y = real(rfft(x, {2 * n})(ellipsis, slice(0, n)) * turns);
    return ortho ? y * scale : y;
  }
  const Tensor scaled = ortho ? x * scale : x * n;
  return irfft(turns * complex(scaled, zeros_like(scaled)), {2 * n})(ellipsis, slice(0, n));
}
Tensor idct(const Operand& input, int type, const DctOptions& o) {
  return dct(input, type == 2 ? 3 : type == 3 ? 2 : type, o);
}

// ---- speech
Tensor linear_to_mel_weight_matrix(const MelOptions& o) {
  const char* tag = "signal.linear_to_mel_weight_matrix";
  require_length(o.num_mel_bins, "num_mel_bins", tag);
  require_length(o.num_spectrogram_bins, "num_spectrogram_bins", tag);
  RILL_CHECK(
      o.lower_edge_hertz >= 0 && o.lower_edge_hertz < o.upper_edge_hertz &&
          o.upper_edge_hertz <= o.sample_rate / 2,
      invalid_argument,
      "[{}] edges are {} and {} hertz at a sample rate of {}; expected 0 <= lower < upper <= "
      "half of the rate",
      tag, o.lower_edge_hertz, o.upper_edge_hertz, o.sample_rate);
  auto mel = [](double hertz) { return 1127 * std::log1p(hertz / 700); };
  const double low = mel(o.lower_edge_hertz),
               step = (mel(o.upper_edge_hertz) - low) / (o.num_mel_bins + 1);
  std::vector<double> w;
  for (int i = 0; i < o.num_spectrogram_bins; ++i) {
    const double at = mel(o.sample_rate / 2 * i / std::max(1, o.num_spectrogram_bins - 1));
    for (int k = 0; k < o.num_mel_bins; ++k) {
      const double rise = (at - (low + k * step)) / step, fall = (low + (k + 2) * step - at) / step;
      w.push_back(i == 0 ? 0 : std::max(0., std::min(rise, fall)));
    }
  }
  return reshape(window_of(w, o.dtype, tag), {o.num_spectrogram_bins, o.num_mel_bins});
}
Tensor mfccs_from_log_mel_spectrograms(const Operand& log_mel_spectrograms) {
  const Arg x(log_mel_spectrograms);
  const int n = width_of(*x, "signal.mfccs_from_log_mel_spectrograms");
  RILL_CHECK(n > 0, invalid_argument,
             "[signal.mfccs_from_log_mel_spectrograms] input has shape {}: no mel bins",
             x->shape());
  return dct(*x, 2) * std::sqrt(0.5 / n);
}

}  // namespace rill::signal
