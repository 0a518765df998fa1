#include "common/digest/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "common/check/check.h"
#include "common/digest/hash.h"

namespace rekindle::common {
namespace {

constexpr char kWorks[] = "OpenSSL computes SHA-256, and nothing follows the end of what is hashed";

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return HexEncode(digest);
}

void Sha256Hasher::Free::operator()(evp_md_ctx_st* state) const { EVP_MD_CTX_free(state); }

Sha256Hasher::Sha256Hasher() : state_(EVP_MD_CTX_new()) {
  Check(state_ != nullptr && EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1, kWorks);
}

void Sha256Hasher::Update(std::string_view bytes) {
  Check(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()) == 1, kWorks);
}

std::string Sha256Hasher::Hex() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  Check(EVP_DigestFinal_ex(state_.get(), digest, nullptr) == 1, kWorks);
  return HexEncode(digest);
}

}  // namespace rekindle::common
