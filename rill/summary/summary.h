#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rill/core/operand.h"
#include "rill/eager/variable.h"

// Values over the steps of a training, in files that TensorBoard shows:
//
//   auto writer = tf::summary::create_file_writer("./tensorboard");
//   {
//     auto scope = writer.as_default();
//     tf::summary::scalar("loss", loss, {.step = batch_index});
//   }
//
// `tensorboard --logdir=./tensorboard` finds every folder with such a file, and reads what
// was flushed: every two minutes by default, after ten values, and at the end.
namespace rill RILL_API {
namespace summary {

// The step of a value: a number, a variable or a tensor. In a traced function the last two
// are read at each call.
class Step {
 public:
  Step() = default;  // not given
  template <std::integral T>
  Step(T step) : number_(static_cast<std::int64_t>(step)) {}
  Step(const Variable& step) : variable_(step) {}
  Step(const Tensor& step) : tensor_(step) {}

  bool given() const { return number_ || variable_ || tensor_.defined(); }
  Tensor value() const;  // int64 scalar

 private:
  std::optional<std::int64_t> number_;
  std::optional<Variable> variable_;
  Tensor tensor_;
};

class EventFile;

// While it lives, what was the default before it stands back.
class [[nodiscard]] DefaultScope {
 public:
  ~DefaultScope();
  DefaultScope(DefaultScope&&) noexcept;
  DefaultScope& operator=(DefaultScope&&) = delete;

 private:
  friend class SummaryWriter;
  friend DefaultScope record_if(std::function<bool()> condition);
  DefaultScope();
  struct Before;
  std::unique_ptr<Before> before_;
};

// A file of events. A handle: copies write to the same file. Threads may share it.
class SummaryWriter {
 public:
  SummaryWriter() = default;  // writes nothing
  explicit SummaryWriter(std::shared_ptr<EventFile> file) : file_(std::move(file)) {}
  // The writer of this thread for the life of the scope; with a step, also the step of
  // values without one.
  DefaultScope as_default(const Step& step = {}) const;
  // The writer of this thread from now on.
  void set_as_default(const Step& step = {}) const;
  void flush() const;        // what was written can be read
  void close() const;        // FailedPrecondition for what is written after it
  std::string path() const;  // of the file; empty for none

 private:
  std::shared_ptr<EventFile> file_;
};

struct FileWriterOptions {
  int max_queue = 10;         // values that may wait for a flush
  int flush_millis = 120000;  // longest time between two flushes, while values come
  std::string filename_suffix = ".v2";
};
// Makes the folder and, in it, a new file events.out.tfevents.<seconds>.<host>.<process>....
// Files of earlier runs stay; TensorBoard shows them as one curve, so that a new run wants
// a new folder, or an empty one.
SummaryWriter create_file_writer(const std::string& logdir, const FileWriterOptions& options = {});
inline SummaryWriter create_noop_writer() { return SummaryWriter(); }

struct ScalarOptions {
  Step step = {};                // by default that of experimental::set_step
  std::string description = {};  // Markdown, shown beside the curve
};
// Writes one number, as a float32, under the name with the scopes around it. False when
// nothing was written: no default writer, or record_if says no. In a traced function the
// writer is that of the trace, and a value is written at each call. InvalidArgument for
// data that is not one number, FailedPrecondition without a step.
bool scalar(std::string_view name, const Operand& data, const ScalarOptions& options = {});

// Values are written only while the condition holds: `auto s = record_if(step % 100 == 0)`.
DefaultScope record_if(std::function<bool()> condition);
inline DefaultScope record_if(bool condition) {
  return record_if([condition] { return condition; });
}
// Whether a value would be written now.
bool should_record_summaries();

namespace experimental {
void set_step(const Step& step);  // of this thread, for values without their own step
Step get_step();
}  // namespace experimental

}  // namespace summary
}  // namespace RILL_API
