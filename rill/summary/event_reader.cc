#include "rill/summary/event_reader.h"

#include "rill/base/check.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"
#include "rill/graph/graph_def/tensor_proto_impl.h"
#include "rill/io/tf_record.h"
#include "rill/ops/array_ops.h"
#include "rill_proto/event.pb.h"

namespace rill::summary {

std::vector<SummaryEvent> summary_iterator(const std::string& path) {
  std::vector<SummaryEvent> out;
  io::TFRecordReader file(path);
  const QuietProtobuf quiet;  // errors say it
  std::string record;
  for (std::uint64_t at = 0; file.read(&record); at = file.offset()) {
    proto::Event event;
    RILL_CHECK(event.ParseFromString(record), data_loss,
               "[summary_iterator] the record at {} in \"{}\" is not an event", at, path);
    SummaryEvent e{
        .wall_time = event.wall_time(), .step = event.step(), .file_version = event.file_version()};
    for (const auto& v : event.summary().value()) {
      SummaryValue value{.tag = v.tag(),
                         .plugin = v.metadata().plugin_data().plugin_name(),
                         .description = v.metadata().summary_description()};
      std::int64_t fill_bytes = 0;  // nothing repeats in an event
      if (v.value_case() == proto::Summary::Value::kTensor)
        value.tensor = from_proto(v.tensor(), fill_bytes, "[summary_iterator] \"" + v.tag() + "\"");
      else if (v.value_case() == proto::Summary::Value::kSimpleValue)
        value.tensor = constant(v.simple_value());
      e.values.push_back(std::move(value));
    }
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace rill::summary
