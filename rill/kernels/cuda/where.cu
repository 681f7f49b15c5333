// What only the data decide the size of: places of what is not zero, distinct elements; and
// counts of numbers. The host waits for the size.
#include "rill/kernels/cuda/read_back.h"
#include "rill/kernels/cuda/runs.h"
#include "rill/kernels/cuda/walk.h"

namespace rill::cuda {
namespace {

// The last of n + 1 running counts, on the host.
bool read_count(KernelContext& c, const std::int64_t* before, std::int64_t n, std::int64_t& count) {
  return read_back(c, &count, before + n, sizeof count);
}

// Complex numbers as pairs of floats or doubles.
template <class T, int kParts>
struct NonzeroBody {
  const T* x;
  std::uint32_t* flag;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    bool set = false;
    for (int k = 0; k < kParts; ++k)
      set |= static_cast<Computed<T>>(x[i * kParts + k]) != Computed<T>(0);
    flag[i] = set;
  }
};
struct PlacesBody {
  const std::uint32_t* flag;
  const std::int64_t* before;
  std::int64_t* out;
  std::int64_t dims[kMaxRank];
  int rank;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (!flag[i]) return;
    std::int64_t rest = i;
    for (int k = rank; k-- > 0; rest /= dims[k]) out[before[i] * rank + k] = rest % dims[k];
  }
};

void where_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in(0).size;
  const TensorShape& shape = c.in_shape(0);
  if (shape.rank() > kMaxRank)
    return c.fail(Code::unimplemented,
                  format("[{}] got {} axes; on a GPU at most {}", c.tag(), shape.rank(), kMaxRank));
  auto* flag = c.scratch<std::uint32_t>(std::max<std::int64_t>(1, n));
  auto* before = c.scratch<std::int64_t>(n + 1);
  if (!flag || !before) return;
  if (c.in(0).dtype == complex64)
    launch_elements(c, n, NonzeroBody<float, 2>{c.in<float>(0), flag});
  else if (c.in(0).dtype == complex128)
    launch_elements(c, n, NonzeroBody<double, 2>{c.in<double>(0), flag});
  else if (c.in(0).dtype == bool_)
    launch_elements(c, n, NonzeroBody<std::uint8_t, 1>{c.in<std::uint8_t>(0), flag});
  else
    dispatch_reals(c.in(0).dtype, [&]<class T>() {
      launch_elements(c, n, NonzeroBody<T, 1>{c.in<T>(0), flag});
    });
  std::int64_t count = 0;
  if (!count_before(c, flag, before, n) || !read_count(c, before, n, count)) return;
  PlacesBody body{flag, before, nullptr, {}, shape.rank()};
  body.out = c.allocate<std::int64_t>(0, TensorShape(Dims{count, shape.rank()}));
  if (!body.out) return;
  for (int i = 0; i < shape.rank(); ++i) body.dims[i] = shape.dim(i);
  launch_elements(c, n, body);
}
RILL_KERNEL("Where", gpu, kPlainTypes, where_cuda);

// ---- distinct elements

template <class T>
struct ValueKeyBody {
  const T* x;
  std::uint64_t* key;
  std::uint32_t* order;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    key[i] = ordered_bits(x[i]);
    order[i] = static_cast<std::uint32_t>(i);
  }
};
// Sorted, each element begins a group unless it equals the one before it. NaN equals nothing:
// its key is that of no number but of the largest integer.
struct GroupBody {
  const std::uint64_t* key;
  std::uint32_t* begins;
  std::uint64_t nan;  // the key of NaN; 0: there is none
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    begins[i] = i == 0 || key[i] != key[i - 1] || (nan && key[i] == nan);
  }
};
// The place of each group's first element, by the group's number in sorted order.
struct FirstOfGroupBody {
  const std::uint32_t *begins, *order;
  const std::int64_t* before;
  std::uint64_t* first;
  std::uint32_t* group;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (!begins[i]) return;
    first[before[i]] = order[i];
    group[before[i]] = static_cast<std::uint32_t>(before[i]);
  }
};
// Groups are numbered by their first element: rank[group in sorted order] = number.
struct RankBody {
  const std::uint32_t* group;
  std::uint32_t* rank;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    rank[group[i]] = static_cast<std::uint32_t>(i);
  }
};
template <class I>
struct IndexBody {
  const std::uint32_t *begins, *order, *rank;
  const std::int64_t* before;
  I* index;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    index[order[i]] = static_cast<I>(rank[before[i] + begins[i] - 1]);
  }
};
template <class I>
struct CountBody {
  const std::uint32_t *begins, *rank;
  const std::int64_t* before;
  I* count;
  std::int64_t n;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (!begins[i]) return;
    std::int64_t end = i + 1;
    while (end < n && !begins[end]) ++end;
    count[rank[before[i]]] = static_cast<I>(end - i);
  }
};
template <class T>
struct TakeFirstBody {
  const T* x;
  const std::uint64_t* first;
  T* out;
  __device__ __forceinline__ void operator()(std::int64_t i) const { out[i] = x[first[i]]; }
};

