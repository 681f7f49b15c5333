#include "rill/io/digest.h"

#include <openssl/evp.h>

#include "rill/base/check.h"
#include "rill/io/file.h"

namespace rill::io {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

const char* name_of(DigestKind kind) { return kind == DigestKind::sha256 ? "sha256" : "md5"; }

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
  RILL_CHECK(
      state_->context &&
          EVP_DigestInit_ex(state_->context, kind == DigestKind::sha256 ? EVP_sha256() : EVP_md5(),
                            nullptr) == 1,
      unimplemented, "[digest] libcrypto on this system does not offer {}", name_of(kind));
}
Digest::~Digest() = default;

void Digest::update(std::string_view bytes) {
  RILL_INTERNAL_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Digest::hex() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  RILL_INTERNAL_CHECK(EVP_DigestFinal_ex(state_->context, bytes, &n) == 1);
  std::string text;
  for (unsigned i = 0; i < n; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::string digest_of(std::string_view bytes, DigestKind kind) {
  Digest d(kind);
  d.update(bytes);
  return d.hex();
}

std::string digest_of_file(const std::string& path, DigestKind kind) {
  const InputFile file(path);
  Digest d(kind);
  std::string part(1 << 18, '\0');
  for (std::uint64_t at = 0;;) {
    const std::size_t n = file.read_some(at, part.data(), part.size());
    if (n == 0) return d.hex();
    d.update(std::string_view(part).substr(0, n));
    at += n;
  }
}

}  // namespace rill::io
