#include "rill/kernels/cpu/finish_rows.h"

#include "rill/kernels/cpu/elementwise.h"
#include "rill/kernels/functors/activation.h"
#include "rill/kernels/functors/arithmetic.h"
#include "rill/kernels/functors/elementary.h"

namespace rill::cpu {
namespace {

template <class T>
using Rows = void (*)(T* y, std::int64_t n);

template <class F, class T>
void through(T* y, std::int64_t n) {
  unary_loop<F>(y, y, n);
}

template <class T>
Rows<T> activation_of(std::string_view name) {
  if (name == "Relu") return through<functors::Relu, T>;
  if (name == "Tanh") return through<functors::Tanh, T>;
  if (name == "Sigmoid") return through<functors::Sigmoid, T>;
  return nullptr;
}

}  // namespace

void finish_rows(KernelContext& c) noexcept {
  const std::int64_t n = c.in(2).size, rows = n > 0 ? c.out().size / n : 0;
  const auto ops = c.attr("fused_ops").as_strings();
  dispatch_types<float, double>(c.out().dtype, [&]<class T>() {
    Rows<T> activation = nullptr;
    if (ops.size() > 1 && !(activation = activation_of<T>(ops[1])))
      return c.fail(Code::unimplemented, format("[{}] no activation \"{}\"", c.tag(), ops[1]));
    T* y = c.out<T>();
    const T* bias = c.in<T>(2);
    parallel_for(rows, std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     T* row = y + i * n;
                     binary_loop<functors::Add>(row, bias, row, n);
                     if (activation) activation(row, n);
                   }
                 });
  });
}

}  // namespace rill::cpu
