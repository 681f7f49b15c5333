// Tensors as text: print, strings.format and the message of Assert.
#include "rill/ops/print.h"

#include "rill/core/array_format.h"
#include "rill/core/tensor_summary.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/debugging.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

void require_summarize(const ShapeContext& c) {
  const std::int64_t n = c.int_attr("summarize");
  RILL_CHECK(n == -1 || n > 0, invalid_argument,
             "[{}] summarize is {}; expected 1 or more, or -1 for all", c.tag(), n);
}

void format_shape(ShapeContext& c) {
  require_summarize(c);
  const std::string_view text = c.string_attr("template"), hole = c.string_attr("placeholder");
  RILL_CHECK(!hole.empty(), invalid_argument, "[{}] the placeholder is empty", c.tag());
  int holes = 0;
  for (std::size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += hole.size())
    ++holes;
  RILL_CHECK(holes == c.num_inputs(), invalid_argument,
             "[{}] {} placeholders in \"{}\" for {} inputs; expected as many", c.tag(), holes, text,
             c.num_inputs());
  scalar_shape(c);
}
void format_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor> out) {
  const std::string_view text = a.string_attr("template"), hole = a.string_attr("placeholder");
  std::string line;
  std::size_t at = 0;
  for (const In& t : in) {
    const std::size_t next = text.find(hole, at);
    line += text.substr(at, next - at);
    line += tensor_summary(*t, a.int_attr("summarize"));
    at = next + hole.size();
  }
  line += text.substr(at);
  out[0] = constant(line);
}
const Op& format_op = OpBuilder("StringFormat", "strings.format")
                          .attr("T: list(type)")
                          .input("inputs: T")
                          .output("output: string")
                          .attr("template: string = '%s'")
                          .attr("placeholder: string = '%s'")
                          .attr("summarize: int = 3")
                          .doc("A text with each placeholder replaced by a tensor.")
                          .shape(format_shape)
                          .no_gradient()
                          .forward(format_forward)
                          .define();

void assert_shape(ShapeContext& c) {
  require_rank(c, 0, 0, "condition");
  require_summarize(c);
}
void assert_forward(const AttrReader& a, std::span<const In> in, std::span<const TensorShape>,
                    std::span<Tensor>) {
  if (in[0]->item<bool>()) return;
  std::string message = "assertion failed:";
  for (const In& t : in.subspan(1)) {
    // A text of its own is not quoted.
    const bool text = t->dtype() == string && t->ndim() == 0;
    message += format(" [{}]",
                      text ? t->item<std::string>() : tensor_summary(*t, a.int_attr("summarize")));
  }
  RILL_FAIL(invalid_argument, "{}", message);
}
const Op& assert_op = OpBuilder("Assert", "Assert")
                          .attr("T: list(type)")
                          .input("condition: bool")
                          .input("data: T")
                          .attr("summarize: int = 3")
                          .doc("Fails with the data as its message unless the condition is true.")
                          .shape(assert_shape)
                          .no_gradient()
                          .stateful()
                          .forward(assert_forward)
                          .define();

void print_shape(ShapeContext& c) {
  const std::string_view to = c.string_attr("output_stream");
  require_rank(c, 0, 0, "input");
  const bool known = to == "stdout" || to == "stderr" || to == "log(info)" ||
                     to == "log(warning)" || to == "log(error)" || to.starts_with("file://");
  RILL_CHECK(known, invalid_argument,
             "[print] output_stream is \"{}\"; expected \"stdout\", \"stderr\", \"log(info)\", "
             "\"log(warning)\", \"log(error)\" or \"file://...\"",
             to);
}
const Op& print_op = OpBuilder("PrintV2", "print")
                         .input("input: string")
                         .attr("output_stream: string = 'stderr'")
                         .attr("end: string = '\n'")
                         .doc("Writes a string to a stream.")
                         .shape(print_shape)
                         .no_gradient()
                         .stateful()
                         .define();

Tensor formatted(const std::string& text, const std::vector<Tensor>& inputs,
                 const std::string& hole, int summarize) {
  const Attr attrs[] = {{"template", text}, {"placeholder", hole}, {"summarize", summarize}};
  return execute(format_op, as_inputs(inputs), attrs);
}

}  // namespace

std::string PrintArg::to_text(float v) { return scalar_str({float32, {}, &v}); }
std::string PrintArg::to_text(double v) { return scalar_str({float64, {}, &v}); }

namespace detail {

void print(const PrintTo& to, const std::vector<PrintArg>& args) {
  // Text, and between its pieces tensors.
  std::vector<std::string> texts(1);
  std::vector<Tensor> tensors;
  auto add = [&](const Tensor& t) {
    if (!t.defined()) {
      texts.back() += "None";
      return;
    }
    tensors.push_back(t);
    texts.emplace_back();
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) texts.back() += to.sep;
    switch (args[i].kind()) {
      case PrintArg::Kind::text:
        texts.back() += args[i].text();
        break;
      case PrintArg::Kind::tensor:
        add(args[i].tensors()[0]);
        break;
      case PrintArg::Kind::list:
        texts.back() += "[";
        for (std::size_t k = 0; k < args[i].tensors().size(); ++k) {
          if (k > 0) texts.back() += ", ";
          add(args[i].tensors()[k]);
        }
        texts.back() += "]";
        break;
    }
  }
  // Alone, a string is written as it is.
  const bool bare = args.size() == 1 && args[0].kind() == PrintArg::Kind::tensor &&
                    tensors.size() == 1 && tensors[0].dtype() == string &&
                    tensors[0].shape().has_rank() && tensors[0].ndim() == 0;
  Tensor line;
  if (bare) {
    line = tensors[0];
  } else if (tensors.empty()) {
    line = constant(texts[0]);
  } else {
    std::string hole = "{}", text;  // a placeholder that is not in the text
    auto taken = [&] {
      for (const std::string& t : texts)
        if (t.find(hole) != std::string::npos) return true;
      return false;
    };
    while (taken()) hole = "{" + hole + "}";
    for (std::size_t i = 0; i < texts.size(); ++i) text += (i > 0 ? hole : "") + texts[i];
    line = formatted(text, tensors, hole, to.summarize);
  }
  const In in[] = {line};
  const Attr attrs[] = {{"output_stream", to.output_stream}, {"end", to.end}};
  execute_all(print_op, in, attrs, 0);
}

}  // namespace detail

namespace strings {

Tensor format(const std::string& text, const TensorList& inputs, FormatOptions o) {
  return formatted(text, inputs.tensors(), o.placeholder, o.summarize);
}

}  // namespace strings

namespace debugging {

void Assert(const Operand& condition, const TensorList& data, int summarize) {
  const Arg holds(condition, bool_);
  std::vector<In> inputs{*holds};
  for (const Tensor& t : data.tensors()) inputs.push_back(t);
  const Attr attrs[] = {{"summarize", summarize}};
  execute_all(assert_op, inputs, attrs, 0);
}

}  // namespace debugging
}  // namespace rill
