// The functions of rill/kernels/cuda/sort.h on the host.
#include "rill/kernels/cuda/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rill::cuda {

bool sort_pairs(KernelContext&, std::uint64_t* keys, std::uint32_t* order, std::int64_t n,
                int bits) {
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::vector<std::size_t> by(static_cast<std::size_t>(n));
  std::iota(by.begin(), by.end(), 0);
  std::stable_sort(by.begin(), by.end(), [&](std::size_t a, std::size_t b) {
    return (keys[a] & mask) < (keys[b] & mask);
  });
  const std::vector<std::uint64_t> k(keys, keys + n);
  const std::vector<std::uint32_t> o(order, order + n);
  for (std::size_t i = 0; i < by.size(); ++i) keys[i] = k[by[i]], order[i] = o[by[i]];
  return true;
}

bool count_before(KernelContext&, const std::uint32_t* in, std::int64_t* out, std::int64_t n) {
  out[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) out[i + 1] = out[i] + in[i];
  return true;
}

}  // namespace rill::cuda
