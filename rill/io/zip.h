#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rill/base/api.h"

// Zip archives: .npz files of NumPy and .keras files of Keras.
namespace rill RILL_API {
namespace io {

// An archive in memory. DataLoss, with the archive's name and the place, when it is damaged.
class ZipReader {
 public:
  ZipReader(std::string bytes, std::string archive_name);
  static ZipReader open(const std::string& path);
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const;
  // A file of the archive, checked by its checksum. NotFound with the names that there are.
  std::string read(std::string_view name) const;

 private:
  struct Entry {
    std::uint64_t header = 0, compressed = 0, size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;
  };
  std::string bytes_, archive_;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
};

// Writes an archive. Files keep the order in which they were added; the same content gives the
// same bytes.
class ZipWriter {
 public:
  void add(std::string_view name, std::string_view content, bool compress = false);
  std::string finish();

 private:
  std::string out_, directory_;
  std::uint64_t count_ = 0;
};

}  // namespace io
}  // namespace RILL_API
