#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "rill/io/tf_record.h"
#include "rill/summary/summary.h"
#include "rill_proto/event.pb.h"

namespace rill::summary {

// One file of events, from its first record on.
class EventFile {
 public:
  EventFile(const std::string& folder, const FileWriterOptions& options);
  ~EventFile();
  void write(const proto::Event& event);
  void flush();
  void close();
  const std::string& path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;
  void write_out();  // REQUIRES: mutex_ held
  std::mutex mutex_;
  const FileWriterOptions options_;
  const std::string path_;
  io::TFRecordWriter file_;
  int waiting_ = 0;
  Clock::time_point flushed_;
  bool closed_ = false;
};

// Seconds since 1970.
double wall_time();
// The first record of a file.
proto::Event first_event(double wall_time);
// One number under a tag, as TensorFlow 2 writes it: a tensor for TensorBoard's scalars.
proto::Event scalar_event(double wall_time, std::int64_t step, const std::string& tag, float value,
                          const std::string& description);

// The same as bytes, for code that sees no protocol buffers.
std::string first_event_bytes(double wall_time);
std::string scalar_event_bytes(double wall_time, std::int64_t step, const std::string& tag,
                               float value);

}  // namespace rill::summary
