#include "rill/kernels/functors/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "rill/kernels/functors/random_element.h"

namespace rill::functors {
namespace {

constexpr auto kSame = [](auto x) { return x; };
template <typename T>
constexpr auto kNarrow = [](float x) { return T(x); };

// `group(gen)` makes N elements; `stride` generator steps separate the starts
// of the groups.
template <int N, typename T, typename MakeGroup>
void fill_groups(Philox gen, std::int64_t begin, std::span<T> out, std::uint64_t stride,
                 MakeGroup group) {
  gen.skip(static_cast<std::uint64_t>(begin / N) * stride);
  const auto next = [&] {
    if (stride == 1) return group(gen);
    Philox at = gen;
    gen.skip(stride);
    return group(at);
  };
  const auto size = static_cast<std::int64_t>(out.size());
  std::int64_t i = 0;
  if (const std::int64_t offset = begin % N; offset != 0) {
    const std::array<T, N> values = next();
    i = std::min(N - offset, size);
    std::copy_n(values.begin() + offset, i, out.begin());
  }
  for (; i + N <= size; i += N) {
    const std::array<T, N> values = next();
    std::copy_n(values.begin(), N, out.begin() + i);
  }
  if (i < size) {
    const std::array<T, N> values = next();
    std::copy_n(values.begin(), size - i, out.begin() + i);
  }
}

// One word of each group makes one element.
template <typename T, typename Convert>
void fill_words(Philox gen, std::int64_t begin, std::span<T> out, Convert convert) {
  fill_groups<4>(gen, begin, out, 1, [&](Philox& g) {
    const Philox::Group x = g();
    return std::array<T, 4>{convert(x[0]), convert(x[1]), convert(x[2]), convert(x[3])};
  });
}

template <typename T, typename Narrow>
void fill_normal_floats(Philox gen, std::int64_t begin, std::span<T> out, Narrow narrow) {
  fill_groups<4>(gen, begin, out, 1, [&](Philox& g) {
    const Philox::Group x = g();
    const auto a = box_muller(x[0], x[1]), b = box_muller(x[2], x[3]);
    return std::array<T, 4>{narrow(a[0]), narrow(a[1]), narrow(b[0]), narrow(b[1])};
  });
}

constexpr std::uint64_t kWordsPerTruncated = 256;

// Takes what of `drawn` lies within bounds; true when `values` is full.
template <typename T, std::size_t N, typename Real, typename Narrow>
bool accept(const std::array<Real, 2>& drawn, std::array<T, N>& values, std::size_t& count,
            Narrow narrow) {
  for (const Real x : drawn) {
    if (std::abs(x) >= 2) continue;
    values[count++] = narrow(x);
    if (count == N) return true;
  }
  return false;
}

template <typename T, typename Narrow>
void fill_truncated_floats(Philox gen, std::int64_t begin, std::span<T> out, Narrow narrow) {
  fill_groups<4>(gen, begin, out, kWordsPerTruncated, [&](Philox& g) {
    std::array<T, 4> values;
    for (std::size_t count = 0;;) {
      const Philox::Group x = g();
      if (accept(box_muller(x[0], x[1]), values, count, narrow)) return values;
      if (accept(box_muller(x[2], x[3]), values, count, narrow)) return values;
    }
  });
}

// The uniform doubles of a row's draws come one after the other in the stream,
// two a group, also across rows.
class UnitDoubles {
 public:
  UnitDoubles(Philox gen, std::int64_t begin) : gen_(gen), next_(begin % 2 * 2) {
    gen_.skip(static_cast<std::uint64_t>(begin / 2));
    group_ = gen_();
  }

  double operator()() {
    if (next_ == 4) {
      group_ = gen_();
      next_ = 0;
    }
    next_ += 2;
    return unit_double(group_[next_ - 2], group_[next_ - 1]);
  }

