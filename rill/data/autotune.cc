#include "rill/data/autotune_impl.h"

#include <unistd.h>

#include <algorithm>

#include "rill/core/tensor_impl.h"

namespace rill::data {

std::int64_t AutotuneBudget::limit() const {
  if (const std::int64_t known = limit_) return known;
  const std::int64_t free = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return limit_ = std::max<std::int64_t>(free / 2, 1);
}

bool AutotuneBudget::Part::resize(std::int64_t bytes) {
  const std::int64_t more = bytes - held_;
  if (budget_.held_.fetch_add(more) + more > budget_.limit() && more > 0) {
    budget_.held_ -= more;
    return false;
  }
  held_ = bytes;
  return true;
}

std::int64_t bytes_of(const Nest& element) {
  std::int64_t sum = 0;
  for (const Tensor& t : element.flatten()) {
    if (!t.defined() || t.impl()->resource) continue;
    sum += t.size() * static_cast<std::int64_t>(t.dtype().itemsize());
    if (t.dtype() == string)
      for (const std::string& s : t.data<std::string>()) sum += static_cast<std::int64_t>(s.size());
  }
  return sum;
}

}  // namespace rill::data