void unique_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in(0).size, some = std::max<std::int64_t>(1, n);
  const DType dtype = c.in(0).dtype;
  auto *key = c.scratch<std::uint64_t>(some), *first = c.scratch<std::uint64_t>(some);
  auto *order = c.scratch<std::uint32_t>(some), *begins = c.scratch<std::uint32_t>(some),
       *group = c.scratch<std::uint32_t>(some), *rank = c.scratch<std::uint32_t>(some);
  auto* before = c.scratch<std::int64_t>(n + 1);
  if (!key || !first || !order || !begins || !group || !rank || !before) return;
  if (dtype == bool_)
    launch_elements(c, n, ValueKeyBody<std::uint8_t>{c.in<std::uint8_t>(0), key, order});
  else
    dispatch_reals(dtype, [&]<class T>() {
      launch_elements(c, n, ValueKeyBody<T>{c.in<T>(0), key, order});
    });
  if (!sort_pairs(c, key, order, n, 64)) return;
  launch_elements(c, n,
                  GroupBody{key, begins,
                            !dtype.is_floating()    ? 0
                            : dtype.itemsize() == 8 ? ~std::uint64_t{0}
                                                    : std::uint64_t{0xffffffffu}});
  std::int64_t count = 0;
  if (!count_before(c, begins, before, n) || !read_count(c, before, n, count)) return;
  launch_elements(c, n, FirstOfGroupBody{begins, order, before, first, group});
  if (!sort_pairs(c, first, group, count, 32)) return;
  launch_elements(c, count, RankBody{group, rank});
  const TensorShape shape(Dims{count});
  if (!c.allocate_output(0, shape) || (c.num_outputs() > 2 && !c.allocate_output(2, shape))) return;
  by_width(dtype, [&]<class T>() {
    launch_elements(c, count, TakeFirstBody<T>{c.in<T>(0), first, c.out<T>()});
  });
  dispatch_types<std::int32_t, std::int64_t>(c.out(1).dtype, [&]<class I>() {
    launch_elements(c, n, IndexBody<I>{begins, order, rank, before, c.out<I>(1)});
    if (c.num_outputs() > 2) launch_loops(c, n, CountBody<I>{begins, rank, before, c.out<I>(2), n});
  });
}
constexpr TypeSet kUniqueTypes = kRealTypes | TypeSet{bool_};
RILL_KERNEL("Unique", gpu, kUniqueTypes, unique_cuda);
RILL_KERNEL("UniqueWithCounts", gpu, kUniqueTypes, unique_cuda);

// ---- counts of numbers

