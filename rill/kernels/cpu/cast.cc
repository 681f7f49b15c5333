#include <cmath>

#include "rill/base/parallel.h"
#include "rill/core/kernel.h"
#include "rill/core/type_dispatch.h"

namespace rill::cpu {
namespace {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

template <class To, class From>
To convert(From x) {
  if constexpr (is_half<From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (is_complex<From> && !is_complex<To>)
    return convert<To>(x.real());
  else if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (is_half<To>)
    return To(static_cast<float>(x));
  else if constexpr (is_complex<To> && is_complex<From>)
    return To(x);
  else if constexpr (is_complex<To>)
    return To(static_cast<typename To::value_type>(x));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // Out of range is undefined in C++; x86 gives the smallest value, and so do we everywhere.
    constexpr From low = static_cast<From>(std::numeric_limits<std::int64_t>::min());
    if (!(x >= low && x < -low)) {
      if constexpr (std::is_same_v<To, std::uint64_t>) {
        if (x >= -low && x < -low * 2) return static_cast<To>(x);
      }
      return sizeof(To) >= 4 ? static_cast<To>(std::numeric_limits<std::make_signed_t<To>>::min())
                             : To{0};
    }
    if constexpr (std::is_same_v<To, std::int32_t>) {
      if (!(x > static_cast<From>(-2147483649.0) && x < static_cast<From>(2147483648.0)))
        return std::numeric_limits<To>::min();
    }
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else
    return static_cast<To>(x);
}

void cast_cpu(KernelContext& c) noexcept {
  dispatch_plain(c.in(0).dtype, [&]<class From>() {
    dispatch_plain(c.out().dtype, [&]<class To>() {
      const From* in = c.in<From>(0);
      To* out = c.out<To>();
      parallel_for(c.out().size, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = convert<To>(in[i]);
      });
    });
  });
}
RILL_KERNEL("Cast", cpu, kPlainTypes, cast_cpu);

}  // namespace
}  // namespace rill::cpu
