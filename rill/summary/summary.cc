#include "rill/summary/summary.h"

#include "rill/base/check.h"
#include "rill/core/execute.h"
#include "rill/graph/function/py_function.h"
#include "rill/graph/ir/name_scope.h"
#include "rill/ops/array_ops.h"
#include "rill/ops/math_ops.h"
#include "rill/summary/event_file_impl.h"

namespace rill::summary {

// What the functions below find around them.
struct Defaults {
  std::shared_ptr<EventFile> file;
  Step step;
  std::shared_ptr<const std::function<bool()>> condition;
};

namespace {

Defaults& defaults() {
  static thread_local Defaults d;
  return d;
}

}  // namespace

Tensor Step::value() const {
  const Tensor t = variable_ ? variable_->value() : number_ ? constant(*number_, int64) : tensor_;
  RILL_CHECK(
      t.defined() && t.dtype().is_integer() && t.shape().is_compatible_with(TensorShape::scalar()),
      invalid_argument, "[summary] the step is {}; expected one whole number",
      t.defined() ? format("{} of shape {}", t.dtype(), t.shape()) : "missing");
  return cast(t, int64);
}

struct DefaultScope::Before : Defaults {};
DefaultScope::DefaultScope() : before_(new Before{defaults()}) {}
DefaultScope::DefaultScope(DefaultScope&&) noexcept = default;
DefaultScope::~DefaultScope() {
  if (before_) defaults() = std::move(*before_);
}

DefaultScope SummaryWriter::as_default(const Step& step) const {
  DefaultScope scope;
  set_as_default(step);
  return scope;
}
void SummaryWriter::set_as_default(const Step& step) const {
  defaults().file = file_;
  if (step.given()) defaults().step = step;
}
void SummaryWriter::flush() const {
  if (file_) file_->flush();
}
void SummaryWriter::close() const {
  if (file_) file_->close();
}
std::string SummaryWriter::path() const { return file_ ? file_->path() : std::string(); }

SummaryWriter create_file_writer(const std::string& logdir, const FileWriterOptions& options) {
  RILL_CHECK(!logdir.empty(), invalid_argument, "[create_file_writer] no folder is given");
  RILL_CHECK(options.max_queue >= 0 && options.flush_millis >= 0, invalid_argument,
             "[create_file_writer] max_queue is {} and flush_millis {}; expected no negative "
             "numbers",
             options.max_queue, options.flush_millis);
  return SummaryWriter(std::make_shared<EventFile>(logdir, options));
}

bool should_record_summaries() {
  const Defaults& d = defaults();
  return d.file && (!d.condition || (*d.condition)());
}

DefaultScope record_if(std::function<bool()> condition) {
  RILL_CHECK(condition, invalid_argument, "[record_if] the condition is empty");
  DefaultScope scope;
  defaults().condition = std::make_shared<const std::function<bool()>>(std::move(condition));
  return scope;
}

bool scalar(std::string_view name, const Operand& data, const ScalarOptions& options) {
  if (!should_record_summaries()) return false;
  const Step step = options.step.given() ? options.step : defaults().step;
  const std::string tag = join_scope(name);
  RILL_CHECK(step.given(), failed_precondition,
             "[summary] \"{}\" has no step; give {{.step = ...}}, or call "
             "summary::experimental::set_step() first",
             tag);
  const Tensor value = convert_to_tensor(data);
  RILL_CHECK(
      value.shape().is_compatible_with(TensorShape::scalar()) &&
          (value.dtype().is_floating() || value.dtype().is_integer() || value.dtype().is_bool()),
      invalid_argument, "[summary] \"{}\" is {} of shape {}; expected one number", tag,
      value.dtype(), value.shape());
  const auto write = [file = defaults().file, tag, description = options.description](
                         const Tensor& v, const Tensor& at) {
    file->write(
        scalar_event(wall_time(), at.item<std::int64_t>(), tag, v.item<float>(), description));
    return constant(true);
  };
  if (call_context().executor)  // tracing: at each call, with the values of then
    numpy_function(write, {value, step.value()}, bool_);
  else
    write(value, step.value());
  return true;
}

namespace experimental {
void set_step(const Step& step) { defaults().step = step; }
Step get_step() { return defaults().step; }
}  // namespace experimental

}  // namespace rill::summary
