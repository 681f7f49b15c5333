#pragma once
#include <cstdint>
#include <string>

#include "rill/core/kernel.h"

namespace rill::cuda {

// What a kernel finds wrong with its data it cannot throw: it leaves the first
// such finding in memory that the host reads when it next waits for the device.
enum class Finding : int {
  out_of_range,       // what[index] = value is not in [0, limit)
  not_below,          // what[index] = value is not below limit
  negative,           // what[index] = value is negative
  unsorted,           // what[index] = value is less than limit
  no_integer_result,  // division by zero, a negative power
  not_finite,    // a tensor with NaN (value 1), infinity (2) or both (3); what: the user's text
  not_a_number,  // what[index] is NaN
  empty_range,   // what holds two limits, the upper one not above the lower one
};

struct KernelError {
  unsigned set = 0;
  Finding finding;
  const Op* op;
  const char* what;  // "labels": an address of the host, so it comes with the launch
  long long index, value, limit;
};
std::string message_of(const KernelError& t);

// What a body needs to report.
struct Reporter {
  KernelError* error = nullptr;
  const Op* op = nullptr;
  const char* what = "";
};

#ifdef __CUDACC__
__device__ inline void report(KernelError* t, const Op* op, Finding finding, const char* what,
                              long long index, long long value, long long limit) {
  if (atomicCAS(&t->set, 0u, 1u) != 0) return;
  t->finding = finding;
  t->op = op;
  t->what = what;
  t->index = index;
  t->value = value;
  t->limit = limit;
}
#endif

}  // namespace rill::cuda
