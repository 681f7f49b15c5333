#pragma once
#include <string>

// cuFFT, opened when the first Fourier transform asks for it.
#if __has_include(<cufft.h>)
#define RILL_WITH_CUFFT 1
#include <cufft.h>

namespace rill::cuda {

// The functions of libcufft.so that are used.
struct Cufft {
  decltype(&::cufftCreate) create = nullptr;
  decltype(&::cufftDestroy) destroy = nullptr;
  decltype(&::cufftSetAutoAllocation) set_auto_allocation = nullptr;
  decltype(&::cufftMakePlanMany64) make_plan = nullptr;
  decltype(&::cufftSetStream) set_stream = nullptr;
  decltype(&::cufftSetWorkArea) set_work_area = nullptr;
  decltype(&::cufftExecZ2Z) complex_to_complex = nullptr;
  decltype(&::cufftExecD2Z) real_to_complex = nullptr;
};

// Null, with the reason: it is not there.
const Cufft* cufft(const std::string** why);

}  // namespace rill::cuda
#endif
