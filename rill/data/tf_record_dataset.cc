#include "rill/data/file_datasets.h"
#include "rill/data/files_impl.h"
#include "rill/io/compression_impl.h"
#include "rill/io/tf_record.h"

namespace rill::data {
namespace {

class RecordReader final : public FileReader {
 public:
  RecordReader(const std::string& path, const std::string& compression)
      : file_(path, {.compression_type = compression}) {}
  bool read(Columns& out) override { return file_.read(&out.at<std::string>(0)); }
  std::uint64_t position() const override { return file_.offset(); }
  void seek(std::uint64_t position) override { file_.seek(position); }

 private:
  io::TFRecordReader file_;
};

class RecordFormat final : public FileFormat {
 public:
  explicit RecordFormat(std::string compression) : compression_(std::move(compression)) {
    io::compression_of(compression_);  // checks it
  }
  const char* name() const override { return "TFRecordDataset"; }
  std::unique_ptr<FileReader> open(const std::string& path) const override {
    return std::make_unique<RecordReader>(path, compression_);
  }
  std::vector<DType> dtypes() const override { return {string}; }

 private:
  std::string compression_;
};

}  // namespace

Dataset TFRecordDataset(const Filenames& filenames, TFRecordOptions o) {
  return dataset_of_files(filenames, std::make_shared<RecordFormat>(o.compression_type),
                          o.num_parallel_reads);
}

}  // namespace rill::data
