#pragma once

// What the processor really offers, where asking its feature bits is not enough.
namespace rill::cpu {

// AMX needs more than its feature bits: a palette that describes the tiles, and
// the operating system's leave to use them. Some virtual machines show the bits
// and hide the palette (CPUID leaf 1Dh); code that believes the bits dies there.
enum class Amx { absent, broken, usable };

// The same for the whole life of the process. RILL_PRETEND_CPU=amx-without-palette
// plays such a virtual machine, whatever the processor is.
Amx amx_state();

}  // namespace rill::cpu
