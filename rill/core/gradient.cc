#include "rill/core/gradient.h"

#include <ostream>

#include "rill/base/check.h"
#include "rill/core/grad_context.h"

namespace rill {

GradContext::~GradContext() = default;

class SharedSlices {
 public:
  RefCount refs;
  IndexedSlices slices;
};
void retain(SharedSlices* s) noexcept { s->refs.retain(); }
void release(SharedSlices* s) noexcept {
  if (s->refs.release()) delete s;
}

Gradient::Gradient(IndexedSlices slices) : slices_(new SharedSlices{{}, std::move(slices)}) {}
const IndexedSlices& Gradient::slices() const { return slices_->slices; }

const Tensor& Gradient::tensor() const {
  if (is_sparse()) dense_ = densify(slices());
  return dense_;
}

std::ostream& operator<<(std::ostream& os, const Gradient& g) {
  if (!g.is_sparse()) return os << g.tensor();
  const IndexedSlices& s = g.slices();
  return os << "IndexedSlices(indices=" << s.indices << ", values=" << s.values
            << ", dense_shape=" << s.dense_shape << ")";
}
std::ostream& operator<<(std::ostream& os, const Gradients& list) {
  os << '[';
  for (std::size_t i = 0; i < list.size(); ++i) os << (i ? ", " : "") << list[i];
  return os << ']';
}

void append_formatted(std::string& out, const Gradient& g, std::string_view spec) {
  append_formatted(out, g.tensor(), spec);
}

void Gradients::require_size(std::size_t n) const {
  RILL_CHECK(size() == n, invalid_argument, "[unpack] there are {} gradients; expected {}", size(),
             n);
}
Gradients::operator std::vector<Tensor>() const {
  std::vector<Tensor> out;
  for (const Gradient& g : *this) out.push_back(g.tensor());
  return out;
}

}  // namespace rill
