// Kernels of networks one by one on the GPU, in microseconds a call and in what they reach:
// convolutions with their gradients, normalisation, pooling, rows by index, sorting.
#include <rill/rill.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace tf = rill;
using tf::Tensor;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
void drain(const Tensor& t) { tf::reshape(t, {-1})[0].cpu(); }

// The median of several runs of ten calls.
double microseconds(const std::function<Tensor()>& call) {
  for (int i = 0; i < 5; ++i) drain(call());
  std::vector<double> times;
  for (int run = 0; run < 7; ++run) {
    const double begin = now();
    Tensor last;
    for (int i = 0; i < 10; ++i) last = call();
    drain(last);
    times.push_back((now() - begin) / 10 * 1e6);
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

void row(const char* name, double us, double work = 0, const char* unit = "") {
  if (work > 0)
    std::printf("  %-52s %9.1f us %8.2f %s\n", name, us, work / us * 1e-6, unit);
  else
    std::printf("  %-52s %9.1f us\n", name, us);
  std::fflush(stdout);
}

void conv(const char* name, tf::DType dtype, int batch, int size, int in, int out, int taps,
          int stride) {
  const Tensor x = tf::cast(tf::random::stateless_normal({batch, size, size, in}, {1, 2}), dtype),
               w = tf::cast(tf::random::stateless_normal({taps, taps, in, out}, {3, 4}) * 0.05f,
                            dtype);
  const Tensor y = tf::nn::conv2d(x, w, stride, "SAME");
  const double flops = 2.0 * static_cast<double>(y.size()) * taps * taps * in;
  char text[128];
  std::snprintf(text, sizeof text, "%s, %s: output", name, std::string(dtype.name()).c_str());
  row(text, microseconds([&] { return tf::nn::conv2d(x, w, stride, "SAME"); }), flops, "TFLOP/s");
  std::snprintf(text, sizeof text, "%s, %s: input", name, std::string(dtype.name()).c_str());
  namespace v1 = tf::compat::v1::nn;
  row(text, microseconds([&] {
        return v1::conv2d_backprop_input(tf::constant({batch, size, size, in}), w, y, stride,
                                         "SAME");
      }),
      flops, "TFLOP/s");
  std::snprintf(text, sizeof text, "%s, %s: filter", name, std::string(dtype.name()).c_str());
  row(text, microseconds([&] {
        return v1::conv2d_backprop_filter(x, tf::constant({taps, taps, in, out}), y, stride,
                                          "SAME");
      }),
      flops, "TFLOP/s");
}

}  // namespace

int main() {
  try {
    auto scope = tf::device("/gpu:0");
    tf::config::set_soft_device_placement(false);
    for (tf::DType dtype : {tf::float32, tf::bfloat16}) {
      conv("conv 56x56x64 -> 64, 3x3, batch 64", dtype, 64, 56, 64, 64, 3, 1);
      conv("conv 224x224x3 -> 64, 7x7 / 2, batch 64", dtype, 64, 224, 3, 64, 7, 2);
      conv("conv 14x14x1024 -> 256, 1x1, batch 64", dtype, 64, 14, 1024, 256, 1, 1);
    }
    const Tensor x = tf::random::stateless_normal({64, 56, 56, 256}, {1, 2}),
                 scale = tf::ones({256}), offset = tf::zeros({256});
    const double bytes = 4.0 * static_cast<double>(x.size());
    row("batch norm, training, 64x56x56x256",
        microseconds([&] { return tf::nn::fused_batch_norm(x, scale, offset).get<0>(); }),
        3 * bytes, "TB/s");
    row("max pool 3x3 / 2 of the same",
        microseconds([&] { return tf::nn::max_pool2d(x, 3, 2, "SAME"); }), 1.25 * bytes, "TB/s");
    const Tensor rows = tf::reshape(x, {-1, 256});
    row("layer norm of rows of 256",
        microseconds([&] { return tf::nn::layer_norm(rows, scale, offset); }), 3 * bytes, "TB/s");
    const Tensor ids =
                     tf::cast(tf::random::stateless_uniform({65536}, {5, 6}) * 30000.f, tf::int32),
                 updates = tf::random::stateless_normal({65536, 128}, {7, 8});
    row("sum of 65536 rows of 128 by 30000 ids",
        microseconds([&] { return tf::math::unsorted_segment_sum(updates, ids, 30000); }));
    const Tensor long_row = tf::random::stateless_normal({1 << 20}, {9, 9});
    row("top 100 of 2^20", microseconds([&] { return tf::nn::top_k(long_row, 100).values; }));
    row("cumsum of 2^20", microseconds([&] { return tf::cumsum(long_row); }));
  } catch (const tf::errors::Error& e) {
    std::printf("no GPU here: %s\n", std::string(e.message()).c_str());
  }
}
