#include "rill/kernels/cpu/processor.h"

#include <cstdlib>
#include <string_view>

#include "rill/base/logging.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rill::cpu {
namespace {

#if defined(__x86_64__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros for a leaf that is beyond the highest.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

bool shows_amx() {
  constexpr unsigned kTile = 1u << 24;
  return (cpuid(7, 0).d & kTile) != 0;
}

bool has_palette() {
  const unsigned highest = cpuid(0x1d, 0).a;
  if (highest < 1) return false;
  const Registers first = cpuid(0x1d, 1);
  const unsigned tile_bytes = first.a >> 16, tiles = first.b >> 16;
  return tile_bytes != 0 && tiles != 0;
}

// The system saves the tiles of a thread, and lets this process have them.
bool system_allows() {
  constexpr unsigned kOsxsave = 1u << 27;
  if ((cpuid(1, 0).c & kOsxsave) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3u << 17;
  if ((low & kTileState) != kTileState) return false;
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return true;
#endif
}
#endif

Amx find_out() {
  if (const char* played = std::getenv("RILL_PRETEND_CPU")) {
    if (std::string_view(played) == "amx-without-palette") return Amx::broken;
    RILL_LOG(warning,
             "RILL_PRETEND_CPU is \"{}\"; the one processor that can be played is "
             "\"amx-without-palette\"",
             played);
  }
#if defined(__x86_64__)
  if (!shows_amx()) return Amx::absent;
  return has_palette() && system_allows() ? Amx::usable : Amx::broken;
#else
  return Amx::absent;
#endif
}

}  // namespace

Amx amx_state() {
  static const Amx state = find_out();
  return state;
}

}  // namespace rill::cpu
