#include "rill/io/tf_record.h"

#include <algorithm>

#include "rill/base/check.h"
#include "rill/io/coding.h"
#include "rill/io/compression_impl.h"
#include "rill/io/crc32c.h"

namespace rill::io {
namespace {

constexpr std::size_t kHeader = 12, kFooter = 4;
// What is taken at once for a record whose length cannot be measured against the file.
constexpr std::size_t kStep = std::size_t{1} << 24;

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
    RILL_FAIL(data_loss, "[TFRecord] truncated record at {} in \"{}\"", offset, file.path());
  }
  [[noreturn]] void corrupted() const {
    RILL_FAIL(data_loss, "[TFRecord] corrupted record at {} in \"{}\"{}", offset, file.path(),
              offset == 0 ? " (Is this even a TFRecord file?)" : "");
  }
  UnpackingFile file;
  std::uint64_t offset = 0;
};

TFRecordReader::TFRecordReader(const std::string& path, const TFRecordOptions& options)
    : impl_(new Impl(path, options)) {}
TFRecordReader::~TFRecordReader() = default;
TFRecordReader::TFRecordReader(TFRecordReader&&) noexcept = default;
TFRecordReader& TFRecordReader::operator=(TFRecordReader&&) noexcept = default;
std::uint64_t TFRecordReader::offset() const { return impl_->offset; }

bool TFRecordReader::read(std::string* record) {
  Impl& s = *impl_;
  char header[kHeader];
  const std::size_t got = s.file.read(header, kHeader);
  if (got == 0) return false;
  if (got < kHeader) s.truncated();
  if (mask_crc(crc32c({header, 8})) != get_fixed<std::uint32_t>(header + 8)) s.corrupted();
  const auto length = get_fixed<std::uint64_t>(header);
  if (length > UINT64_MAX - kFooter || length + kFooter > s.file.at_most_left()) s.truncated();
  // A length that lies must not take memory that the file cannot fill.
  record->clear();
  for (std::uint64_t left = length + kFooter; left > 0;) {
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(left, kStep));
    const std::size_t at = record->size();
    record->resize(at + some);
    if (s.file.read(record->data() + at, some) < some) s.truncated();
    left -= some;
  }
  const auto crc = get_fixed<std::uint32_t>(record->data() + length);
  record->resize(length);
  if (mask_crc(crc32c(*record)) != crc) s.corrupted();
  s.offset += kHeader + length + kFooter;
  return true;
}

}  // namespace rill::io
