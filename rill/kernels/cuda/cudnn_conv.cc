// Convolutions by cuDNN's graph API: a graph of one operation, and the fastest of its engines
// that are deterministic and compute as the CPU does. The choice is kept by shape, in a file
// too: another process takes the same engine and has the same bits.
#include "rill/base/format.h"
#include "rill/core/float32_math.h"
#include "rill/core/observer.h"
#include "rill/kernels/cuda/conv.h"
#include "rill/kernels/cuda/copy.h"
#include "rill/kernels/cuda/cudnn.h"
#include "rill/kernels/cuda/recording.h"

#if !RILL_WITH_CUDNN

namespace rill::cuda {

bool cudnn_conv(KernelContext&, ConvPass, const WindowGeometry&, DType, const ConvBuffers&) {
  note_refused("this build has no cuDNN");
  return false;
}

}  // namespace rill::cuda

#else

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rill/base/choice_store.h"
#include "rill/base/logging.h"
#include "rill/kernels/cuda/choices_file.h"

// The handle of a plan is marked as old, but older versions ask for it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace rill::cuda {
namespace {

// A descriptor of cuDNN. Calls on it are chained: the first failure is kept.
class Descriptor {
 public:
  Descriptor(const Cudnn& lib, cudnnBackendDescriptorType_t type) : lib_(&lib) {
    status_ = lib.make(type, &d_);
  }
  Descriptor(Descriptor&& o) noexcept : lib_(o.lib_), d_(o.d_), status_(o.status_) {
    o.d_ = nullptr;
  }
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (d_) lib_->destroy(d_);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::int64_t count, const void* values) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = lib_->set(d_, name, type, count, values);
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, std::int64_t value) {
    return set(name, CUDNN_TYPE_INT64, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (other.status_ != CUDNN_STATUS_SUCCESS && status_ == CUDNN_STATUS_SUCCESS)
      status_ = other.status_;
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.d_);
  }
  Descriptor& finalize() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = lib_->finalize(d_);
    return *this;
  }
  // The number of elements that were read.
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   std::int64_t room, void* values) {
    std::int64_t count = 0;
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = lib_->get(d_, name, type, room, &count, values);
    return status_ == CUDNN_STATUS_SUCCESS ? count : 0;
  }
  cudnnBackendDescriptor_t get() const { return d_; }
  cudnnStatus_t status() const { return status_; }
  bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }

 private:
  const Cudnn* lib_;
  cudnnBackendDescriptor_t d_ = nullptr;
  cudnnStatus_t status_;
};

constexpr std::int64_t kInput = 1, kFilter = 2, kOutput = 3;  // names of the tensors in a graph

// The numbers that decide a plan, in their own order.
using Key = std::vector<std::int64_t>;

struct Plan {
  std::unique_ptr<Descriptor> plan;  // null: cuDNN has none
  std::int64_t workspace = 0;
  bool turned = false;  // of the turned problem
  std::string engine;   // its number and its knobs, after a "t" when turned
  std::string why;
};

// cuDNN gets symmetric padding alone; other images are padded first.
struct Problem {
  ConvPass pass;
  cudnnDataType_t type;
  int spatial;
  bool channels_first;
  bool rounds;  // operands of float32 may be rounded to TF32
  std::int64_t batch, in_channels, out_channels, groups, alignment;
  std::array<std::int64_t, 3> in, size, out, stride, dilation, padding;  // the last `spatial`
  Key key() const {
    Key k{static_cast<std::int64_t>(pass),
          static_cast<std::int64_t>(type),
          spatial,
          channels_first,
          rounds,
          batch,
          in_channels,
          out_channels,
          groups,
          alignment};
    for (const auto* a : {&in, &size, &out, &stride, &dilation, &padding})
      k.insert(k.end(), a->begin(), a->end());
    return k;
  }
  // The gradient of the input of a convolution without strides is a convolution of the output
  // with the filter turned round, and in float32 cuDNN's engines for that are often faster.
  bool can_turn() const {
    bool can = pass == ConvPass::input && type == CUDNN_DATA_FLOAT && groups == 1;
    for (std::size_t i = 0; i < 3; ++i)
      can = can && stride[i] == 1 && padding[i] <= (size[i] - 1) * dilation[i];
    return can;
  }
  Problem turned() const {
    Problem p = *this;
    p.pass = ConvPass::output;
    std::swap(p.in, p.out);
    std::swap(p.in_channels, p.out_channels);
    for (std::size_t i = 0; i < 3; ++i) p.padding[i] = (size[i] - 1) * dilation[i] - padding[i];
    return p;
  }
};

