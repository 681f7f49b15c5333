#include "rill/kernels/cpu/onednn.h"

#if RILL_WITH_ONEDNN
#include "rill/base/logging.h"
#include "rill/kernels/cpu/processor.h"

namespace rill::cpu::onednn {
namespace {

// AMX is the highest bit that sets such an instruction set apart from those below it.
constexpr unsigned kAmxBit = dnnl_cpu_isa_avx512_core_amx & ~dnnl_cpu_isa_avx512_core_bf16;

bool may_use_amx() { return (dnnl_get_effective_cpu_isa() & kAmxBit) != 0; }

const char* isa_name() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    default:
      return may_use_amx() ? "beyond avx512_core_amx" : "another";
  }
}

Limits settle() {
  Limits limits;
  if (amx_state() == Amx::broken) {
    // Fails when the program has called oneDNN before us; then its bfloat16 code is not safe.
    limits.capped = dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16) == dnnl_success;
    limits.bfloat16 = limits.capped || !may_use_amx();
  }
  limits.isa = isa_name();
  RILL_LOG(info, "oneDNN {}.{}.{} uses {}{}", dnnl_version()->major, dnnl_version()->minor,
           dnnl_version()->patch, limits.isa,
           limits.capped     ? "; the processor shows AMX, but it cannot be used"
           : limits.bfloat16 ? ""
                             : "; its bfloat16 code is avoided");
  return limits;
}

}  // namespace

const Limits& limits() {
  static const auto* l = new Limits(settle());
  return *l;
}

const dnnl::engine& engine() {
  limits();
  static const auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

}  // namespace rill::cpu::onednn
#endif
