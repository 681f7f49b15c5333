// Tensors as text: print and strings.format.
#include "rill/ops/print.h"

#include "rill/core/array_format.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/op_helpers.h"
#include "rill/ops/string_ops.h"

namespace rill {
namespace {

// TensorFlow's StringFormat takes a list of any dtypes; this is that op for one
// input and no text around it.
const Op& summary_op =
    OpBuilder("_TensorSummary", "print")
        .input("x: T")
        .output("output: string")
        .type("T", kAllTypes)
        .attr("summarize: int = 3")
        .doc("A tensor as text, of long axes only the ends.")
        .shape([](ShapeContext& c) {
          const std::int64_t n = c.int_attr("summarize");
          RILL_CHECK(n == -1 || n > 0, invalid_argument,
                     "[print] summarize is {}; expected 1 or more, or -1 for all", n);
          scalar_shape(c);
        })
        .no_gradient()
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

Tensor summary(const Tensor& t, int summarize) {
  return execute(summary_op, {t}, {{"summarize", summarize}});
}

}  // namespace

std::string PrintArg::to_text(float v) { return scalar_str({float32, {}, &v}); }
std::string PrintArg::to_text(double v) { return scalar_str({float64, {}, &v}); }

namespace detail {

void print(const PrintTo& to, const std::vector<PrintArg>& args) {
  std::vector<Tensor> pieces;
  std::string text;  // what has gathered since the last tensor
  auto add = [&](const Tensor& t) {
    if (!t.defined()) {
      text += "None";
      return;
    }
    if (!text.empty()) pieces.push_back(constant(text));
    text.clear();
    // Alone, a string is written as it is.
    const bool bare = args.size() == 1 && args[0].kind() == PrintArg::Kind::tensor &&
                      t.dtype() == string && t.shape().has_rank() && t.ndim() == 0;
    pieces.push_back(bare ? t : summary(t, to.summarize));
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) text += to.sep;
    switch (args[i].kind()) {
      case PrintArg::Kind::text:
        text += args[i].text();
        break;
      case PrintArg::Kind::tensor:
        add(args[i].tensors()[0]);
        break;
      case PrintArg::Kind::list:
        text += "[";
        for (std::size_t k = 0; k < args[i].tensors().size(); ++k) {
          if (k > 0) text += ", ";
          add(args[i].tensors()[k]);
        }
        text += "]";
        break;
    }
  }
  if (!text.empty() || pieces.empty()) pieces.push_back(constant(text));
  const Tensor line = pieces.size() == 1 ? pieces[0] : strings::join(pieces);
  const In in[] = {line};
  const Attr attrs[] = {{"output_stream", to.output_stream}, {"end", to.end}};
  execute_all(print_op, in, attrs, 0);
}

}  // namespace detail

namespace strings {

Tensor format(const std::string& text, const TensorList& inputs, FormatOptions o) {
  RILL_CHECK(!o.placeholder.empty(), invalid_argument, "[strings.format] the placeholder is empty");
  std::vector<Tensor> pieces;
  std::size_t at = 0, used = 0, holes = 0;
  for (std::size_t next; (next = text.find(o.placeholder, at)) != std::string::npos; ++holes) {
    if (holes < inputs.size()) {
      if (next > at) pieces.push_back(constant(text.substr(at, next - at)));
      pieces.push_back(summary(inputs.tensors()[used++], o.summarize));
    }
    at = next + o.placeholder.size();
  }
  RILL_CHECK(holes == inputs.size(), invalid_argument,
             "[strings.format] {} placeholders in \"{}\" for {} inputs; expected as many", holes,
             text, inputs.size());
  if (at < text.size() || pieces.empty()) pieces.push_back(constant(text.substr(at)));
  return join(pieces);
}

}  // namespace strings
}  // namespace rill
