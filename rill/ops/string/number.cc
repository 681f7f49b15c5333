// Numbers from strings and strings from numbers.
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

const Op& to_number_op = OpBuilder("StringToNumber", "strings.to_number")
                             .input("string_tensor: string")
                             .output("output: out_type")
                             .type("out_type", TypeSet{float32, float64, int32, int64}, float32)
                             .doc("The numbers that strings spell.")
                             .shape(unchanged_shape)
                             .no_gradient()
                             .define();

void as_string_shape(ShapeContext& c) {
  const DType d = c.input_dtype(0);
  const std::string_view fill = c.string_attr("fill");
  const bool number = d.is_floating() || d.is_complex();
  RILL_CHECK(
      fill.size() <= 1 &&
          (fill.empty() || std::string_view(" +-0#").find(fill[0]) != std::string_view::npos),
      invalid_argument, "[{}] fill is \"{}\"; expected \"\", \" \", \"+\", \"-\", \"0\" or \"#\"",
      c.tag(), fill);
  RILL_CHECK(!(c.bool_attr("scientific") && c.bool_attr("shortest")), invalid_argument,
             "[{}] both scientific and shortest; expected at most one", c.tag());
  RILL_CHECK(number || !(c.bool_attr("scientific") || c.bool_attr("shortest")), invalid_argument,
             "[{}] scientific and shortest are for floating-point numbers, not for {}", c.tag(), d);
  RILL_CHECK(number || d == string || c.int_attr("precision") < 0, invalid_argument,
             "[{}] precision is for floating-point numbers, not for {}", c.tag(), d);
  RILL_CHECK(c.int_attr("width") <= 1000000 && c.int_attr("precision") <= 1000000, invalid_argument,
             "[{}] width {} and precision {}; expected at most 1000000", c.tag(),
             c.int_attr("width"), c.int_attr("precision"));
  unchanged_shape(c);
}
const Op& as_string_op = OpBuilder("AsString", "strings.as_string")
                             .input("input: T")
                             .output("output: string")
                             .type("T", kAllTypes)
                             .attr("precision: int = -1")
                             .attr("scientific: bool = false")
                             .attr("shortest: bool = false")
                             .attr("width: int = -1")
                             .attr("fill: string = ''")
                             .doc("The elements written as text.")
                             .shape(as_string_shape)
                             .no_gradient()
                             .define();

}  // namespace

namespace strings {

Tensor to_number(const Operand& input, DType out_type) {
  return execute(to_number_op, {Arg(input)}, {{"out_type", out_type}});
}
Tensor as_string(const Operand& input, AsStringOptions o) {
  return execute(as_string_op, {Arg(input)},
                 {{"precision", o.precision},
                  {"scientific", o.scientific},
                  {"shortest", o.shortest},
                  {"width", o.width},
                  {"fill", o.fill}});
}

}  // namespace strings
}  // namespace rill
