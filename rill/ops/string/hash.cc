// Strings as numbers of buckets.
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

void bucket_shape(ShapeContext& c) {
  RILL_CHECK(c.int_attr("num_buckets") >= 1, invalid_argument,
             "[{}] num_buckets is {}; expected 1 or more", c.tag(), c.int_attr("num_buckets"));
  unchanged_shape(c);
}
const Op& bucket_op = OpBuilder("StringToHashBucket", "strings.to_hash_bucket")
                          .input("string_tensor: string")
                          .output("output: int64")
                          .attr("num_buckets: int")
                          .doc("A bucket for each string, by MurmurHash.")
                          .shape(bucket_shape)
                          .no_gradient()
                          .define();
const Op& bucket_fast_op = OpBuilder("StringToHashBucketFast", "strings.to_hash_bucket_fast")
                               .input("input: string")
                               .output("output: int64")
                               .attr("num_buckets: int")
                               .doc("A bucket for each string, by FarmHash.")
                               .shape(bucket_shape)
                               .no_gradient()
                               .define();

void strong_shape(ShapeContext& c) {
  RILL_CHECK(c.ints_attr("key").size() == 2, invalid_argument,
             "[{}] the key has {} numbers; expected 2", c.tag(), c.ints_attr("key").size());
  bucket_shape(c);
}
const Op& bucket_strong_op = OpBuilder("StringToHashBucketStrong", "strings.to_hash_bucket_strong")
                                 .input("input: string")
                                 .output("output: int64")
                                 .attr("num_buckets: int")
                                 .attr("key: list(int)")
                                 .doc("A bucket for each string, by SipHash with a key.")
                                 .shape(strong_shape)
                                 .no_gradient()
                                 .define();

}  // namespace

namespace strings {

Tensor to_hash_bucket(const Operand& input, std::int64_t num_buckets) {
  return execute(bucket_op, {Arg(input)}, {{"num_buckets", num_buckets}});
}
Tensor to_hash_bucket_fast(const Operand& input, std::int64_t num_buckets) {
  return execute(bucket_fast_op, {Arg(input)}, {{"num_buckets", num_buckets}});
}
Tensor to_hash_bucket_strong(const Operand& input, std::int64_t num_buckets,
                             const std::vector<std::int64_t>& key) {
  return execute(bucket_strong_op, {Arg(input)}, {{"num_buckets", num_buckets}, {"key", key}});
}

}  // namespace strings
}  // namespace rill