 private:
  Philox gen_;
  Philox::Group group_{};
  std::int64_t next_;
};

}  // namespace

Philox stateless_generator(std::int64_t seed0, std::int64_t seed1) {
  const auto low = static_cast<std::uint64_t>(seed0), high = static_cast<std::uint64_t>(seed1);
  const Philox::Group mixed = Philox(0x02461e293ec8f720u, low, high)();
  return Philox({mixed[0], mixed[1]}, {0, 0, mixed[2], mixed[3]});
}

Philox stateful_generator(std::int64_t seed, std::int64_t seed2) {
  return Philox(static_cast<std::uint64_t>(seed), 0, static_cast<std::uint64_t>(seed2));
}

KeyCounter key_counter_of(const Philox& gen) {
  const Philox::Group& c = gen.counter();
  return {gen.key()[0] | std::uint64_t{gen.key()[1]} << 32, {word64(c, 0), word64(c, 1)}};
}

Philox generator_of(std::uint64_t key, std::span<const std::uint64_t, 2> counter) {
  return Philox(key, counter[0], counter[1]);
}

void fill_uniform(Philox gen, std::int64_t begin, std::span<float> out) {
  fill_words(gen, begin, out, unit_float);
}

void fill_uniform(Philox gen, std::int64_t begin, std::span<double> out) {
  fill_groups<2>(gen, begin, out, 1, [](Philox& g) {
    const Philox::Group x = g();
    return std::array<double, 2>{unit_double(x[0], x[1]), unit_double(x[2], x[3])};
  });
}

void fill_uniform(Philox gen, std::int64_t begin, std::span<half> out) {
  fill_words(gen, begin, out,
             [](std::uint32_t x) { return half(static_cast<float>(x & 0x3ff) * 0x1p-10f); });
}

void fill_uniform(Philox gen, std::int64_t begin, std::span<bfloat16_t> out) {
  fill_words(gen, begin, out,
             [](std::uint32_t x) { return bfloat16_t(static_cast<float>(x & 0x7f) * 0x1p-7f); });
}

void fill_uniform_int(Philox gen, std::int64_t begin, std::int32_t lo, std::int32_t hi,
                      std::span<std::int32_t> out) {
  // Unsigned throughout: hi - lo may exceed the signed range.
  const auto base = static_cast<std::uint32_t>(lo);
  const std::uint32_t range = static_cast<std::uint32_t>(hi) - base;
  fill_words(gen, begin, out,
             [=](std::uint32_t x) { return static_cast<std::int32_t>(base + x % range); });
}

void fill_uniform_int(Philox gen, std::int64_t begin, std::int64_t lo, std::int64_t hi,
                      std::span<std::int64_t> out) {
  const auto base = static_cast<std::uint64_t>(lo);
  const std::uint64_t range = static_cast<std::uint64_t>(hi) - base;
  fill_groups<2>(gen, begin, out, 1, [=](Philox& g) {
    const Philox::Group x = g();
    return std::array<std::int64_t, 2>{static_cast<std::int64_t>(base + word64(x, 0) % range),
                                       static_cast<std::int64_t>(base + word64(x, 1) % range)};
  });
}

void fill_bits(Philox gen, std::int64_t begin, std::span<std::uint32_t> out) {
  fill_words(gen, begin, out, kSame);
}

void fill_bits(Philox gen, std::int64_t begin, std::span<std::uint64_t> out) {
  fill_groups<2>(gen, begin, out, 1, [](Philox& g) {
    const Philox::Group x = g();
    return std::array<std::uint64_t, 2>{word64(x, 0), word64(x, 1)};
  });
}

void fill_normal(Philox gen, std::int64_t begin, std::span<float> out) {
  fill_normal_floats(gen, begin, out, kSame);
}

void fill_normal(Philox gen, std::int64_t begin, std::span<double> out) {
  fill_groups<2>(gen, begin, out, 1, [](Philox& g) {
    const Philox::Group x = g();
    return box_muller(x[0], x[1], x[2], x[3]);
  });
}

void fill_normal(Philox gen, std::int64_t begin, std::span<half> out) {
  fill_normal_floats(gen, begin, out, kNarrow<half>);
}

void fill_normal(Philox gen, std::int64_t begin, std::span<bfloat16_t> out) {
  fill_normal_floats(gen, begin, out, kNarrow<bfloat16_t>);
}

void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<float> out) {
  fill_truncated_floats(gen, begin, out, kSame);
}

void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<double> out) {
  fill_groups<2>(gen, begin, out, kWordsPerTruncated / 2, [](Philox& g) {
    std::array<double, 2> values;
    for (std::size_t count = 0;;) {
      const Philox::Group x = g();
      if (accept(box_muller(x[0], x[1], x[2], x[3]), values, count, kSame)) return values;
    }
  });
}

void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<half> out) {
  fill_truncated_floats(gen, begin, out, kNarrow<half>);
}

void fill_truncated_normal(Philox gen, std::int64_t begin, std::span<bfloat16_t> out) {
  fill_truncated_floats(gen, begin, out, kNarrow<bfloat16_t>);
}

template <typename Logit, typename Index>
void sample_categorical(Philox gen, std::int64_t first_row, std::int64_t classes,
                        std::span<const Logit> logits, std::span<Index> out) {
  if (out.empty()) return;
  const auto width = static_cast<std::size_t>(classes);
  const std::size_t rows = logits.size() / width;
  const std::size_t draws = out.size() / rows;
  UnitDoubles uniform(gen, first_row * static_cast<std::int64_t>(draws));
  std::vector<double> cumulated(width);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const Logit> r = logits.subspan(row * width, width);
    std::ranges::transform(r, cumulated.begin(), [](Logit x) { return static_cast<double>(x); });
    double top = std::numeric_limits<double>::lowest();
    for (const double x : cumulated) {
      if (std::isfinite(x)) top = std::max(top, x);
    }
    double total = 0;
    for (double& x : cumulated) {
      if (std::isfinite(x)) total += std::exp(x - top);
      x = total;
    }
    for (Index& drawn : out.subspan(row * draws, draws)) {
      const auto found = std::ranges::upper_bound(cumulated, uniform() * total);
      drawn = static_cast<Index>(found - cumulated.begin());
    }
  }
}

#define RILL_INSTANTIATE(Logit)                                                                \
  template void sample_categorical(Philox, std::int64_t, std::int64_t, std::span<const Logit>, \
                                   std::span<std::int32_t>);                                   \
  template void sample_categorical(Philox, std::int64_t, std::int64_t, std::span<const Logit>, \
                                   std::span<std::int64_t>)
RILL_INSTANTIATE(float);
RILL_INSTANTIATE(double);
RILL_INSTANTIATE(half);
RILL_INSTANTIATE(bfloat16_t);
#undef RILL_INSTANTIATE

void fill_permutation(Philox gen, std::span<std::int64_t> out) {
  std::iota(out.begin(), out.end(), std::int64_t{0});
  Philox::Group group{};
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (i % 4 == 0) group = gen();
    const auto left = static_cast<std::uint32_t>(out.size() - i);
    std::swap(out[i], out[i + group[i % 4] % left]);
  }
}

}  // namespace rill::functors
