// Tuples of values as numbers of buckets.
#include "rill/ops/string/hashed_cross_impl.h"

#include "rill/base/hash.h"
#include "rill/ops/op_helpers.h"

namespace rill {
namespace {

// As TensorFlow joins two fingerprints.
std::uint64_t joined(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMul = 0xc6a4a7935bd1e995;
  const auto mixed = [](std::uint64_t v) { return v ^ (v >> 47); };
  std::uint64_t r = a ^ kMul;
  r ^= mixed(b * kMul) * kMul;
  r *= kMul;
  return mixed(mixed(r) * kMul);
}
constexpr std::uint64_t kKey = 0xDECAFCAFFE;  // of TensorFlow's crosses

std::uint64_t fingerprint_at(const Tensor& t, std::int64_t i) {
  if (t.dtype() == string) return fingerprint64(host_data<std::string>(t)[i]);
  return static_cast<std::uint64_t>(t.dtype() == int32 ? host_data<std::int32_t>(t)[i]
                                                       : host_data<std::int64_t>(t)[i]);
}

void cross_shape(ShapeContext& c) {
  RILL_CHECK(c.num_inputs() >= 1 && c.int_attr("num_buckets") > 0, invalid_argument,
             "[{}] got {} inputs for {} buckets; expected one of each or more", c.tag(),
             c.num_inputs(), c.int_attr("num_buckets"));
  for (int i = 0; i < c.num_inputs(); ++i) {
    const DType d = c.input_dtype(i);
    RILL_CHECK(d == string || d == int32 || d == int64, invalid_argument,
               "[{}] input {} is {}; expected string, int32 or int64", c.tag(), i, d);
    RILL_CHECK(c.input(i).is_compatible_with(c.input(0)), invalid_argument,
               "[{}] inputs have shapes {} and {}; expected equal shapes", c.tag(), c.input(0),
               c.input(i));
  }
  unchanged_shape(c);
}
const Op& cross_op =
    OpBuilder("_HashedCross", "HashedCrossing")
        .attr("T: list(type)")
        .input("inputs: T")
        .output("output: int64")
        .attr("num_buckets: int")
        .doc("A bucket for each tuple of values, by their fingerprints.")
        .shape(cross_shape)
        .no_gradient()
        .forward([](const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          std::vector<Tensor> values;
          for (const In& t : in) {
            values.push_back(to_host(*t));
            RILL_CHECK(t->shape() == in[0]->shape(), invalid_argument,
                       "[{}] inputs have shapes {} and {}; expected equal shapes", a.op().tag,
                       in[0]->shape(), t->shape());
          }
          const auto buckets = static_cast<std::uint64_t>(a.int_attr("num_buckets"));
          out[0] = make_tensor(int64, in[0]->shape());
          for (std::int64_t i = 0; i < values[0].size(); ++i) {
            std::uint64_t hash = kKey;
            for (const Tensor& t : values) hash = joined(hash, fingerprint_at(t, i));
            mutable_data<std::int64_t>(out[0])[i] = static_cast<std::int64_t>(hash % buckets);
          }
        })
        .define();

}  // namespace

Tensor hashed_cross(const std::vector<Tensor>& inputs, std::int64_t num_buckets) {
  const Attr attrs[] = {{"num_buckets", num_buckets}};
  return execute_all(cross_op, as_inputs(inputs), attrs, 1)[0];
}

}  // namespace rill
