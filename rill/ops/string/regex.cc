// Regular expressions.
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

const Op& replace_op = OpBuilder("RegexReplace", "strings.regex_replace")
                           .input("input: string")
                           .input("pattern: string")
                           .input("rewrite: string")
                           .output("output: string")
                           .attr("replace_global: bool = true")
                           .doc("What a pattern matches, replaced: every match, or the first.")
                           .shape([](ShapeContext& c) {
                             require_rank(c, 1, 0, "pattern");
                             require_rank(c, 2, 0, "rewrite");
                             unchanged_shape(c);
                           })
                           .no_gradient()
                           .define();
const Op& full_match_op = OpBuilder("RegexFullMatch", "strings.regex_full_match")
                              .input("input: string")
                              .input("pattern: string")
                              .output("output: bool")
                              .doc("Whether a pattern matches the whole of each string.")
                              .shape([](ShapeContext& c) {
                                require_rank(c, 1, 0, "pattern");
                                unchanged_shape(c);
                              })
                              .no_gradient()
                              .define();

}  // namespace

namespace strings {

Tensor regex_replace(const Operand& input, const Operand& pattern, const Operand& rewrite,
                     bool replace_global) {
  return execute(replace_op, {Arg(input), Arg(pattern), Arg(rewrite)},
                 {{"replace_global", replace_global}});
}
Tensor regex_full_match(const Operand& input, const Operand& pattern) {
  return execute(full_match_op, {Arg(input), Arg(pattern)});
}

}  // namespace strings
}  // namespace rill
