#include "rill/eager/gradient_tape.h"

#include "rill/base/check.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/tape_impl.h"
#include "rill/ops/array_ops.h"

namespace rill {

void retain(TapeImpl* t) noexcept { t->refs.retain(); }
void release(TapeImpl* t) noexcept {
  if (t->refs.release()) delete t;
}

namespace {

// A training loop makes a tape a step: one emptied tape a thread is kept for
// the next, if it is not a large one.
thread_local Ref<TapeImpl> spare;
constexpr std::size_t kSpareRecords = 4096;

}  // namespace

GradientTape::GradientTape(TapeOptions o) {
  if (spare) impl_ = std::move(spare);
  else impl_ = Ref<TapeImpl>(new TapeImpl(false, true));
  impl_->configure(o.persistent, o.watch_accessed_variables);
  TapeStack::of_thread().push(impl_.get());
}

GradientTape::~GradientTape() {
  if (impl_->active) TapeStack::of_thread().remove(impl_.get());
  impl_->clear();
  if (impl_->capacity() <= kSpareRecords) spare = std::move(impl_);
}

void GradientTape::watch(const Source& source) {
  const DType d = source.is_variable() ? variable_cell(source.tensor()).dtype : source.tensor().dtype();
  RILL_CHECK(d.is_floating() || d.is_complex(), invalid_argument,
             "[watch] a tensor of dtype {} cannot be differentiated; expected a floating-point tensor: tf::cast(x, tf::float32)", d);
  impl_->watch(source.tensor());
}
void GradientTape::watch(std::initializer_list<Source> sources) {
  for (const Source& s : sources) watch(s);
}

Gradients GradientTape::compute(const TensorList& target, const std::vector<Tensor>& sources, const GradientOptions& options) {
  RILL_CHECK(!impl_->used, failed_precondition, "GradientTape.gradient can only be called once on non-persistent tapes.");
  const std::string& unconnected = options.unconnected_gradients;
  RILL_CHECK(unconnected == "none" || unconnected == "zero", invalid_argument,
             "[gradient] unconnected_gradients is \"{}\"; expected \"none\" or \"zero\"", unconnected);
  const std::vector<Tensor>& seeds = options.output_gradients.tensors();
  RILL_CHECK(seeds.empty() || seeds.size() == target.size(), invalid_argument,
             "[gradient] {} output_gradients for {} targets; expected one a target", seeds.size(), target.size());
  std::vector<Gradient> seed_list(target.size());
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    RILL_CHECK(!seeds[i].defined() || seeds[i].shape().is_compatible_with(target.tensors()[i].shape()), invalid_argument,
               "[gradient] output_gradients[{}] has shape {}, its target {}", i, seeds[i].shape(), target.tensors()[i].shape());
    seed_list[i] = seeds[i];
  }
  const bool was_active = impl_->active;
  if (was_active) TapeStack::of_thread().remove(impl_.get());
  if (!impl_->persistent()) impl_->used = true;
  Gradients out;
  try {
    for (Gradient& g : impl_->backward(target.tensors(), seed_list, sources, impl_->persistent())) out.push_back(std::move(g));
  } catch (...) {
    if (was_active && impl_->persistent()) TapeStack::of_thread().push(impl_.get());
    throw;
  }
  if (was_active && impl_->persistent()) TapeStack::of_thread().push(impl_.get());
  if (unconnected == "zero") {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].defined()) continue;
      out[i] = sources[i].impl()->resource ? zeros_like(variable_cell(sources[i]).read()) : zeros_like(sources[i]);
    }
  }
  return out;
}

Gradient GradientTape::gradient(const TensorList& target, const Source& source, GradientOptions options) {
  return compute(target, {source.tensor()}, options)[0];
}
Gradients GradientTape::gradient(const TensorList& target, std::initializer_list<Source> sources, GradientOptions options) {
  std::vector<Tensor> list;
  for (const Source& s : sources) list.push_back(s.tensor());
  return compute(target, list, options);
}
Gradients GradientTape::gradient(const TensorList& target, const std::vector<Variable>& sources, GradientOptions options) {
  std::vector<Tensor> list;
  for (const Variable& v : sources) list.push_back(v.handle());
  return compute(target, list, options);
}
Gradients GradientTape::gradient(const TensorList& target, const std::vector<Tensor>& sources, GradientOptions options) {
  return compute(target, sources, options);
}

GradientTape::Pause::Pause(TapeImpl* tape) : tape_(tape) { ++tape_->paused; }
GradientTape::Pause::~Pause() { --tape_->paused; }
GradientTape::Pause GradientTape::stop_recording() { return Pause(impl_.get()); }

void GradientTape::reset() {
  impl_->clear();
  impl_->used = false;
  if (!impl_->active) TapeStack::of_thread().push(impl_.get());
}

std::string GradientTape::why_none(const Tensor& target, const Source& source) const {
  return impl_->why_none(target, source.tensor(), source.is_variable());
}

StopRecordingScope::StopRecordingScope() : saved_(std::exchange(thread_state().recorder, nullptr)) {}
StopRecordingScope::~StopRecordingScope() { thread_state().recorder = static_cast<Recorder*>(saved_); }

}  // namespace rill