using Sizes = std::vector<std::int64_t>;

// [first, second, pixels ..] as cuDNN names axes, laid out with `second` last or in place.
Descriptor tensor(const Cudnn& lib, const Problem& p, std::int64_t id, std::int64_t first,
                  std::int64_t second, const std::array<std::int64_t, 3>& pixels) {
  Sizes dims{first, second}, strides(static_cast<std::size_t>(p.spatial) + 2);
  for (int i = 3 - p.spatial; i < 3; ++i) dims.push_back(pixels[static_cast<std::size_t>(i)]);
  std::int64_t step = p.channels_first ? 1 : second;
  for (std::size_t i = dims.size(); i-- > 2;) strides[i] = step, step *= dims[i];
  strides[1] = p.channels_first ? step : 1;
  strides[0] = p.channels_first ? step * second : step;
  Descriptor d(lib, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &p.type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, p.alignment)
      .finalize();
  return d;
}

// Number 17 for filters computes in tiles as Winograd does and says nothing of it: with 10^5
// and more terms its sums are off by up to 5 % of the largest (seen with cuDNN 9.19).
constexpr std::int64_t kInexactFilterEngine = 17;

// An engine whose sums do not depend on the run, and that neither rounds its operands first
// nor goes by way of a transform; then its number and knobs, else "". An FFT is as exact as the
// sum itself where every element is a sum over whole images, which is so for filters.
std::string wanted_engine(Descriptor& config, const Cudnn& lib, const Problem& p) {
  Descriptor engine(lib, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const std::int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                        CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  std::int64_t number = -1;
  engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &number);
  if (!config.ok() || !engine.ok()) return "";
  const bool filter = p.pass == ConvPass::filter, float32 = p.type == CUDNN_DATA_FLOAT;
  if (filter && number == kInexactFilterEngine) return "";
  for (std::int64_t i = 0; i < count; ++i) switch (notes[i]) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return "";
      case CUDNN_NUMERICAL_NOTE_FFT:
        if (!filter || !float32) return "";
        break;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:  // of float32: in TF32
        if (float32 && !p.rounds) return "";
        break;
      default:
        break;
    }
  std::string name = std::to_string(number);
  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> raw_knobs;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    knobs.emplace_back(lib, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    raw_knobs.push_back(knobs.back().get());
  }
  std::int64_t set = 0;  // stays so for an engine without knobs
  lib.get(config.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
          CUDNN_KNOB_TYPE_COUNTS, &set, raw_knobs.data());
  for (std::size_t i = 0; i < knobs.size() && static_cast<std::int64_t>(i) < set; ++i) {
    cudnnBackendKnobType_t type{};
    std::int64_t value = 0;
    knobs[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    knobs[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
    name += format(":{}={}", static_cast<int>(type), value);
  }
  return name;
}

// Memory that a plan may want to be tried, and how many are.
constexpr std::int64_t kMostTuned = std::int64_t{1} << 30;
constexpr std::size_t kTries = 8;

// Plans in the order in which cuDNN would choose; one without a plan, and why, when there is
// none. `engine`: that one alone, "": any.
std::vector<Plan> make_plans(const Cudnn& lib, cudnnHandle_t handle, const Problem& p,
                             std::size_t most, const std::string& engine = "") {
  const auto failed = [&](const char* what, cudnnStatus_t status) {
    std::vector<Plan> r(1);
    r[0].why = format("cuDNN: {}: {}", what, lib.error_string(status));
    return r;
  };
  std::vector<Plan> found;
  const bool wide = p.type == CUDNN_DATA_DOUBLE;
  const cudnnDataType_t compute = wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const Descriptor x = tensor(lib, p, kInput, p.batch, p.in_channels, p.in),
                   w = tensor(lib, p, kFilter, p.out_channels, p.in_channels / p.groups, p.size),
                   y = tensor(lib, p, kOutput, p.batch, p.out_channels, p.out);
  const auto used = [&](const std::array<std::int64_t, 3>& a) {
    return Sizes(a.begin() + (3 - p.spatial), a.end());
  };
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  Descriptor conv(lib, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, p.spatial)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, used(p.dilation))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, used(p.stride))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, used(p.padding))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, used(p.padding))
      .finalize();

  struct Names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t conv, x, w, y, alpha, beta;
  };
  const Names names = p.pass == ConvPass::output
                          ? Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA}
                      : p.pass == ConvPass::input
                          ? Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA}
                          : Names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const auto scalar = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  Descriptor operation(lib, names.type);
  operation.set(names.conv, conv)
      .set(names.x, x)
      .set(names.w, w)
      .set(names.y, y)
      .set(names.alpha, scalar, 1, wide ? static_cast<const void*>(&wide_one) : &one)
      .set(names.beta, scalar, 1, wide ? static_cast<const void*>(&wide_zero) : &zero)
      .finalize();
  Descriptor graph(lib, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation)
      .finalize();
  if (!graph.ok()) return failed("no graph of the convolution", graph.status());

  cudnnStatus_t last = CUDNN_STATUS_NOT_SUPPORTED;
  for (const cudnnBackendHeurMode_t heuristics : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Descriptor heuristic(lib, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &heuristics)
        .finalize();
    std::int64_t count =
        heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < count; ++i) {
      configs.emplace_back(lib, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      raw.push_back(configs.back().get());
    }
    count = heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                          raw.data());
    if (!heuristic.ok()) {
      last = heuristic.status();
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      Descriptor& config = configs[static_cast<std::size_t>(i)];
      const std::string name = wanted_engine(config, lib, p);
      if (name.empty() || (!engine.empty() && name != engine)) continue;
      auto plan = std::make_unique<Descriptor>(lib, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan->set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
          .finalize();
      Plan r;
      plan->get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &r.workspace);
      if (!plan->ok()) {
        last = plan->status();
        continue;
      }
      r.plan = std::move(plan);
      r.engine = name;
      if (found.empty() || r.workspace <= kMostTuned) found.push_back(std::move(r));
      if (found.size() == most) return found;
    }
    if (!found.empty() && most == 1) return found;
  }
  if (!found.empty()) return found;
  return failed("no deterministic engine of full precision", last);
}

