#include "rill/eager/gradient_tape.h"

#include "rill/base/check.h"
#include "rill/base/logging.h"
#include "rill/core/tensor_impl.h"
#include "rill/eager/tape_impl.h"
#include "rill/ops/array_ops.h"

namespace rill {

void retain(TapeImpl* t) noexcept { t->refs.retain(); }
void release(TapeImpl* t) noexcept {
  if (t->refs.release()) delete t;
}

namespace {

// A row of the unit matrix.
Tensor one_hot_row(std::int64_t n, std::int64_t i, DType dtype) {
  std::vector<double> row(static_cast<std::size_t>(n), 0.0);
  row[static_cast<std::size_t>(i)] = 1;
  return constant(row, dtype);
}

// While it lives, a tape that records on this thread does not; a persistent one
// continues afterwards, also when the walk back throws.
class Walk {
 public:
  explicit Walk(TapeImpl& tape) : tape_(tape), here_(tape.owner == &TapeStack::of_thread()) {
    if (here_) tape.owner->remove(&tape);
    if (!tape.persistent()) tape.used = true;
  }
  Walk(const Walk&) = delete;
  ~Walk() {
    if (here_ && tape_.persistent()) TapeStack::of_thread().push(&tape_);
  }

 private:
  TapeImpl& tape_;
  bool here_;
};

void require_source(const Tensor& source, const char* tag) {
  RILL_CHECK(source.defined(), invalid_argument,
             "[{}] a source is undefined (an empty Tensor); expected a tensor or a variable", tag);
}

void require_unconnected(const GradientOptions& o, const char* tag) {
  RILL_CHECK(o.unconnected_gradients == "none" || o.unconnected_gradients == "zero",
             invalid_argument,
             "[{}] unconnected_gradients is \"{}\"; expected \"none\" or \"zero\"", tag,
             o.unconnected_gradients);
}

// A training loop makes a tape a step: one emptied tape a thread is kept for
// the next, if it is not a large one.
thread_local Ref<TapeImpl> spare;
constexpr std::size_t kSpareRecords = 4096;

}  // namespace

GradientTape::GradientTape(TapeOptions o) {
  if (spare)
    impl_ = std::move(spare);
  else
    impl_ = Ref<TapeImpl>(new TapeImpl(false, true));
  impl_->configure(o.persistent, o.watch_accessed_variables);
  TapeStack::of_thread().push(impl_.get());
}

GradientTape::~GradientTape() {
  if (impl_->active) {
    if (impl_->owner != &TapeStack::of_thread()) {  // another thread's: that one lets go of it
      impl_->abandoned = true;
      return;
    }
    impl_->owner->remove(impl_.get());
  }
  impl_->clear();
  if (impl_->capacity() <= kSpareRecords) spare = std::move(impl_);
}

void GradientTape::watch(const Source& source) {
  require_source(source.tensor(), "watch");
  const DType d =
      source.is_variable() ? variable_cell(source.tensor()).dtype : source.tensor().dtype();
  // As in TensorFlow no error: there will be no gradient.
  if (!d.is_floating() && !d.is_complex())
    RILL_LOG(warning,
             "[watch] a tensor of dtype {} cannot be differentiated; expected a floating-point "
             "tensor: tf::cast(x, tf::float32)",
             d);
  impl_->watch(source.tensor());
}
void GradientTape::watch(std::initializer_list<Source> sources) {
  for (const Source& s : sources) watch(s);
}

Gradients GradientTape::compute(const TensorList& target, const std::vector<Tensor>& sources,
                                const GradientOptions& options) {
  RILL_CHECK(!impl_->used, failed_precondition,
             "GradientTape.gradient can only be called once on non-persistent tapes.");
  require_unconnected(options, "gradient");
  for (const Tensor& s : sources) require_source(s, "gradient");
  for (std::size_t i = 0; i < target.size(); ++i)
    RILL_CHECK(target.tensors()[i].defined(), invalid_argument,
               "[gradient] target {} is undefined (an empty Tensor)", i);
  const std::vector<Tensor>& seeds = options.output_gradients.tensors();
  RILL_CHECK(seeds.empty() || seeds.size() == target.size(), invalid_argument,
             "[gradient] {} output_gradients for {} targets; expected one a target", seeds.size(),
             target.size());
  std::vector<Gradient> seed_list(target.size());
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    RILL_CHECK(
        !seeds[i].defined() || seeds[i].shape().is_compatible_with(target.tensors()[i].shape()),
        invalid_argument, "[gradient] output_gradients[{}] has shape {}, its target {}", i,
        seeds[i].shape(), target.tensors()[i].shape());
    RILL_CHECK(!seeds[i].defined() || seeds[i].dtype() == target.tensors()[i].dtype(),
               invalid_argument, "[gradient] output_gradients[{}] is {}, its target {}", i,
               seeds[i].dtype(), target.tensors()[i].dtype());
    seed_list[i] = seeds[i];
  }
  Gradients out;
  {
    Walk walk(*impl_);
    for (Gradient& g : impl_->backward(target.tensors(), seed_list, sources, impl_->persistent()))
      out.push_back(std::move(g));
  }
  if (options.unconnected_gradients == "zero") {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].defined()) continue;
      out[i] = sources[i].impl()->resource ? zeros_like(variable_cell(sources[i]).read())
                                           : zeros_like(sources[i]);
    }
  }
  return out;
}

