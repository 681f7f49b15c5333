#pragma once
#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace rill {

// While it lives, what is wrong with a message is said by our errors, not on standard error.
#if GOOGLE_PROTOBUF_VERSION < 4022000
using QuietProtobuf = google::protobuf::LogSilencer;
#else
struct QuietProtobuf {
  QuietProtobuf() {}
};
#endif

}  // namespace rill
