#include "rill/kernels/cuda/choices_file.h"

#include <cuda_runtime_api.h>

#include <cctype>

#include "rill/base/format.h"

namespace rill::cuda {

std::string choices_file(std::string_view library, std::int64_t version, int ordinal) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, ordinal);
  std::string name = properties.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return format("{}_{}_{}_{}.txt", library, version, name, properties.multiProcessorCount);
}

}  // namespace rill::cuda
