#pragma once
#include <cstdint>
#include <type_traits>

#include "rill/base/api.h"

namespace rill RILL_API {

// All parallelism of Rill goes through here. A thread has a compute width: how
// many cores one call may use. The main thread starts with all cores; threads
// that others make start with 1. A width is changed only between calls.
int compute_width();
void set_compute_width(int width);  // >= 1; InvalidArgument otherwise

// Sets the width in a scope.
class ComputeWidthScope {
 public:
  explicit ComputeWidthScope(int width) : saved_(compute_width()) { set_compute_width(width); }
  ~ComputeWidthScope() { set_compute_width(saved_); }
  ComputeWidthScope(const ComputeWidthScope&) = delete;

 private:
  int saved_;
};

namespace detail {
using RangeFn = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_for(std::int64_t n, std::int64_t grain, RangeFn fn, void* context) noexcept;
}  // namespace detail

// Calls body(begin, end) over a partition of [0, n). A part is never smaller
// than `grain` but the last; with n <= grain the body runs on the caller. Part
// borders are multiples of `grain`, so that a body whose work is done in
// grain-sized blocks gives the same bits at every width. The body must not
// throw. A call from inside a body runs serially.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& body) noexcept {
  if (n <= grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  auto call = [](void* context, std::int64_t begin, std::int64_t end) {
    (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
  };
  detail::parallel_for(n, grain, call, const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace RILL_API
