// Chains of elementwise ops as one kernel, which reads what it is to compute from its arguments.
// Each op is the functor of its own kernel, so that a chain has the same bits.
#include "rill/core/elementwise_chain.h"

#include <string_view>

#include "rill/kernels/cuda/elementwise.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cuda {
namespace {

// clang-format off
#define RILL_CHAIN_UNARY(X) \
  X(Neg) X(Abs) X(Sign) X(Square) X(Sqrt) X(Rsqrt) X(Exp) X(Log) X(Relu) X(Tanh) X(Sigmoid)
#define RILL_CHAIN_BINARY(X) \
  X(Add) X(Sub) X(Mul) X(Maximum) X(Minimum) X(SquaredDifference) \
  X(ReluGrad) X(TanhGrad) X(SigmoidGrad) X(SqrtGrad) X(RsqrtGrad)

enum class Code : std::int32_t {
#define RILL_NAME(name) k##name,
  RILL_CHAIN_UNARY(RILL_NAME) RILL_CHAIN_BINARY(RILL_NAME)
#undef RILL_NAME
  kNone
};
// clang-format on
Code code_of(std::string_view op) {
  if (op == "AddV2") return Code::kAdd;
#define RILL_NAME(name) \
  if (op == #name) return Code::k##name;
  RILL_CHAIN_UNARY(RILL_NAME)
  RILL_CHAIN_BINARY(RILL_NAME)
#undef RILL_NAME
  return Code::kNone;
}

constexpr std::size_t kMembers = 24, kPlaces = 24;

struct Place {
  float* data;  // null: kept, at `at`
  enum class How : std::int16_t { each, one, repeat } how;
  std::int16_t at;
  std::uint32_t period;
};
struct Step {
  Code code;
  bool binary;
  Place a, b, out;
};

struct ChainBody {
  Step steps[kMembers];
  int count;
  static __device__ __forceinline__ float read(const Place& p, const float* kept, std::int64_t i) {
    if (!p.data) return kept[p.at];
    if (p.how == Place::How::each) return p.data[i];
    return p.how == Place::How::one ? p.data[0] : p.data[static_cast<std::uint32_t>(i) % p.period];
  }
  static __device__ __forceinline__ float compute(Code code, float a, float b) {
    switch (code) {
#define RILL_CASE(name) \
  case Code::k##name:   \
    return apply(functors::name{}, a);
      RILL_CHAIN_UNARY(RILL_CASE)
#undef RILL_CASE
#define RILL_CASE(name) \
  case Code::k##name:   \
    return apply(functors::name{}, a, b);
      RILL_CHAIN_BINARY(RILL_CASE)
#undef RILL_CASE
      case Code::kNone:
        break;
    }
    return a;
  }
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    float kept[kPlaces];
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      const Step& s = steps[k];
      const float a = read(s.a, kept, i), b = s.binary ? read(s.b, kept, i) : 0.f;
      const float y = compute(s.code, a, b);
      if (s.out.data)
        s.out.data[i] = y;
      else
        kept[s.out.at] = y;
    }
  }
};

bool can(const Op& op, DType dtype) { return dtype == float32 && code_of(op.name) != Code::kNone; }

void run(KernelContext& c, const ElementwiseChain& chain) {
  ChainBody body{};
  const auto place = [&](const ElementwiseChain::Side& s) {
    return Place{static_cast<float*>(s.data),
                 s.period == chain.elements ? Place::How::each
                 : s.period == 1            ? Place::How::one
                                            : Place::How::repeat,
                 static_cast<std::int16_t>(s.place), static_cast<std::uint32_t>(s.period)};
  };
  for (const ElementwiseChain::Member& m : chain.members)
    body.steps[body.count++] = {code_of(m.op->name), m.num_in == 2, place(m.in[0]), place(m.in[1]),
                                place(m.out)};
  launch_loops(c, chain.elements, body);
}

// Above so many elements an op a kernel moves its bytes as fast, and computes faster.
constexpr ChainRunner kRunner{can, run, kMembers, kPlaces, 1 << 19};
[[maybe_unused]] const bool registered = (set_chain_runner(DeviceType::gpu, &kRunner), true);

}  // namespace
}  // namespace rill::cuda
