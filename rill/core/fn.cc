#include "rill/core/fn.h"

#include <memory>

namespace rill::detail {

class FnImpl {
 public:
  RefCount refs;
  std::unique_ptr<FnBase> fn;
};
void retain(FnImpl* f) noexcept { f->refs.retain(); }
void release(FnImpl* f) noexcept {
  if (f->refs.release()) delete f;
}

Fn::Fn(FnBase* f, std::size_t arity) : impl_(new FnImpl), arity_(arity) { impl_->fn.reset(f); }
Nest Fn::operator()(const Nest& args) const { return impl_->fn->call(args); }

}  // namespace rill::detail
