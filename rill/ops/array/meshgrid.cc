// Grids of coordinates.
#include <algorithm>

#include "rill/ops/array/array_helpers.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"

namespace rill {

Tensor largest(const Tensor& x) {
  // A value that is there is read; a symbolic one is asked of the graph.
  if (!x.is_symbolic()) {
    const auto v = x.to_vector<std::int64_t>();
    return to_tensor(v.empty() ? std::int64_t{0} : *std::max_element(v.begin(), v.end()),
                     x.dtype());
  }
  return execute(find_op("Max"), {x, range(rank(x))});
}

std::vector<Tensor> meshgrid(const TensorList& coordinates, MeshgridOptions o) {
  RILL_CHECK(o.indexing == "xy" || o.indexing == "ij", invalid_argument,
             "[meshgrid] indexing is \"{}\"; expected \"xy\" or \"ij\"", o.indexing);
  const auto& in = coordinates.tensors();
  const bool swap = o.indexing == "xy" && in.size() > 1;
  auto axis_of = [&](std::size_t i) { return swap && i < 2 ? 1 - i : i; };
  std::vector<Tensor> lengths(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) lengths[axis_of(i)] = size(in[i]);
  if (in.empty()) return {};
  const Tensor whole = stack(lengths);
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::vector<int> line(in.size(), 1);
    line[axis_of(i)] = -1;
    out.push_back(broadcast_to(reshape(in[i], constant(line)), whole));
  }
  return out;
}

}  // namespace rill
