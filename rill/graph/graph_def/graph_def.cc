// GraphDefs as bytes, as text and as files.
#include "rill/graph/graph_def/graph_def.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <fstream>

#include "rill/base/check.h"
#include "rill/graph/graph_def/graph_def_impl.h"
#include "rill/graph/graph_def/quiet_protobuf_impl.h"

namespace rill {
namespace {

namespace pb = google::protobuf;

}  // namespace

std::string serialize_graph_def(const proto::GraphDef& def, std::int64_t max_bytes) {
  const std::size_t bytes = def.ByteSizeLong();
  RILL_CHECK(bytes <= static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0)) &&
                 bytes <= 2147483647u,
             invalid_argument,
             "[to_graph_def] the graph takes {} bytes; a GraphDef holds at most {}. Large arrays "
             "are better variables or inputs than constants",
             bytes, max_bytes);
  const QuietProtobuf quiet;
  std::string out;
  {
    pb::io::StringOutputStream stream(&out);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps by key
    def.SerializeToCodedStream(&coded);
  }
  return out;
}

proto::GraphDef parse_graph_def(std::string_view bytes) {
  RILL_CHECK(bytes.size() <= 2147483647u, invalid_argument,
             "[import_graph_def] got {} bytes; a GraphDef holds at most 2147483647", bytes.size());
  const QuietProtobuf quiet;
  proto::GraphDef def;
  pb::io::CodedInputStream in(reinterpret_cast<const pb::uint8*>(bytes.data()),
                              static_cast<int>(bytes.size()));
  RILL_CHECK(
      def.ParseFromCodedStream(&in) && in.ConsumedEntireMessage(), data_loss,
      "[import_graph_def] the {} bytes are not a GraphDef: they are cut short or damaged, or "
      "are another message",
      bytes.size());
  return def;
}

std::string graph_def_to_text(std::string_view bytes) {
  const proto::GraphDef def = parse_graph_def(bytes);
  std::string out;
  pb::TextFormat::PrintToString(def, &out);
  return out;
}

std::string graph_def_from_text(std::string_view text) {
  struct Collector : pb::io::ErrorCollector {
    void AddError(int line, int column, const std::string& message) override {
      if (said.empty()) said = format("line {}, column {}: {}", line + 1, column + 1, message);
    }
    std::string said;
  } errors;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(100);
  proto::GraphDef def;
  RILL_CHECK(parser.ParseFromString(std::string(text), &def), data_loss,
             "[graph_def_from_text] the text is not a GraphDef: {}", errors.said);
  return serialize_graph_def(def);
}

void write_graph_def(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  RILL_CHECK(out, not_found, "[write_graph_def] cannot write \"{}\"", path);
  const std::string text = path.ends_with(".pbtxt") ? graph_def_to_text(bytes) : std::string();
  out << (path.ends_with(".pbtxt") ? std::string_view(text) : bytes);
  out.flush();
  RILL_CHECK(out, data_loss, "[write_graph_def] writing \"{}\" failed", path);
}

std::string read_graph_def(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  RILL_CHECK(in, not_found, "[read_graph_def] cannot read \"{}\"", path);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  return path.ends_with(".pbtxt") ? graph_def_from_text(content) : content;
}

}  // namespace rill
