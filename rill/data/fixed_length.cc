#include "rill/data/file_datasets.h"
#include "rill/data/files_impl.h"
#include "rill/io/compression_impl.h"

namespace rill::data {
namespace {

struct Layout {
  std::size_t header = 0, record = 0, footer = 0;  // bytes
};

class FixedLengthReader final : public FileReader {
 public:
  FixedLengthReader(const std::string& path, io::Compression compression, const Layout& layout)
      : file_(path, compression), layout_(layout) {
    const std::string_view header = file_.peek(layout.header);
    RILL_CHECK(header.size() >= layout.header, invalid_argument,
               "[FixedLengthRecordDataset] \"{}\" has {} bytes; expected a header of {}", path,
               header.size(), layout.header);
    file_.skip(layout.header);
  }
  bool read(Columns& out) override {
    const std::size_t whole = layout_.record + layout_.footer;
    const std::string_view there = file_.peek(whole);
    if (there.size() == layout_.footer) return false;
    RILL_CHECK(there.size() >= whole, data_loss,
               "[FixedLengthRecordDataset] \"{}\" ends at {} within a record: expected a header of "
               "{} bytes, records of {} and a footer of {}",
               file_.path(), file_.offset() + there.size(), layout_.header, layout_.record,
               layout_.footer);
    out.at<std::string>(0).assign(there.substr(0, layout_.record));
    file_.skip(layout_.record);
    return true;
  }
  std::uint64_t position() const override { return file_.offset(); }
  void seek(std::uint64_t position) override { file_.seek(position); }

 private:
  io::UnpackingFile file_;
  Layout layout_;
};

class FixedLengthFormat final : public FileFormat {
 public:
  FixedLengthFormat(io::Compression compression, const Layout& layout)
      : compression_(compression), layout_(layout) {}
  const char* name() const override { return "FixedLengthRecordDataset"; }
  std::unique_ptr<FileReader> open(const std::string& path) const override {
    return std::make_unique<FixedLengthReader>(path, compression_, layout_);
  }
  std::vector<DType> dtypes() const override { return {string}; }

 private:
  io::Compression compression_;
  Layout layout_;
};

}  // namespace

Dataset FixedLengthRecordDataset(const Filenames& filenames, std::int64_t record_bytes,
                                 FixedLengthOptions o) {
  RILL_CHECK(record_bytes > 0, invalid_argument,
             "[FixedLengthRecordDataset] record_bytes is {}; expected 1 or more", record_bytes);
  RILL_CHECK(
      o.header_bytes >= 0 && o.footer_bytes >= 0, invalid_argument,
      "[FixedLengthRecordDataset] header_bytes is {} and footer_bytes {}; expected 0 or more",
      o.header_bytes, o.footer_bytes);
  const Layout layout{.header = static_cast<std::size_t>(o.header_bytes),
                      .record = static_cast<std::size_t>(record_bytes),
                      .footer = static_cast<std::size_t>(o.footer_bytes)};
  return dataset_of_files(
      filenames,
      std::make_shared<FixedLengthFormat>(io::compression_of(o.compression_type), layout),
      o.num_parallel_reads);
}

}  // namespace rill::data
