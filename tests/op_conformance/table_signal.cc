// Transforms of signals.
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/ops/signal_ops.h"
#include "row.h"

namespace rill::conformance {
using SignalList = std::vector<Tensor>;

RILL_ROWS(signal) {
  for (const char* name : {"FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D"}) {
    Row& r = row(name)
                 .sample({x({2, 4, 8})})
                 .sample({x({3, 5, 6})})
                 .sample({x({2, 2, 7, 11})})  // Bluestein
                 .sample({x({1, 10, 15}, -0.5, 0.5)})
                 .sample({x({2, 1, 1})})
                 .sample({x({0, 3, 4})})
                 .dtypes(kComplexTypes)
                 .tolerance(4e-6);
    const std::string n = name;
    if (n == "FFT" || n == "IFFT")
      r.sample({x({97}, -0.5, 0.5)})
          .sample({x({120}, -0.5, 0.5)})
          .error({x({})}, {}, "expected rank 1 or more");
    if (n == "FFT2D") r.error({x({3})}, {}, "expected rank 2 or more");
  }
  const char* const kTypes[3] = {"RFFT", "RFFT2D", "RFFT3D"};
  for (int axes = 1; axes <= 3; ++axes) {
    auto length = [&](double a, double b, double c) {
      const std::vector<double> all{a, b, c};
      return i32(std::vector<double>(all.end() - axes, all.end()));
    };
    row(kTypes[axes - 1])
        .sample({random(float32, {2, 3, 8}, -2, 2), length(2, 3, 8)})
        .sample({random(float32, {2, 4, 7}, -2, 2), length(2, 3, 5)})
        .sample({random(float64, {2, 4, 7}, -2, 2), length(2, 4, 7)}, {{"Tcomplex", complex128}})
        .dtypes({float32})
        .tolerance(4e-6)
        .error({x({2, 3, 4}), i32({1, 2, 3, 4})}, {}, "fft_length has shape \\[4\\]; expected");
    row(std::string("I") + kTypes[axes - 1])
        .sample({random(complex64, {2, 3, 5}, -2, 2), length(2, 3, 8)})
        .sample({random(complex64, {2, 3, 5}, -2, 2), length(2, 2, 7)})
        .sample({random(complex128, {2, 3, 5}, -2, 2), length(2, 3, 9)}, {{"Treal", float64}})
        .dtypes({float32})
        .tolerance(4e-6);
  }
  // Through both, so that the gradients are those of real numbers.
  row("signal.fft")
      .call([](const SignalList& in) {
        const Tensor c = complex(in[0], in[1]), f = signal::fft(c), g = signal::ifft2d(c),
                     h = signal::fft3d(c), r = signal::rfft(in[0]),
                     s = signal::rfft2d(in[0], {4, 5}), t = signal::irfft(c),
                     u = signal::irfft2d(c, {3, 7}), v = signal::irfft3d(c),
                     w = signal::rfft3d(in[0]);
        SignalList out{t, u, v};
        for (const Tensor& z : {f, g, h, r, s, w}) out.push_back(real(z)), out.push_back(imag(z));
        return out;
      })
      .tf("(lambda c, x: [tf.signal.irfft(c), tf.signal.irfft2d(c, [3, 7]), tf.signal.irfft3d(c)] "
          "+ "
          "[p for z in [tf.signal.fft(c), tf.signal.ifft2d(c), tf.signal.fft3d(c), "
          "tf.signal.rfft(x), "
          "tf.signal.rfft2d(x, [4, 5]), tf.signal.rfft3d(x)] for p in (tf.math.real(z), "
          "tf.math.imag(z))])(tf.complex(x0, x1), x0)")
      .sample({x({2, 3, 4}), x({2, 3, 4})})
      .tolerance(4e-6);
  row("signal.frames")
      .call([](const SignalList& in) {
        const Tensor& s = in[0];
        const Tensor f = signal::frame(s, 4, 3);
        return SignalList{f,
                          signal::frame(s, 5, 2, {.pad_end = true, .pad_value = 1}),
                          signal::frame(s, 2, 1, {.axis = 0}),
                          signal::overlap_and_add(f, 3),
                          signal::fftshift(s),
                          signal::ifftshift(s, {1}),
                          signal::mdct(s, 8, {.pad_end = true, .norm = "ortho"}),
                          signal::inverse_mdct(signal::mdct(s, 4)),
                          signal::mfccs_from_log_mel_spectrograms(s)};
      })
      .tf("(lambda f, x0: [f, tf.signal.frame(x0, 5, 2, True, 1), tf.signal.frame(x0, 2, 1, "
          "axis=0), "
          "tf.signal.overlap_and_add(f, 3), tf.signal.fftshift(x0), tf.signal.ifftshift(x0, [1]), "
          "tf.signal.mdct(x0, 8, pad_end=True, norm='ortho'), "
          "tf.signal.inverse_mdct(tf.signal.mdct(x0, 4)), "
          "tf.signal.mfccs_from_log_mel_spectrograms(x0)])(tf.signal.frame(x0, 4, 3), x0)")
      .sample({x({3, 11})})
      .sizes_must_be_known("the size of the last axis")
      .tolerance(4e-6)
      .error({x({})}, {}, "out of range|rank");
  row("signal.stft")
      .call([](const SignalList& in) {
        const Tensor s = signal::stft(in[0], 6, 3),
                     t = signal::stft(in[0], 5, 2,
                                      {.fft_length = 9, .window_fn = {}, .pad_end = true});
        return SignalList{
            real(s),
            imag(s),
            real(t),
            imag(t),
            signal::inverse_stft(s, 6, 3),
            signal::inverse_stft(s, 6, 3, {.window_fn = signal::inverse_stft_window_fn(3)})};
      })
      .tf("(lambda s, t: [tf.math.real(s), tf.math.imag(s), tf.math.real(t), tf.math.imag(t), "
          "tf.signal.inverse_stft(s, 6, 3), tf.signal.inverse_stft(s, 6, 3, "
          "window_fn=tf.signal.inverse_stft_window_fn(3))])(tf.signal.stft(x0, 6, 3), "
          "tf.signal.stft(x0, 5, 2, 9, None, True))")
      .sample({x({2, 16})})
      .tolerance(4e-6);
  row("signal.dct")
      .call([](const SignalList& in) {
        SignalList out;
        for (int type = 1; type <= 4; ++type) {
          out.push_back(signal::dct(in[0], type));
          out.push_back(signal::idct(in[0], type));
          if (type == 1) continue;
          out.push_back(signal::dct(in[0], type, {.norm = "ortho"}));
          out.push_back(signal::idct(in[0], type, {.norm = "ortho"}));
        }
        out.push_back(signal::dct(in[0], 2, {.n = 3}));
        out.push_back(signal::dct(in[0], 2, {.n = 9}));
        return out;
      })
      .tf("(lambda x0: [f(x0, t, norm=n) for t in (1, 2, 3, 4) for n in (None, 'ortho') for f in "
          "(tf.signal.dct, tf.signal.idct) if (t, n) != (1, 'ortho')] + [tf.signal.dct(x0, 2, "
          "n=3), "
          "tf.signal.dct(x0, 2, n=9)])(x0)")
      .sample({x({2, 5})})
      .sample({x({6})})
      .sizes_must_be_known("the size of the last axis")
      .tolerance(4e-6)
      .error({x({2, 0})}, {}, "needs 2 elements or more");
  row("signal.windows")
      .call([](const SignalList& in) {
        const DType d = in[0].dtype();
        SignalList out;
        for (int n : {1, 7, 8})
          for (bool periodic : {true, false})
            out.push_back(signal::hann_window(n, periodic, d)),
                out.push_back(signal::hamming_window(n, periodic, d));
        for (int n : {1, 7, 8})
          out.push_back(signal::kaiser_window(n, 5, d)), out.push_back(signal::vorbis_window(n, d));
        out.push_back(signal::kaiser_bessel_derived_window(8, 4, d));
        out.push_back(signal::linear_to_mel_weight_matrix(
            {.num_mel_bins = 5, .num_spectrogram_bins = 17, .dtype = d}));
        return out;
      })
      .tf("[f(n, p, tf.float32) for n in (1, 7, 8) for p in (True, False) for f in "
          "(tf.signal.hann_window, tf.signal.hamming_window)] + [w for n in (1, 7, 8) for w in "
          "(tf.signal.kaiser_window(n, 5., tf.float32), "
          "tf.signal.vorbis_window(n, tf.float32))] + "
          "[tf.signal.kaiser_bessel_derived_window(8, 4., tf.float32), "
          "tf.signal.linear_to_mel_weight_matrix(5, 17, 8000, 125., 3800., tf.float32)]")
      .sample({x({1})})
      .dtypes({float32})
      .tolerance(8e-6);
}

}  // namespace rill::conformance
