#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "rill/base/api.h"

// Checksums by which published files are known.
namespace rill RILL_API {
namespace io {

enum class DigestKind { sha256, md5 };
const char* name_of(DigestKind kind);

// The checksum of bytes that come one after the other.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  void update(std::string_view bytes);
  std::string hex();  // lower case; ends it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string digest_of(std::string_view bytes, DigestKind kind);
std::string digest_of_file(const std::string& path, DigestKind kind);

}  // namespace io
}  // namespace RILL_API
