// Serialized Examples as tensors.
#include "rill/io/kernels/feature_parser_impl.h"

namespace rill::io {
namespace {

constexpr FeatureLayout kExample{.sparse_types = "sparse_types",
                                 .ragged_types = "ragged_value_types",
                                 .split_types = "ragged_split_types",
                                 .dense_shapes = "dense_shapes",
                                 .sparse_keys = 2,
                                 .dense_keys = 3,
                                 .ragged_keys = 4,
                                 .first_default = 5,
                                 .message = "an Example",
                                 .single = "io.parse_single_example"};

void parse_example_cpu(KernelContext& c) noexcept { FeatureParser(c, kExample).run(); }
RILL_KERNEL("ParseExampleV2", cpu, TypeSet{}, parse_example_cpu);

}  // namespace
}  // namespace rill::io
