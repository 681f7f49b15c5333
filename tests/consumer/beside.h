#pragma once
#include <string>

// Uses protobuf and HDF5, and says which versions answered. It knows nothing of Rill.
std::string libraries_beside();
