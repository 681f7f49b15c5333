#include <unistd.h>

#include <atomic>
#include <cmath>

#include "rill/base/check.h"
#include "rill/io/coding.h"
#include "rill/io/file.h"
#include "rill/summary/event_file_impl.h"

namespace rill::summary {
namespace {

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// No two files of a process have one name.
std::string new_path(const std::string& folder, const std::string& suffix) {
  static std::atomic<int> count{0};
  io::create_folders(folder);
  return io::join_path(
      folder, format("events.out.tfevents.{:010d}.{}.{}.{}{}{}",
                     static_cast<std::int64_t>(wall_time()), host_name(), ::getpid(),
                     count.fetch_add(1), suffix.empty() || suffix[0] == '.' ? "" : ".", suffix));
}

}  // namespace

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

proto::Event first_event(double when) {
  proto::Event e;
  e.set_wall_time(std::floor(when));
  e.set_file_version("brain.Event:2");
  return e;
}

proto::Event scalar_event(double when, std::int64_t step, const std::string& tag, float value,
                          const std::string& description) {
  proto::Event e;
  e.set_wall_time(when);
  e.set_step(step);
  proto::Summary::Value* v = e.mutable_summary()->add_value();
  v->set_tag(tag);
  proto::TensorProto* t = v->mutable_tensor();
  t->set_dtype(proto::DT_FLOAT);
  t->mutable_tensor_shape();  // there, and empty: a scalar
  io::put_fixed(*t->mutable_tensor_content(), value);
  v->mutable_metadata()->mutable_plugin_data()->set_plugin_name("scalars");
  v->mutable_metadata()->set_summary_description(description);
  return e;
}

std::string first_event_bytes(double when) { return first_event(when).SerializeAsString(); }
std::string scalar_event_bytes(double when, std::int64_t step, const std::string& tag,
                               float value) {
  return scalar_event(when, step, tag, value, "").SerializeAsString();
}

EventFile::EventFile(const std::string& folder, const FileWriterOptions& options)
    : options_(options),
      path_(new_path(folder, options.filename_suffix)),
      file_(path_),
      flushed_(Clock::now()) {
  proto::Event first = first_event(wall_time());
  first.mutable_source_metadata()->set_writer("rill");
  file_.write(first.SerializeAsString());
  file_.flush();
}
EventFile::~EventFile() {
  try {
    close();
  } catch (const errors::Error&) {  // nobody to tell
  }
}

void EventFile::write(const proto::Event& event) {
  const std::string bytes = event.SerializeAsString();
  std::lock_guard lock(mutex_);
  RILL_CHECK(!closed_, failed_precondition,
             "[summary] \"{}\" was closed; create another writer to go on", path_);
  file_.write(bytes);
  if (++waiting_ > options_.max_queue ||
      Clock::now() - flushed_ >= std::chrono::milliseconds(options_.flush_millis))
    write_out();
}
void EventFile::write_out() {
  file_.flush();
  waiting_ = 0;
  flushed_ = Clock::now();
}
void EventFile::flush() {
  std::lock_guard lock(mutex_);
  if (!closed_) write_out();
}
void EventFile::close() {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  file_.close();
}

}  // namespace rill::summary
