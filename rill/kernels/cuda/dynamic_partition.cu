// Rows sent to one of several tensors, and put together again. The host waits for the sizes.
#include <new>
#include <vector>

#include "rill/kernels/cuda/read_back.h"
#include "rill/kernels/cuda/runs.h"

namespace rill::cuda {
namespace {

// [n] and the axes of data behind those of the index.
TensorShape rows_of(std::int64_t n, const TensorShape& data, int index_rank) {
  Dims d{n};
  for (int i = index_rank; i < data.rank(); ++i) d.push_back(data.dim(i));
  return TensorShape(d);
}

// Where each partition begins among the sorted rows.
struct PartBeginBody {
  Runs runs;
  std::int64_t* begin;
  __device__ __forceinline__ void operator()(std::int64_t k) const {
    std::int64_t low = 0, high = runs.n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (runs.place[middle] < static_cast<std::uint64_t>(k))
        low = middle + 1;
      else
        high = middle;
    }
    begin[k] = low;
  }
};
template <class T>
struct PartRowsBody {
  const T* in;
  const std::uint32_t* row;
  T* out;
  std::int64_t inner;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    out[i] = in[std::int64_t{row[i / inner]} * inner + i % inner];
  }
};

void dynamic_partition_cuda(KernelContext& c) noexcept try {
  const std::int64_t n = c.in(1).size, kinds = c.num_outputs();
  std::int64_t inner = 1;
  for (int i = c.in_shape(1).rank(); i < c.in_shape(0).rank(); ++i) inner *= c.in_shape(0).dim(i);
  Runs runs;
  auto* begin = c.scratch<std::int64_t>(kinds + 1);
  if (!begin || !make_runs(c, c.in<std::int32_t>(1), n, kinds, Outside::report, "partitions", runs))
    return;
  launch_loops(c, kinds + 1, PartBeginBody{runs, begin});
  std::vector<std::int64_t> at(static_cast<std::size_t>(kinds) + 1);
  if (!read_back(c, at.data(), begin, at.size() * sizeof at[0])) return;
  by_width(c.in(0).dtype, [&]<class T>() {
    for (int k = 0; k < kinds; ++k) {
      const std::int64_t first = at[static_cast<std::size_t>(k)],
                         rows = at[static_cast<std::size_t>(k) + 1] - first;
      T* out = c.allocate<T>(k, rows_of(rows, c.in_shape(0), c.in_shape(1).rank()));
      if (!out && c.failed()) return;
      launch_elements(c, rows * inner, PartRowsBody<T>{c.in<T>(0), runs.row + first, out, inner});
    }
  });
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted,
         format("[{}] no memory for the sizes of {} partitions", c.tag(), c.num_outputs()));
}
RILL_KERNEL("DynamicPartition", gpu, kPlainTypes, dynamic_partition_cuda);

// Of rows for one place the last counts: source[place] = its number + 1.
struct LastRowBody {
  Runs runs;
  std::uint32_t* source;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (runs.place[i] == runs.limit) return;
    if (i + 1 == runs.n || runs.place[i + 1] != runs.place[i])
      source[runs.place[i]] = runs.row[i] + 1;
  }
};
template <class T>
struct StitchBody {
  const std::int32_t* index;
  const T* in;
  const std::uint32_t* source;
  T* out;
  std::int64_t first, inner;  // `first`: how many rows the inputs before this one have
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / inner, to = index[row];
    if (std::int64_t{source[to]} == first + row + 1) out[to * inner + i % inner] = in[i];
  }
};

void dynamic_stitch_cuda(KernelContext& c) noexcept {
  const int n = c.num_inputs() / 2;
  std::int64_t total = 0, rows = 0;
  for (int i = 0; i < n; ++i) total += c.in(i).size;
  auto* all = c.scratch<std::int32_t>(std::max<std::int64_t>(1, total));
  if (!all) return;
  const cudaStream_t stream = gpu_of(c).stream();
  for (std::int64_t i = 0, at = 0; i < n; at += c.in(static_cast<int>(i++)).size)
    cudaMemcpyAsync(all + at, c.in(static_cast<int>(i)).data,
                    static_cast<std::size_t>(c.in(static_cast<int>(i)).size) * sizeof *all,
                    cudaMemcpyDeviceToDevice, stream);
  Runs runs;
  if (total > 0) {
    std::uint64_t last = 0;
    if (!make_runs(c, all, total, INT32_MAX, Outside::report, "indices", runs) ||
        !read_back(c, &last, runs.place + total - 1, sizeof last))
      return;
    rows = static_cast<std::int64_t>(last) + 1;
  }
  const TensorShape shape = rows_of(rows, c.in_shape(n), c.in_shape(0).rank());
  const std::int64_t size = shape.num_elements(), inner = rows ? size / rows : 0;
  auto* source = c.scratch<std::uint32_t>(std::max<std::int64_t>(1, rows));
  if (!source) return;
  by_width(c.in(n).dtype, [&]<class T>() {
    T* out = c.allocate<T>(0, shape);
    if (!out || size == 0) return;
    cudaMemsetAsync(out, 0, static_cast<std::size_t>(size) * sizeof(T), stream);
    cudaMemsetAsync(source, 0, static_cast<std::size_t>(rows) * sizeof *source, stream);
    launch_elements(c, total, LastRowBody{runs, source});
    for (int i = 0, at = 0; i < n; at += static_cast<int>(c.in(i++).size))
      launch_elements(c, c.in(i).size * inner,
                      StitchBody<T>{c.in<std::int32_t>(i), c.in<T>(n + i), source, out, at, inner});
  });
}
RILL_KERNEL("DynamicStitch", gpu, kPlainTypes, dynamic_stitch_cuda);
RILL_KERNEL("ParallelDynamicStitch", gpu, kPlainTypes, dynamic_stitch_cuda);

}  // namespace
}  // namespace rill::cuda
