// Threads that share a function: what one of them makes again stalls nobody else.
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <thread>

#include "rill/base/check.h"
#include "rill/core/observer.h"
#include "rill/eager/gradient_tape.h"
#include "rill/graph/function/function.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "tests/expect_error.h"

namespace rill {
namespace {

using testing::expect_error;
using namespace std::chrono_literals;

// A call that ought not to wait gets this long.
constexpr auto kLong = 20s;

TEST(FunctionThreads, KnownShapesRunWhileANewOneIsTraced) {
  std::latch tracing(1), open(1);
  auto f = function(
      [&](Tensor x) {
        if (x.shape() == TensorShape({3})) {
          tracing.count_down();
          open.wait();
        }
        return x * 2.f;
      },
      {.reduce_retracing = false});
  const Tensor two = constant({1.f, 2.f});
  f(two);
  std::thread slow([&] { EXPECT_EQ(f(constant({1.f, 2.f, 3.f})).to_string(), "[2. 4. 6.]"); });
  tracing.wait();
  std::future<std::string> known =
      std::async(std::launch::async, [&] { return f(two).to_string(); });
  const bool ran = known.wait_for(kLong) == std::future_status::ready;
  EXPECT_TRUE(ran) << "a call with a known shape waited for the trace of another";
  // Nor do questions wait.
  if (ran) {
    EXPECT_EQ(f.trace_count(), 1);
  }
  open.count_down();
  slow.join();
  EXPECT_EQ(known.get(), "[2. 4.]");
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(FunctionThreads, ANewShapeIsTracedOnceForAllWhoBringIt) {
  std::latch tracing(1), open(1);
  std::atomic<int> traced = 0;
  auto f = function([&](Tensor x) {
    if (++traced == 1) {
      tracing.count_down();
      open.wait();
    }
    return x + 1.f;
  });
  std::vector<std::thread> threads;
  auto call = [&] { EXPECT_EQ(f(constant({1.f})).item<float>(), 2.f); };
  threads.emplace_back(call);
  tracing.wait();
  for (int i = 0; i < 3; ++i) threads.emplace_back(call);
  std::this_thread::sleep_for(20ms);  // most of them wait by then
  EXPECT_EQ(traced, 1);
  open.count_down();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(FunctionThreads, AfterATraceThatThrewTheNextThreadTries) {
  std::latch tracing(1), open(1);
  std::atomic<int> traced = 0;
  auto f = function([&](Tensor x) {
    if (++traced == 1) {
      tracing.count_down();
      open.wait();
      RILL_FAIL(unavailable, "the first trace fails");
    }
    return x + 1.f;
  });
  std::thread first([&] {
    expect_error<errors::Unavailable>([&] { f(constant({1.f})); }, "the first trace fails");
  });
  tracing.wait();
  std::thread second([&] { EXPECT_EQ(f(constant({1.f})).item<float>(), 2.f); });
  open.count_down();
  first.join();
  second.join();
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f.trace_count(), 1);
}

// Variables are made by the first trace; the threads that wait for it share them.
TEST(FunctionThreads, TheFirstTraceMakesTheVariablesForAll) {
  Variable total;
  auto f = function([&](Tensor x) {
    if (!total.defined()) total = Variable(0.f);
    total.assign_add(reduce_sum(x));
    return total.value();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 25; ++k) f(ones({i + 1}));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(total.item<float>(), 25 * (1 + 2 + 3 + 4));
}

// A thread that traces may call the function that it traces, and others.
TEST(FunctionThreads, ATraceMayCallItsOwnFunction) {
  Function<Tensor, Tensor, int>* self = nullptr;
  auto power =
      function([&](Tensor x, int n) { return n == 0 ? ones_like(x) : x * (*self)(x, n - 1); });
  self = &power;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] { EXPECT_EQ(power(constant({2.f}), 5).item<float>(), 32.f); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(power.trace_count(), 6);
}

// Stands still at the end of one plan's making.
class PlanBarrier : public OpObserver {
 public:
  void record(const OpCall& call) noexcept override {
    if (call.how != Ran::plan || call.inputs[0].shape != TensorShape({3})) return;
    planning.count_down();
    open.wait();
  }
  std::latch planning{1}, open{1};
};

TEST(FunctionThreads, KnownShapesRunWhileANewOneIsPlanned) {
  static PlanBarrier barrier;  // lives as long as the process, as observers must
  auto f = function([](Tensor x) { return x * 2.f; },
                    {.input_signature = {TensorSpec({None}, float32)}});
  const Tensor two = constant({1.f, 2.f});
  // A plan is for a number of cores, which is another one on the main thread.
  std::thread([&] { f(two); }).join();
  observe_ops(&barrier);
  std::thread slow([&] { EXPECT_EQ(f(constant({1.f, 2.f, 3.f})).to_string(), "[2. 4. 6.]"); });
  barrier.planning.wait();
  std::future<std::string> known =
      std::async(std::launch::async, [&] { return f(two).to_string(); });
  EXPECT_EQ(known.wait_for(kLong), std::future_status::ready)
      << "a call with a known shape waited for the plan of another";
  barrier.open.count_down();
  slow.join();
  EXPECT_EQ(known.get(), "[2. 4.]");
  observe_ops(nullptr);
}

// Each set of inputs that a tape watches has a way back of its own, made once.
TEST(FunctionThreads, WaysBackAreMadeByWhoeverComesFirst) {
  auto f = function([](Tensor x, Tensor y) { return x * x * y; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, both = i % 2 == 0] {
      const Tensor x = constant({3.f}), y = constant({5.f});
      GradientTape tape;
      tape.watch(x);
      if (both) tape.watch(y);
      EXPECT_EQ(tape.gradient(f(x, y), x).item<float>(), 30.f);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(f.trace_count(), 1);
}

}  // namespace
}  // namespace rill
