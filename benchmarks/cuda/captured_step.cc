// The launches of one eager training step (784-100-10, batch 50, Adam) captured as
// a CUDA graph and replayed: how many there are, and what they take when no host
// work stands between them. The numbers of the step are those of the captured one,
// so this measures and does not train.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "rill/core/gpus.h"
#include "rill/kernels/cuda/gpu_device.h"
#include "rill/rill.h"

namespace tf = rill;
using tf::Tensor;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Network {
  tf::Variable w1{tf::random::stateless_normal({784, 100}, {1, 1}) * 0.05f}, b1{tf::zeros({100})};
  tf::Variable w2{tf::random::stateless_normal({100, 10}, {1, 2}) * 0.1f}, b2{tf::zeros({10})};
  std::vector<tf::Variable> variables() const { return {w1, b1, w2, b2}; }
  Tensor operator()(const Tensor& x) const {
    return tf::matmul(tf::nn::relu(tf::matmul(x, w1) + b1), w2) + b2;
  }
};

bool ok(cudaError_t e, const char* what) {
  if (e != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(e));
  return e == cudaSuccess;
}

}  // namespace

int main() {
  if (const std::string& why = tf::start_gpus(); !why.empty()) {
    std::printf("no GPU here: %s\n", why.c_str());
    return 0;
  }
  auto scope = tf::device("/gpu:0");
  tf::config::set_soft_device_placement(false);
  auto& gpu = static_cast<tf::cuda::GpuDevice&>(tf::find_device("/gpu:0"));
  const Tensor x = tf::random::stateless_uniform({50, 784}, {5, 5});
  const Tensor y = tf::cast(tf::random::stateless_uniform({50}, {5, 6}) * 10.f, tf::int32);
  const Network net;
  tf::keras::optimizers::Adam adam({.learning_rate = 1e-3});
  const auto step = [&] {
    tf::GradientTape tape;
    const Tensor loss = tf::reduce_mean(
        tf::nn::sparse_softmax_cross_entropy_with_logits({.labels = y, .logits = net(x)}));
    adam.apply_gradients(tape.gradient(loss, net.variables()), net.variables());
  };
  for (int i = 0; i < 100; ++i) step();
  gpu.synchronize();

  cudaGraph_t graph;
  cudaGraphExec_t plan;
  if (!ok(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal), "capture"))
    return 1;
  step();
  if (!ok(cudaStreamEndCapture(gpu.stream(), &graph), "end of capture")) return 1;
  std::size_t count = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphGetNodes(graph, nodes.data(), &count);
  int kernels = 0, copies = 0, others = 0;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    cudaGraphNodeGetType(node, &type);
    ++(type == cudaGraphNodeTypeKernel   ? kernels
       : type == cudaGraphNodeTypeMemcpy ? copies
                                         : others);
  }
  if (!ok(cudaGraphInstantiate(&plan, graph, 0), "instantiation")) return 1;
  std::vector<double> device, host;
  for (int run = 0; run < 9; ++run) {
    constexpr int kSteps = 500;
    const double begin = now();
    for (int i = 0; i < kSteps; ++i) cudaGraphLaunch(plan, gpu.stream());
    host.push_back((now() - begin) / kSteps * 1e6);
    gpu.synchronize();
    device.push_back((now() - begin) / kSteps * 1e6);
  }
  std::sort(device.begin(), device.end());
  std::sort(host.begin(), host.end());
  std::printf("one step: %d kernels, %d copies, %d other nodes\n", kernels, copies, others);
  void* place = gpu.allocate(4);
  const double begin = now();
  for (int i = 0; i < 5000; ++i)
    cudaMemsetAsync(place, 0, 4, gpu.stream());  // the least that can be queued
  const double queued = (now() - begin) / 5000 * 1e6;
  gpu.synchronize();
  std::printf("a bare memset: %.2f us of the host\n", queued);
  std::printf("replayed as a CUDA graph: %.1f us a step, host %.1f us\n", device[4], host[4]);
  return 0;
}