// What a plan works on; of a turned one, x is the output of the convolution and y its input.
struct Tensors {
  void *x, *w, *y;
};

cudnnStatus_t execute(const Cudnn& lib, cudnnHandle_t handle, const Plan& plan, const Tensors& t,
                      void* workspace) {
  const std::int64_t ids[] = {kInput, kFilter, kOutput};
  void* const data[] = {t.x, t.w, t.y};
  Descriptor pack(lib, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace)
      .finalize();
  if (pack.status() != CUDNN_STATUS_SUCCESS) return pack.status();
  return lib.execute(handle, plan.plan->get(), pack.get());
}

// Milliseconds of a plan: the best of a few runs, after one that loads it. Negative: it failed,
// or is nowhere near `best`, if that is positive.
float time_of(const Cudnn& lib, cudnnHandle_t handle, cudaStream_t stream, const Plan& plan,
              const Tensors& t, void* workspace, float best_yet) {
  cudaEvent_t begin, end;
  if (cudaEventCreate(&begin) != cudaSuccess) return -1;
  if (cudaEventCreate(&end) != cudaSuccess) return cudaEventDestroy(begin), -1.f;
  float best = -1;
  for (int run = 0; run < 4; ++run) {
    cudaEventRecord(begin, stream);
    const bool ok = execute(lib, handle, plan, t, workspace) == CUDNN_STATUS_SUCCESS;
    cudaEventRecord(end, stream);
    float ms = -1;
    if (cudaEventSynchronize(end) != cudaSuccess || !ok) {
      best = -1;
      break;
    }
    cudaEventElapsedTime(&ms, begin, end);
    if (run == 1 && best_yet > 0 && ms > 3 * best_yet) break;
    if (run > 0) best = best < 0 ? ms : std::min(best, ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

// Of one device: a handle on its stream, the plans, and the choices of all processes.
struct State {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::map<Key, Plan> plans;
  std::unique_ptr<ChoiceStore> choices;
};
State& state_of(const GpuDevice& gpu) {
  static std::mutex mutex;
  static auto* states = new std::map<int, State>;
  std::lock_guard lock(mutex);
  return (*states)[gpu.index()];
}

std::string text_of(const Key& key) {
  std::string text;
  for (const std::int64_t k : key) {
    if (!text.empty()) text += ',';
    text += std::to_string(k);
  }
  return text;
}

// RILL_CUDNN_TUNING=0: what cuDNN would choose, nothing is timed.
bool tuning_is_on() {
  static const bool on = [] {
    const char* value = std::getenv("RILL_CUDNN_TUNING");
    return !value || std::string_view(value) != "0";
  }();
  return on;
}

// The fastest of the plans, by running them. `tensors(turned)`: what they work on.
template <class F>
std::size_t fastest(const Cudnn& lib, cudnnHandle_t handle, cudaStream_t stream,
                    const std::vector<Plan>& plans, F tensors, void* room) {
  std::vector<float> times;
  float best = -1;
  for (const Plan& r : plans) {
    times.push_back(time_of(lib, handle, stream, r, tensors(r.turned), room, best));
    if (times.back() >= 0 && (best < 0 || times.back() < best)) best = times.back();
    RILL_LOG(debug, "cuDNN: engine {}: {} ms", r.engine, times.back());
  }
  // The first within 5 % of the fastest: timing noise then rarely changes it.
  std::size_t chosen = 0;
  while (best >= 0 && (times[chosen] < 0 || times[chosen] > 1.05f * best)) ++chosen;
  return chosen;
}

// All that are worth a try, of both forms of the problem.
std::vector<Plan> plans_to_time(const Cudnn& lib, cudnnHandle_t handle, const Problem& p) {
  std::vector<Plan> plans = make_plans(lib, handle, p, kTries);
  if (p.can_turn())
    for (Plan& r : make_plans(lib, handle, p.turned(), kTries)) {
      r.turned = true;
      r.engine = "t" + r.engine;
      plans.push_back(std::move(r));
    }
  std::erase_if(plans, [](const Plan& r) { return !r.plan; });
  return plans;
}
// The one that was chosen before; without a plan when cuDNN no longer offers it.
Plan chosen_plan(const Cudnn& lib, cudnnHandle_t handle, const Problem& p,
                 const std::string& engine) {
  const bool turned = engine.starts_with('t');
  Plan r = std::move(
      make_plans(lib, handle, turned ? p.turned() : p, 1, engine.substr(turned ? 1 : 0))[0]);
  r.turned = turned;
  return r;
}

// More shapes than that are not a steady state: all are forgotten.
constexpr std::size_t kMostPlans = 1024;

}  // namespace

bool cudnn_conv(KernelContext& c, ConvPass pass, const WindowGeometry& g, DType dtype,
                const ConvBuffers& b) {
  const std::string* why = nullptr;
  const Cudnn* lib = cudnn(&why);
  if (!lib) {
    note_refused(why->c_str());
    return false;
  }
  Problem p{pass,
            dtype == float16    ? CUDNN_DATA_HALF
            : dtype == bfloat16 ? CUDNN_DATA_BFLOAT16
            : dtype == float64  ? CUDNN_DATA_DOUBLE
                                : CUDNN_DATA_FLOAT,
            g.layout.spatial,
            g.layout.channels_first,
            dtype == float32 && tensor_float_32_allowed(),
            g.batch,
            g.in_channels,
            g.out_channels,
            g.groups,
            16,
            {},
            {},
            {},
            {},
            {},
            {}};
  bool pads = false;
  for (const Window& w : g.axes) pads = pads || w.before != w.after;
  for (std::size_t i = 0; i < 3; ++i) {
    const Window& w = g.axes[i];
    p.in[i] = pads ? w.in + w.before + w.after : w.in;
    p.padding[i] = pads ? 0 : w.before;
    p.size[i] = w.size, p.out[i] = w.out, p.stride[i] = w.stride, p.dilation[i] = w.dilation;
    // Negative padding, or pixels at the end that no window reaches by cuDNN's own count.
    if (w.before < 0 || w.after < 0 ||
        (p.in[i] + 2 * p.padding[i] - (w.size - 1) * w.dilation - 1) / w.stride + 1 != w.out) {
      note_refused("cuDNN does not count these windows so");
      return false;
    }
  }
  GpuDevice& gpu = gpu_of(c);
  const auto bytes = static_cast<std::int64_t>(dtype.itemsize());

  // The image with its border, where cuDNN cannot pad it itself.
  void* x = b.input;
  const std::int64_t padded = g.batch * g.in_channels * p.in[0] * p.in[1] * p.in[2];
  StridedCopy border;  // from the image to its place within the border
  std::int64_t inside = 0;
  if (pads) {
    x = c.scratch(static_cast<std::size_t>(padded * bytes));
    if (!x) return false;
    const bool first = p.channels_first;
    const auto sizes = [&](std::int64_t d, std::int64_t h, std::int64_t w) {
      return first ? Dims{g.batch, g.in_channels, d, h, w} : Dims{g.batch, d, h, w, g.in_channels};
    };
    const Dims small = sizes(g.axes[0].in, g.axes[1].in, g.axes[2].in),
               large = sizes(p.in[0], p.in[1], p.in[2]);
    border = {small, row_major(small), row_major(large)};
    for (std::size_t i = 0; i < 3; ++i)
      inside += g.axes[i].before * border.out_strides[i + (first ? 2 : 1)];
    if (pass != ConvPass::input) {
      cudaMemsetAsync(x, 0, static_cast<std::size_t>(padded * bytes), gpu.stream());
      strided_copy(c, dtype, b.input, static_cast<char*>(x) + inside * bytes, border);
    }
  }
  // The filter [taps, in, out] as cuDNN has it: [out, taps, in], or [out, in, taps]; where the
  // problem is turned, with out and in changed and the taps backwards.
  const std::int64_t taps = g.taps(), in = g.in_channels / g.groups, out = g.out_channels;
  const auto layout = [&](bool turned) -> StridedCopy {
    const Dims theirs =
        turned ? p.channels_first ? Dims{-1, out * taps, taps} : Dims{-out, taps * out, 1}
        : p.channels_first ? Dims{1, taps, in * taps}
                           : Dims{in, 1, taps * in};
    return {{taps, in, out}, {in * out, out, 1}, theirs};
  };
  const auto filter = [&](bool turned) -> void* {
    void* w = c.scratch(static_cast<std::size_t>(taps * in * out * bytes));
    if (!w || pass == ConvPass::filter) return w;
    const StridedCopy copy = layout(turned);
    const std::int64_t first = turned ? (taps - 1) * -copy.out_strides[0] * bytes : 0;
    strided_copy(c, dtype, b.filter, static_cast<char*>(w) + first, copy);
    return w;
  };
  const auto tensors = [&](bool turned, void* w) {
    return turned ? Tensors{b.output, w, x} : Tensors{x, w, b.output};
  };
  const auto bits =
      reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(b.output);
  if (bits % 16 != 0) p.alignment = bytes;

  State& state = state_of(gpu);
  std::lock_guard lock(state.mutex);
  if (!state.handle && state.status == CUDNN_STATUS_SUCCESS)
    state.status = lib->create(&state.handle);
  if (state.status == CUDNN_STATUS_SUCCESS)
    state.status = lib->set_stream(state.handle, gpu.stream());  // a recording has its own
  if (state.status != CUDNN_STATUS_SUCCESS) {
    note_refused("cuDNN cannot start on this device");
    return false;
  }
  if (state.plans.size() >= kMostPlans) state.plans.clear();
  auto found = state.plans.find(p.key());
  if (found == state.plans.end()) {
    // What is worth it is tried, once per shape; not in a recording, which may not wait, and not
    // where the choice cannot be stored: another process would make another one.
    const double products = static_cast<double>(g.batch * in * out) * static_cast<double>(taps) *
                            static_cast<double>(g.out_pixels());
    Plan plan;
    if (products > 2e7 && tuning_is_on()) {
      if (!state.choices)
        state.choices = std::make_unique<ChoiceStore>(
            choices_file("cudnn", static_cast<std::int64_t>(lib->version()), gpu.ordinal()));
      const std::string key = text_of(p.key());
      std::optional<std::string> stored = state.choices->find(key);
      if (!stored && state.choices->can_keep() && !CudaRecording::current()) {
        const std::vector<Plan> plans = plans_to_time(*lib, state.handle, p);
        std::int64_t most = 1;
        for (const Plan& r : plans) most = std::max(most, r.workspace);
        void *room = c.scratch(static_cast<std::size_t>(most)), *straight = filter(false),
             *turned = p.can_turn() ? filter(true) : straight;
        if (c.failed()) return false;
        const auto on = [&](bool turns) { return tensors(turns, turns ? turned : straight); };
        if (!plans.empty())
          stored = state.choices->keep(
              key, plans[fastest(*lib, state.handle, gpu.stream(), plans, on, room)].engine);
      }
      if (stored) plan = chosen_plan(*lib, state.handle, p, *stored);
    }
    if (!plan.plan) plan = std::move(make_plans(*lib, state.handle, p, 1)[0]);
    RILL_LOG(debug, "cuDNN: engine {} for {}", plan.engine, text_of(p.key()));
    found = state.plans.emplace(p.key(), std::move(plan)).first;
  }
  const Plan& plan = found->second;
  if (!plan.plan) {
    note_refused("cuDNN has no deterministic engine of full precision for this geometry");
    return false;
  }
  void* workspace = nullptr;
  if (plan.workspace > 0) workspace = c.scratch(static_cast<std::size_t>(plan.workspace));
  void* w = filter(plan.turned);
  if (c.failed()) return false;
  const cudnnStatus_t status =
      execute(*lib, state.handle, plan, tensors(plan.turned, w), workspace);
  if (status != CUDNN_STATUS_SUCCESS) {
    c.fail(Code::internal, format("[{}] cuDNN refused a convolution on {}: {}", c.tag(),
                                  c.device().name(), lib->error_string(status)));
    return false;
  }
  if (const StridedCopy copy = layout(false); pass == ConvPass::filter)
    strided_copy(c, dtype, w, b.filter, {copy.dims, copy.out_strides, copy.in_strides});
  if (pads && pass == ConvPass::input)
    strided_copy(c, dtype, static_cast<char*>(x) + inside * bytes, b.input,
                 {border.dims, border.out_strides, border.in_strides});
  return !c.failed();
}

}  // namespace rill::cuda

#endif
