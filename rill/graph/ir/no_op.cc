// Ops that files hold and programs do not call: what control edges meet in, and
// several values under one name.
#include "rill/core/grad_context.h"
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

[[maybe_unused]] const Op& identity_n =
    OpBuilder("IdentityN", "identity_n")
        .attr("T: list(type)")
        .input("input: T")
        .output("output: T")
        .doc("Its inputs.")
        .shape([](ShapeContext& c) {
          for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i));
        })
        .gradient([](GradContext& g) {
          for (int i = 0; i < g.num_inputs(); ++i) g.set(i, g.raw_dy(i));
        })
        .forward([](const AttrReader&, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = *in[i];
        })
        .define();

}  // namespace
}  // namespace rill
