#pragma once
#include <string>

// cuDNN 9, opened when the first convolution asks for it. Nothing needs it: without it plain
// kernels do the work.
#if RILL_WITH_CUDNN
#include <cudnn_graph.h>

namespace rill::cuda {

// The functions of libcudnn.so.9 that are used.
struct Cudnn {
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnSetStream) set_stream = nullptr;
  decltype(&::cudnnGetVersion) version = nullptr;
  decltype(&::cudnnGetErrorString) error_string = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) make = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy = nullptr;
  decltype(&::cudnnBackendSetAttribute) set = nullptr;
  decltype(&::cudnnBackendGetAttribute) get = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;
};

// Null, with the reason: it is not there, or is another version than this was built for.
const Cudnn* cudnn(const std::string** why);

}  // namespace rill::cuda
#endif
