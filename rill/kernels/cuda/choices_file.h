#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rill::cuda {

// The file in which choices among a library's engines are stored: one a kind of device and a
// version of the library. `ordinal`: CUDA's number of the device.
std::string choices_file(std::string_view library, std::int64_t version, int ordinal);

}  // namespace rill::cuda
