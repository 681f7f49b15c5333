// Convolutions against oneDNN's primitives called directly; pooling, batch normalisation
// and a matrix product against what memory and cores give.
//   nn_ops [threads]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "benchmarks/budget.h"
#include "rill/base/parallel.h"
#include "rill/core/execute.h"
#include "rill/rill.h"

#if __has_include(<oneapi/dnnl/dnnl.hpp>)
#include <oneapi/dnnl/dnnl.hpp>
#define HAVE_ONEDNN 1
#else
#define HAVE_ONEDNN 0
#endif

namespace tf = rill;

namespace {

double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
// The fastest of about a third of a second for each body, taken by turns: what
// disturbs one disturbs the others too.
std::vector<double> best_seconds(const std::vector<std::function<void()>>& bodies) {
  std::vector<double> best(bodies.size(), 1e30);
  double spent = 0;
  for (int round = 0; round < 3 || spent < 0.35 * static_cast<double>(bodies.size()); ++round)
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const double t = seconds(bodies[i]);
      best[i] = std::min(best[i], t);
      spent += t;
    }
  return best;
}

struct Conv {
  const char* name;
  std::int64_t batch, height, width, in, out, size;
  bool depthwise;
};

#if HAVE_ONEDNN
// The three passes on channels-last images and filters already packed.
struct Direct {
  explicit Direct(const Conv& c) : engine(dnnl::engine::kind::cpu, 0), stream(engine) {
    using dnnl::memory;
    const auto f32 = memory::data_type::f32;
    const memory::dims x{c.batch, c.in, c.height, c.width}, y{c.batch, c.out, c.height, c.width},
        one{1, 1}, none{0, 0}, pad{(c.size - 1) / 2, (c.size - 1) / 2};
    memory::dims w{c.out, c.in, c.size, c.size};
    if (c.depthwise) w = {c.in, 1, 1, c.size, c.size};
    const memory::desc dx(x, f32, memory::format_tag::nhwc), dw(w, f32, memory::format_tag::any),
        dy(y, f32, memory::format_tag::nhwc);
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc f(
        {dnnl::prop_kind::forward_training, direct, dx, dw, dy, one, none, pad, pad}, engine);
    const dnnl::convolution_backward_data::primitive_desc b(
        {direct, dx, dw, dy, one, none, pad, pad}, engine, f);
    const dnnl::convolution_backward_weights::primitive_desc g(
        {direct, dx, dw, dy, one, none, pad, pad}, engine, f);
    image = memory(f.src_desc(), engine), result = memory(f.dst_desc(), engine);
    for (memory* m : {&image, &result}) {
      auto* v = static_cast<float*>(m->get_data_handle());
      std::fill_n(v, m->get_desc().get_size() / sizeof(float), 0.5f);
    }
    const memory wf(f.weights_desc(), engine), wb(b.weights_desc(), engine),
        wg(g.diff_weights_desc(), engine);
    forward = [this, p = dnnl::convolution_forward(f), wf] {
      p.execute(stream, {{DNNL_ARG_SRC, image}, {DNNL_ARG_WEIGHTS, wf}, {DNNL_ARG_DST, result}});
    };
    input = [this, p = dnnl::convolution_backward_data(b), wb] {
      p.execute(stream,
                {{DNNL_ARG_DIFF_SRC, image}, {DNNL_ARG_WEIGHTS, wb}, {DNNL_ARG_DIFF_DST, result}});
    };
    filter = [this, p = dnnl::convolution_backward_weights(g), wg] {
      p.execute(stream,
                {{DNNL_ARG_SRC, image}, {DNNL_ARG_DIFF_WEIGHTS, wg}, {DNNL_ARG_DIFF_DST, result}});
    };
  }
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::memory image, result;
  std::function<void()> forward, input, filter;
};
#endif

