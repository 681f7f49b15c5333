// Strings as numbers of buckets.
#include "rill/base/hash.h"
#include "rill/base/parallel.h"
#include "rill/core/kernel.h"

namespace rill::cpu {
namespace {

template <class F>
void buckets(KernelContext& c, F hash) {
  const auto n = static_cast<std::uint64_t>(c.int_attr("num_buckets"));
  const std::string* in = c.in<std::string>(0);
  std::int64_t* out = c.out<std::int64_t>();
  parallel_for(c.out().size, 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<std::int64_t>(hash(in[i]) % n);
  });
}
void bucket_cpu(KernelContext& c) noexcept {
  buckets(c, [](const std::string& s) { return murmur64(s); });
}
void bucket_fast_cpu(KernelContext& c) noexcept {
  buckets(c, [](const std::string& s) { return fingerprint64(s); });
}
void bucket_strong_cpu(KernelContext& c) noexcept {
  const auto key = c.ints_attr("key");
  const auto k0 = static_cast<std::uint64_t>(key[0]), k1 = static_cast<std::uint64_t>(key[1]);
  buckets(c, [=](const std::string& s) { return siphash64(s, k0, k1); });
}
RILL_KERNEL("StringToHashBucket", cpu, TypeSet{}, bucket_cpu);
RILL_KERNEL("StringToHashBucketFast", cpu, TypeSet{}, bucket_fast_cpu);
RILL_KERNEL("StringToHashBucketStrong", cpu, TypeSet{}, bucket_strong_cpu);

}  // namespace
}  // namespace rill::cpu