Gradient GradientTape::gradient(const TensorList& target, const Source& source,
                                GradientOptions options) {
  return compute(target, {source.tensor()}, options)[0];
}
Gradients GradientTape::gradient(const TensorList& target, std::initializer_list<Source> sources,
                                 GradientOptions options) {
  std::vector<Tensor> list;
  for (const Source& s : sources) list.push_back(s.tensor());
  return compute(target, list, options);
}
Gradients GradientTape::gradient(const TensorList& target, const std::vector<Variable>& sources,
                                 GradientOptions options) {
  std::vector<Tensor> list;
  for (const Variable& v : sources) list.push_back(v.handle());
  return compute(target, list, options);
}
Gradients GradientTape::gradient(const TensorList& target, const std::vector<Tensor>& sources,
                                 GradientOptions options) {
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

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> out;
  for (const Tensor& handle : impl_->watched_handles) out.push_back(Variable::of_handle(handle));
  return out;
}

// Row by row: one walk back for each element of the target.
Tensor GradientTape::jacobian(const Tensor& target, const Source& source, GradientOptions options) {
  RILL_CHECK(!impl_->used, failed_precondition,
             "GradientTape.gradient can only be called once on non-persistent tapes.");
  require_unconnected(options, "jacobian");
  require_source(source.tensor(), "jacobian");
  RILL_CHECK(target.defined(), invalid_argument,
             "[jacobian] the target is undefined (an empty Tensor)");
  RILL_CHECK(target.shape().is_fully_defined(), invalid_argument,
             "[jacobian] the shape of the target, {}, must be known while a function is traced",
             target.shape());
  std::vector<Tensor> rows;
  const std::int64_t n = target.size();
  bool connected = true;
  Walk walk(*impl_);
  for (std::int64_t i = 0; i < n && connected; ++i) {
    const Tensor seed = reshape(one_hot_row(n, i, target.dtype()), target.shape());
    const bool last = i + 1 == n;
    const Gradient row = impl_->backward({target}, {Gradient(seed)}, {source.tensor()},
                                         impl_->persistent() || !last)[0];
    connected = row.defined();
    if (connected) rows.push_back(row.tensor());
  }
  const Tensor at = source.is_variable() ? variable_cell(source.tensor()).read() : source.tensor();
  const TensorShape& from = at.shape();
  Dims dims = target.shape().dims();
  for (std::int64_t d : from.dims()) dims.push_back(d);
  if (!connected || n == 0)
    return options.unconnected_gradients == "zero" || n == 0 ? zeros(TensorShape(dims), at.dtype())
                                                             : Tensor();
  return reshape(stack(rows), TensorShape(dims));
}

Tensor GradientTape::batch_jacobian(const Tensor& target, const Source& source,
                                    GradientOptions options) {
  RILL_CHECK(!impl_->used, failed_precondition,
             "GradientTape.gradient can only be called once on non-persistent tapes.");
  require_unconnected(options, "batch_jacobian");
  require_source(source.tensor(), "batch_jacobian");
  RILL_CHECK(target.defined(), invalid_argument,
             "[batch_jacobian] the target is undefined (an empty Tensor)");
  const Tensor at = source.is_variable() ? variable_cell(source.tensor()).read() : source.tensor();
  RILL_CHECK(target.ndim() >= 1 && at.ndim() >= 1 && target.shape().dim(0) == at.shape().dim(0),
             invalid_argument,
             "[batch_jacobian] the target has shape {}, the source {}; expected the same number of "
             "rows in both",
             target.shape(), at.shape());
  const std::int64_t rows = target.shape().dim(0), n = rows == 0 ? 0 : target.size() / rows;
  Dims dims = target.shape().dims();
  for (int i = 1; i < at.ndim(); ++i) dims.push_back(at.shape().dim(i));
  std::vector<Tensor> columns;
  Walk walk(*impl_);
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor seed = reshape(
        broadcast_to(one_hot_row(n, i, target.dtype()), TensorShape({rows, n})), target.shape());
    const Gradient column = impl_->backward({target}, {Gradient(seed)}, {source.tensor()},
                                            impl_->persistent() || i + 1 < n)[0];
    if (!column.defined())
      return options.unconnected_gradients == "zero" ? zeros(TensorShape(dims), at.dtype())
                                                     : Tensor();
    columns.push_back(column.tensor());
  }
  if (n == 0) return zeros(TensorShape(dims), at.dtype());
  return reshape(stack(columns, 1), TensorShape(dims));
}

std::string GradientTape::why_none(const Tensor& target, const Source& source) const {
  require_source(source.tensor(), "why_none");
  RILL_CHECK(target.defined(), invalid_argument,
             "[why_none] the target is undefined (an empty Tensor)");
  return impl_->why_none(target, source.tensor(), source.is_variable());
}

StopRecordingScope::StopRecordingScope()
    : saved_(std::exchange(call_context().recorder, nullptr)) {}
StopRecordingScope::~StopRecordingScope() {
  call_context().recorder = static_cast<Recorder*>(saved_);
}

}  // namespace rill
