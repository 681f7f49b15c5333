#include "rill/data/file_datasets.h"
#include "rill/data/files_impl.h"
#include "rill/io/compression_impl.h"

namespace rill::data {
namespace {

class LineReader final : public FileReader {
 public:
  LineReader(const std::string& path, io::Compression compression) : file_(path, compression) {}
  bool read(Columns& out) override {
    std::string_view there = file_.peek(1);
    if (there.empty()) return false;
    std::string& line = out.at<std::string>(0);
    line.clear();
    for (; !there.empty(); there = file_.peek(1)) {
      const std::size_t end = there.find('\n');
      line.append(there.substr(0, end));
      file_.skip(end == there.npos ? there.size() : end + 1);
      if (end != there.npos) break;
    }
    // As TensorFlow, which leaves out every "\r", not only that of a line's end.
    if (line.find('\r') != line.npos) std::erase(line, '\r');
    return true;
  }
  std::uint64_t position() const override { return file_.offset(); }
  void seek(std::uint64_t position) override { file_.seek(position); }

 private:
  io::UnpackingFile file_;
};

class LineFormat final : public FileFormat {
 public:
  explicit LineFormat(io::Compression compression) : compression_(compression) {}
  const char* name() const override { return "TextLineDataset"; }
  std::unique_ptr<FileReader> open(const std::string& path) const override {
    return std::make_unique<LineReader>(path, compression_);
  }
  std::vector<DType> dtypes() const override { return {string}; }

 private:
  io::Compression compression_;
};

}  // namespace

Dataset TextLineDataset(const Filenames& filenames, TextLineOptions o) {
  return dataset_of_files(filenames,
                          std::make_shared<LineFormat>(io::compression_of(o.compression_type)),
                          o.num_parallel_reads);
}

}  // namespace rill::data
