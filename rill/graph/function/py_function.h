#pragma once
#include "rill/core/fn.h"

// Host code inside a graph: a C++ callable that a traced function calls at each run
// with the values of its arguments.
namespace rill RILL_API {

namespace detail {
std::vector<Tensor> host_function(const Fn& fn, const TensorList& inputs,
                                  const std::vector<DType>& output_types, bool differentiable);
}

// `func` takes as many tensors as there are in `inp`, with values, and returns one
// tensor (or several, for the second form) of the dtypes given: InvalidArgument at run
// time if not. It runs eagerly, and gradients go through the ops it calls. Nothing is
// known of the results' shapes: say what you know by set_shape.
template <class F>
Tensor py_function(F func, const TensorList& inp, DType Tout) {
  return detail::host_function(detail::Fn::of(std::move(func)), inp, {Tout}, true)[0];
}
template <class F>
std::vector<Tensor> py_function(F func, const TensorList& inp, const std::vector<DType>& Tout) {
  return detail::host_function(detail::Fn::of(std::move(func)), inp, Tout, true);
}
// The same for code that works on elements (data<T>(), to_vector<T>()): no gradient.
template <class F>
Tensor numpy_function(F func, const TensorList& inp, DType Tout) {
  return detail::host_function(detail::Fn::of(std::move(func)), inp, {Tout}, false)[0];
}
template <class F>
std::vector<Tensor> numpy_function(F func, const TensorList& inp, const std::vector<DType>& Tout) {
  return detail::host_function(detail::Fn::of(std::move(func)), inp, Tout, false);
}

}  // namespace RILL_API
