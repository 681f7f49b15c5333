// What an input pipeline costs beside the plain copy of its rows: MNIST's images
// and labels, shuffled, in batches of 32.
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks/budget.h"
#include "rill/rill.h"

namespace tf = rill;
using tf::data::Dataset;

namespace {

constexpr std::int64_t kRows = 60000, kRow = 28 * 28, kBatch = 32;

// A sample is short, so that some fall between the machine's other work.
constexpr int kSample = 64, kSamples = 300;

// The same rows, in a random order, into the same memory for every batch.
struct PlainGather {
  const float* images;
  const std::int64_t* labels;
  std::vector<std::int64_t> order;
  std::size_t at = 0;
  std::vector<float> x = std::vector<float>(kBatch * kRow);
  std::vector<std::int64_t> y = std::vector<std::int64_t>(kBatch);

  void operator()() {
    for (std::int64_t i = 0; i < kBatch; ++i) {
      const std::int64_t row = order[at];
      at = (at + 1) % order.size();
      std::memcpy(x.data() + i * kRow, images + row * kRow, kRow * sizeof(float));
      y[static_cast<std::size_t>(i)] = labels[row];
    }
    asm volatile("" : : "r"(x.data()), "r"(y.data()) : "memory");
  }
};

// Takes the next batch and works for so long.
auto step(tf::data::Iterator it, double seconds = 0) {
  return [=]() mutable {
    const tf::Nest batch = it.next();
    asm volatile("" : : "r"(&batch) : "memory");
    if (seconds == 0) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
}

}  // namespace

int main() {
  const auto images = tf::random::uniform({kRows, 28, 28});
  const auto labels = tf::random::uniform({kRows}, 0, 10, {.dtype = tf::int64});
  PlainGather gather{images.data<float>().data(), labels.data<std::int64_t>().data(),
                     std::vector<std::int64_t>(kRows)};
  std::iota(gather.order.begin(), gather.order.end(), 0);
  std::shuffle(gather.order.begin(), gather.order.end(), std::mt19937(1));

  const auto slices = Dataset::from_tensor_slices(tf::tuple(images, labels));
  const auto row = [&](const char* what, const Dataset& ds) {
    budget::multiple_row(
        what, budget::best_of_both(step(ds.repeat().iter()), gather, kSample, kSamples), 1.5, 1.2);
  };
  row("slices, shuffle(60000), batch(32): a batch", slices.shuffle(kRows).batch(kBatch));
  row("the same with prefetch(AUTOTUNE)",
      slices.shuffle(kRows).batch(kBatch).prefetch(tf::data::AUTOTUNE));
  row("shuffle(10000), repeat, take, batch(32)",
      slices.shuffle(10000).repeat().take(kRows).batch(kBatch));
  row("batch(32), rows in order", slices.batch(kBatch));

  for (const double work : {5e-6, 20e-6, 100e-6}) {
    const auto ds = slices.shuffle(kRows).batch(kBatch).repeat();
    const auto p = budget::best_of_both(step(ds.prefetch(tf::data::AUTOTUNE).iter(), work),
                                        step(ds.iter(), work), kSample, kSamples);
    std::printf("  with %3.0f us of work a batch: %6.1f us, with prefetch %6.1f us\n", work * 1e6,
                p.reference * 1e6, p.ours * 1e6);
  }
}
