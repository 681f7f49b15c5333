#include <cstring>
#include <new>
#include <unordered_map>
#include <vector>

#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

struct HashBytes16 {
  std::size_t operator()(const Bytes16& b) const {
    return (b.v[0] ^ (b.v[0] >> 29)) * 0x9E3779B97F4A7C15ull +
           (b.v[1] ^ (b.v[1] >> 31)) * 0xBF58476D1CE4E5B9ull;
  }
};
struct SameBytes16 {
  bool operator()(const Bytes16& a, const Bytes16& b) const {
    return a.v[0] == b.v[0] && a.v[1] == b.v[1];
  }
};

// The places of first occurrence, the place of each element among them, counts.
struct Distinct {
  std::vector<std::int64_t> first, index, count;
};
// key(i, &k) says false for an element that equals nothing, not even itself.
template <class K, class Map, class F>
void collect(std::int64_t n, Distinct& d, F key) {
  Map map;
  for (std::int64_t i = 0; i < n; ++i) {
    K k;
    const std::int64_t next = static_cast<std::int64_t>(d.first.size());
    std::int64_t at = next;
    if (key(i, &k)) at = map.try_emplace(std::move(k), next).first->second;
    if (at == next) d.first.push_back(i), d.count.push_back(0);
    ++d.count[static_cast<std::size_t>(at)];
    d.index.push_back(at);
  }
}

// The bits of one number: 0 has one sign. False for NaN.
template <class T>
bool number_bits(T v, std::uint64_t* bits) {
  *bits = 0;
  if constexpr (std::is_integral_v<T>) {
    std::memcpy(bits, &v, sizeof v);
  } else {
    const auto f =
        static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(v) + 0;  // -0 + 0 is 0
    std::memcpy(bits, &f, sizeof f);
    return f == f;
  }
  return true;
}

void find_distinct(const TensorView& x, Distinct& d) {
  if (x.dtype == string) {
    const auto* s = static_cast<const std::string*>(x.data);
    return collect<std::string_view, std::unordered_map<std::string_view, std::int64_t>>(
        x.size, d, [&](std::int64_t i, std::string_view* k) { return *k = s[i], true; });
  }
  if (x.dtype.is_complex())
    return dispatch_types<std::complex<float>, std::complex<double>>(x.dtype, [&]<class T>() {
      const T* z = static_cast<const T*>(x.data);
      collect<Bytes16, std::unordered_map<Bytes16, std::int64_t, HashBytes16, SameBytes16>>(
          x.size, d, [&](std::int64_t i, Bytes16* k) {
            const bool re = number_bits(z[i].real(), &k->v[0]);
            return number_bits(z[i].imag(), &k->v[1]) && re;
          });
    });
  // One map for all widths: the keys are made first.
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(x.size));
  std::vector<char> is_number(bits.size());
  dispatch_plain(x.dtype, [&]<class T>() {
    if constexpr (!requires(T z) { z.real(); })
      for (std::size_t i = 0; i < bits.size(); ++i)
        is_number[i] = number_bits(static_cast<const T*>(x.data)[i], &bits[i]);
  });
  collect<std::uint64_t, std::unordered_map<std::uint64_t, std::int64_t>>(
      x.size, d, [&](std::int64_t i, std::uint64_t* k) {
        return *k = bits[static_cast<std::size_t>(i)], is_number[static_cast<std::size_t>(i)] != 0;
      });
}

template <class I>
void write(I* to, const std::vector<std::int64_t>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<I>(from[i]);
}

void unique_cpu(KernelContext& c) noexcept try {
  Distinct d;
  find_distinct(c.in(0), d);
  const TensorShape shape(Dims{static_cast<std::int64_t>(d.first.size())});
  if (!c.allocate_output(0, shape) || (c.num_outputs() > 2 && !c.allocate_output(2, shape))) return;
  dispatch_width(c.in(0).dtype, [&]<class T>() {
    for (std::size_t i = 0; i < d.first.size(); ++i) c.out<T>()[i] = c.in<T>(0)[d.first[i]];
  });
  dispatch_types<std::int32_t, std::int64_t>(c.out(1).dtype, [&]<class I>() {
    write(c.out<I>(1), d.index);
    if (c.num_outputs() > 2) write(c.out<I>(2), d.count);
  });
} catch (const std::bad_alloc&) {
  c.fail(Code::resource_exhausted,
         format("[{}] no memory for a table of {} elements", c.tag(), c.in(0).size));
}
RILL_KERNEL("Unique", cpu, kAllTypes, unique_cpu);
RILL_KERNEL("UniqueWithCounts", cpu, kAllTypes, unique_cpu);

void bincount_cpu(KernelContext& c) noexcept {
  const std::int64_t size = c.out_shape().dim(-1),
                     rows = c.in_shape(0).rank() == 2 ? c.in_shape(0).dim(0) : 1;
  const std::int64_t n = rows ? c.in(0).size / rows : 0;
  const bool weighted = c.in(2).size > 0, binary = c.bool_attr("binary_output");
  dispatch_types<std::int32_t, std::int64_t, float, double>(c.out().dtype, [&]<class T>() {
    T* out = c.out<T>();
    std::fill_n(out, c.out().size, T(0));
    dispatch_types<std::int32_t, std::int64_t>(c.in(0).dtype, [&]<class I>() {
      const I* in = c.in<I>(0);
      for (std::int64_t i = 0; i < rows * n; ++i) {
        if (in[i] < 0)
          return c.fail(Code::invalid_argument,
                        format("[{}] arr[{}] = {} is negative; expected numbers from 0 on", c.tag(),
                               i, static_cast<std::int64_t>(in[i])));
        if (in[i] >= size) continue;
        T& bin = out[i / n * size + in[i]];
        bin = binary ? T(1) : static_cast<T>(bin + (weighted ? c.in<T>(2)[i] : T(1)));
      }
    });
  });
}
RILL_KERNEL("DenseBincount", cpu, (TypeSet{int32, int64, float32, float64}), bincount_cpu);

}  // namespace
}  // namespace rill::cpu