// Numbers beyond the last bin go nowhere; a negative one is reported.
template <class I>
struct BinBody {
  const I* in;
  std::int64_t* bin;
  std::int64_t n, size;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const auto v = static_cast<std::int64_t>(in[i]);
    if (v < 0) report(reporter.error, reporter.op, Finding::negative, reporter.what, i, v, 0);
    bin[i] = v < 0 || v >= size ? -1 : i / n * size + v;
  }
};
template <class T>
struct BinCountBody {
  Runs runs;
  const T* weights;  // null: each counts 1
  T* out;
  bool binary;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    if (!runs.begins(i)) return;
    T sum = T(0);
    const std::int64_t end = runs.end(i);
    for (std::int64_t k = i; k < end; ++k) sum += weights ? weights[runs.row[k]] : T(1);
    out[runs.place[i]] = binary ? T(1) : sum;
  }
};
void bincount_cuda(KernelContext& c) noexcept {
  const std::int64_t size = c.out_shape().dim(-1),
                     rows = c.in_shape(0).rank() == 2 ? c.in_shape(0).dim(0) : 1,
                     n = rows ? c.in(0).size / rows : 0;
  auto* bin = c.scratch<std::int64_t>(std::max<std::int64_t>(1, c.in(0).size));
  if (!bin) return;
  cudaMemsetAsync(c.out().data, 0,
                  static_cast<std::size_t>(c.out().size) * c.out().dtype.itemsize(),
                  gpu_of(c).stream());
  dispatch_types<std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class I>() {
    launch_elements(
        c, c.in(0).size,
        BinBody<I>{c.in<I>(0), bin, n, size, {gpu_of(c).kernel_error(), &c.op(), "arr"}});
  });
  Runs runs;
  if (!make_runs(c, bin, c.in(0).size, rows * size, Outside::drop_negative, "arr", runs)) return;
  dispatch_types<std::int32_t, std::int64_t, float, double>(c.out().dtype, [&]<class T>() {
    launch_loops(c, runs.n,
                 BinCountBody<T>{runs, c.in(2).size > 0 ? c.in<T>(2) : nullptr, c.out<T>(),
                                 c.bool_attr("binary_output")});
  });
}
RILL_KERNEL("DenseBincount", gpu, (TypeSet{int32, int64, float32, float64}), bincount_cuda);

// Bins of equal width; what lies outside goes to the first and the last.
template <class T>
struct WidthBinBody {
  const T *in, *range;
  std::int64_t* bin;
  std::int64_t n, size;
  Reporter reporter;
  __device__ __forceinline__ void operator()(std::int64_t i) const {
    const T low = range[0], high = range[1];
    if (!(low < high))
      report(reporter.error, reporter.op, Finding::empty_range, "value_range", 0, 0, 0);
    if (i >= n) return;
    const T v = in[i];
    if (v != v) {
      report(reporter.error, reporter.op, Finding::not_a_number, reporter.what, i, 0, 0);
      bin[i] = -1;
      return;
    }
    const double step = static_cast<double>(high - low) / static_cast<double>(size),
                 at = static_cast<double>((v < low ? low : v) - low) / step,
                 last = static_cast<double>(size - 1);
    bin[i] = static_cast<std::int64_t>(at < last ? at : last);
  }
};
void histogram_cuda(KernelContext& c) noexcept {
  const std::int64_t n = c.in(0).size, some = std::max<std::int64_t>(1, n), size = c.out().size;
  auto* bin = c.scratch<std::int64_t>(some);
  if (!bin) return;
  GpuDevice& gpu = gpu_of(c);
  cudaMemsetAsync(c.out().data, 0, static_cast<std::size_t>(size) * c.out().dtype.itemsize(),
                  gpu.stream());
  dispatch_types<std::int32_t, std::int64_t, float, double>(c.in(0).dtype, [&]<class T>() {
    launch_elements(
        c, some,
        WidthBinBody<T>{
            c.in<T>(0), c.in<T>(1), bin, n, size, {gpu.kernel_error(), &c.op(), "values"}});
  });
  Runs runs;
  if (!make_runs(c, bin, n, size, Outside::drop_negative, "values", runs)) return;
  dispatch_types<std::int32_t, std::int64_t>(c.out().dtype, [&]<class I>() {
    launch_loops(c, runs.n, BinCountBody<I>{runs, nullptr, c.out<I>(), false});
  });
}
RILL_KERNEL("HistogramFixedWidth", gpu, (TypeSet{int32, int64, float32, float64}), histogram_cuda);

}  // namespace
}  // namespace rill::cuda
