#pragma once

// The one door to oneDNN. Everything that calls it asks here first, because the
// instruction set it may use must be settled before its first call. Both oneDNN
// 2 and 3 serve; their differences end in this header.
#if RILL_WITH_ONEDNN
#include <string>

#include <oneapi/dnnl/dnnl.hpp>

namespace rill::cpu::onednn {

// What this process lets oneDNN use. The first call decides it.
struct Limits {
  bool bfloat16 = true;  // false: its bfloat16 code would die on this processor
  bool capped = false;   // kept below AMX
  std::string isa;       // for messages: "avx512_core_bf16"
};
const Limits& limits();

const dnnl::engine& engine();

inline dnnl::memory::desc any_layout(const dnnl::memory::desc& m) {
#if DNNL_VERSION_MAJOR >= 3
  return {m.get_dims(), m.get_data_type(), dnnl::memory::format_tag::any};
#else
  return {m.dims(), m.data_type(), dnnl::memory::format_tag::any};
#endif
}

// The descriptor of a primitive. `arguments` are those that both versions share.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe(const dnnl::primitive_attr& attr,
                                            const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., attr};
#else
  return {typename Primitive::desc(arguments...), attr, engine()};
#endif
}

// The same for the way back, which needs the forward one as a hint.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc describe_backward(const dnnl::primitive_attr& attr,
                                                     const Forward& forward,
                                                     const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., forward, attr};
#else
  return {typename Primitive::desc(arguments...), attr, engine(), forward};
#endif
}

}  // namespace rill::cpu::onednn
#endif
