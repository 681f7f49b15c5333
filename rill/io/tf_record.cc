#include "rill/io/tf_record.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/coding.h"
#include "rill/io/compression_impl.h"
#include "rill/io/crc32c.h"

namespace rill::io {
namespace {

constexpr std::size_t kHeader = 12, kFooter = 4;

}  // namespace

struct TFRecordWriter::Impl {
  Impl(const std::string& path, const TFRecordOptions& o)
      : file(path, compression_of(o.compression_type), o.compression_level) {}
  PackingFile file;
};

TFRecordWriter::TFRecordWriter(const std::string& path, const TFRecordOptions& options)
    : impl_(new Impl(path, options)) {}
TFRecordWriter::~TFRecordWriter() = default;
TFRecordWriter::TFRecordWriter(TFRecordWriter&&) noexcept = default;
TFRecordWriter& TFRecordWriter::operator=(TFRecordWriter&&) noexcept = default;

void TFRecordWriter::write(std::string_view record) {
  std::string header, footer;
  put_fixed(header, static_cast<std::uint64_t>(record.size()));
  put_fixed(header, mask_crc(crc32c(header)));
  put_fixed(footer, mask_crc(crc32c(record)));
  impl_->file.append(header);
  impl_->file.append(record);
  impl_->file.append(footer);
}
void TFRecordWriter::flush() { impl_->file.flush(); }
void TFRecordWriter::close() { impl_->file.close(); }

struct TFRecordReader::Impl {
  Impl(const std::string& path, const TFRecordOptions& o)
      : file(path, compression_of(o.compression_type)) {}
  [[noreturn]] void truncated() const {
    RILL_FAIL(data_loss, "[TFRecord] truncated record at {} in \"{}\"", file.offset(), file.path());
  }
  [[noreturn]] void corrupted() const {
    RILL_FAIL(data_loss, "[TFRecord] corrupted record at {} in \"{}\"{}", file.offset(),
              file.path(), file.offset() == 0 ? " (Is this even a TFRecord file?)" : "");
  }
  UnpackingFile file;
};

TFRecordReader::TFRecordReader(const std::string& path, const TFRecordOptions& options)
    : impl_(new Impl(path, options)) {}
TFRecordReader::~TFRecordReader() = default;
TFRecordReader::TFRecordReader(TFRecordReader&&) noexcept = default;
TFRecordReader& TFRecordReader::operator=(TFRecordReader&&) noexcept = default;
std::uint64_t TFRecordReader::offset() const { return impl_->file.offset(); }
void TFRecordReader::seek(std::uint64_t offset) { impl_->file.seek(offset); }

bool TFRecordReader::read(std::string* record) {
  Impl& s = *impl_;
  const std::string_view header = s.file.peek(kHeader);
  if (header.empty()) return false;
  if (header.size() < kHeader) s.truncated();
  if (mask_crc(crc32c(header.substr(0, 8))) != get_fixed<std::uint32_t>(header.data() + 8))
    s.corrupted();
  const auto length = get_fixed<std::uint64_t>(header.data());
  if (length > SIZE_MAX - kHeader - kFooter || length + kHeader + kFooter > s.file.at_most_left())
    s.truncated();
  const auto whole = static_cast<std::size_t>(length) + kHeader + kFooter;
  const std::string_view bytes = s.file.peek(whole);
  if (bytes.size() < whole) s.truncated();
  const std::string_view body = bytes.substr(kHeader, static_cast<std::size_t>(length));
  if (mask_crc(crc32c(body)) != get_fixed<std::uint32_t>(body.data() + body.size())) s.corrupted();
  record->assign(body);
  s.file.skip(whole);
  return true;
}

}  // namespace rill::io
