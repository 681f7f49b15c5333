// What has no value and does nothing: control edges meet in it.
#include "rill/core/shape_inference.h"

namespace rill {
namespace {

[[maybe_unused]] const Op& no_op =
    OpBuilder("NoOp", "no_op")
        .doc("Does nothing; what it waits for runs.")
        .shape([](ShapeContext&) {})
        .no_gradient()
        .forward([](const AttrReader&, std::span<const In>, std::span<const TensorShape>,
                    std::span<Tensor>) {})
        .define();

}  // namespace
}  // namespace rill