void convolution(const Conv& c) {
  using tf::In;
  const auto x = tf::random::normal({c.batch, c.height, c.width, c.in});
  const auto w = c.depthwise ? tf::random::normal({c.size, c.size, c.in, 1})
                             : tf::random::normal({c.size, c.size, c.in, c.out});
  const auto y = tf::random::normal({c.batch, c.height, c.width, c.out});
  const std::vector<std::int64_t> one{1, 1, 1, 1};
  const std::string op = c.depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  const tf::Op &forward = tf::find_op(op), &input = tf::find_op(op + "BackpropInput"),
               &filter = tf::find_op(op + "BackpropFilter");
  const auto xs = tf::shape(x), ws = tf::shape(w);
  std::vector<std::function<void()>> bodies{
      [&] {
        tf::execute(forward, {x, w}, {{"strides", one}, {"padding", "SAME"}});
      },
      [&] {
        tf::execute(input, {xs, w, y}, {{"strides", one}, {"padding", "SAME"}});
      },
      [&] {
        tf::execute(filter, {x, ws, y}, {{"strides", one}, {"padding", "SAME"}});
      }};
  // Each pass in turns with its own reference. With all six in turns our result, which nobody else
  // reads, is what falls out of the cache.
  std::vector<std::vector<double>> t;
#if HAVE_ONEDNN
  Direct direct(c);
  const std::vector<std::function<void()>> references{direct.forward, direct.input, direct.filter};
  for (std::size_t i = 0; i < 3; ++i) t.push_back(best_seconds({bodies[i], references[i]}));
#else
  for (std::size_t i = 0; i < 3; ++i) t.push_back(best_seconds({bodies[i]}));
#endif
  const double flops = 2.0 *
                       static_cast<double>(c.batch * c.height * c.width * c.size * c.size * c.out) *
                       static_cast<double>(c.depthwise ? 1 : c.in) * 1e-9;
  for (std::size_t i = 0; i < 3; ++i) {
    const char* pass = i == 0 ? "forward" : i == 1 ? "input gradient" : "filter gradient";
    const std::string what = tf::format("conv2d {}, {}", c.name, pass);
    if (t[i].size() > 1)
      budget::speed_row(what.c_str(), {t[i][0], t[i][1]}, 0.93, 0.97);
    else
      std::printf("%-62s %7.1f GFLOP/s\n", what.c_str(), flops / t[i][0]);
  }
}

// The yardstick of what moves bytes.
double copy_rate(std::int64_t n) {
  std::vector<float> a(static_cast<std::size_t>(n), 1.f), b(static_cast<std::size_t>(n), 0.f);
  const float* from = a.data();
  float* to = b.data();
  const auto t = best_seconds({[&] {
    rill::parallel_for(n, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[i];
      asm volatile("" ::: "memory");
    });
  }});
  return 8.0 * static_cast<double>(n) / t[0];
}

// `bytes`: read and written once.
void moves(const char* what, double bytes, double copy, const std::function<void()>& body) {
  const double rate = bytes / best_seconds({body})[0];
  std::printf("%-62s %7.1f GB/s  %.2f of a copy\n", what, rate * 1e-9, rate / copy);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rill::set_compute_width(std::atoi(argv[1]));
  std::printf("%d threads\n", rill::compute_width());
  tf::random::set_seed(1);
  for (const Conv& c : {Conv{"A 50x28x28x1 -> 32, 5x5", 50, 28, 28, 1, 32, 5, false},
                        Conv{"B 50x14x14x32 -> 64, 5x5", 50, 14, 14, 32, 64, 5, false},
                        Conv{"C 32x56x56x64 -> 64, 3x3", 32, 56, 56, 64, 64, 3, false},
                        Conv{"D 32x14x14x256 -> 256, 3x3", 32, 14, 14, 256, 256, 3, false},
                        Conv{"E 32x112x112x32 depthwise, 3x3", 32, 112, 112, 32, 32, 3, true},
                        Conv{"F 32x28x28x128 -> 512, 1x1", 32, 28, 28, 128, 512, 1, false}})
    convolution(c);
  {
    const auto a = tf::random::normal({512, 512}), b = tf::random::normal({512, 512});
    std::printf("matmul 512 %57.1f GFLOP/s\n",
                2 * 512. * 512 * 512 * 1e-9 / best_seconds({[&] { tf::matmul(a, b); }})[0]);
  }
  const double copy = copy_rate(1 << 24);
  std::printf("copy of 16 M floats %49.1f GB/s\n", copy * 1e-9);
  {
    const auto x = tf::random::normal({50, 28, 28, 32});
    const double in = 4.0 * static_cast<double>(x.size());
    const auto y = tf::nn::max_pool(x, 2, 2, "SAME");
    const std::vector<std::int64_t> two{1, 2, 2, 1};
    const tf::Op& grad = tf::find_op("MaxPoolGrad");
    moves("max_pool 2x2 of 50x28x28x32", in * 1.25, copy,
          [&] { tf::nn::max_pool(x, 2, 2, "SAME"); });
    moves("its gradient", in * 2.25, copy, [&] {
      tf::execute(grad, {x, y, y}, {{"ksize", two}, {"strides", two}, {"padding", "SAME"}});
    });
    moves("max_pool 3x3, stride 2 of 50x28x28x32", in * 1.25, copy,
          [&] { tf::nn::max_pool(x, 3, 2, "SAME"); });
    moves("avg_pool 2x2 of 50x28x28x32", in * 1.25, copy,
          [&] { tf::nn::avg_pool(x, 2, 2, "SAME"); });
    const auto s = tf::ones({32}), o = tf::zeros({32});
    moves("fused_batch_norm of 50x28x28x32, training", in * 2, copy,
          [&] { tf::nn::fused_batch_norm(x, s, o); });
  }
}
