#pragma once
#include <map>
#include <string>
#include <vector>

#include "row.h"

// Results that TensorFlow gave (tools/parity.py made them), kept as text:
//
//   row AddV2/0/float32 <checksum of the inputs>
//   out float32 2,3 1.5 2.5 ...
//   error <message>                      (TensorFlow refused the call)
namespace rill::conformance {

struct Golden {
  std::string checksum;
  std::vector<Tensor> outputs;
  std::string error;
};

std::string key(const Row& row, std::size_t sample, DType dtype);
std::string checksum(const std::vector<Tensor>& inputs, const Sample& sample);
// All goldens of the folder; read once.
const std::map<std::string, Golden>& goldens();
// What tools/parity.py asks TensorFlow: every sample with its inputs.
void write_requests(const std::string& path);

}  // namespace rill::conformance
