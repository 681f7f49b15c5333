// Users' functions seen through a trace.
#include <algorithm>

#include "rill/core/execute.h"
#include "rill/data/map_impl.h"
#include "rill/graph/function/function.h"

namespace rill::data {
namespace {

using rill::detail::AnyFunction;
using rill::detail::Argument;
using rill::detail::Traceable;

class WholeElement final : public Traceable {
 public:
  explicit WholeElement(const detail::Fn& f) : f_(f) {}
  Nest call(const Argument* args) override { return f_(args[0].nest); }

 private:
  detail::Fn f_;
};

Nest nest_of(const ElementSpec& spec, const Argument* next) {
  return nest_like(spec, [&](const TensorSpec&) { return Nest((next++)->tensor); });
}

// Takes the components one by one and tells the form of what was returned.
class Components final : public Traceable {
 public:
  Components(const detail::Fn& f, const ElementSpec& spec, ElementSpec* result)
      : f_(f), spec_(spec), result_(result) {}
  Nest call(const Argument* args) override {
    const Nest out = f_(nest_of(spec_, args));
    *result_ = spec_of(out);
    return out;
  }

 private:
  const detail::Fn& f_;
  const ElementSpec& spec_;
  ElementSpec* result_;
};

// The same of a function that returns a dataset, which is looked at while its symbols live.
class ReturnedDataset final : public Traceable {
 public:
  ReturnedDataset(const detail::Fn& f, const ElementSpec& spec, ElementSpec* result)
      : f_(f), spec_(spec), result_(result) {}
  Nest call(const Argument* args) override {
    const ScopedContext<&CallContext::inferring_spec> scope(true);
    *result_ = Dataset::of(f_(nest_of(spec_, args))).element_spec();
    return {};
  }

 private:
  const detail::Fn& f_;
  const ElementSpec& spec_;
  ElementSpec* result_;
};

// Calls it with symbols of the element's components; false when it cannot be traced.
bool trace(std::unique_ptr<Traceable> callable, const ElementSpec& element) {
  for (const TensorSpec& s : element.flatten())
    if (!s.dtype().defined() || s.dtype() == variant || s.dtype() == resource) return false;
  try {
    const FreshContext fresh;
    ElementRandomScope random({0, 0, 0}, 0, 0);  // looking must not move the program's streams
    const AnyFunction function(callable.release(), {.name = "Dataset_map"});
    function.concrete(element.flatten());
    return true;
  } catch (const errors::Error&) {
    return false;
  }
}

}  // namespace

bool traced_spec(const detail::Fn& f, const ElementSpec& element, ElementSpec* result) {
  return trace(std::make_unique<Components>(f, element, result), element);
}
bool traced_dataset_spec(const detail::Fn& f, const ElementSpec& element, ElementSpec* result) {
  return trace(std::make_unique<ReturnedDataset>(f, element, result), element);
}
bool is_symbolic(const Nest& nest) {
  const std::vector<Tensor> leaves = nest.flatten();
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const Tensor& t) { return t.defined() && t.is_symbolic(); });
}

detail::Fn traced_function(const detail::Fn& f) {
  const AnyFunction function(new WholeElement(f), {.name = "Dataset_map"});
  return detail::Fn::of([function](const Nest& element) -> Nest {
    const Argument argument(element);
    return function.call(&argument, 1);
  });
}

}  // namespace rill::data
