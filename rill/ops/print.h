#pragma once
#include <string>
#include <vector>

#include "rill/core/operand.h"
#include "rill/core/tensor.h"

namespace rill RILL_API {

// Where and how print() writes; given as its first argument:
//   tf::print(tf::PrintTo{.output_stream = "stdout", .summarize = -1}, x);
struct PrintTo {
  std::string output_stream =
      "stderr";  // "stdout", "stderr", "log(info)", "log(warning)", "log(error)", "file:///path"
  int summarize = 3;  // elements kept at each end of an axis; -1: all
  std::string sep = " ";
  std::string end = "\n";
};

// One thing to print: a tensor, or what Python's str() makes of a value.
class PrintArg {
 public:
  PrintArg(const Tensor& t) : tensors_{t}, kind_(Kind::tensor) {}
  PrintArg(const Variable& v) : PrintArg(Tensor(v)) {}
  PrintArg(const Gradient& g) : PrintArg(Tensor(g)) {}
  PrintArg(std::vector<Tensor> list) : tensors_(std::move(list)), kind_(Kind::list) {}
  template <StringLike S>
  PrintArg(const S& s) : text_(std::string_view(s)) {}
  template <class T>
  requires std::is_arithmetic_v<T> PrintArg(T v) {
    if constexpr (std::is_same_v<T, bool>)
      text_ = v ? "True" : "False";
    else if constexpr (std::is_same_v<T, float>)
      text_ = to_text(v);
    else if constexpr (std::is_floating_point_v<T>)
      text_ = to_text(static_cast<double>(v));
    else
      text_ = std::to_string(v);
  }
  enum class Kind : std::uint8_t { text, tensor, list };
  Kind kind() const { return kind_; }
  const std::string& text() const { return text_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  static std::string to_text(float v);
  static std::string to_text(double v);
  std::string text_;
  std::vector<Tensor> tensors_;
  Kind kind_ = Kind::text;
};

namespace detail {
void print(const PrintTo& to, const std::vector<PrintArg>& args);
}  // namespace detail

// Writes its arguments each time it runs, in traced functions too. Tensors as
// [1 2 3], long axes as [0 1 2 ... 7 8 9], strings within tensors in quotes.
//   tf::print("loss", loss);
template <class... A>
void print(const A&... args) {
  detail::print({}, {PrintArg(args)...});
}
template <class... A>
void print(const PrintTo& to, const A&... args) {
  detail::print(to, {PrintArg(args)...});
}

namespace strings {
struct FormatOptions {
  std::string placeholder = "{}";
  int summarize = 3;
};
// `text` with each placeholder replaced by a tensor, written as print() does: a
// string scalar.
Tensor format(const std::string& text, const TensorList& inputs = {}, FormatOptions options = {});
}  // namespace strings

}  // namespace RILL_API
